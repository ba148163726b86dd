"""How a compiled query is run: its inputs, sinks and end. Copied into every program as it is."""

# pyright: basic
# ruff: noqa: N812

from __future__ import annotations

import argparse
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming.query import StreamingQuery

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.streaming.multipleWatermarkPolicy": "min",
}
"""The Spark settings that expressions rely on."""

END = "TIMESTAMP '9999-12-01 00:00:00Z'"
"""The end of time: where the row stands that says a finite input is over."""

VERSION = "cqlc_version"
"""A table sink has one directory per version, named by the batch that made it."""

_WITH_SCHEMA = frozenset(("parquet", "orc", "json", "csv", "avro", "text", "xml"))
_KNOWS_ITS_SCHEMA = frozenset(("parquet", "orc"))


class QueryError(Exception):
    """Something is wrong with the inputs, the sink or the checkpoint of a query."""


@dataclass(frozen=True)
class Source:
    """Where the rows of a table come from: a Spark format with options, and their schema."""

    schema: str
    format: str = ""
    options: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Program:
    """A compiled query."""

    name: str
    text: str
    sources: Mapping[str, Source]
    query: Callable[[Inputs], DataFrame]
    delivery: str
    key: tuple[str, ...]


# ------------------------------------------------------------------------------------- inputs


class Inputs:
    """The tables of a query: DataFrames, or sources to read them from.

    `end` is a directory; when a file appears in it, all streams are over.
    """

    def __init__(
        self,
        spark: SparkSession,
        sources: Mapping[str, Source],
        bindings: Mapping[str, DataFrame | Source],
        end: str | None = None,
    ) -> None:
        self.spark = spark
        self._sources = sources
        self._bindings = bindings
        self._end = end

    def stream(self, name: str) -> DataFrame:
        """The rows of a stream as they arrive."""
        return self._rows(name, stream=True)

    def arrivals(self, name: str) -> DataFrame:
        """The rows of a stream without event time: `_time`, if absent, is when they are read."""
        rows = self.stream(name)
        return rows if "_time" in rows.columns else rows.withColumn("_time", F.now())

    def table(self, name: str) -> DataFrame:
        """The rows of a table as they are."""
        return self._rows(name, stream=False)

    def _rows(self, name: str, *, stream: bool) -> DataFrame:
        bound = self._bindings.get(name, self._sources[name])
        schema = self._sources[name].schema
        if isinstance(bound, DataFrame):
            rows = bound
        elif not bound.format:
            raise QueryError(f"{name} is not bound: say --bind {name}=FORMAT:PATH")
        else:
            rows = self._read(name, bound, schema, stream=stream)
        check_schema(name, rows.schema, schema)
        if rows.isStreaming is not stream:
            raise QueryError(f"{name} is bound to {'a table' if stream else 'a stream'}")
        return rows

    def _read(self, name: str, bound: Source, schema: str, *, stream: bool) -> DataFrame:
        source = self.spark.readStream if stream else self.spark.read
        source = source.format(bound.format).options(**bound.options)
        try:
            if bound.format in _KNOWS_ITS_SCHEMA:
                whole = self.spark.read.format(bound.format).options(**bound.options)
                check_schema(name, whole.load().schema, schema)
            return (source.schema(schema) if bound.format in _WITH_SCHEMA else source).load()
        except PySparkException as error:
            reason = str(error).partition("\n")[0]
            raise QueryError(f"cannot read {name} as {bound.format}: {reason}") from None

    def watermark(self, rows: DataFrame, column: str, delay: str) -> DataFrame:
        """The rows with event time `delay` behind the latest `column`.

        With the end of the inputs comes a row at the end of time. It moves event time and goes
        no further; its other columns are not NULL, so that no join condition removes it before.
        """
        if self._end is None:
            return rows.withWatermark(column, delay)
        last = self.spark.readStream.schema("t TIMESTAMP").json(self._end)
        others = [_something(f) for f in rows.schema if f.name != column]
        last = last.select(F.col("t").alias(column), *others)
        both = rows.unionByName(last).withWatermark(column, delay)
        return both.where(F.col(f"`{column}`") < F.expr(END))


def _something(field: T.StructField) -> Column:
    """A value of the field's type that is not NULL."""
    kind = field.dataType
    match kind:
        case T.StringType() | T.BinaryType():
            value = F.lit("")
        case T.DateType() | T.TimestampType() | T.TimestampNTZType():
            value = F.lit("1970-01-01")
        case T.ArrayType():
            value = F.array()
        case T.NumericType() | T.BooleanType():
            value = F.lit(0)
        case T.DayTimeIntervalType():
            value = F.expr("INTERVAL 0 SECONDS")
        case _:
            value = F.lit(None)
    return value.cast(kind).alias(field.name)


def check_schema(name: str, found: T.StructType, declared: str) -> None:
    """Raises unless all declared columns are there, with types that convert without loss."""
    columns = {f.name.lower(): f.dataType for f in found}
    problems: list[str] = []
    for wanted in T.StructType.fromDDL(declared):  # type: ignore[attr-defined]
        there = columns.get(wanted.name.lower())
        if there is None:
            problems.append(f"  {wanted.name} is missing")
        elif not _converts(there, wanted.dataType):
            asked = wanted.dataType.simpleString()
            problems.append(f"  {wanted.name} is {there.simpleString()}, declared as {asked}")
    if problems:
        raise QueryError(f"the data bound to {name} does not fit:\n" + "\n".join(problems))


_INTEGERS = ("tinyint", "smallint", "int", "bigint")


def _converts(found: T.DataType, declared: T.DataType) -> bool:
    one, other = found.simpleString(), declared.simpleString()
    if one == other or isinstance(declared, T.ArrayType | T.StructType):
        return one == other or type(found) is type(declared)
    if one in _INTEGERS:
        wide = other in _INTEGERS and _INTEGERS.index(one) <= _INTEGERS.index(other)
        return wide or other in ("float", "double") or isinstance(declared, T.DecimalType)
    if isinstance(found, T.DecimalType) and isinstance(declared, T.DecimalType):
        whole = declared.precision - declared.scale >= found.precision - found.scale
        return whole and declared.scale >= found.scale
    times = ("timestamp", "timestamp_ntz")
    strings = one.startswith(("char(", "varchar(")) and other == "string"
    return (one, other) == ("float", "double") or (one in times and other in times) or strings


def event_time(sql: str, name: str) -> Column:
    """A column that Spark is to take for the event time."""
    return F.expr(sql).alias(name, metadata={"spark.watermarkDelayMs": 0})


def plain(sql: str, name: str) -> Column:
    """A copy of the event time column that Spark is not to take for it."""
    return F.expr(sql).alias(name, metadata={})


# -------------------------------------------------------------------------------------- sinks


def write(
    program: Program,
    rows: DataFrame,
    sink: Source,
    checkpoint: str,
    trigger: Mapping[str, Any],
) -> StreamingQuery:
    """Starts the query: its rows go to the sink until it is stopped or its input is over."""
    mode = "update" if program.delivery == "upsert" else "append"
    writer = rows.writeStream.queryName(program.name).outputMode(mode)
    writer = writer.option("checkpointLocation", checkpoint).trigger(**trigger)
    if sink.format == "table":
        path, key = sink.options["path"], list(program.key)
        apply = partial(_upsert, path, key) if mode == "update" else partial(_change, path)
        return writer.foreachBatch(apply).start()
    return writer.format(sink.format).options(**sink.options).start()


def _upsert(path: str, key: list[str], batch: DataFrame, number: int) -> None:
    """Replaces the rows of a table by newer ones of the same key; once per batch, however often."""
    newer = batch.where("_op = '+'").drop("_op")
    before = _version(batch.sparkSession, path, number)
    if before is not None:
        same = [F.col(f"old.`{k}`").eqNullSafe(F.col(f"new.`{k}`")) for k in key] or [F.lit(True)]
        kept = before.alias("old").join(batch.alias("new"), same, "left_anti")
        newer = kept.unionByName(newer)
    _write_version(newer, path, number)


def _change(path: str, batch: DataFrame, number: int) -> None:
    """Applies insertions and deletions to a table; those of the future wait in `_time`."""
    columns = [f"`{c}`" for c in batch.columns if c not in ("_op", "_time")]
    signed = batch.withColumn("_count", F.expr("if(_op = '+', 1L, -1L)")).drop("_op")
    before = _version(batch.sparkSession, path, number)
    if before is not None:
        signed = before.unionByName(signed)
    now = signed.where("_count > 0").agg(F.max("_time").alias("_now"))
    due = signed.crossJoin(now).withColumn(
        "_time", F.expr("if(_time <= _now, CAST(NULL AS TIMESTAMP), _time)")
    )
    netted = due.groupBy(*columns, "_time").agg(F.sum("_count").alias("_count"))
    _write_version(netted.where("_count <> 0"), path, number)


def _version(spark: SparkSession, path: str, before: int) -> DataFrame | None:
    """The newest version of a table that is older than a batch."""
    try:
        versions = spark.read.parquet(path)
    except PySparkException as error:
        if "PATH_NOT_FOUND" in str(error) or "UNABLE_TO_INFER_SCHEMA" in str(error):
            return None
        raise
    newest = versions.where(F.col(VERSION) < before).agg(F.max(VERSION)).first()
    if newest is None or newest[0] is None:
        return None
    return spark.read.parquet(f"{path}/{VERSION}={newest[0]}")


def _write_version(rows: DataFrame, path: str, number: int) -> None:
    """Writes the table after a batch; the one before stays, in case the batch is done again."""
    rows.write.mode("overwrite").parquet(f"{path}/{VERSION}={number}")
    if "://" not in path:
        for old in Path(path).glob(f"{VERSION}=*"):
            if int(old.name.partition("=")[2]) < number - 1:
                shutil.rmtree(old, ignore_errors=True)


def read_table(spark: SparkSession, path: str) -> DataFrame:
    """What a table sink holds now."""
    rows = _version(spark, path, 2**62)
    if rows is None:
        raise QueryError(f"there is no table at {path}")
    if "_count" not in rows.columns:
        return rows
    shown = rows.where("_time IS NULL AND _count > 0")
    copies = F.explode(F.array_repeat(F.lit(0), F.col("_count").cast("int")))
    return shown.withColumn("_copy", copies).drop("_copy", "_count", "_time")


# ------------------------------------------------------------------------------------ running


@dataclass(frozen=True)
class Run:
    """What was asked for on the command line."""

    checkpoint: str
    sink: Source = Source("", "console")
    bindings: Mapping[str, DataFrame | Source] = field(default_factory=dict)
    trigger: Mapping[str, Any] = field(default_factory=dict)
    until_end: bool = False


def configure(spark: SparkSession) -> None:
    """Sets what the expressions of compiled queries rely on."""
    for setting, value in SETTINGS.items():
        spark.conf.set(setting, value)


def start(program: Program, spark: SparkSession, run: Run) -> StreamingQuery:
    """Starts a query, or goes on from its checkpoint."""
    configure(spark)
    claim(program, spark, run.checkpoint)
    end = f"{run.checkpoint}/end" if run.until_end else None
    if end is not None:
        spark.sql("SELECT now() AS t WHERE FALSE").write.mode("append").json(end)
    inputs = Inputs(spark, program.sources, run.bindings, end)
    trigger = {"availableNow": True} if run.until_end else dict(run.trigger)
    rows = program.query(inputs)
    return write(program, rows, run.sink, f"{run.checkpoint}/spark", trigger)


def finish(program: Program, spark: SparkSession, run: Run) -> StreamingQuery:
    """After all input has been read: lets event time pass everything that is still open."""
    end = f"{run.checkpoint}/end"
    if spark.read.schema("t TIMESTAMP").json(end).isEmpty():
        spark.sql(f"SELECT {END} + INTERVAL 1 DAY AS t").write.mode("append").json(end)
    return start(program, spark, run)


def claim(program: Program, spark: SparkSession, checkpoint: str) -> None:
    """Marks a checkpoint as this query's, or raises if it is another one's."""
    mine = {
        "query": program.text,
        **{f"columns of {n}": s.schema for n, s in sorted(program.sources.items())},
    }
    path = f"{checkpoint}/query"
    try:
        found = spark.read.text(path).first()
    except PySparkException as error:
        if "PATH_NOT_FOUND" not in str(error):
            raise
        found = None
    if found is None:
        spark.createDataFrame([(json.dumps(mine),)], "value STRING").write.text(path)
        return
    theirs: dict[str, str] = json.loads(found[0])
    changed = [k for k in {**theirs, **mine} if theirs.get(k) != mine.get(k)]
    if changed:
        lines = [f"  {k}: {theirs.get(k, 'nothing')} -> {mine.get(k, 'nothing')}" for k in changed]
        raise QueryError(
            f"the checkpoint {checkpoint} belongs to another query:\n" + "\n".join(lines)
        )


def parse_source(text: str) -> Source:
    """`FORMAT`, `FORMAT:PATH` or either with `,option=value` behind it."""
    first, *options = re.split(r",(?=[A-Za-z_.]+=)", text)
    form, _, path = first.partition(":")
    pairs = dict(option.split("=", 1) for option in options)
    return Source("", form, {"path": path, **pairs} if path else pairs)


def parse_trigger(text: str) -> dict[str, Any]:
    """`once`, `available-now`, or a length of time such as `10 seconds`."""
    return {"availableNow": True} if text in ("once", "available-now") else {"processingTime": text}


def main(program: Program, arguments: list[str] | None = None) -> None:
    """Runs the program from the command line."""
    parser = argparse.ArgumentParser(description=program.text)
    parser.add_argument("--checkpoint", required=True, help="where progress and state are kept")
    parser.add_argument("--bind", action="append", default=[], metavar="NAME=FORMAT:PATH")
    parser.add_argument("--sink", default="console", metavar="FORMAT:PATH")
    parser.add_argument("--trigger", default="available-now", help="such as '10 seconds'")
    parser.add_argument("--until-end", action="store_true", help="read all, flush, and stop")
    given = parser.parse_args(arguments)
    bindings = {n: parse_source(s) for n, _, s in (b.partition("=") for b in given.bind)}
    run = Run(
        given.checkpoint,
        parse_source(given.sink),
        bindings,
        parse_trigger(given.trigger),
        given.until_end,
    )
    spark = SparkSession.builder.appName(program.name).getOrCreate()
    try:
        start(program, spark, run).awaitTermination()
        if run.until_end:
            finish(program, spark, run).awaitTermination()
    except QueryError as error:
        raise SystemExit(f"{program.name}: {error}") from None
