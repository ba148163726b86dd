"""How functions are described: parameters, result types, NULLs, Spark counterparts.

Nothing here computes a value; what a function does is `cqlc.semantics`' to define, from the one
sentence each entry carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from cqlc.datatypes import (
    BIGINT,
    DOUBLE,
    DURATION,
    NULL,
    Array,
    DataType,
    Decimal,
    Struct,
    common_type,
    converts,
    is_integer,
    is_numeric,
    is_orderable,
)


class Shape(StrEnum):
    """A parameter that takes values of more than one type."""

    ANY = "any"
    COMPARABLE = "ordered"
    """Any type that `<` applies to."""
    NUMBER = "number"
    INTEGER = "integer"
    DECIMAL = "decimal"
    T = "T"
    """Any type; all T of one call are converted to their common type."""
    ORDERED = "T (ordered)"
    """As T, for types that `<` applies to."""
    ARRAY_T = "ARRAY<T>"


class Result(StrEnum):
    """A result type that follows from the arguments'."""

    FIRST = "type of the first argument"
    T = "T"
    ARRAY_T = "ARRAY<T>"
    ARRAY_ARRAY_ELEMENT = "T of ARRAY<ARRAY>"
    SUM = "BIGINT for integers, DOUBLE for floating point, a wider DECIMAL, DURATION"
    WHOLE = "DECIMAL without digits after the point"
    STRUCT = "STRUCT<col1, col2, ..>"
    COUNTED = "ARRAY<STRUCT<item: T, count: BIGINT>>"


Parameter: TypeAlias = DataType | Shape


class Nulls(StrEnum):
    """What NULL arguments do, and when the result is NULL."""

    STRICT = "NULL exactly if an argument is NULL"
    PARTIAL = "NULL if an argument is NULL, or where the value does not exist"
    ALL = "NULL exactly if every argument is NULL"
    NEVER = "never NULL; NULL arguments are values like others"
    LENIENT = "NULL arguments are values like others; the result may be NULL"


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters and result; the last `optional` may be left out, `repeats` the last one."""

    parameters: tuple[Parameter, ...]
    result: DataType | Result
    optional: int = 0
    repeats: bool = False

    def __str__(self) -> str:
        required = len(self.parameters) - self.optional
        shown = [str(p) for p in self.parameters[:required]]
        text = ", ".join(shown) + (", ..." if self.repeats else "")
        for parameter in self.parameters[required:]:
            text += f"[, {parameter}]" if text else f"[{parameter}]"
        return f"({text})"


@dataclass(frozen=True, slots=True)
class Matched:
    """A call that fits a signature: the types to convert its arguments to, and its result."""

    arguments: tuple[DataType, ...]
    result: DataType


@dataclass(frozen=True, slots=True)
class ScalarFunction:
    """A function of one row's values.

    `spark` is Spark SQL text with `{0}`, `{1}` for the arguments, `{*}` for all of them, `{type}`
    for the result's type and `{1:name}` for a string literal that is written as an identifier. It
    is meant for `spark.sql.ansi.enabled=false` and a session in UTC. The last argument of a
    `parametric` one, if it may be left out, is a constant.
    """

    name: str
    signatures: tuple[Signature, ...]
    meaning: str
    spark: str
    nulls: Nulls = Nulls.STRICT
    aliases: tuple[str, ...] = ()
    parametric: bool = False


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """A function of the rows of a group; rows whose argument is NULL do not count.

    `nulls` speaks of groups: STRICT is NULL exactly if no row counts, PARTIAL also where the value
    does not exist; `LENIENT` ones count rows with NULL too. `spark` is None where Spark has no
    exact counterpart. The second argument of a `parametric` one is a constant.
    """

    name: str
    signatures: tuple[Signature, ...]
    meaning: str
    spark: str | None
    nulls: Nulls = Nulls.STRICT
    aliases: tuple[str, ...] = ()
    parametric: bool = False


def match_signature(signature: Signature, types: Sequence[DataType]) -> Matched | None:
    """How a call with arguments of these types fits the signature, or None."""
    parameters = _expanded(signature, len(types))
    if parameters is None:
        return None
    shared: DataType = NULL
    for parameter, type in zip(parameters, types, strict=True):
        element = _variable_part(parameter, type)
        if element is None:
            continue
        common = common_type(shared, element)
        if common is None or (parameter is Shape.ORDERED and not is_orderable(common)):
            return None
        shared = common
    wanted: list[DataType] = []
    for parameter, type in zip(parameters, types, strict=True):
        target = _target(parameter, type, shared)
        if target is None:
            return None
        wanted.append(target)
    return Matched(tuple(wanted), _result(signature.result, tuple(wanted), shared))


def _expanded(signature: Signature, count: int) -> tuple[Parameter, ...] | None:
    parameters = signature.parameters
    if signature.repeats and count > len(parameters):
        return parameters + parameters[-1:] * (count - len(parameters))
    if len(parameters) - signature.optional <= count <= len(parameters):
        return parameters[:count]
    return None


def _variable_part(parameter: Parameter, type: DataType) -> DataType | None:
    """The part of an argument's type that stands for T; None if the parameter has no T."""
    match parameter:
        case Shape.T | Shape.ORDERED:
            return type
        case Shape.ARRAY_T:
            return type.element if isinstance(type, Array) else NULL
        case _:
            return None


def _target(parameter: Parameter, type: DataType, shared: DataType) -> DataType | None:
    """The type an argument is converted to, or None if it does not fit."""
    match parameter:
        case Shape.ANY:
            return type
        case Shape.COMPARABLE:
            return type if is_orderable(type) else None
        case Shape.NUMBER:
            return DOUBLE if type == NULL else type if is_numeric(type) else None
        case Shape.INTEGER:
            return BIGINT if type == NULL else type if is_integer(type) else None
        case Shape.DECIMAL:
            return type if isinstance(type, Decimal) else None
        case Shape.T | Shape.ORDERED:
            return shared
        case Shape.ARRAY_T:
            return Array(shared) if type == NULL or isinstance(type, Array) else None
        case _:
            integers = is_integer(type) and is_integer(parameter)
            return parameter if integers or converts(type, parameter) else None


def _result(rule: DataType | Result, types: tuple[DataType, ...], shared: DataType) -> DataType:
    match rule:
        case Result.FIRST:
            return types[0]
        case Result.T:
            return shared
        case Result.ARRAY_T:
            return Array(shared)
        case Result.ARRAY_ARRAY_ELEMENT:
            return shared if isinstance(shared, Array) else Array(NULL)
        case Result.SUM:
            return _sum_type(types[0])
        case Result.WHOLE:
            first = types[0]
            return (
                Decimal(min(first.precision - first.scale + 1, 38), 0)
                if isinstance(first, Decimal)
                else BIGINT
            )
        case Result.STRUCT:
            return Struct(tuple((f"col{i}", type) for i, type in enumerate(types, 1)))
        case Result.COUNTED:
            return Array(Struct((("item", shared), ("count", BIGINT))))
        case _:
            return rule


def _sum_type(type: DataType) -> DataType:
    match type:
        case Decimal(precision, scale):
            return Decimal(min(precision + 10, 38), scale)
        case _ if is_integer(type):
            return BIGINT
        case _:
            return type if type == DURATION else DOUBLE
