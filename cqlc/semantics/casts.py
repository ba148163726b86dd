"""Conversion between types: CAST, with NULL where a value has no counterpart.

The texts of numbers and times are those Spark writes with the session time zone UTC.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Callable
from typing import Any

from cqlc.algebra.expr import Value
from cqlc.datatypes import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    FLOAT,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Struct,
    is_numeric,
)
from cqlc.semantics.values import NAN, fit, single

EPOCH = datetime.datetime(1970, 1, 1)
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_TRUE = frozenset(("t", "true", "y", "yes", "1"))
_FALSE = frozenset(("f", "false", "n", "no", "0"))
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_SPECIAL = {"infinity": math.inf, "inf": math.inf, "nan": NAN}
_TIME = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T](?:(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?"
    r"\s*(Z|UTC|GMT|[+-]\d{1,2}(?::?\d{2})?)?)?)?)?)?"
)


def caster(source: DataType, target: DataType) -> Callable[[Any], Value]:
    """The conversion of values that are not NULL from one type to another."""
    if source == target:
        return lambda value: value
    match target:
        case Array(element):
            inner = caster(source.element, element) if isinstance(source, Array) else _nothing
            return lambda values: tuple(None if v is None else inner(v) for v in values)
        case Struct(fields):
            return _struct_caster(source, fields)
        case Decimal():
            return lambda value: _to_number(value, source, target)
        case _ if is_numeric(target):
            return lambda value: _to_number(value, source, target)
        case _:
            return _TO.get(target, _nothing_from)(source)


def _nothing(_: object) -> None:
    return None


def _nothing_from(_: DataType) -> Callable[[Any], Value]:
    return _nothing


def _struct_caster(
    source: DataType, fields: tuple[tuple[str, DataType], ...]
) -> Callable[[Any], Value]:
    if not isinstance(source, Struct) or len(source.fields) != len(fields):
        return _nothing
    pairs = zip(source.fields, fields, strict=True)
    inner = [caster(old, new) for (_, old), (_, new) in pairs]
    return lambda values: tuple(
        None if v is None else convert(v) for convert, v in zip(inner, values, strict=True)
    )


# ------------------------------------------------------------------------------------ numbers


def _to_number(value: Any, source: DataType, target: DataType) -> Value:
    if source == STRING:
        return _parse_number(value.strip(), target)
    if source == BOOLEAN:
        return fit(int(value), target)
    if source == TIMESTAMP:
        fractional = target in (FLOAT, DOUBLE) or isinstance(target, Decimal)
        exact = decimal.Decimal(value) / _SECOND
        return fit(exact if fractional else value // _SECOND, target)
    return fit(value, target) if is_numeric(source) else None


def _parse_number(text: str, target: DataType) -> Value:
    if isinstance(target, Decimal):
        return fit(decimal.Decimal(text), target) if _NUMBER.fullmatch(text) else None
    if target in (FLOAT, DOUBLE):
        special = _SPECIAL.get(text.lower().lstrip("+-"))
        if special is not None:
            return -special if text.startswith("-") and special == special else special
        return fit(float(text), target) if _NUMBER.fullmatch(text) else None
    return fit(int(text), target) if _INTEGER.fullmatch(text) else None


def _to_boolean(source: DataType) -> Callable[[Any], Value]:
    if source == STRING:
        return _parse_boolean
    return (lambda value: value != 0) if is_numeric(source) else _nothing


def _parse_boolean(text: str) -> Value:
    word = text.strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


# -------------------------------------------------------------------------------------- texts


def _to_string(source: DataType) -> Callable[[Any], Value]:
    match source:
        case Array(element):
            part = _to_string(element)
            return lambda values: f"[{', '.join(_shown(v, part) for v in values)}]"
        case Struct(fields):
            parts = [_to_string(type) for _, type in fields]
            return lambda values: (
                f"{{{', '.join(_shown(v, p) for v, p in zip(values, parts, strict=True))}}}"
            )
        case Decimal():
            return lambda value: f"{value:f}"
        case _:
            return _TEXTS.get(source, str)


def _shown(value: Value, text: Callable[[Any], Value]) -> str:
    return "null" if value is None else str(text(value))


def floating_text(number: float, type: DataType) -> str:
    """A floating-point number as Java writes it: the fewest digits that tell it from others."""
    if not math.isfinite(number):
        return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
    digits = repr(number) if type == DOUBLE else _shortest_single(number)
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        plain = f"{decimal.Decimal(digits):f}"
        return plain if "." in plain else f"{plain}.0"
    sign, figures, _ = decimal.Decimal(digits).normalize().as_tuple()
    tail = "".join(map(str, figures[1:])) or "0"
    return f"{'-' if sign else ''}{figures[0]}.{tail}E{decimal.Decimal(digits).adjusted()}"


def _shortest_single(number: float) -> str:
    return next(t for p in range(1, 18) if single(float(t := f"{number:.{p}g}")) == number)


def timestamp_text(micros: int) -> str:
    """A time as `yyyy-MM-dd HH:mm:ss`, with the fraction's digits if it has one."""
    moment = EPOCH + datetime.timedelta(microseconds=micros)
    fraction = f".{moment.microsecond:06d}".rstrip("0") if moment.microsecond else ""
    return f"{moment:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + fraction


def _duration_text(micros: int) -> str:
    sign, rest = ("-", -micros) if micros < 0 else ("", micros)
    days, rest = divmod(rest, _DAY)
    hours, rest = divmod(rest, 3600 * _SECOND)
    minutes, rest = divmod(rest, 60 * _SECOND)
    seconds, fraction = divmod(rest, _SECOND)
    point = f".{fraction:06d}".rstrip("0") if fraction else ""
    clock = f"{hours:02d}:{minutes:02d}:{seconds:02d}{point}"
    return f"INTERVAL '{sign}{days} {clock}' DAY TO SECOND"


_TEXTS: dict[DataType, Callable[[Any], Value]] = {
    BOOLEAN: lambda value: "true" if value else "false",
    FLOAT: lambda value: floating_text(value, FLOAT),
    DOUBLE: lambda value: floating_text(value, DOUBLE),
    TIMESTAMP: timestamp_text,
    DURATION: _duration_text,
    BINARY: lambda value: value.decode("utf-8", "replace"),
}


# -------------------------------------------------------------------------------------- times


def parse_timestamp(text: str) -> int | None:
    """The time that a text like `2024-05-01 12:30:00.5` stands for; None if it is no time."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        moment = datetime.datetime(
            int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0),
            int(second or 0), int((fraction or "0")[:6].ljust(6, "0")),
        )  # fmt: skip
    except ValueError:
        return None
    return micros_of(moment) - _offset(zone or "Z")


def _offset(zone: str) -> int:
    if zone[0] not in "+-":
        return 0
    hours, minutes = (zone[1:].split(":") if ":" in zone else (zone[1:3], zone[3:])) or ("", "")
    seconds = int(hours) * 3600 + int(minutes or 0) * 60
    return (-seconds if zone[0] == "-" else seconds) * _SECOND


def micros_of(moment: datetime.datetime) -> int:
    """A time as microseconds since 1970."""
    return (moment - EPOCH) // datetime.timedelta(microseconds=1)


def date_of(micros: int) -> datetime.date:
    """The day a time lies in."""
    return (EPOCH + datetime.timedelta(microseconds=micros)).date()


def midnight(date: datetime.date) -> int:
    """The time at which a day begins."""
    return (date - EPOCH.date()).days * _DAY


def _to_timestamp(source: DataType) -> Callable[[Any], Value]:
    if source == STRING:
        return parse_timestamp
    if source == DATE:
        return midnight
    return (lambda value: fit(value * _SECOND, TIMESTAMP)) if is_numeric(source) else _nothing


def _to_date(source: DataType) -> Callable[[Any], Value]:
    if source == TIMESTAMP:
        return date_of
    return _parse_date if source == STRING else _nothing


def _parse_date(text: str) -> Value:
    micros = parse_timestamp(text)
    return None if micros is None else date_of(micros)


def _to_binary(source: DataType) -> Callable[[Any], Value]:
    return (lambda value: value.encode()) if source == STRING else _nothing


_TO: dict[DataType, Callable[[DataType], Callable[[Any], Value]]] = {
    STRING: _to_string,
    BOOLEAN: _to_boolean,
    TIMESTAMP: _to_timestamp,
    DATE: _to_date,
    BINARY: _to_binary,
}
