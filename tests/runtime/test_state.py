"""Calendars, shelves and the header: what is kept, what leaves, what is refused."""

from __future__ import annotations

import json
import random
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from cqlc.runtime.blobs import Identity, MemoryStore
from cqlc.runtime.calendar import Span, Use
from cqlc.runtime.columns import BEGINNING, FOREVER
from cqlc.runtime.encode import BLOB_BYTES, seal, unseal
from cqlc.runtime.faults import (
    BucketTooLargeError,
    CorruptBlobError,
    OtherQueryError,
    StateVersionError,
)
from cqlc.runtime.state import State

ROWS = pa.schema([("x", pa.int64()), ("_from", pa.int64()), ("_until", pa.int64())])
ITEMS = pa.schema([("k", pa.string()), ("v", pa.int64()), ("due", pa.int64())])
ME = Identity("the operator", "f1")


def lifetimes(rows: list[tuple[int, int, int]]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"x": x, "_from": b, "_until": e} for x, b, e in rows], schema=ROWS
    )


def numbers(table: pa.Table) -> list[int]:
    return sorted(table.column("x").to_pylist())


@pytest.mark.parametrize("seed", range(30))
def test_a_calendar_hands_out_every_row_once(seed: int):
    rng = random.Random(seed)
    store, header = MemoryStore(), None
    rows = [(i, b, b + rng.randint(1, 30)) for i in range(300) for b in [rng.randint(1, 200)]]
    pending, low = sorted(rows, key=lambda r: r[1] + rng.randint(0, 20)), 0
    while pending or low < 300:
        cut = rng.randint(0, 40)
        arrived, pending = pending[:cut], pending[cut:]
        high = min((b for _, b, _ in pending), default=301) - 1
        state = State(store, ME, header)
        calendar = state.calendar("c", ROWS, Use.EVENTS, ("_from", "_until"))
        if arrived:
            calendar.add(lifetimes(arrived))
        span = Span(low, max(high, low))
        assert numbers(calendar.alive(low)) == sorted(i for i, b, e in rows if b <= low < e)
        assert numbers(calendar.starting(span)) == sorted(
            i for i, b, _ in rows if low < b <= span.high
        )
        assert numbers(calendar.ending(span)) == sorted(
            i for i, _, e in rows if low < e <= span.high
        )
        events = {t for _, b, e in rows for t in (b, e)}
        assert calendar.quiet(span) == (not any(low < t <= span.high for t in events))
        header, low = state.save(span.high), span.high
        known = [r for r in rows if r not in pending]
        coming = [t for _, b, e in known for t in (b, e) if t > low]
        assert state.wake == min(coming, default=FOREVER)
    assert not store.blobs


def test_a_queue_forgets_rows_that_began():
    store = MemoryStore()
    state = State(store, ME)
    calendar = state.calendar("q", ROWS, Use.QUEUE, ("_from", "_from"))
    calendar.add(lifetimes([(1, 5, 100), (2, 15, 100)]))
    assert numbers(calendar.starting(Span(0, 10))) == [1]
    header = state.save(10)
    assert state.wake == 15
    state = State(store, ME, header)
    calendar = state.calendar("q", ROWS, Use.QUEUE, ("_from", "_from"))
    assert numbers(calendar.starting(Span(10, 20))) == [2]
    state.save(20)
    assert not store.blobs


def test_many_small_steps_make_few_chunks():
    store, header = MemoryStore(), None
    for time in range(1, 400):
        state = State(store, ME, header)
        state.calendar("c", ROWS, Use.STATE, ("_from", "_until")).add(
            lifetimes([(time, time, time + 10_000)])
        )
        header = state.save(time)
    assert len(store.blobs) < 12


def test_large_chunks_are_cut():
    store = MemoryStore()
    state = State(store, ME)
    values = np.random.default_rng(0).integers(0, 2**60, 200_000)
    table = pa.table({"x": values, "_from": values, "_until": values + 5}, schema=ROWS)
    state.calendar("c", ROWS, Use.STATE, ("_from", "_until")).add(table)
    state.save(0)
    assert len(store.blobs) > 5
    assert max(map(len, store.blobs.values())) <= 1.1 * BLOB_BYTES


def test_rows_without_end_do_not_keep_the_others():
    """A chunk that is mostly dead is written anew without its dead rows."""
    store = MemoryStore()
    state = State(store, ME)
    calendar = state.calendar("c", ROWS, Use.EVENTS, ("_from", "_until"))
    calendar.add(lifetimes([(0, 1, FOREVER), *((i, 1, 10) for i in range(1, 5000))]))
    header = state.save(5)
    before = sum(map(len, store.blobs.values()))
    state = State(store, ME, header)
    calendar = state.calendar("c", ROWS, Use.EVENTS, ("_from", "_until"))
    assert calendar.ending(Span(5, 20)).num_rows == 4999
    state.save(20)
    assert sum(map(len, store.blobs.values())) < before / 10


# -------------------------------------------------------------------------------------- shelf


def items(rows: Counter[tuple[str | None, int, int]]) -> pa.Table:
    return pa.Table.from_pylist(
        [{"k": k, "v": v, "due": d} for k, v, d in rows.elements()], schema=ITEMS
    )


@pytest.mark.parametrize("seed", range(10))
def test_a_shelf_is_a_bag_by_key(seed: int):
    rng = random.Random(seed)
    store, header = MemoryStore(), None
    content: Counter[tuple[str | None, int, int]] = Counter()
    for now in range(1, 40):
        state = State(store, ME, header)
        shelf = state.shelf("s", ITEMS, ["k"], "due")
        keys = {rng.choice([None, *map(str, range(2000))]) for _ in range(rng.randint(0, 5))}
        table = pa.Table.from_pylist([{"k": k} for k in keys], schema=pa.schema([ITEMS.field("k")]))
        loaded = Counter((r["k"], r["v"], r["due"]) for r in shelf.load([table], now).to_pylist())
        assert not loaded - content
        for row in content:
            if row[0] in keys or row[2] <= now:
                assert loaded[row] == content[row]
        kept = Counter({row: n for row, n in loaded.items() if row[2] > now})
        for key in keys:
            kept[key, rng.randint(0, 9), now + rng.randint(1, 20)] += rng.randint(1, 300)
        shelf.store(items(kept))
        content = content - loaded + kept
        header = state.save(now)
        assert state.wake == min((due for _, _, due in content), default=FOREVER)
    state = State(store, ME, header)
    everything = state.shelf("s", ITEMS, ["k"], "due").load_all().to_pylist()
    assert Counter((r["k"], r["v"], r["due"]) for r in everything) == content


def test_a_large_shelf_is_read_in_parts():
    store = MemoryStore()
    state = State(store, ME)
    rng = np.random.default_rng(0)
    count = 100_000
    table = pa.table(
        {
            "k": [str(i) for i in range(count)],
            "v": rng.integers(0, 2**60, count),
            "due": np.full(count, FOREVER),
        },
        schema=ITEMS,
    )
    shelf = state.shelf("s", ITEMS, ["k"], None)
    shelf.load([table.select(["k"])], BEGINNING)
    shelf.store(table)
    header = state.save(0)
    total = sum(map(len, store.blobs.values()))
    state, store.read = State(store, ME, header), 0
    found = state.shelf("s", ITEMS, ["k"], None).load([table.slice(5, 1).select(["k"])], BEGINNING)
    assert "5" in found.column("k").to_pylist()
    assert store.read < total / 3


def test_a_hot_key_is_stored_in_pieces():
    store = MemoryStore()
    state = State(store, ME)
    values = np.random.default_rng(0).integers(0, 2**60, 200_000)
    table = pa.table({"k": ["hot"] * len(values), "v": values, "due": values}, schema=ITEMS)
    shelf = state.shelf("s", ITEMS, ["k"], None)
    shelf.load([table.select(["k"])], BEGINNING)
    shelf.store(table)
    header = state.save(0)
    assert max(map(len, store.blobs.values())) <= 1.1 * BLOB_BYTES
    again = State(store, ME, header).shelf("s", ITEMS, ["k"], None).load_all()
    assert again.num_rows == len(values)


# ------------------------------------------------------------------------------------- header


def saved() -> tuple[MemoryStore, bytes]:
    store = MemoryStore()
    state = State(store, ME)
    state.calendar("c", ROWS, Use.STATE, ("_from", "_until")).add(lifetimes([(1, 5, 9)]))
    return store, state.save(3)


def test_the_state_of_another_version_is_refused():
    store, header = saved()
    content = json.loads(bytes(unseal(header, "test"))) | {"version": 0}
    with pytest.raises(StateVersionError, match="the operator was written in version 0"):
        State(store, ME, seal(json.dumps(content).encode()))


def test_the_state_of_another_query_is_refused():
    store, header = saved()
    with pytest.raises(OtherQueryError, match="differs from the operator"):
        State(store, Identity("the operator", "f2"), header)


def test_a_damaged_header_is_an_error():
    store, header = saved()
    with pytest.raises(CorruptBlobError, match="state of the operator, header"):
        State(store, ME, header[:-1] + b"?")


@pytest.mark.parametrize("damage", [lambda blob: blob[:-1] + b"?", lambda _: b""])
def test_damaged_or_lost_state_is_an_error(damage):
    store, header = saved()
    (key,) = store.blobs
    store.blobs[key] = damage(store.blobs[key])
    calendar = State(store, ME, header).calendar("c", ROWS, Use.STATE, ("_from", "_until"))
    with pytest.raises(CorruptBlobError, match=f"state of the operator, blob {key}"):
        calendar.alive(6)


def test_a_bucket_that_is_too_large_names_the_operator_and_the_remedy():
    store, header = saved()
    small = Identity("the operator", "f1", memory_limit=10)
    calendar = State(store, small, header).calendar("c", ROWS, Use.STATE, ("_from", "_until"))
    with pytest.raises(
        BucketTooLargeError, match=r"the operator needs more than 10 bytes.*buckets"
    ):
        calendar.alive(6)
