"""What must hold in every plan: columns exist, types agree, names are unique, sorts are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from cqlc.algebra.expr import (
    AggregateCall,
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Expr,
    IsNull,
    Literal,
    Negate,
    Not,
    Or,
    type_of,
)
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
from cqlc.algebra.schema import TIME, TIME_FIELD, Field, Schema
from cqlc.algebra.text import expr_text, node_text
from cqlc.algebra.walk import derive, inputs, operands, output_schema
from cqlc.datatypes import BOOLEAN, DATE, DURATION, TIMESTAMP, DataType, is_numeric

_STREAMS = (Scan, Istream, Dstream, Rstream, IstreamRestore, RstreamRestore)
_WINDOWS = (Now, Unbounded, Range, Rows, Session)


def problems(plan: Plan) -> tuple[str, ...]:
    """What is wrong with a plan, one sentence each; nothing if it is right."""
    found: list[str] = []

    def transfer(node: Plan, of: tuple[Schema, ...]) -> Schema:
        found.extend(f"{node_text(node)}: {problem}" for problem in _of_node(node, of))
        return of[0] if _is_uneven(node, of) else output_schema(node, of)

    derive(plan, transfer)
    return tuple(found)


def _of_node(plan: Plan, of: tuple[Schema, ...]) -> Iterator[str]:
    yield from _of_sorts(plan)
    if isinstance(plan, Union | Except | Intersect):
        yield from _of_sides(of[0], of[1])
    if _is_uneven(plan, of):
        return
    names = Counter(field.name for field in output_schema(plan, of))
    yield from (f"two columns {name}" for name, times in names.items() if times > 1)
    yield from _of_parts(plan, of)


def _is_uneven(plan: Plan, of: tuple[Schema, ...]) -> bool:
    return isinstance(plan, Union) and len(of[0]) != len(of[1])


def _of_sorts(plan: Plan) -> Iterator[str]:
    wants_stream = isinstance(plan, _WINDOWS)
    for child in inputs(plan):
        if isinstance(child, _STREAMS) is not wants_stream:
            yield f"{'a stream' if wants_stream else 'a relation'} is wanted below"


def _of_parts(plan: Plan, of: tuple[Schema, ...]) -> Iterator[str]:
    match plan:
        case Scan(schema=schema):
            if not schema or schema[-1] != TIME_FIELD:
                yield "a stream ends with its time"
        case Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            yield from (f"{f.name} is hidden" for schema in of for f in schema if f.hidden)
            if any(field.name == TIME for schema in of for field in schema):
                yield "the relation has a time column"
        case Range():
            if plan.length <= 0 or (plan.slide and plan.slide.period <= 0):
                yield "a window has a length above 0"
        case Rows():
            extra = (plan.sequence,) if plan.sequence else ()
            yield from _missing((*plan.partition, *extra), of[0])
            if plan.rows < 1 or plan.slide < 1:
                yield "a window has 1 row or more"
        case Session():
            yield from _missing(plan.partition, of[0])
        case Filter(_, predicate):
            yield from _of_condition(predicate, of[0])
        case Join():
            yield from _of_condition(plan.predicate, (*of[0], *of[1]))
        case NrrJoin():
            looked_up = tuple(Field(f"{plan.alias}.{f.name}", f.type) for f in plan.schema)
            yield from _of_condition(plan.predicate, (*of[0], *looked_up))
            if plan.kind is JoinKind.FULL:
                yield "an NRR has no full join"
        case Project(_, columns):
            yield from (p for c in columns for p in _of_expr(c.value, of[0]))
        case Aggregate(_, keys, aggregates):
            yield from (p for k in keys for p in _of_expr(k.value, of[0]))
            yield from (p for a in aggregates for p in _of_aggregate(a.value, of[0]))
        case Rank():
            yield from _missing(plan.partition, of[0])
            yield from (p for key in plan.order for p in _of_expr(key.value, of[0]))
        case Values(rows, schema):
            yield from (p for row in rows for p in _of_row(row, schema))
        case Table() | Rename() | Distinct() | Union() | Except() | Intersect():
            return
        case Now() | Unbounded():
            return


def _of_sides(left: Schema, right: Schema) -> Iterator[str]:
    if len(left) != len(right):
        yield f"sides of {len(left)} and {len(right)} columns"
        return
    for a, b in zip(left, right, strict=True):
        if a.type != b.type:
            yield f"{a.name} is {a.type} on the left, {b.type} on the right"


def _of_row(row: Sequence[Expr], schema: Schema) -> Iterator[str]:
    if len(row) != len(schema):
        yield f"a row of {len(row)} values for {len(schema)} columns"
        return
    for value, field in zip(row, schema, strict=True):
        if type_of(value) != field.type:
            yield f"{field.name} is {field.type}, its value {type_of(value)}"


def _missing(names: Sequence[str], schema: Schema) -> Iterator[str]:
    known = {field.name for field in schema}
    yield from (f"there is no column {name}" for name in names if name not in known)


# -------------------------------------------------------------------------------- expressions


def _of_condition(predicate: Expr, schema: Schema) -> Iterator[str]:
    if type_of(predicate) != BOOLEAN:
        yield f"{expr_text(predicate)} is no condition"
    yield from _of_expr(predicate, schema)


def _of_aggregate(call: AggregateCall, schema: Schema) -> Iterator[str]:
    yield from (p for argument in call.arguments for p in _of_expr(argument, schema))
    if call.where is not None:
        yield from _of_condition(call.where, schema)


def _of_expr(expr: Expr, schema: Schema) -> Iterator[str]:
    for operand in operands(expr):
        yield from _of_expr(operand, schema)
    match expr:
        case Column(name, type):
            declared = next((f.type for f in schema if f.name == name), None)
            if declared != type:
                yield f"there is no column {name} of type {type}"
        case Compare(_, left, right):
            if type_of(left) != type_of(right):
                yield f"{expr_text(expr)} compares {type_of(left)} with {type_of(right)}"
        case And(args) | Or(args):
            if len(args) < 2 or any(type_of(arg) != BOOLEAN for arg in args):
                yield f"{expr_text(expr)} does not join conditions"
        case Not(arg):
            if type_of(arg) != BOOLEAN:
                yield f"{expr_text(expr)} negates {type_of(arg)}"
        case Arithmetic(_, left, right, type):
            if not _fits(type_of(left), type_of(right), type):
                yield f"{expr_text(expr)} computes {type} of {type_of(left)}, {type_of(right)}"
        case Negate(arg):
            if not (is_numeric(type_of(arg)) or type_of(arg) == DURATION):
                yield f"{expr_text(expr)} has no sign"
        case Case(branches, otherwise, type):
            values = (*(then for _, then in branches), otherwise)
            conditions = (when for when, _ in branches)
            if any(type_of(v) != type for v in values) or any(
                type_of(c) != BOOLEAN for c in conditions
            ):
                yield f"{expr_text(expr)} has results of several types, or no conditions"
        case Literal() | IsNull() | Cast() | Call():
            return


def _fits(left: DataType, right: DataType, result: DataType) -> bool:
    """Whether arithmetic on these types can have this result."""
    times = (TIMESTAMP, DATE)
    if DURATION in (left, right) or left in times:
        return result in (TIMESTAMP, DURATION)
    return is_numeric(left) and is_numeric(right) and is_numeric(result)
