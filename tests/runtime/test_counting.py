"""DISTINCT in both forms and the bag and set operations, against their definitions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from cqlc.runtime.counters import Counters, Counting
from cqlc.runtime.distinct import WeakDistinct
from cqlc.runtime.kernel import Emit, Form
from tests.runtime.replay import port, relation_changes, run

KINDS = {"a": pa.string(), "b": pa.float64()}
MEANINGS: dict[Counting, Callable[[int, int], int]] = {
    Counting.DISTINCT: lambda left, right: min(left, 1),
    Counting.UNION: lambda left, right: min(left + right, 1),
    Counting.EXCEPT: lambda left, right: int(left > 0 and right == 0),
    Counting.EXCEPT_ALL: lambda left, right: max(left - right, 0),
    Counting.INTERSECT: lambda left, right: int(left > 0 and right > 0),
    Counting.INTERSECT_ALL: lambda left, right: min(left, right),
}


def random_rows(rng: random.Random, form: Form, names: tuple[str, str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for _ in range(rng.randint(0, 30)):
        values = (rng.choice(["x", "y", None]), rng.choice([0.5, None]))
        row = dict(zip(names, values, strict=True))
        begin = rng.randint(1, 25)
        end = begin + rng.choice([1, 2, 5, 10, 20])
        match form:
            case Form.LIFETIMES:
                rows.append(row | {"_from": begin, "_until": end})
            case Form.CHANGELOG:
                rows.append(row | {"_op": 1, "_time": begin})
                rows.append(row | {"_op": -1, "_time": end})
            case Form.STREAM:
                rows.append(row | {"_time": begin})
    return rows


def bag_at(rows: list[dict[str, Any]], time: int) -> Counter[tuple[Any, ...]]:
    bag: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        values = tuple(v for k, v in row.items() if not k.startswith("_"))
        if "_from" in row:
            bag[values] += row["_from"] <= time < row["_until"]
        elif row["_time"] <= time:
            bag[values] += row.get("_op", 1)
    return bag


@pytest.mark.parametrize("form", list(Form))
@pytest.mark.parametrize("counting", list(Counting))
def test_counters(counting: Counting, form: Form):
    for seed in range(15):
        rng = random.Random(f"{counting}{form}{seed}")
        right_form = rng.choice(list(Form))
        left = random_rows(rng, form, ("a", "b"))
        right = random_rows(rng, right_form, ("c", "d"))
        other = port(right_form, c=pa.string(), d=pa.float64())
        inputs = {"left": left, "right": right}
        if counting is Counting.DISTINCT:
            other, inputs, right = None, {"left": left}, []
        kernel = Counters(counting, port(form, **KINDS), other)
        relation = {}
        for time in range(50):
            lefts, rights = bag_at(left, time), bag_at(right, time)
            counts = {r: MEANINGS[counting](lefts[r], rights[r]) for r in {*lefts, *rights}}
            relation[time] = Counter(counts)
        want = relation_changes(relation)
        assert run(kernel, inputs, rng).changes() == want
        inserts = Counters(counting, port(form, **KINDS), other, Emit.INSERTS)
        assert run(inserts, inputs, rng).elements() == +want


@pytest.mark.parametrize("seed", range(120))
def test_weak_distinct(seed: int):
    rng = random.Random(seed)
    rows = random_rows(rng, Form.LIFETIMES, ("a", "b"))
    kernel = WeakDistinct(port(Form.LIFETIMES, **KINDS))
    answer = run(kernel, {"input": rows}, rng)
    relation = {t: Counter(dict.fromkeys(+bag_at(rows, t), 1)) for t in range(60)}
    assert answer.changes() == relation_changes(relation)
    again = run(kernel, {"input": rows}, random.Random(seed + 1))
    assert sorted(map(str, again.rows)) == sorted(map(str, answer.rows)), "depends on batches"
    assert answer.state_bytes[-1] == 0


def test_the_longest_living_spare_takes_over():
    """The thesis's example (a at 1, 4, 7; b at 5; T = 10) and its correction for unequal ends."""
    rows = [(1, 11), (4, 14), (7, 17)]
    kernel = WeakDistinct(port(Form.LIFETIMES, a=pa.string()))
    given = [{"a": "a", "_from": f, "_until": u} for f, u in rows]
    given.append({"a": "b", "_from": 5, "_until": 15})
    answer = run(kernel, {"input": given}, random.Random(0))
    pieces = sorted((row["_from"], row["_until"], row["a"]) for row in answer.rows)
    assert pieces == [(1, 11, "a"), (5, 15, "b"), (11, 17, "a")]
    weak = [{"a": "a", "_from": f, "_until": u} for f, u in [(1, 10), (2, 30), (3, 15)]]
    answer = run(kernel, {"input": weak}, random.Random(0))
    assert sorted((r["_from"], r["_until"]) for r in answer.rows) == [(1, 10), (10, 30)]


def test_bag_difference_follows_the_definition():
    """The printed rule emits too early: of two copies on the right only one has gone."""
    left = [{"a": "a", "_from": 3, "_until": 13}]
    right = [{"a": "a", "_from": t, "_until": t + 10} for t in (1, 2)]
    one = port(Form.LIFETIMES, a=pa.string())
    answer = run(
        Counters(Counting.EXCEPT_ALL, one, one), {"left": left, "right": right}, random.Random(0)
    )
    assert answer.changes() == Counter({(12, ("a",)): 1, (13, ("a",)): -1})
