"""Joins of relations that change in any way: inner, outer, semi and anti.

With stays of rows (see `sides`) the rules of the negative-tuple approach become formulas over
columns. A pair is in the answer while the stays of both rows overlap. A row without partner is in
the answer `u(t) * p(t)` times, u the copies of the row and p whether it has no partner; so it
changes by Δu(t) p(t) + u(t-) Δp(t): by what happens to the row itself, and by the moments at which
its partners appear or are all gone. Where rows with equal keys always match, p belongs to the key,
and a thousand partners that come and go while one stays cost nothing on the other side.

The retroactive ⋈R of Golab's section 3.3 is this join with the table's changelog as one side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import (
    HIDDEN,
    Bools,
    Ints,
    arrange,
    concat,
    dense,
    expand,
    first_at_least,
    nulls,
    run_starts,
    run_sums,
    take,
)
from cqlc.runtime.instants import instants
from cqlc.runtime.kernel import Emit, Events, Form, Port, emitted
from cqlc.runtime.matching import Condition, Pairs, matches, paired
from cqlc.runtime.sides import Side, SideState
from cqlc.runtime.state import Scope


class JoinKind(StrEnum):
    """Which rows a join returns; SEMI and ANTI return left rows only."""

    INNER = "INNER"
    LEFT = "LEFT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


@dataclass(frozen=True)
class Join:
    """The pairs of rows that match, and as the kind says, rows alone; a changelog of them.

    Data columns of both sides have different names. What it reports is net for each pair of rows;
    where a later projection makes different pairs equal, `streams.Net` follows.
    """

    left: Port
    right: Port
    kind: JoinKind
    condition: Condition
    emit: Emit = Emit.CHANGES

    @property
    def ports(self) -> Mapping[str, Port]:
        """The two inputs."""
        return {"left": self.left, "right": self.right}

    @property
    def output(self) -> Form:
        """A changelog, or a stream of one kind of change."""
        return self.emit.form

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """What happens to the pairs, and to the rows without partner, in the span."""
        condition = self.condition
        left = SideState(state, "left", self.left, condition.left_key, arrived["left"], span)
        right = SideState(state, "right", self.right, condition.right_key, arrived["right"], span)
        if left.quiet and right.quiet:
            return self._emitted([])
        meeting = _Meeting.of(left.read(right.keys), right.read(left.keys), condition, span)
        match self.kind:
            case JoinKind.INNER:
                return self._emitted([meeting.pairs()])
            case JoinKind.SEMI:
                return self._emitted([meeting.alone(matched=True)])
            case JoinKind.ANTI:
                return self._emitted([meeting.alone(matched=False)])
            case JoinKind.LEFT:
                alone = self._padded(meeting.alone(matched=False), self.right, after=True)
                return self._emitted([meeting.pairs(), alone])
            case JoinKind.FULL:
                alone = self._padded(meeting.alone(matched=False), self.right, after=True)
                strangers = meeting.turned().alone(matched=False)
                strangers = self._padded(strangers, self.left, after=False)
                return self._emitted([meeting.pairs(), alone, strangers])

    def _padded(self, happened: Events, other: Port, *, after: bool) -> Events:
        """Rows of one side with NULLs for the columns of the other."""
        empty = nulls(_data(other.schema), happened.rows.num_rows)
        first, second = (happened.rows, empty) if after else (empty, happened.rows)
        rows = pa.Table.from_arrays(
            [*first.columns, *second.columns], names=[*first.column_names, *second.column_names]
        )
        return Events(rows, happened.time, happened.count)

    def _emitted(self, parts: list[Events]) -> pa.Table:
        fields = list(_data(self.left.schema))
        if self.kind not in (JoinKind.SEMI, JoinKind.ANTI):
            fields += list(_data(self.right.schema))
        empty = pa.schema(fields).empty_table()
        none = np.zeros(0, np.int64)
        rows = concat([empty, *(part.rows for part in parts)])
        time = np.concatenate([none, *(part.time for part in parts)])
        count = np.concatenate([none, *(part.count for part in parts)])
        return emitted(rows, time, count, self.emit)


def _data(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in schema if field.name not in HIDDEN])


@dataclass(frozen=True, slots=True)
class _Meeting:
    """Both sides of a join in a step, with numbers for the keys of their rows."""

    left: Side
    right: Side
    left_key: Ints
    right_key: Ints
    keys: int
    condition: Condition
    span: Span
    forward: bool = True

    @staticmethod
    def of(left: Side, right: Side, condition: Condition, span: Span) -> _Meeting:
        """The sides, without the rows of keys to which nothing happens."""
        left_key, right_key, keys = condition.keys(left.rows, right.rows)
        touched = np.zeros(keys, np.bool_)
        touched[left_key[left.item[left.active(span)]]] = True
        touched[right_key[right.item[right.active(span)]]] = True
        left = left.stays(touched[left_key[left.item]])
        right = right.stays(touched[right_key[right.item]])
        return _Meeting(left, right, left_key, right_key, keys, condition, span)

    def turned(self) -> _Meeting:
        """The same with left and right exchanged."""
        return _Meeting(
            self.right,
            self.left,
            self.right_key,
            self.left_key,
            self.keys,
            self.condition,
            self.span,
            not self.forward,
        )

    def _matches(self, left: Side, right: Side) -> Pairs:
        """All matching stays of two parts of the sides."""
        if self.forward:
            found = list(matches(left, right, (self.left_key, self.right_key), self.condition))
            mine, theirs = [p.left for p in found], [p.right for p in found]
        else:
            found = list(matches(right, left, (self.right_key, self.left_key), self.condition))
            mine, theirs = [p.right for p in found], [p.left for p in found]
        none = np.zeros(0, np.int64)
        return Pairs(np.concatenate([none, *mine]), np.concatenate([none, *theirs]))

    # ---------------------------------------------------------------------------------- pairs

    def pairs(self) -> Events:
        """What happens to pairs: they come when the later row comes, go when the earlier goes."""
        span, left, right = self.span, self.left, self.right
        happens = left.active(span)
        parts = [
            (left.stays(happens), right),
            (left.stays(~happens), right.stays(right.active(span))),
        ]
        items: list[tuple[Ints, Ints, Ints, Ints]] = []
        for mine, theirs in parts:
            found = self._matches(mine, theirs)
            begin = np.maximum(mine.begin[found.left], theirs.begin[found.right])
            end = np.minimum(mine.end[found.left], theirs.end[found.right])
            count = mine.count[found.left] * theirs.count[found.right]
            i, j = mine.item[found.left], theirs.item[found.right]
            comes, goes = begin > span.low, end <= span.high
            items.append((i[comes], j[comes], begin[comes], count[comes]))
            items.append((i[goes], j[goes], end[goes], -count[goes]))
        i, j, time, count = (np.concatenate(parts) for parts in zip(*items, strict=True))
        if not (left.distinct and right.distinct):
            i, j, time, count = _net_pairs(i, j, time, count)
        return Events(paired(left.rows, right.rows, i, j), time, count)

    # ------------------------------------------------------------------------------ rows alone

    def alone(self, *, matched: bool) -> Events:
        """What happens to left rows with a partner, or to those without."""
        left, span = self.left, self.span
        if self.condition.by_key_alone:
            group = self.left_key
            flips, first = self._key_flips(matched)
        else:
            group = np.arange(left.rows.num_rows, dtype=np.int64)
            flips, first = self._row_flips(matched)
        item, time, change = left.changes(span)
        counts = flips.state_at(group[item], time, first)
        own = np.where(counts, change, 0)
        stay_group = group[left.item]
        begin = flips.after(stay_group, left.begin)
        end = flips.after(stay_group, left.end)
        stay, flip = expand(begin, end - begin)
        parts = (
            (item, time, own),
            (left.item[stay], flips.time[flip], left.count[stay] * flips.direction[flip]),
        )
        item, time, count = (np.concatenate(both) for both in zip(*parts, strict=True))
        order = arrange(item, time)
        starts = run_starts(item[order], time[order])
        sums = run_sums(count[order], starts)
        places = order[starts][sums != 0]
        names = [n for n in left.rows.column_names if n not in HIDDEN]
        return Events(take(left.rows.select(names), item[places]), time[places], sums[sums != 0])

    def _key_flips(self, matched: bool) -> tuple[_Flips, Bools]:
        """When keys get their first partner or lose their last one."""
        right, span = self.right, self.span
        before = right.begin <= span.low
        held = np.zeros(self.keys, np.int64)
        np.add.at(held, self.right_key[right.item[before]], right.count[before])
        item, time, change = right.changes(span)
        return _flips(held, self.right_key[item], time, change, matched)

    def _row_flips(self, matched: bool) -> tuple[_Flips, Bools]:
        """The same for every left row that something happens to: it or a partner comes or goes."""
        left, right, span = self.left, self.right, self.span
        concerned = np.zeros(left.rows.num_rows, np.bool_)
        concerned[left.item[left.active(span)]] = True
        found = self._matches(left, right.stays(right.active(span)))
        concerned[left.item[found.left]] = True
        some = left.stays(concerned[left.item])
        found = self._matches(some, right)
        begin = np.maximum(some.begin[found.left], right.begin[found.right])
        end = np.minimum(some.end[found.left], right.end[found.right])
        count = right.count[found.right]
        item = some.item[found.left]
        before = begin <= span.low
        held = np.zeros(left.rows.num_rows, np.int64)
        np.add.at(held, item[before], count[before])
        comes, goes = ~before, end <= span.high
        return _flips(
            held,
            np.concatenate([item[comes], item[goes]]),
            np.concatenate([begin[comes], end[goes]]),
            np.concatenate([count[comes], -count[goes]]),
            matched,
        )


@dataclass(frozen=True, slots=True)
class _Flips:
    """When groups begin (+1) or cease (-1) to be in a state, by (group, time)."""

    group: Ints
    time: Ints
    direction: Ints

    def after(self, group: Ints, time: Ints) -> Ints:
        """The position of a group's first flip after a time."""
        low = int(self.time.min(initial=0)) - 1
        high = int(self.time.max(initial=0))
        return first_at_least((self.group, self.time), (group, np.clip(time, low, high) + 1))

    def state_at(self, group: Ints, time: Ints, first: Bools) -> Bools:
        """Whether a group is in the state at a time; `first` is before all flips."""
        last = self.after(group, time) - 1
        place = np.maximum(last, 0)
        known = (last >= 0) & (len(self.group) > 0)
        flipped = np.zeros(len(group), np.bool_)
        flipped[known] = self.group[place[known]] == group[known]
        result = first[group]
        result[flipped] = self.direction[place[flipped]] > 0
        return result


def _flips(
    held: Ints, group: Ints, time: Ints, change: Ints, matched: bool
) -> tuple[_Flips, Bools]:
    """When the number of partners leaves or reaches zero, and the state before the step."""
    touched, count = dense(group)
    back = np.zeros(count, np.int64)
    back[touched] = group
    placed = instants(len(back), touched, time)
    partners = placed.sums(placed.point, change, held[back])
    there = (partners > 0) == matched
    flips = np.zeros(placed.count, np.int64)
    flips[1:] = there[1:].astype(np.int64) - there[:-1].astype(np.int64)
    flips[placed.first] = 0
    places = np.flatnonzero(flips)
    owner = back[placed.group[places]]
    order = arrange(owner, placed.time[places])
    places = places[order]
    return _Flips(owner[order], placed.time[places], flips[places]), (held > 0) == matched


def _net_pairs(i: Ints, j: Ints, time: Ints, count: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    order = arrange(i, j, time)
    starts = run_starts(i[order], j[order], time[order])
    sums = run_sums(count[order], starts)
    places = order[starts][sums != 0]
    return i[places], j[places], time[places], sums[sums != 0]
