"""Inputs that make the memory of an unbounded query grow: the adversary of the lower-bound proofs.

A witness of size n has n slots, each with two alternative groups of rows, so that there are 2^n
prefixes. For any two prefixes there is a continuation after which the answers differ, so a correct
evaluation is in 2^n different states after them: it has kept n bits at least (Myhill and Nerode's
argument). Rows of different slots differ in the blocks of values of the violation's places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import product

from cqlc.algebra.expr import Comparison, Value
from cqlc.analysis.bounded_memory.criteria import Case
from cqlc.analysis.bounded_memory.query import Link, StreamUse
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
