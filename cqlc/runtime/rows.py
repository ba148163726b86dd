"""Windows counted in rows: `[ROWS n]` and `[PARTITION BY .. ROWS n]`, with RANGE and SLIDE.

Row i (from 1) of a partition enters with the first multiple of `slide` that is at least i, leaves
with the first one that is at least i + n, or when it is `range` old. When that will be is not
known beforehand, so the answer is a changelog.

A row is written once, with its number, into a calendar; a counter per partition says which
numbers are in the window. Rows are read again only when some leave: from the oldest chunk on,
until all of them were found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Calendar, Span, Use
from cqlc.runtime.columns import (
    BEGINNING,
    FOREVER,
    TIME,
    Ints,
    arrange,
    column,
    concat,
    ints,
    ranks,
    take,
    where,
    with_ints,
)
from cqlc.runtime.groups import Groups, group_rows
from cqlc.runtime.kernel import Form, Port, changelog, receive
from cqlc.runtime.state import Scope

_NUMBER, _END = "_number", "_end"
_LAST, _DUE = "_last", "_due"


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
        numbers = [(_NUMBER, pa.int64()), (_END, pa.int64())]
        schema = pa.schema([*self.port.schema, *(pa.field(*field) for field in numbers)])
        log = state.calendar("rows", schema, Use.EVENTS, (TIME, _END))
        loose = log.reclaim()
        ended = log.ending(span) if self.range is not None else loose.slice(0, 0)
        keys = concat([t.select([*self.partition, TIME]) for t in (came, loose, ended)])
        groups, group = group_rows(keys, self.partition)
        came, fresh = self._ordered(came, group[: came.num_rows])
        window = self._counted(state, groups, fresh, ints(came, TIME), span)
        came = self._numbered(came, fresh, window)
        loose = where(loose, ints(loose, _END) > span.low)
        held = concat([loose, ended, self._found(log, window, span), came])
        at = window.groups.find(held)
        since, until = self._since(held, at, window, span), self._until(held, at, window)
        homeless = np.zeros(held.num_rows, np.bool_)
        homeless[: loose.num_rows] = True
        homeless[held.num_rows - came.num_rows :] = True
        log.add(where(held, homeless & (until > span.high)))
        return self._answer(held, since, until, span)

    def _ordered(self, came: pa.Table, group: Ints) -> tuple[pa.Table, Ints]:
        """New rows by partition, and in the order in which they count."""
        keys = [ranks(column(came, name))[0] for name in self.order]
        order = arrange(group, ints(came, TIME), *keys)
        return take(came, order), group[order]

    def _counted(
        self, state: Scope, groups: Groups, fresh: Ints, time: Ints, span: Span
    ) -> _Window:
        """The counters of partitions before the step; after it they are larger by the new rows.

        A counter is not needed any more when all rows are too old, unless the window moves in
        steps, which depend on how many rows there ever were.
        """
        keys = [self.port.schema.field(name) for name in self.partition]
        schema = pa.schema([*keys, (_LAST, pa.int64()), (_DUE, pa.int64())])
        shelf = state.shelf("counters", schema, self.partition, _DUE)
        held = shelf.load([groups.keys] if groups.count else [], span.high)
        owner = groups.find(held) if groups.count else np.full(held.num_rows, -1)
        known = owner >= 0
        last, due = np.zeros(groups.count, np.int64), np.full(groups.count, FOREVER)
        last[owner[known]] = ints(held, _LAST)[known]
        due[owner[known]] = ints(held, _DUE)[known]
        arrivals = np.bincount(fresh, minlength=groups.count).astype(np.int64)
        begin = np.cumsum(arrivals) - arrivals
        if self.range is not None and self.slide == 1:
            some = arrivals > 0
            due[some] = time[(begin + arrivals - 1)[some]] + self.range
        counters = with_ints(groups.keys, **{_LAST: last + arrivals, _DUE: due})
        both = concat([where(held, ~known), counters.select(schema.names)])
        shelf.store(where(both, ints(both, _DUE) > span.high))
        return _Window(groups, last, begin, arrivals, time)

    def _numbered(self, came: pa.Table, group: Ints, window: _Window) -> pa.Table:
        """New rows with their numbers, which go on after those that were there."""
        number = np.arange(len(group)) - window.begin[group] + window.last[group] + 1
        end = window.time + self.range if self.range else np.full(len(group), FOREVER)
        return with_ints(came, **{_NUMBER: number, _END: end})

    # ------------------------------------------------------------------------- coming and going

    def _entered(self, last: Ints) -> Ints:
        """Up to which number rows are in the window or have left it."""
        return last // self.slide * self.slide

    def _left(self, last: Ints) -> Ints:
        """Up to which number rows have left the window."""
        return np.maximum(self._entered(last) - self.rows, 0)

    def _found(self, log: Calendar, window: _Window, span: Span) -> pa.Table:
        """The stored rows that enter or leave because new ones came."""
        now = window.last + window.arrivals
        leaving = self._left(window.last), np.minimum(self._left(now), window.last)
        entering = self._entered(window.last), np.minimum(self._entered(now), window.last)
        wanted = int((leaving[1] - leaving[0]).clip(0).sum())
        wanted += int((entering[1] - entering[0]).clip(0).sum())
        parts: list[pa.Table] = []
        if wanted:
            for chunks, table in log.oldest_first():
                group, number = window.groups.find(table), ints(table, _NUMBER)
                concerned = (group >= 0) & (ints(table, _END) > span.high)
                leaves = concerned & (number > leaving[0][group]) & (number <= leaving[1][group])
                enters = concerned & (number > entering[0][group]) & (number <= entering[1][group])
                log.strike(chunks, leaves)
                parts.append(where(table, leaves | enters))
                wanted -= int(leaves.sum()) + int(enters.sum())
                if wanted == 0:
                    break
        return concat([log.none(), *parts])

    def _since(self, rows: pa.Table, group: Ints, window: _Window, span: Span) -> Ints:
        """When a row enters; at the step's beginning if it is in, never if that is not known."""
        number = ints(rows, _NUMBER)
        return window.arrival(group, -(-number // self.slide) * self.slide, before=span.low)

    def _until(self, rows: pa.Table, group: Ints, window: _Window) -> Ints:
        """When a row leaves; before all time if it has left, never if that is not known."""
        number = ints(rows, _NUMBER) + self.rows
        until = window.arrival(group, -(-number // self.slide) * self.slide, before=BEGINNING)
        return np.minimum(until, ints(rows, _END))

    def _answer(self, rows: pa.Table, since: Ints, until: Ints, span: Span) -> pa.Table:
        seen = since < until
        enters = np.flatnonzero(seen & (since > span.low) & (since <= span.high))
        leaves = np.flatnonzero(seen & (until > span.low) & (until <= span.high))
        count = np.ones(len(leaves) + len(enters), np.int64)
        count[: len(leaves)] = -1
        data = rows.select([name for name in self.port.schema.names if name != TIME])
        time = np.concatenate([until[leaves], since[enters]])
        return changelog(take(data, np.concatenate([leaves, enters])), time, count)


@dataclass(frozen=True, slots=True)
class _Window:
    """Partitions in a step: the `last` number before it, and where its new rows are.

    The times of all new rows are by partition; those of one `begin` somewhere and are contiguous.
    """

    groups: Groups
    last: Ints
    begin: Ints
    arrivals: Ints
    time: Ints

    def arrival(self, group: Ints, number: Ints, before: int) -> Ints:
        """When row `number` of a partition came: `before` if earlier, never if not yet."""
        place = number - self.last[group] - 1
        here = (place >= 0) & (place < self.arrivals[group])
        found = np.where(place < 0, before, FOREVER)
        found[here] = self.time[(self.begin[group] + place)[here]]
        return found
