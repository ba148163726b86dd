"""The scalar and nested types of values; what converts to what."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


class Kind(StrEnum):
    """The parameterless types, by their Spark SQL names."""

    BOOLEAN = "BOOLEAN"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    BINARY = "BINARY"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    DURATION = "INTERVAL DAY TO SECOND"
    NULL = "VOID"


@dataclass(frozen=True, slots=True)
class Simple:
    """A type without parameters."""

    kind: Kind

    def __str__(self) -> str:
        return self.kind.value


@dataclass(frozen=True, slots=True)
class Decimal:
    """An exact number of `precision` digits, `scale` of them after the point."""

    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class Array:
    """A sequence of values of one type."""

    element: DataType

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Struct:
    """A row inside a row: named fields."""

    fields: tuple[tuple[str, DataType], ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(f'{name}: {type}' for name, type in self.fields)}>"


DataType: TypeAlias = Simple | Decimal | Array | Struct

BOOLEAN = Simple(Kind.BOOLEAN)
TINYINT = Simple(Kind.TINYINT)
SMALLINT = Simple(Kind.SMALLINT)
INT = Simple(Kind.INT)
BIGINT = Simple(Kind.BIGINT)
FLOAT = Simple(Kind.FLOAT)
DOUBLE = Simple(Kind.DOUBLE)
STRING = Simple(Kind.STRING)
BINARY = Simple(Kind.BINARY)
DATE = Simple(Kind.DATE)
TIMESTAMP = Simple(Kind.TIMESTAMP)
DURATION = Simple(Kind.DURATION)
NULL = Simple(Kind.NULL)

INTEGERS = (TINYINT, SMALLINT, INT, BIGINT)
_NUMBERS = (*INTEGERS, FLOAT, DOUBLE)
_INTEGER_DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
_MAX_PRECISION = 38


def is_integer(type: DataType) -> bool:
    """Whether values are whole numbers of a fixed width."""
    return type in INTEGERS


def is_numeric(type: DataType) -> bool:
    """Whether arithmetic applies."""
    return type in _NUMBERS or isinstance(type, Decimal)


def is_orderable(type: DataType) -> bool:
    """Whether `<` applies: everything but nested values."""
    return isinstance(type, Simple | Decimal)


def common_type(left: DataType, right: DataType) -> DataType | None:
    """The type both sides convert to implicitly, or None: SQL's and Spark's widening rules.

    NULL takes any type; integers widen; an integer beside a decimal becomes a decimal, a decimal
    beside a floating-point number becomes DOUBLE; FLOAT beside an integer stays FLOAT, as the
    Stanford prototype has it. Strings never convert to numbers by themselves.
    """
    if left == right:
        return left
    if left == NULL:
        return right
    if right == NULL:
        return left
    if left in _NUMBERS and right in _NUMBERS:
        return max(left, right, key=_NUMBERS.index)
    match left, right:
        case Decimal(), Decimal():
            scale = max(left.scale, right.scale)
            whole = max(left.precision - left.scale, right.precision - right.scale)
            return Decimal(min(whole + scale, _MAX_PRECISION), scale)
        case (Decimal(), Simple()) if right in _INTEGER_DIGITS:
            return common_type(left, Decimal(_INTEGER_DIGITS[right], 0))
        case (Simple(), Decimal()) if left in _INTEGER_DIGITS:
            return common_type(Decimal(_INTEGER_DIGITS[left], 0), right)
        case (Decimal(), Simple()) if right in (FLOAT, DOUBLE):
            return DOUBLE
        case (Simple(), Decimal()) if left in (FLOAT, DOUBLE):
            return DOUBLE
        case Array(a), Array(b):
            element = common_type(a, b)
            return Array(element) if element else None
        case Simple(), Simple() if {left, right} == {DATE, TIMESTAMP}:
            return TIMESTAMP
        case _:
            return None


def converts(source: DataType, target: DataType) -> bool:
    """Whether a `source` value may stand where `target` is wanted, without a CAST."""
    return common_type(source, target) == target
