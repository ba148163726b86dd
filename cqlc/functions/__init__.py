"""The functions queries may call, by name: some 170 scalar and aggregate ones, as in Spark SQL."""

from __future__ import annotations

from cqlc.functions.aggregates import AGGREGATE_FUNCTIONS
from cqlc.functions.numbers import NUMBER_FUNCTIONS
from cqlc.functions.signature import (
    AggregateFunction,
    Matched,
    Nulls,
    ScalarFunction,
    Signature,
    match_signature,
)
from cqlc.functions.strings import STRING_FUNCTIONS
from cqlc.functions.times import TIME_FUNCTIONS
from cqlc.functions.values import FIELD, VALUE_FUNCTIONS

__all__ = [
    "AGGREGATES",
    "FIELD",
    "SCALARS",
    "AggregateFunction",
    "Matched",
    "Nulls",
    "ScalarFunction",
    "Signature",
    "aggregate_function",
    "match_signature",
    "scalar_function",
]

SCALARS: dict[str, ScalarFunction] = {
    f.name: f
    for f in (*NUMBER_FUNCTIONS, *STRING_FUNCTIONS, *TIME_FUNCTIONS, *VALUE_FUNCTIONS, FIELD)
}
"""The scalar functions by the name that plans use for them."""

AGGREGATES: dict[str, AggregateFunction] = {f.name: f for f in AGGREGATE_FUNCTIONS}
"""The aggregate functions by the name that plans use for them."""

_SCALAR_NAMES = {name: f for f in SCALARS.values() for name in (f.name, *f.aliases)}
_AGGREGATE_NAMES = {name: f for f in AGGREGATES.values() for name in (f.name, *f.aliases)}


def scalar_function(name: str) -> ScalarFunction | None:
    """The scalar function called `name`, in capitals, or by one of its other names."""
    return _SCALAR_NAMES.get(name)


def aggregate_function(name: str) -> AggregateFunction | None:
    """The aggregate called `name`, in capitals, or by one of its other names."""
    return _AGGREGATE_NAMES.get(name)


def function_names() -> tuple[str, ...]:
    """Every name a function goes by."""
    return (*_SCALAR_NAMES, *_AGGREGATE_NAMES)
