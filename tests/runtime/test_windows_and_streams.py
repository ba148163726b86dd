"""Window joins, as-of joins, streams of relations, sessions and pipelines."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from cqlc.algebra.expr import Column, Compare, Comparison
from cqlc.algebra.plan import Dstream, EveryChange, Istream, Scan, Table, Unbounded
from cqlc.algebra.plan import Grid as GridPlan
from cqlc.algebra.plan import IstreamRestore as IstreamRestorePlan
from cqlc.algebra.plan import JoinKind as JoinKindPlan
from cqlc.algebra.plan import NrrJoin as NrrJoinPlan
from cqlc.algebra.plan import Rstream as RstreamPlan
from cqlc.algebra.plan import RstreamRestore as RstreamRestorePlan
from cqlc.algebra.plan import Session as SessionPlan
from cqlc.algebra.schema import Field
from cqlc.datatypes import BIGINT, STRING, TIMESTAMP
from cqlc.runtime.aggregate import Aggregate
from cqlc.runtime.columns import FOREVER
from cqlc.runtime.join import JoinKind
from cqlc.runtime.kernel import Emit, Form, Port
from cqlc.runtime.matching import Condition, Equality
from cqlc.runtime.measures import Measure
from cqlc.runtime.nrr import NrrJoin
from cqlc.runtime.pipeline import Apply, Pipeline, Stage, Together
from cqlc.runtime.rows import Rows
from cqlc.runtime.sessions import Sessions
from cqlc.runtime.streams import Grid, Net, Rstream, RstreamRestore
from cqlc.runtime.window_join import WindowJoin
from cqlc.semantics import Meaning, Timeline
from tests.runtime.replay import port, run
from tests.runtime.test_join import CONDITIONS, LEFT, RIGHT, random_rows

STREAM = (Field("k", STRING), Field("v", BIGINT), Field("_time", TIMESTAMP))
TABLE = (Field("k", STRING), Field("v", BIGINT))
KINDS = {"k": pa.string(), "v": pa.int64()}
Changes = list[tuple[int, int, tuple[Any, ...]]]


# ------------------------------------------------------------------------------- window join


@pytest.mark.parametrize("name", list(CONDITIONS))
def test_window_join(name: str):
    condition, holds = CONDITIONS[name]
    for seed in range(25):
        rng = random.Random(f"{name}{seed}")
        lefts = random_rows(rng, Form.LIFETIMES, ["k", "x"])
        rights = random_rows(rng, Form.LIFETIMES, ["j", "y"])
        kernel = WindowJoin(port(Form.LIFETIMES, **LEFT), port(Form.LIFETIMES, **RIGHT), condition)
        answer = run(kernel, {"left": lefts, "right": rights}, rng)
        want = Counter(
            (begin, end, a["k"], a["x"], b["j"], b["y"])
            for a in lefts
            for b in rights
            for begin, end in [(max(a["_from"], b["_from"]), min(a["_until"], b["_until"]))]
            if begin < end and holds((a["k"], a["x"]), (b["j"], b["y"]))
        )
        got = Counter(
            (r["_from"], r["_until"], r["k"], r["x"], r["j"], r["y"]) for r in answer.rows
        )
        assert got == want


def test_the_lifetimes_of_the_thesis():
    """T = 10; the results of section 2.3.2, of which one made later dies before an older one."""
    left = [("c", 2), ("a", 9), ("c", 12)]
    right = [("c", 3), ("a", 4), ("a", 12)]
    kernel = WindowJoin(
        port(Form.LIFETIMES, k=pa.string()),
        port(Form.LIFETIMES, j=pa.string()),
        Condition((Equality("k", "j"),)),
    )
    inputs = {
        "left": [{"k": k, "_from": t, "_until": t + 10} for k, t in left],
        "right": [{"j": k, "_from": t, "_until": t + 10} for k, t in right],
    }
    answer = run(kernel, inputs, random.Random(1))
    lifetimes = sorted((row["_from"], row["_until"], row["k"]) for row in answer.rows)
    assert lifetimes == [(3, 12, "c"), (9, 14, "a"), (12, 13, "c"), (12, 19, "a")]


def test_internal_windows_bound_state_not_answers():
    schema = pa.schema([("_from", pa.int64()), ("_until", pa.int64()), ("_visible", pa.int64())])
    one = Port(Form.LIFETIMES, pa.schema([("k", pa.string()), *schema]))
    other = port(Form.LIFETIMES, j=pa.string())
    internal = [{"k": "a", "_from": 1, "_until": 11, "_visible": FOREVER}]
    external = [{"j": "a", "_from": t, "_until": t + 5} for t in (4, 12)]
    kernel = WindowJoin(one, other, Condition((Equality("k", "j"),)))
    answer = run(kernel, {"left": internal, "right": external}, random.Random(0))
    assert [(r["_from"], r["_until"], r["_visible"]) for r in answer.rows] == [(4, 9, 9)]


# --------------------------------------------------------------------------------- as-of join


def nrr_changes(rng: random.Random) -> Changes:
    changes: Changes = []
    for _ in range(rng.randint(0, 12)):
        values = (rng.choice(["a", "b", None]), rng.randint(0, 2))
        begin = rng.randint(0, 25)
        changes.append((begin, 1, values))
        if rng.random() < 0.7:
            changes.append((begin + rng.randint(1, 10), -1, values))
    return changes


@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI])
def test_as_of_join(kind: JoinKind):
    for seed in range(40):
        rng = random.Random(f"{kind}{seed}")
        rows = [
            {"k": rng.choice(["a", "b", None]), "v": rng.randint(0, 3), "_time": rng.randint(1, 30)}
            for _ in range(rng.randint(0, 20))
        ]
        table = nrr_changes(rng)
        changes = [{"j": v[0], "y": v[1], "_op": s, "_time": t} for t, s, v in table]
        kernel = NrrJoin(
            port(Form.STREAM, **KINDS),
            port(Form.CHANGELOG, j=pa.string(), y=pa.int64()),
            kind,
            Condition((Equality("k", "j"),)),
            "_time",
        )
        answer = run(kernel, {"left": rows, "right": changes}, rng)
        arrivals = [(row["_time"], (row["k"], row["v"])) for row in rows]
        predicate = Compare(Comparison.EQ, Column("k", STRING), Column("n.k", STRING))
        plan = NrrJoinPlan(
            Unbounded(Scan("s", STREAM)), "t", TABLE, "n", JoinKindPlan(kind.value), predicate
        )
        meaning = Meaning(Timeline({"s": arrivals}, {"t": table}))
        want: Counter[tuple[int, tuple[Any, ...]]] = Counter()
        for time, sign, values in meaning.changelog(plan):
            assert sign > 0
            want[time, (*values[:2], *values[3:])] += 1
        assert answer.elements() == want


def test_a_row_waits_for_its_own_time_not_for_its_window():
    """With SLIDE a row begins after its own time, as of which the table is read."""
    schema = pa.schema(
        [("k", pa.string()), ("ts", pa.int64()), ("_from", pa.int64()), ("_until", pa.int64())]
    )
    kernel = NrrJoin(
        Port(Form.LIFETIMES, schema),
        port(Form.CHANGELOG, j=pa.string(), y=pa.int64()),
        JoinKind.INNER,
        Condition((Equality("k", "j"),)),
        "ts",
    )
    rows = [{"k": "a", "ts": 3, "_from": 10, "_until": 20}]
    changes = [
        {"j": "a", "y": y, "_op": op, "_time": t} for y, op, t in ((1, 1, 2), (1, -1, 3), (2, 1, 3))
    ]
    for batches in range(1, 5):
        from tests.runtime import replay

        checked, replay.check_times = replay.check_times, lambda *_: None
        try:
            answer = run(kernel, {"left": rows, "right": changes}, random.Random(batches), batches)
        finally:
            replay.check_times = checked
        assert [(r["y"], r["_from"], r["_until"]) for r in answer.rows] == [(1, 10, 20)]


# ----------------------------------------------------------------------- streams of relations


def changing_table(rng: random.Random, form: Form) -> tuple[Changes, list[dict[str, Any]]]:
    changes: Changes = []
    rows: list[dict[str, Any]] = []
    for _ in range(rng.randint(0, 15)):
        values = (rng.choice(["a", "b", None]), rng.randint(0, 1))
        begin = rng.randint(1, 25)
        end = begin + rng.randint(1, 12)
        forever = rng.random() < 0.2
        changes.append((begin, 1, values))
        row = dict(zip(KINDS, values, strict=True))
        if form is Form.LIFETIMES:
            rows.append(row | {"_from": begin, "_until": FOREVER if forever else end})
        else:
            rows.append(row | {"_op": 1, "_time": begin})
        if not forever:
            changes.append((end, -1, values))
            if form is Form.CHANGELOG:
                rows.append(row | {"_op": -1, "_time": end})
    return changes, rows


def elements(meaning: Meaning, plan: Any) -> Counter[tuple[int, tuple[Any, ...]]]:
    return Counter((time, values[:-1]) for time, values in meaning.stream(plan))


@pytest.mark.parametrize("form", [Form.LIFETIMES, Form.CHANGELOG])
@pytest.mark.parametrize("seed", range(40))
def test_streams_of_relations(form: Form, seed: int):
    rng = random.Random(f"{form}{seed}")
    changes, rows = changing_table(rng, form)
    horizon = 40
    table = Table("t", TABLE)
    meaning = Meaning(Timeline(tables={"t": changes}), horizon=horizon)
    one = port(form, **KINDS)
    period, offset = rng.choice([(1, 0), (3, 0), (5, 2)])
    cases = [
        (Net(one, Emit.INSERTS), Istream(table)),
        (Net(one, Emit.DELETES), Dstream(table)),
        (Rstream(one), RstreamPlan(table, EveryChange())),
        (Rstream(one, Grid(period, offset)), RstreamPlan(table, GridPlan(period, offset))),
    ]
    for kernel, plan in cases:
        answer = run(kernel, {"input": rows}, rng, end=horizon)
        assert answer.elements() == elements(meaning, plan), kernel


@pytest.mark.parametrize("seed", range(40))
def test_restore(seed: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("tests.runtime.replay.check_times", lambda *_: None)
    rng = random.Random(seed)
    changes, rows = changing_table(rng, Form.CHANGELOG)
    grid = rng.choice([(3, 0), (5, 2)])
    up = GridPlan(*grid).up
    sampled = [(up(t - 1), sign, values) for t, sign, values in changes]
    horizon = 45
    meaning = Meaning(Timeline(tables={"t": changes, "s": sampled}), horizon=horizon)
    table, coarse = Table("t", TABLE), Table("s", TABLE)
    one = port(Form.CHANGELOG, **KINDS)
    answer = run(Net(one, Emit.INSERTS, Grid(*grid)), {"input": rows}, rng, end=horizon)
    assert answer.elements() == elements(meaning, IstreamRestorePlan(table, GridPlan(*grid)))
    coarse_rows = [
        dict(zip(KINDS, values, strict=True)) | {"_op": sign, "_time": time}
        for time, sign, values in sampled
    ]
    kernel = RstreamRestore(one, one, Grid(*grid))
    answer = run(kernel, {"sampled": coarse_rows, "continuous": rows}, rng, end=horizon)
    plan = RstreamRestorePlan(coarse, table, GridPlan(*grid))
    assert answer.elements() == elements(meaning, plan)


# ----------------------------------------------------------------------------------- sessions


@pytest.mark.parametrize("seed", range(40))
def test_sessions(seed: int):
    rng = random.Random(seed)
    partition = rng.choice([(), ("k",)])
    gap = rng.randint(1, 6)
    rows = [
        {"k": rng.choice(["a", "b", None]), "v": rng.randint(0, 3), "_time": rng.randint(1, 60)}
        for _ in range(rng.randint(0, 30))
    ]
    kernel = Sessions(port(Form.STREAM, **KINDS), gap, partition, pa.int64())
    answer = run(kernel, {"input": rows}, rng)
    arrivals = [(row["_time"], (row["k"], row["v"])) for row in rows]
    plan = SessionPlan(Scan("s", STREAM), gap, partition)
    want: Counter[tuple[int, tuple[Any, ...]]] = Counter()
    for time, sign, values in Meaning(Timeline({"s": arrivals})).changelog(plan):
        want[time, (*values[:2], *values[3:])] += sign
    assert answer.changes() == Counter({key: count for key, count in want.items() if count})
    assert answer.state_bytes[-1] == 0


# ---------------------------------------------------------------------------------- pipelines


def test_a_pipeline_is_its_kernels_one_after_the_other():
    """Sums over the last three rows of a partition, of two streams together, odd values only."""
    rng = random.Random(8)
    stream, log = port(Form.STREAM, **KINDS), port(Form.CHANGELOG, **KINDS)

    def odd(rows: pa.Table) -> pa.Table:
        mask = [value % 2 == 1 for value in rows.column("v").to_pylist()]
        return rows.filter(pa.array(mask, pa.bool_()))

    def some(count: int) -> list[dict[str, Any]]:
        return [
            {"k": rng.choice("ab"), "v": rng.randint(0, 9), "_time": rng.randint(1, 50)}
            for _ in range(count)
        ]

    window = Rows(stream, 3, ("k",), ("k", "v"))
    total = Aggregate(log, ("k",), (Measure("s", "SUM", pa.int64(), ("v",)),))
    pipeline = Pipeline(
        {"one": stream, "two": stream},
        (
            Stage("both", Together({"a": stream, "b": stream}), {"a": "one", "b": "two"}),
            Stage("odd", Apply(stream, odd, Form.STREAM), {"input": "both"}),
            Stage("window", window, {"input": "odd"}),
            Stage("total", total, {"input": "window"}),
        ),
    )
    one, two = some(30), some(30)
    answer = run(pipeline, {"one": one, "two": two}, rng)
    filtered = [row for row in one + two if row["v"] % 2 == 1]
    windowed = run(window, {"input": filtered}, random.Random(1)).rows
    want = run(total, {"input": windowed}, random.Random(2)).changes()
    assert answer.changes() == want
    assert want
