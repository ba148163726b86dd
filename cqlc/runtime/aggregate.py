"""The eager aggregate: the value of every group at every instant at which it changes.

Covers `[RANGE T]` without SLIDE, unbounded windows, and inputs with deletions. All groups and all
instants of a step are computed at once: events are placed on points (group, instant), sums run
along them, and a row leaves the answer (or comes into it) wherever neighbouring points differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.additive import lanes_of, settled, value_of
from cqlc.runtime.bags import COUNT, Bag, bag
from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import (
    BEGINNING,
    FROM,
    UNTIL,
    Bools,
    Ints,
    column,
    concat,
    ints,
    repeats,
    take,
    where,
    with_ints,
)
from cqlc.runtime.exact import Lanes
from cqlc.runtime.extremes import best_of_bag, best_of_lifetimes
from cqlc.runtime.groups import Groups, group_rows
from cqlc.runtime.holistic import holistic_value
from cqlc.runtime.instants import Instants, instants
from cqlc.runtime.kernel import Emit, Form, Port, emitted, events, keep
from cqlc.runtime.measures import Family, Measure
from cqlc.runtime.state import Scope
from cqlc.runtime.totals import TotalsShelf


@dataclass(frozen=True, slots=True)
class _Step:
    """The events of one step, placed on points. `until` is the end of a row that begins, else 0."""

    state: Scope
    rows: pa.Table
    count: Ints
    until: Ints | None
    groups: Groups
    instants: Instants


@dataclass(frozen=True, slots=True)
class _Changes:
    """Rows that come or go at points, and which of them count for a measure."""

    rows: pa.Table
    counts: Bools
    point: Ints
    count: Ints


@dataclass(frozen=True)
class Aggregate:
    """One row of `keys` and `measures` for every group that has rows; a changelog of them.

    Every other row of the answer at an instant is different from it in the keys, so nothing needs
    netting unless keys are dropped later.
    """

    port: Port
    keys: tuple[str, ...]
    measures: tuple[Measure, ...]
    emit: Emit = Emit.CHANGES

    @property
    def ports(self) -> Mapping[str, Port]:
        """The one input."""
        return {"input": self.port}

    @property
    def output(self) -> Form:
        """A changelog, or a stream of one kind of change."""
        return self.emit.form

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The changes of the groups in the span."""
        rows, time, count, until = self._events(state, arrived["input"], span)
        if len(time) == 0:
            return emitted(self._answer_schema().empty_table(), time, count, self.emit)
        groups, group = group_rows(rows, self.keys)
        placed = instants(groups.count, group, time)
        step = _Step(state, rows, count, until, groups, placed)
        exists, values = self._evaluate(step)
        return self._answer(step, exists, values)

    def _events(
        self, state: Scope, arrived: pa.Table, span: Span
    ) -> tuple[pa.Table, Ints, Ints, Ints | None]:
        if self.port.form is not Form.LIFETIMES:
            happened = events(state, "input", self.port, arrived, span)
            return happened.rows, happened.time, happened.count, None
        calendar = keep(state, "input", self.port, arrived, span)
        starts, ends = calendar.starting(span), calendar.ending(span)
        time = np.concatenate([ints(starts, FROM), ints(ends, UNTIL)])
        count = np.ones(len(time), np.int64)
        count[starts.num_rows :] = -1
        until = np.where(count > 0, ints(rows := concat([starts, ends]), UNTIL), 0)
        return rows, time, count, until

    # ------------------------------------------------------------------------------ evaluation

    def _evaluate(self, step: _Step) -> tuple[Bools, list[pa.Array]]:
        """Whether the group has rows, and the value of each measure, at every point."""
        placed = step.instants
        shelf = TotalsShelf(step.state, pa.schema([self.port.schema.field(k) for k in self.keys]))
        totals = shelf.load(step.groups)
        rows = placed.sums(placed.point, step.count, totals.rows)
        values: list[pa.Array] = []
        kept: dict[int, Lanes] = {}
        for number, measure in enumerate(self.measures):
            match measure.family:
                case Family.ADDITIVE if not measure.distinct:
                    counts = measure.counts(step.rows)
                    changes = _Changes(step.rows, counts, placed.point, step.count)
                    lanes = _summed(measure, changes, totals.lanes.get(number, {}), placed)
                    last = {place: lane[placed.last] for place, lane in lanes.items()}
                    kept[number] = settled(measure, last, step.groups.count)
                    values.append(value_of(measure, lanes, placed.count))
                case Family.EXTREME if step.until is not None:
                    values.append(self._extreme(step, number, measure, step.until))
                case Family.ADDITIVE | Family.EXTREME | Family.HOLISTIC:
                    values.append(self._from_bag(step, number, measure))
        shelf.store(step.groups, rows[placed.last], kept, totals.resting)
        return rows > 0, values

    def _extreme(self, step: _Step, number: int, measure: Measure, until: Ints) -> pa.Array:
        """MIN and the like over lifetimes: from the staircase, and from the rows that begin."""
        names = list(dict.fromkeys((*self.keys, *measure.needed)))
        schema = pa.schema([*(self.port.schema.field(n) for n in names), (UNTIL, pa.int64())])
        shelf = step.state.shelf(f"best{number}", schema, self.keys)
        held = shelf.load([step.groups.keys], BEGINNING)
        group = step.groups.find(held)
        resting, held, group = where(held, group < 0), where(held, group >= 0), group[group >= 0]
        begins = (step.count > 0) & measure.counts(step.rows)
        fresh = with_ints(where(step.rows, begins).select(names), **{UNTIL: until[begins]})
        point = step.instants.point[begins]
        rows = concat([held, fresh])
        group = np.concatenate([group, step.instants.group[point]])
        begin = np.concatenate([step.instants.first[group[: held.num_rows]], point])
        values, worth = best_of_lifetimes(measure, rows, group, begin, step.instants)
        shelf.store(concat([resting, where(rows, worth)]))
        return values

    def _from_bag(self, step: _Step, number: int, measure: Measure) -> pa.Array:
        """A measure over the bag of all values of its arguments."""
        placed = step.instants
        names = list(dict.fromkeys((*self.keys, *measure.needed)))
        schema = pa.schema([*(self.port.schema.field(n) for n in names), (COUNT, pa.int64())])
        shelf = step.state.shelf(f"bag{number}", schema, self.keys)
        held = shelf.load([step.groups.keys], BEGINNING)
        group = step.groups.find(held)
        resting, held, group = where(held, group < 0), where(held, group >= 0), group[group >= 0]
        mask = measure.counts(step.rows)
        came = where(step.rows, mask)
        content = bag(held, group, came, step.count[mask], placed, placed.point[mask], names)
        shelf.store(concat([resting, content.remaining(placed)]))
        match measure.family:
            case Family.EXTREME:
                return best_of_bag(measure, content, placed)
            case Family.ADDITIVE:
                return _of_distinct(measure, content, placed)
            case Family.HOLISTIC:
                return holistic_value(measure, content, placed)

    # ---------------------------------------------------------------------------------- answer

    def _answer_schema(self) -> pa.Schema:
        fields = [self.port.schema.field(key) for key in self.keys]
        return pa.schema([*fields, *(pa.field(m.name, m.type) for m in self.measures)])

    def _answer(self, step: _Step, exists: Bools, values: list[pa.Array]) -> pa.Table:
        """Where a point differs from the one before it: the old row out, the new row in."""
        placed = step.instants
        later = ~placed.starts
        differs = later & np.logical_or.reduce([~repeats(array) for array in values] or [later])
        existed = np.zeros_like(exists)
        existed[1:] = exists[:-1]
        if not values:
            differs[:] = False
        differs |= later & (exists != existed)
        comes = np.flatnonzero(differs & exists)
        goes = np.flatnonzero(differs & existed)
        source = pa.array(np.concatenate([goes - 1, comes]), pa.int64())
        at = np.concatenate([goes, comes])
        count = np.ones(len(at), np.int64)
        count[: len(goes)] = -1
        group = pa.array(placed.group[at])
        arrays = [column(step.groups.keys, key).take(group) for key in self.keys]
        arrays += [array.take(source) for array in values]
        rows = pa.Table.from_arrays(arrays, schema=self._answer_schema())
        return emitted(rows, placed.time[at], count, self.emit)


def _summed(measure: Measure, changes: _Changes, initial: Lanes, placed: Instants) -> Lanes:
    """The lanes of an additive measure at every point."""
    lanes = lanes_of(measure, changes.rows, changes.counts)
    zero = np.zeros(len(placed.first), np.int64)
    nothing = np.zeros(len(changes.point), np.int64)
    return {
        place: placed.sums(
            changes.point, lanes.get(place, nothing) * changes.count, initial.get(place, zero)
        )
        for place in sorted(initial.keys() | lanes.keys())
    }


def _of_distinct(measure: Measure, content: Bag, placed: Instants) -> pa.Array:
    """An additive measure in which equal values count once."""
    rows = take(content.items, content.item)
    every = np.ones(rows.num_rows, np.bool_)
    changes = _Changes(rows, every, content.begin, content.presence())
    return value_of(measure, _summed(measure, changes, {}, placed), placed.count)
