"""What every columnar operator has in common: forms of edges, and one step of event time.

An operator is called with rows that arrived and a span of time `(low, high]` for which nothing
more can arrive. It answers with everything its output does in that span. So an answer depends on
the rows alone: not on how they were cut into batches, nor on their order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Calendar, Span, Use
from cqlc.runtime.columns import (
    FROM,
    OP,
    TIME,
    UNTIL,
    Ints,
    arrange,
    concat,
    data_names,
    ints,
    key_codes,
    run_starts,
    run_sums,
    take,
    where,
    with_ints,
)
from cqlc.runtime.state import Scope


class Form(StrEnum):
    """How rows on an edge say when they are there; the update pattern decides which it is."""

    STREAM = "stream"
    """`_time`: the row happened then."""
    LIFETIMES = "lifetimes"
    """`_from`, `_until`: the row is in the relation in [_from, _until)."""
    CHANGELOG = "changelog"
    """`_op`, `_time`: the relation gains (or loses) that many copies of the row then."""

    @property
    def time(self) -> str:
        """The column that orders rows of this form."""
        return FROM if self is Form.LIFETIMES else TIME


class Emit(StrEnum):
    """Which changes of its answer a kernel reports."""

    CHANGES = "changes"
    """All of them, as a changelog."""
    INSERTS = "inserts"
    """What comes in, as a stream: ISTREAM of the answer, if the kernel nets."""
    DELETES = "deletes"
    """What goes out, as a stream: DSTREAM of the answer, if the kernel nets."""

    @property
    def form(self) -> Form:
        """The form of what is reported."""
        return Form.CHANGELOG if self is Emit.CHANGES else Form.STREAM


@dataclass(frozen=True, slots=True)
class Port:
    """An input of a kernel: the form and the Arrow schema of its rows."""

    form: Form
    schema: pa.Schema


class Kernel(Protocol):
    """A columnar operator. `ports` are its inputs by name, `output` is the form of its answer."""

    @property
    def ports(self) -> Mapping[str, Port]:
        """The inputs by name."""
        ...

    @property
    def output(self) -> Form:
        """The form of the answer."""
        ...

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """What the output does in the span, given all rows that begin in it or before."""
        ...


@dataclass(frozen=True, slots=True)
class Events:
    """Signed changes of a relation: `count` copies of each row come (or go) at `time`."""

    rows: pa.Table
    time: Ints
    count: Ints


def receive(
    state: Scope, side: str, port: Port, arrived: pa.Table, span: Span, time: str | None = None
) -> pa.Table:
    """The rows that begin in the span, from those that arrived now and those that waited.

    Rows that begin later wait; rows that should have begun before are late, dropped and counted.
    When a row begins is said by its form, or by the column `time`.
    """
    time = time or port.form.time
    calendar = state.calendar(side, port.schema, Use.QUEUE, (time, time))
    _admit(state, side, calendar, arrived, time, span)
    return calendar.starting(span)


def keep(
    state: Scope, side: str, port: Port, arrived: pa.Table, span: Span, use: Use = Use.EVENTS
) -> Calendar:
    """The calendar of an input of lifetimes, with the new rows in it."""
    calendar = state.calendar(side, port.schema, use, (FROM, UNTIL))
    _admit(state, side, calendar, arrived, FROM, span)
    return calendar


def _admit(
    state: Scope, side: str, calendar: Calendar, arrived: pa.Table, time: str, span: Span
) -> None:
    if arrived.num_rows == 0:
        return
    in_time = ints(arrived, time) > span.low
    state.note_late(side, len(in_time) - int(in_time.sum()))
    if time == FROM:
        in_time &= ints(arrived, UNTIL) > ints(arrived, FROM)
    calendar.add(where(arrived, in_time))


def events(state: Scope, side: str, port: Port, arrived: pa.Table, span: Span) -> Events:
    """What happens to an input relation in the span, whatever its form.

    A stream is the relation of all its rows so far.
    """
    names = [n for n in port.schema.names if n not in (FROM, UNTIL, OP, TIME)]
    match port.form:
        case Form.LIFETIMES:
            calendar = keep(state, side, port, arrived, span)
            starts, ends = calendar.starting(span), calendar.ending(span)
            rows = concat([starts, ends]).select(names)
            time = np.concatenate([ints(starts, FROM), ints(ends, UNTIL)])
            count = np.ones(len(time), np.int64)
            count[starts.num_rows :] = -1
            return Events(rows, time, count)
        case Form.CHANGELOG:
            rows = receive(state, side, port, arrived, span)
            return Events(rows.select(names), ints(rows, TIME), ints(rows, OP))
        case Form.STREAM:
            rows = receive(state, side, port, arrived, span)
            time = ints(rows, TIME)
            return Events(rows.select(names), time, np.ones(len(time), np.int64))


def changelog(rows: pa.Table, time: Ints, count: Ints) -> pa.Table:
    """Events as rows of a changelog."""
    return with_ints(rows, **{OP: count, TIME: time})


def emitted(rows: pa.Table, time: Ints, count: Ints, emit: Emit) -> pa.Table:
    """The wanted part of some changes."""
    match emit:
        case Emit.CHANGES:
            return changelog(rows, time, count)
        case Emit.INSERTS:
            places = np.repeat(np.arange(len(count), dtype=np.int64), np.maximum(count, 0))
        case Emit.DELETES:
            places = np.repeat(np.arange(len(count), dtype=np.int64), np.maximum(-count, 0))
    return with_ints(take(rows, places), **{TIME: time[places]})


def net(happened: Events) -> Events:
    """At every instant each row once, with the sum of its counts; what cancels is left out."""
    rows, time, count = happened.rows, happened.time, happened.count
    if len(time) == 0:
        return happened
    code, _ = key_codes(rows, data_names(rows))
    order = arrange(time, code)
    starts = run_starts(time[order], code[order])
    sums = run_sums(count[order], starts)
    places = order[starts][sums != 0]
    return Events(take(rows, places), time[places], sums[sums != 0])
