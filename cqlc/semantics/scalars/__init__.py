"""What the scalar functions of the registry compute, each from its one sentence there."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Sequence

from cqlc.algebra.expr import Value
from cqlc.datatypes import DURATION, TIMESTAMP, DataType, Struct, is_numeric
from cqlc.functions import FIELD, SCALARS, Nulls
from cqlc.semantics.scalars.nested import NESTED
from cqlc.semantics.scalars.numbers import NUMBERS
from cqlc.semantics.scalars.strings import STRINGS
from cqlc.semantics.scalars.times import TIMES
from cqlc.semantics.values import EvaluationError, fit

IMPLEMENTATIONS = {**NUMBERS, **STRINGS, **TIMES, **NESTED}


def scalar_function(
    name: str, arguments: Sequence[DataType], result: DataType
) -> Callable[..., Value]:
    """The function called `name` for arguments of these types."""
    if name == FIELD.name:
        return _field_access(arguments[0])
    if name not in IMPLEMENTATIONS:
        raise EvaluationError(f"the function {name} is declared, but no Python callable is given")
    function = IMPLEMENTATIONS[name]
    strict = SCALARS[name].nulls in (Nulls.STRICT, Nulls.PARTIAL)
    numeric = is_numeric(result) or result in (TIMESTAMP, DURATION)

    def apply(*values: Value) -> Value:
        if strict and None in values:
            return None
        value = function(*values)
        if numeric and isinstance(value, int | float | decimal.Decimal):
            return fit(value, result)
        return value

    return apply


def _field_access(type: DataType) -> Callable[..., Value]:
    names = [name for name, _ in type.fields] if isinstance(type, Struct) else []

    def apply(struct: tuple[Value, ...] | None, name: str) -> Value:
        return None if struct is None else struct[names.index(name)]

    return apply
