"""Windows counted in rows: `[ROWS n]` and `[PARTITION BY .. ROWS n]`, with RANGE and SLIDE.

Row i (from 1) of a partition enters with the first multiple of `slide` that is at least i, leaves
with the first one that is at least i + n, or when it is `range` old. When that will be is not
known beforehand, so the answer is a changelog.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import (
    BEGINNING,
    FOREVER,
    TIME,
    Bools,
    Ints,
    arrange,
    column,
    concat,
    ints,
    key_codes,
    ranks,
    run_starts,
    take,
    where,
    with_ints,
)
from cqlc.runtime.kernel import Form, Port, changelog, receive
from cqlc.runtime.state import Scope

_NUMBER, _END, _DUE = "_number", "_end", "_due"


@dataclass(frozen=True)
class Rows:
    """The last `rows` rows of every partition.

    The order of rows is their time, then the columns `order`, which must tell apart all rows that
    differ: what a rerun answers may not depend on the order of arrival.
    """

    port: Port
    rows: int
    partition: tuple[str, ...]
    order: tuple[str, ...]
    range: int | None = None
    slide: int = 1

    @property
    def ports(self) -> Mapping[str, Port]:
        """The one input, a stream."""
        return {"input": self.port}

    @property
    def output(self) -> Form:
        """A changelog."""
        return Form.CHANGELOG

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The rows that enter and leave in the span."""
        came = receive(state, "input", self.port, arrived["input"], span)
        extra = [(name, pa.int64()) for name in (_NUMBER, _END, _DUE)]
        schema = pa.schema([*self.port.schema, *(pa.field(*field) for field in extra)])
        shelf = state.shelf("rows", schema, self.partition, _DUE if self.range else None)
        held = shelf.load([came.select(self.partition)] if came.num_rows else [], span.high)
        window = self._arranged(held, came)
        table, since, until = window.table, self._since(window, span), self._until(window)
        seen = since < until
        enters = seen & (since > span.low) & (since <= span.high)
        leaves = seen & (until > span.low) & (until <= span.high)
        shelf.store(self._kept(window, until > span.high))
        places = np.concatenate([np.flatnonzero(leaves), np.flatnonzero(enters)])
        time = np.concatenate([until[leaves], since[enters]])
        count = np.ones(len(places), np.int64)
        count[: int(leaves.sum())] = -1
        data = table.select([n for n in self.port.schema.names if n != TIME])
        return changelog(take(data, places), time, count)

    def _arranged(self, held: pa.Table, came: pa.Table) -> _Window:
        """All rows by partition, the new ones numbered after those that were there."""
        everyone = concat([held.select(self.partition), came.select(self.partition)])
        if self.partition:
            group, groups = key_codes(everyone, self.partition)
        else:
            group, groups = np.zeros(held.num_rows + came.num_rows, np.int64), 1
        old_group, new_group = group[: held.num_rows], group[held.num_rows :]
        last = np.zeros(groups, np.int64)
        np.maximum.at(last, old_group, ints(held, _NUMBER))
        keys = [ranks(column(came, name))[0] for name in self.order]
        order = arrange(new_group, ints(came, TIME), *keys)
        new_group = new_group[order]
        begin = np.zeros(groups, np.int64)
        starts = np.flatnonzero(run_starts(new_group))
        begin[new_group[starts]] = starts
        number = np.arange(len(order)) - begin[new_group] + last[new_group] + 1
        arrivals = np.bincount(new_group, minlength=groups).astype(np.int64)
        came = take(came, order)
        time = ints(came, TIME)
        end = time + self.range if self.range else np.full(len(time), FOREVER)
        table = concat([held, with_ints(came, **{_NUMBER: number, _END: end, _DUE: end})])
        return _Window(table, np.concatenate([old_group, new_group]), last, begin, arrivals, time)

    def _since(self, window: _Window, span: Span) -> Ints:
        """When a row enters; at the step's beginning if it is in, never if that is not known."""
        number = ints(window.table, _NUMBER)
        return window.arrival(-(-number // self.slide) * self.slide, before=span.low)

    def _until(self, window: _Window) -> Ints:
        number = ints(window.table, _NUMBER) + self.rows
        until = window.arrival(-(-number // self.slide) * self.slide, before=FOREVER)
        return np.minimum(until, ints(window.table, _END))

    def _kept(self, window: _Window, alive: Bools) -> pa.Table:
        """The rows still needed; where the window moves in steps, also the last one, as counter."""
        if self.slide == 1:
            return where(window.table, alive)
        total = (window.last + window.arrivals)[window.group]
        counter = ~alive & (ints(window.table, _NUMBER) == total)
        end = np.where(counter, BEGINNING, ints(window.table, _END))
        due = np.where(counter, FOREVER, ints(window.table, _DUE))
        return where(with_ints(window.table, **{_END: end, _DUE: due}), alive | counter)


@dataclass(frozen=True, slots=True)
class _Window:
    """Rows with their partitions; the new ones of a partition are contiguous and in order.

    For each partition: the `last` number before the step, where its new rows `begin`, how many
    there are, and the times of all new rows.
    """

    table: pa.Table
    group: Ints
    last: Ints
    begin: Ints
    arrivals: Ints
    time: Ints

    def arrival(self, number: Ints, before: int) -> Ints:
        """When row `number` of the partition came: `before` if earlier, never if not yet."""
        place = number - self.last[self.group] - 1
        here = (place >= 0) & (place < self.arrivals[self.group])
        found = np.where(place < 0, before, FOREVER)
        found[here] = self.time[(self.begin[self.group] + place)[here]]
        return found
