"""Windows counted in rows, against the semantics."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from cqlc.algebra.plan import Rows as RowsPlan
from cqlc.algebra.plan import Scan
from cqlc.algebra.schema import Field
from cqlc.datatypes import BIGINT, STRING, TIMESTAMP
from cqlc.runtime.kernel import Form
from cqlc.runtime.rows import Rows
from cqlc.semantics import Meaning, Timeline
from tests.runtime.replay import port, run

SCHEMA = (Field("k", STRING), Field("v", BIGINT), Field("_time", TIMESTAMP))


def want(rows: list[dict[str, Any]], window: RowsPlan) -> Counter[tuple[int, tuple[Any, ...]]]:
    arrivals = [(row["_time"], (row["k"], row["v"])) for row in rows]
    meaning = Meaning(Timeline({"s": arrivals}, ordered=False))
    changes: Counter[tuple[int, tuple[Any, ...]]] = Counter()
    for time, sign, values in meaning.changelog(window):
        changes[time, values[:-1]] += sign
    return Counter({key: count for key, count in changes.items() if count})


@pytest.mark.parametrize("partition", [(), ("k",)])
@pytest.mark.parametrize("seed", range(60))
def test_rows_windows(partition: tuple[str, ...], seed: int):
    rng = random.Random(seed)
    count = rng.randint(1, 5)
    span = rng.choice([None, None, 4, 15])
    slide = rng.choice([1, 1, 2, 3, 7])
    rows = [
        {"k": rng.choice(["a", "b", None]), "v": rng.choice([None, 1, 2, 3]), "_time": t}
        for t in (rng.randint(1, 40) for _ in range(rng.randint(0, 50)))
    ]
    kernel = Rows(
        port(Form.STREAM, k=pa.string(), v=pa.int64()), count, partition, ("k", "v"), span, slide
    )
    plan = RowsPlan(Scan("s", SCHEMA), count, partition, span, slide)
    answer = run(kernel, {"input": rows}, rng)
    assert answer.changes() == want(rows, plan)


def test_state_of_a_rows_window_stays_small():
    rng = random.Random(1)
    rows = [{"k": rng.choice("ab"), "v": t, "_time": t} for t in range(1, 5000)]
    kernel = Rows(port(Form.STREAM, k=pa.string(), v=pa.int64()), 3, ("k",), ("v",), 50)
    answer = run(kernel, {"input": rows}, rng, batches=50)
    assert max(answer.state_bytes[:-1]) < 30_000
    assert answer.state_bytes[-1] == 0
