"""Small streaming queries over files: sources with an end, draining, and answers as rows."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 (Spark's own convention)

from tests.runtime.replay import plain

MOMENT = pa.timestamp("us", tz="UTC")
START = 1_700_000_000_000_000
SLACK = 2_000_000
"""How late rows may be, in microseconds."""


def session() -> SparkSession:
    """A local session; its workers run this Python."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    provider = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    started = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.providerClass", provider)
        .getOrCreate()
    )
    started.sparkContext.setLogLevel("OFF")
    return started


class Source:
    """A directory of Parquet files that a query reads one per batch, and one for its end."""

    def __init__(self, base: Path, columns: dict[str, pa.DataType]) -> None:
        self._data, self._end = base / "data", base / "end"
        for folder in (self._data, self._end):
            folder.mkdir(parents=True, exist_ok=True)
        self._files = len(list(self._data.iterdir()))
        self._schema = pa.schema([*columns.items(), ("ts", MOMENT), ("_end", pa.bool_())])

    def write(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        """One more file; `ts` is in microseconds."""
        self._write(self._data / f"{name}.parquet", [row | {"_end": False} for row in rows])

    def finish(self, time: int) -> None:
        """Nothing more comes: the watermark may pass `time`."""
        self._write(self._end / "end.parquet", [{"ts": time + SLACK + 1000, "_end": True}])

    def _write(self, path: Path, rows: Sequence[dict[str, Any]]) -> None:
        hidden = path.with_name(f".{path.name}")
        pq.write_table(pa.Table.from_pylist(list(rows), schema=self._schema), hidden)
        self._files += 1
        os.utime(hidden, (self._files, self._files))  # Spark reads files in the order of their age
        hidden.rename(path)

    def read(self, spark: SparkSession) -> DataFrame:
        """The stream, its event time watermarked."""
        ddl = spark.createDataFrame(pa.Table.from_pylist([], schema=self._schema)).schema
        rows = spark.readStream.schema(ddl).option("maxFilesPerTrigger", 1)
        ends = spark.readStream.schema(ddl)
        both = rows.parquet(str(self._data)).unionByName(ends.parquet(str(self._end)))
        return both.withWatermark("ts", f"{SLACK // 1000} milliseconds")


def lifetimes(stream: DataFrame, *columns: str, length: int) -> DataFrame:
    """The rows of a stream with the lifetimes of a window of that length."""
    begin = F.unix_micros("ts")
    return stream.select(
        *columns, begin.alias("_from"), (begin + F.lit(length)).alias("_until"), "_end"
    )


def drain(build: Callable[[], DataFrame], base: Path) -> list[dict[str, Any]]:
    """Process all that is there; the late rows that were counted, by batch."""
    query = (
        build()
        .writeStream.format("parquet")
        .option("path", str(base / "out"))
        .option("checkpointLocation", str(base / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return [dict(progress.observedMetrics) for progress in query.recentProgress]


def changes(spark: SparkSession, base: Path) -> Counter[tuple[int, tuple[Any, ...]]]:
    """The net changes that a query wrote."""
    found: Counter[tuple[int, tuple[Any, ...]]] = Counter()
    for row in spark.read.parquet(str(base / "out")).toArrow().to_pylist():
        data = tuple(plain(v) for k, v in row.items() if k not in ("_op", "_time"))
        found[row["_time"], data] += row["_op"]
    return Counter({key: count for key, count in found.items() if count})
