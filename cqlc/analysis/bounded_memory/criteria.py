"""When a query needs more than constant memory: the conditions of Arasu et al., in closed form.

The theorems speak of locally totally ordered (LTO) queries: those that also fix the order of every
stream's attributes among themselves and against all constants. A query is bounded if all its LTO
refinements are. There are exponentially many, but what can go wrong in one of them shows in the
query itself:

- An inequality join `u <= v` needs memory exactly if some refinement puts u and v into the same
  region without bound (above or below every constant; in a dense order, any gap between constants).
  Such regions are the ones from v's lower to u's upper bound.
- With duplicates, one such join is one too many: partners have to be counted.
- Without duplicates a stream may have one direction of comparison. Two joins `u1 <= v1`,
  `u2 <= v2` at one stream isolate single rows if the stream holds a larger side and a smaller side
  and both joins fit into one region, or if one join fits above the other, which is so unless the
  order implies that the upper join's smaller side is below the lower join's larger side.

That this equals the expansion into LTO queries is tested, not assumed. The same reasoning gives the
adversary's input (`Place`), from which `witness` makes rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import combinations, product

from cqlc.algebra.expr import Comparison
from cqlc.analysis.bounded_memory.closure import Closure
from cqlc.analysis.bounded_memory.query import (
    Aggregated,
    Conjunction,
    Link,
    Output,
    SpjQuery,
    StreamUse,
)


class Condition(StrEnum):
    """What a query does that constant memory does not allow."""

    OUTPUT = "unbounded output"
    """C1: an attribute of the answer has infinitely many values."""
    EQUALITY = "unbounded equality join"
    """C2: an equality join over infinitely many values."""
    COUNTING = "partners to count"
    """C3 with duplicates: an inequality join whose partners have to be counted."""
    ISOLATING = "two directions"
    """C3 without duplicates: two comparisons that single out rows of one stream."""
    GROUP = "unbounded groups"
    VALUES = "values to remember"
    """An aggregate that has to know every different value, or how often each occurs."""
    EXTREME = "extreme under comparison"
    """MIN or MAX of an attribute while the stream's rows are also compared another way."""
    LIST = "growing answer"
    OPAQUE = "unreadable join"
    """A join condition outside the class, on attributes with infinitely many values."""


@dataclass(frozen=True, slots=True)
class Place:
    """Attributes the adversary gives values from one region, in another block for every row.

    `region` is odd: a gap of a dense order, or +1 above and -1 below every constant of a discrete
    one. Blocks rise or fall from row to row; those of level 1 lie above those of level 0.
    """

    anchors: tuple[str, ...]
    region: int
    level: int = 0
    rising: bool = True


@dataclass(frozen=True, slots=True)
class Violation:
    """One reason for which rows of `stream` cannot be forgotten.

    It is exact if it proves that memory must grow; otherwise it only spoils the proof of a bound.
    """

    condition: Condition
    stream: str
    attributes: tuple[str, ...]
    links: tuple[Link, ...] = ()
    places: tuple[Place, ...] = ()
    exact: bool = True
    aggregate: Aggregated | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """A query with one of its pieces and what that implies."""

    query: SpjQuery
    piece: Conjunction
    closure: Closure

    def bounded(self, attribute: str) -> bool:
        """Whether an attribute has finitely many values, NULL counting as one."""
        return attribute in self.piece.nulls or self.closure.bounded(attribute)

    def owner(self, attribute: str) -> StreamUse:
        """The occurrence an attribute belongs to."""
        return self.query.owner[attribute]


def regions(case: Case, low: str, high: str) -> range:
    """The regions without bound that hold values of `low` and of `high`, given `low <= high`."""
    below, above = case.closure.of(high), case.closure.of(low)
    if below.finite or above.finite:
        return range(0)
    if below.sort.dense:
        assert below.low is not None
        assert above.high is not None
        return range(below.low | 1, above.high + 1, 2)
    return range(-1 if below.low is None else 1, 2 if above.high is None else 0, 2)


# -------------------------------------------------------------- select, project and join


def projection_violations(
    case: Case, outputs: Iterable[Output], *, distinct: bool
) -> tuple[Violation, ...]:
    """C1, C2 and C3: why a piece of a query is not bounded, with or without duplicates."""
    if len(case.query.uses) == 1 and not distinct:
        return ()
    joins = () if len(case.query.uses) == 1 else join_violations(case, distinct=distinct)
    return (*output_violations(case, outputs, Condition.OUTPUT), *joins)


def output_violations(
    case: Case, outputs: Iterable[Output], condition: Condition
) -> Iterator[Violation]:
    """The attributes of the answer that have infinitely many values."""
    for output in outputs:
        name = output.attribute
        if not case.bounded(name) and not case.owner(name).stored:
            place = Place((name,), regions(case, name, name)[0])
            yield Violation(
                condition, case.owner(name).name, (name,), places=(place,), exact=output.exact
            )


def join_violations(case: Case, *, distinct: bool) -> tuple[Violation, ...]:
    """What is wrong with the joins of a piece, whatever it outputs."""
    comparisons = [joined for link in _joins(case) if (joined := _comparison(case, link))]
    third = _isolating(case, comparisons) if distinct else _counting(case, comparisons)
    return (*_equalities(case), *third, *_opaque(case))


def _joins(case: Case) -> Iterator[Link]:
    """The links between two occurrences."""
    for atom in case.piece.atoms:
        if isinstance(atom, Link) and case.owner(atom.left) is not case.owner(atom.right):
            yield atom


def _equalities(case: Case) -> Iterator[Violation]:
    for found in case.closure.classes:
        if found.finite:
            continue
        uses = {case.owner(name).name: name for name in found.members}
        kept = [name for name in uses.values() if not case.owner(name).stored]
        if len(uses) > 1 and kept:
            first = kept[0]
            other = next(name for name in uses.values() if name != first)
            place = Place((first,), regions(case, first, first)[0])
            link = Link(first, Comparison.EQ, other)
            yield Violation(
                Condition.EQUALITY, case.owner(first).name, (first, other), (link,), (place,)
            )


@dataclass(frozen=True, slots=True)
class _Joined:
    """An inequality join that needs memory, and where."""

    link: Link
    regions: range

    @property
    def low(self) -> str:
        return self.link.left

    @property
    def high(self) -> str:
        return self.link.right


def _comparison(case: Case, link: Link) -> _Joined | None:
    if case.closure.same(link.left, link.right):
        return None
    found = regions(case, link.left, link.right)
    return _Joined(link, found) if found else None


def _counting(case: Case, joins: Iterable[_Joined]) -> Iterator[Violation]:
    for join in joins:
        kept = [name for name in (join.low, join.high) if not case.owner(name).stored]
        if kept:
            place = Place((join.low, join.high), join.regions[0])
            yield Violation(
                Condition.COUNTING,
                case.owner(kept[0]).name,
                (join.low, join.high),
                (join.link,),
                (place,),
            )


def _isolating(case: Case, joins: Sequence[_Joined]) -> Iterator[Violation]:
    for use in case.query.uses:
        if not use.stored:
            violation = _isolated(case, use, joins)
            if violation:
                yield violation


def _isolated(case: Case, use: StreamUse, joins: Iterable[_Joined]) -> Violation | None:
    """Two comparisons that single out rows of one occurrence, if there are any."""
    joins = tuple(joins)
    smaller = _distinct(case, (j for j in joins if case.owner(j.low) is use))
    larger = _distinct(case, (j for j in joins if case.owner(j.high) is use))
    for one, other in product(larger, smaller):
        places = _together(case, one, other) or _stacked(case, one, other, opposed=True)
        if places:
            return _two(use, (one.high, other.low), (one.link, other.link), places)
    for side in (smaller, larger):
        for one, other in combinations(side, 2):
            places = _stacked(case, one, other, opposed=False)
            if places:
                ends = (one.low, other.low) if side is smaller else (one.high, other.high)
                return _two(use, ends, (one.link, other.link), places)
    return None


def _distinct(case: Case, joins: Iterable[_Joined]) -> list[_Joined]:
    """One join for every two classes that are joined."""
    class_of = case.closure.class_of
    return list({(class_of[j.low], class_of[j.high]): j for j in joins}.values())


def _two(
    use: StreamUse, ends: tuple[str, str], links: tuple[Link, Link], places: tuple[Place, ...]
) -> Violation:
    attributes = tuple(dict.fromkeys(ends))
    return Violation(Condition.ISOLATING, use.name, attributes, links, places)


def _together(case: Case, one: _Joined, other: _Joined) -> tuple[Place, ...]:
    """Both joins in one region, if there is one: rows in other blocks fail one or the other."""
    first = max(one.regions[0], other.regions[0])
    if _same_sort(case, one, other) and first in one.regions and first in other.regions:
        return (Place((one.low, one.high, other.low, other.high), first),)
    return ()


def _stacked(case: Case, one: _Joined, other: _Joined, *, opposed: bool) -> tuple[Place, ...]:
    """One join placed above the other, if the order leaves room for that."""
    related = _same_sort(case, one, other)
    for upper, lower in ((one, other), (other, one)):
        free = not case.closure.below(upper.low, lower.high)
        if not related or (free and upper.regions[-1] >= lower.regions[0]):
            return (
                Place((lower.low, lower.high), lower.regions[0]),
                Place((upper.low, upper.high), upper.regions[-1], level=1, rising=opposed),
            )
    return ()


def _same_sort(case: Case, one: _Joined, other: _Joined) -> bool:
    return case.closure.of(one.low).sort == case.closure.of(other.low).sort


def _opaque(case: Case) -> Iterator[Violation]:
    for condition in case.piece.opaque:
        owners = {case.owner(name).name: case.owner(name) for name in condition.attributes}
        if len(owners) > 1 and any(not use.stored for use in owners.values()):
            for name in sorted(condition.attributes):
                if not case.bounded(name):
                    yield Violation(Condition.OPAQUE, case.owner(name).name, (name,), exact=False)


def extreme_violation(case: Case, aggregate: Aggregated, probe: Link) -> Violation | None:
    """Whether the comparison of a MIN's or MAX's attribute with an outside value is one too many.

    `case` has the virtual occurrence whose attribute the `probe` compares with the aggregated one:
    to know a maximum at every moment is to know whether a result above v exists, for every v.
    """
    name = aggregate.attributes[0]
    joins = [joined for link in _joins(case) if (joined := _comparison(case, link))]
    found = _isolated(case, case.owner(name), joins)
    if found is None:
        return None
    links = tuple(link for link in found.links if link != probe)
    return replace(
        found,
        condition=Condition.EXTREME,
        attributes=(name, *(a for a in found.attributes if a != name)),
        links=links,
        aggregate=aggregate,
        exact=aggregate.exact,
    )
