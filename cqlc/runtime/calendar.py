"""The calendar queue: rows with a beginning and an end, in immutable chunks sorted by beginning.

After Golab's state buffers for weak non-monotonic plans (thesis, section 3.5.2; the queue itself
is R. Brown's, CACM 1988), with chunks for partitions: a row is written once, only chunks that
overlap the wanted time are read, and what has ended leaves with its chunk. Rows whose time has not
come yet wait in the same chunks, so being held back costs no second write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from enum import Enum

import numpy as np
import pyarrow as pa

from cqlc.runtime.blobs import Blobs
from cqlc.runtime.columns import FOREVER, Bools, Ints, arrange, concat, ints, take, where
from cqlc.runtime.encode import BLOB_BYTES, slices


@dataclass(slots=True)
class Chunk:
    """The directory entry of a chunk: where it is, and which times it covers.

    `next_begin` and `next_end` are the earliest ones that have not been handed out; `struck` counts
    rows that are not needed any more although they have not ended.
    """

    key: str
    rows: int
    size: int
    first: int
    last_begin: int
    last_end: int
    next_begin: int
    next_end: int
    struck: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """A step: the times after `low`, up to and including `high`."""

    low: int
    high: int


class Use(Enum):
    """Why rows are kept, which decides when they leave and what the calendar wakes for."""

    QUEUE = "until they begin"
    EVENTS = "until they end, which is an event"
    STATE = "until they end, which nobody waits for"


class Calendar:
    """Rows ordered by the column `begin`, kept until the column `end` has passed."""

    def __init__(
        self,
        blobs: Blobs,
        schema: pa.Schema,
        use: Use,
        times: tuple[str, str],
        directory: list[list[object]],
    ) -> None:
        self._blobs = blobs
        self._schema = schema
        self._use = use
        self._begin, self._end = times
        self._chunks = [Chunk(*entry) for entry in directory]  # pyright: ignore[reportArgumentType]
        self._tables: dict[str, pa.Table] = {}
        self._fresh: list[tuple[pa.Table, Ints, Ints]] = []

    def add(self, rows: pa.Table) -> None:
        """Take in rows, in any order."""
        begin = ints(rows, self._begin)
        order = arrange(begin)
        rows = rows if _ascending(begin) else take(rows, order)
        self._fresh.append((rows, begin[order], ints(rows, self._end)))

    def starting(self, span: Span) -> pa.Table:
        """The rows that begin in the span."""
        parts = [self.none()]
        for chunk in self._chunks:
            if chunk.next_begin <= span.high:
                table = self._load(chunk)
                begin = ints(table, self._begin)
                parts.append(_between(table, begin, span))
        parts += [_between(rows, begin, span) for rows, begin, _ in self._fresh]
        return concat(parts)

    def ending(self, span: Span) -> pa.Table:
        """The rows that end in the span."""
        parts = [self.none()]
        for chunk in self._chunks:
            if chunk.next_end <= span.high:
                table = self._load(chunk)
                end = ints(table, self._end)
                parts.append(_between(table, end, span))
        parts += [_between(rows, end, span) for rows, _, end in self._fresh]
        return concat(parts)

    def alive(self, time: int) -> pa.Table:
        """The rows that have begun at `time` and not ended."""
        parts = [self.none()]
        for chunk in self._chunks:
            if chunk.first <= time < chunk.last_end:
                table = self._load(chunk)
                begin, end = ints(table, self._begin), ints(table, self._end)
                parts.append(where(table, (begin <= time) & (time < end)))
        parts += [where(t, (b <= time) & (time < e)) for t, b, e in self._fresh]
        return concat(parts)

    def none(self) -> pa.Table:
        """No rows."""
        return self._schema.empty_table()

    def oldest_first(self) -> Iterator[tuple[list[Chunk], pa.Table]]:
        """All stored rows, in ever larger helpings, to be read until enough was found."""
        chunks = sorted(self._chunks, key=lambda chunk: chunk.first)
        helping = 1
        while chunks:
            some, chunks = chunks[:helping], chunks[helping:]
            yield some, concat([self._load(chunk) for chunk in some])
            helping *= 2

    def strike(self, chunks: list[Chunk], unneeded: Bools) -> None:
        """Note which rows of some chunks, as `oldest_first` gave them, are not needed any more."""
        begin = 0
        for chunk in chunks:
            chunk.struck += int(unneeded[begin : begin + chunk.rows].sum())
            begin += chunk.rows

    def reclaim(self) -> pa.Table:
        """Take out the chunks of which most rows are struck, to add again what is needed."""
        spoilt = [chunk for chunk in self._chunks if 2 * chunk.struck > chunk.rows]
        self._chunks = [chunk for chunk in self._chunks if 2 * chunk.struck <= chunk.rows]
        tables = [self._load(chunk) for chunk in spoilt]
        self._blobs.remove([chunk.key for chunk in spoilt])
        return concat([self.none(), *tables])

    def quiet(self, span: Span) -> bool:
        """Whether no row begins or ends in the span."""
        times = [min(chunk.next_begin, chunk.next_end) for chunk in self._chunks]
        times += [int(begin[0]) for _, begin, _ in self._fresh if len(begin)]
        return min(times, default=FOREVER) > span.high

    def next_event(self) -> int:
        """The earliest time after the last `save` at which rows begin, end or can be dropped."""
        times = [chunk.next_begin for chunk in self._chunks]
        match self._use:
            case Use.QUEUE:
                pass
            case Use.EVENTS:
                times += [chunk.next_end for chunk in self._chunks]
            case Use.STATE:
                times += [chunk.last_end for chunk in self._chunks]
        return min(times, default=FOREVER)

    def save(self, time: int) -> list[list[object]]:
        """Forget what ended by `time`, write the rest; the directory to continue from."""
        kept: list[Chunk] = []
        fresh = [where(rows, self._needed(begin, end, time)) for rows, begin, end in self._fresh]
        for chunk in self._chunks:
            if max(chunk.last_begin, chunk.last_end) <= time:
                self._blobs.remove([chunk.key])
            elif self._mostly_ended(chunk, time):
                fresh.append(self._withdraw(chunk, time))
            else:
                kept.append(self._refreshed(chunk, time))
        rows = sum(table.num_rows for table in fresh)
        while rows and kept and _small(kept[-1], rows):
            fresh.append(self._withdraw(chunk := kept.pop(), time))
            rows += chunk.rows
        self._fresh = []
        self._chunks = kept + self._write(concat([self.none(), *fresh]), time)
        return [list(astuple(chunk)) for chunk in self._chunks]

    def _needed(self, begin: Ints, end: Ints, time: int) -> Bools:
        return np.maximum(begin, end) > time

    def _refreshed(self, chunk: Chunk, time: int) -> Chunk:
        """The entry with its next times after `time`; a chunk not in memory has none before."""
        table = self._tables.get(chunk.key)
        if table is not None:
            chunk.next_begin = _after(ints(table, self._begin), time)
            chunk.next_end = _after(ints(table, self._end), time)
        return chunk

    def _mostly_ended(self, chunk: Chunk, time: int) -> bool:
        """Whether a chunk that is in memory anyway holds more dead rows than live ones."""
        table = self._tables.get(chunk.key)
        if table is None:
            return False
        alive = self._needed(ints(table, self._begin), ints(table, self._end), time)
        return 2 * int(alive.sum()) < chunk.rows

    def _withdraw(self, chunk: Chunk, time: int) -> pa.Table:
        table = self._load(chunk)
        self._blobs.remove([chunk.key])
        needed = self._needed(ints(table, self._begin), ints(table, self._end), time)
        return where(table, needed)

    def _write(self, rows: pa.Table, time: int) -> list[Chunk]:
        begin = ints(rows, self._begin)
        if not _ascending(begin):
            rows = take(rows, arrange(begin))
        chunks: list[Chunk] = []
        for piece in slices(rows, BLOB_BYTES):
            (key, *_), size = self._blobs.write(piece)
            begin, end = ints(piece, self._begin), ints(piece, self._end)
            first, last = int(begin[0]), int(begin[-1])
            ends = int(end.max())
            nexts = _after(begin, time), _after(end, time)
            chunks.append(Chunk(key, piece.num_rows, size, first, last, ends, *nexts))
        return chunks

    def _load(self, chunk: Chunk) -> pa.Table:
        if chunk.key not in self._tables:
            self._tables[chunk.key] = self._blobs.read(chunk.key)
        return self._tables[chunk.key]


def _small(chunk: Chunk, rows: int) -> bool:
    """Whether a chunk is worth writing again together with so many new rows."""
    return chunk.rows <= 2 * rows and chunk.size < BLOB_BYTES // 2 and not chunk.struck


def _ascending(times: Ints) -> bool:
    return bool((times[1:] >= times[:-1]).all())


def _between(table: pa.Table, times: Ints, span: Span) -> pa.Table:
    if _ascending(times):
        low, high = np.searchsorted(times, [span.low, span.high], side="right").tolist()
        return table.slice(low, high - low)
    return where(table, (times > span.low) & (times <= span.high))


def _after(times: Ints, time: int) -> int:
    """The earliest of the times after `time`."""
    later = times[times > time]
    return int(later.min()) if len(later) else FOREVER
