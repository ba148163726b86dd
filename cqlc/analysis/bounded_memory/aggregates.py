"""When an aggregate query needs more than constant memory (Arasu et al., section on aggregates).

Each aggregate is tested alone, over the query that projects the groups: without duplicates if the
aggregate ignores them, otherwise with. For MIN and MAX the published condition, as far as it can be
read, looks at one direction of comparison only; here the aggregated attribute's comparison with an
arbitrary value counts as one more inequality join, which is sufficient and necessary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cqlc.algebra.expr import Comparison
from cqlc.analysis.bounded_memory.closure import Class, close
from cqlc.analysis.bounded_memory.criteria import (
    Case,
    Condition,
    Place,
    Violation,
    extreme_violation,
    join_violations,
    output_violations,
    regions,
)
from cqlc.analysis.bounded_memory.query import (
    Aggregated,
    AggregateKind,
    Aggregation,
    Attribute,
    Link,
    Output,
    StreamUse,
)

PROBE = "?"
"""The attribute of the virtual occurrence that a MIN or MAX is compared with."""


def aggregation_violations(case: Case, head: Aggregation) -> tuple[Violation, ...]:
    """Why a piece of an aggregate query is not bounded."""
    groups = output_violations(case, head.groups, Condition.GROUP)
    found = [*groups, *(v for a in head.aggregates for v in _remembered(case, a))]
    if len(case.query.uses) > 1:
        found += join_violations(case, distinct=True)
        found += _counted(case, head)
        found += _extremes(case, head, {v.stream for v in found if v.exact})
    return tuple(dict.fromkeys(found))


def _remembered(case: Case, aggregate: Aggregated) -> Iterator[Violation]:
    """The attributes whose values the aggregate itself has to keep."""
    unproved = replace(aggregate, exact=False)
    joined = len(case.query.uses) > 1
    match aggregate.kind:
        case AggregateKind.LIST:
            yield _growing(case, aggregate)
        case AggregateKind.DIFFERENT | AggregateKind.MEDIAN:
            yield from _values(case, aggregate)
        case AggregateKind.QUANTILE | AggregateKind.OTHER:
            yield from _values(case, unproved)
        case AggregateKind.STEPWISE if joined:
            yield from _values(case, unproved)
        case _ if joined and _spread(case, aggregate):
            yield from _values(case, unproved)
        case _:
            pass


def _spread(case: Case, aggregate: Aggregated) -> bool:
    """Whether the aggregate reads attributes of several occurrences at once."""
    return len({case.owner(name).name for name in aggregate.attributes}) > 1


def _values(case: Case, aggregate: Aggregated) -> Iterator[Violation]:
    outputs = (Output(name, aggregate.exact) for name in aggregate.attributes)
    for violation in output_violations(case, outputs, Condition.VALUES):
        yield replace(violation, aggregate=aggregate)


def _growing(case: Case, aggregate: Aggregated) -> Violation:
    name = next(iter(aggregate.attributes), "")
    use = case.owner(name) if name else case.query.uses[0]
    endless = name and not case.bounded(name)
    place = (Place((name,), regions(case, name, name)[0]),) if endless else ()
    return Violation(
        Condition.LIST,
        use.name,
        aggregate.attributes,
        places=place,
        aggregate=aggregate,
        exact=not any(use.stored for use in case.query.uses),
    )


# ------------------------------------------------------------------------ counting partners


@dataclass(frozen=True, slots=True)
class _Need:
    """An aggregate that depends on how many partners there are."""

    aggregate: Aggregated
    streams: frozenset[str] | None
    """The proof that memory grows works if the joined streams are among these; None: always."""


def counts_partners(case: Case, head: Aggregation) -> bool:
    """Whether some aggregate depends on how many partners there are."""
    return any(_need(case, head, aggregate) for aggregate in head.aggregates)


def _counted(case: Case, head: Aggregation) -> Iterator[Violation]:
    needs = [need for a in head.aggregates if (need := _need(case, head, a))]
    if not needs:
        return
    for violation in join_violations(case, distinct=False):
        if violation.condition is not Condition.COUNTING:
            continue
        joined = {case.owner(name).name for name in violation.attributes}
        proving = [n for n in needs if n.streams is None or n.streams & joined]
        chosen = (proving or needs)[0].aggregate
        yield replace(violation, aggregate=chosen, exact=bool(proving))


def _need(case: Case, head: Aggregation, aggregate: Aggregated) -> _Need | None:
    """How an aggregate depends on the number of partners, if it does.

    A sum of zeros does not, nor does the mean of equal values. An average, or a median, is a proof
    only if its attribute belongs to one of the streams whose partners are counted: over a third
    stream, the number of partners cancels out.
    """
    names = aggregate.attributes
    if names and names[0] in case.piece.nulls:
        return None
    nowhere: frozenset[str] = frozenset()
    proof = None if aggregate.exact else nowhere
    match aggregate.kind:
        case AggregateKind.COUNT:
            return _Need(aggregate, proof)
        case AggregateKind.SUM if names:
            found = case.closure.of(names[0])
            return None if found.pinned and is_zero(found) else _Need(aggregate, proof)
        case AggregateKind.AVG | AggregateKind.MEDIAN if names:
            if any(case.closure.same(names[0], o.attribute) for o in head.groups):
                return None
            if not case.closure.of(names[0]).pinned:
                owner = frozenset((case.owner(names[0]).name,))
                return _Need(aggregate, owner if aggregate.exact else nowhere)
            return None if len(case.query.pieces) == 1 else _Need(aggregate, nowhere)
        case AggregateKind.MIN | AggregateKind.MAX | AggregateKind.DIFFERENT:
            return None
        case _:
            return _Need(aggregate, nowhere)


def is_zero(found: Class) -> bool:
    """Whether a class that has one value has the value zero."""
    if found.sort.dense:
        return bool(found.sort.points) and found.sort.points[(found.low or 0) // 2] == 0
    return found.low == 0


# ------------------------------------------------------------------------- MIN and MAX


def _extremes(case: Case, head: Aggregation, seen: set[str]) -> Iterator[Violation]:
    for aggregate in head.aggregates:
        if aggregate.kind not in (AggregateKind.MIN, AggregateKind.MAX):
            continue
        if _spread(case, aggregate) or not aggregate.attributes:
            continue
        name = aggregate.attributes[0]
        if case.bounded(name) or case.owner(name).stored or case.owner(name).name in seen:
            continue
        enlarged, probe = with_probe(case, aggregate)
        violation = extreme_violation(enlarged, aggregate, probe)
        if violation:
            yield violation


def with_probe(case: Case, aggregate: Aggregated) -> tuple[Case, Link]:
    """The case with a virtual occurrence that a MIN's or MAX's attribute is compared with."""
    name = aggregate.attributes[0]
    compared = case.query.attributes[name]
    link = (
        Link(PROBE, Comparison.LT, name)
        if aggregate.kind is AggregateKind.MAX
        else Link(name, Comparison.LT, PROBE)
    )
    attribute = Attribute(PROBE, compared.sort, compared.type)
    virtual = StreamUse(PROBE, PROBE, (attribute,))
    query = replace(case.query, uses=(*case.query.uses, virtual))
    piece = replace(case.piece, atoms=(*case.piece.atoms, link))
    closure = close(query.attributes, piece.atoms)
    assert closure is not None, "an unbounded attribute has room below and above"
    return Case(query, piece, closure), link
