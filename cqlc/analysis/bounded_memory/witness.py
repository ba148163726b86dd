"""Inputs that make the memory of an unbounded query grow: the adversary of the lower-bound proofs.

A witness of size n has n slots, each with two alternative groups of rows, so that there are 2^n
prefixes. For any two prefixes there is a continuation after which the answers differ, so a correct
evaluation is in 2^n different states after them: it has kept n bits at least (Myhill and Nerode's
argument). Rows of different slots differ in the blocks of values of the violation's places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from typing import TypeAlias

from cqlc.algebra.expr import Comparison, Value
from cqlc.analysis.bounded_memory.closure import Class
from cqlc.analysis.bounded_memory.criteria import Case
from cqlc.analysis.bounded_memory.query import (
    AggregateKind,
    Aggregation,
    Head,
    Link,
    Projection,
    StreamUse,
)
from cqlc.analysis.bounded_memory.values import decode


@dataclass(frozen=True, slots=True)
class Row:
    """A row that arrives at an occurrence of a table, as coordinates; NULL has none."""

    use: StreamUse
    at: Mapping[str, int | None]
    grain: int

    @property
    def values(self) -> dict[str, Value]:
        """The row's values by attribute name."""
        places = ((a, self.at[a.name]) for a in self.use.attributes)
        return {a.name: None if at is None else decode(a, at, self.grain) for a, at in places}


class Reveal(StrEnum):
    """How a continuation brings out what a slot holds."""

    PARTNERS = "the partners of the slot's row arrive"
    AGAIN = "the slot's row arrives once more, after its partners"
    BALANCE = "the slot's partners arrive, with as many rows of another value as settle a median"
    MIDDLE = "rows on both sides make the slot the median"
    SHOWN = "the partners of all rows arrive"
    TRIED = "whichever rows are found to make a difference"


@dataclass(frozen=True, slots=True)
class Slot:
    """One bit of the input: which of two groups of rows arrived, and the partners that tell."""

    off: tuple[Row, ...]
    on: tuple[Row, ...]
    partners: tuple[Row, ...]
    again: tuple[Row, ...] = ()
    """The row of `on` once more, with keys of its own."""


@dataclass(frozen=True, slots=True)
class Witness:
    """Prefixes that must all be told apart, and the continuations that do it."""

    slots: tuple[Slot, ...]
    reveal: Reveal
    low: tuple[Row, ...] = ()
    """Rows beside all slots: below them, or with another value to balance them."""
    high: tuple[Row, ...] = ()
    case: tuple[Case, str] | None = None
    """The query and the attribute whose median is to be balanced."""

    @property
    def prefixes(self) -> int:
        """How many prefixes there are, all of which need states of their own."""
        same = all(slot == self.slots[0] for slot in self.slots)
        return len(self.slots) + 1 if same and len(self.slots) > 1 else 2 ** len(self.slots)

    def prefix(self, bits: Sequence[bool]) -> tuple[Row, ...]:
        """The rows that arrive first."""
        return tuple(
            row
            for bit, slot in zip(bits, self.slots, strict=True)
            for row in (slot.on if bit else slot.off)
        )

    def continuation(self, one: Sequence[bool], other: Sequence[bool]) -> tuple[Row, ...]:
        """The rows after which the answers to two different prefixes differ."""
        at = next(i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)
        slot, slots = self.slots[at], len(self.slots)
        match self.reveal:
            case Reveal.PARTNERS:
                return (*self.low, *slot.partners)
            case Reveal.AGAIN:
                return (*slot.partners, *slot.again)
            case Reveal.SHOWN:
                return slot.partners
            case Reveal.MIDDLE:
                below = max(slots - 1 - 2 * at, 0)
                above = max(2 * at - slots + 1, 0)
                return (*self.low * below, *self.high * above, *slot.partners)
            case Reveal.BALANCE:
                return self._balanced(one, other, slot)
            case Reveal.TRIED:
                tried = self.tried(one, other)
                return slot.partners if tried is None else tried

    def tried(self, one: Sequence[bool], other: Sequence[bool]) -> tuple[Row, ...] | None:
        """The first rows of some slot that make a difference; None if none do.

        Where a table occurs more than once a row is its own partner too, and what a slot's partners
        show of it may be hidden by what they show of others.
        """
        assert self.case is not None
        case, _ = self.case
        for slot in self.slots:
            for rows in (slot.partners, slot.again, (*slot.partners, *slot.again)):
                if _shown(case, self.prefix(one), rows) != _shown(case, self.prefix(other), rows):
                    return rows
        return None

    def _balanced(self, one: Sequence[bool], other: Sequence[bool], slot: Slot) -> tuple[Row, ...]:
        """As many rows of the other value as make the two medians differ."""
        stored, partners = self.low[:1], self.low[1:]
        for copies in range(2 * len(self.slots) + 3):
            for others in ((*stored * copies, *partners), (*stored, *partners * copies)):
                rows = (*others, *slot.partners)
                seen = [_median(self.case, (*self.prefix(bits), *rows)) for bits in (one, other)]
                if seen[0] != seen[1]:
                    return rows
        return self.low


# ------------------------------------------------------------------------------ self-joins


def _shown(case: Case, prefix: Sequence[Row], rows: Sequence[Row]) -> list[Counter[_Shown]]:
    """What every row adds to the answer, or to its groups, after a prefix."""
    seen = list(prefix)
    before = _answer(case, seen)
    added: list[Counter[_Shown]] = []
    for row in rows:
        seen.append(row)
        after = _answer(case, seen)
        added.append(after - before)
        before = after
    return added


_Shown: TypeAlias = tuple[int | None, ...]


def _answer(case: Case, rows: Iterable[Row]) -> Counter[_Shown]:
    """The coordinates of the answer; rows stand at every occurrence of their table."""
    rows = tuple(rows)
    at = [[_moved(row, use) for row in rows if row.use.base == use.base] for use in case.query.uses]
    joined = ({k: v for part in combo for k, v in part.items()} for combo in product(*at))
    found = Counter(
        tuple(values[name] for name in _outputs(case.query.head))
        for values in joined
        if _joins(case, values) and _filters(case, values)
    )
    return found if _counts(case.query.head) else Counter(set(found))


def _moved(row: Row, use: StreamUse) -> dict[str, int | None]:
    pairs = zip(row.use.attributes, use.attributes, strict=False)
    return {there.name: row.at[here.name] for here, there in pairs}


def _outputs(head: Head) -> list[str]:
    found = head.outputs if isinstance(head, Projection) else head.groups
    return [output.attribute for output in found]


def _counts(head: Head) -> bool:
    match head:
        case Projection(distinct=distinct):
            return not distinct
        case Aggregation(aggregates=aggregates):
            return any(a.kind is AggregateKind.COUNT for a in aggregates)


def _filters(case: Case, at: Mapping[str, int | None]) -> bool:
    """Whether values are within all bounds that follow from the conditions."""
    return all(
        place is None or name in case.piece.nulls or _within(case.closure.of(name), place)
        for name, place in at.items()
    )


def _within(found: Class, place: int) -> bool:
    """Whether a coordinate of a discrete class is possible; dense ones are placed within bounds."""
    if found.sort.dense:
        return True
    return found.admits(place) and (found.values is None or place in found.values)


# --------------------------------------------------------------------------------- medians


def _median(balanced: tuple[Case, str] | None, rows: Iterable[Row]) -> tuple[int, ...]:
    """The middle ones of an attribute's coordinates over the results of some rows."""
    assert balanced is not None
    case, name = balanced
    by_use: dict[str, list[Row]] = {use.name: [] for use in case.query.uses}
    for row in rows:
        by_use[row.use.name].append(row)
    joined = ({k: v for r in combo for k, v in r.at.items()} for combo in product(*by_use.values()))
    at = (values[name] for values in joined if _joins(case, values))
    found = sorted(place for place in at if place is not None)
    half = len(found) // 2
    return tuple(found[half - 1 : half + 1] if len(found) % 2 == 0 else found[half : half + 1])


def _joins(case: Case, at: Mapping[str, int | None]) -> bool:
    """Whether rows, one of every occurrence, satisfy the comparisons between attributes."""
    return all(
        _holds(at[atom.left], atom.op, at[atom.right])
        for atom in case.piece.atoms
        if isinstance(atom, Link)
    )


def _holds(left: int | None, op: Comparison, right: int | None) -> bool:
    if left is None or right is None:
        return False
    match op:
        case Comparison.LT:
            return left < right
        case Comparison.LE:
            return left <= right
        case _:
            return left == right
