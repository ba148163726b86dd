"""Joins of everything with everything, against nested loops at every instant."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cqlc.runtime.join import Join, JoinKind
from cqlc.runtime.kernel import Emit, Form
from cqlc.runtime.matching import Band, Condition, Equality
from tests.runtime.replay import port, relation_changes, run

Row = tuple[Any, ...]
LEFT = {"k": pa.string(), "x": pa.int64()}
RIGHT = {"j": pa.string(), "y": pa.int64()}


def uneven(pairs: pa.Table) -> pa.Array:
    """x <> y, as SQL has it."""
    return pc.not_equal(pairs["x"], pairs["y"]).combine_chunks()


def differ(left: Row, right: Row) -> bool:
    return left[1] is not None and right[1] is not None and left[1] != right[1]


def near(left: Row, right: Row) -> bool:
    return left[1] is not None and right[1] is not None and -1 <= right[1] - left[1] <= 2


def equal(left: Row, right: Row) -> bool:
    return left[0] is not None and left[0] == right[0]


CONDITIONS: dict[str, tuple[Condition, Callable[[Row, Row], bool]]] = {
    "key": (Condition((Equality("k", "j"),)), equal),
    "same": (Condition((Equality("k", "j", nulls=True),)), lambda a, b: a[0] == b[0]),
    "two keys": (
        Condition((Equality("k", "j"), Equality("x", "y", nulls=True))),
        lambda a, b: equal(a, b) and a[1] == b[1],
    ),
    "residual": (
        Condition((Equality("k", "j"),), residual=uneven),
        lambda a, b: equal(a, b) and differ(a, b),
    ),
    "band": (
        Condition((Equality("k", "j"),), Band("x", "y", -1, 2)),
        lambda a, b: equal(a, b) and near(a, b),
    ),
    "band alone": (Condition(band=Band("x", "y", -1, 2)), near),
    "theta": (Condition(residual=uneven), differ),
    "cross": (Condition(), lambda a, b: True),
    "all": (
        Condition((Equality("k", "j"),), Band("x", "y", -1, 2), uneven),
        lambda a, b: equal(a, b) and near(a, b) and differ(a, b),
    ),
}


def random_rows(rng: random.Random, form: Form, names: list[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for _ in range(rng.randint(0, 14)):
        values = (rng.choice(["a", "b", None]), rng.choice([None, 0, 1, 2, 5]))
        row = dict(zip(names, values, strict=True))
        begin = rng.randint(1, 25)
        end = begin + rng.choice([1, 2, 5, 10, 20])
        match form:
            case Form.LIFETIMES:
                end = 2**63 - 1 if rng.random() < 0.1 else end
                rows.append(row | {"_from": begin, "_until": end})
            case Form.CHANGELOG:
                copies = rng.choice([1, 1, 2])
                rows.append(row | {"_op": copies, "_time": begin})
                if rng.random() < 0.8:
                    rows.append(row | {"_op": -copies, "_time": end})
            case Form.STREAM:
                rows.append(row | {"_time": begin})
    return rows


def bag_at(rows: list[dict[str, Any]], time: int) -> list[Row]:
    bag: Counter[Row] = Counter()
    for row in rows:
        values = tuple(v for k, v in row.items() if not k.startswith("_"))
        if "_from" in row:
            bag[values] += row["_from"] <= time < row["_until"]
        elif row["_time"] <= time:
            bag[values] += row.get("_op", 1)
    return list(bag.elements())


def joined(
    kind: JoinKind, lefts: list[Row], rights: list[Row], holds: Callable[[Row, Row], bool]
) -> Counter[Row]:
    pairs = [(a, b) for a in lefts for b in rights if holds(a, b)]
    with_partner = [a for a in lefts if any(holds(a, b) for b in rights)]
    lonely = [a for a in lefts if not any(holds(a, b) for b in rights)]
    strangers = [b for b in rights if not any(holds(a, b) for a in lefts)]
    match kind:
        case JoinKind.INNER:
            return Counter(a + b for a, b in pairs)
        case JoinKind.SEMI:
            return Counter(with_partner)
        case JoinKind.ANTI:
            return Counter(lonely)
        case JoinKind.LEFT:
            return Counter([*(a + b for a, b in pairs), *((*a, None, None) for a in lonely)])
        case JoinKind.FULL:
            padded = [(*a, None, None) for a in lonely] + [(None, None, *b) for b in strangers]
            return Counter([*(a + b for a, b in pairs), *padded])


@pytest.mark.parametrize("kind", list(JoinKind))
@pytest.mark.parametrize("name", list(CONDITIONS))
def test_joins(kind: JoinKind, name: str):
    condition, holds = CONDITIONS[name]
    for seed in range(25):
        rng = random.Random(f"{kind}{name}{seed}")
        forms = rng.choice(list(Form)), rng.choice(list(Form))
        lefts = random_rows(rng, forms[0], ["k", "x"])
        rights = random_rows(rng, forms[1], ["j", "y"])
        kernel = Join(port(forms[0], **LEFT), port(forms[1], **RIGHT), kind, condition)
        relation = {
            time: joined(kind, bag_at(lefts, time), bag_at(rights, time), holds)
            for time in range(50)
        }
        answer = run(kernel, {"left": lefts, "right": rights}, rng)
        assert answer.changes() == relation_changes(relation)


def test_not_exists_of_the_thesis():
    """T = 10; left a at 1, b at 2, a at 8; right a at 4."""
    one = port(Form.LIFETIMES, k=pa.string(), n=pa.int64())
    other = port(Form.LIFETIMES, j=pa.string())
    lefts = [
        {"k": k, "n": t, "_from": t, "_until": t + 10} for k, t in (("a", 1), ("b", 2), ("a", 8))
    ]
    rights = [{"j": "a", "_from": 4, "_until": 14}]
    kernel = Join(one, other, JoinKind.ANTI, Condition((Equality("k", "j"),)))
    answer = run(kernel, {"left": lefts, "right": rights}, random.Random(0))
    log = sorted((t, row[0], row[1], n) for (t, row), n in answer.changes().items())
    assert log == [
        (1, "a", 1, 1), (2, "b", 2, 1), (4, "a", 1, -1),
        (12, "b", 2, -1), (14, "a", 8, 1), (18, "a", 8, -1),
    ]  # fmt: skip


def test_a_retroactive_table():
    """Quotes joined with a table that changes under them (Golab, section 3.3)."""
    quotes = [
        {"k": k, "x": t, "_from": t, "_until": t + 10} for k, t in (("A", 1), ("A", 4), ("B", 5))
    ]
    table = [("A", 1, -100), ("A", -1, 2), ("B", 1, 3)]
    names = [{"j": k, "_op": op, "_time": t} for k, op, t in table]
    kernel = Join(
        port(Form.LIFETIMES, **LEFT),
        port(Form.CHANGELOG, j=pa.string()),
        JoinKind.INNER,
        Condition((Equality("k", "j"),)),
    )
    answer = run(kernel, {"left": quotes, "right": names}, random.Random(0))
    log = sorted((t, row[1], n) for (t, row), n in answer.changes().items())
    assert log == [(1, 1, 1), (2, 1, -1), (5, 5, 1), (15, 5, -1)]


def test_emitting_only_insertions():
    rng = random.Random(4)
    lefts = random_rows(rng, Form.CHANGELOG, ["k", "x"])
    rights = random_rows(rng, Form.CHANGELOG, ["j", "y"])
    ports = port(Form.CHANGELOG, **LEFT), port(Form.CHANGELOG, **RIGHT)
    every, inserts = (
        run(
            Join(*ports, JoinKind.LEFT, CONDITIONS["key"][0], emit),
            {"left": lefts, "right": rights},
            random.Random(1),
        )
        for emit in (Emit.CHANGES, Emit.INSERTS)
    )
    assert inserts.elements() == +every.changes()


def test_state_leaves():
    """Over many window lengths the state of a join stays as small as its windows."""
    rng = random.Random(6)
    rows = [{"k": rng.choice("abc"), "x": t, "_from": t, "_until": t + 20} for t in range(1, 3000)]
    others = [
        {"j": rng.choice("abc"), "y": t, "_from": t, "_until": t + 20} for t in range(1, 3000)
    ]
    for kind in JoinKind:
        kernel = Join(
            port(Form.LIFETIMES, **LEFT), port(Form.LIFETIMES, **RIGHT), kind, CONDITIONS["key"][0]
        )
        answer = run(kernel, {"left": rows, "right": others}, random.Random(2), batches=60)
        assert answer.state_bytes[-1] == 0
        assert max(answer.state_bytes) < 150_000
