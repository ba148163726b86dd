"""Runs plans on Spark over timelines, so that their answers can be compared with the reference."""

from __future__ import annotations

import datetime
import decimal
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from cqlc import datatypes as t
from cqlc.algebra.plan import Clock, Plan
from cqlc.catalog import Catalog, TableDeclaration, TableKind
from cqlc.semantics import Arrival, Timeline
from cqlc.spark.emit import emit
from cqlc.spark.expression import sql_type
from cqlc.spark.lower import lower
from cqlc.spark.program import SparkProgram
from cqlc.spark.run import load

_ARROW: dict[t.DataType, pa.DataType] = {
    t.BOOLEAN: pa.bool_(),
    t.TINYINT: pa.int8(),
    t.SMALLINT: pa.int16(),
    t.INT: pa.int32(),
    t.BIGINT: pa.int64(),
    t.FLOAT: pa.float32(),
    t.DOUBLE: pa.float64(),
    t.STRING: pa.string(),
    t.BINARY: pa.binary(),
    t.DATE: pa.date32(),
    t.TIMESTAMP: pa.timestamp("us", tz="UTC"),
    t.DURATION: pa.duration("us"),
}

Cut = Callable[[Sequence[Arrival]], list[Sequence[Arrival]]]
"""How the rows of a stream are spread over files; every micro-batch reads one of each stream."""


def in_pieces(number: int) -> Cut:
    """Files of about equal size."""

    def cut(rows: Sequence[Arrival]) -> list[Sequence[Arrival]]:
        size = max(1, math.ceil(len(rows) / number))
        return [rows[i : i + size] for i in range(0, len(rows), size)] or [[]]

    return cut


class Engine:
    """A Spark session, and directories for the inputs and outputs of queries."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self.spark = spark
        self.directory = directory
        self._runs = 0

    def program(
        self, plan: Plan, catalog: Catalog, *, tick: int = 1, clock: Clock | None = None
    ) -> SparkProgram:
        """The program of a plan that is known to be supported."""
        lowered = lower(plan, catalog, tick=tick, clock=clock)
        assert lowered.program is not None, [d.message for d in lowered.diagnostics]
        return lowered.program

    def answer(
        self, program: SparkProgram, timeline: Timeline, cut: Cut = in_pieces(2)
    ) -> Counter[tuple[Any, ...]]:
        """What the program's source gives over a timeline, read to its end.

        A stream's rows end with their time; the rows of a relation's changelog are netted, and end
        with their time and the net count.
        """
        self._runs += 1
        place = self.directory / f"run{self._runs}"
        bindings = self.bindings(program, timeline, cut, place)
        module = load(emit(program))
        sink = module.Source("", "parquet", {"path": str(place / "out")})
        run = module.Run(str(place / "checkpoint"), sink, bindings, {}, True)
        module.start(module.PROGRAM, self.spark, run).awaitTermination()
        module.finish(module.PROGRAM, self.spark, run).awaitTermination()
        return self.collected(place / "out", program)

    def bindings(
        self, program: SparkProgram, timeline: Timeline, cut: Cut, place: Path
    ) -> dict[str, Any]:
        """The timeline as files, and sources that read them."""
        found: dict[str, Any] = {}
        for table in (*program.streams, *program.tables):
            path = place / table.name
            path.mkdir(parents=True)
            if table.kind is TableKind.STREAM:
                pieces = cut(timeline.streams.get(table.name, ()))
            else:
                pieces = [[(m, v) for m, sign, v in timeline.tables.get(table.name, ())]]
            for number, piece in enumerate(pieces):
                _write(path / f"{number:04}.parquet", table, piece)
            if table.kind is TableKind.STREAM:
                reader = self.spark.readStream.option("maxFilesPerTrigger", "1")
                found[table.name] = reader.schema(_schema(table)).parquet(str(path))
            else:
                found[table.name] = self.spark.read.schema(_schema(table)).parquet(str(path))
        return found

    def collected(self, path: Path, program: SparkProgram) -> Counter[tuple[Any, ...]]:
        """The rows of a parquet sink."""
        rows = self.spark.read.parquet(str(path)).collect()
        values = [tuple(_value(v) for v in row) for row in rows]
        if program.delivery.value == "stream":
            return Counter(values)
        net: Counter[tuple[Any, ...]] = Counter()
        for *row, op, time in values:
            net[(*row, time)] += 1 if op == "+" else -1
        return Counter({row: n for row, n in net.items() if n})


def _schema(table: TableDeclaration) -> str:
    columns = [f"`{c.name}` {sql_type(c.type)}" for c in table.columns]
    untimed = table.kind is TableKind.STREAM and table.event_time is None
    return ", ".join((*columns, *(("_time TIMESTAMP",) if untimed else ())))


def _write(path: Path, table: TableDeclaration, rows: Sequence[Arrival]) -> None:
    fields = [(c.name, _ARROW[c.type]) for c in table.columns]
    columns = [[values[i] for _, values in rows] for i in range(len(fields))]
    if table.kind is TableKind.STREAM and table.event_time is None:
        fields.append(("_time", _ARROW[t.TIMESTAMP]))
        columns.append([time for time, _ in rows])
    arrays = [
        pa.array(column, type=kind) for (_, kind), column in zip(fields, columns, strict=True)
    ]
    pq.write_table(pa.Table.from_arrays(arrays, names=[n for n, _ in fields]), path)


_EPOCH = datetime.datetime(1970, 1, 1)


def _value(value: Any) -> Any:
    """A value as the reference semantics writes it."""
    match value:
        case datetime.datetime():
            return (value - _EPOCH) // datetime.timedelta(microseconds=1)
        case datetime.timedelta():
            return value // datetime.timedelta(microseconds=1)
        case bytearray():
            return bytes(value)
        case list() | tuple():
            return tuple(map(_value, value))
        case float() if value != value:
            return "NaN"
        case bool() | int() | float() | str() | decimal.Decimal() | None:
            return value
        case _:
            return value


@contextmanager
def session(directory: Path, **settings: str) -> Iterator[SparkSession]:
    """A small local Spark session."""
    builder = SparkSession.builder.master("local[2]").appName("cqlc tests")
    defaults = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.sql.warehouse.dir": str(directory / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
    }
    for key, value in {**defaults, **settings}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        yield spark
    finally:
        spark.stop()
