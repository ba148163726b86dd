"""Subqueries in expressions, before they are joined to the rows they belong to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from cqlc.algebra.expr import AggregateCall, Column, Comparison, Expr
from cqlc.algebra.plan import Relation
from cqlc.algebra.walk import columns
from cqlc.datatypes import DataType
from cqlc.source import Span

_MARK = "\0"
"""Begins the name of a column that stands for a subquery; no written name contains it."""


@dataclass(frozen=True, slots=True)
class ExistsTest:
    """Whether the subquery has a row."""

    rows: Relation
    span: Span


@dataclass(frozen=True, slots=True)
class CompareTest:
    """Whether the comparison holds for some row of the subquery, or for `every` one.

    `operands` are values of the outer row, `columns` of the subquery's; they pair up, and with
    several of them `op` is EQ.
    """

    operands: tuple[Expr, ...]
    op: Comparison
    columns: tuple[Expr, ...]
    every: bool
    rows: Relation
    span: Span


@dataclass(frozen=True, slots=True)
class ScalarValue:
    """The columns of the subquery's only row; NULLs if it has none."""

    columns: tuple[Column, ...]
    rows: Relation
    span: Span


Subquery: TypeAlias = ExistsTest | CompareTest | ScalarValue


class Subqueries:
    """The subqueries of a block, each standing as a column in the expressions that use it."""

    def __init__(self) -> None:
        self._known: dict[str, Subquery] = {}

    def stand_in(self, subquery: Subquery, type: DataType, position: int = 0) -> Column:
        """A column that stands for a subquery, or for one of the columns of its row."""
        name = f"{_MARK}{len(self._known)}.{position}"
        self._known[name] = subquery
        return Column(name, type, span=subquery.span)

    def stand_ins(self, subquery: ScalarValue) -> tuple[Column, ...]:
        """Columns that stand for those of a subquery's row."""
        return tuple(
            self.stand_in(subquery, column.type, i) for i, column in enumerate(subquery.columns)
        )

    def behind(self, expr: Expr) -> Subquery | None:
        """The subquery an expression stands for, if it is a stand-in."""
        return self._known.get(expr.name) if isinstance(expr, Column) else None

    def used(self, *exprs: Expr | AggregateCall) -> Iterator[tuple[str, Subquery]]:
        """The stand-ins in expressions, in the order in which they were written."""
        if self._known:
            names = frozenset[str]().union(*map(columns, exprs))
            yield from ((name, known) for name, known in self._known.items() if name in names)


def position(stand_in: str) -> int:
    """Which column of its row a stand-in is."""
    return int(stand_in.rpartition(".")[2])


def is_stand_in(name: str) -> bool:
    """Whether a column's name is that of a stand-in."""
    return name.startswith(_MARK)
