"""From relations to streams, and canonical changelogs: netting, ISTREAM, DSTREAM, RSTREAM, restore.

ISTREAM and DSTREAM are bag differences of neighbouring instants (Arasu, Babu, Widom, VLDB Journal
2006): an equal row that leaves at the instant another arrives gives nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import (
    FOREVER,
    TIME,
    Ints,
    arrange,
    concat,
    data_names,
    expand,
    ints,
    key_codes,
    run_starts,
    run_sums,
    take,
    with_ints,
)
from cqlc.runtime.kernel import Emit, Events, Form, Port, emitted, events, net, receive
from cqlc.runtime.sides import Side, SideState
from cqlc.runtime.state import Scope


@dataclass(frozen=True)
class Grid:
    """The instants `offset + i * period`, at which a clock ticks."""

    period: int
    offset: int = 0

    def up(self, times: Ints) -> Ints:
        """The first boundary after each time."""
        return ((times - self.offset) // self.period + 1) * self.period + self.offset


@dataclass(frozen=True)
class Net:
    """The net changes of a relation at every instant: each row at most once, plus or minus.

    With `emit` ISTREAM or DSTREAM of the relation; with `hold`, every element is held to the next
    boundary, which is ISTREAM-RESTORE of the relation evaluated continuously.
    """

    port: Port
    emit: Emit = Emit.CHANGES
    hold: Grid | None = None

    @property
    def ports(self) -> Mapping[str, Port]:
        """The one input."""
        return {"input": self.port}

    @property
    def output(self) -> Form:
        """A changelog, or a stream of one kind of change."""
        return self.emit.form

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """What the relation gains and loses in the span, net."""
        happened = net(events(state, "input", self.port, arrived["input"], span))
        time = happened.time if self.hold is None else self.hold.up(happened.time)
        return emitted(happened.rows, time, happened.count, self.emit)


@dataclass(frozen=True)
class Rstream:
    """All rows of a relation at every tick of the grid, or without one at every change.

    Without a grid the rows of all buckets belong to each tick, so there may be only one bucket.
    """

    port: Port
    grid: Grid | None = None

    @property
    def ports(self) -> Mapping[str, Port]:
        """The one input."""
        return {"input": self.port}

    @property
    def output(self) -> Form:
        """A stream."""
        return Form.STREAM

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The relation at the ticks in the span."""
        names = _data(self.port)
        side = SideState(state, "input", self.port, names, arrived["input"], span)
        if self.grid is None:
            if side.quiet:
                return _stream(self.port.schema.empty_table().select(names), _NONE)
            return self._at_changes(side.read(), span, names)
        rows = side.read()
        state.remind("clock", _next_tick(rows, self.grid, span))
        item, time, count = _sampled(rows, self.grid, span)
        places = np.repeat(np.arange(len(item)), count)
        return _stream(take(rows.rows.select(names), item[places]), time[places])

    def _at_changes(self, side: Side, span: Span, names: list[str]) -> pa.Table:
        item, time, change = side.changes(span)
        happened = net(Events(take(side.rows.select(names), item), time, change))
        ordered = np.sort(happened.time)
        ticks = ordered[run_starts(ordered)]
        begin = np.searchsorted(ticks, side.begin)
        stay, tick = expand(begin, np.searchsorted(ticks, side.end) - begin)
        places = np.repeat(np.arange(len(stay)), side.count[stay])
        rows = take(side.rows.select(names), side.item[stay[places]])
        return _stream(rows, ticks[tick[places]])


@dataclass(frozen=True)
class RstreamRestore:
    """At every boundary all rows of `sampled`, and those of `continuous` that came since the last.

    Of rows that are in both only as many as the larger of the two has.
    """

    sampled: Port
    continuous: Port
    grid: Grid

    @property
    def ports(self) -> Mapping[str, Port]:
        """The relation as of the boundaries, and as of every instant."""
        return {"sampled": self.sampled, "continuous": self.continuous}

    @property
    def output(self) -> Form:
        """A stream."""
        return Form.STREAM

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The rows of the boundaries in the span."""
        names = _data(self.sampled)
        given = arrived["sampled"]
        side = SideState(state, "sampled", self.sampled, names, given, span).read()
        state.remind("clock", _next_tick(side, self.grid, span))
        item, time, count = _sampled(side, self.grid, span)
        came = self._held(state, arrived["continuous"], span)
        rows = concat([take(side.rows.select(names), item), came.select(names)])
        time = np.concatenate([time, ints(came, TIME)])
        code, _ = key_codes(rows, names)
        order = arrange(time, code)
        starts = run_starts(time[order], code[order])
        amounts = [
            run_sums(np.concatenate(pair)[order], starts)
            for pair in (
                (count, np.zeros(came.num_rows, np.int64)),
                (np.zeros_like(count), np.ones(came.num_rows, np.int64)),
            )
        ]
        places = np.repeat(order[starts], np.maximum(*amounts))
        return _stream(take(rows, places), time[places])

    def _held(self, state: Scope, arrived: pa.Table, span: Span) -> pa.Table:
        """The insertions into the continuous relation whose boundary has come."""
        istream = Net(self.continuous, Emit.INSERTS, self.grid)
        fresh = istream.step(state.inner("continuous"), {"input": arrived}, span)
        named = fresh.rename_columns([*_data(self.sampled), TIME])
        data = [self.sampled.schema.field(name) for name in _data(self.sampled)]
        port = Port(Form.STREAM, pa.schema([*data, (TIME, pa.int64())]))
        return receive(state, "held", port, named.cast(port.schema), span)


_NONE = np.zeros(0, np.int64)


def _data(port: Port) -> list[str]:
    return data_names(port.schema.empty_table())


def _stream(rows: pa.Table, time: Ints) -> pa.Table:
    return with_ints(rows, **{TIME: time})


def _sampled(side: Side, grid: Grid, span: Span) -> tuple[Ints, Ints, Ints]:
    """Row, time and count for every boundary in the span at which a row is there."""
    first = grid.up(np.maximum(side.begin, span.low + 1) - 1)
    last = np.minimum(side.end - 1, span.high)
    ticks = np.maximum((last - first) // grid.period + 1, 0)
    stay, number = expand(np.zeros_like(ticks), ticks)
    return side.item[stay], first[stay] + number * grid.period, side.count[stay]


def _next_tick(side: Side, grid: Grid, span: Span) -> int:
    """The next boundary after the step, if a row may be there then."""
    if not bool((side.end > span.high).any()):
        return FOREVER
    return int(grid.up(np.array([span.high]))[0])
