"""Order statistics of bags that change over time, for all groups and all instants at once.

`Points` are the instants at which groups are looked at, sorted by (group, time), so a row that is
alive for a while covers a range of points. `greatest_cover` finds the greatest value over each
point, in the way of a sparse table turned round. `Changing` answers "the k-th smallest" and "how
many are at most" by one descent through the bits of the values, as in a wavelet tree (Grossi,
Gupta, Vitter, SODA 2003), with all rows and all questions side by side in arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cqlc.runtime.columns import Bools, Ints, arrange, run_starts


def greatest_cover(begin: Ints, end: Ints, value: Ints, points: int) -> Ints:
    """For each point the greatest value of the ranges [begin, end) over it; -1 without any.

    Each range is two overlapping blocks of a power of two; blocks are pushed down from the
    longest to the shortest, halving.
    """
    present = end > begin
    begin, end, value = begin[present], end[present], value[present]
    level = np.frexp((end - begin).astype(np.float64))[1] - 1
    best = np.full(points, -1, np.int64)
    for height in range(int(level.max(initial=0)), -1, -1):
        here = level == height
        if bool(here.any()):
            np.maximum.at(best, begin[here], value[here])
            np.maximum.at(best, end[here] - (1 << height), value[here])
        if height:
            half = 1 << (height - 1)
            best[half:] = np.maximum(best[half:], best[:-half])
    return best


def within_groups(value: Ints, group: Ints, groups: int) -> tuple[Ints, Ints, Ints]:
    """Numbers of values in the order of their group, an item for each, where each group's begin.

    Small numbers have few bits, and `Changing` takes its time for every bit.
    """
    order = arrange(group, value)
    sorted_group = group[order]
    first = run_starts(sorted_group)
    distinct = run_starts(sorted_group, value[order])
    number = np.cumsum(distinct) - 1
    base = np.zeros(groups, np.int64)
    base[sorted_group[first]] = number[first]
    local = np.empty(len(value), np.int64)
    local[order] = number - base[sorted_group]
    return local, order[distinct], base


@dataclass(frozen=True, slots=True)
class Changing:
    """A bag per group that changes at points: `count` copies of `value` more (or less) from there.

    `group` gives the group of each point; values are ranks, small non-negative numbers.
    """

    group: Ints
    point: Ints
    value: Ints
    count: Ints

    def kth(self, point: Ints, k: Ints) -> Ints:
        """The k-th smallest value (from 0) in the group of a point at that point."""
        return self._descend(point, k, None)[0]

    def at_most(self, point: Ints, value: Ints) -> Ints:
        """How many values in the group of a point are at most `value` at that point."""
        return -self._descend(point, np.zeros_like(value), value + 1)[1]

    def sizes(self) -> Ints:
        """How many values there are at each point."""
        change = np.bincount(self.point, self.count, len(self.group)).astype(np.int64)
        total = np.cumsum(change)
        starts = run_starts(self.group)
        base = (total - change)[starts]
        return total - base[np.cumsum(starts) - 1]

    def _descend(self, point: Ints, rest: Ints, target: Ints | None) -> tuple[Ints, Ints]:
        """Follow the questions from the highest bit of the values to the lowest.

        Without targets a question goes right if the left half has too few values; with them it
        follows its target's bits. Going right leaves the left half's values behind, in `rest`.
        """
        questions = len(point)
        wanted = np.zeros(questions, np.int64) if target is None else target
        value = np.concatenate([self.value, wanted])
        place = np.concatenate([self.point, point])
        asks = np.zeros(len(place), np.bool_)
        asks[len(self.point) :] = True
        order = arrange(place, asks.astype(np.int64))
        items = _Items(
            asks[order],
            order - len(self.point),
            value[order],
            np.concatenate([self.count, np.zeros(questions, np.int64)])[order],
            run_starts(self.group[place[order]]),
        )
        rest = rest.copy()
        found = np.zeros(questions, np.int64)
        for bit in range(int(value.max(initial=0)).bit_length() - 1, -1, -1):
            items = items.halved(bit, rest, found, follow=target is not None)
        return found, rest


@dataclass(frozen=True, slots=True)
class _Items:
    """Changes and questions, sorted by node of the tree and then by time."""

    asks: Bools
    question: Ints
    value: Ints
    count: Ints
    starts: Bools

    def halved(self, bit: int, rest: Ints, found: Ints, *, follow: bool) -> _Items:
        """One level further down; `rest` and `found` of the questions are brought up to date."""
        right = ((self.value >> bit) & 1).astype(np.bool_)
        left_count = np.where(right, 0, self.count)
        total = np.cumsum(left_count)
        node = np.cumsum(self.starts) - 1
        base = (total - left_count)[self.starts]
        asking = np.flatnonzero(self.asks)
        question = self.question[asking]
        smaller = total[asking] - base[node[asking]]
        goes_right = right[asking] if follow else rest[question] >= smaller
        right[asking] = goes_right
        rest[question] -= np.where(goes_right, smaller, 0)
        found[question] |= goes_right.astype(np.int64) << bit
        return self._partitioned(right, node)

    def _partitioned(self, right: Bools, node: Ints) -> _Items:
        """Inside every node the left items first, otherwise in order."""
        begin = np.flatnonzero(self.starts)
        lefts = np.cumsum(~right)
        before = (lefts - ~right)[begin]
        in_node = np.add.reduceat((~right).astype(np.int64), begin) if len(begin) else begin
        left_rank = lefts - before[node] - 1
        item = np.arange(len(node), dtype=np.int64)
        right_place = item - left_rank - 1 + in_node[node]
        target = np.where(right, right_place, begin[node] + left_rank)
        order = np.empty(len(node), np.int64)
        order[target] = item
        starts = np.zeros(len(node), np.bool_)
        starts[begin] = True
        second = begin + in_node
        starts[second[second < len(node)]] = True
        return _Items(
            self.asks[order], self.question[order], self.value[order], self.count[order], starts
        )
