"""What the aggregate functions of the registry compute over the rows of a group.

Each takes the argument values of the rows that count and gives one value; where their order
matters it is that of the rows' times and then of the values. Rows with a NULL argument do not
count, except for the functions the registry calls LENIENT. Sums of floating-point numbers are
rounded once, at the end, so they do not depend on any order.
"""

from __future__ import annotations

import decimal
import math
from collections import Counter
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, TypeAlias

from cqlc.algebra.expr import AggregateCall, Value
from cqlc.algebra.schema import Schema
from cqlc.datatypes import DataType, is_numeric
from cqlc.functions import AGGREGATES, Nulls
from cqlc.semantics.expressions import Evaluator, UserFunctions, evaluator
from cqlc.semantics.timeline import Values
from cqlc.semantics.values import EvaluationError, fit, order_key
from cqlc.semantics.windows import Row

Aggregator: TypeAlias = Callable[[Sequence[Row]], Value]


def aggregator(call: AggregateCall, schema: Schema, functions: UserFunctions) -> Aggregator:
    """The function from the rows of a group to the value of `call`."""
    pick = _arguments([evaluator(argument, schema, functions) for argument in call.arguments])
    counts = evaluator(call.where, schema, functions) if call.where is not None else None
    user = functions.get(call.function)
    if user is None and call.function not in AGGREGATES:
        raise EvaluationError(
            f"the aggregate {call.function} is declared, but no callable is given"
        )
    compute = user or AGGREGATE_MEANINGS[call.function]
    lenient = user is None and AGGREGATES[call.function].nulls is Nulls.LENIENT
    in_order = user is not None or call.function in _IN_ORDER
    nothing = None if user else _EMPTY.get(call.function)

    def apply(rows: Sequence[Row]) -> Value:
        if counts is not None:
            rows = [row for row in rows if counts(row.values) is True]
        if in_order:
            rows = sorted(rows, key=lambda row: (row.time, order_key(pick(row.values))))
        seen = [pick(row.values) for row in rows]
        if not lenient:
            seen = [values for values in seen if None not in values]
        if call.distinct:
            seen = list(dict.fromkeys(seen))
        return _conform(compute(seen), call.type) if seen else nothing

    return apply


def _arguments(parts: Sequence[Evaluator]) -> Callable[[Values], Values]:
    """The values of a row's arguments; COUNT(*) has none, most have one."""
    match parts:
        case []:
            return lambda _: ()
        case [only]:
            return lambda values: (only(values),)
        case _:
            return lambda values: tuple(part(values) for part in parts)


def _conform(value: Value, type: DataType) -> Value:
    return fit(value, type) if is_numeric(type) and isinstance(value, _NUMBERS) else value


_NUMBERS = (int, float, decimal.Decimal)
_Inputs: TypeAlias = Sequence[tuple[Any, ...]]
"""The argument values of rows; their types are those the resolver checked."""


def _firsts(inputs: _Inputs) -> list[Any]:
    return [values[0] for values in inputs]


def total(numbers: Sequence[Any]) -> Any:
    """The sum, rounded once; NaN or infinite if the numbers' own sum is."""
    if not isinstance(numbers[0], float):
        return sum(numbers)
    if all(map(math.isfinite, numbers)):
        try:
            return math.fsum(numbers)
        except OverflowError:
            return sum(numbers)
    return sum(numbers)


def _mean(numbers: Sequence[float]) -> float:
    return total(numbers) / len(numbers)


def _moment(numbers: Sequence[float], power: int) -> float:
    """The mean power of the distances from the mean."""
    center = _mean(numbers)
    return _mean([(number - center) ** power for number in numbers])


def _quantile(inputs: _Inputs) -> float:
    share = inputs[0][1]
    numbers = sorted(_firsts(inputs), key=order_key)
    place = share * (len(numbers) - 1)
    low, high = numbers[math.floor(place)], numbers[math.ceil(place)]
    return low if low == high else low + (high - low) * (place - math.floor(place))


def _discrete_quantile(inputs: _Inputs) -> Value:
    share = inputs[0][1]
    values = sorted(_firsts(inputs), key=order_key)
    return values[max(math.ceil(share * len(values)) - 1, 0)]


def _by_count(inputs: _Inputs) -> list[tuple[Value, int]]:
    counted = Counter(_firsts(inputs)).items()
    return sorted(counted, key=lambda pair: (-pair[1], order_key(pair[0])))


def _variance(inputs: _Inputs, missing: int) -> float | None:
    numbers = _firsts(inputs)
    divisor = len(numbers) - missing
    return _moment(numbers, 2) * len(numbers) / divisor if divisor > 0 else None


def _deviation(inputs: _Inputs, missing: int) -> float | None:
    variance = _variance(inputs, missing)
    return None if variance is None else math.sqrt(variance)


def _standardised(inputs: _Inputs, power: int) -> float | None:
    numbers = _firsts(inputs)
    variance = _moment(numbers, 2)
    return _moment(numbers, power) / variance ** (power / 2) if variance else None


def _covariance(inputs: _Inputs, missing: int) -> float | None:
    left, right = _firsts(inputs), [values[1] for values in inputs]
    center, other = _mean(left), _mean(right)
    products = [(x - center) * (y - other) for x, y in zip(left, right, strict=True)]
    divisor = len(inputs) - missing
    return total(products) / divisor if divisor > 0 else None


def _correlation(inputs: _Inputs) -> float | None:
    left, right = _moment(_firsts(inputs), 2), _moment([v[1] for v in inputs], 2)
    covariance = _covariance(inputs, 0)
    return covariance / math.sqrt(left * right) if covariance is not None and left * right else None


def _by_second(values: tuple[Any, ...]) -> tuple[object, ...]:
    return order_key(values[1]), order_key(values[0])


def _extreme_by(pick: Callable[..., Any]) -> Callable[[_Inputs], Value]:
    def apply(inputs: _Inputs) -> Value:
        known = [values for values in inputs if values[1] is not None]
        return pick(known, key=_by_second)[0] if known else None

    return apply


def _last(inputs: _Inputs) -> Value:
    return inputs[-1][0]


def _first(inputs: _Inputs) -> Value:
    return inputs[0][0]


def _joined(inputs: _Inputs) -> str:
    separator = inputs[0][1] if len(inputs[0]) > 1 else ""
    return separator.join(_firsts(inputs))


def _distinct_sorted(inputs: _Inputs) -> Values:
    return tuple(sorted(set(_firsts(inputs)), key=order_key))


def _nan_aware(pick: Callable[..., Value]) -> Callable[[_Inputs], Value]:
    return lambda inputs: pick(_firsts(inputs), key=order_key)


_IN_ORDER = frozenset(("FIRST", "LAST", "ANY_VALUE", "COLLECT_LIST", "STRING_AGG"))
"""The functions whose value depends on the order of the rows."""

_EMPTY: dict[str, Value] = {
    "COUNT": 0,
    "COUNT_IF": 0,
    "APPROX_COUNT_DISTINCT": 0,
    "TOP_K": (),
    "COLLECT_LIST": (),
    "COLLECT_SET": (),
}
"""The value of a group in which no row counts, where it is not NULL."""

AGGREGATE_MEANINGS: dict[str, Callable[[_Inputs], Value]] = {
    "COUNT": len,
    "SUM": lambda i: total(_firsts(i)),
    "AVG": lambda i: _mean(_firsts(i)),
    "MIN": _nan_aware(min),
    "MAX": _nan_aware(max),
    "COUNT_IF": lambda i: sum(_firsts(i)),
    "APPROX_COUNT_DISTINCT": lambda i: len(set(i)),
    "MEDIAN": lambda i: _quantile([(values[0], 0.5) for values in i]),
    "QUANTILE": _quantile,
    "PERCENTILE_DISC": _discrete_quantile,
    "MODE": lambda i: _by_count(i)[0][0],
    "TOP_K": lambda i: tuple(_by_count(i)[: max(i[0][1], 0)]),
    "VAR_POP": lambda i: _variance(i, 0),
    "VAR_SAMP": lambda i: _variance(i, 1),
    "STDDEV_POP": lambda i: _deviation(i, 0),
    "STDDEV_SAMP": lambda i: _deviation(i, 1),
    "SKEWNESS": lambda i: _standardised(i, 3),
    "KURTOSIS": lambda i: None if (k := _standardised(i, 4)) is None else k - 3.0,
    "COVAR_POP": lambda i: _covariance(i, 0),
    "COVAR_SAMP": lambda i: _covariance(i, 1),
    "CORR": _correlation,
    "FIRST": _first,
    "LAST": _last,
    "ANY_VALUE": _first,
    "MIN_BY": _extreme_by(min),
    "MAX_BY": _extreme_by(max),
    "COLLECT_LIST": lambda i: tuple(_firsts(i)),
    "COLLECT_SET": _distinct_sorted,
    "STRING_AGG": _joined,
    "BOOL_AND": lambda i: all(_firsts(i)),
    "BOOL_OR": lambda i: any(_firsts(i)),
    "BIT_AND": lambda i: reduce(lambda a, b: a & b, _firsts(i)),
    "BIT_OR": lambda i: reduce(lambda a, b: a | b, _firsts(i)),
    "BIT_XOR": lambda i: reduce(lambda a, b: a ^ b, _firsts(i)),
}
