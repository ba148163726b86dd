"""Aggregates that need every value: quantiles, frequent values, collections."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cqlc.runtime.bags import Bag
from cqlc.runtime.columns import (
    Ints,
    arrange,
    column,
    expand,
    first_at_least,
    key_codes,
    ordered_dense,
    ranks,
    row_ranks,
    run_starts,
)
from cqlc.runtime.instants import Instants
from cqlc.runtime.measures import Measure
from cqlc.runtime.selection import Changing, greatest_cover, within_groups


def holistic_value(measure: Measure, held: Bag, instants: Instants) -> pa.Array:
    """The measure's value at each point, given the bags of its arguments."""
    match measure.function:
        case "MEDIAN" | "QUANTILE":
            return _quantile(measure, held, instants)
        case "PERCENTILE_DISC":
            return _discrete_quantile(measure, held, instants)
        case "MODE":
            return _mode(measure, held, instants)
        case "TOP_K":
            return _most_frequent(measure, held, instants)
        case "COLLECT_LIST":
            return _collected(measure, held, instants)
        case "COLLECT_SET":
            return _collected(measure, held, instants, distinct=True)
        case "STRING_AGG":
            lists = _collected(measure, held, instants)
            texts = pc.binary_join(lists, str(measure.constant or ""))
            empty = pa.array(_lengths(lists) == 0)
            return pc.if_else(empty, pa.scalar(None, pa.string()), texts)
        case _:
            raise ValueError(f"{measure.function} is not a holistic aggregate")


class _Ordered:
    """The items of the bags in the order of each group's values, to ask for the k-th smallest."""

    def __init__(self, measure: Measure, held: Bag, instants: Instants) -> None:
        rank, _ = ranks(column(held.items, measure.arguments[0]))
        local, self._item, self._base = within_groups(rank, held.group, len(instants.first))
        change = held.presence() if measure.distinct else held.change
        self._changing = Changing(instants.group, held.begin, local[held.item], change)
        self._instants = instants
        self.sizes = self._changing.sizes()

    def item(self, point: Ints, k: Ints) -> Ints:
        """Which item is the k-th smallest at a point."""
        local = self._changing.kth(point, k)
        return self._item[self._base[self._instants.group[point]] + local]


def _quantile(measure: Measure, held: Bag, instants: Instants) -> pa.Array:
    share = 0.5 if measure.function == "MEDIAN" else float(measure.constant or 0.0)
    ordered = _Ordered(measure, held, instants)
    asked = np.flatnonzero(ordered.sizes > 0)
    place = share * (ordered.sizes[asked] - 1)
    below, above = np.floor(place).astype(np.int64), np.ceil(place).astype(np.int64)
    numbers = column(held.items, measure.arguments[0]).cast(pa.float64())
    both = ordered.item(np.concatenate([asked, asked]), np.concatenate([below, above]))
    low, high = np.split(numbers.to_numpy(zero_copy_only=False)[both], 2)
    with np.errstate(invalid="ignore", over="ignore"):
        between = np.where(low == high, low, low + (high - low) * (place - below))
    return _scatter(pa.array(between, pa.float64()), asked, instants.count, measure.type)


def _discrete_quantile(measure: Measure, held: Bag, instants: Instants) -> pa.Array:
    ordered = _Ordered(measure, held, instants)
    asked = np.flatnonzero(ordered.sizes > 0)
    wanted = np.ceil(float(measure.constant or 0.0) * ordered.sizes[asked]).astype(np.int64) - 1
    item = ordered.item(asked, np.maximum(wanted, 0))
    values = column(held.items, measure.arguments[0]).take(pa.array(item, pa.int64()))
    return _scatter(values, asked, instants.count, measure.type)


def _scatter(values: pa.Array, points: Ints, count: int, kind: pa.DataType) -> pa.Array:
    """Values at some points, NULL at the others."""
    places = np.zeros(count, np.int64)
    places[points] = np.arange(len(points))
    absent = np.ones(count, np.bool_)
    absent[points] = False
    if len(points) == 0:
        return pa.nulls(count, kind)
    return values.take(pa.array(places, pa.int64(), mask=absent)).cast(kind)


# ----------------------------------------------------------------------------------- frequency


def _mode(measure: Measure, held: Bag, instants: Instants) -> pa.Array:
    present = held.present()
    item = held.item[present]
    count = np.minimum(held.count[present], 1) if measure.distinct else held.count[present]
    rank, size = ranks(column(held.items, measure.arguments[0]))
    good, _ = ordered_dense(count * max(size, 1) + (size - 1 - rank[item]))
    best = greatest_cover(held.begin[present], held.end[present], good, instants.count)
    owner = np.zeros(int(good.max(initial=0)) + 1, np.int64)
    owner[good] = item
    if len(good) == 0:
        return pa.nulls(instants.count, measure.type)
    places = pa.array(owner[np.maximum(best, 0)], pa.int64(), mask=best < 0)
    return column(held.items, measure.arguments[0]).take(places).cast(measure.type)


def _most_frequent(measure: Measure, held: Bag, instants: Instants) -> pa.Array:
    """Each segment of constant count is an item of its own, ordered by falling count and value."""
    present = np.flatnonzero(held.present())
    item, begin, end = held.item[present], held.begin[present], held.end[present]
    count = np.minimum(held.count[present], 1) if measure.distinct else held.count[present]
    rank, size = ranks(column(held.items, measure.arguments[0]))
    group = held.group[item]
    order, _, _ = within_groups(-count * max(size, 1) + rank[item], group, len(instants.first))
    leaves = end <= instants.last[group]
    changing = Changing(
        instants.group,
        np.concatenate([begin, end[leaves]]),
        np.concatenate([order, order[leaves]]),
        np.concatenate([np.ones(len(begin), np.int64), np.full(int(leaves.sum()), -1)]),
    )
    wanted = np.minimum(changing.sizes(), max(int(measure.constant or 0), 0))
    point, k = expand(np.zeros(instants.count, np.int64), wanted)
    wanted_order = changing.kth(point, k)
    found = _segment_at((group, order, begin), (instants.group[point], wanted_order, point))
    value = column(held.items, measure.arguments[0]).take(pa.array(item[found], pa.int64()))
    kind = measure.type.value_type
    pairs = pa.StructArray.from_arrays(
        [value.cast(kind.field(0).type), pa.array(count[found], kind.field(1).type)],
        fields=[kind.field(0), kind.field(1)],
    )
    return _lists(pairs, wanted, measure.type)


def _segment_at(segments: tuple[Ints, Ints, Ints], asked: tuple[Ints, Ints, Ints]) -> Ints:
    """Which segment (group, order, begin) covers a point; those of equal order do not overlap."""
    sort = arrange(*segments)
    group, order, point = asked
    after = first_at_least(tuple(key[sort] for key in segments), (group, order, point + 1))
    return sort[after - 1]


# --------------------------------------------------------------------------------- collections


def _collected(
    measure: Measure, held: Bag, instants: Instants, *, distinct: bool = False
) -> pa.Array:
    """The values at each point in order; of equal ones only the first if `distinct`."""
    distinct = distinct or measure.distinct
    segments = np.flatnonzero(held.present())
    segment, point = expand(held.begin[segments], held.end[segments] - held.begin[segments])
    item = held.item[segments][segment]
    if not distinct:
        copies = held.count[segments][segment]
        item, point = np.repeat(item, copies), np.repeat(point, copies)
    names = [*([measure.order] if measure.order else []), measure.arguments[0]]
    rank, _ = row_ranks([column(held.items, name) for name in names])
    order = arrange(point, rank[item])
    item, point = item[order], point[order]
    if distinct and measure.order is not None:
        value, _ = key_codes(held.items, measure.arguments[:1])
        again = arrange(point, value[item])
        first = np.sort(again[run_starts(point[again], value[item][again])])
        item, point = item[first], point[first]
    lengths = np.bincount(point, minlength=instants.count).astype(np.int64)
    values = column(held.items, measure.arguments[0]).take(pa.array(item, pa.int64()))
    if measure.function == "STRING_AGG":
        return _lists(values, lengths, pa.list_(pa.string()))
    return _lists(values.cast(measure.type.value_type), lengths, measure.type)


def _lists(values: pa.Array, lengths: Ints, kind: pa.DataType) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values).cast(kind)


def _lengths(lists: pa.Array) -> Ints:
    return pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
