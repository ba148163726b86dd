"""How many rows a relation can hold at a time, by what bounds them."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum

from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Dstream,
    Except,
    Filter,
    Intersect,
    Istream,
    IstreamRestore,
    Join,
    JoinKind,
    Now,
    NrrJoin,
    Plan,
    Project,
    Range,
    Rank,
    Relation,
    Rename,
    Rows,
    Rstream,
    RstreamRestore,
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.walk import derive
from cqlc.analysis.bounded_memory import Bounded
from cqlc.analysis.bounded_memory.judge import judge
from cqlc.catalog import Catalog


class Holding(IntEnum):
    """What bounds the rows of a relation."""

    FIXED = 0
    """A number known in advance, or the size of a declared relation."""
    TIMED = 1
    """The rows that come in a length of time."""
    GROWING = 2
    """Nothing."""


def holdings(plan: Plan, catalog: Catalog) -> Mapping[int, Holding]:
    """The holding of every subplan, by the subplan's `id`."""
    return derive(plan, lambda node, of: _holding(node, of, catalog))


def is_constant(plan: Relation, catalog: Catalog) -> bool:
    """Whether the theory of bounded memory says that constant memory is enough for `plan`."""
    return isinstance(judge(plan, catalog), Bounded)


def _holding(plan: Plan, of: tuple[Holding, ...], catalog: Catalog) -> Holding:
    match plan:
        case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return Holding.GROWING  # as a whole; windows say what is held of it
        case Unbounded():
            return Holding.GROWING
        case Values() | Table():
            return Holding.FIXED
        case Now() | Range() | Session():
            return Holding.TIMED
        case Rows(partition=()):
            return Holding.FIXED
        case Rows():
            return Holding.GROWING if plan.range is None else Holding.TIMED
        case Rename() | Filter() | Project() | Rank() | NrrJoin() | Except():
            return of[0]
        case Join(kind=JoinKind.SEMI | JoinKind.ANTI):
            return of[0]
        case Distinct() | Aggregate():
            fixed = of[0] is Holding.GROWING and is_constant(plan, catalog)
            return Holding.FIXED if fixed else of[0]
        case Join() | Union():
            return max(of)
        case Intersect():
            return min(of)
