"""Types as written, constants, lengths of time, and which conversions exist."""

from __future__ import annotations

import datetime
import decimal
import math
import re
from fractions import Fraction

from cqlc.algebra.expr import Literal
from cqlc.codes import names as codes
from cqlc.datatypes import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    FLOAT,
    INT,
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
    is_numeric,
)
from cqlc.resolve.findings import Findings
from cqlc.source import Span
from cqlc.suggest import closest
from cqlc.syntax import ast

_SIMPLE: dict[str, DataType] = {
    "BOOLEAN": BOOLEAN,
    "BOOL": BOOLEAN,
    "TINYINT": TINYINT,
    "SMALLINT": SMALLINT,
    "SHORT": SMALLINT,
    "INT": INT,
    "INTEGER": INT,
    "BIGINT": BIGINT,
    "LONG": BIGINT,
    "FLOAT": FLOAT,
    "REAL": FLOAT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "TEXT": STRING,
    "BYTE": STRING,
    "CHAR": STRING,
    "VARCHAR": STRING,
    "BINARY": BINARY,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
    "DURATION": DURATION,
    "INTERVAL": DURATION,
}
_SIZED = frozenset(("CHAR", "VARCHAR"))
_DECIMALS = frozenset(("DECIMAL", "NUMERIC", "DEC"))
_MAX_PRECISION = 38

MICROSECONDS: dict[ast.Unit, int] = {
    ast.Unit.MICROSECOND: 1,
    ast.Unit.MILLISECOND: 1_000,
    ast.Unit.SECOND: 1_000_000,
    ast.Unit.MINUTE: 60_000_000,
    ast.Unit.HOUR: 3_600_000_000,
    ast.Unit.DAY: 86_400_000_000,
    ast.Unit.WEEK: 604_800_000_000,
}
_LONGEST = 2**62
_EPOCH = datetime.datetime(1970, 1, 1)
_PLAIN_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+", re.ASCII)
_TIME = re.compile(
    r"\s*(\d{4})-(\d{1,2})-(\d{1,2})"
    r"(?:[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?\s*(Z|[+-]\d{2}:?\d{2})?)?\s*",
    re.ASCII,
)


# -------------------------------------------------------------------------------------- types


def data_type(written: ast.TypeName, findings: Findings) -> DataType | None:
    """The type that was written, or None with a finding."""
    name = written.name.upper()
    if name in _DECIMALS:
        return _decimal_type(written, findings)
    if name == "ARRAY" and len(written.arguments) == 1:
        element = data_type(written.arguments[0], findings)
        return None if element is None else Array(element)
    if name == "STRUCT" and written.arguments:
        return _struct_type(written, findings)
    simple = _SIMPLE.get(name)
    if simple is None:
        _unknown_type(written, findings)
    elif written.parameters and name not in _SIZED:
        findings.report(
            codes.BAD_TYPE,
            f"{name} takes no parameters",
            written.span,
            f"{simple} has one size only",
            help=f"write {name}",
        )
        return None
    return simple


def _decimal_type(written: ast.TypeName, findings: Findings) -> DataType | None:
    precision, scale = (*(written.parameters or (10,)), 0)[:2]
    if (
        len(written.parameters) <= 2
        and 0 <= scale <= precision
        and 1 <= precision <= _MAX_PRECISION
    ):
        return Decimal(precision, scale)
    findings.report(
        codes.BAD_TYPE,
        f"there is no DECIMAL({', '.join(map(str, written.parameters))})",
        written.span,
        "not a precision and a scale",
        help=f"a decimal has 1 to {_MAX_PRECISION} digits, at most all of them after the point",
    )
    return None


def _struct_type(written: ast.TypeName, findings: Findings) -> DataType | None:
    fields: list[tuple[str, DataType]] = []
    for name, argument in zip(written.field_names, written.arguments, strict=False):
        type = data_type(argument, findings)
        if type is None:
            return None
        fields.append((name.text, type))
    return Struct(tuple(fields))


def _unknown_type(written: ast.TypeName, findings: Findings) -> None:
    known = (*_SIMPLE, "DECIMAL", "ARRAY", "STRUCT")
    near = closest(written.name, known)
    findings.report(
        codes.UNKNOWN_TYPE,
        f"there is no type {written.name}",
        written.span,
        "not a type",
        help=f"did you mean {near}?"
        if near
        else "types are BOOLEAN, INT, BIGINT, FLOAT, DOUBLE, DECIMAL(p, s), STRING, BINARY, DATE, "
        "TIMESTAMP, INTERVAL, ARRAY<..> and STRUCT<..>",
    )


def castable(source: DataType, target: DataType) -> bool:
    """Whether CAST leads from one type to the other."""
    if source in (target, NULL):
        return True
    match source, target:
        case Array(a), Array(b):
            return castable(a, b)
        case Struct(a), Struct(b):
            pairs = zip(a, b, strict=False)
            return len(a) == len(b) and all(castable(x, y) for (_, x), (_, y) in pairs)
        case (Simple() | Decimal(), Simple() | Decimal()):
            return _castable_scalar(source, target)
        case _:
            return False


def _castable_scalar(source: DataType, target: DataType) -> bool:
    if STRING in (source, target):
        return True
    numbers = [t for t in (source, target) if is_numeric(t)]
    if len(numbers) == 2:
        return True
    if len(numbers) == 1:
        other = target if numbers[0] is source else source
        return other in (BOOLEAN, TIMESTAMP)
    return {source, target} == {DATE, TIMESTAMP}


# ---------------------------------------------------------------------------------- constants


def literal(written: ast.Literal, findings: Findings, sign: str = "") -> Literal:
    """A written constant; `sign` is a minus that stood before it."""
    span = written.span
    match written.kind:
        case ast.LiteralKind.NULL:
            return Literal(None, NULL, span=span)
        case ast.LiteralKind.BOOLEAN:
            return Literal(written.text.upper() == "TRUE", BOOLEAN, span=span)
        case ast.LiteralKind.STRING:
            return Literal(written.text, STRING, span=span)
        case ast.LiteralKind.INTEGER | ast.LiteralKind.DECIMAL | ast.LiteralKind.FLOATING:
            return _number(sign + written.text, written.kind, span, findings)
        case ast.LiteralKind.TIMESTAMP | ast.LiteralKind.DATE:
            type = TIMESTAMP if written.kind is ast.LiteralKind.TIMESTAMP else DATE
            moment = time_literal(written.text, type, span)
            if moment is None:
                findings.report(
                    codes.BAD_LITERAL,
                    f"'{written.text}' is not a {type}",
                    span,
                    "no such day or time",
                    help="write it as '2024-12-31 23:59:59' (or without the time of day)",
                )
            return moment or Literal(None, type, span=span)


def _number(text: str, kind: ast.LiteralKind, span: Span, findings: Findings) -> Literal:
    digits = text.lstrip("-").replace(".", "").lstrip("0") or "0"
    scale = len(text.partition(".")[2])
    if kind is ast.LiteralKind.FLOATING:
        value = float(text)
        if math.isfinite(value):
            return Literal(value, DOUBLE, span=span)
        help = f"a DOUBLE reaches to about {1.797e308}"
    elif max(len(digits), scale) > _MAX_PRECISION:
        help = f"exact numbers have up to {_MAX_PRECISION} digits; write 1e40 for a DOUBLE"
    elif kind is ast.LiteralKind.INTEGER:
        return integer(int(digits) * (-1 if text.startswith("-") else 1), span)
    else:
        return Literal(decimal.Decimal(text), Decimal(max(len(digits), scale), scale), span=span)
    findings.report(codes.BAD_LITERAL, "the number is too large", span, "out of range", help=help)
    return Literal(None, NULL, span=span)


def integer(value: int, span: Span) -> Literal:
    """A whole number in the smallest of INT, BIGINT and DECIMAL that holds it."""
    if -(2**31) <= value < 2**31:
        return Literal(value, INT, span=span)
    if -(2**63) <= value < 2**63:
        return Literal(value, BIGINT, span=span)
    return Literal(decimal.Decimal(value), Decimal(len(str(abs(value))), 0), span=span)


def time_literal(text: str, type: DataType, span: Span) -> Literal | None:
    """The DATE or TIMESTAMP, in UTC unless it says otherwise, that a text stands for."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    try:
        date = datetime.date(int(year), int(month), int(day))
        moment = datetime.datetime(
            date.year, date.month, date.day, int(hour or 0), int(minute or 0), int(second or 0)
        )
    except ValueError:
        return None
    if type == DATE:
        return Literal(date, DATE, span=span) if hour is None else None
    seconds = round((moment - _EPOCH).total_seconds()) - _zone_seconds(zone)
    return Literal(seconds * 1_000_000 + int((fraction or "").ljust(6, "0")), TIMESTAMP, span=span)


def _zone_seconds(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)


def duration(written: ast.Duration, findings: Findings) -> int | None:
    """A length of time in microseconds; None with a finding if there is no such length."""
    unit = MICROSECONDS[written.unit or ast.Unit.SECOND]
    if len(written.amount) <= 2 * _MAX_PRECISION and _PLAIN_NUMBER.fullmatch(written.amount):
        amount = Fraction(written.amount) * unit
        if amount < _LONGEST and amount.denominator == 1:
            return int(amount)
    findings.report(
        codes.BAD_LITERAL,
        f"{written.amount[:40]} {(written.unit or ast.Unit.SECOND).lower()} is no length of time",
        written.span,
        "not a whole number of microseconds, or too long",
        help="the smallest unit is 1 MICROSECOND, the longest time about 146,000 years",
    )
    return None


def count(text: str, span: Span, findings: Findings, least: int = 1) -> int | None:
    """A whole number of rows or the like; None with a finding if it is none."""
    if text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= least:
        return int(text)
    findings.report(
        codes.BAD_LITERAL,
        f"{text[:40]} is not a whole number from {least} to 10^18",
        span,
        "a whole number is needed here",
    )
    return None
