"""Operators that only need to know how often each row is in their inputs.

DISTINCT with deletions (STREAM's counters), and bag and set operations: the answer holds a row
f(l, r) times if the inputs hold it l and r times. For EXCEPT ALL f is max(l - r, 0), which is the
negation of Golab's section 2.2.2 with its event rules put right: each event moves f by what the
definition says, so nothing has to be cancelled or resurrected by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import BEGINNING, Ints, concat, data_names, ints, take, where, with_ints
from cqlc.runtime.groups import group_rows
from cqlc.runtime.instants import instants
from cqlc.runtime.kernel import Emit, Events, Form, Port, emitted, events
from cqlc.runtime.state import Scope

_LEFT, _RIGHT = "_left", "_right"


class Counting(StrEnum):
    """How often a row is in the answer, given how often it is in the inputs."""

    DISTINCT = "DISTINCT"
    UNION = "UNION"
    EXCEPT = "EXCEPT"
    EXCEPT_ALL = "EXCEPT ALL"
    INTERSECT = "INTERSECT"
    INTERSECT_ALL = "INTERSECT ALL"

    def of(self, left: Ints, right: Ints) -> Ints:
        """The multiplicity in the answer."""
        match self:
            case Counting.DISTINCT:
                return (left > 0).astype(np.int64)
            case Counting.UNION:
                return (left + right > 0).astype(np.int64)
            case Counting.EXCEPT:
                return ((left > 0) & (right <= 0)).astype(np.int64)
            case Counting.EXCEPT_ALL:
                return np.maximum(left - right, 0)
            case Counting.INTERSECT:
                return ((left > 0) & (right > 0)).astype(np.int64)
            case Counting.INTERSECT_ALL:
                return np.minimum(left, right)


@dataclass(frozen=True)
class Counters:
    """A bag or set operation of `left` and `right`, by position; DISTINCT has no `right`."""

    counting: Counting
    left: Port
    right: Port | None = None
    emit: Emit = Emit.CHANGES

    @property
    def ports(self) -> Mapping[str, Port]:
        """One or two inputs."""
        return {"left": self.left} | ({"right": self.right} if self.right else {})

    @property
    def output(self) -> Form:
        """A changelog, or a stream of one kind of change."""
        return self.emit.form

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The rows whose number in the answer changes in the span."""
        left = events(state, "left", self.left, arrived["left"], span)
        names = data_names(left.rows)
        both = left
        if self.right is not None:
            right = events(state, "right", self.right, arrived["right"], span)
            both = _together(left, right)
        if len(both.time) == 0:
            return emitted(left.rows, left.time, left.count, self.emit)
        groups, group = group_rows(both.rows, names)
        schema = pa.schema([*left.rows.schema, (_LEFT, pa.int64()), (_RIGHT, pa.int64())])
        shelf = state.shelf("counters", schema, names)
        held = shelf.load([groups.keys], BEGINNING)
        owner = groups.find(held)
        known = owner >= 0
        placed = instants(groups.count, group, both.time)
        totals: list[Ints] = []
        lefts = len(left.time)
        for side, mine in ((_LEFT, slice(0, lefts)), (_RIGHT, slice(lefts, None))):
            initial = np.zeros(groups.count, np.int64)
            initial[owner[known]] = ints(held, side)[known]
            totals.append(placed.sums(placed.point[mine], both.count[mine], initial))
        remaining = [total[placed.last] for total in totals]
        rest = with_ints(groups.keys, **dict(zip((_LEFT, _RIGHT), remaining, strict=True)))
        alive = (remaining[0] != 0) | (remaining[1] != 0)
        shelf.store(concat([where(held, ~known), where(rest, alive)]))
        count = self.counting.of(*totals)
        change = np.diff(count, prepend=0)
        change[placed.first] = 0
        places = np.flatnonzero(change)
        rows = take(groups.keys, placed.group[places])
        return emitted(rows, placed.time[places], change[places], self.emit)


def _together(left: Events, right: Events) -> Events:
    """Both inputs below each other, the right one under the names and types of the left one."""
    named = right.rows.rename_columns(left.rows.column_names).cast(left.rows.schema)
    return Events(
        concat([left.rows, named]),
        np.concatenate([left.time, right.time]),
        np.concatenate([left.count, right.count]),
    )
