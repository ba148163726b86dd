"""The verdict on a plan: its queries of the theory, taken apart at UNION and put together again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cqlc.algebra.plan import Distinct, Dstream, Istream, Plan, Relation, Rstream, Scan, Union
from cqlc.algebra.walk import subplans
from cqlc.analysis.bounded_memory.synopsis import Synopsis
from cqlc.analysis.bounded_memory.translate import from_plan
from cqlc.analysis.bounded_memory.verdict import (
    Bounded,
    BoundedMemoryVerdict,
    Unbounded,
    Unknown,
    analyse,
)
from cqlc.catalog import Catalog


def judge(plan: Plan, catalog: Catalog) -> BoundedMemoryVerdict:
    """The verdict on a plan.

    A union is bounded if all its parts are. It is unbounded if one part is, and every other part
    reads a stream of its own: while nothing arrives there, the one part is all there is.
    """
    parts = list(_parts(plan))
    if len(parts) == 1:
        return analyse(from_plan(plan, catalog))
    verdicts = [analyse(from_plan(part, catalog)) for part in parts]
    bounded = [verdict for verdict in verdicts if isinstance(verdict, Bounded)]
    if len(bounded) == len(verdicts):
        return _together(bounded)
    for part, verdict in zip(parts, verdicts, strict=True):
        if isinstance(verdict, Unbounded) and _alone(part, parts):
            return verdict
    open_parts = [verdict for verdict in verdicts if isinstance(verdict, Unknown)]
    reasons = dict.fromkeys(reason for verdict in open_parts for reason in verdict.reasons)
    overlap = "parts of the union read the same streams, and one may hide what another shows"
    return Unknown(tuple(reasons) or (overlap,))


def _parts(plan: Plan) -> Iterator[Plan]:
    """The parts of a union at the top of a query, each with the operators above the union."""
    match plan:
        case Istream(relation) | Dstream(relation) | Rstream(relation):
            return (replace(plan, input=part) for part in _relations(relation))
        case _ if isinstance(plan, Relation):
            return _relations(plan)
        case _:
            return iter((plan,))


def _relations(plan: Relation) -> Iterator[Relation]:
    match plan:
        case Union(left, right):
            yield from _relations(left)
            yield from _relations(right)
        case Distinct(Union(left, right)):
            yield from _relations(Distinct(left, span=plan.span))
            yield from _relations(Distinct(right, span=plan.span))
        case _:
            yield plan


def _streams(plan: Plan) -> set[str]:
    return {node.name for node in subplans(plan) if isinstance(node, Scan)}


def _alone(part: Plan, parts: Sequence[Plan]) -> bool:
    others = (other for other in parts if other is not part)
    return all(_streams(other) - _streams(part) for other in others)


def _together(verdicts: Sequence[Bounded]) -> Bounded:
    synopsis = Synopsis(
        tuple(s for v in verdicts for s in v.synopsis.streams),
        tuple(a for v in verdicts for a in v.synopsis.answer),
    )
    given = tuple(dict.fromkeys(g for v in verdicts for g in v.given))
    empty = all(v.empty for v in verdicts)
    return Bounded(synopsis, "every part of the union is bounded", given, empty)
