"""The instants at which groups change within a step, and sums over the changes up to each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cqlc.runtime.columns import (
    BEGINNING,
    FOREVER,
    Bools,
    Ints,
    arrange,
    first_at_least,
    run_starts,
    running,
)


@dataclass(frozen=True, slots=True)
class Instants:
    """Points (group, time), sorted; the first point of each group is the time before the step.

    `group` and `time` are those of the points, `first` and `last` the points of each group,
    `point` is the point of each event.
    """

    group: Ints
    time: Ints
    first: Ints
    last: Ints
    point: Ints

    @property
    def count(self) -> int:
        """How many points there are."""
        return len(self.group)

    @property
    def starts(self) -> Bools:
        """Which points are the first of their group."""
        mask = np.zeros(self.count, np.bool_)
        mask[self.first] = True
        return mask

    def reaching(self, group: Ints, time: Ints) -> Ints:
        """The first point of a group at or after a time; one past its last if there is none."""
        points = self.last[group] + 1
        inside = np.flatnonzero(time <= self.time.max(initial=BEGINNING))
        if len(inside):
            asked = (group[inside], time[inside])
            points[inside] = first_at_least((self.group, self.time), asked)
        return points

    def sums(self, point: Ints, changes: Ints, initial: Ints) -> Ints:
        """At each point the group's initial value and all changes up to there."""
        total = np.zeros(self.count, np.int64)
        total[self.first] = initial
        np.add.at(total, point, changes)
        return running(total, self.starts)


def instants(groups: int, group: Ints, time: Ints) -> Instants:
    """The points of groups 0, 1, ... at which events happen, and one for each group before all."""
    low = int(time.min(initial=FOREVER)) - 1
    everyone = np.arange(groups, dtype=np.int64)
    all_groups = np.concatenate([everyone, group])
    all_times = np.concatenate([np.full(groups, low, np.int64), time])
    order = arrange(all_groups, all_times)
    sorted_groups, sorted_times = all_groups[order], all_times[order]
    starts = run_starts(sorted_groups, sorted_times)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(starts) - 1
    point_groups = sorted_groups[starts]
    first = number[:groups]
    last = np.append(first[1:], len(point_groups)) - 1
    return Instants(point_groups, sorted_times[starts], first, last, number[groups:])
