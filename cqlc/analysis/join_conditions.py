"""What conditions say about the attributes of a join: equal, bounded, of known values, or else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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
    type_of,
)
from cqlc.algebra.walk import columns
from cqlc.analysis.equality import Attribute, Equality
from cqlc.datatypes import FLOAT, DataType, Decimal, is_integer, is_numeric


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of a join, sorted by what they are good for.

    `bounds` are pairs of which the first is at most the second plus a constant. `filtered` are the
    inputs with conditions of their own. `simple` says that what is left over compares columns with
    constants, no column twice, so that it excludes no value for good.
    """

    equalities: tuple[Equality, ...]
    bounds: tuple[tuple[Attribute, Attribute], ...]
    finite: frozenset[Attribute]
    filtered: frozenset[str]
    simple: bool


def read_conditions(parts: Iterable[Expr], attributes: Mapping[str, Attribute]) -> Conditions:
    """Sorts conditions over columns named as in `attributes`; other names are unknown values."""
    equalities: list[Equality] = []
    bounds: list[tuple[Attribute, Attribute]] = []
    finite: set[Attribute] = set()
    filtered: set[str] = set()
    left_over: list[Attribute | None] = []
    for part in parts:
        inputs = {attributes[name].stream if name in attributes else "" for name in columns(part)}
        if len(inputs) == 1:
            filtered |= inputs - {""}
        equality = _equality(part, attributes)
        found = _bounds(part, attributes)
        known = _known_values(part, attributes)
        bounds += found
        if equality is not None:
            equalities.append(equality)
        elif known is not None:
            finite.add(known)
        elif not found:
            left_over.append(_compared(part, attributes))
    simple = None not in left_over and len(set(left_over)) == len(left_over)
    return Conditions(
        tuple(equalities), tuple(bounds), frozenset(finite), frozenset(filtered), simple
    )


def _attribute(expr: Expr, attributes: Mapping[str, Attribute]) -> Attribute | None:
    """The attribute an expression is, seen through conversions that keep values apart."""
    match expr:
        case Column(name):
            return attributes.get(name)
        case Cast(operand, type) if _keeps_apart(type_of(operand), type):
            return _attribute(operand, attributes)
        case _:
            return None


def _keeps_apart(source: DataType, target: DataType) -> bool:
    """Whether a conversion between number types the compiler puts in maps no two values to one."""
    if source == target:
        return True
    if is_integer(source):
        return is_integer(target) or isinstance(target, Decimal)
    return source == FLOAT and is_numeric(target)


def _equality(part: Expr, attributes: Mapping[str, Attribute]) -> Equality | None:
    match part:
        case Compare(Comparison.EQ | Comparison.SAME, left, right):
            a, b = _attribute(left, attributes), _attribute(right, attributes)
            return Equality(a, b) if a is not None and b is not None and a != b else None
        case _:
            return None


def _known_values(part: Expr, attributes: Mapping[str, Attribute]) -> Attribute | None:
    """The attribute that has one of finitely many constants if the condition holds."""
    match part:
        case Compare(Comparison.EQ, left, right) if not columns(right):
            return _attribute(left, attributes)
        case Compare(Comparison.EQ, left, right) if not columns(left):
            return _attribute(right, attributes)
        case Or(operands):
            found = {_known_values(operand, attributes) for operand in operands}
            return next(iter(found)) if len(found) == 1 else None
        case _:
            return None


def _compared(part: Expr, attributes: Mapping[str, Attribute]) -> Attribute | None:
    """The attribute that a condition compares with a constant, or asks whether it is there."""
    match part:
        case Compare(_, left, right) if not columns(right):
            return _attribute(left, attributes)
        case Compare(_, left, right) if not columns(left):
            return _attribute(right, attributes)
        case Not(IsNull(operand)):
            return _attribute(operand, attributes)
        case _:
            return None


def _bounds(
    part: Expr, attributes: Mapping[str, Attribute]
) -> tuple[tuple[Attribute, Attribute], ...]:
    """The pairs (a, b) with a <= b + constant that a comparison implies."""
    match part:
        case Compare(Comparison.LT | Comparison.LE, left, right):
            pair = _difference(left, right, attributes)
            return (pair,) if pair else ()
        case Compare(Comparison.GT | Comparison.GE, left, right):
            pair = _difference(right, left, attributes)
            return (pair,) if pair else ()
        case Compare(Comparison.EQ, left, right) if _equality(part, attributes) is None:
            pair = _difference(left, right, attributes)
            return (pair, (pair[1], pair[0])) if pair else ()
        case _:
            return ()


def _difference(
    small: Expr, large: Expr, attributes: Mapping[str, Attribute]
) -> tuple[Attribute, Attribute] | None:
    """The pair of attributes whose difference `small <= large` bounds by a constant."""
    terms = [*_terms(small, 1), *_terms(large, -1)]
    variables = [(sign, term) for sign, term in terms if columns(term)]
    if sorted(sign for sign, _ in variables) != [-1, 1]:
        return None
    by_sign = {sign: _attribute(term, attributes) for sign, term in variables}
    low, high = by_sign[1], by_sign[-1]
    return (low, high) if low is not None and high is not None and low != high else None


def _terms(expr: Expr, sign: int) -> list[tuple[int, Expr]]:
    """The terms of a sum, each with its sign."""
    match expr:
        case Arithmetic(Operator.ADD, left, right):
            return _terms(left, sign) + _terms(right, sign)
        case Arithmetic(Operator.SUBTRACT, left, right):
            return _terms(left, sign) + _terms(right, -sign)
        case Negate(operand):
            return _terms(operand, -sign)
        case (
            Column() | Literal() | Compare() | And() | Or() | Not() | IsNull() | Arithmetic()
            | Case() | Cast() | Call()
        ):  # fmt: skip
            return [(sign, expr)]
