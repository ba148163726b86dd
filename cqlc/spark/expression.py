"""Expressions as Spark SQL text that means what `cqlc.semantics` says, in either ANSI mode.

Names are quoted and constants are written as literals of their type, so no text of a program or
of its data is ever read as SQL.
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from collections.abc import Sequence

from cqlc.algebra.expr import (
    And,
    Arithmetic,
    Call,
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
    type_of,
)
from cqlc.algebra.text import duration_text
from cqlc.datatypes import (
    BIGINT,
    DATE,
    DOUBLE,
    DURATION,
    FLOAT,
    INT,
    INTEGERS,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    Array,
    DataType,
    Decimal,
    Struct,
    is_integer,
)
from cqlc.functions import FIELD, SCALARS

_EPOCH = datetime.datetime(1970, 1, 1)
_SUFFIXES = {TINYINT: "Y", SMALLINT: "S", INT: "", BIGINT: "L"}
_WIDTHS: dict[DataType, int] = {type: width for width, type in enumerate(INTEGERS)}
_COMPOUND = re.compile(r"[^)`]$")
"""The end of a function's text that is not one call: `f(x) / 2` and the like."""
_TRIED = {Operator.ADD: "try_add", Operator.SUBTRACT: "try_subtract"}


def name(column: str) -> str:
    """A column's name as SQL."""
    return "`" + column.replace("`", "``") + "`"


def string(text: str) -> str:
    """A string constant as SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n")
    return "'" + escaped.replace("\r", "\\r").replace("\0", "\\0") + "'"


def interval(micros: int) -> str:
    """A length of time as a SQL interval."""
    text = f"INTERVAL {duration_text(abs(micros))}"
    return text if micros >= 0 else f"(- {text})"


def sql_type(type: DataType) -> str:
    """A type's name in Spark SQL."""
    match type:
        case Array(element):
            return f"ARRAY<{sql_type(element)}>"
        case Struct(fields):
            return f"STRUCT<{', '.join(f'{name(n)}: {sql_type(t)}' for n, t in fields)}>"
        case _:
            return str(type)


def sql(expr: Expr) -> str:
    """An expression as SQL."""
    match expr:
        case Column():
            return name(expr.name)
        case Literal(value, type):
            return literal(value, type)
        case Compare(Comparison.SAME, left, right):
            return f"{_operand(left)} <=> {_operand(right)}"
        case Compare(Comparison.DIFFERENT, left, right):
            return f"NOT ({_operand(left)} <=> {_operand(right)})"
        case Compare(op, left, right):
            return f"{_operand(left)} {op.value} {_operand(right)}"
        case And(operands):
            return " AND ".join(map(_operand, operands))
        case Or(operands):
            return " OR ".join(map(_operand, operands))
        case Not(operand):
            return f"NOT {_operand(operand)}"
        case IsNull(operand):
            return f"{_operand(operand)} IS NULL"
        case Arithmetic():
            return _arithmetic(expr)
        case Negate(operand):
            return _negated(operand)
        case Case(branches, otherwise):
            whens = "".join(f" WHEN {sql(when)} THEN {sql(then)}" for when, then in branches)
            return f"CASE{whens} ELSE {sql(otherwise)} END"
        case Cast(operand, type):
            return _cast(operand, type)
        case Call():
            return _call(expr)


def _operand(expr: Expr) -> str:
    text = sql(expr)
    simple = isinstance(expr, Column | Literal | Cast | Case) or (
        isinstance(expr, Call) and not _COMPOUND.search(text)
    )
    return text if simple else f"({text})"


def literal(value: Value, type: DataType) -> str:
    """A constant as SQL of the given type."""
    match value:
        case None:
            return f"CAST(NULL AS {sql_type(type)})"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return _integer(value, type)
        case float():
            return _floating(value, type)
        case decimal.Decimal():
            return f"CAST({string(f'{value:f}')} AS {sql_type(type)})"
        case str():
            return string(value)
        case bytes():
            return f"X'{value.hex()}'"
        case datetime.date():
            return f"DATE '{value.isoformat()}'"
        case tuple():
            return _nested(value, type)


def _integer(value: int, type: DataType) -> str:
    if type == TIMESTAMP:
        return _timestamp(value)
    if type == DURATION:
        return interval(value)
    if type in _SUFFIXES:
        text = f"{value}{_SUFFIXES[type]}"
        if value == -(2**63):
            return f"CAST({string(str(value))} AS BIGINT)"
        return text if value >= 0 else f"({text})"
    return f"CAST({value} AS {sql_type(type)})"


def _timestamp(micros: int) -> str:
    try:
        moment = _EPOCH + datetime.timedelta(microseconds=micros)
    except OverflowError:
        return f"timestamp_micros({micros}L)"
    return f"TIMESTAMP '{moment.isoformat(sep=' ')}Z'"


def _floating(value: float, type: DataType) -> str:
    if not math.isfinite(value):
        return f"CAST({string(str(value))} AS {sql_type(type)})"
    suffix = "F" if type == FLOAT else "D"
    return f"{value!r}{suffix}" if value >= 0 else f"({value!r}{suffix})"


def _nested(value: tuple[Value, ...], type: DataType) -> str:
    match type:
        case Array(element):
            items = ", ".join(literal(item, element) for item in value)
            return f"CAST(array({items}) AS {sql_type(type)})"
        case Struct(fields):
            parts = zip(value, fields, strict=True)
            items = ", ".join(f"{string(n)}, {literal(v, t)}" for v, (n, t) in parts)
            return f"named_struct({items})"
        case _:
            return string(str(value))


# --------------------------------------------------------------------------------- arithmetic


def _arithmetic(expr: Arithmetic) -> str:
    """Arithmetic that leaves its type, and division by zero, give NULL."""
    left, right = _operand(expr.left), _operand(expr.right)
    kind = type_of(expr.left)
    if kind == DATE:
        step = "date_add" if expr.op is Operator.ADD else "date_sub"
        return f"{step}({sql(expr.left)}, {sql(expr.right)})"
    match expr.op:
        case Operator.ADD | Operator.SUBTRACT:
            if expr.type in (FLOAT, DOUBLE) or kind in (TIMESTAMP, DURATION):
                return f"{left} {expr.op.value} {right}"
            tried = f"{_TRIED[expr.op]}({sql(expr.left)}, {sql(expr.right)})"
            return _fitted(tried, expr.type)
        case Operator.MULTIPLY:
            if expr.type in (FLOAT, DOUBLE, DURATION):
                return f"{left} * {right}"
            return _fitted(f"try_multiply({sql(expr.left)}, {sql(expr.right)})", expr.type)
        case Operator.DIVIDE:
            return _quotient(expr, left, right)
        case Operator.MODULO:
            return _fitted(f"{left} % {_divisor(expr.right, right)}", expr.type)


def _fitted(text: str, type: DataType) -> str:
    """Decimal results have digits of Spark's choosing: they are rounded to the wanted ones."""
    return f"try_cast({text} AS {sql_type(type)})" if isinstance(type, Decimal) else text


def _quotient(expr: Arithmetic, left: str, right: str) -> str:
    divisor = _divisor(expr.right, right)
    if not is_integer(expr.type):
        return _fitted(f"{left} / {divisor}", expr.type)
    whole = f"{left} div {divisor}"
    if expr.type != BIGINT:
        return f"try_cast({whole} AS {sql_type(expr.type)})"
    if isinstance(expr.right, Literal) and expr.right.value != -1:
        return whole
    return f"if({right} = -1L, try_subtract(0L, {left}), {whole})"


def _divisor(expr: Expr, text: str) -> str:
    return text if isinstance(expr, Literal) and expr.value else f"nullif({text}, 0)"


def _negated(operand: Expr) -> str:
    type = type_of(operand)
    if is_integer(type):
        return f"try_subtract({literal(0, type)}, {sql(operand)})"
    return f"- {_operand(operand)}"


# ------------------------------------------------------------------------ casts and functions


def _cast(operand: Expr, type: DataType) -> str:
    source = type_of(operand)
    widening = (
        is_integer(source)
        and (type in (FLOAT, DOUBLE, STRING) or _WIDTHS.get(type, -1) >= _WIDTHS[source])
    ) or (source == FLOAT and type == DOUBLE)
    return f"{'CAST' if widening else 'try_cast'}({sql(operand)} AS {sql_type(type)})"


_PLACE = re.compile(r"\{(\*|\d+|type|\d+:name)\}")


def filled(template: str, arguments: Sequence[str], type: str) -> str:
    """A registry entry's Spark text with arguments and the result's type in their places."""

    def fill(match: re.Match[str]) -> str:
        place = match[1]
        if place == "*":
            return ", ".join(arguments)
        return type if place == "type" else arguments[int(place.removesuffix(":name"))]

    return _PLACE.sub(fill, template)


def _call(expr: Call) -> str:
    known = SCALARS.get(expr.function)
    if known is None:
        return f"{name(expr.function)}({', '.join(map(sql, expr.arguments))})"
    if known is FIELD:
        return f"{_operand(expr.arguments[0])}.{_field_name(expr.arguments[1])}"
    show = sql if known.spark.endswith("({*})") else _operand
    return filled(known.spark, [show(argument) for argument in expr.arguments], sql_type(expr.type))


def _field_name(expr: Expr) -> str:
    return name(str(expr.value)) if isinstance(expr, Literal) else sql(expr)
