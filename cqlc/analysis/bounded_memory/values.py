"""Types as ordered sets: the sort of a column, constants as numbers, numbers as values."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise

from cqlc.algebra.expr import Value
from cqlc.analysis.bounded_memory.query import Attribute, Sort
from cqlc.datatypes import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    FLOAT,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    Array,
    DataType,
    Decimal,
    Simple,
    Struct,
    is_integer,
)

MAX_DOMAIN = 65_536
"""Types with more values than this are treated as infinite, though none really is."""

_WHOLE = {BOOLEAN: "boolean", DATE: "date", TIMESTAMP: "timestamp", DURATION: "duration"}
_DENSE = {DOUBLE: "real", FLOAT: "real", STRING: "text", BINARY: "bytes"}
_EPOCH = datetime.date(1970, 1, 1).toordinal()


def sort_of(type: DataType) -> Sort:
    """The sort of a type's values; a dense one still without points."""
    match type:
        case Decimal(_, scale):
            return Sort(f"decimal({scale})")
        case Simple() if is_integer(type):
            return Sort("integer")
        case Simple() if type in _WHOLE:
            return Sort(_WHOLE[type])
        case Simple() if type in _DENSE:
            return Sort(_DENSE[type], dense=True)
        case Simple() | Array() | Struct():
            return Sort(str(type), dense=True)


def type_range(type: DataType) -> tuple[int, int] | None:
    """The least and the greatest value of a type small enough to count as finite."""
    ranges = {BOOLEAN: (0, 1), TINYINT: (-128, 127), SMALLINT: (-32_768, 32_767)}
    found = ranges.get(type) if isinstance(type, Simple) else _decimal_range(type)
    return found if found and found[1] - found[0] < MAX_DOMAIN else None


def _decimal_range(type: DataType) -> tuple[int, int] | None:
    if not isinstance(type, Decimal):
        return None
    largest = 10**type.precision - 1
    return -largest, largest


def units(value: Value, type: DataType) -> Fraction | None:
    """A constant in the units of a discrete type; None if it has none there."""
    match value:
        case bool() | int():
            exact = Fraction(int(value))
        case decimal.Decimal():
            exact = Fraction(value) if value.is_finite() else None
        case float():
            exact = Fraction(value) if math.isfinite(value) else None
        case datetime.date():
            exact = Fraction(value.toordinal() - _EPOCH)
        case _:
            exact = None
    if exact is not None and isinstance(type, Decimal):
        return exact * 10**type.scale
    return exact


def is_point(value: Value, sort: Sort) -> bool:
    """Whether a constant can be a point of a dense sort."""
    match sort.name:
        case "real":
            return isinstance(value, int | float | decimal.Decimal) and math.isfinite(value)
        case "text":
            return isinstance(value, str)
        case "bytes":
            return isinstance(value, bytes)
        case _:
            return False


def point_value(value: Value, sort: Sort) -> Value:
    """A constant as it stands among the points of a dense sort."""
    if sort.name == "real" and isinstance(value, int | float | decimal.Decimal):
        return float(value)
    return value


def rank(values: Iterable[Value], sort: Sort) -> tuple[Value, ...]:
    """The points of a dense sort in ascending order."""
    plain = {point_value(v, sort) for v in values}
    numbers = sorted(v for v in plain if isinstance(v, float))
    words = sorted(v for v in plain if isinstance(v, str))
    return (*numbers, *words, *sorted(v for v in plain if isinstance(v, bytes)))


def has_room(points: tuple[Value, ...], sort: Sort) -> bool:
    """Whether every gap between the points really holds infinitely many values.

    Strings have gaps without room: nothing lies between `a` and `a\\0`.
    """
    if sort.name not in ("text", "bytes"):
        return True
    words = ["", *(_word(p) for p in points)]
    return all(
        not (upper.startswith(lower) and not upper[len(lower) :].strip("\0"))
        for lower, upper in pairwise(words)
    )


def _word(value: Value) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


# ----------------------------------------------------------------------------- coordinates


def coordinate(position: int, sort: Sort, grain: int) -> int:
    """The whole number that stands for a position when every dense gap has 2 * grain - 1 places."""
    return position * grain if sort.dense else position


def decode(attribute: Attribute, at: int, grain: int) -> Value:
    """The value at a coordinate."""
    sort = attribute.sort
    if not sort.dense:
        return _whole(attribute.type, at)
    point, offset = divmod(at, 2 * grain)
    if offset == 0 and 0 <= point < len(sort.points):
        return sort.points[point]
    match sort.name:
        case "real":
            return _real(sort.points, point, offset, at, grain)
        case "text":
            return _text([_word(p) for p in sort.points], point, offset, grain)
        case "bytes":
            return _text([_word(p) for p in sort.points], point, offset, grain).encode("latin-1")
        case _:
            return _filled(attribute.type, at)


def _whole(type: DataType, number: int) -> Value:
    if type == BOOLEAN:
        return bool(number)
    if type == DATE:
        return datetime.date.fromordinal(number + _EPOCH)
    if isinstance(type, Decimal):
        return decimal.Decimal(number).scaleb(-type.scale)
    return number


def _real(points: tuple[Value, ...], point: int, offset: int, at: int, grain: int) -> float:
    numbers = [float(p) for p in points if isinstance(p, int | float | decimal.Decimal)]
    if not numbers:
        return float(at)
    if point < 0:
        return numbers[0] + at
    if point >= len(numbers) - 1:
        return numbers[-1] + at - 2 * grain * (len(numbers) - 1)
    low, high = Fraction(numbers[point]), Fraction(numbers[point + 1])
    return float(low + (high - low) * offset / (2 * grain))


def _text(points: list[str], point: int, offset: int, grain: int) -> str:
    """A word after `points[point]` and before the next one, in the order of the offsets."""
    lower = points[point] if 0 <= point < len(points) else ""
    digits = str(offset).zfill(len(str(2 * grain)))
    if point + 1 >= len(points) or not points[point + 1].startswith(lower):
        return lower + digits
    rest = points[point + 1][len(lower) :]
    same = len(rest) - len(rest.lstrip("\0"))
    return lower + "\0" * same + ("" if rest[same] > "9" else "\0") + digits


def _filled(type: DataType, number: int) -> Value:
    """Some value of a type that has no order here, another one for every number."""
    match type:
        case Array(element):
            return (_filled(element, number),)
        case Struct(fields):
            return tuple(_filled(field, number) for _, field in fields)
        case Decimal():
            return decimal.Decimal(number).scaleb(-type.scale)
        case Simple() if type == NULL:
            return None
        case Simple() if type == STRING:
            return str(number)
        case Simple() if type == BINARY:
            return str(number).encode()
        case Simple() if type in (FLOAT, DOUBLE):
            return float(number)
        case Simple():
            return _whole(type, number)
