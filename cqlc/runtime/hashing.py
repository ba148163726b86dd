"""A 64-bit hash of rows that is the same in every process and every version: part of the state
format, since it decides which blob of a shelf holds a key.

Numbers go through the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014); bytes of strings
are summed with powers of an odd constant, which vectorises.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from cqlc.runtime.columns import decimal_words

Hashes: TypeAlias = npt.NDArray[np.uint64]

_NULL = np.uint64(0x9E3779B97F4A7C15)
_POWER = np.uint64(0x100000001B3)
_CHAIN = np.uint64(31)


def row_hashes(arrays: Sequence[pa.Array], rows: int) -> Hashes:
    """The hashes of the rows of some arrays; equal rows have equal hashes."""
    total = np.zeros(rows, np.uint64)
    for array in arrays:
        total = _mix(total * _CHAIN + _array_hashes(array))
    return total


def _mix(values: Hashes) -> Hashes:
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _array_hashes(array: pa.Array) -> Hashes:
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), _NULL, np.uint64)
    if pa.types.is_struct(kind):
        parts = [array.field(i) for i in range(kind.num_fields)]
        hashes = row_hashes(parts, len(array))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        hashes = _sequence_hashes(_array_hashes(array.flatten()), lengths.astype(np.int64))
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        hashes = _bytes_hashes(array)
    else:
        hashes = _mix(_bits(array))
    if array.null_count:
        absent = array.is_null().to_numpy(zero_copy_only=False)
        hashes = np.where(absent, _NULL, hashes)
    return hashes


def _bits(array: pa.Array) -> Hashes:
    """The value of a fixed-width array as bits; NULLs are whatever."""
    kind = array.type
    if pa.types.is_decimal(kind):
        words = decimal_words(array.cast(pa.decimal128(38, kind.scale))).view(np.uint64)
        return _mix(words[:, 0]) + words[:, 1]
    if pa.types.is_floating(kind):
        numbers = pc.fill_null(array.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False) + 0.0
        numbers = np.where(np.isnan(numbers), np.nan, numbers)
        return numbers.view(np.uint64)
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif pa.types.is_date32(kind):
        array = array.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        array = array.cast(pa.int64())
    filled = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
    return filled.astype(np.int64).view(np.uint64)


def _bytes_hashes(array: pa.Array) -> Hashes:
    lengths = pc.fill_null(pc.binary_length(array), 0).to_numpy(zero_copy_only=False)
    total = int(lengths.sum())
    if total == 0:
        return _sequence_hashes(np.zeros(0, np.uint64), lengths.astype(np.int64))
    plain = pc.fill_null(array.cast(pa.binary()), b"")
    begin = int(np.frombuffer(memoryview(plain.buffers()[1]), np.int32)[plain.offset])
    letters = np.frombuffer(memoryview(plain.buffers()[2]), np.uint8)[begin : begin + total]
    return _sequence_hashes(letters.astype(np.uint64), lengths.astype(np.int64))


def _sequence_hashes(parts: Hashes, lengths: npt.NDArray[np.int64]) -> Hashes:
    """The hash of each run of parts: their sum weighted by powers of an odd constant."""
    begin = np.cumsum(lengths) - lengths
    total = np.zeros(len(lengths), np.uint64)
    filled = lengths > 0
    if bool(filled.any()):
        place = np.arange(len(parts), dtype=np.int64) - np.repeat(begin, lengths)
        powers = np.cumprod(np.full(int(lengths.max()), _POWER, np.uint64))
        weighted = (parts + np.uint64(1)) * powers[place]
        total[filled] = np.add.reduceat(weighted, begin[filled])
    return _mix(total + lengths.astype(np.uint64))
