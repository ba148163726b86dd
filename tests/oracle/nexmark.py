"""Nexmark: final answers that Apache Flink computed.

`python -m tests.oracle.nexmark --data DIR --answers DIR --engine reference|spark [--queries q3,q5]`
runs `examples/queries/nexmark/qN.cql` over the data and compares it with `qN.csv.gz`: the elements
of a stream, or the rows of a relation after the last event.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import decimal
import gzip
import re
import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from cqlc.algebra.expr import Value
from cqlc.algebra.walk import schema_of
from cqlc.catalog import TableKind
from cqlc.compiler import Compilation, compile_program
from cqlc.datatypes import TIMESTAMP
from cqlc.semantics import Timeline, Values
from cqlc.source import Source
from cqlc.testing.engine import Engine, Question, UnknownEngineError, engine_called
from tests.oracle.comparing import difference

QUERIES = Path(__file__).parents[2] / "examples" / "queries" / "nexmark"
SHOWN = 5
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)

TIES = {"q19": ("auction", "price")}
"""Where equal rows tie in the original query, the columns that are determined."""


@cache
def read_table(path: Path, columns: tuple[str, ...], event_time: str) -> list[tuple[int, Values]]:
    """A table's rows with their times."""
    table = pq.read_table(path)
    values = [[_value(v) for v in table.column(name).to_pylist()] for name in columns]
    times = values[columns.index(event_time)]
    return [(int(t), row) for t, row in zip(times, zip(*values, strict=True), strict=True)]  # type: ignore[arg-type]


def _value(value: object) -> Value:
    if isinstance(value, datetime.datetime):
        return (value - EPOCH) // datetime.timedelta(microseconds=1)
    return value  # type: ignore[return-value]


def timeline(compilation: Compilation, data: Path) -> Timeline:
    """The streams a program declares, read from `<name>.parquet`."""
    streams: dict[str, list[tuple[int, Values]]] = {}
    for table in compilation.catalog.tables.values():
        if table.kind is TableKind.STREAM and table.event_time is not None:
            columns = tuple(column.name for column in table.columns)
            path = data / f"{table.name.lower()}.parquet"
            streams[table.name] = read_table(path, columns, table.event_time.column)
    return Timeline(streams)


def read_answer(path: Path) -> tuple[list[str], Counter[tuple[str, ...]]]:
    """The header and the rows of an answer, as texts."""
    with gzip.open(path, "rt", newline="") as file:
        header, *rows = csv.reader(file)
    return header, Counter(tuple(row) for row in rows)


def as_text(value: Value, timestamp: bool) -> str:
    """A value as the answers write it."""
    if value is None:
        return ""
    if timestamp and isinstance(value, int):
        moment = EPOCH + datetime.timedelta(microseconds=value)
        return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
    if isinstance(value, decimal.Decimal | float):
        exact = (
            decimal.Decimal(value)
            if isinstance(value, decimal.Decimal)
            else decimal.Decimal(repr(value))
        )
        return str(exact.quantize(decimal.Decimal("0.001"), decimal.ROUND_HALF_UP))
    return str(value)


def judge(name: str, data: Path, answers: Path, engine: Engine) -> list[str]:
    """What the engine answers differently, in words."""
    path = QUERIES / f"{name}.cql"
    compilation = compile_program(Source(path.read_text(), path.name)).require()
    query = compilation.queries[-1]
    header, expected = read_answer(answers / f"{name}.csv.gz")
    fields = [field for field in schema_of(query.plan) if not field.hidden]
    names = [field.name for field in fields]
    if names != header:
        return [f"  the columns are {', '.join(names)}; expected {', '.join(header)}"]
    stamps = [field.type == TIMESTAMP for field in fields]
    question = Question(compilation, query, timeline(compilation, data))
    got: Counter[tuple[str, ...]] = Counter()
    for row, count in engine.final(question).items():
        got[tuple(as_text(v, s) for v, s in zip(row, stamps, strict=True))] += count
    if name in TIES:
        places = [header.index(column) for column in TIES[name]]
        expected, got = _cut(expected, places), _cut(got, places)
    missing, surplus = difference(expected, got)  # type: ignore[arg-type]
    return [
        *(f"    expected  {row}" for row in missing[:SHOWN]),
        *(f"    got       {row}" for row in surplus[:SHOWN]),
        *(
            [f"    ({len(missing)} rows missing, {len(surplus)} too many)"]
            if missing or surplus
            else []
        ),
    ]


def _cut(rows: Counter[tuple[str, ...]], places: list[int]) -> Counter[tuple[str, ...]]:
    cut: Counter[tuple[str, ...]] = Counter()
    for row, count in rows.items():
        cut[tuple(row[place] for place in places)] += count
    return cut


def main(arguments: list[str] | None = None) -> int:
    """Judges some or all queries; 1 if any differs."""
    parser = argparse.ArgumentParser(prog="tests.oracle.nexmark", description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--answers", type=Path, required=True)
    parser.add_argument("--engine", default="reference")
    parser.add_argument("--queries", help="names separated by commas; all answers by default")
    options = parser.parse_args(arguments)
    try:
        engine = engine_called(options.engine)
    except UnknownEngineError as error:
        parser.error(str(error))
    names = options.queries.split(",") if options.queries else answered(options.answers)
    differing = 0
    for name in names:
        start = time.perf_counter()
        problems = judge(name, options.data, options.answers, engine)
        seconds = time.perf_counter() - start
        differing += bool(problems)
        print(
            f"{name}: {'differs' if problems else 'agrees'} ({seconds:.1f} s)",
            *problems,
            sep="\n",
            flush=True,
        )
    print(f"{len(names) - differing} agree, {differing} differ")
    return 1 if differing else 0


def answered(answers: Path) -> list[str]:
    """The names of the queries that have answers, in order."""
    names = (path.name.removesuffix(".csv.gz") for path in answers.glob("*.csv.gz"))
    return sorted(names, key=lambda name: [int(n) for n in re.findall(r"\d+", name)])


if __name__ == "__main__":
    sys.exit(main())
