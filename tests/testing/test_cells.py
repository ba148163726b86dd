"""Cells of tables: values and times, there and back."""

from __future__ import annotations

import datetime
from decimal import Decimal as Number

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqlc.algebra.expr import Value
from cqlc.datatypes import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Struct,
)
from cqlc.testing.cells import CellError, TimeStyle, agrees, cell_text, parse_cell, parse_time

TYPED: list[tuple[DataType, st.SearchStrategy[Value]]] = [
    (INT, st.integers(-(2**31), 2**31 - 1)),
    (BIGINT, st.integers(-(2**63), 2**63 - 1)),
    (DOUBLE, st.floats(allow_nan=False)),
    (BOOLEAN, st.booleans()),
    (STRING, st.text("aNUL |'\\é☃")),
    (Decimal(10, 2), st.decimals(-1000, 1000, places=2)),
    (DATE, st.dates()),
    (Array(INT), st.lists(st.integers(0, 9) | st.none()).map(tuple)),
    (
        Struct((("a", INT), ("b", STRING))),
        st.tuples(st.integers(0, 9), st.text("ab|' ", min_size=1)),
    ),
]


@given(st.data(), st.sampled_from(TYPED))
def test_a_value_is_read_back_as_it_was(
    data: st.DataObject, typed: tuple[DataType, st.SearchStrategy[Value]]
) -> None:
    type, strategy = typed
    value = data.draw(strategy | st.none())
    text = cell_text(value, type, TimeStyle.SECONDS)
    assert parse_cell(text, type) == value
    assert agrees(text, value, type)


@given(
    st.integers(0, 253_402_300_799_999_999),
    st.sampled_from(list(TimeStyle)),
    st.sampled_from((TIMESTAMP, DURATION)),
)
def test_a_time_is_read_back_in_every_style(micros: int, style: TimeStyle, type: DataType) -> None:
    assert parse_cell(cell_text(micros, type, style), type) == micros


@pytest.mark.parametrize(
    ("text", "micros", "style"),
    [
        ("12", 12_000_000, TimeStyle.SECONDS),
        ("-1.5", -1_500_000, TimeStyle.SECONDS),
        ("12.5 s", 12_500_000, TimeStyle.SECONDS),
        ("00:01:02.25", 62_250_000, TimeStyle.CLOCK),
        ("1970-01-01 00:00:01", 1_000_000, TimeStyle.TIMESTAMP),
    ],
)
def test_times(text: str, micros: int, style: TimeStyle) -> None:
    assert parse_time(text) == (micros, style)


@pytest.mark.parametrize(
    ("text", "type"),
    [("x", INT), ("3.5", INT), ("12:00", TIMESTAMP), ("[1", Array(INT))],
)
def test_a_cell_that_is_no_value_is_refused(text: str, type: DataType) -> None:
    with pytest.raises(CellError):
        parse_cell(text, type)


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("3.67", 3.6666666666666665, True),
        ("3.66", 3.6666666666666665, False),
        ("4", 3.6666666666666665, True),
        ("1e3", 1000.4, True),
        ("NaN", float("nan"), False),
        ("NULL", 0.0, False),
        ("0", None, False),
        ("0.1", 0.10000000149011612, True),
    ],
)
def test_a_floating_point_number_need_only_round_to_what_is_written(
    text: str, value: float | None, expected: bool
) -> None:
    assert agrees(text, value, DOUBLE if value is None or value != 0.1 else FLOAT) is expected


def test_strings_may_be_quoted() -> None:
    assert parse_cell("'NULL'", STRING) == "NULL"
    assert parse_cell("''", STRING) == ""
    assert parse_cell("'it''s'", STRING) == "it's"
    assert parse_cell("it's", STRING) == "it's"


def test_other_values() -> None:
    assert parse_cell("2024-02-29", DATE) == datetime.date(2024, 2, 29)
    assert parse_cell("1.005", Decimal(5, 2)) == Number("1.01")
    assert parse_cell('[{"a": 1, "b": "x"}]', Array(Struct((("a", INT), ("b", STRING))))) == (
        (1, "x"),
    )
