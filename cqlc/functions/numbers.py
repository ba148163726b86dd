"""Functions of numbers."""

from __future__ import annotations

from cqlc.datatypes import BIGINT, BOOLEAN, DOUBLE, INT, STRING
from cqlc.functions.build import scalar, takes
from cqlc.functions.signature import Nulls, Result, Shape

_DOUBLE = takes(DOUBLE, gives=DOUBLE)
_NUMBER = takes(Shape.NUMBER, gives=Result.FIRST)
_WHOLE = (takes(Shape.DECIMAL, gives=Result.WHOLE), takes(DOUBLE, gives=BIGINT))
_EXTREME = takes(Shape.ORDERED, Shape.ORDERED, gives=Result.T, repeats=True)

NUMBER_FUNCTIONS = (
    scalar("ABS", _NUMBER, meaning="x without its sign"),
    scalar("SIGN", _DOUBLE, meaning="-1.0, 0.0 or 1.0, as x is", aliases=("SIGNUM",)),
    scalar("CEIL", *_WHOLE, meaning="the smallest whole number >= x", aliases=("CEILING",)),
    scalar("FLOOR", *_WHOLE, meaning="the largest whole number <= x"),
    scalar(
        "ROUND",
        takes(Shape.NUMBER, INT, gives=Result.FIRST, optional=1),
        meaning="x to d digits after the point, a constant (0) that may be negative; halves go "
        "away from zero",
        parametric=True,
        spark="cast(round({*}) as {type})",
    ),
    scalar(
        "BROUND",
        takes(Shape.NUMBER, INT, gives=Result.FIRST, optional=1),
        meaning="x to d digits after the point, a constant (0), halves to the even digit",
        parametric=True,
        spark="cast(bround({*}) as {type})",
    ),
    scalar("SQRT", _DOUBLE, meaning="the square root; NaN below 0"),
    scalar("CBRT", _DOUBLE, meaning="the cube root"),
    scalar("EXP", _DOUBLE, meaning="e to the power x"),
    scalar("EXPM1", _DOUBLE, meaning="e to the power x, minus 1, exact near 0"),
    scalar("LN", _DOUBLE, meaning="the natural logarithm; NULL for x <= 0", nulls=Nulls.PARTIAL),
    scalar(
        "LOG",
        _DOUBLE,
        takes(DOUBLE, DOUBLE, gives=DOUBLE),
        meaning="LOG(x) is LN(x), LOG(b, x) the logarithm to base b; NULL where not defined",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "LOG2", _DOUBLE, meaning="the logarithm to base 2; NULL for x <= 0", nulls=Nulls.PARTIAL
    ),
    scalar(
        "LOG10", _DOUBLE, meaning="the logarithm to base 10; NULL for x <= 0", nulls=Nulls.PARTIAL
    ),
    scalar("LOG1P", _DOUBLE, meaning="LN(1 + x); NULL for x <= -1", nulls=Nulls.PARTIAL),
    scalar(
        "POWER",
        takes(DOUBLE, DOUBLE, gives=DOUBLE),
        meaning="x to the power y",
        aliases=("POW",),
    ),
    scalar("HYPOT", takes(DOUBLE, DOUBLE, gives=DOUBLE), meaning="the square root of x*x + y*y"),
    scalar("PI", takes(gives=DOUBLE), meaning="the number pi"),
    scalar("E", takes(gives=DOUBLE), meaning="Euler's number"),
    scalar("SIN", _DOUBLE, meaning="the sine of x radians"),
    scalar("COS", _DOUBLE, meaning="the cosine of x radians"),
    scalar("TAN", _DOUBLE, meaning="the tangent of x radians"),
    scalar("ASIN", _DOUBLE, meaning="the arc sine; NaN outside [-1, 1]"),
    scalar("ACOS", _DOUBLE, meaning="the arc cosine; NaN outside [-1, 1]"),
    scalar("ATAN", _DOUBLE, meaning="the arc tangent"),
    scalar(
        "ATAN2",
        takes(DOUBLE, DOUBLE, gives=DOUBLE),
        meaning="the angle of the point (x, y), given y, x",
    ),
    scalar("SINH", _DOUBLE, meaning="the hyperbolic sine"),
    scalar("COSH", _DOUBLE, meaning="the hyperbolic cosine"),
    scalar("TANH", _DOUBLE, meaning="the hyperbolic tangent"),
    scalar("DEGREES", _DOUBLE, meaning="radians as degrees"),
    scalar("RADIANS", _DOUBLE, meaning="degrees as radians"),
    scalar(
        "MOD",
        takes(Shape.INTEGER, Shape.INTEGER, gives=BIGINT),
        takes(DOUBLE, DOUBLE, gives=DOUBLE),
        meaning="the remainder of x / y with the sign of x; NULL for y = 0",
        spark="cast(mod({*}) as {type})",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "PMOD",
        takes(Shape.INTEGER, Shape.INTEGER, gives=BIGINT),
        takes(DOUBLE, DOUBLE, gives=DOUBLE),
        meaning="((x % y) + y) % y: the remainder that is not negative when y > 0; NULL for y = 0",
        spark="cast(pmod({*}) as {type})",
        nulls=Nulls.PARTIAL,
    ),
    scalar("GREATEST", _EXTREME, meaning="the largest argument that is not NULL", nulls=Nulls.ALL),
    scalar("LEAST", _EXTREME, meaning="the smallest argument that is not NULL", nulls=Nulls.ALL),
    scalar(
        "ISNAN",
        takes(DOUBLE, gives=BOOLEAN),
        meaning="whether x is NaN; FALSE for NULL",
        nulls=Nulls.NEVER,
    ),
    scalar(
        "NANVL",
        takes(DOUBLE, DOUBLE, gives=DOUBLE),
        meaning="x, or y where x is NaN",
        nulls=Nulls.LENIENT,
    ),
    scalar("BIT_COUNT", takes(BIGINT, gives=INT), meaning="the number of 1 bits of the 64"),
    scalar(
        "SHIFTLEFT",
        takes(BIGINT, INT, gives=BIGINT),
        meaning="x with its 64 bits moved n mod 64 places up",
    ),
    scalar(
        "SHIFTRIGHT",
        takes(BIGINT, INT, gives=BIGINT),
        meaning="x with its 64 bits moved n mod 64 places down, keeping the sign",
    ),
    scalar("BIN", takes(BIGINT, gives=STRING), meaning="x in base 2, as its 64 bits when negative"),
)
