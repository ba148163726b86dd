"""Joins: stronger kinds where they mean the same, predicates passed on, and their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cqlc.algebra.expr import (
    Arithmetic,
    Call,
    Cast,
    Column,
    Compare,
    Comparison,
    Expr,
    IsNull,
    Literal,
    Negate,
    Not,
)
from cqlc.algebra.plan import Filter, Join, JoinKind, Project, Relation, Rename
from cqlc.algebra.walk import columns, conjunction, conjuncts, map_columns, operands
from cqlc.functions import SCALARS, Nulls
from cqlc.rewrite.facts import Facts
from cqlc.rewrite.laws.constraints import always_true
from cqlc.rewrite.order import best_order


def strengthen_outer_join(plan: Relation, facts: Facts) -> Relation | None:
    """σ[p](R ⟕ S) = σ[p](R ⋈ S) if p is not true of a row whose S part is NULL"""
    match plan:
        case Filter(Join(_, right, JoinKind.LEFT) as join, predicate):
            nulls = facts.names(right)
            if any(_rejects_null(part, nulls) for part in conjuncts(predicate)):
                return replace(plan, input=replace(join, kind=JoinKind.INNER))
            return None
        case _:
            return None


def pass_constant_through_join(plan: Relation, facts: Facts) -> Relation | None:
    """σ[a = c](R) ⋈[a = b] S = σ[a = c](R) ⋈[a = b] σ[b = c](S) for a constant c"""
    match plan:
        case Join(left, right, JoinKind.INNER | JoinKind.SEMI, predicate):
            for a, b in _equalities(predicate):
                if a.name not in facts.names(left) or b.name not in facts.names(right):
                    a, b = b, a
                if a.name not in facts.names(left) or b.name not in facts.names(right):
                    continue
                found = _passed(left, a, right, b, facts)
                if found is not None:
                    return replace(plan, right=found)
                if plan.kind is JoinKind.INNER and (found := _passed(right, b, left, a, facts)):
                    return replace(plan, left=found)
            return None
        case _:
            return None


def order_joins(plan: Relation, facts: Facts) -> Relation | None:
    """R ⋈ S ⋈ T = π[columns in their order](T ⋈ (S ⋈ R)), the cheapest by the declared rates

    The cost model and its statistics are those of the thesis's section 5.3: comparisons per unit
    of time, from arrival rates, window lengths and numbers of different values.
    """
    match plan:
        case Join(kind=JoinKind.INNER):
            ordered = best_order(plan, facts)
            if ordered is None:
                return None
            return Project(ordered, facts.columns(plan), span=plan.span)
        case _:
            return None


# ------------------------------------------------------------------------------------- parts


def _rejects_null(predicate: Expr, nulls: frozenset[str]) -> bool:
    """Whether the predicate cannot be true when all these columns are NULL."""
    match predicate:
        case Compare(Comparison.SAME | Comparison.DIFFERENT):
            return False
        case Compare(_, left, right):
            return _is_null(left, nulls) or _is_null(right, nulls)
        case Not(IsNull(operand)):
            return _is_null(operand, nulls)
        case Column():
            return predicate.name in nulls
        case _:
            return False


def _is_null(expr: Expr, nulls: frozenset[str]) -> bool:
    """Whether the expression is certainly NULL when all these columns are."""
    match expr:
        case Column(name):
            return name in nulls
        case Arithmetic() | Negate() | Cast():
            return any(_is_null(part, nulls) for part in operands(expr))
        case Call(function):
            known = SCALARS.get(function)
            strict = known is not None and known.nulls in (Nulls.STRICT, Nulls.PARTIAL)
            return strict and any(_is_null(part, nulls) for part in expr.arguments)
        case _:
            return False


def _equalities(predicate: Expr) -> Iterable[tuple[Column, Column]]:
    for part in conjuncts(predicate):
        match part:
            case Compare(Comparison.EQ, Column() as a, Column() as b):
                yield a, b
            case _:
                pass


def _passed(
    source: Relation, a: Column, target: Relation, b: Column, facts: Facts
) -> Relation | None:
    """`target` with what `source` is filtered by on `a`, said of `b`; None if that is not new.

    Only where `b` is a declared column, unchanged: there the selection stays to be seen, so that
    it is not passed on again.
    """
    if facts.origin(target, b.name) is None:
        return None
    there = set(_filters(target))
    new = [
        moved
        for part in _filters(source)
        if columns(part) == frozenset((a.name,)) and _compares_with_constant(part)
        if (moved := map_columns(part, lambda _: b)) not in there
        if not always_true(moved, target, facts)
    ]
    return Filter(target, conjunction(new), span=target.span) if new else None


def _filters(relation: Relation) -> tuple[Expr, ...]:
    """What is known of the rows of a relation from the selections right above its window."""
    match relation:
        case Filter(inner, predicate):
            return (*conjuncts(predicate), *_filters(inner))
        case Rename(inner, alias):
            return tuple(
                map_columns(part, lambda c: replace(c, name=f"{alias}.{c.name}"))
                for part in _filters(inner)
            )
        case Project(inner, shown):
            same = {c.value.name: c.name for c in shown if isinstance(c.value, Column)}
            return tuple(
                map_columns(part, lambda c: replace(c, name=same[c.name]))
                for part in _filters(inner)
                if columns(part) <= same.keys()
            )
        case _:
            return ()


def _compares_with_constant(part: Expr) -> bool:
    match part:
        case Compare(_, Column(), Literal()) | Compare(_, Literal(), Column()):
            return True
        case _:
            return False
