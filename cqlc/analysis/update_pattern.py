"""How the rows of every edge of a plan come and go: its update pattern.

The four patterns and the rules that derive them are those of L. Golab, "Sliding Window Query
Processing over Data Streams" (University of Waterloo, 2006), sections 3.2 and 3.5, with two
corrections: a union of time windows of different lengths and a join with one external window are
WEAK, because their rows do not expire in the order they came.

A pattern is a property of a plan, not of a query. Internal windows give every edge two patterns:
`state` treats them as external and rules what operators keep; `output` treats them as growing and
rules what the answer shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Dstream,
    Except,
    Filter,
    Grid,
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
from cqlc.algebra.walk import derive, subplans
from cqlc.catalog import Catalog
from cqlc.codes import analysis as codes
from cqlc.diagnostics import Diagnostic, Label, in_order


class UpdatePattern(IntEnum):
    """The order in which rows appear and disappear; a larger one asks for more machinery."""

    MONOTONIC = 0
    WEAKEST = 1
    WEAK = 2
    STRICT = 3


@dataclass(frozen=True, slots=True)
class Edge:
    """The pattern of one edge.

    `lifetime` is how long any row stays: exactly so if the pattern is WEAKEST, at most so for
    the others; None means for ever, or not known. `grid` says that the relation changes at the
    boundaries of that grid only.
    """

    pattern: UpdatePattern
    lifetime: int | None = None
    grid: Grid | None = None


MONOTONIC = Edge(UpdatePattern.MONOTONIC)
STRICT = Edge(UpdatePattern.STRICT)


@dataclass(frozen=True, slots=True)
class Patterns:
    """The two patterns of an edge; they differ only above internal windows."""

    state: Edge
    output: Edge


def update_patterns(plan: Plan, catalog: Catalog, tick: int = 1) -> Mapping[int, Patterns]:
    """The patterns of every subplan, by the subplan's `id`; `tick` is the unit of time."""

    def transfer(node: Plan, of: tuple[Patterns, ...]) -> Patterns:
        state = _edge(node, tuple(p.state for p in of), catalog, tick, internal=False)
        output = _edge(node, tuple(p.output for p in of), catalog, tick, internal=True)
        return Patterns(state, output)

    return derive(plan, transfer)


def check(plan: Plan, catalog: Catalog) -> tuple[Diagnostic, ...]:
    """What cannot be done, or only at a price, because of the patterns of its inputs."""
    patterns = update_patterns(plan, catalog)
    found: list[Diagnostic] = []
    for node in subplans(plan):
        match node:
            case NrrJoin():
                found += _check_nrr_join(node, patterns[id(node.input)].output, catalog)
            case Join(left, right):
                sides = [(s, patterns[id(s)].output) for s in (left, right)]
                found += _check_relation_join(node, sides)
            case _:
                pass
    return in_order(found)


def _check_nrr_join(join: NrrJoin, given: Edge, catalog: Catalog) -> Iterator[Diagnostic]:
    if given.pattern is UpdatePattern.STRICT:
        yield Diagnostic(
            codes.NRR_JOIN_OVER_STRICT,
            f"`{join.name}` cannot be looked up by rows that may be taken back",
            Label(join.span, "the rows joined here can be deleted at any time"),
            help="a deleted row would have to find the table as it was; join the NRR below the "
            "aggregation, negation or ROWS window, or declare it as a RELATION",
        )
    declared = catalog.tables.get(join.name)
    if declared is not None and not declared.keys:
        yield Diagnostic(
            codes.NRR_WITHOUT_KEY,
            f"the NRR `{join.name}` has no key",
            Label(join.span, "looked up here"),
            related=(Label(declared.span, "declared without KEY"),),
            help="declare KEY (...) so that the reuse of a deleted key can be noticed",
        )


def _check_relation_join(join: Join, sides: list[tuple[Relation, Edge]]) -> Iterator[Diagnostic]:
    tables = [s for s, _ in sides if _reads_tables_only(s)]
    streams = [e for s, e in sides if not _reads_tables_only(s)]
    if tables and any(e.pattern is UpdatePattern.STRICT for e in streams):
        yield Diagnostic(
            codes.RELATION_JOIN_OVER_STRICT,
            "rows that may be taken back are joined with a relation that may change",
            Label(join.span, "both sides are kept, and every deletion is joined again"),
            help="if changes of the relation need not reach back, declare it as an NRR and join "
            "it below the aggregation, negation or ROWS window",
        )


def _reads_tables_only(plan: Relation) -> bool:
    parts = list(subplans(plan))
    return any(isinstance(p, Table) for p in parts) and not any(isinstance(p, Scan) for p in parts)


def _edge(plan: Plan, of: tuple[Edge, ...], catalog: Catalog, tick: int, *, internal: bool) -> Edge:
    """The pattern of the edge leaving `plan`; `internal` lets internal windows grow."""
    match plan:
        case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return MONOTONIC  # a stream only ever grows
        case Values() | Unbounded():
            return MONOTONIC
        case Table(name):
            declared = catalog.tables.get(name)
            return MONOTONIC if declared and declared.append_only else STRICT
        case Range() | Rows() if plan.internal and internal:
            return MONOTONIC
        case Now() | Session():
            return Edge(UpdatePattern.WEAKEST, tick, Grid(tick))
        case Range():
            return _range(plan)
        case Rows():
            return Edge(UpdatePattern.STRICT, plan.range)
        case Rename() | Filter() | Project() | NrrJoin():
            return of[0]
        case Union():
            return _union(*of)
        case Join(kind=JoinKind.INNER | JoinKind.SEMI) | Intersect() | Distinct():
            return _weak(of, tick)
        case Join() | Aggregate() | Except() | Rank():
            return _strict(of)


def _range(window: Range) -> Edge:
    if window.slide is None:
        return Edge(UpdatePattern.WEAKEST, window.length)
    if window.length % window.slide.period == 0:
        return Edge(UpdatePattern.WEAKEST, window.length, window.slide)
    longest = window.length + window.slide.period
    return Edge(UpdatePattern.WEAK, longest, window.slide)


def _union(left: Edge, right: Edge) -> Edge:
    grid = _common_grid((left, right))
    same = (left.pattern, left.lifetime) == (right.pattern, right.lifetime)
    if same and left.pattern <= UpdatePattern.WEAKEST:
        return Edge(left.pattern, left.lifetime, grid)
    pattern = max(left.pattern, right.pattern, UpdatePattern.WEAK)
    bounds = (left.lifetime, right.lifetime)
    longest = None if None in bounds else max(b for b in bounds if b is not None)
    return Edge(pattern, longest, grid)


def _weak(of: tuple[Edge, ...], tick: int) -> Edge:
    """The rule of joins and duplicate elimination: what they make dies with its first part."""
    if all(e.pattern is UpdatePattern.MONOTONIC for e in of):
        return MONOTONIC
    pattern = max(UpdatePattern.WEAK, *(e.pattern for e in of))
    bounds = [e.lifetime for e in of if e.lifetime is not None]
    lifetime = min(bounds, default=None)
    grid = Grid(tick) if lifetime == tick else _common_grid(of)
    if pattern is UpdatePattern.WEAK and grid is not None and lifetime == grid.period:
        return Edge(UpdatePattern.WEAKEST, lifetime, grid)
    return Edge(pattern, lifetime, grid)


def _strict(of: tuple[Edge, ...]) -> Edge:
    """The rule of negation and aggregation: a row's end depends on what is still to come.

    Not so on a grid: a result then holds for exactly one period, because the operator is
    evaluated afresh at the next boundary.
    """
    grid = _common_grid(of)
    if grid is None or any(e.pattern is UpdatePattern.STRICT for e in of):
        return Edge(UpdatePattern.STRICT, None, grid)
    return Edge(UpdatePattern.WEAKEST, grid.period, grid)


def _common_grid(of: tuple[Edge, ...]) -> Grid | None:
    grids = {e.grid for e in of}
    return next(iter(grids)) if len(grids) == 1 else None
