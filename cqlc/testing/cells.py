"""Values and times as the cells of a table, and back."""

from __future__ import annotations

import decimal
import json
import re
from enum import StrEnum
from typing import Any, cast

from cqlc.algebra.expr import Value
from cqlc.datatypes import DOUBLE, DURATION, FLOAT, STRING, TIMESTAMP, Array, DataType, Struct
from cqlc.semantics.casts import caster, parse_timestamp, timestamp_text
from cqlc.semantics.values import fit

SECOND = 1_000_000
_CLOCK = re.compile(r"(\d+):(\d{2}):(\d{2})(?:\.(\d{1,6}))?")
_SECONDS = re.compile(r"(-?\d+)(?:\.(\d{1,6}))?(?: ?s)?")


class TimeStyle(StrEnum):
    """How a test writes times: as seconds, as a time of day, or as a timestamp."""

    SECONDS = "seconds"
    CLOCK = "clock"
    TIMESTAMP = "timestamp"


def parse_time(text: str) -> tuple[int, TimeStyle] | None:
    """The microseconds that `12.5`, `00:00:12.5` or `2024-05-01 12:00:00` stands for."""
    parsed = _parsed_time(text)
    return parsed if parsed is not None and fit(parsed[0], TIMESTAMP) is not None else None


def _parsed_time(text: str) -> tuple[int, TimeStyle] | None:
    if match := _SECONDS.fullmatch(text):
        whole, fraction = int(match[1]) * SECOND, _fraction(match[2])
        return whole - fraction if text.startswith("-") else whole + fraction, TimeStyle.SECONDS
    if match := _CLOCK.fullmatch(text):
        seconds = (int(match[1]) * 60 + int(match[2])) * 60 + int(match[3])
        return seconds * SECOND + _fraction(match[4]), TimeStyle.CLOCK
    micros = parse_timestamp(text)
    return None if micros is None else (micros, TimeStyle.TIMESTAMP)


def _fraction(digits: str | None) -> int:
    return int((digits or "0").ljust(6, "0"))


def time_text(micros: int, style: TimeStyle) -> str:
    """A time in a test's style."""
    match style:
        case TimeStyle.SECONDS:
            seconds = decimal.Decimal(micros) / SECOND
            return f"{seconds.normalize():f}"
        case TimeStyle.CLOCK:
            minutes, rest = divmod(micros, 60 * SECOND)
            fraction = f".{rest % SECOND:06d}".rstrip("0") if rest % SECOND else ""
            return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // SECOND:02d}{fraction}"
        case TimeStyle.TIMESTAMP:
            return timestamp_text(micros)


class CellError(ValueError):
    """A cell that is no value of its column's type."""


def parse_cell(text: str, type: DataType) -> Value:
    """The value a cell stands for: NULL, a string as it is or in quotes, else as CAST reads it."""
    if text.upper() == "NULL":
        return None
    if type == STRING:
        quoted = len(text) >= 2 and text[0] == text[-1] == "'"
        return text[1:-1].replace("''", "'") if quoted else text
    if type in (TIMESTAMP, DURATION):
        time = parse_time(text)
        value = None if time is None else time[0]
    elif isinstance(type, Array | Struct):
        value = _from_json(_loaded(text), type)
    else:
        value = caster(STRING, type)(text)
    if value is None:
        raise CellError(f"`{text}` is not a value of type {type}")
    return value


def _loaded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise CellError(f"`{text}` is not an array or object in JSON") from None


def _from_json(value: Any, type: DataType) -> Value:
    match type, value:
        case _, None:
            return None
        case Array(element), list():
            return tuple(_from_json(part, element) for part in cast(list[Any], value))
        case Struct(fields), dict():
            members = cast(dict[str, Any], value)
            return tuple(_from_json(members.get(name), part) for name, part in fields)
        case _, str():
            return value if type == STRING else parse_cell(value, type)
        case _:
            return parse_cell(json.dumps(value), type)


def cell_text(value: Value, type: DataType, style: TimeStyle) -> str:
    """A value as a cell that `parse_cell` reads back."""
    if value is None:
        return "NULL"
    if type == STRING:
        text = str(value)
        plain = text == text.strip() != "" and text.upper() != "NULL" and text[0] != "'"
        return text if plain else "'" + text.replace("'", "''") + "'"
    if type in (TIMESTAMP, DURATION) and isinstance(value, int):
        return time_text(value, style if type == TIMESTAMP else TimeStyle.CLOCK)
    if isinstance(type, Array | Struct):
        return json.dumps(_to_json(value, type), ensure_ascii=False)
    return str(caster(type, STRING)(value))


def _to_json(value: Any, type: DataType) -> Any:
    match type:
        case _ if value is None:
            return None
        case Array(element):
            return [_to_json(part, element) for part in value]
        case Struct(fields):
            pairs = zip(fields, value, strict=True)
            return {name: _to_json(part, inner) for (name, inner), part in pairs}
        case _ if isinstance(value, bool | int | float):
            return value
        case _:
            return str(caster(type, STRING)(value))


def agrees(text: str, value: Value, type: DataType) -> bool:
    """Whether a cell stands for a value; floating-point numbers need only round to what it says."""
    expected = parse_cell(text, type)
    if expected == value or expected is None or value is None:
        return expected is value or expected == value
    if type not in (FLOAT, DOUBLE) or not isinstance(value, float):
        return False
    written = decimal.Decimal(text) if re.fullmatch(r"[-+.\deE]+", text) else None
    if written is None or value != value or value in (float("inf"), float("-inf")):
        return False
    unit = decimal.Decimal(1).scaleb(int(written.as_tuple().exponent))
    with decimal.localcontext(decimal.Context(prec=400)):
        return decimal.Decimal(value).quantize(unit, decimal.ROUND_HALF_EVEN) == written
