"""Session windows: the rows of a partition without a gap between them, shown when it is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import (
    FROM,
    TIME,
    UNTIL,
    arrange,
    concat,
    ints,
    key_codes,
    run_starts,
    take,
    where,
    with_ints,
)
from cqlc.runtime.kernel import Form, Port, receive
from cqlc.runtime.state import Scope

_DUE = "_due"
START, END = "session_start", "session_end"
"""The columns that hold a session's first time and its end."""


@dataclass(frozen=True)
class Sessions:
    """Rows whose gaps are smaller than `gap` form a session, which ends `gap` after its last row.

    The answer has the rows of each finished session for one tick, at its end, with two more columns
    of type `moment`: when the session began, and its end.
    """

    port: Port
    gap: int
    partition: tuple[str, ...]
    moment: pa.DataType
    tick: int = 1

    @property
    def ports(self) -> Mapping[str, Port]:
        """The one input, a stream."""
        return {"input": self.port}

    @property
    def output(self) -> Form:
        """Lifetimes of one tick."""
        return Form.LIFETIMES

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The sessions that end in the span."""
        came = receive(state, "input", self.port, arrived["input"], span)
        schema = pa.schema([*self.port.schema, (_DUE, pa.int64())])
        shelf = state.shelf("open", schema, self.partition, due=_DUE)
        touched = [came.select(self.partition)] if came.num_rows else []
        held = shelf.load(touched, span.high).select(self.port.schema.names)
        rows = concat([held, came])
        group, _ = key_codes(rows, self.partition)
        time = ints(rows, TIME)
        order = arrange(group, time)
        rows, group, time = take(rows, order), group[order], time[order]
        starts = run_starts(group)
        starts[1:] |= np.diff(time) >= self.gap
        session = np.cumsum(starts) - 1
        begin = np.flatnonzero(starts)
        final = np.append(begin, len(time))[1:] - 1
        end = (time[final] + self.gap)[session]
        over = end <= span.high
        shelf.store(where(with_ints(rows, **{_DUE: end}), ~over))
        data = rows.select([name for name in rows.column_names if name != TIME])
        places = np.flatnonzero(over)
        shown = take(data, places)
        for name, moments in ((START, time[begin][session]), (END, end)):
            shown = shown.append_column(name, pa.array(moments[places]).cast(self.moment))
        return with_ints(shown, **{FROM: end[places], UNTIL: end[places] + self.tick})
