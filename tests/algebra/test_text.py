"""Expressions and constants as text."""

from __future__ import annotations

import datetime
import decimal

import pytest

from cqlc.algebra.expr import (
    And,
    Arithmetic,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
    Expr,
    IsNull,
    Literal,
    Negate,
    Not,
    Operator,
    Or,
    Value,
)
from cqlc.algebra.text import duration_text, expr_text, timestamp_text, value_text
from cqlc.datatypes import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    INT,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
)

A, B = Column("a", INT), Column("b", INT)
P, Q = Column("p", BOOLEAN), Column("q", BOOLEAN)


def _sum(left: Expr, right: Expr, op: Operator = Operator.ADD) -> Expr:
    return Arithmetic(op, left, right, INT)


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (_sum(_sum(A, B), A), "a + b + a"),
        (_sum(A, _sum(A, B)), "a + (a + b)"),
        (_sum(A, _sum(A, B), Operator.MULTIPLY), "a * (a + b)"),
        (_sum(_sum(A, B, Operator.MULTIPLY), B), "a * b + b"),
        (Or((And((P, Q)), Not(P))), "p AND q OR NOT p"),
        (And((Or((P, Q)), P)), "(p OR q) AND p"),
        (Not(And((P, Q))), "NOT (p AND q)"),
        (Not(IsNull(A)), "a IS NOT NULL"),
        (
            Compare(Comparison.SAME, P, Compare(Comparison.EQ, A, B)),
            "p IS NOT DISTINCT FROM (a = b)",
        ),
        (Negate(_sum(A, B)), "-(a + b)"),
        (Case(((P, A),), B, INT), "CASE WHEN p THEN a ELSE b END"),
        (Cast(A, Decimal(9, 2)), "CAST(a AS DECIMAL(9,2))"),
    ],
)
def test_expressions(expr: Expr, text: str) -> None:
    assert expr_text(expr) == text


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (None, INT, "NULL"),
        (True, BOOLEAN, "TRUE"),
        (1.5, DOUBLE, "1.5"),
        (decimal.Decimal("1.50"), Decimal(3, 2), "1.50"),
        ("it's", STRING, "'it''s'"),
        (b"\x00\xff", BINARY, "X'00FF'"),
        (datetime.date(2024, 2, 29), DATE, "DATE '2024-02-29'"),
        (0, TIMESTAMP, "TIMESTAMP '1970-01-01 00:00:00'"),
        (90_000_000, DURATION, "90 SECONDS"),
        ((1, 2), Array(INT), "[1, 2]"),
    ],
)
def test_constants(value: Value, type: DataType, text: str) -> None:
    assert value_text(value, type) == text
    assert expr_text(Literal(value, type)) == text


def test_lengths_of_time() -> None:
    lengths = (1, 1_000, 1_500_000, 60_000_000, 7_200_000_000, 86_400_000_000, 0)
    assert [duration_text(length) for length in lengths] == [
        "1 MICROSECONDS",
        "1 MILLISECOND",
        "1500 MILLISECONDS",
        "1 MINUTE",
        "2 HOURS",
        "1 DAY",
        "0 MICROSECONDS",
    ]


def test_times_beyond_the_calendar() -> None:
    assert timestamp_text(2**62) == f"{2**62} MICROSECONDS"
