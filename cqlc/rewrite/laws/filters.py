"""Selections: merged, and moved towards the windows they select from.

None of these laws leads into a window: whether a row is in a ROWS window depends on rows a
selection would remove. Above a time window a selection is where it would be below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cqlc.algebra.expr import Column, Expr
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    NrrJoin,
    Project,
    Rank,
    Relation,
    Rename,
    Union,
)
from cqlc.algebra.walk import columns, conjunction, conjuncts, map_columns
from cqlc.rewrite.facts import Facts


def merge_filters(plan: Relation, _: Facts) -> Relation | None:
    """σ[p](σ[q](R)) = σ[q ∧ p](R)"""
    match plan:
        case Filter(Filter(relation, inner), outer):
            return replace(plan, input=relation, predicate=conjunction((inner, outer)))
        case _:
            return None


def drop_true_filter(plan: Relation, _: Facts) -> Relation | None:
    """σ[TRUE](R) = R"""
    match plan:
        case Filter(relation, predicate) if not conjuncts(predicate):
            return relation
        case _:
            return None


def push_filter_below_rename(plan: Relation, _: Facts) -> Relation | None:
    """σ[p](ρ[a](R)) = ρ[a](σ[p](R))"""
    match plan:
        case Filter(Rename(relation, alias) as renamed, predicate):
            inner = map_columns(
                predicate, lambda c: replace(c, name=c.name.removeprefix(f"{alias}."))
            )
            return replace(renamed, input=replace(plan, input=relation, predicate=inner))
        case _:
            return None


def push_filter_below_project(plan: Relation, _: Facts) -> Relation | None:
    """σ[p](π[E](R)) = π[E](σ[p ∘ E](R))"""
    match plan:
        case Filter(Project(relation, shown) as project, predicate):
            values = {c.name: c.value for c in shown}
            inner = map_columns(predicate, lambda c: values[c.name])
            return replace(project, input=replace(plan, input=relation, predicate=inner))
        case _:
            return None


def push_filter_below_union(plan: Relation, facts: Facts) -> Relation | None:
    """σ[p](R ∪ S) = σ[p](R) ∪ σ[p](S)"""
    match plan:
        case Filter(Union(left, right) as union, predicate):
            other = _by_position(predicate, left, right, facts)
            return replace(
                union,
                left=replace(plan, input=left),
                right=replace(plan, input=right, predicate=other),
            )
        case _:
            return None


def push_filter_below_difference(plan: Relation, _: Facts) -> Relation | None:
    """σ[p](R − S) = σ[p](R) − S, and σ[p](R ∩ S) = σ[p](R) ∩ S"""
    match plan:
        case Filter(Except(left) | Intersect(left) as both, _):
            return replace(both, left=replace(plan, input=left))
        case _:
            return None


def push_filter_below_distinct(plan: Relation, _: Facts) -> Relation | None:
    """σ[p](δ(R)) = δ(σ[p](R))"""
    match plan:
        case Filter(Distinct(relation) as distinct, _):
            return replace(distinct, input=replace(plan, input=relation))
        case _:
            return None


def push_filter_below_aggregate(plan: Relation, _: Facts) -> Relation | None:
    """σ[p](γ[K, A](R)) = γ[K, A](σ[p ∘ K](R)) if p reads keys only"""
    match plan:
        case Filter(Aggregate(relation, keys) as aggregate, predicate):
            values = {k.name: k.value for k in keys}
            inner, rest = _split(predicate, values)
            if not inner:
                return None
            below = tuple(map_columns(p, lambda c: values[c.name]) for p in inner)
            pushed = replace(plan, input=relation, predicate=conjunction(below))
            return _filtered(replace(aggregate, input=pushed), rest, plan)
        case _:
            return None


def push_filter_below_rank(plan: Relation, _: Facts) -> Relation | None:
    """σ[p](rank[P](R)) = rank[P](σ[p](R)) if p reads columns of the partition P only"""
    match plan:
        case Filter(Rank(relation) as rank, predicate):
            inner, rest = _split(predicate, rank.partition)
            if not inner:
                return None
            pushed = replace(plan, input=relation, predicate=conjunction(inner))
            return _filtered(replace(rank, input=pushed), rest, plan)
        case _:
            return None


def push_filter_below_nrr_join(plan: Relation, facts: Facts) -> Relation | None:
    """σ[p](R ⋈ N) = σ[p](R) ⋈ N if p reads columns of R only, also for left, semi and anti joins"""
    match plan:
        case Filter(NrrJoin(relation) as join, predicate):
            inner, rest = _split(predicate, facts.names(relation))
            if not inner:
                return None
            pushed = replace(plan, input=relation, predicate=conjunction(inner))
            return _filtered(replace(join, input=pushed), rest, plan)
        case _:
            return None


def push_filter_below_join(plan: Relation, facts: Facts) -> Relation | None:
    """σ[p ∧ q ∧ r](R ⋈ S) = σ[r](σ[p](R) ⋈ σ[q](S)) if p reads R only, and q reads S only

    p also moves below left, semi and anti joins; q below inner joins only.
    """
    match plan:
        case Filter(Join(left, right, kind) as join, predicate) if kind is not JoinKind.FULL:
            lefts, rest = _split(predicate, facts.names(left))
            rights: tuple[Expr, ...] = ()
            if kind is JoinKind.INNER:
                rights, rest = _split(conjunction(rest), facts.names(right))
            if not lefts and not rights:
                return None
            narrowed = replace(
                join, left=_filtered(left, lefts, plan), right=_filtered(right, rights, plan)
            )
            return _filtered(narrowed, rest, plan)
        case _:
            return None


def merge_filter_into_join(plan: Relation, _: Facts) -> Relation | None:
    """σ[p](R ⋈[q] S) = R ⋈[q ∧ p] S"""
    match plan:
        case Filter(Join(_, _, JoinKind.INNER, inner) as join, predicate):
            return replace(join, predicate=conjunction((inner, predicate)))
        case _:
            return None


def push_join_predicate_down(plan: Relation, facts: Facts) -> Relation | None:
    """R ⋈[p ∧ q ∧ r] S = σ[p](R) ⋈[r] σ[q](S) if p reads R only, and q reads S only

    q also moves out of left, semi and anti joins; p out of inner and semi joins only, since it
    decides there which rows of R have no partner.
    """
    match plan:
        case Join(left, right, kind, predicate) if kind is not JoinKind.FULL:
            rest: tuple[Expr, ...] = conjuncts(predicate)
            lefts: tuple[Expr, ...] = ()
            if kind in (JoinKind.INNER, JoinKind.SEMI):
                lefts, rest = _split(predicate, facts.names(left))
            rights, rest = _split(conjunction(rest), facts.names(right))
            if not lefts and not rights:
                return None
            return replace(
                plan,
                left=_filtered(left, lefts, plan),
                right=_filtered(right, rights, plan),
                predicate=conjunction(rest),
            )
        case _:
            return None


# ------------------------------------------------------------------------------------- parts


def _split(
    predicate: Expr, names: Iterable[str] | Mapping[str, Expr]
) -> tuple[tuple[Expr, ...], tuple[Expr, ...]]:
    """The conjuncts that read these columns only, and the others.

    One that reads no column at all stays where it is: below an aggregation it could remove all
    rows of a group that an outer selection shows.
    """
    known = frozenset(names)
    parts = conjuncts(predicate)
    inner = tuple(p for p in parts if columns(p) and columns(p) <= known)
    return inner, tuple(p for p in parts if p not in inner)


def _filtered(relation: Relation, predicates: Iterable[Expr], origin: Relation) -> Relation:
    predicate = conjunction(predicates)
    if not conjuncts(predicate):
        return relation
    return Filter(relation, predicate, span=origin.span)


def _by_position(predicate: Expr, left: Relation, right: Relation, facts: Facts) -> Expr:
    pairs = zip(facts.schema(left), facts.schema(right), strict=True)
    names = {a.name: Column(b.name, b.type) for a, b in pairs}
    return map_columns(predicate, lambda c: names[c.name])
