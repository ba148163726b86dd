"""A kernel as a stateful operator of a Spark query.

Rows are packed into fat rows per bucket before the shuffle; one `transformWithStateInPandas` calls
the kernel once per bucket and micro-batch; what it answers is unpacked again. Rows wait in state
until the watermark has passed them, so an answer does not depend on micro-batches; a bucket wakes
itself by a timer when something will happen in it. Only public PySpark API is used, so it runs on
Spark Connect too.
"""

# pyright: basic
# pandas has no types, and those of Spark's state variables are incomplete

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 (Spark's own convention)
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    MapState,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
    ValueState,
)

from cqlc.runtime.blobs import MEMORY_LIMIT, Identity
from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import FOREVER
from cqlc.runtime.encode import (
    BLOB,
    BUCKET,
    COUNT,
    END,
    PACKED_DDL,
    SHUFFLE_BYTES,
    SIDE,
    encode,
    gather,
    pack,
    slices,
    unpack,
)
from cqlc.runtime.faults import BucketTooLargeError
from cqlc.runtime.kernel import Kernel
from cqlc.runtime.state import State

ANSWER, LATE = "answer", "late"
"""What a packed row that leaves the operator holds: rows of the answer, or a count of late rows."""
_MICROS = 1000


@dataclass(frozen=True)
class Operator:
    """A kernel with a name for messages, the keys of its sides, and its number of buckets.

    Rows that must meet have equal keys. Without keys everything is in one bucket. The fingerprint
    stands for everything the state depends on; a checkpoint with another one is refused.
    """

    name: str
    kernel: Kernel
    keys: Mapping[str, Sequence[str]]
    buckets: int = 8
    fingerprint: str = ""
    memory_limit: int = MEMORY_LIMIT

    def apply(self, inputs: Mapping[str, DataFrame], answer: str) -> DataFrame:
        """The operator on streaming DataFrames that have the columns of its ports.

        `answer` is the schema of the result as DDL, hidden columns included. Late rows are counted
        under the observation `late: <name>`, as `rows`. An input may have a boolean column `_end`;
        rows for which it is true move the watermark and are not data. (A filter of them would not
        do: Spark pushes it below the watermark.)
        """
        sides = [self._packed(side, frame) for side, frame in inputs.items()]
        together = sides[0]
        for side in sides[1:]:
            together = together.unionByName(side)
        name = self.name
        packed = together.groupBy(BUCKET).transformWithStateInPandas(
            _Processor(self), f"{SIDE} STRING, {COUNT} BIGINT, {BLOB} BINARY", "Append", "EventTime"
        )
        late = F.sum(F.when(F.col(SIDE) == LATE, F.col(COUNT)).otherwise(0)).alias("rows")
        observed = packed.observe(f"late: {name}", late)

        def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return unpack(batches, f"answer of {name}")

        return observed.where(F.col(SIDE) == ANSWER).select(BLOB).mapInArrow(unpacked, answer)

    def _packed(self, side: str, frame: DataFrame) -> DataFrame:
        key = list(self.keys.get(side, ()))
        buckets = self.buckets if key else 1
        names = self.kernel.ports[side].schema.names

        def packed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return pack(batches, side, key, buckets)

        if END in frame.columns:
            names = [*names, END]
        columns = [F.col(f"`{name.replace('`', '``')}`") for name in names]
        return frame.select(*columns).mapInArrow(packed, PACKED_DDL)


class _MapStore:
    """Blobs in a `MapState`."""

    def __init__(self, state: MapState) -> None:
        self._state = state

    def get(self, key: str) -> bytes | None:
        found = self._state.getValue((key,))
        return bytes(found[0]) if found is not None else None

    def put(self, key: str, blob: bytes) -> None:
        self._state.updateValue((key,), (blob,))

    def remove(self, key: str) -> None:
        self._state.removeKey((key,))


class _Processor(StatefulProcessor):
    """Calls the kernel for a bucket: with what arrived, or because its timer rang."""

    def __init__(self, operator: Operator) -> None:
        self._operator = operator
        self._identity = Identity(operator.name, operator.fingerprint, operator.memory_limit)

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the state variables."""
        self._handle = handle
        self._meta: ValueState = handle.getValueState("meta", "header BINARY, timer BIGINT")
        self._store = _MapStore(handle.getMapState("chunks", "id STRING", "blob BINARY"))

    def handleInputRows(  # noqa: N802 (Spark's names, also below)
        self,
        key: Any,
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Take in packed rows and process what the watermark has passed."""
        blobs: dict[str, list[bytes]] = {}
        for frame in rows:
            for side, blob in zip(frame[SIDE], frame[BLOB], strict=True):
                blobs.setdefault(side, []).append(bytes(blob))
        return self._step(blobs, timerValues, None)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Process what the watermark has passed, without new rows."""
        return self._step({}, timerValues, expiredTimerInfo.getExpiryTimeInMs())

    def close(self) -> None:
        """Nothing is open."""

    def _step(
        self, blobs: Mapping[str, list[bytes]], times: TimerValues, rang: int | None
    ) -> Iterator[pd.DataFrame]:
        saved = self._meta.get()
        header, timer = (bytes(saved[0]), int(saved[1])) if saved is not None else (None, -1)
        state = State(self._store, self._identity, header)
        low = state.frontier
        watermark = times.getCurrentWatermarkInMs()
        high = max(low, watermark * _MICROS) if watermark > 0 else low
        before = sum(state.late.values())
        try:
            kernel = self._operator.kernel
            arrived = {
                side: gather(blobs.get(side, ()), port.schema, f"input of {self._identity.name}")
                for side, port in kernel.ports.items()
            }
            answer = kernel.step(state.scope(), arrived, Span(low, high))
            header = state.save(high)
        except MemoryError as error:
            raise BucketTooLargeError(
                f"one bucket of {self._identity.name} does not fit into the memory of a Python "
                "worker; use more buckets if its key has many values, a shorter window or a finer "
                "key if it has few"
            ) from error
        self._meta.update((header, self._set_timer(timer, state.wake, rang)))
        late = sum(state.late.values()) - before
        if late:
            yield _packed_row(LATE, late, b"")
        for piece in slices(answer, SHUFFLE_BYTES):
            yield _packed_row(ANSWER, piece.num_rows, encode(piece))

    def _set_timer(self, timer: int, wake: int, rang: int | None) -> int:
        """One timer per bucket, at `wake`; a timer rings once the watermark is past it.

        Spark deletes the timer that `rang` when its handler is done.
        """
        wanted = -(-wake // _MICROS) - 1 if wake < FOREVER else -1
        if wanted == rang:
            wanted += 1
        if wanted == timer and timer != rang:
            return timer
        if timer not in (-1, rang):
            self._handle.deleteTimer(timer)
        if wanted >= 0:
            self._handle.registerTimer(wanted)
        return wanted


def _packed_row(side: str, count: int, blob: bytes) -> pd.DataFrame:
    return pd.DataFrame({SIDE: [side], COUNT: [count], BLOB: [blob]})
