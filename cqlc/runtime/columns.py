"""Vectorised building blocks on Arrow and numpy columns: equality, order, runs and expansion.

Rows are Arrow tables; positions, times, counts and codes are numpy `int64`. Nothing here looks at
one row at a time. NULL equals NULL and is smaller than every value, NaN equals NaN and is larger
than every number, and -0.0 equals 0.0, as in the reference semantics.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

FROM, UNTIL, VISIBLE = "_from", "_until", "_visible"
TIME, OP = "_time", "_op"
HIDDEN = (FROM, UNTIL, VISIBLE, TIME, OP)
"""The columns that carry time and multiplicity instead of data."""

FOREVER = 2**63 - 1
"""The end of a lifetime that has none."""
BEGINNING = -(2**63)
"""Before every time: the frontier of an operator that has seen nothing."""


# ------------------------------------------------------------------------------------- tables


def column(table: pa.Table, name: str) -> pa.Array:
    """A column as one contiguous array."""
    chunked = table.column(name)
    return chunked.chunk(0) if chunked.num_chunks == 1 else chunked.combine_chunks()


def columns(table: pa.Table, names: Iterable[str]) -> list[pa.Array]:
    """Several columns as contiguous arrays."""
    return [column(table, name) for name in names]


def ints(table: pa.Table, name: str) -> Ints:
    """A column of 64-bit integers without NULLs, as numpy."""
    return column(table, name).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def decimal_words(array: pa.Array) -> npt.NDArray[np.int64]:
    """The low and the high half of each value of a `decimal128` array, as two columns."""
    if len(array) == 0:
        return np.zeros((0, 2), np.int64)
    words = np.frombuffer(memoryview(array.buffers()[1]), np.int64)
    return words[2 * array.offset : 2 * (array.offset + len(array))].reshape(-1, 2)


def with_ints(table: pa.Table, **values: Ints) -> pa.Table:
    """The table with columns of integers set, new ones at the end."""
    for name, array in values.items():
        place = table.schema.get_field_index(name)
        filled = pa.array(array, pa.int64())
        if place < 0:
            table = table.append_column(name, filled)
        else:
            table = table.set_column(place, name, filled)
    return table


def data_names(table: pa.Table) -> list[str]:
    """The names of the columns that are data."""
    return [name for name in table.column_names if name not in HIDDEN]


def payload(table: pa.Table) -> pa.Table:
    """The data columns alone."""
    return table.select(data_names(table))


def take(table: pa.Table, places: Ints) -> pa.Table:
    """The rows at some positions, in that order."""
    return table.take(pa.array(places, pa.int64()))


def where(table: pa.Table, mask: Bools) -> pa.Table:
    """The rows for which the mask is true."""
    return table if bool(mask.all()) else table.take(pa.array(np.flatnonzero(mask), pa.int64()))


def concat(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of one schema below each other, contiguous."""
    if len(tables) == 1:
        return tables[0].combine_chunks()
    return pa.concat_tables(tables).combine_chunks()


def nulls(schema: pa.Schema, rows: int) -> pa.Table:
    """A table of NULLs."""
    return pa.Table.from_arrays([pa.nulls(rows, field.type) for field in schema], schema=schema)


# ----------------------------------------------------------------------------------- equality


def codes(arrays: Sequence[pa.Array]) -> tuple[Ints, int]:
    """Dense numbers that are equal exactly for equal rows of the arrays, and how many there are."""
    if not arrays:
        raise ValueError("codes of no columns have no length; use constant_codes")
    coded, size = _array_codes(arrays[0])
    for array in arrays[1:]:
        more, more_size = _array_codes(array)
        coded, size = dense(coded * max(more_size, 1) + more)
    return coded, size


def key_codes(table: pa.Table, names: Sequence[str]) -> tuple[Ints, int]:
    """`codes` of some columns of a table; without columns all rows are equal."""
    if not names:
        return np.zeros(table.num_rows, np.int64), min(table.num_rows, 1)
    return codes(columns(table, names))


def dense(values: Ints) -> tuple[Ints, int]:
    """The same equalities with the numbers 0, 1, ... in order of first appearance."""
    encoded = pc.dictionary_encode(pa.array(values, pa.int64()))
    return _indices(encoded), len(encoded.dictionary)


def _array_codes(array: pa.Array) -> tuple[Ints, int]:
    kind = array.type
    if pa.types.is_nested(kind):
        return _nested(array, ordered=False)
    if pa.types.is_null(kind):
        return np.zeros(len(array), np.int64), min(len(array), 1)
    if pa.types.is_floating(kind):
        array = pc.add(array, pa.scalar(0.0, kind))  # -0.0 becomes 0.0
        array = pc.if_else(pc.is_nan(array), pa.scalar(math.nan, kind), array)
    encoded = pc.dictionary_encode(array, null_encoding="encode")
    return _indices(encoded), len(encoded.dictionary)


def _indices(encoded: pa.DictionaryArray) -> Ints:
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


# -------------------------------------------------------------------------------------- order


def ranks(array: pa.Array) -> tuple[Ints, int]:
    """Dense numbers in the order of the values, equal for equal values, and how many there are."""
    kind = array.type
    if pa.types.is_nested(kind):
        return _nested(array, ordered=True)
    coded, size = _array_codes(array)
    if size <= 1:
        return coded, size
    first = np.zeros(size, np.int64)
    first[coded[::-1]] = np.arange(len(coded) - 1, -1, -1)
    distinct = array.take(pa.array(first))
    order = _distinct_order(distinct)
    position = np.empty(size, np.int64)
    position[order] = np.arange(size)
    return position[coded], size


def _distinct_order(values: pa.Array) -> Ints:
    """Where the sorted values come from: NULL first, NaN last."""
    placed = pc.array_sort_indices(values, null_placement="at_start")
    order = placed.to_numpy(zero_copy_only=False).astype(np.int64)
    if not pa.types.is_floating(values.type):
        return order
    odd = pc.fill_null(pc.is_nan(values), False).to_numpy(zero_copy_only=False)[order]
    return np.concatenate([order[~odd], order[odd]])


def row_ranks(arrays: Sequence[pa.Array]) -> tuple[Ints, int]:
    """Dense numbers in the lexicographic order of the rows of the arrays."""
    ranked, size = ranks(arrays[0])
    for array in arrays[1:]:
        more, more_size = ranks(array)
        ranked, size = ordered_dense(ranked * max(more_size, 1) + more)
    return ranked, size


def ordered_dense(values: Ints) -> tuple[Ints, int]:
    """The same order with the numbers 0, 1, ..."""
    order = arrange(values)
    number = np.cumsum(run_starts(values[order])) - 1
    result = np.empty(len(values), np.int64)
    result[order] = number
    return result, int(number[-1]) + 1 if len(number) else 0


def _nested(array: pa.Array, *, ordered: bool) -> tuple[Ints, int]:
    """Codes or ranks of lists and structs: by parts, as many rounds as the longest has parts."""
    step = ranks if ordered else _array_codes
    combine = ordered_dense if ordered else dense
    present = array.is_valid().to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_struct(array.type):
        parts = [array.field(i) for i in range(array.type.num_fields)]
        coded = present
        for part in parts:
            more, size = step(part)
            coded, _ = combine(coded * max(size, 1) + np.where(present > 0, more, 0))
        return combine(coded)
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    lengths = lengths.astype(np.int64)
    flat = array.flatten()  # leaves out what NULL lists may hide
    inner, size = step(flat) if len(flat) else (np.zeros(0, np.int64), 0)
    begin = np.cumsum(lengths) - lengths
    coded = present
    for place in range(int(lengths.max(initial=0))):
        more = np.zeros(len(array), np.int64)  # a list that has ended is before any that goes on
        reaches = lengths > place
        more[reaches] = inner[begin[reaches] + place] + 1
        coded, _ = combine(coded * (size + 1) + more)
    return combine(coded)


def arrange(*keys: Ints) -> Ints:
    """The positions that sort rows by some keys, the first one foremost; equal rows keep order.

    Keys are packed with the position into one integer, so that sorting moves plain numbers.
    """
    rows = len(keys[0])
    order: Ints | None = None
    pending: list[tuple[Ints, int]] = []
    place_bits = max(rows - 1, 1).bit_length()
    used = place_bits
    for key in reversed(keys):
        low, high = (int(key.min()), int(key.max())) if rows else (0, 0)
        width = (high - low).bit_length()
        if width + place_bits > 63:
            distinct, key = np.unique(key, return_inverse=True)
            low, width = 0, (len(distinct) - 1).bit_length()
        if used + width > 63:
            order = _packed_sort(pending, order, place_bits)
            pending, used = [], place_bits
        pending.append((key - low, width))
        used += width
    return _packed_sort(pending, order, place_bits)


def _packed_sort(keys: list[tuple[Ints, int]], before: Ints | None, place_bits: int) -> Ints:
    rows = len(keys[0][0])
    packed, shift = np.arange(rows, dtype=np.int64), place_bits
    for key, width in keys:
        if width:
            packed |= (key if before is None else key[before]) << shift
            shift += width
    if shift > place_bits and not bool((packed[1:] >= packed[:-1]).all()):
        packed = np.sort(packed)
    places = packed & ((1 << place_bits) - 1)
    return places if before is None else before[places]


def first_at_least(sorted_keys: tuple[Ints, ...], asked: tuple[Ints, ...]) -> Ints:
    """For each asked key the position of the first of the sorted ones that is not smaller.

    Merging by one sort is faster than as many binary searches, which miss the cache.
    """
    known, wanted = len(sorted_keys[0]), len(asked[0])
    both = [np.concatenate(pair) for pair in zip(asked, sorted_keys, strict=True)]
    order = arrange(*both)
    passed = np.cumsum(order >= wanted)
    place = np.empty(known + wanted, np.int64)
    place[order] = passed
    return place[:wanted]


# --------------------------------------------------------------------------------------- runs


def run_starts(*sorted_keys: Ints) -> Bools:
    """Where a row differs from the one before it in any key."""
    starts = np.ones(len(sorted_keys[0]), np.bool_)
    if len(starts) > 1:
        starts[1:] = sorted_keys[0][1:] != sorted_keys[0][:-1]
        for key in sorted_keys[1:]:
            starts[1:] |= key[1:] != key[:-1]
    return starts


def run_ends(starts: Bools) -> Bools:
    """Where a run of rows ends, given where runs start."""
    ends = np.ones(len(starts), np.bool_)
    ends[:-1] = starts[1:]
    return ends


def run_sums(values: Ints, starts: Bools) -> Ints:
    """The sum of each run."""
    if len(values) == 0:
        return values
    return np.add.reduceat(values, np.flatnonzero(starts))


def running(values: Ints, starts: Bools) -> Ints:
    """The sum of each run up to and including each row."""
    total = np.cumsum(values)
    begin = np.flatnonzero(starts)
    base = total[begin] - values[begin]
    return total - np.repeat(base, np.diff(np.append(begin, len(values))))


def expand(begin: Ints, count: Ints) -> tuple[Ints, Ints]:
    """For each range of positions all of them: which range, and which position."""
    owner = np.repeat(np.arange(len(count), dtype=np.int64), count)
    offset = np.cumsum(count) - count
    return owner, np.arange(len(owner), dtype=np.int64) - (offset - begin)[owner]


def repeat_rows(table: pa.Table, counts: Ints) -> pa.Table:
    """Every row as often as its count says."""
    if bool((counts == 1).all()):
        return table
    return take(table, np.repeat(np.arange(table.num_rows, dtype=np.int64), counts))


def repeats(array: pa.Array) -> Bools:
    """Where a value equals the one before it; never at the first."""
    same = np.zeros(len(array), np.bool_)
    if len(array) < 2:
        return same
    if pa.types.is_nested(array.type):
        code, _ = codes([array])
        same[1:] = code[1:] == code[:-1]
        return same
    before, after = array.slice(0, len(array) - 1), array.slice(1)
    equal = pc.fill_null(pc.equal(before, after), False).to_numpy(zero_copy_only=False)
    if pa.types.is_floating(array.type):
        odd = pc.fill_null(pc.is_nan(array), False).to_numpy(zero_copy_only=False)
        equal = equal | (odd[1:] & odd[:-1])
    if array.null_count:
        absent = array.is_null().to_numpy(zero_copy_only=False)
        equal = equal | (absent[1:] & absent[:-1])
    same[1:] = equal
    return same
