"""Rows as bytes: Arrow IPC behind a short header, for shuffles and for state.

A blob is four bytes of magic and format version, a CRC-32 of the rest, and an Arrow IPC stream.
Arrow keeps every type as it is (strings, NULLs, decimals, timestamps, nested values) and reads
without copying, but it does not notice flipped bits; the checksum does, so a damaged blob is an
error and never a wrong answer.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cqlc.runtime.columns import arrange, column, columns, concat, run_starts, take
from cqlc.runtime.faults import CorruptBlobError
from cqlc.runtime.hashing import row_hashes

FORMAT = 1
"""Version of the blob format; older versions stay readable, newer ones are refused."""
BLOB_BYTES = 350_000
"""How large one blob of state may be: Spark moves small values faster and large ones not at all."""
SHUFFLE_BYTES = 4_000_000
"""How much one packed row may hold on its way through a shuffle."""

ROWS_AT_ONCE = 1_000_000
"""How many rows are held in memory to be packed together."""

_MAGIC = b"CQR"
_HEADER = struct.Struct("<3sBI")
_PLAIN = pa.ipc.IpcWriteOptions()
_SMALLER = pa.ipc.IpcWriteOptions(compression="lz4")

END = "_end"
"""Marks rows that stand for the end of an input: they carry a time and nothing else."""
BUCKET, SIDE, COUNT, BLOB = "bucket", "side", "n", "blob"
PACKED_DDL = "bucket INT, side STRING, n BIGINT, blob BINARY"
"""The schema of packed rows, as Spark writes it."""
_PACKED = pa.schema(
    [(BUCKET, pa.int32()), (SIDE, pa.string()), (COUNT, pa.int64()), (BLOB, pa.binary())]
)


def seal(body: bytes | memoryview | pa.Buffer) -> bytes:
    """Bytes with the header that lets `unseal` trust them."""
    return _HEADER.pack(_MAGIC, FORMAT, zlib.crc32(body)) + bytes(body)


def unseal(blob: bytes, origin: str) -> memoryview:
    """The bytes given to `seal`; `origin` names them in the error if they are damaged."""
    if len(blob) < _HEADER.size:
        raise CorruptBlobError(f"{origin}: {len(blob)} bytes are too few for what cqlc wrote")
    magic, version, checksum = _HEADER.unpack_from(blob)
    body = memoryview(blob)[_HEADER.size :]
    if magic != _MAGIC:
        raise CorruptBlobError(f"{origin}: these bytes were not written by cqlc")
    if version > FORMAT:
        raise CorruptBlobError(
            f"{origin}: written in blob format {version}, this cqlc reads up to {FORMAT}; "
            "use the version that wrote the checkpoint, or a newer one"
        )
    if zlib.crc32(body) != checksum:
        raise CorruptBlobError(
            f"{origin}: the checksum does not match, the bytes were damaged after they were "
            "written; restore the checkpoint from a copy or start with a new one"
        )
    return body


def encode(table: pa.Table, *, compress: bool = True) -> bytes:
    """A table as a blob."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=_SMALLER if compress else _PLAIN) as writer:
        writer.write_table(table)
    return seal(sink.getvalue())


def decode(blob: bytes, origin: str) -> pa.Table:
    """The table a blob was made of."""
    with pa.ipc.open_stream(pa.py_buffer(unseal(blob, origin))) as reader:
        return reader.read_all().combine_chunks()


def slices(table: pa.Table, limit: int) -> Iterator[pa.Table]:
    """The table cut into pieces of about `limit` bytes, at least one row each."""
    rows = table.num_rows
    size = table.nbytes if rows else 0
    per_piece = rows if size <= limit else max(1, int(rows * limit / size))
    for begin in range(0, rows, max(per_piece, 1)):
        yield table.slice(begin, per_piece)


def pack(
    batches: Iterable[pa.RecordBatch], side: str, key: Sequence[str], buckets: int
) -> Iterator[pa.RecordBatch]:
    """Few fat rows for many thin ones, one or more per bucket: the body of a `mapInArrow`.

    Rows with equal keys are in one bucket; without a key there is only one. Rows marked in a
    column `_end` only move the watermark and are left out here.
    """
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= ROWS_AT_ONCE:
            yield _pack(pa.Table.from_batches(held), side, key, buckets)
            held, count = [], 0
    if count:
        yield _pack(pa.Table.from_batches(held), side, key, buckets)


def _pack(rows: pa.Table, side: str, key: Sequence[str], buckets: int) -> pa.RecordBatch:
    rows = rows.combine_chunks()
    if END in rows.column_names:
        ends = pc.fill_null(column(rows, END), False)
        rows = rows.drop_columns([END]).filter(pc.invert(ends)).combine_chunks()
    hashes = row_hashes(columns(rows, key), rows.num_rows)
    place = (hashes % np.uint64(buckets)).astype(np.int64)
    order = arrange(place)
    rows, place = take(rows, order), place[order]
    begins = np.flatnonzero(run_starts(place))
    ends = np.append(begins, len(place))[1:]
    packed: list[tuple[int, int, bytes]] = []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        for piece in slices(rows.slice(begin, end - begin), SHUFFLE_BYTES):
            packed.append((int(place[begin]), piece.num_rows, encode(piece)))
    return packed_batch(packed, side)


def packed_batch(rows: list[tuple[int, int, bytes]], side: str) -> pa.RecordBatch:
    """Packed rows (bucket, count, blob) as Arrow."""
    return pa.RecordBatch.from_arrays(
        [
            pa.array([bucket for bucket, _, _ in rows], pa.int32()),
            pa.array([side] * len(rows), pa.string()),
            pa.array([count for _, count, _ in rows], pa.int64()),
            pa.array([blob for _, _, blob in rows], pa.binary()),
        ],
        schema=_PACKED,
    )


def unpack(batches: Iterable[pa.RecordBatch], origin: str) -> Iterator[pa.RecordBatch]:
    """The rows inside the blobs of packed rows: the body of a `mapInArrow`."""
    for batch in batches:
        for blob in batch.column(batch.schema.get_field_index(BLOB)):
            yield from decode(blob.as_py(), origin).to_batches()


def gather(blobs: Iterable[bytes], schema: pa.Schema, origin: str) -> pa.Table:
    """All rows of some blobs as one table of `schema`."""
    tables = [decode(blob, origin).select(schema.names).cast(schema) for blob in blobs]
    return concat(tables) if tables else schema.empty_table()
