"""ROW_NUMBER, RANK and DENSE_RANK of every partition at every instant, and the top k by them.

A row that comes or goes moves all rows behind it. With a limit only the first k are ever looked
at: they are found in the bag of the partition by asking for the 1st to the k-th (see `selection`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from cqlc.runtime.bags import COUNT, Bag, bag
from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import (
    BEGINNING,
    Ints,
    arrange,
    column,
    concat,
    data_names,
    dense,
    expand,
    ordered_dense,
    ranks,
    row_ranks,
    run_starts,
    run_sums,
    running,
    take,
    where,
    with_ints,
)
from cqlc.runtime.groups import group_rows
from cqlc.runtime.instants import Instants, instants
from cqlc.runtime.kernel import Emit, Form, Port, emitted, events
from cqlc.runtime.selection import Changing, within_groups
from cqlc.runtime.state import Scope


class RankKind(StrEnum):
    """How equal rows are numbered. ROW_NUMBER breaks ties by the row's own values."""

    ROW_NUMBER = "ROW_NUMBER"
    RANK = "RANK"
    DENSE_RANK = "DENSE_RANK"


@dataclass(frozen=True, slots=True)
class SortKey:
    """A column to sort by."""

    name: str
    descending: bool
    nulls_first: bool


@dataclass(frozen=True)
class Rank:
    """Each row with its number as the column `name`; with a limit only numbers up to it."""

    port: Port
    kind: RankKind
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    name: str
    limit: int | None = None
    emit: Emit = Emit.CHANGES

    @property
    def ports(self) -> Mapping[str, Port]:
        """The one input."""
        return {"input": self.port}

    @property
    def output(self) -> Form:
        """A changelog, or a stream of one kind of change."""
        return self.emit.form

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The rows whose number changes in the span: out with the old one, in with the new."""
        happened = events(state, "input", self.port, arrived["input"], span)
        names = data_names(happened.rows)
        if len(happened.time) == 0:
            empty = with_ints(happened.rows, **{self.name: happened.time})
            return emitted(empty, happened.time, happened.count, self.emit)
        groups, group = group_rows(happened.rows, self.partition)
        placed = instants(groups.count, group, happened.time)
        schema = pa.schema([*happened.rows.schema, (COUNT, pa.int64())])
        shelf = state.shelf("rows", schema, self.partition)
        held = shelf.load([groups.keys], BEGINNING)
        owner = groups.find(held)
        resting, held, owner = where(held, owner < 0), where(held, owner >= 0), owner[owner >= 0]
        content = bag(held, owner, happened.rows, happened.count, placed, placed.point, names)
        shelf.store(concat([resting, content.remaining(placed)]))
        point, item, number, count = self._numbered(content, placed, names)
        return self._answer(content, placed, (point, item, number, count))

    def _numbered(
        self, content: Bag, placed: Instants, names: list[str]
    ) -> tuple[Ints, Ints, Ints, Ints]:
        """Which item has which number at which point, how many times."""
        tier = self._tiers(content.items)
        by_values, size = row_ranks([column(content.items, name) for name in names])
        place, _ = ordered_dense(tier * max(size, 1) + by_values)
        if self.limit is None:
            segments = np.flatnonzero(content.present())
            lengths = content.end[segments] - content.begin[segments]
            segment, point = expand(content.begin[segments], lengths)
            item = content.item[segments][segment]
            count = content.count[segments][segment]
            order = arrange(point, place[item])
            point, item, count = point[order], item[order], count[order]
        else:
            point, item = self._first(content, placed, place, tier, self.limit)
            count = np.ones(len(point), np.int64)
        if self.kind is RankKind.ROW_NUMBER:
            point, item = np.repeat(point, count), np.repeat(item, count)
            count = np.ones(len(point), np.int64)
        number = _numbers(self.kind, point, tier[item], count)
        if self.limit is not None:
            low = number <= self.limit
            point, item, number, count = point[low], item[low], number[low], count[low]
        return point, item, number, count

    def _tiers(self, rows: pa.Table) -> Ints:
        """Numbers of rows in the order asked for, equal for rows that tie."""
        tier = np.zeros(rows.num_rows, np.int64)
        for key in self.order:
            array = column(rows, key.name)
            rank, count = ranks(array)
            absent = array.is_null().to_numpy(zero_copy_only=False)
            rank = np.where(absent, 0, count - rank if key.descending else rank + 1)
            if not key.nulls_first:
                rank[absent] = count + 1
            tier, _ = ordered_dense(tier * (count + 2) + rank)
        return tier

    def _first(
        self, content: Bag, placed: Instants, place: Ints, tier: Ints, limit: int
    ) -> tuple[Ints, Ints]:
        """The rows at each point that may have a number up to the limit, in order."""
        place, by_place, base = within_groups(place, content.group, len(placed.first))
        changing = Changing(placed.group, content.begin, place[content.item], content.change)
        sizes = changing.sizes()
        wanted = np.minimum(sizes, limit)
        if self.kind is not RankKind.ROW_NUMBER:
            tie, tied, tie_base = within_groups(tier, content.group, len(placed.first))
            last = np.zeros(len(tied), np.int64)
            np.maximum.at(last, tie + tie_base[content.group], place)
            some = np.flatnonzero(sizes > 0)
            group = placed.group[some]
            if self.kind is RankKind.RANK:
                worst = by_place[base[group] + changing.kth(some, wanted[some] - 1)]
                bound = last[tie_base[group] + tie[worst]]
            else:
                bound = last[tie_base[group] + _kth_tier(content, placed, tie, some, limit)]
            wanted[some] = changing.at_most(some, bound)
        point, k = expand(np.zeros(placed.count, np.int64), wanted)
        return point, by_place[base[placed.group[point]] + changing.kth(point, k)]

    def _answer(
        self, content: Bag, placed: Instants, entries: tuple[Ints, Ints, Ints, Ints]
    ) -> pa.Table:
        """An entry comes where it was not at the point before, goes where it is not any more."""
        point, item, number, count = entries
        stays = point < placed.last[placed.group[point]]
        at = np.concatenate([point, point[stays] + 1])
        item = np.concatenate([item, item[stays]])
        number = np.concatenate([number, number[stays]])
        count = np.concatenate([count, -count[stays]])
        new = ~placed.starts[at]
        at, item, number, count = at[new], item[new], number[new], count[new]
        order = arrange(item, number, at)
        starts = run_starts(item[order], number[order], at[order])
        sums = run_sums(count[order], starts)
        places = order[starts][sums != 0]
        rows = with_ints(take(content.items, item[places]), **{self.name: number[places]})
        return emitted(rows, placed.time[at[places]], sums[sums != 0], self.emit)


def _numbers(kind: RankKind, point: Ints, tier: Ints, count: Ints) -> Ints:
    """The numbers of entries that are sorted by point and tier."""
    if len(point) == 0:
        return point
    starts = run_starts(point)
    ties = run_starts(point, tier)
    if kind is RankKind.DENSE_RANK:
        return running(ties.astype(np.int64), starts)
    before = running(count, starts) - count
    if kind is RankKind.ROW_NUMBER:
        return before + 1
    return before[ties][np.cumsum(ties) - 1] + 1


def _kth_tier(content: Bag, placed: Instants, tier: Ints, points: Ints, limit: int) -> Ints:
    """At some points the limit-th different tier there is, or the last one."""
    group = content.group[content.item]
    key, _ = dense(group * (int(tier.max(initial=0)) + 1) + tier[content.item])
    order = arrange(key, content.begin)
    starts = run_starts(key[order], content.begin[order])
    change = run_sums(content.change[order], starts)
    place = order[starts]
    total = running(change, run_starts(key[place]))
    presence = (total > 0).astype(np.int64) - (total - change > 0).astype(np.int64)
    tiers = Changing(placed.group, content.begin[place], tier[content.item[place]], presence)
    return tiers.kth(points, np.minimum(tiers.sizes()[points], limit) - 1)
