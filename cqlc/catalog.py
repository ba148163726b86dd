"""What is declared: streams, relations, NRRs, constraints, punctuation schemes, statistics.

One model, filled from CREATE statements (`cqlc.resolve`) or from Python. Lengths of time are
microseconds; CHECK predicates are expressions over the table's own column names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from cqlc.algebra.expr import Expr, Value
from cqlc.algebra.schema import TIME_FIELD, Field, Schema
from cqlc.datatypes import DataType
from cqlc.source import NOWHERE, Span


class TableKind(StrEnum):
    """The kinds of declared tables."""

    STREAM = "STREAM"
    RELATION = "RELATION"
    NRR = "NRR"


@dataclass(frozen=True, slots=True)
class Declared:
    """Where something was declared; never part of its identity."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ColumnDeclaration(Declared):
    """A column with what is known of its values: a finite `domain`, about `distinct` of them."""

    name: str
    type: DataType
    nullable: bool = True
    domain: tuple[Value, ...] | None = None
    distinct: int | None = None


@dataclass(frozen=True, slots=True)
class WithinRows:
    """An adherence k counted in rows."""

    rows: int


@dataclass(frozen=True, slots=True)
class WithinTime:
    """An adherence k in microseconds."""

    length: int


@dataclass(frozen=True, slots=True)
class Monitored:
    """An adherence k that is estimated at run time."""


Adherence: TypeAlias = WithinRows | WithinTime | Monitored


@dataclass(frozen=True, slots=True)
class Ordered(Declared):
    """OA(k): values of `column` arrive in ascending order up to k (Babu, Srivastava, Widom)."""

    column: str
    within: Adherence
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Clustered(Declared):
    """CA(k): equal values of `column` arrive together up to k."""

    column: str
    within: Adherence
    name: str | None = None


@dataclass(frozen=True, slots=True)
class References(Declared):
    """RIDS(k) on a many-one join: a parent's child, if it ever comes, comes within k.

    `parent` is the "many" side, `child` the "one" side.
    """

    parent: str
    parent_columns: tuple[str, ...]
    child: str
    child_columns: tuple[str, ...]
    within: Adherence
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Scheme(Declared):
    """A punctuation scheme: which columns a punctuation may close, and for how long it holds."""

    columns: tuple[str, ...]
    lifespan: int | None = None


@dataclass(frozen=True, slots=True)
class EventTime(Declared):
    """Event time: its column, how late a row may be, and after what silence time moves on."""

    column: str
    slack: int = 0
    idle: int | None = None


@dataclass(frozen=True, slots=True)
class External(Declared):
    """A Spark data source or sink: format and options."""

    format: str
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class TableDeclaration(Declared):
    """A declared stream, relation or NRR."""

    kind: TableKind
    name: str
    columns: tuple[ColumnDeclaration, ...]
    keys: tuple[tuple[str, ...], ...] = ()
    checks: tuple[Expr, ...] = ()
    event_time: EventTime | None = None
    sequence: str | None = None
    schemes: tuple[Scheme, ...] = ()
    marker: str | None = None
    punctuations_from: str | None = None
    ordered: tuple[Ordered, ...] = ()
    clustered: tuple[Clustered, ...] = ()
    rate: float | None = None
    """Rows per second."""
    append_only: bool = False
    source: External | None = None

    @property
    def schema(self) -> Schema:
        """The columns; a stream's end with its time."""
        columns = tuple(Field(c.name, c.type, c.nullable) for c in self.columns)
        return (*columns, TIME_FIELD) if self.kind is TableKind.STREAM else columns

    def column(self, name: str) -> ColumnDeclaration:
        """The column called `name`, which must exist."""
        return next(c for c in self.columns if c.name == name)


@dataclass(frozen=True, slots=True)
class SinkDeclaration(Declared):
    """A declared sink."""

    name: str
    target: External


@dataclass(frozen=True, slots=True)
class FunctionDeclaration(Declared):
    """A user function or aggregate, bound to a Python callable when a query runs."""

    name: str
    parameters: tuple[tuple[str, DataType], ...]
    returns: DataType
    aggregate: bool = False


@dataclass(frozen=True, slots=True)
class Catalog:
    """Everything declared, by name; names compare without regard to case unless quoted."""

    tables: Mapping[str, TableDeclaration] = field(default_factory=dict[str, TableDeclaration])
    sinks: Mapping[str, SinkDeclaration] = field(default_factory=dict[str, SinkDeclaration])
    functions: Mapping[str, FunctionDeclaration] = field(
        default_factory=dict[str, FunctionDeclaration]
    )
    references: tuple[References, ...] = ()

    def with_table(self, table: TableDeclaration) -> Catalog:
        """The catalog with one more table."""
        return replace(self, tables={**self.tables, table.name: table})


EMPTY = Catalog()
