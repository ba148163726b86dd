"""The value of an expression over one row.

`evaluator` turns an expression into a Python function of the row's values, once per plan. NULL is
None. Comparisons and arithmetic of NULL are NULL, connectives are three-valued (Kleene's logic).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

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
from cqlc.algebra.schema import Schema
from cqlc.datatypes import DOUBLE, FLOAT, DataType
from cqlc.semantics.casts import caster
from cqlc.semantics.scalars import scalar_function
from cqlc.semantics.timeline import Values
from cqlc.semantics.values import fit, order_key, quotient, remainder

Evaluator: TypeAlias = Callable[[Values], Value]
UserFunctions: TypeAlias = Mapping[str, Callable[..., Value]]
"""Python callables for the functions declared with CREATE FUNCTION."""


def evaluator(expr: Expr, schema: Schema, functions: UserFunctions) -> Evaluator:
    """The function from a row of `schema` to the value of `expr`."""
    places = {field.name: place for place, field in enumerate(schema)}

    def build(expr: Expr) -> Evaluator:
        match expr:
            case Column(name):
                return operator.itemgetter(places[name])
            case Literal(value):
                return lambda _: value
            case Compare(op, left, right):
                return _compare(op, build(left), build(right), type_of(left))
            case And(operands):
                return _connective([build(part) for part in operands], decisive=False)
            case Or(operands):
                return _connective([build(part) for part in operands], decisive=True)
            case Not(operand):
                return _unary(operator.not_, build(operand))
            case IsNull(operand):
                test = build(operand)
                return lambda row: test(row) is None
            case Arithmetic(op, left, right, type):
                return _binary(_arithmetic(op, type), build(left), build(right))
            case Negate(operand):
                type = type_of(operand)
                return _unary(lambda x: fit(-x, type), build(operand))
            case Case(branches, otherwise):
                return _case([(build(c), build(v)) for c, v in branches], build(otherwise))
            case Cast(operand, type):
                return _unary(caster(type_of(operand), type), build(operand))
            case Call(name, arguments, type):
                types = [type_of(argument) for argument in arguments]
                function = functions.get(name) or scalar_function(name, types, type)
                parts = [build(argument) for argument in arguments]
                return lambda row: function(*[part(row) for part in parts])

    return build(expr)


# The values an operation meets have the types the resolver checked, which Python's own checker
# cannot see: hence `Any` below.


def _unary(function: Callable[[Any], Value], operand: Evaluator) -> Evaluator:
    """NULL if the operand is NULL, else what the function says."""
    return lambda row: None if (x := operand(row)) is None else function(x)


def _binary(function: Callable[[Any, Any], Value], left: Evaluator, right: Evaluator) -> Evaluator:
    """NULL if an operand is NULL, else what the function says."""

    def apply(row: Values) -> Value:
        x = left(row)
        if x is None:
            return None
        y = right(row)
        return None if y is None else function(x, y)

    return apply


_TESTS: dict[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.EQ: operator.eq,
    Comparison.NE: operator.ne,
    Comparison.LT: operator.lt,
    Comparison.LE: operator.le,
    Comparison.GT: operator.gt,
    Comparison.GE: operator.ge,
    Comparison.SAME: operator.eq,
    Comparison.DIFFERENT: operator.ne,
}


def _compare(op: Comparison, left: Evaluator, right: Evaluator, type: DataType) -> Evaluator:
    test = _TESTS[op]
    if op in (Comparison.SAME, Comparison.DIFFERENT):
        return lambda row: test(order_key(left(row)), order_key(right(row)))
    if type in (FLOAT, DOUBLE):
        return _binary(lambda x, y: test(order_key(x), order_key(y)), left, right)
    return _binary(test, left, right)


def _connective(parts: list[Evaluator], *, decisive: bool) -> Evaluator:
    """`decisive` if an operand is that, NULL if one is NULL, else the other truth value."""

    def apply(row: Values) -> Value:
        result: Value = not decisive
        for part in parts:
            value = part(row)
            if value is decisive:
                return decisive
            if value is None:
                result = None
        return result

    return apply


def _case(branches: list[tuple[Evaluator, Evaluator]], otherwise: Evaluator) -> Evaluator:
    def apply(row: Values) -> Value:
        for condition, value in branches:
            if condition(row) is True:
                return value(row)
        return otherwise(row)

    return apply


def _arithmetic(op: Operator, type: DataType) -> Callable[[Any, Any], Value]:
    match op:
        case Operator.ADD:
            return lambda x, y: fit(x + y, type)
        case Operator.SUBTRACT:
            return lambda x, y: fit(x - y, type)
        case Operator.MULTIPLY:
            return lambda x, y: fit(x * y, type)
        case Operator.DIVIDE:
            return lambda x, y: None if y == 0 else fit(quotient(x, y, type), type)
        case Operator.MODULO:
            return lambda x, y: None if y == 0 else fit(remainder(x, y), type)
