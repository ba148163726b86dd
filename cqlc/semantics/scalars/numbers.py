"""Functions of numbers."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable
from typing import Any

from cqlc.algebra.expr import Value
from cqlc.semantics.values import NAN, Number, order_key, remainder

_LONGEST = 2**63


def _defined(function: Callable[..., float]) -> Callable[..., float]:
    """The function with Java's results where Python's `math` raises: NaN, or infinity."""

    def apply(*numbers: float) -> float:
        try:
            return function(*numbers)
        except ValueError:
            return NAN
        except OverflowError:
            return math.inf

    return apply


def _logarithm(number: float, base: float = math.e) -> Value:
    if number <= 0 or base <= 0:
        return None
    if base in (math.e, 2.0, 10.0):
        return {math.e: math.log, 2.0: math.log2, 10.0: math.log10}[base](number)
    scale = math.log(base)
    return math.log(number) / scale if scale else math.copysign(math.inf, math.log(number))


def _log(first: float, second: float | None = None) -> Value:
    return _logarithm(first) if second is None else _logarithm(second, first)


def _power(base: float, exponent: float) -> float:
    if base == 0 and exponent < 0:
        return math.inf
    return math.pow(base, exponent)


def _whole(rounded: Callable[[Number], int]) -> Callable[[Number], int]:
    """Floor or ceiling; of a double as Java makes it a long: NaN is 0, the ends are kept."""

    def apply(number: Number) -> int:
        if number != number:
            return 0
        if math.isinf(number):
            return _LONGEST - 1 if number > 0 else -_LONGEST
        return rounded(number)

    return apply


def _rounded(mode: str) -> Callable[..., Number]:
    def apply(number: Number, digits: int = 0) -> Number:
        if isinstance(number, float) and not math.isfinite(number):
            return number
        exact = decimal.Decimal(repr(number)) if isinstance(number, float) else number
        exact = decimal.Decimal(exact)
        context = decimal.Context(prec=400, rounding=mode)
        if exact.adjusted() < -digits - 1 or exact == 0:
            return 0
        if digits > -int(exact.as_tuple().exponent):
            return number
        return exact.quantize(decimal.Decimal(1).scaleb(-digits), context=context)

    return apply


def _modulo(left: Number, right: Number) -> Number | None:
    return None if right == 0 else remainder(left, right)


def _positive_modulo(left: Number, right: Number) -> Number | None:
    if right == 0:
        return None
    rest: Any = remainder(left, right)
    return remainder(rest + right, right) if rest < 0 else rest


def _greatest(*values: Value) -> Value:
    return max(values, key=order_key)


def _least(*values: Value) -> Value:
    known = [value for value in values if value is not None]
    return min(known, key=order_key) if known else None


def _is_nan(number: float | None) -> bool:
    return number is not None and number != number


def _nan_value(number: float | None, other: float | None) -> float | None:
    return other if _is_nan(number) else number


def _wrapped(bits: int) -> int:
    return (bits + _LONGEST) % (2 * _LONGEST) - _LONGEST


def _absolute(number: Number) -> Number:
    return abs(number)


def _sign(number: float) -> float:
    return math.copysign(1.0, number) if number and number == number else number


def _of_double(function: Callable[[float], Value]) -> Callable[[float], Value]:
    return function


def _of_bits(function: Callable[[int], Value]) -> Callable[[int], Value]:
    return function


def _shift(function: Callable[[int, int], int]) -> Callable[[int, int], int]:
    return function


NUMBERS: dict[str, Callable[..., Value]] = {
    "ABS": _absolute,
    "SIGN": _sign,
    "CEIL": _whole(math.ceil),
    "FLOOR": _whole(math.floor),
    "ROUND": _rounded(decimal.ROUND_HALF_UP),
    "BROUND": _rounded(decimal.ROUND_HALF_EVEN),
    "SQRT": _defined(math.sqrt),
    "CBRT": _defined(math.cbrt),
    "EXP": _defined(math.exp),
    "EXPM1": _defined(math.expm1),
    "LN": _logarithm,
    "LOG": _log,
    "LOG2": _of_double(lambda x: _logarithm(x, 2.0)),
    "LOG10": _of_double(lambda x: _logarithm(x, 10.0)),
    "LOG1P": _of_double(lambda x: None if x <= -1 else math.log1p(x)),
    "POWER": _defined(_power),
    "HYPOT": math.hypot,
    "PI": lambda: math.pi,
    "E": lambda: math.e,
    "SIN": _defined(math.sin),
    "COS": _defined(math.cos),
    "TAN": _defined(math.tan),
    "ASIN": _defined(math.asin),
    "ACOS": _defined(math.acos),
    "ATAN": math.atan,
    "ATAN2": math.atan2,
    "SINH": _defined(math.sinh),
    "COSH": _defined(math.cosh),
    "TANH": math.tanh,
    "DEGREES": math.degrees,
    "RADIANS": math.radians,
    "MOD": _modulo,
    "PMOD": _positive_modulo,
    "GREATEST": _greatest,
    "LEAST": _least,
    "ISNAN": _is_nan,
    "NANVL": _nan_value,
    "BIT_COUNT": _of_bits(lambda x: (x % (2 * _LONGEST)).bit_count()),
    "SHIFTLEFT": _shift(lambda x, n: _wrapped(x << n % 64)),
    "SHIFTRIGHT": _shift(lambda x, n: x >> n % 64),
    "BIN": _of_bits(lambda x: f"{x % (2 * _LONGEST):b}"),
}
