"""The bag of argument values of every group, through a step: state of the holistic aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.columns import (
    Bools,
    Ints,
    arrange,
    concat,
    ints,
    key_codes,
    run_ends,
    run_starts,
    running,
    take,
    with_ints,
)
from cqlc.runtime.instants import Instants

COUNT = "_count"
"""How many copies of a row a bag holds."""


@dataclass(frozen=True, slots=True)
class Bag:
    """How many copies of each item its group holds, point by point.

    `items` are the different (group, values) with their columns, `group` their groups. Segment i
    says: from point `begin[i]` up to `end[i]` there are `count[i]` > 0 copies of `item[i]`;
    `change[i]` is the difference to the point before, also where nothing is left (`count` 0).
    """

    items: pa.Table
    group: Ints
    item: Ints
    begin: Ints
    end: Ints
    count: Ints
    change: Ints

    def present(self) -> Bools:
        """Which segments hold anything."""
        return self.count > 0

    def presence(self) -> Ints:
        """+1 where the first copy of an item comes, -1 where the last one goes."""
        before = self.count - self.change
        return (self.count > 0).astype(np.int64) - (before > 0).astype(np.int64)

    def remaining(self, instants: Instants) -> pa.Table:
        """What the groups hold after their last point, with counts."""
        final = (self.end == instants.last[self.group[self.item]] + 1) & (self.count > 0)
        return with_ints(take(self.items, self.item[final]), **{COUNT: self.count[final]})


def bag(
    held: pa.Table,
    held_group: Ints,
    came: pa.Table,
    count: Ints,
    instants: Instants,
    point: Ints,
    names: Sequence[str],
) -> Bag:
    """The bags of groups: what they `held` before the step, and what `came` (or went) at points."""
    items = concat([held.select(names), came.select(names)])
    group = np.concatenate([held_group, instants.group[point]])
    place = np.concatenate([instants.first[held_group], point])
    amount = np.concatenate([ints(held, COUNT), count])
    value, _ = key_codes(items, names)
    order = arrange(group, value, place)
    group, value, place = group[order], value[order], place[order]
    starts = run_starts(group, value, place)
    sums = np.add.reduceat(amount[order], np.flatnonzero(starts)) if len(order) else amount
    order, group, value, place = order[starts], group[starts], value[starts], place[starts]
    first = run_starts(group, value)
    total = running(sums, first)
    following = np.append(place[1:], 0)
    end = np.where(run_ends(first), instants.last[group] + 1, following)
    number = np.cumsum(first) - 1
    distinct = order[first]
    return Bag(take(items, distinct), group[first], number, place, end, total, sums)
