"""DISTINCT over lifetimes: δ* of Golab, section 3.5.2, for all values at once.

The answer to each value is a chain of pieces of known length: while a piece lasts, only the
duplicate that will live longest is remembered, and it takes over when the piece ends. (The thesis
keeps the youngest one, which is the same for windows of one length but leaves holes otherwise.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import (
    BEGINNING,
    FROM,
    UNTIL,
    Bools,
    Ints,
    arrange,
    concat,
    first_at_least,
    ints,
    run_ends,
    run_starts,
    take,
    where,
    with_ints,
)
from cqlc.runtime.groups import group_rows
from cqlc.runtime.kernel import Form, Port, receive
from cqlc.runtime.state import Scope

_END, _BEST = "_end", "_best"


@dataclass(frozen=True)
class WeakDistinct:
    """Every different row once while any copy of it lives; lifetimes in, lifetimes out."""

    port: Port

    @property
    def ports(self) -> Mapping[str, Port]:
        """The one input, of lifetimes."""
        return {"input": self.port}

    @property
    def output(self) -> Form:
        """Lifetimes."""
        return Form.LIFETIMES

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The pieces that begin in the span."""
        came = receive(state, "input", self.port, arrived["input"], span)
        names = [name for name in self.port.schema.names if name not in (FROM, UNTIL)]
        data = [self.port.schema.field(name) for name in names]
        schema = pa.schema([*data, (_END, pa.int64()), (_BEST, pa.int64())])
        shelf = state.shelf("values", schema, names, due=_END)
        held = shelf.load([came.select(names)] if came.num_rows else [], span.high)
        both = concat([held.select(names), came.select(names)])
        if both.num_rows == 0:
            shelf.store(held)
            return with_ints(both, **{FROM: np.zeros(0, np.int64), UNTIL: np.zeros(0, np.int64)})
        groups, group = group_rows(both, names)
        chain = _Chain.of(group, held, came)
        value, begin, end, current = chain.pieces(span.high)
        alive = current > span.high
        best = np.full(groups.count, BEGINNING)
        np.maximum.at(best, chain.value, chain.best)
        rest = with_ints(groups.keys, **{_END: current, _BEST: best})
        shelf.store(where(rest, alive))
        return with_ints(take(groups.keys, value), **{FROM: begin, UNTIL: end})


@dataclass(frozen=True, slots=True)
class _Chain:
    """The instants at which copies of a value come, by (value, time).

    `best` is how long any copy so far will live. What was there before the step is the first
    instant of its value; `ends` is when its piece ends, and otherwise BEGINNING.
    """

    value: Ints
    time: Ints
    best: Ints
    ends: Ints

    @staticmethod
    def of(group: Ints, held: pa.Table, came: pa.Table) -> _Chain:
        """The chain of what was held and what came; `group` is the value of each, in that order."""
        before = int(ints(came, FROM).min(initial=0)) - 1
        time = np.concatenate([np.full(held.num_rows, before), ints(came, FROM)])
        until = np.concatenate([ints(held, _BEST), ints(came, UNTIL)])
        ends = np.concatenate([ints(held, _END), np.full(came.num_rows, BEGINNING)])
        order = arrange(group, time, until)
        group, time, until, ends = group[order], time[order], until[order], ends[order]
        last = run_ends(run_starts(group, time))
        group, time, until, ends = group[last], time[last], until[last], ends[last]
        return _Chain(group, time, _running_max(until, run_starts(group)), ends)

    def pieces(self, high: int) -> tuple[Ints, Ints, Ints, Ints]:
        """The pieces that begin by `high`: value, beginning, end; and where each value's last ends.

        A piece is known by the instant whose `best` is its end; the next one follows from that
        alone, so all chains are walked at once by doubling the stride.
        """
        nodes = len(self.value)
        first = run_starts(self.value)
        was = first & (self.ends > BEGINNING)
        following, begin = self._following(self.best, high)
        entered, entry_begin = self._following(np.where(was, self.ends, self.best), high)
        roots = np.where(was, entered, np.arange(nodes))[first]
        visited = _reachable(roots[roots < nodes], following, nodes)
        comes = np.flatnonzero(first & ~was)
        resumes = np.flatnonzero(was & (entered < nodes))
        walks = np.flatnonzero(visited & (following < nodes))
        ends_at = np.concatenate([comes, entered[resumes], following[walks]])
        starts_at = np.concatenate([self.time[comes], entry_begin[resumes], begin[walks]])
        current = np.full(int(self.value[-1]) + 1, BEGINNING)
        np.maximum.at(current, self.value[was], self.ends[was])
        np.maximum.at(current, self.value[ends_at], self.best[ends_at])
        return self.value[ends_at], starts_at, self.best[ends_at], current

    def _following(self, end: Ints, high: int) -> tuple[Ints, Ints]:
        """The instant that ends the next piece after one that ends at `end`, and when it begins.

        That is the best of those who came by then, or the next to come; `len` if neither.
        """
        nodes = len(self.value)
        after = first_at_least((self.value, self.time), (self.value, np.minimum(end, high) + 1))
        present = np.maximum(after - 1, 0)
        over = end <= high
        succeeded = over & (self.best[present] > end)
        newcomer = np.minimum(after, nodes - 1)
        restarts = over & ~succeeded & (after < nodes) & (self.value[newcomer] == self.value)
        following = np.where(succeeded, present, np.where(restarts, after, nodes))
        return following, np.where(succeeded, end, self.time[newcomer])


def _running_max(values: Ints, starts: Bools) -> Ints:
    """The greatest value of each run up to and including each row."""
    order = arrange(values)
    rank = np.empty(len(values), np.int64)
    rank[order] = np.arange(len(values))
    level = np.maximum.accumulate(rank + np.cumsum(starts) * len(values))
    return values[order][level % len(values)]


def _reachable(roots: Ints, following: Ints, nodes: int) -> Bools:
    """The nodes on the paths from some roots; `nodes` stands for the end of a path."""
    visited = np.zeros(nodes + 1, np.bool_)
    visited[roots] = True
    jump = np.append(following, nodes)
    while True:
        reached = jump[np.flatnonzero(visited)]
        if bool(visited[reached].all()):
            return visited[:nodes]
        visited[reached] = True
        jump = jump[jump]
