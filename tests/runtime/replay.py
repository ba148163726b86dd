"""Runs kernels without Spark: random batches, shuffled rows, a state reopened before every step."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from cqlc.runtime.blobs import Identity, MemoryStore
from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import BEGINNING, FOREVER
from cqlc.runtime.kernel import Form, Kernel, Port
from cqlc.runtime.state import State

Rows = Sequence[Mapping[str, Any]]
END = 1_000_000
"""After everything that happens in a test."""

HIDDEN = {
    Form.STREAM: [("_time", pa.int64())],
    Form.LIFETIMES: [("_from", pa.int64()), ("_until", pa.int64())],
    Form.CHANGELOG: [("_op", pa.int64()), ("_time", pa.int64())],
}


def port(form: Form, **columns: pa.DataType) -> Port:
    """A port with data columns and those of its form."""
    return Port(form, pa.schema([*columns.items(), *HIDDEN[form]]))


def plain(value: Any) -> Any:
    """A value that can be compared and hashed: lists and structs as tuples, one NaN."""
    match value:
        case list():
            return tuple(plain(part) for part in value)
        case dict():
            return tuple(plain(part) for part in value.values())
        case float() if value != value:
            return "NaN"
        case float() if value == 0:
            return 0.0
        case _:
            return value


class Run:
    """What a kernel answered over several steps, and what it kept."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.tables: list[pa.Table] = []
        self.late: dict[str, int] = {}
        self.state_bytes: list[int] = []

    def changes(self) -> Counter[tuple[int, tuple[Any, ...]]]:
        """The net changes, whatever the form of the answer."""
        found: Counter[tuple[int, tuple[Any, ...]]] = Counter()
        for row in self.rows:
            data = tuple(plain(v) for k, v in row.items() if k not in _HIDDEN)
            if "_from" in row:
                found[row["_from"], data] += 1
                if row["_until"] < FOREVER:
                    found[row["_until"], data] -= 1
            else:
                found[row["_time"], data] += row.get("_op", 1)
        return Counter({key: count for key, count in found.items() if count})

    def elements(self) -> Counter[tuple[int, tuple[Any, ...]]]:
        """The elements of a stream."""
        return Counter(
            (row["_time"], tuple(plain(v) for k, v in row.items() if k not in _HIDDEN))
            for row in self.rows
        )


_HIDDEN = ("_from", "_until", "_op", "_time", "_visible")


def run(
    kernel: Kernel,
    inputs: Mapping[str, Rows],
    rng: random.Random,
    batches: int | None = None,
    end: int = END,
) -> Run:
    """Feed rows in batches, in an order that respects the watermark after each of them."""
    store, header, answer = MemoryStore(), None, Run()
    low = BEGINNING
    for arrived, high in schedule(kernel, inputs, rng, batches, end):
        state = State(store, Identity("test"), header)
        assert state.frontier == low
        out = kernel.step(state.scope(), arrived, Span(low, high))
        answer.rows += out.to_pylist()
        answer.tables.append(out)
        check_times(kernel.output, out, low, high)
        header, low = state.save(high), high
        assert state.wake > high, "a wake-up call for the past"
        answer.late = state.late
        answer.state_bytes.append(sum(map(len, store.blobs.values())))
    return answer


def check_times(form: Form, out: pa.Table, low: int, high: int) -> None:
    """An answer belongs to the step that gives it."""
    times = out.column("_from" if form is Form.LIFETIMES else "_time").to_pylist()
    assert all(low < time <= high for time in times), "an answer outside of its step"


def schedule(
    kernel: Kernel,
    inputs: Mapping[str, Rows],
    rng: random.Random,
    batches: int | None = None,
    end: int = END,
) -> Iterable[tuple[dict[str, pa.Table], int]]:
    """Rows that arrive, and the time up to which everything has arrived then."""
    ports = kernel.ports
    timed = [
        (row[ports[side].form.time], side, row) for side, rows in inputs.items() for row in rows
    ]
    slack = rng.choice([0, 1, 5, 1000])
    timed.sort(key=lambda entry: entry[0] + rng.randint(0, slack))
    wanted = batches if batches is not None else rng.randint(1, 6)
    cuts = sorted(rng.randint(0, len(timed)) for _ in range(wanted - 1))
    low = BEGINNING
    for begin, stop in zip([0, *cuts], [*cuts, len(timed)], strict=True):
        arrived: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        for _, side, row in timed[begin:stop]:
            arrived[side].append(row)
        later = min((time for time, _, _ in timed[stop:]), default=end + 1)
        high = max(low, later - 1 - rng.choice([0, 0, 3]))
        high = end if stop == len(timed) else high
        if high > low or stop == len(timed):
            yield tables(ports, arrived), high
            low = high
        else:
            yield tables(ports, arrived), low
    if low < end:
        yield tables(ports, {}), end


def tables(ports: Mapping[str, Port], rows: Mapping[str, Rows]) -> dict[str, pa.Table]:
    """Arrow tables of rows, empty where there are none."""
    return {
        side: pa.Table.from_pylist(list(rows.get(side, ())), schema=port.schema)
        for side, port in ports.items()
    }


def relation_changes(
    relation: Mapping[int, Counter[tuple[Any, ...]]],
) -> Counter[tuple[int, tuple[Any, ...]]]:
    """The net changes of a relation given at the instants at which it may change."""
    found: Counter[tuple[int, tuple[Any, ...]]] = Counter()
    before: Counter[tuple[Any, ...]] = Counter()
    for time in sorted(relation):
        for row in {*before, *relation[time]}:
            if difference := relation[time][row] - before[row]:
                found[time, row] = difference
        before = relation[time]
    return found
