"""Which relations have at most one row, so that they may stand for a value."""

from __future__ import annotations

from cqlc.algebra.expr import Column, Compare, Comparison, Expr, Literal
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Now,
    NrrJoin,
    Project,
    Range,
    Rank,
    RankKind,
    Relation,
    Rename,
    Rows,
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.walk import columns, conjuncts
from cqlc.datatypes import BIGINT
from cqlc.resolve.environment import Environment

_Fixed = frozenset[str]


def at_most_one_row(plan: Relation, env: Environment, fixed: _Fixed = frozenset()) -> bool:
    """Whether the relation has at most one row for each choice of the `fixed` columns' values.

    Columns of outer queries are constants here.
    """
    match plan:
        case Values(rows):
            return len(rows) <= 1
        case Table(name):
            return _has_key(name, fixed, env)
        case Unbounded(stream) | Range(stream) | Now(stream) | Session(stream):
            return isinstance(stream, Scan) and _has_key(stream.name, fixed, env)
        case Rows(stream):
            last = plan.rows == 1 and fixed.issuperset(plan.partition)
            return last or (isinstance(stream, Scan) and _has_key(stream.name, fixed, env))
        case Rename(rows, alias):
            inside = frozenset(c.removeprefix(f"{alias}.") for c in fixed)
            return at_most_one_row(rows, env, inside)
        case Filter(rows, predicate):
            known = _fixed_by(predicate, env.facts(rows).names, fixed)
            return _is_first(plan, known) or at_most_one_row(rows, env, known)
        case Project(rows, shown):
            inside = (
                c.value.name for c in shown if isinstance(c.value, Column) and c.name in fixed
            )
            return at_most_one_row(rows, env, frozenset(inside))
        case Distinct(rows):
            return env.facts(rows).names <= fixed or at_most_one_row(rows, env, fixed)
        case Aggregate(rows, keys):
            same = _constants(rows, env)
            return all(key.name in fixed or columns(key.value) <= same for key in keys)
        case Rank(rows) | Except(rows) | Intersect(rows):
            return at_most_one_row(rows, env, fixed)
        case Join():
            return _join(plan, env, fixed)
        case NrrJoin(rows):
            return at_most_one_row(rows, env, fixed) and _looks_up_key(plan, env, fixed)
        case Union():
            return False


def _has_key(table: str, fixed: _Fixed, env: Environment) -> bool:
    declared = env.tables.as_dict().get(table)
    return declared is not None and any(fixed.issuperset(key) for key in declared.keys)


def _constants(plan: Relation, env: Environment) -> _Fixed:
    """Columns that are the same in all rows."""
    match plan:
        case Filter(rows, predicate):
            return _fixed_by(predicate, env.facts(rows).names, _constants(rows, env))
        case Rename(rows, alias):
            return frozenset(f"{alias}.{c}" for c in _constants(rows, env))
        case Join(left, right, JoinKind.INNER, predicate):
            known = _constants(left, env) | _constants(right, env)
            return _fixed_by(predicate, env.facts(plan).names, known)
        case _:
            return frozenset()


def _fixed_by(predicate: Expr, own: _Fixed, fixed: _Fixed) -> _Fixed:
    """The columns that have one value where the predicate holds and `fixed` ones have."""
    known = fixed
    for part in conjuncts(predicate):
        if isinstance(part, Compare) and part.op in (Comparison.EQ, Comparison.SAME):
            for side, other in ((part.left, part.right), (part.right, part.left)):
                if isinstance(side, Column) and columns(other) & own <= known:
                    known |= {side.name}
    return known


def _is_first(plan: Filter, known: _Fixed) -> bool:
    """Whether the filter keeps the first row of a ranking."""
    rank = plan.input
    if not isinstance(rank, Rank) or rank.kind is not RankKind.ROW_NUMBER:
        return False
    number, one = Column(rank.name, BIGINT), Literal(1, BIGINT)
    keeping = (Compare(Comparison.LE, number, one), Compare(Comparison.EQ, number, one))
    first = any(part in keeping for part in conjuncts(plan.predicate))
    return first and known.issuperset(rank.partition)


def _join(plan: Join, env: Environment, fixed: _Fixed) -> bool:
    if plan.kind in (JoinKind.SEMI, JoinKind.ANTI):
        return at_most_one_row(plan.left, env, fixed)
    if plan.kind is JoinKind.FULL:
        return False
    left, right = env.facts(plan.left).names, env.facts(plan.right).names
    known = fixed
    if plan.kind is JoinKind.INNER:
        known = _fixed_by(plan.predicate, left | right, fixed)
    matched = _fixed_by(plan.predicate, right, known & right)
    return at_most_one_row(plan.left, env, known & left) and at_most_one_row(
        plan.right, env, matched
    )


def _looks_up_key(plan: NrrJoin, env: Environment, fixed: _Fixed) -> bool:
    if plan.kind in (JoinKind.SEMI, JoinKind.ANTI):
        return True
    own = frozenset(f"{plan.alias}.{field.name}" for field in plan.schema)
    matched = _fixed_by(plan.predicate, own, fixed & own)
    inside = frozenset(c.removeprefix(f"{plan.alias}.") for c in matched)
    return _has_key(plan.name, inside, env)
