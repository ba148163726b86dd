"""Typed expressions over the columns of one row.

NULL follows SQL: comparisons and functions of NULL are NULL, connectives are three-valued.
Whatever SQL offers beyond these nodes (BETWEEN, IN lists, COALESCE, LIKE, ...) is either
written with them by the resolver or is a `Call` of the function registry.
"""

from __future__ import annotations

import datetime
import decimal
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from cqlc.datatypes import BOOLEAN, DataType
from cqlc.source import NOWHERE, Span

Value: TypeAlias = (
    bool | int | float | str | bytes | decimal.Decimal | datetime.date | tuple["Value", ...] | None
)
"""A value of a row. TIMESTAMP and DURATION are microseconds (`int`), arrays and structs tuples."""


class Comparison(StrEnum):
    """The comparison operators; the last two treat NULL as an ordinary value."""

    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    SAME = "IS NOT DISTINCT FROM"
    DIFFERENT = "IS DISTINCT FROM"


class Operator(StrEnum):
    """The arithmetic operators. `/` truncates towards zero when its type is an integer."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    MODULO = "%"


@dataclass(frozen=True, slots=True)
class ExprNode:
    """Where an expression came from; never part of its identity."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Column(ExprNode):
    """The value of the column called `name` in the input's schema."""

    name: str
    type: DataType


@dataclass(frozen=True, slots=True)
class Literal(ExprNode):
    """A constant."""

    value: Value
    type: DataType


@dataclass(frozen=True, slots=True)
class Compare(ExprNode):
    """A comparison of two values of one type."""

    op: Comparison
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class And(ExprNode):
    """True if all operands are (two or more), false if one is false, else NULL."""

    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Or(ExprNode):
    """True if one operand is (two or more), false if all are false, else NULL."""

    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not(ExprNode):
    """The negation; NULL stays NULL."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class IsNull(ExprNode):
    """Whether the operand is NULL; never NULL itself."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Arithmetic(ExprNode):
    """A binary arithmetic operation whose operands were converted to fit `type`.

    TIMESTAMP ± DURATION is a TIMESTAMP, TIMESTAMP - TIMESTAMP a DURATION.
    """

    op: Operator
    left: Expr
    right: Expr
    type: DataType


@dataclass(frozen=True, slots=True)
class Negate(ExprNode):
    """The number with its sign changed."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Case(ExprNode):
    """The value beside the first condition that is true, else `otherwise`."""

    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr
    type: DataType


@dataclass(frozen=True, slots=True)
class Cast(ExprNode):
    """The operand converted to `type`; NULL where it cannot be."""

    operand: Expr
    type: DataType


@dataclass(frozen=True, slots=True)
class Call(ExprNode):
    """A scalar function of the registry, or one declared with CREATE FUNCTION."""

    function: str
    arguments: tuple[Expr, ...]
    type: DataType


Expr: TypeAlias = (
    Column | Literal | Compare | And | Or | Not | IsNull | Arithmetic | Negate | Case | Cast | Call
)


@dataclass(frozen=True, slots=True)
class AggregateCall(ExprNode):
    """An aggregate of the registry over the rows of a group.

    `distinct` folds equal argument values into one; rows for which `where` is not true do not
    count; `order` orders the rows for the functions that depend on it (FIRST, LAST, COLLECT_LIST).
    COUNT(*) has no arguments.
    """

    function: str
    arguments: tuple[Expr, ...]
    type: DataType
    distinct: bool = False
    where: Expr | None = None


@dataclass(frozen=True, slots=True)
class SortKey(ExprNode):
    """One key of an order; NULL sorts as the smallest value unless `nulls_first` says otherwise."""

    value: Expr
    descending: bool
    nulls_first: bool


def type_of(expr: Expr) -> DataType:
    """The type of an expression's values."""
    match expr:
        case Compare() | And() | Or() | Not() | IsNull():
            return BOOLEAN
        case Negate(operand):
            return type_of(operand)
        case Column() | Literal() | Arithmetic() | Case() | Cast() | Call():
            return expr.type
