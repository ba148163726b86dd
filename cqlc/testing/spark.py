"""Spark as an engine of tests: the source of the compiled program, run over a timeline."""

# pyright: basic

from __future__ import annotations

import datetime
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from cqlc import datatypes as t
from cqlc.catalog import TableDeclaration, TableKind
from cqlc.diagnostics import CompileError
from cqlc.semantics import BEGINNING, Change, Timeline, Values
from cqlc.spark.emit import emit
from cqlc.spark.expression import sql_type
from cqlc.spark.lower import lower
from cqlc.spark.program import Delivery, SparkProgram
from cqlc.spark.run import load, local_session
from cqlc.testing.engine import Question

_SECOND = 1_000_000
_SHIFT = 1_000_000 * _SECOND
"""Spark's event time begins in 1970: timelines that begin earlier are moved by so much."""


class SparkEngine:
    """A Spark session, and a directory for the inputs and outputs of queries."""

    def __init__(self, spark: SparkSession | None = None, directory: Path | None = None) -> None:
        self.spark = spark or local_session({"spark.sql.shuffle.partitions": "1"})
        self.directory = directory or Path(tempfile.mkdtemp(prefix="cqlc-"))
        self._runs = 0

    def changes(self, question: Question) -> list[Change]:
        """See `Engine`."""
        moved, shift = _moved(question)
        program = program_of(moved, maintained=False)
        batches = moved.batches or (moved.timeline,)
        horizon = question.horizon
        found = changes_of(self.rows(program, batches), program)
        at_once = [(time - shift, sign, values) for time, sign, values in found]
        return [c for c in at_once if horizon is None or c[0] <= horizon]

    def final(self, question: Question) -> Counter[Values]:
        """See `Engine`."""
        program = program_of(question, maintained=True)
        rows = self.rows(program, question.batches or (question.timeline,))
        if program.delivery is not Delivery.UPSERT:
            net = Counter[Values]()
            for _, sign, values in changes_of(rows, program):
                net[values] += sign
            return +net
        return Counter(rows)

    def rows(self, program: SparkProgram, batches: Sequence[Timeline]) -> list[tuple[Any, ...]]:
        """What reaches the sink when the batches have been read one after the other."""
        self._runs += 1
        place = self.directory / f"run{self._runs}"
        module = load(emit(program))
        kind = "table" if program.delivery is Delivery.UPSERT else "parquet"
        sink = module.Source("", kind, {"path": str(place / "out")})
        bindings = self.bindings(program, batches, place)
        run = module.Run(str(place / "checkpoint"), sink, bindings, {}, True)
        module.start(module.PROGRAM, self.spark, run).awaitTermination()
        module.finish(module.PROGRAM, self.spark, run).awaitTermination()
        read = module.read_table if kind == "table" else _read
        found = read(self.spark, str(place / "out"))
        return [tuple(map(_value, row)) for row in found.collect()]

    def bindings(
        self, program: SparkProgram, batches: Sequence[Timeline], place: Path
    ) -> dict[str, DataFrame]:
        """The timeline as files, one for each batch, and DataFrames that read them."""
        found: dict[str, DataFrame] = {}
        for table in (*program.streams, *program.tables):
            path = place / table.name
            path.mkdir(parents=True)
            schema = ", ".join(f"`{n}` {sql_type(kind)}" for n, kind in _columns(table))
            if table.kind is TableKind.STREAM:
                for number, batch in enumerate(batches):
                    rows = batch.streams.get(table.name, ())
                    _write(path / f"{number:06}.parquet", table, [(*v, m) for m, v in rows])
                reader = self.spark.readStream.option("maxFilesPerTrigger", "1")
            else:
                changes = [c for batch in batches for c in batch.tables.get(table.name, ())]
                _write(path / "rows.parquet", table, [(*v, m) for m, _, v in changes])
                reader = self.spark.read
            found[table.name] = reader.schema(schema).parquet(str(path))
        return found


def program_of(question: Question, *, maintained: bool) -> SparkProgram:
    """The program of a question; raises the findings if there is none."""
    lowered = lower(
        question.query.plan,
        question.compilation.catalog,
        text=question.compilation.source.slice(question.query.span),
        changing=_changing(question.timeline),
        maintained=maintained,
        tick=question.tick,
        clock=question.clock,
    )
    if lowered.program is None:
        raise CompileError(question.compilation.source, lowered.diagnostics)
    return lowered.program


def changes_of(rows: Sequence[tuple[Any, ...]], program: SparkProgram) -> list[Change]:
    """The rows of a sink as changes: a stream's elements, or a relation's net changes."""
    if program.delivery is Delivery.STREAM:
        return [(row[-1], 1, row[:-1]) for row in rows]
    net = Counter[tuple[int, Values]]()
    for *values, op, time in rows:
        net[time, tuple(values)] += 1 if op == "+" else -1
    return [
        (time, 1 if count > 0 else -1, values)
        for (time, values), count in net.items()
        for _ in range(abs(count))
    ]


def _changing(timeline: Timeline) -> set[str]:
    """The tables that change after the first row of a stream has come."""
    first = min((m for rows in timeline.streams.values() for m, _ in rows), default=BEGINNING)
    return {
        name
        for name, changes in timeline.tables.items()
        if any(sign < 0 or moment >= first for moment, sign, _ in changes)
    }


def _moved(question: Question) -> tuple[Question, int]:
    """The question later in time, if it begins too early for Spark."""
    if min(question.timeline.times, default=1) > 0:
        return question, 0

    def moved(timeline: Timeline) -> Timeline:
        streams = {n: [(m + _SHIFT, v) for m, v in rows] for n, rows in timeline.streams.items()}
        return replace(timeline, streams=streams)

    batches = tuple(map(moved, question.batches))
    return replace(question, timeline=moved(question.timeline), batches=batches), _SHIFT


# -------------------------------------------------------------------------------------- files

_ARROW: Mapping[t.DataType, pa.DataType] = {
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
}


def _arrow(type: t.DataType) -> pa.DataType:
    match type:
        case t.Decimal(precision, scale):
            return pa.decimal128(precision, scale)
        case t.Array(element):
            return pa.list_(_arrow(element))
        case t.Struct(fields):
            return pa.struct([(name, _arrow(kind)) for name, kind in fields])
        case _:
            return _ARROW[type]


def _columns(table: TableDeclaration) -> list[tuple[str, t.DataType]]:
    """The columns of a table's file; where no event time is declared, `_time` is one."""
    columns = [(c.name, c.type) for c in table.columns]
    untimed = table.kind is TableKind.STREAM and table.event_time is None
    return [*columns, ("_time", t.TIMESTAMP)] if untimed else columns


def _write(path: Path, table: TableDeclaration, rows: Sequence[tuple[Any, ...]]) -> None:
    arrays = {
        name: pa.array([row[place] for row in rows], type=_arrow(kind))
        for place, (name, kind) in enumerate(_columns(table))
    }
    pq.write_table(pa.Table.from_arrays(list(arrays.values()), names=list(arrays)), path)


def _read(spark: SparkSession, path: str) -> DataFrame:
    return spark.read.parquet(path)


_EPOCH = datetime.datetime(1970, 1, 1)


def _value(value: Any) -> Any:
    """A value of Spark's as the semantics writes it."""
    match value:
        case datetime.datetime():
            return (value - _EPOCH) // datetime.timedelta(microseconds=1)
        case datetime.timedelta():
            return value // datetime.timedelta(microseconds=1)
        case bytearray():
            return bytes(value)
        case list() | tuple():
            return tuple(map(_value, value))
        case _:
            return value
