"""Operators on typed operands: which types they take, and the conversions they need.

Widening is `cqlc.datatypes`'; the digits of decimal results are those of SQL:2003 as Spark
computes them.
"""

from __future__ import annotations

import decimal
from collections.abc import Sequence

from cqlc.algebra.expr import (
    And,
    Arithmetic,
    Call,
    Cast,
    Compare,
    Comparison,
    Expr,
    Literal,
    Operator,
    type_of,
)
from cqlc.algebra.walk import conjuncts
from cqlc.codes import names as codes
from cqlc.datatypes import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    DataType,
    Decimal,
    common_type,
    converts,
    is_integer,
    is_numeric,
    is_orderable,
)
from cqlc.diagnostics import Fix
from cqlc.resolve.findings import Findings
from cqlc.resolve.types import castable, time_literal
from cqlc.source import NOWHERE, Span

POISON = Literal(None, NULL)
"""Stands for what could not be resolved: NULL takes any type, so nothing further goes wrong."""

TRUE = Literal(True, BOOLEAN)

_MAX_PRECISION = 38
_LEAST_SCALE = 6
_DIGITS: dict[DataType, int] = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
_TIMES = (TIMESTAMP, DATE)
_RANGES: dict[DataType, int] = {TINYINT: 7, SMALLINT: 15, INT: 31, BIGINT: 63}


# -------------------------------------------------------------------------------- conversions


def convert(expr: Expr, target: DataType) -> Expr:
    """The value as a `target`; constants are converted on the spot."""
    source = type_of(expr)
    if source == target:
        return expr
    if isinstance(expr, Literal) and (constant := _convert_literal(expr, target)):
        return constant
    return Cast(expr, target, span=expr.span)


def _convert_literal(literal: Literal, target: DataType) -> Literal | None:
    value = literal.value
    if value is None:
        return Literal(None, target, span=literal.span)
    if isinstance(value, bool) or not isinstance(value, int | decimal.Decimal):
        return None
    if not is_numeric(literal.type):
        return None
    if target in _RANGES and value == int(value) and abs(value) < 2 ** _RANGES[target]:
        return Literal(int(value), target, span=literal.span)
    if target == DOUBLE:
        return Literal(float(value), target, span=literal.span)
    if isinstance(target, Decimal):
        exact = decimal.Decimal(value)
        scaled = exact.scaleb(target.scale)
        if scaled == scaled.to_integral_value() and abs(scaled) < 10**target.precision:
            return Literal(exact, target, span=literal.span)
    return None


def as_type(expr: Expr, target: DataType) -> Expr | None:
    """The value where a `target` is wanted, or None if it does not convert by itself.

    A string constant also stands for the date or time it spells.
    """
    if converts(type_of(expr), target):
        return convert(expr, target)
    if target in _TIMES and isinstance(expr, Literal) and isinstance(expr.value, str):
        return time_literal(expr.value, target, expr.span)
    return None


def unify(exprs: list[Expr]) -> tuple[list[Expr], DataType] | None:
    """The values converted to their common type, and that type; None if they have none."""
    common: DataType = NULL
    for expr in sorted(exprs, key=lambda e: isinstance(e, Literal)):
        wider = common_type(common, type_of(expr))
        if wider is None and as_type(expr, common) is not None:
            wider = common
        if wider is None:
            return None
        common = wider
    converted = [as_type(expr, common) for expr in exprs]
    whole = [expr for expr in converted if expr is not None]
    return (whole, common) if len(whole) == len(exprs) else None


def condition(expr: Expr, findings: Findings, what: str) -> Expr:
    """The value as a condition; a finding if it is none."""
    if converts(type_of(expr), BOOLEAN):
        return convert(expr, BOOLEAN)
    help = "compare it with something"
    if is_numeric(type_of(expr)):
        help = "compare it with something, for example <> 0"
    findings.report(
        codes.NOT_A_CONDITION,
        f"{what} must be a condition, not {a_type(type_of(expr))}",
        expr.span,
        f"this is {a_type(type_of(expr))}",
        help=help,
    )
    return Literal(None, BOOLEAN, span=expr.span)


def conjunction(conditions: Sequence[Expr]) -> Expr:
    """All of the conditions; TRUE if there are none."""
    parts = tuple(part for condition in conditions for part in conjuncts(condition))
    match parts:
        case ():
            return TRUE
        case (only,):
            return only
        case _:
            places = [part.span for part in parts if part.span != NOWHERE] or [NOWHERE]
            return And(parts, span=min(places).to(max(places)))


# -------------------------------------------------------------------------------- comparisons


def compare(op: Comparison, left: Expr, right: Expr, span: Span, findings: Findings) -> Expr:
    """A comparison, with both sides converted to one type."""
    unified = unify([left, right])
    if unified is None:
        _cannot_compare(op, left, right, span, findings)
        return Literal(None, BOOLEAN, span=span)
    (left, right), type = unified
    ordering = op in (Comparison.LT, Comparison.LE, Comparison.GT, Comparison.GE)
    if ordering and not is_orderable(type):
        findings.report(
            codes.WRONG_OPERAND,
            f"{op} does not apply to {a_type(type)}",
            span,
            f"both sides are {a_type(type)}",
            help="only = and <> compare arrays and structs",
        )
    return Compare(op, left, right, span=span)


def _cannot_compare(
    op: Comparison, left: Expr, right: Expr, span: Span, findings: Findings
) -> None:
    types = type_of(left), type_of(right)
    constant = next((e for e in (left, right) if isinstance(e, Literal)), None)
    help = _cast_help(left, right)
    if constant is not None and STRING in types and any(t in types for t in _TIMES):
        help = "a time is written '2024-12-31 23:59:59', a date '2024-12-31'"
    elif DURATION in types and any(is_numeric(t) for t in types):
        help = "a length of time is written with its unit: 5 SECONDS"
    findings.report(
        codes.CANNOT_COMPARE,
        f"{a_type(types[0])} cannot be compared with {a_type(types[1])}",
        span,
        f"{op} needs two values of one type",
        help=help,
    )


def _cast_help(left: Expr, right: Expr) -> str:
    types = type_of(left), type_of(right)
    for value, target in ((left, types[1]), (right, types[0])):
        if type_of(value) == STRING and castable(STRING, target):
            return f"convert the text: CAST(.. AS {target})"
    if castable(*types):
        return f"convert one of them: CAST(.. AS {types[1]})"
    return "there is no conversion between the two"


# --------------------------------------------------------------------------------- arithmetic


def arithmetic(op: Operator, left: Expr, right: Expr, span: Span, findings: Findings) -> Expr:
    """A sum, difference, product, quotient or remainder."""
    a, b = type_of(left), type_of(right)
    if NULL in (a, b) and not any(t in (DURATION, *_TIMES) for t in (a, b)):
        other = a if b == NULL else b
        a = b = other if is_numeric(other) else DOUBLE if other == NULL else other
        left, right = convert(left, a), convert(right, b)
    result = _numbers(op, left, right, span) if is_numeric(a) and is_numeric(b) else None
    if result is None:
        result = _times(op, left, right, span)
    if result is None:
        _no_arithmetic(op, left, right, span, findings)
        return Literal(None, NULL, span=span)
    return result


def _numbers(op: Operator, left: Expr, right: Expr, span: Span) -> Expr | None:
    common = common_type(type_of(left), type_of(right))
    if common is None:
        return None
    if not isinstance(common, Decimal):
        return Arithmetic(op, convert(left, common), convert(right, common), common, span=span)
    left, right = _as_decimal(left), _as_decimal(right)
    a, b = type_of(left), type_of(right)
    if not (isinstance(a, Decimal) and isinstance(b, Decimal)):
        return None
    return Arithmetic(op, left, right, _decimal_result(op, a, b), span=span)


def _as_decimal(expr: Expr) -> Expr:
    type = type_of(expr)
    if isinstance(type, Decimal):
        return expr
    digits = _DIGITS.get(type, _MAX_PRECISION)
    if isinstance(expr, Literal) and isinstance(expr.value, int):
        digits = len(str(abs(expr.value)))  # a constant needs no more room than its digits
    return convert(expr, Decimal(digits, 0))


def _decimal_result(op: Operator, a: Decimal, b: Decimal) -> Decimal:
    whole_a, whole_b = a.precision - a.scale, b.precision - b.scale
    match op:
        case Operator.ADD | Operator.SUBTRACT:
            scale = max(a.scale, b.scale)
            return _fit(max(whole_a, whole_b) + scale + 1, scale)
        case Operator.MULTIPLY:
            return _fit(a.precision + b.precision + 1, a.scale + b.scale)
        case Operator.DIVIDE:
            scale = max(_LEAST_SCALE, a.scale + b.precision + 1)
            return _fit(whole_a + b.scale + scale, scale)
        case Operator.MODULO:
            scale = max(a.scale, b.scale)
            return _fit(min(whole_a, whole_b) + scale, scale)


def _fit(precision: int, scale: int) -> Decimal:
    """The type, with digits after the point given up where there are more than 38 in all."""
    if precision <= _MAX_PRECISION:
        return Decimal(max(precision, 1), scale)
    kept = max(_MAX_PRECISION - (precision - scale), min(scale, _LEAST_SCALE))
    return Decimal(_MAX_PRECISION, kept)


def _times(op: Operator, left: Expr, right: Expr, span: Span) -> Expr | None:
    """Arithmetic with dates, times and lengths of time; None if there is none for these types."""
    a, b = type_of(left), type_of(right)
    additive = op in (Operator.ADD, Operator.SUBTRACT)
    match (a in _TIMES, b in _TIMES):
        case (True, False) if a == DATE and is_integer(b) and additive:
            function = "DATE_ADD" if op is Operator.ADD else "DATE_SUB"
            return Call(function, (left, convert(right, INT)), DATE, span=span)
        case (True, False) if b in (DURATION, NULL) and additive:
            right = convert(right, DURATION)
            return Arithmetic(op, convert(left, TIMESTAMP), right, TIMESTAMP, span=span)
        case (False, True) if a in (DURATION, NULL) and op is Operator.ADD:
            left = convert(left, DURATION)
            return Arithmetic(op, left, convert(right, TIMESTAMP), TIMESTAMP, span=span)
        case (True, True) if op is Operator.SUBTRACT:
            left, right = convert(left, TIMESTAMP), convert(right, TIMESTAMP)
            return Arithmetic(op, left, right, DURATION, span=span)
        case (True, False) if b == STRING and op is Operator.SUBTRACT:
            moment = as_type(right, TIMESTAMP)
            return None if moment is None else _times(op, left, moment, span)
        case _:
            return _durations(op, left, right, span) if DURATION in (a, b) else None


def _durations(op: Operator, left: Expr, right: Expr, span: Span) -> Expr | None:
    a, b = type_of(left), type_of(right)
    if op in (Operator.ADD, Operator.SUBTRACT) and {a, b} <= {DURATION, NULL}:
        left, right = convert(left, DURATION), convert(right, DURATION)
        return Arithmetic(op, left, right, DURATION, span=span)
    if a == DURATION and op in (Operator.MULTIPLY, Operator.DIVIDE) and is_numeric(b):
        return Arithmetic(op, left, _factor(right), DURATION, span=span)
    if b == DURATION and op is Operator.MULTIPLY and is_numeric(a):
        return Arithmetic(op, right, _factor(left), DURATION, span=span)
    return None


def _factor(expr: Expr) -> Expr:
    """A number that multiplies or divides a length of time: a BIGINT or a DOUBLE."""
    return convert(expr, BIGINT if is_integer(type_of(expr)) else DOUBLE)


def _no_arithmetic(op: Operator, left: Expr, right: Expr, span: Span, findings: Findings) -> None:
    types = (type_of(left), type_of(right))
    help, fix = "", None
    if op is Operator.ADD and types == (STRING, STRING):
        help = "strings are put together with ||"
        if NOWHERE not in (left.span, right.span):
            between = Span(left.span.end, right.span.start)
            fix = Fix("put the strings together with ||", between, " || ")
    elif any(t in _TIMES for t in types) and any(is_numeric(t) for t in types):
        help = "a length of time has a unit: 5 MINUTES"
    elif STRING in types:
        number = next((t for t in types if t != STRING), DOUBLE)
        help = f"convert the text first: CAST(.. AS {number if is_numeric(number) else DOUBLE})"
    elif types == (DURATION, DURATION):
        help = "DURATION_SECONDS(d) gives the seconds of a length of time as a number"
    findings.report(
        codes.WRONG_OPERAND,
        f"{op} does not apply to {a_type(types[0])} and {a_type(types[1])}",
        span,
        f"{types[0]} {op} {types[1]}",
        help=help,
        fix=fix,
    )


def a_type(type: DataType) -> str:
    """A type with its article."""
    article = "an" if str(type)[0] in "AI" else "a"
    return "NULL" if type == NULL else f"{article} {type}"
