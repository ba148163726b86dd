"""MIN, MAX and their relatives: the best row of every group at every point.

Over lifetimes the state is the staircase of rows that no better row outlives (for MAX the rows
not dominated by a larger, later-expiring one; Golab, section 2.2.2), usually a few per group. With
deletions any row may become the best, so the state is the whole bag.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cqlc.runtime.bags import Bag
from cqlc.runtime.columns import (
    UNTIL,
    Bools,
    Ints,
    arrange,
    column,
    ints,
    row_ranks,
    run_starts,
    take,
)
from cqlc.runtime.instants import Instants
from cqlc.runtime.measures import Measure
from cqlc.runtime.selection import greatest_cover

_LEAST = ("MIN", "MIN_BY", "FIRST", "ANY_VALUE")


def goodness(measure: Measure, rows: pa.Table) -> Ints:
    """A number for each row: the greatest is the one the measure takes its value from."""
    keys = [measure.order] if measure.order is not None else []
    names = [*keys, *reversed(measure.arguments)]
    rank, size = row_ranks([column(rows, name) for name in names])
    return size - 1 - rank if measure.function in _LEAST else rank


def best_of_lifetimes(
    measure: Measure, rows: pa.Table, group: Ints, begin: Ints, instants: Instants
) -> tuple[pa.Array, Bools]:
    """The value at each point, and which rows are worth keeping for after the step.

    Rows begin at points `begin` and end at their `_until`.
    """
    until = ints(rows, UNTIL)
    good = goodness(measure, rows)
    end = instants.reaching(group, until)
    values = _pick(measure, rows, good, begin, end, instants)
    survives = end > instants.last[group]
    return values, _undominated(group, until, good, survives)


def best_of_bag(measure: Measure, held: Bag, instants: Instants) -> pa.Array:
    """The value at each point of bags that change."""
    present = held.present()
    item = held.item[present]
    good = goodness(measure, held.items)
    best = greatest_cover(held.begin[present], held.end[present], good[item], instants.count)
    return _values(measure, held.items, good, best)


def _pick(
    measure: Measure, rows: pa.Table, good: Ints, begin: Ints, end: Ints, instants: Instants
) -> pa.Array:
    return _values(measure, rows, good, greatest_cover(begin, end, good, instants.count))


def _values(measure: Measure, rows: pa.Table, good: Ints, best: Ints) -> pa.Array:
    """The argument of a row of the best goodness; NULL where there is none (-1)."""
    owner = np.zeros(int(good.max(initial=0)) + 1, np.int64)
    owner[good] = np.arange(len(good))
    places = pa.array(owner[np.maximum(best, 0)], pa.int64(), mask=best < 0)
    if rows.num_rows == 0:
        return pa.nulls(len(best), measure.type)
    return column(rows, measure.arguments[0]).take(places).cast(measure.type)


def _undominated(group: Ints, until: Ints, good: Ints, alive: Bools) -> Bools:
    """The living rows of which no other living row of the group is as good and lives as long."""
    living = np.flatnonzero(alive)
    order = living[arrange(group[living], -until[living], -good[living])]
    base = np.cumsum(run_starts(group[order])) * (int(good.max(initial=0)) + 1)
    level = base + good[order]
    better = np.maximum.accumulate(level)
    keeps = np.ones(len(order), np.bool_)
    keeps[1:] = level[1:] > better[:-1]
    mask = np.zeros(len(group), np.bool_)
    mask[order[keeps]] = True
    return mask


def keep_rows(rows: pa.Table, mask: Bools) -> pa.Table:
    """The rows worth keeping."""
    return take(rows, np.flatnonzero(mask))
