"""The small vocabulary in which the registry's entries are written."""

from __future__ import annotations

from cqlc.datatypes import DataType
from cqlc.functions.signature import (
    AggregateFunction,
    Nulls,
    Parameter,
    Result,
    ScalarFunction,
    Signature,
)


def takes(
    *parameters: Parameter, gives: DataType | Result, optional: int = 0, repeats: bool = False
) -> Signature:
    """A signature."""
    return Signature(parameters, gives, optional, repeats)


def scalar(
    name: str,
    *signatures: Signature,
    meaning: str,
    spark: str = "",
    nulls: Nulls = Nulls.STRICT,
    aliases: tuple[str, ...] = (),
    parametric: bool = False,
) -> ScalarFunction:
    """A scalar function; its Spark counterpart has the same name unless `spark` says otherwise."""
    counterpart = spark or f"{name.lower()}({{*}})"
    return ScalarFunction(name, signatures, meaning, counterpart, nulls, aliases, parametric)


def aggregate(
    name: str,
    *signatures: Signature,
    meaning: str,
    spark: str | None = "",
    nulls: Nulls = Nulls.STRICT,
    aliases: tuple[str, ...] = (),
    parametric: bool = False,
) -> AggregateFunction:
    """An aggregate; its Spark counterpart has the same name unless `spark` says otherwise."""
    counterpart = f"{name.lower()}({{*}})" if spark == "" else spark
    return AggregateFunction(name, signatures, meaning, counterpart, nulls, aliases, parametric)
