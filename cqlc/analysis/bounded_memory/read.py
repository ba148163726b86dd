"""Expressions over base columns as formulas, as far as the theory can read them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

from cqlc.algebra import expr as e
from cqlc.algebra.expr import Column, Comparison, Expr, Operator
from cqlc.algebra.walk import columns
from cqlc.analysis.bounded_memory.formula import (
    FLIPPED,
    Against,
    Between,
    Every,
    Formula,
    Missing,
    Negated,
    OneOf,
    Some,
    Truth,
    Unread,
)
from cqlc.analysis.bounded_memory.values import is_point, sort_of, units
from cqlc.datatypes import (
    BOOLEAN,
    DOUBLE,
    DURATION,
    FLOAT,
    INTEGERS,
    TIMESTAMP,
    DataType,
    Decimal,
    is_integer,
    is_numeric,
)

_EXACT_DOUBLE = 2**53
_EXACT_FLOAT = 2**24
_DIGITS = 15
"""Decimals of so many digits stay different as doubles, though not where constants are exact."""


@dataclass(frozen=True, slots=True)
class Shifted:
    """`sign * column + offset`, the offset in the column's units."""

    column: Column
    sign: int = 1
    offset: Fraction = Fraction(0)
    largest: int | None = None
    """Comparisons with larger constants are not exact, for a floating-point type is in between."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A value, and its type."""

    literal: e.Literal


Term: TypeAlias = Shifted | Constant


def read(expr: Expr) -> Formula:
    """A predicate as a formula."""
    match expr:
        case e.And(operands):
            return Every(tuple(map(read, operands)))
        case e.Or(operands):
            return _disjunction(tuple(map(read, operands)))
        case e.Not(operand):
            return Negated(read(operand))
        case e.Literal(value):
            return Truth(value if isinstance(value, bool) else None)
        case e.IsNull(operand):
            found = source(operand)
            return Missing(found.column.name) if found else _unread(expr)
        case e.Column() if expr.type == BOOLEAN:
            return Against(expr.name, Comparison.EQ, Fraction(1), expr.span)
        case e.Compare():
            return _compare(expr)
        case _:
            return _unread(expr)


def _unread(expr: Expr) -> Unread:
    return Unread(columns(expr), expr.span)


def _disjunction(parts: tuple[Formula, ...]) -> Formula:
    """A disjunction; a list of values of one attribute as such."""
    values = {p.attribute: p for p in parts if isinstance(p, Against) and p.op is Comparison.EQ}
    if len(values) == 1 and all(isinstance(p, Against) and p.op is Comparison.EQ for p in parts):
        (first,) = values.values()
        listed = tuple(p.value for p in parts if isinstance(p, Against))
        return OneOf(first.attribute, listed, first.span)
    return Some(parts)


def _compare(expr: e.Compare) -> Formula:
    left, right = term(expr.left), term(expr.right)
    match left, right:
        case Shifted(), Shifted():
            return _columns(expr, left, right)
        case Shifted(), Constant(literal):
            return _constant(expr, left, expr.op, literal)
        case Constant(literal), Shifted():
            return _constant(expr, right, FLIPPED.get(expr.op, expr.op), literal)
        case Constant(one), Constant(other):
            return _constants(expr, one, other)
        case _:
            return _unread(expr)


def _columns(expr: e.Compare, left: Shifted, right: Shifted) -> Formula:
    same = (left.sign, left.offset) == (right.sign, right.offset)
    rounded = left.largest is not None or right.largest is not None
    if not same or rounded or sort_of(left.column.type) != sort_of(right.column.type):
        return _unread(expr)
    if left.sign < 0:
        left, right = right, left
    return Between(left.column.name, expr.op, right.column.name, expr.span)


def _constant(expr: e.Compare, found: Shifted, op: Comparison, literal: e.Literal) -> Formula:
    name, type = found.column.name, found.column.type
    null_is_a_value = op in (Comparison.SAME, Comparison.DIFFERENT)
    if literal.value is None:
        missing = Missing(name)
        return (
            Truth(None)
            if not null_is_a_value
            else missing
            if op is Comparison.SAME
            else Negated(missing)
        )
    sort = sort_of(type)
    if sort.dense:
        return (
            Against(name, op, literal.value, expr.span)
            if is_point(literal.value, sort)
            else _unread(expr)
        )
    constant = units(literal.value, type)
    if constant is None or (found.largest is not None and abs(constant) > found.largest):
        return _unread(expr)
    value = (constant - found.offset) * found.sign
    return Against(name, FLIPPED.get(op, op) if found.sign < 0 else op, value, expr.span)


_COMPARE: dict[Comparison, Callable[[Fraction, Fraction], bool]] = {
    Comparison.EQ: lambda a, b: a == b,
    Comparison.SAME: lambda a, b: a == b,
    Comparison.NE: lambda a, b: a != b,
    Comparison.DIFFERENT: lambda a, b: a != b,
    Comparison.LT: lambda a, b: a < b,
    Comparison.LE: lambda a, b: a <= b,
    Comparison.GT: lambda a, b: a > b,
    Comparison.GE: lambda a, b: a >= b,
}


def _constants(expr: e.Compare, one: e.Literal, other: e.Literal) -> Formula:
    left, right = units(one.value, one.type), units(other.value, other.type)
    if one.type != other.type or left is None or right is None:
        return _unread(expr)
    return Truth(_COMPARE[expr.op](left, right))


# ------------------------------------------------------------------------------------ terms


def term(expr: Expr) -> Term | None:
    """A column, perhaps shifted by a constant, or a constant; None for anything else."""
    match expr:
        case e.Column():
            return Shifted(expr)
        case e.Literal():
            return Constant(expr)
        case e.Cast(operand, type):
            return _cast(term(operand), type)
        case e.Negate(operand):
            return _turned(source(operand))
        case e.Arithmetic(Operator.ADD | Operator.SUBTRACT as op, left, right):
            return _sum(term(left), op, term(right))
        case _:
            return None


def source(expr: Expr) -> Shifted | None:
    """The column that an expression is a one-to-one function of, if there is one."""
    found = term(expr)
    return found if isinstance(found, Shifted) else None


def _shifts(found: Shifted) -> bool:
    """Whether adding a constant is exact."""
    type = found.column.type
    exact = is_integer(type) or isinstance(type, Decimal) or type in (TIMESTAMP, DURATION)
    return exact and found.largest is None


def _sum(left: Term | None, op: Operator, right: Term | None) -> Shifted | None:
    match left, right:
        case Shifted(), Constant(literal):
            sign = 1 if op is Operator.ADD else -1
            return _moved(left, literal, sign)
        case Constant(literal), Shifted():
            return _moved(right if op is Operator.ADD else _turned(right), literal, 1)
        case _:
            return None


def _moved(found: Shifted | None, literal: e.Literal, sign: int) -> Shifted | None:
    if found is None or not _shifts(found):
        return None
    by = units(literal.value, found.column.type)
    return None if by is None else replace(found, offset=found.offset + sign * by)


def _turned(found: Shifted | None) -> Shifted | None:
    if found is None or not _shifts(found):
        return None
    return replace(found, sign=-found.sign, offset=-found.offset)


def _cast(found: Term | None, type: DataType) -> Term | None:
    """A conversion that neither loses nor reorders values; others are not read."""
    match found:
        case Shifted(column) if column.type == type:
            return found
        case Shifted(column) if column.type in INTEGERS and type in INTEGERS:
            wider = INTEGERS.index(type) >= INTEGERS.index(column.type)
            return found if wider else None
        case Shifted(column) if is_integer(column.type) and type in (DOUBLE, FLOAT):
            return replace(found, largest=_EXACT_DOUBLE if type == DOUBLE else _EXACT_FLOAT)
        case Shifted(column) if column.type == FLOAT and type == DOUBLE:
            return found
        case Shifted(Column(type=Decimal(digits))) if type == DOUBLE and digits <= _DIGITS:
            return replace(found, largest=0)
        case Shifted(Column(type=Decimal(_, narrow))) if isinstance(type, Decimal):
            return found if type.scale >= narrow else None
        case Shifted(column) if is_integer(column.type) and isinstance(type, Decimal):
            return found
        case Constant(literal) if units(literal.value, literal.type) is not None:
            number = isinstance(literal.value, int) and not isinstance(literal.value, bool)
            return found if number and is_numeric(type) else None
        case _:
            return None
