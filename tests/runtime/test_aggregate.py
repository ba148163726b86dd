"""Every aggregate at every instant, with expirations and deletions, against the semantics."""

from __future__ import annotations

import decimal
import math
import random
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest

from cqlc.algebra.expr import AggregateCall, Column, Literal
from cqlc.algebra.schema import Field
from cqlc.datatypes import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Struct,
)
from cqlc.runtime.aggregate import Aggregate, Emit
from cqlc.runtime.kernel import Form
from cqlc.runtime.measures import FAMILIES, Measure
from cqlc.semantics.aggregates import aggregator
from cqlc.semantics.windows import Row
from tests.runtime.replay import plain, port, run

ARROW: dict[DataType, pa.DataType] = {
    BIGINT: pa.int64(),
    INT: pa.int32(),
    DOUBLE: pa.float64(),
    STRING: pa.string(),
    BOOLEAN: pa.bool_(),
    TIMESTAMP: pa.int64(),
    Decimal(10, 2): pa.decimal128(10, 2),
    Decimal(20, 2): pa.decimal128(20, 2),
    Array(STRING): pa.list_(pa.string()),
    Array(Struct((("value", STRING), ("count", BIGINT)))): pa.list_(
        pa.struct([("value", pa.string()), ("count", pa.int64())])
    ),
}
COLUMNS: dict[str, DataType] = {
    "g": STRING,
    "x": DOUBLE,
    "y": DOUBLE,
    "i": INT,
    "s": STRING,
    "b": BOOLEAN,
    "d": Decimal(10, 2),
    "w": BOOLEAN,
    "ts": TIMESTAMP,
}
VALUES: dict[str, list[Any]] = {
    "g": ["a", "b", None],
    "x": [None, 0.1, 0.2, 1.5, -2.25, 1e16, -0.0, 0.0, 3.0],
    "y": [None, 1.0, 2.0, 0.3],
    "i": [None, 1, 2, -7, 2**31 - 1, 5],
    "s": [None, "a", "b", "ä", ""],
    "b": [None, True, False],
    "d": [None, decimal.Decimal("1.10"), decimal.Decimal("-99999999.99"), decimal.Decimal("0.00")],
    "w": [True, True, False, None],
}
SCHEMA = tuple(Field(name, kind) for name, kind in COLUMNS.items())

CASES: list[tuple[str, tuple[str, ...], DataType, Any]] = [
    ("COUNT", (), BIGINT, None),
    ("COUNT", ("x",), BIGINT, None),
    ("COUNT", ("x", "s"), BIGINT, None),
    ("COUNT_IF", ("b",), BIGINT, None),
    ("SUM", ("x",), DOUBLE, None),
    ("SUM", ("i",), BIGINT, None),
    ("SUM", ("d",), Decimal(20, 2), None),
    ("AVG", ("x",), DOUBLE, None),
    ("MIN", ("x",), DOUBLE, None),
    ("MAX", ("s",), STRING, None),
    ("MIN_BY", ("s", "x"), STRING, None),
    ("MAX_BY", ("s", "i"), STRING, None),
    ("FIRST", ("s",), STRING, None),
    ("LAST", ("x",), DOUBLE, None),
    ("ANY_VALUE", ("s",), STRING, None),
    ("BOOL_AND", ("b",), BOOLEAN, None),
    ("BOOL_OR", ("b",), BOOLEAN, None),
    ("BIT_AND", ("i",), INT, None),
    ("BIT_OR", ("i",), INT, None),
    ("BIT_XOR", ("i",), INT, None),
    ("MEDIAN", ("x",), DOUBLE, None),
    ("QUANTILE", ("x",), DOUBLE, 0.9),
    ("PERCENTILE_DISC", ("s",), STRING, 0.4),
    ("MODE", ("s",), STRING, None),
    ("TOP_K", ("s",), Array(Struct((("value", STRING), ("count", BIGINT)))), 2),
    ("VAR_POP", ("x",), DOUBLE, None),
    ("VAR_SAMP", ("x",), DOUBLE, None),
    ("STDDEV_POP", ("x",), DOUBLE, None),
    ("STDDEV_SAMP", ("x",), DOUBLE, None),
    ("SKEWNESS", ("y",), DOUBLE, None),
    ("KURTOSIS", ("y",), DOUBLE, None),
    ("COVAR_POP", ("x", "y"), DOUBLE, None),
    ("COVAR_SAMP", ("x", "y"), DOUBLE, None),
    ("CORR", ("x", "y"), DOUBLE, None),
    ("COLLECT_LIST", ("s",), Array(STRING), None),
    ("COLLECT_SET", ("s",), Array(STRING), None),
    ("STRING_AGG", ("s",), STRING, "-"),
]
ORDERED = ("FIRST", "LAST", "ANY_VALUE", "COLLECT_LIST", "STRING_AGG")
ROUNDED = ("VAR", "STDDEV", "SKEWNESS", "KURTOSIS", "COVAR", "CORR")
"""The semantics rounds more than once here; see test_moments_are_rounded_once."""


def test_every_function_is_tested():
    assert {case[0] for case in CASES} == set(FAMILIES)


def measure_of(case: tuple[str, tuple[str, ...], DataType, Any], **options: Any) -> Measure:
    function, arguments, kind, constant = case
    order = "ts" if function in ORDERED else None
    return Measure("v", function, ARROW[kind], arguments, order=order, constant=constant, **options)


def meaning_of(case: tuple[str, tuple[str, ...], DataType, Any], *, distinct: bool, where: bool):
    function, arguments, kind, constant = case
    columns = tuple(Column(name, COLUMNS[name]) for name in arguments)
    if constant is not None:
        literal = {str: STRING, int: INT, float: DOUBLE}[type(constant)]
        columns = (*columns, Literal(constant, literal))
    condition = Column("w", BOOLEAN) if where else None
    return aggregator(AggregateCall(function, columns, kind, distinct, condition), SCHEMA, {})


def random_rows(rng: random.Random, form: Form, count: int) -> list[dict[str, Any]]:
    """Rows with lifetimes, as such or as a changelog."""
    rows: list[dict[str, Any]] = []
    for _ in range(count):
        row = {name: rng.choice(values) for name, values in VALUES.items()}
        begin = rng.randint(1, 30)
        row["ts"] = rng.randint(1, 5)
        end = begin + rng.randint(1, 12)
        if form is Form.LIFETIMES:
            rows.append(row | {"_from": begin, "_until": end})
        else:
            copies = rng.choice([1, 1, 2])
            rows.append(row | {"_op": copies, "_time": begin})
            if rng.random() < 0.9:
                rows.append(row | {"_op": -copies, "_time": end})
    return rows


def relation_at(rows: list[dict[str, Any]], time: int) -> list[dict[str, Any]]:
    """The rows alive at a time."""
    alive: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        values = tuple(row[name] for name in COLUMNS)
        if "_from" in row:
            alive[values] += row["_from"] <= time < row["_until"]
        elif row["_time"] <= time:
            alive[values] += row["_op"]
    return [dict(zip(COLUMNS, values, strict=True)) for values in alive.elements()]


def instants(rows: list[dict[str, Any]]) -> list[int]:
    return sorted({row[k] for row in rows for k in ("_from", "_until", "_time") if k in row})


def same(left: Any, right: Any, *, close: bool) -> bool:
    if close and isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-12, abs_tol=1e-12)
    return left == right


@pytest.mark.parametrize("form", [Form.LIFETIMES, Form.CHANGELOG])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")
def test_aggregates_at_every_instant(case: Any, form: Form):
    function = case[0]
    for seed in range(12):
        rng = random.Random(f"{case}{form}{seed}")
        distinct, filtered = rng.random() < 0.3, rng.random() < 0.3
        if distinct and function in ("FIRST", "LAST", "ANY_VALUE"):
            distinct = False
        rows = random_rows(rng, form, rng.randint(0, 40))
        options = {"distinct": distinct, "where": "w" if filtered else None}
        kernel = Aggregate(
            port(form, **{name: ARROW[kind] for name, kind in COLUMNS.items()}),
            ("g",),
            (measure_of(case, **options),),
        )
        answer = run(kernel, {"input": rows}, rng).changes()
        value = meaning_of(case, distinct=distinct, where=filtered)
        current: Counter[tuple[Any, ...]] = Counter()
        for time in instants(rows):
            for (when, row), count in answer.items():
                if when == time:
                    current[row] += count
            groups: dict[Any, list[Row]] = defaultdict(list)
            for row in relation_at(rows, time):
                groups[row["g"]].append(Row(tuple(row.values()), row["ts"], 0, 0))
            want = {g: plain(value(members)) for g, members in groups.items()}
            got = dict(+current)
            assert all(count == 1 for count in got.values())
            assert not -current
            assert {g for g, _ in got} == set(want)
            for g, v in got:
                assert same(v, want[g], close=function.startswith(ROUNDED)), (time, g, v, want[g])


def test_several_measures_and_no_keys():
    rng = random.Random(3)
    rows = random_rows(rng, Form.CHANGELOG, 60)
    measures = tuple(
        Measure(f"m{number}", case[0], ARROW[case[2]], case[1], order=order, constant=case[3])
        for number, case in enumerate(CASES)
        for order in ("ts" if case[0] in ORDERED else None,)
    )
    kinds = {name: ARROW[kind] for name, kind in COLUMNS.items()}
    together = Aggregate(port(Form.CHANGELOG, **kinds), (), measures)
    one, two = (run(together, {"input": rows}, random.Random(seed)) for seed in (1, 2))
    assert one.changes() == two.changes()
    assert one.changes()


def test_moments_are_rounded_once():
    """The variance is the double nearest to the true one, however rows come and go."""
    rng = random.Random(5)
    numbers = [rng.choice([1e8, 1e8 + 1, 0.1, 3.7e-5, -2.5e3]) for _ in range(40)]
    rows = [{"x": x, "_op": 1, "_time": t} for t, x in enumerate(numbers, 1)]
    rows += [{"x": x, "_op": -1, "_time": t + 7} for t, x in enumerate(numbers, 1)]
    measures = (
        Measure("v", "VAR_SAMP", pa.float64(), ("x",)),
        Measure("p", "VAR_POP", pa.float64(), ("x",)),
    )
    kernel = Aggregate(port(Form.CHANGELOG, x=pa.float64()), (), measures)
    answer = run(kernel, {"input": rows}, rng).changes()
    for time in range(1, 47):
        window = [Fraction(x) for t, x in enumerate(numbers, 1) if t <= time < t + 7]
        mean = sum(window) / max(len(window), 1)
        squares = sum((x - mean) ** 2 for x in window)
        want = (
            float(squares / (len(window) - 1)) if len(window) > 1 else None,
            float(squares / len(window)) if window else None,
        )
        if window and (time, want) not in answer:
            before = [v for (t, v), count in answer.items() if t < time and count > 0]
            assert before[-1] == want or want in before


def test_emitting_only_insertions_or_deletions():
    rng = random.Random(9)
    rows = random_rows(rng, Form.LIFETIMES, 50)
    kinds = {name: ARROW[kind] for name, kind in COLUMNS.items()}
    measures = (Measure("n", "COUNT", pa.int64()), Measure("t", "SUM", pa.float64(), ("x",)))

    def answer(emit: Emit):
        kernel = Aggregate(port(Form.LIFETIMES, **kinds), ("g",), measures, emit)
        return run(kernel, {"input": rows}, random.Random(1)).changes()

    every = answer(Emit.CHANGES)
    assert answer(Emit.INSERTS) == +every
    assert answer(Emit.DELETES) == -every


def test_sum_has_no_room():
    """A sum that leaves its type is NULL, and a number again when it fits again."""
    rows = [
        {"x": 2**63 - 1, "_op": 1, "_time": 1},
        {"x": 1, "_op": 1, "_time": 2},
        {"x": 1, "_op": -1, "_time": 3},
    ]
    kernel = Aggregate(
        port(Form.CHANGELOG, x=pa.int64()), (), (Measure("s", "SUM", pa.int64(), ("x",)),)
    )
    answer = run(kernel, {"input": rows}, random.Random(0)).changes()
    assert answer[2, (None,)] == 1
    assert answer[3, (2**63 - 1,)] == 1


def test_infinities_and_nan_come_and_go():
    changes = [(1, 1, math.inf), (2, 1, -math.inf), (3, -1, math.inf), (4, 1, math.nan),
               (5, -1, math.nan), (6, -1, -math.inf), (7, 1, 1.5)]  # fmt: skip
    rows = [{"x": x, "_op": op, "_time": t} for t, op, x in changes]
    kernel = Aggregate(
        port(Form.CHANGELOG, x=pa.float64()), (), (Measure("s", "SUM", pa.float64(), ("x",)),)
    )
    answer = run(kernel, {"input": rows}, random.Random(0)).changes()
    sums = {time: row[0] for (time, row), count in answer.items() if count > 0}
    assert sums == {1: math.inf, 2: "NaN", 3: -math.inf, 4: "NaN", 5: -math.inf, 7: 1.5}


def test_late_rows_are_dropped_and_counted():
    kernel = Aggregate(port(Form.STREAM, x=pa.int64()), (), (Measure("n", "COUNT", pa.int64()),))
    from cqlc.runtime.blobs import Identity, MemoryStore
    from cqlc.runtime.calendar import Span
    from cqlc.runtime.columns import BEGINNING
    from cqlc.runtime.state import State

    store = MemoryStore()
    state = State(store, Identity("test"))
    schema = kernel.port.schema
    first = pa.table({"x": [1, 2], "_time": [5, 20]}, schema=schema)
    kernel.step(state.scope(), {"input": first}, Span(BEGINNING, 10))
    state = State(store, Identity("test"), state.save(10))
    second = pa.table({"x": [3, 4], "_time": [10, 11]}, schema=schema)
    out = kernel.step(state.scope(), {"input": second}, Span(10, 30))
    assert state.late == {"input": 1}
    assert out.to_pylist()[-1]["n"] == 3
