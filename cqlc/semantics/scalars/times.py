"""Functions of times: TIMESTAMPs are microseconds in UTC, DATEs are `datetime.date`s."""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable

from cqlc.algebra.expr import Value
from cqlc.semantics.casts import (
    EPOCH,
    date_of,
    micros_of,
    midnight,
    parse_timestamp,
    timestamp_text,
)

_SECOND = 1_000_000


def _moment(micros: int) -> datetime.datetime:
    return EPOCH + datetime.timedelta(microseconds=micros)


def _part(part: Callable[[datetime.datetime], int]) -> Callable[[int], int]:
    return lambda micros: part(_moment(micros))


# ----------------------------------------------------------------------------------- rounding

_STARTS: dict[str, Callable[[datetime.datetime], datetime.datetime]] = {
    "YEAR": lambda m: datetime.datetime(m.year, 1, 1),
    "QUARTER": lambda m: datetime.datetime(m.year, m.month - (m.month - 1) % 3, 1),
    "MONTH": lambda m: datetime.datetime(m.year, m.month, 1),
    "WEEK": lambda m: datetime.datetime(*m.timetuple()[:3]) - datetime.timedelta(m.weekday()),
    "DAY": lambda m: datetime.datetime(*m.timetuple()[:3]),
    "HOUR": lambda m: m.replace(minute=0, second=0, microsecond=0),
    "MINUTE": lambda m: m.replace(second=0, microsecond=0),
    "SECOND": lambda m: m.replace(microsecond=0),
    "MILLISECOND": lambda m: m.replace(microsecond=m.microsecond // 1000 * 1000),
    "MICROSECOND": lambda m: m,
}


def _date_trunc(unit: str, micros: int) -> int | None:
    start = _STARTS.get(unit.upper())
    return micros_of(start(_moment(micros))) if start else None


# ----------------------------------------------------------------------------------- patterns

_FIELDS = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']+")
_TEXTS: dict[str, Callable[[datetime.datetime, int], str]] = {
    "y": lambda m, n: f"{m.year % 100:02d}" if n == 2 else f"{m.year:0{n}d}",
    "M": lambda m, n: _month_text(m, n),
    "d": lambda m, n: f"{m.day:0{n}d}",
    "D": lambda m, n: f"{m.timetuple().tm_yday:0{n}d}",
    "H": lambda m, n: f"{m.hour:0{n}d}",
    "k": lambda m, n: f"{m.hour or 24:0{n}d}",
    "K": lambda m, n: f"{m.hour % 12:0{n}d}",
    "h": lambda m, n: f"{m.hour % 12 or 12:0{n}d}",
    "m": lambda m, n: f"{m.minute:0{n}d}",
    "s": lambda m, n: f"{m.second:0{n}d}",
    "S": lambda m, n: f"{m.microsecond:06d}".ljust(9, "0")[:n],
    "a": lambda m, n: "AM" if m.hour < 12 else "PM",
    "E": lambda m, n: f"{m:%A}" if n == 4 else f"{m:%a}",
    "q": lambda m, n: f"{(m.month + 2) // 3:0{n}d}",
    "z": lambda m, n: "UTC",
    "V": lambda m, n: "UTC",
    "X": lambda m, n: "Z",
    "x": lambda m, n: "+00" if n == 1 else "+0000" if n % 2 == 0 else "+00:00",
}
_SAME_FIELD = {"u": "y", "L": "M", "Q": "q"}


def _month_text(moment: datetime.datetime, count: int) -> str:
    if count <= 2:
        return f"{moment.month:0{count}d}"
    return f"{moment:%b}" if count == 3 else f"{moment:%B}"


def _pieces(pattern: str) -> list[tuple[str, int, str]]:
    """The pattern as fields (letter, count, '') and literal texts ('', 0, text)."""
    pieces: list[tuple[str, int, str]] = []
    for match in _FIELDS.finditer(pattern):
        quoted, letter = match.group(1), match.group(2)
        if letter:
            letter = _SAME_FIELD.get(letter, letter)
            pieces.append((letter, len(match.group()), ""))
        elif quoted is not None:
            pieces.append(("", 0, quoted.replace("''", "'") or "'"))
        else:
            pieces.append(("", 0, match.group()))
    return pieces


def _date_format(micros: int, pattern: str) -> str:
    moment = _moment(micros)
    return "".join(
        text or (_TEXTS[letter](moment, count) if letter in _TEXTS else letter * count)
        for letter, count, text in _pieces(pattern)
    )


_MONTHS = {
    name.lower(): number
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
}


def _parse(text: str, pattern: str) -> int | None:
    """The time whose text by the pattern this is."""
    regex = ""
    letters: list[str] = []
    for letter, count, literal in _pieces(pattern):
        if literal:
            regex += re.escape(literal)
            continue
        letters.append(letter)
        if letter in "aEzVXx" or (letter == "M" and count > 2):
            regex += r"([A-Za-z:+0-9-]+?)"
        else:
            regex += r"(\d+)" if count == 1 else rf"(\d{{{count}}})"
    match = re.fullmatch(regex, text)
    return _assemble(dict(zip(letters, match.groups(), strict=True))) if match else None


def _assemble(fields: dict[str, str]) -> int | None:
    month = fields.get("M", "1")
    year = int(fields.get("y", "1970"))
    hour = int(fields.get("H", fields.get("k", "0"))) % 24
    if "h" in fields or "K" in fields:
        afternoon = fields.get("a", "AM").upper() == "PM"
        hour = int(fields.get("h", fields.get("K", "0"))) % 12 + 12 * afternoon
    try:
        moment = datetime.datetime(
            year + 2000 if len(fields.get("y", "")) == 2 else year,
            int(month) if month.isdigit() else _MONTHS.get(month.lower(), 0),
            int(fields.get("d", "1")), hour, int(fields.get("m", "0")), int(fields.get("s", "0")),
            int(fields.get("S", "0")[:6].ljust(6, "0")),
        )  # fmt: skip
    except ValueError:
        return None
    return micros_of(moment)


def _to_timestamp(text: str, pattern: str | None = None) -> int | None:
    return parse_timestamp(text) if pattern is None else _parse(text, pattern)


def _to_date(text: str, pattern: str | None = None) -> datetime.date | None:
    micros = _to_timestamp(text, pattern)
    return None if micros is None else date_of(micros)


def _from_unixtime(seconds: int, pattern: str | None = None) -> str:
    micros = seconds * _SECOND
    return timestamp_text(micros) if pattern is None else _date_format(micros, pattern)


# -------------------------------------------------------------------------------------- dates


def _later(date: datetime.date, days: int) -> datetime.date | None:
    try:
        return date + datetime.timedelta(days)
    except OverflowError:
        return None


def _earlier(date: datetime.date, days: int) -> datetime.date | None:
    return _later(date, -days)


def _days_between(end: datetime.date, start: datetime.date) -> int:
    return (end - start).days


def _add_months(date: datetime.date, months: int) -> datetime.date | None:
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        return None
    last = calendar.monthrange(year, month + 1)[1]
    return datetime.date(year, month + 1, min(date.day, last))


def _last_day(date: datetime.date) -> datetime.date:
    return date.replace(day=calendar.monthrange(date.year, date.month)[1])


def _make_date(year: int, month: int, day: int) -> datetime.date | None:
    try:
        return datetime.date(year, month, day)
    except ValueError:
        return None


def _make_timestamp(
    year: int, month: int, day: int, hour: int, minute: int, seconds: float
) -> int | None:
    date = _make_date(year, month, day)
    if date is None or not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= seconds <= 60):
        return None
    return midnight(date) + (hour * 60 + minute) * 60 * _SECOND + round(seconds * _SECOND)


def _of_number(function: Callable[[int], Value]) -> Callable[[int], Value]:
    return function


TIMES: dict[str, Callable[..., Value]] = {
    "YEAR": _part(lambda m: m.year),
    "QUARTER": _part(lambda m: (m.month + 2) // 3),
    "MONTH": _part(lambda m: m.month),
    "WEEK": _part(lambda m: m.isocalendar().week),
    "DAY": _part(lambda m: m.day),
    "DAYOFWEEK": _part(lambda m: m.isoweekday() % 7 + 1),
    "WEEKDAY": _part(lambda m: m.weekday()),
    "DAYOFYEAR": _part(lambda m: m.timetuple().tm_yday),
    "HOUR": _part(lambda m: m.hour),
    "MINUTE": _part(lambda m: m.minute),
    "SECOND": _part(lambda m: m.second),
    "DATE_TRUNC": _date_trunc,
    "DATE_FORMAT": _date_format,
    "TO_DATE": _to_date,
    "TO_TIMESTAMP": _to_timestamp,
    "DATE": date_of,
    "UNIX_SECONDS": _of_number(lambda t: t // _SECOND),
    "UNIX_MILLIS": _of_number(lambda t: t // 1000),
    "UNIX_MICROS": _of_number(lambda t: t),
    "TIMESTAMP_SECONDS": _of_number(lambda n: n * _SECOND),
    "TIMESTAMP_MILLIS": _of_number(lambda n: n * 1000),
    "TIMESTAMP_MICROS": _of_number(lambda n: n),
    "FROM_UNIXTIME": _from_unixtime,
    "DATE_ADD": _later,
    "DATE_SUB": _earlier,
    "DATEDIFF": _days_between,
    "ADD_MONTHS": _add_months,
    "LAST_DAY": _last_day,
    "MAKE_DATE": _make_date,
    "MAKE_TIMESTAMP": _make_timestamp,
    "DURATION_MICROS": _of_number(lambda d: d),
    "DURATION_SECONDS": _of_number(lambda d: d / _SECOND),
}
