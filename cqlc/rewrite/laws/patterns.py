"""Update-pattern simplification: weakest operators down, strict ones up (Golab, section 3.5.3).

The lower a strict operator is, the more operators have to handle the deletions it makes.
"""

from __future__ import annotations

from dataclasses import replace

from cqlc.algebra.plan import Join, JoinKind, NrrJoin, Project, Relation
from cqlc.algebra.walk import map_columns
from cqlc.analysis.update_pattern import UpdatePattern
from cqlc.rewrite.facts import Facts


def pull_negation_above_join(plan: Relation, facts: Facts) -> Relation | None:
    """(R ▷ T) ⋈ S = (R ⋈ S) ▷ T, and S ⋈ (R ▷ T) = (S ⋈ R) ▷ T, if R and S are not strict

    Then only the negation's own output has deletions. A bag difference must stay where it is:
    the join would change the multiplicities it counts.
    """
    match plan:
        case Join(Join(r, t, JoinKind.ANTI) as negation, s, JoinKind.INNER) if _worth_it(
            negation, r, s, facts
        ):
            return replace(negation, left=replace(plan, left=r), right=t)
        case Join(s, Join(r, t, JoinKind.ANTI) as negation, JoinKind.INNER) if _worth_it(
            negation, r, s, facts
        ):
            return replace(negation, left=replace(plan, right=r), right=t)
        case _:
            return None


def push_nrr_join_below_negation(plan: Relation, facts: Facts) -> Relation | None:
    """(R ▷ T) ⋈ N = (R ⋈ N) ▷ T for an NRR N: above the negation the join would be illegal"""
    match plan:
        case NrrJoin(Join(r, t, JoinKind.ANTI) as negation) if (
            facts.edge(negation).pattern is UpdatePattern.STRICT
        ):
            return replace(negation, left=replace(plan, input=r), right=t)
        case _:
            return None


def lift_project_above_nrr_join(plan: Relation, facts: Facts) -> Relation | None:
    """π[E](R) ⋈[p] N = π[E, N](R ⋈[p ∘ E] N) for an NRR N, if R is strict

    So the join comes next to the negation that it has to be moved below.
    """
    match plan:
        case NrrJoin(Project(r, shown) as project) if facts.edge(r).pattern is UpdatePattern.STRICT:
            values = {c.name: c.value for c in shown}
            lifted = replace(
                plan,
                input=r,
                predicate=map_columns(plan.predicate, lambda c: values.get(c.name, c)),
            )
            added = tuple(c for c in facts.columns(plan) if c.name not in values)
            if facts.names(r) & {c.name for c in added}:
                return None
            return replace(project, input=lifted, columns=(*shown, *added))
        case _:
            return None


def _worth_it(negation: Join, r: Relation, s: Relation, facts: Facts) -> bool:
    strict = UpdatePattern.STRICT
    others = (facts.edge(r).pattern, facts.edge(s).pattern)
    return facts.edge(negation).pattern is strict and strict not in others
