"""Aggregates that are sums: counts, totals, means, moments, and bits counted one by one.

Every value is turned into integer limbs (see `exact`), so a running result with deletions never
depends on the order or the cutting of rows. Moments are computed from exact power sums as
fractions of integers and rounded once.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cqlc.runtime.columns import Bools, Ints, column
from cqlc.runtime.exact import (
    DOUBLE_SCALE,
    Floats,
    Lanes,
    Objects,
    normal,
    split_decimals,
    split_ints,
    split_products,
    to_decimals,
    to_doubles,
    to_ints,
    to_objects,
)
from cqlc.runtime.measures import Measure

COUNTER = -1
"""The lane that counts the rows with a value; parts of a measure start at multiples of PART."""
PART = 1 << 12
_ODDITIES = PART - 8
"""Lanes that count positive and negative infinities and NaNs, which no limb can hold."""


def lanes_of(measure: Measure, rows: pa.Table, mask: Bools) -> Lanes:
    """What each row adds to the lanes of a measure, if it comes once; masked rows add nothing."""
    lanes: Lanes = {COUNTER: mask.astype(np.int64)}
    arrays = [column(rows, name) for name in measure.arguments]
    match measure.function:
        case "COUNT":
            pass
        case "COUNT_IF" | "BOOL_AND" | "BOOL_OR":
            lanes[0] = (_truths(arrays[0]) & mask).astype(np.int64)
        case "BIT_AND" | "BIT_OR" | "BIT_XOR":
            lanes.update(_bits(arrays[0], mask))
        case "SUM" | "AVG":
            lanes.update(_numbers(arrays[0], mask))
        case _:
            doubles = [_doubles(array, mask) for array in arrays]
            for part, powers in enumerate(_PARTS[measure.function]):
                factors = [doubles[which] for which in powers]
                lanes.update(_finite_products(factors, part * PART))
    return {place: lane for place, lane in lanes.items() if bool(lane.any())}


def settled(measure: Measure, lanes: Lanes, rows: int) -> Lanes:
    """The same sums in small limbs, fit to be stored; counts stay as they are."""
    if measure.function in ("COUNT", "COUNT_IF") or measure.function.startswith("B"):
        return lanes
    result = {k: v for k, v in lanes.items() if k < 0 or k % PART >= _ODDITIES}
    for part in {k // PART for k in lanes if k >= 0}:
        base = part * PART
        limbs = {k - base: v for k, v in lanes.items() if base <= k < base + _ODDITIES}
        result.update({base + k: v for k, v in normal(limbs, rows).items()})
    return result


def value_of(measure: Measure, lanes: Lanes, points: int) -> pa.Array:
    """The measure's value at each point, given the sums of its lanes there."""
    count = lanes.get(COUNTER, np.zeros(points, np.int64))
    parts = {place: lane for place, lane in lanes.items() if place != COUNTER}
    first = parts.get(0, np.zeros(points, np.int64))
    nothing = count == 0
    match measure.function:
        case "COUNT":
            return pa.array(count, measure.type)
        case "COUNT_IF":
            return pa.array(first, measure.type)
        case "BOOL_AND":
            return pa.array(first == count, measure.type, mask=nothing)
        case "BOOL_OR":
            return pa.array(first > 0, measure.type, mask=nothing)
        case "BIT_AND" | "BIT_OR" | "BIT_XOR":
            return _from_bits(measure, parts, count)
        case "SUM":
            return _total(measure, parts, count)
        case "AVG":
            with np.errstate(invalid="ignore", divide="ignore"):
                return pa.array(_sums(parts, points) / count, pa.float64(), mask=nothing)
        case _:
            return _moment(measure, parts, count)


# ------------------------------------------------------------------------------------ numbers


def _truths(array: pa.Array) -> Bools:
    return pc.fill_null(array, False).to_numpy(zero_copy_only=False)


def _whole(array: pa.Array, mask: Bools) -> Ints:
    """Integers and durations as `int64`, zero where masked."""
    whole = pc.fill_null(array.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return np.where(mask, whole, 0)


def _doubles(array: pa.Array, mask: Bools) -> Floats:
    numbers = pc.fill_null(array.cast(pa.float64()), 0.0).to_numpy(zero_copy_only=False)
    return np.where(mask, numbers, 0.0)


def _numbers(array: pa.Array, mask: Bools) -> Lanes:
    if pa.types.is_floating(array.type):
        return _finite_products([_doubles(array, mask)], 0)
    if pa.types.is_decimal(array.type):
        zero = pa.scalar(Decimal(0), array.type)
        filled = pc.if_else(pa.array(mask), pc.fill_null(array, zero), zero)
        return split_decimals(filled.cast(pa.decimal128(38, array.type.scale)))
    return split_ints(_whole(array, mask))


def _finite_products(factors: list[Floats], base: int) -> Lanes:
    """Limbs of the products of finite numbers, and counts of those that are not."""
    with np.errstate(over="ignore", invalid="ignore"):
        product = np.multiply.reduce(factors)
    odd = np.logical_or.reduce([~np.isfinite(factor) for factor in factors])
    lanes = split_products(*(np.where(odd, 0.0, factor) for factor in factors))
    found = {base + place: lane for place, lane in lanes.items()}
    if bool(odd.any()):
        for place, kind in enumerate((product == np.inf, product == -np.inf, np.isnan(product))):
            found[base + _ODDITIES + place] = (odd & kind).astype(np.int64)
    return found


def _sums(lanes: Lanes, points: int, scale: int = DOUBLE_SCALE) -> Floats:
    """Sums of doubles, rounded once; infinite or NaN if the numbers' own sum is."""
    sums = to_doubles({k: v for k, v in lanes.items() if k < _ODDITIES}, points, scale)
    above, below, nan = (lanes.get(_ODDITIES + i) for i in range(3))
    if above is not None:
        sums[above > 0] = np.inf
    if below is not None:
        sums[below > 0] = -np.inf
    if above is not None and below is not None:
        sums[(above > 0) & (below > 0)] = np.nan
    if nan is not None:
        sums[nan > 0] = np.nan
    return sums


def _total(measure: Measure, lanes: Lanes, count: Ints) -> pa.Array:
    """SUM: exact for integers and decimals, NULL where the type has no room."""
    points, nothing = len(count), count == 0
    kind = measure.type
    if pa.types.is_floating(kind):
        with np.errstate(over="ignore"):
            return pa.array(_sums(lanes, points), pa.float64(), mask=nothing).cast(kind, safe=False)
    if pa.types.is_decimal(kind):
        return to_decimals(lanes, points, kind, nothing)
    whole, lost = to_ints(lanes, points)
    if pa.types.is_duration(kind):
        return pa.array(whole, pa.int64(), mask=nothing | lost).cast(kind)
    narrow = np.iinfo(kind.to_pandas_dtype())
    lost |= (whole < narrow.min) | (whole > narrow.max)
    return pa.array(np.where(lost, 0, whole), kind, mask=nothing | lost)


# --------------------------------------------------------------------------------------- bits


def _bits(array: pa.Array, mask: Bools) -> Lanes:
    whole = _whole(array, mask)
    return {bit: (whole >> bit) & 1 for bit in range(64)}


def _from_bits(measure: Measure, lanes: Lanes, count: Ints) -> pa.Array:
    result = np.zeros(len(count), np.int64)
    for bit, ones in lanes.items():
        match measure.function:
            case "BIT_AND":
                is_set = ones == count
            case "BIT_OR":
                is_set = ones > 0
            case _:
                is_set = (ones & 1) == 1
        result |= is_set.astype(np.int64) << bit
    return pa.array(result, pa.int64(), mask=count == 0).cast(measure.type)


# ------------------------------------------------------------------------------------ moments

_X, _XX, _XXX, _XXXX, _Y, _XY, _YY = (0,), (0, 0), (0, 0, 0), (0, 0, 0, 0), (1,), (0, 1), (1, 1)
_PARTS: dict[str, tuple[tuple[int, ...], ...]] = {
    **dict.fromkeys(("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP"), (_X, _XX)),
    "SKEWNESS": (_X, _XX, _XXX),
    "KURTOSIS": (_X, _XX, _XXX, _XXXX),
    **dict.fromkeys(("COVAR_POP", "COVAR_SAMP"), (_X, _Y, _XY)),
    "CORR": (_X, _Y, _XY, _XX, _YY),
}
"""The power sums a moment is made of, as products of the first and the second argument."""


def _moment(measure: Measure, lanes: Lanes, count: Ints) -> pa.Array:
    """A function of exact power sums; NaN if a number was not finite."""
    sums: list[Objects] = []
    odd = np.zeros(len(count), np.bool_)
    for part in range(len(_PARTS[measure.function])):
        inside = {k - part * PART: v for k, v in lanes.items() if k // PART == part}
        for place in range(_ODDITIES, PART):
            odd |= inside.pop(place, np.zeros_like(count)) > 0
        sums.append(to_objects(inside, len(count)))
    values, present = _formula(measure.function, count.astype(np.object_), sums)
    values[odd] = np.nan
    present &= count > 0
    return pa.array(values, pa.float64(), mask=~present).cast(measure.type, safe=False)


def _formula(function: str, n: Objects, sums: list[Objects]) -> tuple[Floats, Bools]:
    """The value, and where it is defined. `_UNIT` is what the sum of squares is measured in."""
    x = sums[0]
    match function:
        case "VAR_POP" | "STDDEV_POP":
            return _root(function, _quotient(n * sums[1] - x * x, n * n * _UNIT)), n > 0
        case "VAR_SAMP" | "STDDEV_SAMP":
            spread = _quotient(n * sums[1] - x * x, n * (n - 1) * _UNIT)
            return _root(function, spread), n > 1
        case "COVAR_POP":
            return _quotient(n * sums[2] - x * sums[1], n * n * _UNIT), n > 0
        case "COVAR_SAMP":
            return _quotient(n * sums[2] - x * sums[1], n * (n - 1) * _UNIT), n > 1
        case "CORR":
            y = sums[1]
            joint = n * sums[2] - x * y
            spreads = (n * sums[3] - x * x) * (n * sums[4] - y * y)
            return _signed_root(joint, _quotient(joint * joint, spreads)), spreads > 0
        case "SKEWNESS":
            spread = n * sums[1] - x * x
            third = n * n * sums[2] - 3 * n * x * sums[1] + 2 * x * x * x
            return _signed_root(third, _quotient(third * third, spread**3)), spread > 0
        case _:
            spread = n * sums[1] - x * x
            fourth = n**3 * sums[3] - 4 * n * n * x * sums[2] + 6 * n * x * x * sums[1] - 3 * x**4
            return _quotient(fourth, spread * spread) - 3.0, spread > 0


_UNIT = 1 << (-2 * DOUBLE_SCALE)


def _quotient(top: Objects, bottom: Objects) -> Floats:
    """Correctly rounded quotients of integers; infinite where a double has no room, 0 for x/0."""
    bottom = np.where(bottom == 0, 1, bottom)
    try:
        return (top / bottom).astype(np.float64)
    except OverflowError:
        huge = np.abs(top) >= bottom * (1 << 1024)
        finite = (np.where(huge, 0, top) / bottom).astype(np.float64)
        return np.where(huge, np.where(top > 0, np.inf, -np.inf), finite)


def _root(function: str, values: Floats) -> Floats:
    return np.sqrt(values) if function.startswith("STDDEV") else values


def _signed_root(sign: Objects, square: Floats) -> Floats:
    return np.where(sign < 0, -1.0, 1.0) * np.sqrt(square)
