"""An input of a join during a step: its rows, and when there are how many copies of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import (
    BEGINNING,
    FOREVER,
    FROM,
    UNTIL,
    Bools,
    Ints,
    arrange,
    concat,
    data_names,
    ints,
    key_codes,
    run_ends,
    run_starts,
    run_sums,
    running,
    take,
    with_ints,
)
from cqlc.runtime.kernel import Events, Form, Port, events, keep
from cqlc.runtime.shelf import Shelf
from cqlc.runtime.state import Scope

_COUNT = "_count"


@dataclass(frozen=True, slots=True)
class Side:
    """Stays: from `begin` until `end` there are `count` copies of the row `item` of `rows`.

    Stays of one row do not overlap; those that were there before the step begin before it, those
    that go on after it end after it. `distinct` says that a row has one stay only.
    """

    rows: pa.Table
    item: Ints
    begin: Ints
    end: Ints
    count: Ints
    distinct: bool

    def changes(self, span: Span) -> tuple[Ints, Ints, Ints]:
        """What happens in the span: row, time, and how many copies more or less."""
        comes, goes = self.begin > span.low, self.end <= span.high
        item = np.concatenate([self.item[comes], self.item[goes]])
        time = np.concatenate([self.begin[comes], self.end[goes]])
        return item, time, np.concatenate([self.count[comes], -self.count[goes]])

    def active(self, span: Span) -> Bools:
        """The stays that begin or end in the span."""
        return (self.begin > span.low) | (self.end <= span.high)

    def stays(self, mask: Bools) -> Side:
        """Some of the stays."""
        return Side(
            self.rows,
            self.item[mask],
            self.begin[mask],
            self.end[mask],
            self.count[mask],
            self.distinct,
        )


class SideState:
    """The stored rows of one input of a join, and what arrives on it in a step.

    Lifetimes stay in a calendar. Of a changelog or a stream the live rows are on a shelf by the
    join's key, of which `read` loads what the step needs.
    """

    def __init__(
        self, state: Scope, name: str, port: Port, key: Sequence[str], arrived: pa.Table, span: Span
    ) -> None:
        self._state, self._name, self._port, self._key, self._span = state, name, port, key, span
        self._events: Events | None = None
        if port.form is Form.LIFETIMES:
            self._calendar = keep(state, name, port, arrived, span)
        else:
            self._events = events(state, name, port, arrived, span)

    @property
    def quiet(self) -> bool:
        """Whether nothing happens on this side in the step."""
        if self._events is None:
            return self._calendar.quiet(self._span)
        return len(self._events.time) == 0

    def keys(self) -> pa.Table:
        """The join keys of what happens on this side."""
        if self._events is None:
            calendar, span = self._calendar, self._span
            return concat([calendar.starting(span), calendar.ending(span)]).select(self._key)
        return self._events.rows.select(self._key)

    def read(self, other_keys: Callable[[], pa.Table] | None = None) -> Side:
        """The rows alive in the step: all of them, or at least those something happens to.

        `other_keys` gives the keys something happens to on the other side, if they are needed.
        """
        if self._events is None:
            rows = concat(
                [self._calendar.alive(self._span.low), self._calendar.starting(self._span)]
            )
            one = np.ones(rows.num_rows, np.int64)
            item = np.arange(rows.num_rows, dtype=np.int64)
            return Side(rows, item, ints(rows, FROM), ints(rows, UNTIL), one, distinct=True)
        schema = pa.schema([*self._events.rows.schema, (_COUNT, pa.int64())])
        shelf = self._state.shelf(f"{self._name}-live", schema, self._key)
        if other_keys is None:
            return self._stays(shelf, shelf.load_all(), self._events)
        touched = [self.keys(), other_keys().rename_columns(list(self._key))]
        return self._stays(shelf, shelf.load(touched, BEGINNING), self._events)

    def _stays(self, shelf: Shelf, held: pa.Table, happened: Events) -> Side:
        side = _side(held, happened, self._span)
        left = side.end > self._span.high
        rest = with_ints(take(side.rows, side.item[left]), **{_COUNT: side.count[left]})
        shelf.store(rest)
        return side


def _side(held: pa.Table, happened: Events, span: Span) -> Side:
    """The stays of rows, given the counts before the step and the changes in it."""
    rows = concat([held.select(happened.rows.column_names), happened.rows])
    before = int(happened.time.min(initial=FOREVER)) - 1
    time = np.concatenate([np.full(held.num_rows, before, np.int64), happened.time])
    amount = np.concatenate([ints(held, _COUNT), happened.count])
    code, _ = key_codes(rows, data_names(rows))
    order = arrange(code, time)
    starts = run_starts(code[order], time[order])
    change = run_sums(amount[order], starts)
    place = order[starts]
    first = run_starts(code[place])
    count = running(change, first)
    end = np.append(time[place][1:], 0)
    end[run_ends(first)] = FOREVER
    begin = np.where(place < held.num_rows, span.low, time[place])
    there = count != 0
    item = np.cumsum(first) - 1
    return Side(
        take(rows, place[first]),
        item[there],
        begin[there],
        end[there],
        count[there],
        distinct=False,
    )
