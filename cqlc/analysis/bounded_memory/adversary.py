"""The adversary of the lower-bound proofs: rows that fill any memory, made from a violation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product

from cqlc.algebra.expr import Value
from cqlc.analysis.bounded_memory.aggregates import PROBE, with_probe
from cqlc.analysis.bounded_memory.closure import Class
from cqlc.analysis.bounded_memory.criteria import Case, Condition, Place, Violation, regions
from cqlc.analysis.bounded_memory.fold import apart, repeated
from cqlc.analysis.bounded_memory.query import Aggregated, AggregateKind, Link, StreamUse
from cqlc.analysis.bounded_memory.solve import Interval, solve
from cqlc.analysis.bounded_memory.values import decode
from cqlc.analysis.bounded_memory.witness import Reveal, Row, Slot, Witness


def witness(case: Case, violation: Violation, size: int) -> Witness:
    """The adversary's input of a size for a violation that proves growth."""
    made = _Adversary(case, violation, size).witness()
    if repeated(case.query) and not apart(case):
        return replace(made, reveal=Reveal.TRIED, case=(case, ""))
    return made


def fills_memory(case: Case, violation: Violation) -> bool:
    """Whether a small witness tells all its prefixes apart; it may not where tables repeat."""
    made = witness(case, violation, 3)
    if made.reveal is not Reveal.TRIED:
        return True
    pairs = combinations(product((False, True), repeat=3), 2)
    return all(made.tried(one, other) is not None for one, other in pairs)


def respects_keys(case: Case, violation: Violation) -> bool:
    """Whether the adversary's rows have different keys, so that the input is a legal one."""
    if not any(use.keys for use in case.query.uses):
        return True
    found = witness(case, violation, 3)
    first, second = (False, False, False), (True, True, True)
    runs = [
        (*found.prefix(bits), *found.continuation(one, other))
        for one, other in ((first, second), (first, (True, False, True)))
        for bits in (one, other)
    ]
    return all(_unique(rows) for rows in runs)


def _unique(rows: Iterable[Row]) -> bool:
    seen = Counter(
        (row.use.base, number, tuple(row.at[name] for name in key))
        for row in rows
        for number, key in enumerate(row.use.keys)
    )
    return all(times == 1 for times in seen.values())


class _Adversary:
    """Makes rows from solutions of the violated piece, one solution for every block."""

    def __init__(self, case: Case, violation: Violation, size: int) -> None:
        extreme = violation.condition is Condition.EXTREME
        if extreme and violation.aggregate:
            self.case, _ = with_probe(case, violation.aggregate)
        else:
            self.case = case
        self.violation = violation
        self.size = size
        self.blocks = 2 * size + 2
        self.width = len(self.case.closure.classes) + 2
        self.grain = 1 << ((self.blocks + 2) * self.width).bit_length()
        self.serial = 0

    def witness(self) -> Witness:
        """The slots and how they are revealed."""
        alone = len(self.case.query.uses) == 1
        aggregate = self.violation.aggregate
        match self.violation.condition:
            case Condition.OUTPUT | Condition.GROUP:
                return Witness(self._slots(), Reveal.AGAIN if alone else Reveal.PARTNERS)
            case Condition.VALUES if aggregate and aggregate.kind is AggregateKind.MEDIAN:
                return self._middle()
            case Condition.VALUES:
                return Witness(self._alternatives(), Reveal.AGAIN)
            case Condition.LIST:
                return Witness(self._slots(), Reveal.SHOWN)
            case Condition.COUNTING if aggregate:
                return self._counting(aggregate)
            case _:
                return Witness(self._slots(), Reveal.PARTNERS)

    def _slots(self, wanted: Interval | None = None) -> tuple[Slot, ...]:
        """Slots that hold a row or none, lowest block first."""
        numbers = range(1, self.size + 1)
        if self._owns_larger():
            numbers = range(self.size, 0, -1)
        solutions = ((*self._rows(i, wanted), self._rows(i, wanted)[0]) for i in numbers)
        return tuple(Slot((), (own,), partners, (more,)) for own, partners, more in solutions)

    def _owns_larger(self) -> bool:
        """Whether the stream that fills up has the larger side of a counted comparison."""
        if self.violation.condition is not Condition.COUNTING:
            return False
        return self.case.owner(self.violation.links[0].right).name == self.violation.stream

    def _alternatives(self) -> tuple[Slot, ...]:
        """Slots that hold one of two rows, so that all prefixes have the same number of rows."""
        slots: list[Slot] = []
        for i in range(self.size):
            (one, _), (other, partners) = self._rows(2 * i + 1), self._rows(2 * i + 2)
            slots.append(Slot((one,), (other,), partners, self._rows(2 * i + 2)[:1]))
        return tuple(slots)

    def _middle(self) -> Witness:
        """Slots between rows of a lowest and a highest block, and partners that all rows join.

        Such partners exist: the stream's rows are compared in one direction at most, so those of
        the block farthest in that direction join with all.
        """
        low, above = self._rows(0)
        high, below = self._rows(self.blocks - 1)
        (place,) = self.violation.places
        larger = any(
            isinstance(atom, Link)
            and self.case.owner(atom.right) is low.use
            and self.case.owner(atom.left) is not low.use
            and place.region in regions(self.case, atom.left, atom.right)
            for atom in self.case.piece.atoms
        )
        partners = above if larger else below
        slots = tuple(replace(slot, partners=partners) for slot in self._alternatives())
        return Witness(slots, Reveal.MIDDLE, (low,), (high,))

    def _counting(self, aggregate: Aggregated) -> Witness:
        """Slots whose partners are counted by way of an aggregate."""
        match aggregate.kind:
            case AggregateKind.SUM:
                return Witness(self._slots(self._nonzero(aggregate)), Reveal.PARTNERS)
            case AggregateKind.AVG | AggregateKind.MEDIAN:
                usual, other = self._two_values(aggregate)
                balance = 0 if not self._owns_larger() else self.size + 1
                own, partners = self._rows(balance, other)
                reveal = Reveal.PARTNERS
                if aggregate.kind is AggregateKind.MEDIAN:
                    reveal = Reveal.BALANCE
                balanced = (self.case, aggregate.attributes[0])
                return Witness(self._slots(usual), reveal, (own, *partners), case=balanced)
            case _:
                return Witness(self._slots(), Reveal.PARTNERS)

    # ------------------------------------------------------------------------------ values

    def _nonzero(self, aggregate: Aggregated) -> Interval | None:
        for wanted in self._intervals(aggregate):
            if self._value(aggregate, wanted) not in (None, 0):
                return wanted
        return None

    def _two_values(self, aggregate: Aggregated) -> tuple[Interval | None, Interval | None]:
        """Two intervals that give the aggregated attribute different values."""
        found = {
            value: wanted
            for wanted in self._intervals(aggregate)
            if (value := self._value(aggregate, wanted)) is not None
        }
        intervals = list(found.values())
        return (intervals[0], intervals[1]) if len(intervals) > 1 else (None, None)

    def _value(self, aggregate: Aggregated, wanted: Interval | None) -> Value:
        name = aggregate.attributes[0]
        solution = self._solution(1, {name: wanted} if wanted else {})
        if solution is None:
            return None
        at = solution[self.case.closure.class_of[name]]
        return decode(self.case.query.attributes[name], at, self.grain)

    def _intervals(self, aggregate: Aggregated) -> Iterator[Interval | None]:
        """Where the aggregated attribute may lie; anywhere if the violation places it already."""
        name = aggregate.attributes[0]
        if any(self.case.closure.same(name, a) for p in self.violation.places for a in p.anchors):
            yield None
            return
        found = self.case.closure.of(name)
        for low, high in _some_intervals(found, self.grain, self.width):
            yield Interval(low, high)

    # -------------------------------------------------------------------------------- rows

    def _rows(self, block: int, wanted: Interval | None = None) -> tuple[Row, tuple[Row, ...]]:
        """The row of the stream that fills up, and its partners, with values of one block."""
        aggregate = self.violation.aggregate
        more = {aggregate.attributes[0]: wanted} if wanted and aggregate else {}
        solution = self._solution(block, more)
        assert solution is not None, "a violation's places have room for every block"
        rows = [self._row(use, solution) for use in self.case.query.uses if use.name != PROBE]
        own = next(row for row in rows if row.use.name == self.violation.stream)
        return own, tuple(row for row in rows if row is not own)

    def _row(self, use: StreamUse, solution: Sequence[int]) -> Row:
        self.serial += 1
        closure, nulls = self.case.closure, self.case.piece.nulls
        at = {
            a.name: None
            if a.name in nulls
            else self._serial(use, a.name, solution[closure.class_of[a.name]])
            for a in use.attributes
        }
        return Row(use, at, self.grain)

    def _serial(self, use: StreamUse, name: str, at: int) -> int:
        """Another number for every row, where a key needs it and nothing else looks at it."""
        index = self.case.closure.class_of[name]
        found = self.case.closure.classes[index]
        linked = self.case.closure.above[index] or any(index in a for a in self.case.closure.above)
        keyed = any(name in key for key in use.keys)
        placed = any(name in place.anchors for place in self.violation.places)
        free = keyed and not (found.finite or linked or placed) and len(found.members) == 1
        return at + (self.serial if found.high is None or found.sort.dense else -self.serial) * free

    def _solution(self, block: int, more: Mapping[str, Interval]) -> list[int] | None:
        """Coordinates of all classes, with the violation's places in a block."""
        class_of = self.case.closure.class_of
        wanted = {class_of[name]: interval for name, interval in more.items()}
        for place in self.violation.places:
            interval = self._block(place, block)
            wanted |= {class_of[name]: interval for name in place.anchors}
        return solve(self.case.closure, wanted, self.grain)

    def _block(self, place: Place, number: int) -> Interval:
        """The coordinates of one block of a place."""
        index = number if place.rising else self.blocks - 1 - number
        start = (place.level * self.blocks + index) * self.width
        sort = self.case.closure.of(place.anchors[0]).sort
        if sort.dense:
            start += (place.region - 1) * self.grain + 3 * self.width
        elif place.region > 0:
            start += self._farthest()
        else:
            start -= self._farthest() + 2 * self.blocks * self.width
        return Interval(start, start + self.width - 1)

    def _farthest(self) -> int:
        """A number beyond every constant."""
        constants = (
            abs(k)
            for found in self.case.closure.classes
            if not found.sort.dense
            for k in (found.low, found.high, *found.holes, *(found.values or ()))
            if k is not None
        )
        return 1 + max(constants, default=0)


def _some_intervals(
    found: Class, grain: int, width: int
) -> Iterator[tuple[int | None, int | None]]:
    """Intervals in which a class takes different values, and some that are not zero."""
    if found.values is not None:
        scale = grain if found.sort.dense else 1
        yield from ((v * scale, v * scale) for v in sorted(found.values))
    elif found.sort.dense:
        low, high = found.low or 0, found.high or 0
        for position in range(low, high + 1):
            middle = position * grain
            inside = (middle, middle + 1, middle - grain + width, middle - grain + width + 1)
            yield from ((at, at) for at in (inside if position % 2 else (middle,)))
    else:
        low, high = found.low, found.high
        ends = [(k, k) for k in (low, high) if k is not None]
        inner = ((low or 0) + 1, None), (None, (high or 0) - 1)
        yield from (*ends, *inner, (1, None), (None, -1))
