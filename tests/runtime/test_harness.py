"""Kernels inside Spark: batches, restarts, ends of input, chains, and refusals."""

from __future__ import annotations

import decimal
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cqlc.runtime.aggregate import Aggregate
from cqlc.runtime.kernel import Form
from cqlc.runtime.measures import Measure
from cqlc.runtime.schemas import port

pytest.importorskip("pyspark")
from cqlc.runtime.harness import Operator
from cqlc.runtime.join import Join, JoinKind
from cqlc.runtime.matching import Condition, Equality
from tests.runtime import replay
from tests.runtime.streaming import START, Source, changes, drain, lifetimes

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
SECOND = 1_000_000
KINDS = {"k": "STRING", "d": "DECIMAL(10,2)", "l": "ARRAY<STRING>", "x": "DOUBLE", "m": "TIMESTAMP"}
COLUMNS = {
    "k": pa.string(),
    "d": pa.decimal128(10, 2),
    "l": pa.list_(pa.string()),
    "x": pa.float64(),
    "m": pa.timestamp("us", tz="UTC"),
}
INPUT = port(Form.LIFETIMES, KINDS)
AGGREGATE = Aggregate(
    INPUT,
    ("k", "d"),
    (
        Measure("n", "COUNT", pa.int64()),
        Measure("s", "SUM", pa.float64(), ("x",)),
        Measure("b", "MAX_BY", pa.list_(pa.string()), ("l", "x")),
        Measure("t", "MAX", COLUMNS["m"], ("m",)),
    ),
)
ANSWER = (
    "k STRING, d DECIMAL(10,2), n BIGINT, s DOUBLE, b ARRAY<STRING>, t TIMESTAMP, "
    "_op BIGINT, _time BIGINT"
)


def batches(rng: random.Random, count: int, step: int) -> list[list[dict[str, Any]]]:
    """Files of rows whose times overlap by less than the slack; every second one is sparse."""
    files: list[list[dict[str, Any]]] = []
    for number in range(count):
        rows: list[dict[str, Any]] = []
        for _ in range(60 if number % 2 == 0 else 2):
            rows.append(
                {
                    "k": rng.choice(["a", "b", None, "ü"]),
                    "d": rng.choice([decimal.Decimal("1.50"), None]),
                    "l": rng.choice([None, [], ["x", None]]),
                    "x": rng.choice([None, 0.1, 0.2, 1e9, -0.5]),
                    "m": rng.choice([None, START, START + 5]),
                    "ts": START + number * step + rng.randint(0, step + SECOND),
                }
            )
        files.append(rows)
    return files


def windowed(rows: list[dict[str, Any]], length: int) -> list[dict[str, Any]]:
    return [
        {k: v for k, v in row.items() if k != "ts"}
        | {"_from": row["ts"], "_until": row["ts"] + length}
        for row in rows
    ]


def test_batches_a_restart_and_the_end(spark: Any, tmp_path: Path):
    """Five files, one per batch; stopped after three and started again; then the end."""
    length = 5 * SECOND
    files = batches(random.Random(1), 5, 4 * SECOND)
    source = Source(tmp_path / "s", COLUMNS)
    operator = Operator("sums per key", AGGREGATE, {"input": ["k", "d"]}, buckets=3)

    def build():
        rows = lifetimes(source.read(spark), *KINDS, length=length)
        return operator.apply({"input": rows}, ANSWER)

    for number, rows in enumerate(files[:3]):
        source.write(str(number), rows)
    drain(build, tmp_path)
    for number, rows in enumerate(files[3:], 3):
        source.write(str(number), rows)
    late = [{**files[0][0], "ts": START - 1}]
    source.write("9", late)
    observed = drain(build, tmp_path)
    source.finish(START + 60 * SECOND)
    observed += drain(build, tmp_path)
    everything = windowed([row for rows in files for row in rows], length)
    end = START + 100 * SECOND
    want = replay.run(AGGREGATE, {"input": everything}, random.Random(2), end=end).changes()
    assert changes(spark, tmp_path) == want
    assert sum(batch["late: sums per key"]["rows"] or 0 for batch in observed) == len(late)


def test_two_sources_and_two_operators(spark: Any, tmp_path: Path):
    """NOT EXISTS of two windows, counted: the second operator keeps up with the first."""
    rng = random.Random(3)
    left, right = (Source(tmp_path / side, {side: pa.string()}) for side in ("k", "j"))
    first = Join(
        port(Form.LIFETIMES, {"k": "STRING"}),
        port(Form.LIFETIMES, {"j": "STRING"}),
        JoinKind.ANTI,
        Condition((Equality("k", "j"),)),
    )
    second = Aggregate(
        port(Form.CHANGELOG, {"k": "STRING"}), (), (Measure("n", "COUNT", pa.int64()),)
    )
    rows: dict[str, list[dict[str, Any]]] = {"k": [], "j": []}
    for number in range(3):
        for side, source in (("k", left), ("j", right)):
            some = [
                {side: rng.choice("abc"), "ts": START + (number * 3 + rng.randint(0, 3)) * SECOND}
                for _ in range(8)
            ]
            rows[side] += some
            source.write(str(number), some)
    one, two = 4 * SECOND, 2 * SECOND

    def build():
        lonely = Operator("lonely", first, {"left": ["k"], "right": ["j"]}, buckets=2).apply(
            {
                "left": lifetimes(left.read(spark), "k", length=one),
                "right": lifetimes(right.read(spark), "j", length=two),
            },
            "k STRING, _op BIGINT, _time BIGINT",
        )
        counted = Operator("counted", second, {})
        return counted.apply({"input": lonely}, "n BIGINT, _op BIGINT, _time BIGINT")

    drain(build, tmp_path)
    for source in (left, right):
        source.finish(START + 30 * SECOND)
    drain(build, tmp_path)
    inputs = {"left": windowed(rows["k"], one), "right": windowed(rows["j"], two)}
    end = START + 100 * SECOND
    middle = replay.run(first, inputs, rng, end=end).rows
    want = replay.run(second, {"input": middle}, rng, end=end).changes()
    assert changes(spark, tmp_path) == want
    assert want


def test_a_changed_operator_refuses_the_checkpoint(spark: Any, tmp_path: Path):
    source = Source(tmp_path / "s", {"k": pa.string()})
    kernel = Aggregate(
        port(Form.LIFETIMES, {"k": "STRING"}), ("k",), (Measure("n", "COUNT", pa.int64()),)
    )

    def build(fingerprint: str):
        rows = lifetimes(source.read(spark), "k", length=SECOND)
        operator = Operator("counts", kernel, {"input": ["k"]}, 1, fingerprint)
        return operator.apply({"input": rows}, "k STRING, n BIGINT, _op BIGINT, _time BIGINT")

    source.write("0", [{"k": "a", "ts": START}])
    drain(lambda: build("one"), tmp_path)
    source.write("1", [{"k": "a", "ts": START + SECOND}])
    with pytest.raises(Exception, match=r"OtherQueryError.*differs from counts"):
        drain(lambda: build("two"), tmp_path)
