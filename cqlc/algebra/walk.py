"""The only module that knows which parts a plan or an expression has.

Views make plans share subplans by identity, so every walk here visits a shared subplan once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from cqlc.algebra.expr import (
    AggregateCall,
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
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
    Named,
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
    Stream,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.schema import TIME_FIELD, Field, Schema
from cqlc.datatypes import BIGINT, BOOLEAN, TIMESTAMP, converts
from cqlc.functions import AGGREGATES, SCALARS, Nulls

T = TypeVar("T")


# -------------------------------------------------------------------------------------- plans


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """The plans a plan is made of, left to right."""
    match plan:
        case Scan() | Table() | Values():
            return ()
        case (
            Istream(r)
            | Dstream(r)
            | Rstream(r)
            | Rename(r)
            | Filter(r)
            | Project(r)
            | Distinct(r)
            | NrrJoin(r)
            | Aggregate(r)
            | Rank(r)
            | IstreamRestore(r)
        ):
            return (r,)
        case Now(s) | Unbounded(s) | Range(s) | Rows(s) | Session(s):
            return (s,)
        case Join(left, right) | Union(left, right) | Except(left, right) | Intersect(left, right):
            return (left, right)
        case RstreamRestore(sampled, continuous):
            return (sampled, continuous)


def map_inputs(
    plan: Plan, stream: Callable[[Stream], Stream], relation: Callable[[Relation], Relation]
) -> Plan:
    """The plan with every input replaced by its image, sort by sort."""
    match plan:
        case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return map_stream(plan, relation)
        case _:
            return map_relation(plan, stream, relation)


def map_stream(plan: Stream, relation: Callable[[Relation], Relation]) -> Stream:
    """`map_inputs` for a stream."""
    match plan:
        case Scan():
            return plan
        case Istream(r) | Dstream(r) | Rstream(r):
            return replace(plan, input=relation(r))
        case IstreamRestore(r):
            return replace(plan, continuous=relation(r))
        case RstreamRestore(sampled, continuous):
            return replace(plan, sampled=relation(sampled), continuous=relation(continuous))


def map_relation(
    plan: Relation, stream: Callable[[Stream], Stream], relation: Callable[[Relation], Relation]
) -> Relation:
    """`map_inputs` for a relation."""
    match plan:
        case Table() | Values():
            return plan
        case Now(s) | Unbounded(s) | Range(s) | Rows(s) | Session(s):
            return replace(plan, input=stream(s))
        case Rename(r) | Filter(r) | Project(r) | Distinct(r) | NrrJoin(r) | Aggregate(r) | Rank(r):
            return replace(plan, input=relation(r))
        case Join(left, right) | Union(left, right) | Except(left, right) | Intersect(left, right):
            return replace(plan, left=relation(left), right=relation(right))


def subplans(plan: Plan) -> Iterator[Plan]:
    """Every plan inside `plan`, itself last, shared ones once."""
    seen: set[int] = set()

    def visit(node: Plan) -> Iterator[Plan]:
        if id(node) not in seen:
            seen.add(id(node))
            for child in inputs(node):
                yield from visit(child)
            yield node

    return visit(plan)


def derive(plan: Plan, transfer: Callable[[Plan, tuple[T, ...]], T]) -> dict[int, T]:
    """The value of a bottom-up analysis for every subplan, by the subplan's `id`."""
    values: dict[int, T] = {}
    for node in subplans(plan):
        values[id(node)] = transfer(node, tuple(values[id(child)] for child in inputs(node)))
    return values


def schema_of(plan: Plan) -> Schema:
    """The columns of a plan."""
    return derive(plan, output_schema)[id(plan)]


def output_schema(plan: Plan, of: tuple[Schema, ...]) -> Schema:
    """The columns of a plan, given those of its inputs."""
    match plan:
        case Scan() | Table() | Values():
            return plan.schema
        case Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return (*of[0], TIME_FIELD)
        case Session():
            start = Field("session_start", TIMESTAMP, nullable=False, hidden=True)
            return (*of[0], start, replace(start, name="session_end"))
        case Now() | Unbounded() | Range() | Rows() | Filter() | Distinct():
            return of[0]
        case Except() | Intersect():
            return of[0]
        case Union():
            pairs = zip(*of, strict=True)
            return tuple(replace(a, nullable=a.nullable or b.nullable) for a, b in pairs)
        case Rename():
            return tuple(replace(f, name=f"{plan.alias}.{f.name}") for f in of[0])
        case Project():
            return _computed(plan.columns, of[0])
        case Join():
            return _joined(plan.kind, of[0], of[1])
        case NrrJoin():
            right = tuple(replace(f, name=f"{plan.alias}.{f.name}") for f in plan.schema)
            return _joined(plan.kind, of[0], right)
        case Aggregate():
            aggregates = (
                Field(a.name, a.value.type, nullable_aggregate(a.value, of[0]))
                for a in plan.aggregates
            )
            return (*_computed(plan.keys, of[0]), *aggregates)
        case Rank():
            return (*of[0], Field(plan.name, BIGINT, nullable=False))


def _computed(columns: tuple[Named, ...], schema: Schema) -> Schema:
    return tuple(Field(c.name, type_of(c.value), nullable(c.value, schema)) for c in columns)


def _joined(kind: JoinKind, left: Schema, right: Schema) -> Schema:
    match kind:
        case JoinKind.INNER:
            return (*left, *right)
        case JoinKind.LEFT:
            return (*left, *(replace(f, nullable=True) for f in right))
        case JoinKind.FULL:
            return tuple(replace(f, nullable=True) for f in (*left, *right))
        case JoinKind.SEMI | JoinKind.ANTI:
            return left


# -------------------------------------------------------------------------------- expressions


def expressions(plan: Plan) -> tuple[Expr | AggregateCall, ...]:
    """The expressions that an operator evaluates over rows of its inputs."""
    match plan:
        case Filter(_, predicate) | Join(_, _, _, predicate):
            return (predicate,)
        case NrrJoin():
            return (plan.predicate,)
        case Project(_, columns):
            return tuple(column.value for column in columns)
        case Aggregate(_, keys, aggregates):
            return (*(key.value for key in keys), *(a.value for a in aggregates))
        case Rank():
            return tuple(key.value for key in plan.order)
        case Values(rows):
            return tuple(value for row in rows for value in row)
        case Scan() | Table() | Rename() | Distinct() | Union() | Except() | Intersect():
            return ()
        case Now() | Unbounded() | Range() | Rows() | Session():
            return ()
        case Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return ()


def operands(expr: Expr | AggregateCall) -> tuple[Expr, ...]:
    """The expressions an expression is made of, left to right."""
    match expr:
        case Column() | Literal():
            return ()
        case Compare() | Arithmetic():
            return (expr.left, expr.right)
        case And(args) | Or(args):
            return args
        case Not(arg) | IsNull(arg) | Negate(arg) | Cast(arg):
            return (arg,)
        case Case(branches, otherwise):
            return (*(part for branch in branches for part in branch), otherwise)
        case Call():
            return expr.arguments
        case AggregateCall():
            return expr.arguments if expr.where is None else (*expr.arguments, expr.where)


def map_operands(expr: Expr, image: Callable[[Expr], Expr]) -> Expr:
    """The expression with every operand replaced by its image."""
    match expr:
        case Column() | Literal():
            return expr
        case Compare() | Arithmetic():
            return replace(expr, left=image(expr.left), right=image(expr.right))
        case And(args) | Or(args):
            return replace(expr, operands=tuple(map(image, args)))
        case Not(arg) | IsNull(arg) | Negate(arg) | Cast(arg):
            return replace(expr, operand=image(arg))
        case Case(branches, otherwise):
            mapped = tuple((image(when), image(then)) for when, then in branches)
            return replace(expr, branches=mapped, otherwise=image(otherwise))
        case Call():
            return replace(expr, arguments=tuple(map(image, expr.arguments)))


def map_columns(expr: Expr, image: Callable[[Column], Expr]) -> Expr:
    """The expression with every column replaced by its image."""
    if isinstance(expr, Column):
        return image(expr)
    return map_operands(expr, lambda operand: map_columns(operand, image))


def columns(expr: Expr | AggregateCall) -> frozenset[str]:
    """The names of the columns an expression reads."""
    if isinstance(expr, Column):
        return frozenset((expr.name,))
    return frozenset[str]().union(*(columns(operand) for operand in operands(expr)))


def conjuncts(predicate: Expr) -> tuple[Expr, ...]:
    """The predicates that must all be true for `predicate` to be; none for the literal TRUE."""
    match predicate:
        case And(args):
            return tuple(part for arg in args for part in conjuncts(arg))
        case Literal(True):
            return ()
        case _:
            return (predicate,)


def conjunction(predicates: Iterable[Expr]) -> Expr:
    """That all predicates are true, each said once; the literal TRUE if there are none."""
    parts = tuple(dict.fromkeys(part for p in predicates for part in conjuncts(p)))
    match parts:
        case ():
            return Literal(True, BOOLEAN)
        case (only,):
            return only
        case _:
            return And(parts)


def nullable(expr: Expr, schema: Schema) -> bool:
    """Whether the expression may be NULL over rows of `schema`; True when not certain."""
    match expr:
        case Column(name):
            return next((f.nullable for f in schema if f.name == name), True)
        case Literal(value):
            return value is None
        case IsNull():
            return False
        case Compare(Comparison.SAME | Comparison.DIFFERENT):
            return False
        case Compare() | And() | Or() | Not() | Negate():
            return any(nullable(operand, schema) for operand in operands(expr))
        case Arithmetic(op):
            from_operands = any(nullable(operand, schema) for operand in operands(expr))
            return from_operands or op in ("/", "%")
        case Case():
            values = (*(then for _, then in expr.branches), expr.otherwise)
            return any(nullable(value, schema) for value in values)
        case Cast(operand, type):
            return not converts(type_of(operand), type) or nullable(operand, schema)
        case Call(function, arguments):
            declared = SCALARS.get(function)
            return declared is None or _nullable_call(declared.nulls, arguments, schema)


def _nullable_call(nulls: Nulls, arguments: tuple[Expr, ...], schema: Schema) -> bool:
    match nulls:
        case Nulls.NEVER:
            return False
        case Nulls.STRICT:
            return any(nullable(argument, schema) for argument in arguments)
        case Nulls.ALL:
            return all(nullable(argument, schema) for argument in arguments)
        case Nulls.PARTIAL | Nulls.LENIENT:
            return True


def nullable_aggregate(call: AggregateCall, schema: Schema) -> bool:
    """Whether the aggregate may be NULL over groups of rows of `schema`; True when not certain."""
    declared = AGGREGATES.get(call.function)
    if declared is None or call.where is not None:
        return declared is None or declared.nulls is not Nulls.NEVER
    return _nullable_call(declared.nulls, call.arguments, schema)
