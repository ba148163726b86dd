"""What a bounded query has to keep, and how many values that is at most.

Rows are sorted into buckets by the ranges of their attributes (Arasu et al., the section on
execution): single values between the constants an attribute is compared with, and one range below
and above them; in a dense order, every constant and every gap. Rows of one bucket pass the same
filters and, in a bounded query, are interchangeable or replaced by the one that joins most easily.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod

from cqlc.analysis.bounded_memory.aggregates import counts_partners
from cqlc.analysis.bounded_memory.closure import Class
from cqlc.analysis.bounded_memory.criteria import Case, regions
from cqlc.analysis.bounded_memory.query import (
    Aggregated,
    AggregateKind,
    Aggregation,
    Head,
    Link,
    Projection,
    StreamUse,
)


@dataclass(frozen=True, slots=True)
class Ranges:
    """An attribute that tells buckets apart, and into how many parts."""

    attribute: str
    parts: int


@dataclass(frozen=True, slots=True)
class StreamSynopsis:
    """What is kept of one stream: `per_bucket` values in each of at most `buckets` buckets."""

    stream: str
    keeps: str
    ranges: tuple[Ranges, ...] = ()
    per_bucket: int = 0

    @property
    def buckets(self) -> int:
        """The number of combinations of ranges."""
        return prod(r.parts for r in self.ranges)

    @property
    def values(self) -> int:
        """How many values are kept at most."""
        return self.per_bucket * self.buckets


@dataclass(frozen=True, slots=True)
class AnswerSynopsis:
    """What is kept of the answer: `width` values in each of at most `rows` rows."""

    keeps: str
    rows: int
    width: int

    @property
    def values(self) -> int:
        """How many values are kept at most."""
        return self.rows * self.width


@dataclass(frozen=True, slots=True)
class Synopsis:
    """Everything a bounded query keeps, of all its pieces."""

    streams: tuple[StreamSynopsis, ...] = ()
    answer: tuple[AnswerSynopsis, ...] = ()

    @property
    def values(self) -> int:
        """How many values are kept at most."""
        return sum(s.values for s in (*self.streams, *self.answer))


NOTHING = Synopsis()


def synopsis(cases: Iterable[Case]) -> Synopsis:
    """What all pieces of a bounded query keep together."""
    parts = [_of_case(case) for case in cases]
    return Synopsis(
        tuple(s for part in parts for s in part.streams),
        tuple(a for part in parts for a in part.answer),
    )


def _of_case(case: Case) -> Synopsis:
    head = case.query.head
    answer = _answer(case, head)
    if len(case.query.uses) == 1:
        return Synopsis((), (answer,) if answer else ())
    counted = _counted(case, head)
    streams = (_stream(case, use, counted=counted) for use in case.query.uses)
    return Synopsis(tuple(streams), (answer,) if answer else ())


def _counted(case: Case, head: Head) -> bool:
    """Whether it matters how many rows a bucket holds."""
    match head:
        case Projection():
            return not head.distinct
        case Aggregation():
            return counts_partners(case, head)


# ------------------------------------------------------------------------------- streams


def _stream(case: Case, use: StreamUse, *, counted: bool) -> StreamSynopsis:
    if use.stored:
        return StreamSynopsis(use.name, f"nothing more than {use.stored}")
    links = [link for link in _joins(case) if _touches(link, use)]
    relevant = _relevant(case, use, links)
    ranges = tuple(Ranges(name, _parts(case, name)) for name in relevant)
    aggregates = _of_stream(case, use)
    if counted:
        sums = sum(len(a.attributes) for a in aggregates)
        keeps = ["a count", *(f"the {_state(a)} of {', '.join(a.attributes)}" for a in aggregates)]
        row = ["a row"] if relevant else []
        return StreamSynopsis(
            use.name, " and ".join((*row, *keeps)), ranges, len(relevant) + 1 + sums
        )
    rows = _representatives(case, use, links)
    extremes = [f"the {_state(a)} of {a.attributes[0]}" for a in aggregates]
    width = len(relevant) * len(rows) + len(extremes)
    return StreamSynopsis(use.name, " and ".join((*rows, *extremes)), ranges, max(width, 1))


def _joins(case: Case) -> list[Link]:
    """The joins that do not follow from filters."""
    return [
        atom
        for atom in case.piece.atoms
        if isinstance(atom, Link)
        and case.owner(atom.left) is not case.owner(atom.right)
        and not _by_filters(case, atom)
    ]


def _by_filters(case: Case, link: Link) -> bool:
    low, high = case.closure.of(link.left), case.closure.of(link.right)
    if low is high or low.high is None or high.low is None:
        return False
    return low.high < high.low


def _touches(link: Link, use: StreamUse) -> bool:
    names = {a.name for a in use.attributes}
    return link.left in names or link.right in names


def _relevant(case: Case, use: StreamUse, links: Iterable[Link]) -> list[str]:
    """The attributes of a stream that a row in its synopsis has to have."""
    head = case.query.head
    joined = {name for link in links for name in (link.left, link.right)}
    joined |= {
        name for o in case.piece.opaque for name in o.attributes if _spread(case, o.attributes)
    }
    match head:
        case Projection(outputs):
            answered = {o.attribute for o in outputs}
        case Aggregation(groups, aggregates):
            answered = {o.attribute for o in groups}
            answered |= {n for a in aggregates if a.kind not in _SUMMED for n in a.attributes}
    wanted = joined | answered
    return [
        a.name
        for a in use.attributes
        if a.name in wanted and (a.name in joined or case.bounded(a.name))
    ]


_SUMMED = (AggregateKind.COUNT, AggregateKind.SUM, AggregateKind.AVG, AggregateKind.ALGEBRAIC)


def _spread(case: Case, attributes: Iterable[str]) -> bool:
    return len({case.owner(name).name for name in attributes}) > 1


def _of_stream(case: Case, use: StreamUse) -> list[Aggregated]:
    """The aggregates that every bucket of the stream prepares."""
    head = case.query.head
    if isinstance(head, Projection):
        return []
    prepared = (*_SUMMED[1:], AggregateKind.MIN, AggregateKind.MAX)
    return [
        a
        for a in head.aggregates
        if a.kind in prepared and a.attributes and case.owner(a.attributes[0]) is use
        and (a.kind in _SUMMED or not case.bounded(a.attributes[0]))
    ]  # fmt: skip


def _state(aggregate: Aggregated) -> str:
    match aggregate.kind:
        case AggregateKind.MIN:
            return "minimum"
        case AggregateKind.MAX:
            return "maximum"
        case AggregateKind.ALGEBRAIC:
            return "power sums"
        case _:
            return "sum"


def _representatives(case: Case, use: StreamUse, links: Iterable[Link]) -> list[str]:
    """Which rows stand for a bucket when duplicates do not matter."""
    names = {a.name for a in use.attributes}
    endless = [link for link in links if regions(case, link.left, link.right)]
    larger = list(dict.fromkeys(link.right for link in endless if link.right in names))
    smaller = list(dict.fromkeys(link.left for link in endless if link.left in names))
    rows: list[str] = []
    if larger:
        rows.append(f"the row with the largest {_combined('min', larger)}")
    if smaller:
        rows.append(f"the row with the smallest {_combined('max', smaller)}")
    return rows or ["one row"]


def _combined(function: str, names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{function}({', '.join(names)})"


# -------------------------------------------------------------------------------- ranges


def _parts(case: Case, name: str) -> int:
    """Into how many ranges an attribute falls, NULL counting as one."""
    if name in case.piece.nulls:
        return 1
    found = case.closure.of(name)
    extra = case.query.attributes[name].nullable and name not in case.piece.present
    if found.finite:
        return found.count() + extra
    if found.low is not None and found.high is not None:
        return found.high - found.low + 1 + extra
    constants = [k for c in _component(case, name) for k in _constants(c)]
    if not constants:
        return 1 + extra
    low = min(constants) if found.low is None else found.low
    high = max(constants) if found.high is None else found.high
    outside = (found.low is None) + (found.high is None)
    return max(high - low + 1, 0) + outside + extra


def _constants(found: Class) -> list[int]:
    own = (found.low, found.high, *found.holes, *(found.values or ()))
    return [k for k in own if k is not None]


def _component(case: Case, name: str) -> list[Class]:
    """The classes an attribute is compared with, directly or through others."""
    neighbours: Mapping[int, set[int]] = {i: set() for i in range(len(case.closure.classes))}
    for i, above in enumerate(case.closure.above):
        for j in above:
            neighbours[i].add(j)
            neighbours[j].add(i)
    todo = [case.closure.class_of[name]]
    seen = set(todo)
    while todo:
        fresh = neighbours[todo.pop()] - seen
        seen |= fresh
        todo += fresh
    return [case.closure.classes[i] for i in sorted(seen)]


# -------------------------------------------------------------------------------- answer


def _answer(case: Case, head: Head) -> AnswerSynopsis | None:
    match head:
        case Projection(outputs, distinct):
            names = [o.attribute for o in outputs]
            if not distinct or any(case.owner(n).stored for n in names):
                return None
            return AnswerSynopsis(
                "the results already given", _combinations(case, names), max(len(names), 1)
            )
        case Aggregation(groups, aggregates):
            names = [o.attribute for o in groups]
            if any(case.owner(n).stored for n in names):
                return None
            width = len(names) + sum(_width(case, a) for a in aggregates)
            return AnswerSynopsis("the groups", _combinations(case, names), max(width, 1))


def _width(case: Case, aggregate: Aggregated) -> int:
    """How many values an aggregate takes in every group."""
    match aggregate.kind:
        case AggregateKind.DIFFERENT | AggregateKind.MEDIAN | AggregateKind.QUANTILE:
            return _combinations(case, aggregate.attributes)
        case AggregateKind.OTHER:
            return _combinations(case, aggregate.attributes)
        case AggregateKind.AVG:
            return 2
        case AggregateKind.ALGEBRAIC:
            return 5
        case _:
            return 1


def _combinations(case: Case, names: Iterable[str]) -> int:
    """How many combinations of values some bounded attributes have; equal ones count once."""
    names = [n for n in names if not case.owner(n).stored]
    different = {case.closure.class_of[n]: n for n in names}
    return prod(_parts(case, n) for n in different.values())
