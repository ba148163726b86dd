"""UNION, EXCEPT and INTERSECT."""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.algebra.plan import Distinct, Except, Intersect, Named, Project, Relation, Union
from cqlc.codes import names as codes
from cqlc.datatypes import DataType, common_type
from cqlc.diagnostics import Label
from cqlc.resolve.derived import Derived, Obstacle, ObstacleAt
from cqlc.resolve.environment import Environment
from cqlc.resolve.operators import convert
from cqlc.resolve.outputs import columns_of
from cqlc.source import Span


@dataclass(frozen=True, slots=True)
class Operand:
    """One side of a set operation; `bare` if it is a name or made of names."""

    derived: Derived
    bare: bool
    span: Span


def combine(op: str, all_rows: bool, left: Operand, right: Operand, env: Environment) -> Operand:
    """The set operation on both sides.

    SQL's operations on queries give sets unless ALL is written; the prototype's on bare names
    give bags.
    """
    bare = left.bare and right.bare
    bag = all_rows or bare
    span = left.span.to(right.span)
    a, b = _aligned(left, right, env)
    kinds: list[ObstacleAt] = []
    rows: Relation
    match op:
        case "UNION":
            rows = Union(a, b, span=span)
            if not bag:
                rows = Distinct(rows, span=span)
                kinds.append(ObstacleAt(Obstacle.DISTINCT, span))
        case "EXCEPT":
            one, other = (a, b) if bag else (Distinct(a, span=span), Distinct(b, span=span))
            rows = Except(one, other, span=span)
            kinds.append(ObstacleAt(Obstacle.SET_OPERATION, span))
        case _:
            rows = Intersect(a, b, span=span)
            if not bag:
                rows = Distinct(rows, span=span)
            kinds.append(ObstacleAt(Obstacle.SET_OPERATION, span))
    return Operand(_merged(rows, left.derived, right.derived, kinds), bare, span)


def _merged(rows: Relation, left: Derived, right: Derived, kinds: list[ObstacleAt]) -> Derived:
    return Derived(
        rows,
        windows=(*left.windows, *right.windows),
        slides=(*left.slides, *right.slides),
        obstacles=(*left.obstacles, *right.obstacles, *kinds),
        aggregate=left.aggregate or right.aggregate,
        retroactive=left.retroactive or right.retroactive,
        nicknames=left.nicknames,
    )


def _aligned(left: Operand, right: Operand, env: Environment) -> tuple[Relation, Relation]:
    """Both sides with the same number of columns, of common types."""
    a, b = left.derived.rows, right.derived.rows
    ours, theirs = env.facts.schema(a), env.facts.schema(b)
    if len(ours) != len(theirs):
        env.findings.report(
            codes.WRONG_COLUMN_COUNT,
            f"the two sides have {len(ours)} and {len(theirs)} columns",
            right.span,
            f"{len(theirs)} columns",
            help="select the same number of columns on both sides",
            related=(Label(left.span, f"{len(ours)} columns"),),
        )
        return a, a
    types: list[DataType] = []
    for mine, other in zip(ours, theirs, strict=True):
        common = common_type(mine.type, other.type)
        if common is None:
            env.findings.report(
                codes.NO_COMMON_TYPE,
                f"{mine.name} is {mine.type} on the left and {other.type} on the right",
                right.span,
                f"{other.name} is {other.type}",
                help="convert one of them with CAST",
                related=(Label(left.span, f"{mine.name} is {mine.type}"),),
            )
        types.append(common or mine.type)
    return _cast(a, types, env), _cast(b, types, env)


def _cast(rows: Relation, types: list[DataType], env: Environment) -> Relation:
    schema = env.facts.schema(rows)
    if all(field.type == type for field, type in zip(schema, types, strict=True)):
        return rows
    base, values = columns_of(rows, env)
    columns = tuple(
        Named(field.name, convert(value, type), span=value.span)
        for field, value, type in zip(schema, values, types, strict=True)
    )
    return Project(base, columns, span=rows.span)
