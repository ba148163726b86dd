"""The join of two windows, in columns: pairs with the lifetime that their rows share.

The direct approach of Golab's section 2.3.3: a pair begins with its later row and ends with its
earlier-ending one, both known when it is made, so no deletion is ever sent. Rows of INTERNAL
windows, and rows a band on event time lets forget early, carry a third time, `_visible`: they meet
partners until `_until`, and what they made is seen until `_visible`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Calendar, Span, Use
from cqlc.runtime.columns import FROM, HIDDEN, UNTIL, VISIBLE, Ints, concat, ints, with_ints
from cqlc.runtime.kernel import Form, Port, keep
from cqlc.runtime.matching import Condition, matches, paired
from cqlc.runtime.sides import Side
from cqlc.runtime.state import Scope


@dataclass(frozen=True)
class WindowJoin:
    """The pairs of rows that match and are alive together; lifetimes in, lifetimes out."""

    left: Port
    right: Port
    condition: Condition

    @property
    def ports(self) -> Mapping[str, Port]:
        """The two inputs, of lifetimes."""
        return {"left": self.left, "right": self.right}

    @property
    def output(self) -> Form:
        """Lifetimes."""
        return Form.LIFETIMES

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The pairs that begin in the span."""
        left = keep(state, "left", self.left, arrived["left"], span, Use.STATE)
        right = keep(state, "right", self.right, arrived["right"], span, Use.STATE)
        new_left, new_right = left.starting(span), right.starting(span)
        parts = [self._empty()]
        if new_left.num_rows:
            parts += self._pairs(new_left, _rows(right, new_right, span))
        if new_right.num_rows:
            parts += self._pairs(left.alive(span.low), new_right)
        return concat(parts)

    def _pairs(self, left: pa.Table, right: pa.Table) -> list[pa.Table]:
        one, other = _side(left), _side(right)
        left_key, right_key, _ = self.condition.keys(left, right)
        return [
            self._answer(left, right, pairs.left, pairs.right)
            for pairs in matches(one, other, (left_key, right_key), self.condition)
        ]

    def _answer(self, left: pa.Table, right: pa.Table, mine: Ints, theirs: Ints) -> pa.Table:
        begin = np.maximum(ints(left, FROM)[mine], ints(right, FROM)[theirs])
        end = np.minimum(ints(left, UNTIL)[mine], ints(right, UNTIL)[theirs])
        times = {FROM: begin, UNTIL: end}
        if self._hides:
            seen = [ints(t, VISIBLE if VISIBLE in t.column_names else UNTIL) for t in (left, right)]
            times[VISIBLE] = np.minimum(seen[0][mine], seen[1][theirs])
        return with_ints(paired(left, right, mine, theirs), **times)

    @property
    def _hides(self) -> bool:
        """Whether what rows make may be seen longer than they meet partners."""
        return VISIBLE in self.left.schema.names or VISIBLE in self.right.schema.names

    def _empty(self) -> pa.Table:
        fields = [f for s in (self.left, self.right) for f in s.schema if f.name not in HIDDEN]
        times = [FROM, UNTIL, *([VISIBLE] if self._hides else [])]
        return pa.schema([*fields, *(pa.field(name, pa.int64()) for name in times)]).empty_table()


def _rows(calendar: Calendar, new: pa.Table, span: Span) -> pa.Table:
    """The rows alive at the step's beginning, and those that begin in it."""
    return concat([calendar.alive(span.low), new])


def _side(rows: pa.Table) -> Side:
    item = np.arange(rows.num_rows, dtype=np.int64)
    one = np.ones(rows.num_rows, np.int64)
    return Side(rows, item, ints(rows, FROM), ints(rows, UNTIL), one, distinct=True)
