"""Rows as bytes and back, with every type, and damage that is noticed."""

from __future__ import annotations

import datetime
import decimal
import random

import pyarrow as pa
import pytest

from cqlc.runtime.columns import key_codes, ranks
from cqlc.runtime.encode import BLOB, SIDE, decode, encode, gather, pack, slices, unpack
from cqlc.runtime.faults import CorruptBlobError
from cqlc.runtime.hashing import row_hashes
from cqlc.runtime.kernel import Form
from cqlc.runtime.schemas import arrow_type, port

EVERYTHING = pa.table(
    {
        "flag": pa.array([True, None, False], pa.bool_()),
        "small": pa.array([1, None, -1], pa.int8()),
        "long": pa.array([2**62, None, -5], pa.int64()),
        "single": pa.array([0.5, None, float("nan")], pa.float32()),
        "double": pa.array([-0.0, None, float("inf")], pa.float64()),
        "text": pa.array(["ä\0b", None, ""], pa.string()),
        "bytes": pa.array([b"\xff", None, b""], pa.binary()),
        "day": pa.array([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31)]),
        "moment": pa.array([-1, None, 2**52], pa.timestamp("us", tz="UTC")),
        "span": pa.array([5, None, -5], pa.duration("us")),
        "money": pa.array([decimal.Decimal("-1.50"), None, decimal.Decimal("9" * 36 + ".99")],
                          pa.decimal128(38, 2)),
        "list": pa.array([["a", None], None, []], pa.list_(pa.string())),
        "pair": pa.array([{"x": 1, "y": ["z"]}, None, {"x": None, "y": None}],
                         pa.struct([("x", pa.int64()), ("y", pa.list_(pa.string()))])),
        "nothing": pa.nulls(3),
    }
)  # fmt: skip


def test_every_type_comes_back():
    again = decode(encode(EVERYTHING), "test")
    assert again.schema == EVERYTHING.schema
    assert str(again.to_pylist()) == str(EVERYTHING.to_pylist())
    empty = EVERYTHING.slice(0, 0)
    assert decode(encode(empty), "test").equals(empty)


@pytest.mark.parametrize("place", [0, 3, 6, 40, 500, -1])
def test_a_flipped_bit_is_an_error(place: int):
    blob = bytearray(encode(EVERYTHING))
    blob[place] ^= 4
    with pytest.raises(CorruptBlobError, match="state of q, blob 7"):
        decode(bytes(blob), "state of q, blob 7")


@pytest.mark.parametrize("length", [0, 5, 100])
def test_a_cut_blob_is_an_error(length: int):
    with pytest.raises(CorruptBlobError, match="test"):
        decode(encode(EVERYTHING)[:length], "test")


def test_a_newer_format_is_refused():
    blob = bytearray(encode(EVERYTHING))
    blob[3] = 99
    with pytest.raises(CorruptBlobError, match="blob format 99"):
        decode(bytes(blob), "test")


def test_slices_are_small_and_complete():
    table = pa.table({"x": list(range(10_000))})
    pieces = list(slices(table, 8_000))
    assert sum(piece.num_rows for piece in pieces) == 10_000
    assert all(piece.nbytes <= 8_000 for piece in pieces)
    assert len(list(slices(table.slice(0, 1), 1))) == 1


def test_packed_rows_come_back_by_bucket():
    rng = random.Random(1)
    rows = [(rng.choice(["a", "b", None, "c"]), i) for i in range(500)]
    table = pa.table({"k": [k for k, _ in rows], "i": [i for _, i in rows]})
    batches = table.to_batches(max_chunksize=70)
    packed = list(pack(batches, "left", ["k"], 3))
    by_bucket: dict[int, list[tuple[str | None, int]]] = {}
    for batch in packed:
        for row in batch.to_pylist():
            assert row[SIDE] == "left"
            content = decode(row[BLOB], "test").to_pylist()
            assert row["n"] == len(content)
            by_bucket.setdefault(row["bucket"], []).extend((r["k"], r["i"]) for r in content)
    assert sorted(i for found in by_bucket.values() for _, i in found) == list(range(500))
    homes = {(k, b) for b, found in by_bucket.items() for k, _ in found}
    assert len(homes) == len({k for k, _ in homes}), "a key in two buckets"
    assert set(by_bucket) <= {0, 1, 2}
    again = [row for batch in unpack(packed, "test") for row in batch.to_pylist()]
    assert len(again) == 500


def test_ends_of_input_are_not_data():
    table = pa.table({"k": ["a", None], "_end": [False, True]})
    (packed,) = pack(table.to_batches(), "s", ["k"], 4)
    assert [row["n"] for row in packed.to_pylist()] == [1]
    only_end = table.slice(1)
    assert [batch.num_rows for batch in pack(only_end.to_batches(), "s", ["k"], 4)] == [0]


def test_gathering_casts_to_the_port():
    schema = pa.schema([("k", pa.string()), ("t", pa.timestamp("us", tz="UTC"))])
    foreign = pa.table({"t": pa.array([5], pa.timestamp("us", tz="Asia/Tokyo")), "k": ["a"]})
    table = gather([encode(foreign)], schema, "test")
    assert table.schema == schema
    assert gather([], schema, "test").num_rows == 0


@pytest.mark.parametrize("name", EVERYTHING.column_names)
def test_hashes_and_codes_agree_with_equality(name: str):
    """Slices, orders and neighbours do not change the hash of a value; equal codes, equal hash."""
    rng = random.Random(name)
    places = [rng.randrange(3) for _ in range(40)]
    column = EVERYTHING.column(name).combine_chunks().take(pa.array(places))
    hashes = row_hashes([column], 40)
    code, _ = key_codes(pa.table({"c": column}), ["c"])
    rank, _ = ranks(column)
    for i in range(40):
        for j in range(40):
            assert (hashes[i] == hashes[j]) == (code[i] == code[j]) == (rank[i] == rank[j])
    assert (row_hashes([column.slice(7, 20)], 20) == hashes[7:27]).all()


def test_hashes_are_part_of_the_state_format():
    """Other numbers here would mean that old checkpoints look for keys in the wrong place."""
    table = pa.table({"k": ["a", "", None], "i": [1, -1, None]})
    arrays = [table.column(name).combine_chunks() for name in ("k", "i")]
    assert row_hashes(arrays, 3).tolist() == [
        11486714504249990094,
        5476333178966447588,
        4044836095705667714,
    ]


def test_zeros_and_nans_are_one_value_each():
    array = pa.array([0.0, -0.0, float("nan"), -float("nan")])
    code, size = key_codes(pa.table({"x": array}), ["x"])
    assert (size, code.tolist()) == (2, [0, 0, 1, 1])
    assert len(set(row_hashes([array], 4).tolist())) == 2


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("BIGINT", pa.int64()),
        ("DECIMAL(10,2)", pa.decimal128(10, 2)),
        ("INTERVAL DAY TO SECOND", pa.duration("us")),
        ("ARRAY<ARRAY<STRING>>", pa.list_(pa.list_(pa.string()))),
        (
            "STRUCT<a: INT, `b c`: ARRAY<TIMESTAMP>>",
            pa.struct([("a", pa.int32()), ("b c", pa.list_(pa.timestamp("us", tz="UTC")))]),
        ),
    ],
)
def test_types_by_name(name: str, kind: pa.DataType):
    assert arrow_type(name) == kind


@pytest.mark.parametrize("name", ["", "TEXT", "ARRAY<INT", "INT INT", "STRUCT<a INT>"])
def test_names_that_are_no_types(name: str):
    with pytest.raises(ValueError, match="not the name of a type"):
        arrow_type(name)


def test_ports():
    made = port(Form.LIFETIMES, {"k": "STRING"}, "_visible")
    assert made.schema.names == ["k", "_from", "_until", "_visible"]
