"""Answers bounded queries from synopses alone: buckets with counts, or with one or two rows.

It follows the article's section on execution. Bounds, classes and nonredundant joins come from the
matrices of `lto`, not from the package, so that agreement with the naive join says something.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any

from tests.analysis.bounded_memory import lto
from tests.analysis.bounded_memory.evaluate import holds

Row = Mapping[str, Any]


class Executor:
    """The state of one query of one piece, and what it emits for every row."""

    def __init__(self, query: Any, relevant: Mapping[str, list[str]]) -> None:
        self.query = query
        (self.piece,) = query.pieces
        self.relevant = relevant
        self.unpacked = lto.Query(query)
        matrix = self.unpacked.matrix()
        assert matrix is not None
        self.matrix = matrix
        self.counts: dict[str, dict[Any, list[Any]]] = {u.name: {} for u in query.uses}
        self.emitted: set[Any] = set()

    def arrive(self, use: Any, row: Row) -> Counter[Any]:
        """What a row adds to the answer."""
        if not self._passes(use, row):
            return Counter()
        found: Counter[Any] = Counter()
        others = [u for u in self.query.uses if u is not use]
        for combination in product(*(list(self._kept(u.name)) for u in others)):
            whole = {k: v for part, _ in ((row, 1), *combination) for k, v in part.items()}
            if all(holds(self.query, a, whole) for a in self.piece.atoms if self._seen(a, whole)):
                times = 1
                for _, count in combination:
                    times *= count
                found[tuple(whole[o.attribute] for o in self.query.head.outputs)] += times
        self._keep(use, row)
        if not self.query.head.distinct:
            return found
        fresh = set(found) - self.emitted
        self.emitted |= fresh
        return Counter(fresh)

    def values(self) -> int:
        """How many values and counts are kept, a bare flag counting as one."""
        if len(self.query.uses) == 1 and not self.query.head.distinct:
            return 0
        total = len(self.emitted) * max(len(self.query.head.outputs), 1)
        if len(self.query.uses) == 1:
            return total
        for use in self.query.uses:
            width = len(self.relevant[use.name])
            for kept in self.counts[use.name].values():
                rows = len([entry for entry in kept if entry is not None])
                total += width + 1 if not self.query.head.distinct else max(width * rows, 1)
        return total

    # -------------------------------------------------------------------------- buckets

    def _kept(self, name: str) -> Iterator[tuple[Row, int]]:
        for entries in self.counts[name].values():
            yield from (entry for entry in entries if entry is not None)

    def _keep(self, use: Any, row: Row) -> None:
        if len(self.query.uses) == 1:
            return
        small = {name: row[name] for name in self.relevant[use.name]}
        bucket = tuple(self._range(name, small[name]) for name in small)
        buckets = self.counts[use.name]
        if not self.query.head.distinct:
            entry = buckets.setdefault(bucket, [(small, 0)])
            entry[0] = (entry[0][0], entry[0][1] + 1)
            return
        references = self._references(use, dict(zip(small, bucket, strict=True)))
        if references is None:
            return
        larger, smaller = references
        entry = buckets.setdefault(bucket, [None, None])
        if not larger and not smaller:
            entry[0] = entry[0] or (small, 1)
        if larger:
            best = entry[0]
            if best is None or min(small[a] for a in larger) > min(best[0][a] for a in larger):
                entry[0] = (small, 1)
        if smaller:
            best = entry[1]
            if best is None or max(small[a] for a in smaller) < max(best[0][a] for a in smaller):
                entry[1] = (small, 1)

    def _range(self, name: str, value: Any) -> Any:
        """The range a value falls into: itself, or below or above all that it is compared with."""
        sort = self.query.attributes[name].sort
        if sort.dense:
            below = sum(1 for p in sort.points if p < value)
            return 2 * below + (value not in sort.points) * -1
        constants = self._constants(name)
        if not constants:
            return 0
        return max(min(constants) - 1, min(max(constants) + 1, value))

    def _constants(self, name: str) -> list[int]:
        """The bounds of all attributes an attribute is compared with, directly or not."""
        group = {name}
        while True:
            more = {
                n
                for left, _, right in self.unpacked.links
                if left in group or right in group
                for n in (left, right)
            }
            if more <= group:
                break
            group |= more
        m, zero = self.matrix, self.matrix.zero
        highs = [m.bound[m.index[n]][zero] for n in group]
        lows = [-m.bound[zero][m.index[n]] for n in group]
        return [k for k in (*highs, *lows) if abs(k) < lto.INFINITE]

    # ------------------------------------------------------------------------- references

    def _references(
        self, use: Any, bucket: Mapping[str, Any]
    ) -> tuple[list[str], list[str]] | None:
        """MaxRef and MinRef of a stream within a bucket; None if no row of it finds partners."""
        m = self.matrix.copy()
        for name, place in bucket.items():
            if not self._confine(m, name, place):
                return None
        part = lto.Refinement(self.unpacked, m)
        larger: list[str] = []
        smaller: list[str] = []
        for name in (n for n in self.relevant[use.name] if not part.bounded(n)):
            x = m.index[name]
            for other in self.unpacked.names:
                y = m.index[other]
                if self.unpacked.owner[other] == use.name or m.equal(x, y):
                    continue
                if m.at_most(y, x) and not part.redundant(y, x):
                    larger.append(name)
                if m.at_most(x, y) and not part.redundant(x, y):
                    smaller.append(name)
        return sorted(set(larger)), sorted(set(smaller))

    def _confine(self, m: lto.Matrix, name: str, place: Any) -> bool:
        x, zero = m.index[name], m.zero
        sort = self.query.attributes[name].sort
        if sort.dense:
            point, inside = divmod(place, 2)
            if not inside:
                both = m.add(x, zero, point, strict=False)
                return both and m.add(zero, x, -point, strict=False)
            low, high = point, point + 1
            fits = low < 0 or m.add(zero, x, -low, strict=True)
            return fits and (high >= len(sort.points) or m.add(x, zero, high, strict=True))
        constants = self._constants(name)
        if not constants:
            return True
        if place < min(constants):
            return m.add(x, zero, min(constants) - 1, strict=False)
        if place > max(constants):
            return m.add(zero, x, -(max(constants) + 1), strict=False)
        return m.add(x, zero, place, strict=False) and m.add(zero, x, -place, strict=False)

    # ---------------------------------------------------------------------------- filters

    def _join(self, atom: Any) -> bool:
        return hasattr(atom, "left") and (
            self.query.owner[atom.left] is not self.query.owner[atom.right]
        )

    def _seen(self, atom: Any, row: Row) -> bool:
        """A join whose attributes are kept; the synopsis says that others follow from filters."""
        return self._join(atom) and atom.left in row and atom.right in row

    def _passes(self, use: Any, row: Row) -> bool:
        """The filters, and the bounds that follow for the stream's attributes."""
        own = (a for a in self.piece.atoms if not self._join(a))
        mine = (a for a in own if getattr(a, "attribute", getattr(a, "left", "")) in row)
        return all(holds(self.query, a, row) for a in mine) and all(
            self._within(a.name, row[a.name]) for a in use.attributes
        )

    def _within(self, name: str, value: Any) -> bool:
        m, zero = self.matrix, self.matrix.zero
        x = m.index[name]
        high, low = m.bound[x][zero], m.bound[zero][x]
        sort = self.query.attributes[name].sort
        if sort.dense:
            place = self._range(name, value)
            return (high >= lto.INFINITE or place <= high) and (
                low >= lto.INFINITE or place >= -low
            )
        return (high >= lto.INFINITE or value <= high) and (low >= lto.INFINITE or value >= -low)


def arrivals(query: Any, generator: random.Random) -> Iterator[tuple[Any, Row]]:
    """Rows that fill one stream, and then one partner from every other stream.

    Without duplicates a result shows once, so only the first match can give away a row that was
    wrongly dropped: many short runs see more than a long one. Every attribute rises or falls from
    row to row, most of them in one region far from all constants, where comparisons without bound
    happen; the partners lie near one of the rows.
    """
    shared = generator.random()
    lines = {a.name: _line(a, generator, shared) for use in query.uses for a in use.attributes}
    filled = generator.choice(query.uses)
    for step in generator.sample(range(7), 7):
        yield filled, {a.name: lines[a.name](step) for a in filled.attributes}
    step = generator.randrange(7)
    for use in query.uses:
        if use is not filled or len(query.uses) == 1:
            yield use, {a.name: lines[a.name](step) for a in use.attributes}


def _line(attribute: Any, generator: random.Random, shared: float) -> Callable[[int], Any]:
    """Values that rise, fall or stay, with a little noise, mostly from the shared start."""
    direction = generator.choice((-1, -1, 1, 1, 0))
    place = shared if generator.random() < 0.85 else generator.random()
    if not attribute.sort.dense:
        start = (40, -40, 3)[int(place * 2.5)]
        return lambda step: start + direction * 3 * step + generator.randint(-2, 2)
    starts = (-50.0, *(p + 0.5 for p in attribute.sort.points), 50.0)
    start = starts[int(place * len(starts))]
    return lambda step: start + (direction * 3 * step + generator.randint(-2, 2)) / 64
