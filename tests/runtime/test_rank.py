"""Ranks at every instant, against the semantics."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from cqlc.algebra.expr import Column
from cqlc.algebra.expr import SortKey as SortKeyExpr
from cqlc.algebra.plan import Rank as RankPlan
from cqlc.algebra.plan import RankKind as RankKindPlan
from cqlc.algebra.plan import Table
from cqlc.algebra.schema import Field
from cqlc.datatypes import BIGINT, DOUBLE, STRING
from cqlc.runtime.kernel import Form
from cqlc.runtime.rank import Rank, RankKind, SortKey
from cqlc.semantics import Meaning, Timeline
from tests.runtime.replay import plain, port, run

FIELDS = {"p": STRING, "v": DOUBLE, "w": BIGINT}
SCHEMA = tuple(Field(name, kind) for name, kind in FIELDS.items())
KINDS = {"p": pa.string(), "v": pa.float64(), "w": pa.int64()}


@pytest.mark.parametrize("limit", [None, 1, 2, 3])
@pytest.mark.parametrize("kind", list(RankKind))
def test_ranks(kind: RankKind, limit: int | None):
    for seed in range(25):
        rng = random.Random(f"{kind}{limit}{seed}")
        form = rng.choice([Form.CHANGELOG, Form.LIFETIMES])
        rows: list[dict[str, Any]] = []
        changes: list[tuple[int, int, tuple[Any, ...]]] = []
        for _ in range(rng.randint(0, 20)):
            values = (
                rng.choice(["a", "b", None]),
                rng.choice([None, 1.0, 2.5, float("nan"), 2.5]),
                rng.choice([1, 2, None]),
            )
            begin = rng.randint(1, 20)
            end = begin + rng.randint(1, 10)
            changes += [(begin, 1, values), (end, -1, values)]
            row = dict(zip(KINDS, values, strict=True))
            if form is Form.LIFETIMES:
                rows.append(row | {"_from": begin, "_until": end})
            else:
                rows += [row | {"_op": 1, "_time": begin}, row | {"_op": -1, "_time": end}]
        order = [
            SortKey(name, rng.random() < 0.5, rng.random() < 0.5)
            for name in rng.sample(["v", "w"], rng.randint(0, 2))
        ]
        partition = rng.choice([(), ("p",)])
        kernel = Rank(port(form, **KINDS), kind, partition, tuple(order), "n", limit)
        answer = run(kernel, {"input": rows}, rng).changes()
        keys = tuple(
            SortKeyExpr(Column(k.name, FIELDS[k.name]), k.descending, k.nulls_first) for k in order
        )
        plan = RankPlan(Table("t", SCHEMA), RankKindPlan(kind.value), partition, keys, "n")
        want: Counter[tuple[int, tuple[Any, ...]]] = Counter()
        for time, sign, values in Meaning(Timeline(tables={"t": changes})).changelog(plan):
            if limit is None or values[-1] <= limit:
                want[time, tuple(plain(v) for v in values)] += sign
        assert answer == Counter({key: count for key, count in want.items() if count})
