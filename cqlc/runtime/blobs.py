"""Where the rows of a state live: a store of bytes by key, such as Spark's `MapState`."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from cqlc.runtime.encode import BLOB_BYTES, decode, encode, slices
from cqlc.runtime.faults import BucketTooLargeError

MEMORY_LIMIT = 1 << 30
"""How many bytes of rows one bucket may hold in memory during a step, unless told otherwise."""


class Store(Protocol):
    """Bytes by key; what Spark keeps for one bucket."""

    def get(self, key: str) -> bytes | None:
        """The bytes under a key."""
        ...

    def put(self, key: str, blob: bytes) -> None:
        """Replace the bytes under a key."""
        ...

    def remove(self, key: str) -> None:
        """Forget a key."""
        ...


class MemoryStore:
    """A store in a dictionary, which counts what goes through it."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.written = 0
        self.read = 0

    def get(self, key: str) -> bytes | None:
        """The bytes under a key."""
        blob = self.blobs.get(key)
        self.read += len(blob or b"")
        return blob

    def put(self, key: str, blob: bytes) -> None:
        """Replace the bytes under a key."""
        self.written += len(blob)
        self.blobs[key] = blob

    def remove(self, key: str) -> None:
        """Forget a key."""
        del self.blobs[key]


@dataclass(frozen=True, slots=True)
class Identity:
    """Which operator a state belongs to: for messages, and to refuse the state of another one."""

    name: str
    fingerprint: str = ""
    memory_limit: int = MEMORY_LIMIT


@dataclass(slots=True)
class Blobs:
    """Tables in a store: fresh keys, size limits, errors that name the operator.

    Keys are never used twice, also not by a task that is tried again: a blob never changes.
    """

    store: Store
    identity: Identity
    _prefix: str = field(default_factory=lambda: secrets.token_hex(5))
    _used: int = 0
    _held: int = 0

    def write(self, rows: pa.Table) -> tuple[list[str], int]:
        """Store rows under new keys, in order; the keys, and how many bytes they hold."""
        keys: list[str] = []
        size = 0
        for piece in slices(rows, BLOB_BYTES):
            key = f"{self._prefix}{self._used:x}"
            self._used += 1
            blob = encode(piece)
            self.store.put(key, blob)
            keys.append(key)
            size += len(blob)
        return keys, size

    def read(self, key: str) -> pa.Table:
        """The rows under a key."""
        table = decode(self.store.get(key) or b"", f"state of {self.identity.name}, blob {key}")
        self.hold(table.nbytes)
        return table

    def hold(self, size: int) -> None:
        """Account for rows in memory; too many are an error the user can act on."""
        self._held += size
        if self._held > self.identity.memory_limit:
            raise BucketTooLargeError(
                f"one bucket of {self.identity.name} needs more than "
                f"{self.identity.memory_limit:,} bytes in memory; use more buckets if its key has "
                "many values, a shorter window or a finer key if it has few, or raise the limit"
            )

    def remove(self, keys: Iterable[str]) -> None:
        """Forget some keys."""
        for key in keys:
            self.store.remove(key)
