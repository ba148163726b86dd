"""How many rows the kernels process per CPU second, without Spark: `python -m` this module.

Rows come in event-time order in batches; the watermark is one batch behind, as in Spark, so every
row waits in state once. State is encoded and decoded as in a query, into a dictionary.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa

from cqlc.runtime.aggregate import Aggregate
from cqlc.runtime.blobs import Identity, MemoryStore
from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import BEGINNING
from cqlc.runtime.counters import Counters, Counting
from cqlc.runtime.distinct import WeakDistinct
from cqlc.runtime.join import Join, JoinKind
from cqlc.runtime.kernel import Emit, Form, Kernel
from cqlc.runtime.matching import Condition, Equality
from cqlc.runtime.measures import Measure
from cqlc.runtime.nrr import NrrJoin
from cqlc.runtime.pipeline import Pipeline, Stage
from cqlc.runtime.rank import Rank, RankKind, SortKey
from cqlc.runtime.rows import Rows
from cqlc.runtime.schemas import port
from cqlc.runtime.sessions import Sessions
from cqlc.runtime.state import State
from cqlc.runtime.streams import Net
from cqlc.runtime.window_join import WindowJoin

MINUTE = 60_000_000
WINDOW = 10 * MINUTE
DURATION = 100 * MINUTE
COLUMNS = {"k": "BIGINT", "x": "DOUBLE"}
RIGHT = {"j": "BIGINT", "y": "DOUBLE"}
Rows_ = dict[str, pa.Table]


class Feed:
    """Random rows of a form, `rows` of them over the whole duration, keys from `keys`."""

    def __init__(self, form: Form, keys: int, columns: dict[str, str], share: float = 1.0) -> None:
        self.form, self.keys, self.columns, self.share = form, keys, columns, share

    def rows(self, rng: np.random.Generator, batch: int, count: int, length: int) -> pa.Table:
        count = int(count * self.share)
        at = np.sort(batch * length + rng.integers(1, length, count))
        names = list(self.columns)
        data = {
            names[0]: rng.integers(0, self.keys, count),
            names[1]: np.round(rng.random(count) * 1000, 2),
        }
        match self.form:
            case Form.STREAM:
                return pa.table(data | {"_time": at})
            case Form.LIFETIMES:
                return pa.table(data | {"_from": at, "_until": at + WINDOW})
            case Form.CHANGELOG:
                return pa.table(data | {"_op": np.ones(count, np.int64), "_time": at})


def measure(name: str, kernel: Kernel, feeds: dict[str, Feed], rows: int, batches: int) -> None:
    rng = np.random.default_rng(0)
    store, header, low = MemoryStore(), None, BEGINNING
    spent, answered, fed, state_bytes = 0.0, 0, 0, 0
    length, count = DURATION // batches, rows // batches
    for batch in range(batches):
        arrived = {side: feed.rows(rng, batch, count, length) for side, feed in feeds.items()}
        fed += sum(table.num_rows for table in arrived.values())
        started = time.process_time()
        state = State(store, Identity(name), header)
        high = batch * length
        answered += kernel.step(state.scope(), arrived, Span(low, high)).num_rows
        header, low = state.save(high), high
        spent += time.process_time() - started
        state_bytes = max(state_bytes, sum(map(len, store.blobs.values())))
    print(
        f"{name:42} {count:8,} rows/batch {fed / spent / 1e3:7,.0f} k rows/s  answer {answered:10,}"
        f"  state {state_bytes / 1e6:6.1f} MB  written {store.written / fed:5.0f}"
        f" read {store.read / fed:5.0f} bytes/row"
    )


def cases(keys: int) -> dict[str, Callable[[], tuple[Kernel, dict[str, Feed]]]]:
    life, stream = port(Form.LIFETIMES, COLUMNS), port(Form.STREAM, COLUMNS)
    log, other = port(Form.CHANGELOG, COLUMNS), port(Form.LIFETIMES, RIGHT)
    by_key = Condition((Equality("k", "j"),))
    three = (
        Measure("n", "COUNT", pa.int64()),
        Measure("s", "SUM", pa.float64(), ("x",)),
        Measure("m", "MAX", pa.float64(), ("x",)),
    )
    lives, arrives = Feed(Form.LIFETIMES, keys, COLUMNS), Feed(Form.STREAM, keys, COLUMNS)
    others = Feed(Form.LIFETIMES, keys, RIGHT, 0.2)
    pair = {"left": lives, "right": others}
    only_key = {"k": "BIGINT", "x": "DOUBLE"}

    def aggregate(*measures: Measure):
        return lambda: (Aggregate(life, ("k",), measures, Emit.INSERTS), {"input": lives})

    def last_rows():
        window = Rows(stream, 100, ("k",), ("x",))
        total = Aggregate(log, ("k",), three[:2], Emit.INSERTS)
        stages = (
            Stage("window", window, {"input": "input"}),
            Stage("total", total, {"input": "window"}),
        )
        return Pipeline({"input": stream}, stages), {"input": arrives}

    top = (SortKey("x", True, False),)
    return {
        "aggregate count, sum, max": aggregate(*three),
        "aggregate median": aggregate(Measure("q", "MEDIAN", pa.float64(), ("x",))),
        "aggregate count distinct": aggregate(Measure("d", "COUNT", pa.int64(), ("x",), True)),
        "partition rows 100, count and sum": last_rows,
        "distinct, weak": lambda: (
            WeakDistinct(port(Form.LIFETIMES, only_key)),
            {"input": Feed(Form.LIFETIMES, keys, {"k": "BIGINT", "x": "DOUBLE"})},
        ),
        "distinct, counters": lambda: (Counters(Counting.DISTINCT, life), {"left": lives}),
        "except all": lambda: (Counters(Counting.EXCEPT_ALL, life, other), pair),
        "window join": lambda: (WindowJoin(life, other, by_key), pair),
        "not exists": lambda: (Join(life, other, JoinKind.ANTI, by_key), pair),
        "left join": lambda: (Join(life, other, JoinKind.LEFT, by_key), pair),
        "as-of join": lambda: (
            NrrJoin(stream, port(Form.CHANGELOG, RIGHT), JoinKind.INNER, by_key, "_time"),
            {"left": arrives, "right": Feed(Form.CHANGELOG, keys, RIGHT, 0.01)},
        ),
        "istream, netted": lambda: (Net(life, Emit.INSERTS), {"input": lives}),
        "top 3 per key": lambda: (
            Rank(life, RankKind.ROW_NUMBER, ("k",), top, "n", 3),
            {"input": lives},
        ),
        "sessions": lambda: (
            Sessions(stream, MINUTE, ("k",), pa.int64()),
            {"input": arrives},
        ),
    }


def main() -> None:
    wanted = sys.argv[1:]
    for keys in (1_000, 100_000):
        print(f"{keys:,} keys")
        for name, build in cases(keys).items():
            if wanted and not any(part in name for part in wanted):
                continue
            for rows, batches in ((2_000_000, 5), (1_000_000, 20)):
                kernel, feeds = build()
                measure(name, kernel, feeds, rows, batches)


if __name__ == "__main__":
    main()
