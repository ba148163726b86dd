"""Rows by key: a hash table whose partitions are blobs, of which a step touches only some.

Holds what a kernel keeps per key (totals of groups, counters, the last rows of a partition). The
number of partitions follows the amount of rows, so that a partition is about one blob.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field

import numpy as np
import pyarrow as pa

from cqlc.runtime.blobs import Blobs
from cqlc.runtime.columns import FOREVER, Ints, arrange, columns, concat, ints, take
from cqlc.runtime.encode import BLOB_BYTES
from cqlc.runtime.hashing import row_hashes

_PARTITION_BYTES = BLOB_BYTES // 2


@dataclass(slots=True)
class Partition:
    """The directory entry of a partition: its number, its blobs, and when a row of it is due."""

    number: int
    size: int
    due: int
    keys: list[str] = field(default_factory=list[str])


class Shelf:
    """A bag of rows found by the columns `key`; `due` may name a column of times to wake for."""

    def __init__(
        self,
        blobs: Blobs,
        schema: pa.Schema,
        key: Sequence[str],
        due: str | None,
        directory: tuple[int, list[list[object]]],
    ) -> None:
        self._blobs = blobs
        self._schema = schema
        self._key, self._due = key, due
        self._bits, entries = directory
        found = [Partition(*entry) for entry in entries]  # pyright: ignore[reportArgumentType]
        self._partitions = {partition.number: partition for partition in found}
        self._touched: set[int] = set()

    def load(self, keys: Sequence[pa.Table], time: int) -> pa.Table:
        """All rows that share a partition with one of the keys or with a row due by `time`.

        The caller gives them back with `store`, changed or not.
        """
        touched = {p.number for p in self._partitions.values() if p.due <= time}
        for table in keys:
            touched.update(np.unique(self._places(table)).tolist())
        self._touched |= touched
        parts = [self._schema.empty_table()]
        for number in sorted(touched):
            if number in self._partitions:
                parts += [self._blobs.read(key) for key in self._partitions[number].keys]
        return concat(parts)

    def load_all(self) -> pa.Table:
        """Every row; the caller gives them back with `store`."""
        return self.load([], FOREVER)

    def store(self, rows: pa.Table) -> None:
        """Replace all rows that were loaded."""
        for number in self._touched:
            self._drop(number)
        self._write(rows, self._places(rows))
        wanted = self._wanted_bits()
        if wanted > self._bits or wanted < self._bits - 3:
            everything = self.load_all()
            for number in list(self._partitions):
                self._drop(number)
            self._bits = wanted
            self._write(everything, self._places(everything))
        self._touched = set()

    def next_event(self) -> int:
        """The earliest time at which a row is due."""
        return min((p.due for p in self._partitions.values()), default=FOREVER)

    def save(self) -> tuple[int, list[list[object]]]:
        """The directory to continue from."""
        return self._bits, [list(astuple(p)) for p in self._partitions.values()]

    def _places(self, table: pa.Table) -> Ints:
        if self._bits == 0:
            return np.zeros(table.num_rows, np.int64)
        hashes = row_hashes(columns(table, self._key), table.num_rows)
        return (hashes >> np.uint64(64 - self._bits)).astype(np.int64)

    def _drop(self, number: int) -> None:
        partition = self._partitions.pop(number, None)
        if partition is not None:
            self._blobs.remove(partition.keys)

    def _write(self, rows: pa.Table, places: Ints) -> None:
        order = arrange(places)
        rows, places = take(rows, order), places[order]
        numbers, begins = np.unique(places, return_index=True)
        ends = np.append(begins, len(places))[1:]
        for number, begin, end in zip(
            numbers.tolist(), begins.tolist(), ends.tolist(), strict=True
        ):
            piece = rows.slice(begin, end - begin)
            due = int(ints(piece, self._due).min()) if self._due else FOREVER
            keys, size = self._blobs.write(piece)
            self._partitions[number] = Partition(number, size, due, keys)

    def _wanted_bits(self) -> int:
        size = sum(partition.size for partition in self._partitions.values())
        return max(size // _PARTITION_BYTES, 0).bit_length() if self._key else 0
