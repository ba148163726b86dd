"""How many rows each edge of a plan brings and holds, as formulas in declared statistics.

All of them are upper estimates: a filter may pass everything. Equal values are spread evenly and
contained in each other, as in L. Golab's cost model for window joins (2006, section 5.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cqlc.algebra.expr import Column, Compare, Comparison, Expr
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
from cqlc.algebra.schema import Schema
from cqlc.algebra.walk import conjuncts, derive
from cqlc.analysis.size import (
    ONE,
    UNLIMITED,
    Number,
    Quotient,
    Size,
    Symbol,
    greatest,
    least,
    plus,
    times,
)
from cqlc.catalog import Catalog
from cqlc.datatypes import Array, DataType, Decimal, Kind, Simple, Struct

SECOND = 1_000_000
_WIDTHS = {
    Kind.BOOLEAN: 1,
    Kind.TINYINT: 1,
    Kind.SMALLINT: 2,
    Kind.INT: 4,
    Kind.FLOAT: 4,
    Kind.DATE: 4,
    Kind.STRING: 24,
    Kind.BINARY: 24,
    Kind.NULL: 1,
}
"""Bytes of a value; eight if not listed. Texts are taken to be short."""
_ELEMENTS = 4
"""Elements an array is taken to have."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What an edge brings in a second, what it holds at a time, how many values columns have."""

    rate: Size
    rows: Size
    distinct: Mapping[str, Size]


def flows(plan: Plan, catalog: Catalog) -> Mapping[int, Flow]:
    """The flow of every subplan, by the subplan's `id`."""
    return derive(plan, lambda node, of: _flow(node, of, catalog))


def row_bytes(schema: Schema) -> int:
    """About how many bytes a row takes."""
    return sum(_width(field.type) for field in schema)


def _width(type: DataType) -> int:
    match type:
        case Simple(kind):
            return _WIDTHS.get(kind, 8)
        case Decimal():
            return 16
        case Array(element):
            return _ELEMENTS * _width(element)
        case Struct(fields):
            return sum(_width(part) for _, part in fields)


def _flow(plan: Plan, of: tuple[Flow, ...], catalog: Catalog) -> Flow:
    match plan:
        case Scan(name):
            return _scan(name, catalog)
        case Table(name):
            size = Symbol(f"rows({name})", f"rows of the relation {name}")
            return Flow(Symbol(f"changes({name})", f"changes of {name} per second"), size, {})
        case Values(rows):
            return Flow(Number(0), Number(len(rows)), {})
        case Istream() | Dstream() | IstreamRestore():
            return Flow(of[0].rate, UNLIMITED, of[0].distinct)
        case Rstream(clock=Grid(period)) | RstreamRestore(grid=Grid(period)):
            return Flow(Quotient(of[0].rows, _seconds(period)), UNLIMITED, of[0].distinct)
        case Rstream():
            return Flow(times(of[0].rate, of[0].rows), UNLIMITED, of[0].distinct)
        case Unbounded():
            return Flow(of[0].rate, UNLIMITED, of[0].distinct)
        case Now():
            instant = Symbol("rows per instant", "rows that share one time")
            return Flow(of[0].rate, instant, of[0].distinct)
        case Range(length=length, slide=slide):
            held = length + (slide.period if slide else 0)
            return Flow(of[0].rate, times(of[0].rate, _seconds(held)), of[0].distinct)
        case Rows():
            return Flow(of[0].rate, _rows_window(plan, of[0]), of[0].distinct)
        case Session(gap=gap):
            return Flow(of[0].rate, times(of[0].rate, _seconds(gap)), of[0].distinct)
        case Rename(alias=alias):
            renamed = {f"{alias}.{name}": count for name, count in of[0].distinct.items()}
            return Flow(of[0].rate, of[0].rows, renamed)
        case Filter() | Rank() | NrrJoin():
            return of[0]
        case Project(columns=columns):
            kept = {
                c.name: of[0].distinct[c.value.name]
                for c in columns
                if isinstance(c.value, Column) and c.value.name in of[0].distinct
            }
            return Flow(of[0].rate, of[0].rows, kept)
        case Distinct():
            return Flow(of[0].rate, of[0].rows, of[0].distinct)
        case Aggregate():
            return _aggregate(plan, of[0])
        case Join():
            return _join(plan, of[0], of[1])
        case Union():
            rate, rows = plus(of[0].rate, of[1].rate), plus(of[0].rows, of[1].rows)
            return Flow(rate, rows, {})
        case Except():
            return Flow(plus(of[0].rate, of[1].rate), of[0].rows, of[0].distinct)
        case Intersect():
            rate = plus(of[0].rate, of[1].rate)
            return Flow(rate, least(of[0].rows, of[1].rows), of[0].distinct)


def _seconds(length: int) -> Size:
    return Number(length / SECOND)


def _scan(name: str, catalog: Catalog) -> Flow:
    declared = catalog.tables.get(name)
    rate = Symbol(
        f"rate({name})", f"rows of {name} per second", declared.rate if declared else None
    )
    columns = declared.columns if declared else ()
    distinct: dict[str, Size] = {
        c.name: Symbol(f"distinct({name}.{c.name})", f"values of {name}.{c.name}", c.distinct)
        for c in columns
        if c.distinct is not None
    }
    return Flow(rate, UNLIMITED, distinct)


def _rows_window(window: Rows, given: Flow) -> Size:
    held = times(Number(window.rows), _combinations(window.partition, given))
    if window.range is None:
        return held
    return least(held, times(given.rate, _seconds(window.range)))


def _combinations(columns: tuple[str, ...], given: Flow) -> Size:
    """How many different values some columns have together."""
    unknown = (Symbol(f"distinct({name})", f"different values of {name}") for name in columns)
    counts = (given.distinct.get(name, other) for name, other in zip(columns, unknown, strict=True))
    return times(*counts) if columns else ONE


def _aggregate(plan: Aggregate, given: Flow) -> Flow:
    names = tuple(k.value.name for k in plan.keys if isinstance(k.value, Column))
    known = len(names) == len(plan.keys) and all(name in given.distinct for name in names)
    groups = _combinations(names, given) if known else UNLIMITED
    distinct = {
        k.name: given.distinct[k.value.name]
        for k in plan.keys
        if isinstance(k.value, Column) and k.value.name in given.distinct
    }
    return Flow(given.rate, least(groups, given.rows), distinct)


def _join(join: Join, left: Flow, right: Flow) -> Flow:
    distinct = {**left.distinct, **right.distinct}
    if join.kind in (JoinKind.SEMI, JoinKind.ANTI):
        return Flow(plus(left.rate, right.rate), left.rows, left.distinct)
    share = _selectivity(join.predicate, left, right)
    rate = plus(times(left.rate, right.rows), times(right.rate, left.rows))
    rows = times(left.rows, right.rows)
    if share is not None:
        rate, rows = Quotient(rate, share), Quotient(rows, share)
    match join.kind:
        case JoinKind.LEFT:
            rows = greatest(rows, left.rows)
        case JoinKind.FULL:
            rows = greatest(rows, plus(left.rows, right.rows))
        case _:
            pass
    return Flow(rate, rows, distinct)


def _selectivity(predicate: Expr, left: Flow, right: Flow) -> Size | None:
    """The number of pairs of which one matches, as far as distinct counts are declared."""
    for part in conjuncts(predicate):
        match part:
            case Compare(Comparison.EQ, Column(one), Column(other)):
                known = [
                    count
                    for name in (one, other)
                    if (count := left.distinct.get(name) or right.distinct.get(name))
                ]
                if known:
                    return greatest(*known)
            case _:
                pass
    return None
