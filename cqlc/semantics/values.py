"""Single values: their order, the numbers each type can hold, and NaN.

Arithmetic that leaves a type, and division by zero, give NULL (as Spark's `try_` functions do):
a continuous query must not die of one row. NaN equals itself and is larger than every number.
"""

from __future__ import annotations

import ctypes
import decimal
import math
from typing import TypeAlias

from cqlc.algebra.expr import Value
from cqlc.datatypes import (
    BIGINT,
    DOUBLE,
    DURATION,
    FLOAT,
    INT,
    SMALLINT,
    TIMESTAMP,
    TINYINT,
    DataType,
    Decimal,
    is_integer,
)


class EvaluationError(Exception):
    """An expression that has no value at all, not even NULL: an invalid pattern, for example."""


Number: TypeAlias = int | float | decimal.Decimal

NAN = math.nan
"""The one NaN of the semantics: Python finds an object equal to itself inside tuples and dicts."""

_BITS: dict[DataType, int] = {
    TINYINT: 8,
    SMALLINT: 16,
    INT: 32,
    BIGINT: 64,
    DURATION: 64,
}
FIRST_TIME, LAST_TIME = -62_135_596_800_000_000, 253_402_300_799_999_999
"""The TIMESTAMPs there are: the years 1 to 9999."""

_EXACT = decimal.Context(prec=100, rounding=decimal.ROUND_HALF_UP)


def single(number: float) -> float:
    """The nearest number of single precision."""
    return canonical(ctypes.c_float(number).value)


def canonical(number: float) -> float:
    """The number itself, NaN as `NAN`."""
    return number if number == number else NAN


def fit(number: Number, type: DataType) -> Value:
    """A number as a value of a numeric or time type, rounded to it; NULL if it is out of range."""
    if type == DOUBLE:
        return canonical(float(number))
    if type == FLOAT:
        return single(float(number))
    if isinstance(type, Decimal):
        return _fit_decimal(number, type)
    if isinstance(number, float) and not math.isfinite(number):
        return None
    whole = int(_rounded(number) if type == DURATION else number)
    if type == TIMESTAMP:
        return whole if FIRST_TIME <= whole <= LAST_TIME else None
    half = 1 << (_BITS[type] - 1)
    return whole if -half <= whole < half else None


def _rounded(number: Number) -> Number:
    """The nearest whole number, halves away from zero."""
    return decimal.Decimal(number).to_integral_value(decimal.ROUND_HALF_UP)


def _fit_decimal(number: Number, type: Decimal) -> Value:
    if isinstance(number, float):
        if not math.isfinite(number):
            return None
        number = decimal.Decimal(repr(number))
    unit = decimal.Decimal(1).scaleb(-type.scale)
    exact = number if isinstance(number, decimal.Decimal) else decimal.Decimal(number)
    if exact.adjusted() > 80:
        return None
    rounded = exact.quantize(unit, context=_EXACT)
    return rounded if abs(rounded) < decimal.Decimal(10) ** (type.precision - type.scale) else None


def quotient(left: Number, right: Number, type: DataType) -> Number:
    """`left / right` for `right` other than 0; without the digits after the point if whole."""
    match left, right:
        case int(), int() if is_integer(type):
            whole = abs(left) // abs(right)
            return whole if (left < 0) == (right < 0) else -whole
        case ((decimal.Decimal() | int()), (decimal.Decimal() | int())):
            return _EXACT.divide(decimal.Decimal(left), decimal.Decimal(right))
        case _:
            return float(left) / float(right)


def remainder(left: Number, right: Number) -> Number:
    """What is left of `left` after division by `right`, other than 0, with the sign of `left`."""
    match left, right:
        case int(), int():
            return abs(left) % abs(right) * (-1 if left < 0 else 1)
        case ((decimal.Decimal() | int()), (decimal.Decimal() | int())):
            return _EXACT.remainder(decimal.Decimal(left), decimal.Decimal(right))
        case _:
            return math.fmod(left, right) if math.isfinite(left) else NAN


def order_key(value: Value) -> tuple[object, ...]:
    """A key that sorts values of one type as SQL does: NULL first, NaN last."""
    if value is None:
        return (0,)
    if isinstance(value, tuple):
        return (1, tuple(order_key(part) for part in value))
    if value != value:
        return (2,)
    return (1, value)
