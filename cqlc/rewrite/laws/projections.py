"""Projections: merged, and put below joins and aggregations so that state holds fewer columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from cqlc.algebra.expr import Column, Expr, Literal
from cqlc.algebra.plan import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Project,
    Rank,
    Relation,
    Rename,
)
from cqlc.algebra.walk import columns, map_columns, operands
from cqlc.rewrite.facts import Facts


def merge_projects(plan: Relation, _: Facts) -> Relation | None:
    """π[E](π[F](R)) = π[E ∘ F](R) if nothing is computed twice by it"""
    match plan:
        case Project(Project(relation, inner), outer):
            values = {c.name: c.value for c in inner}
            uses = Counter(name for c in outer for name in _reads(c.value))
            computed = {n for n, v in values.items() if not isinstance(v, Column | Literal)}
            if any(uses[name] > 1 for name in computed):
                return None
            merged = (
                replace(c, value=map_columns(c.value, lambda x: values[x.name])) for c in outer
            )
            return replace(plan, input=relation, columns=tuple(merged))
        case _:
            return None


def rename_in_project(plan: Relation, _: Facts) -> Relation | None:
    """ρ[a](π[E](R)) = π[E, called a.e](R)"""
    match plan:
        case Rename(Project(_, shown) as project, alias):
            renamed = tuple(replace(c, name=f"{alias}.{c.name}") for c in shown)
            return replace(project, columns=renamed)
        case _:
            return None


def drop_identity_project(plan: Relation, facts: Facts) -> Relation | None:
    """π[all columns](R) = R"""
    match plan:
        case Project(relation, shown) if tuple(shown) == facts.columns(relation):
            return relation
        case _:
            return None


def narrow_join_below_project(plan: Relation, facts: Facts) -> Relation | None:
    """π[E](R ⋈ S) = π[E](π[N](R) ⋈ π[M](S)), N and M being the columns that E and the join read"""
    match plan:
        case Project(Join() as join, shown):
            narrowed = _narrowed(join, (c.value for c in shown), facts)
            return None if narrowed is None else replace(plan, input=narrowed)
        case Project(Filter(Join() as join, predicate) as filter, shown):
            read = (*(c.value for c in shown), predicate)
            narrowed = _narrowed(join, read, facts)
            return (
                None if narrowed is None else replace(plan, input=replace(filter, input=narrowed))
            )
        case _:
            return None


def narrow_join_below_aggregate(plan: Relation, facts: Facts) -> Relation | None:
    """γ[K, A](R ⋈ S) = γ[K, A](π[N](R) ⋈ π[M](S)), N and M being the columns that are read"""
    match plan:
        case Aggregate(Join() as join, keys, aggregates):
            read = {c for a in aggregates for c in columns(a.value)}
            fields = {f.name: Column(f.name, f.type) for f in facts.schema(join)}
            values = (*(k.value for k in keys), *(fields[c] for c in sorted(read)))
            narrowed = _narrowed(join, values, facts)
            return None if narrowed is None else replace(plan, input=narrowed)
        case _:
            return None


def narrow_rank_below_project(plan: Relation, facts: Facts) -> Relation | None:
    """π[E](rank[P, O](R)) = π[E](R) if E does not read the rank"""
    match plan:
        case Project(Rank(relation, name=name), shown) if all(
            name not in columns(c.value) for c in shown
        ):
            return replace(plan, input=relation)
        case _:
            return None


def _narrowed(join: Join, read: Iterable[Expr], facts: Facts) -> Join | None:
    """The join of the columns that are read, if that are fewer."""
    needed = frozenset[str]().union(columns(join.predicate), *map(columns, read))
    left = _only(join.left, needed, facts)
    one_sided = join.kind in (JoinKind.SEMI, JoinKind.ANTI)
    right = _only(join.right, columns(join.predicate) if one_sided else needed, facts)
    if left is join.left and right is join.right:
        return None
    return replace(join, left=left, right=right)


def _only(relation: Relation, needed: frozenset[str], facts: Facts) -> Relation:
    shown = tuple(c for c in facts.columns(relation) if c.name in needed)
    if len(shown) == len(facts.schema(relation)):
        return relation
    if not shown:
        # A relation must keep a column: the shortest way to say how many rows there are.
        shown = facts.columns(relation)[:1]
        if len(facts.schema(relation)) == 1:
            return relation
    return Project(relation, shown, span=relation.span)


def _reads(expr: Expr) -> Iterable[str]:
    """The columns an expression reads, each as often as it does."""
    if isinstance(expr, Column):
        yield expr.name
    for operand in operands(expr):
        yield from _reads(operand)
