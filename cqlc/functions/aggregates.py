"""Functions of the rows of a group.

Where an order matters it is the rows' times, then the values themselves; so an answer does not
depend on arrival order.
"""

from __future__ import annotations

from cqlc.datatypes import BIGINT, BOOLEAN, DOUBLE, DURATION, INT, STRING
from cqlc.functions.build import aggregate, takes
from cqlc.functions.signature import Nulls, Result, Shape

_DOUBLE = takes(DOUBLE, gives=DOUBLE)
_DOUBLES = takes(DOUBLE, DOUBLE, gives=DOUBLE)
_EXTREME = takes(Shape.ORDERED, gives=Result.T)
_ONE = takes(Shape.T, gives=Result.T)
_BOOLEAN = takes(BOOLEAN, gives=BOOLEAN)
_BITS = takes(Shape.INTEGER, gives=Result.FIRST)

AGGREGATE_FUNCTIONS = (
    aggregate(
        "COUNT",
        takes(gives=BIGINT),
        takes(Shape.ANY, gives=BIGINT, repeats=True),
        meaning="the number of rows, or of rows in which no argument is NULL",
        spark="count({*})",
        nulls=Nulls.NEVER,
    ),
    aggregate(
        "SUM",
        takes(DURATION, gives=DURATION),
        takes(Shape.NUMBER, gives=Result.SUM),
        meaning="the sum",
    ),
    aggregate("AVG", _DOUBLE, meaning="the mean, as a double", aliases=("MEAN",)),
    aggregate("MIN", _EXTREME, meaning="the smallest value"),
    aggregate("MAX", _EXTREME, meaning="the largest value"),
    aggregate(
        "COUNT_IF",
        takes(BOOLEAN, gives=BIGINT),
        meaning="the number of rows in which x is true",
        nulls=Nulls.NEVER,
    ),
    aggregate(
        "APPROX_COUNT_DISTINCT",
        takes(Shape.ANY, gives=BIGINT),
        meaning="the number of different values; exact here",
        spark="count(distinct {0})",
        nulls=Nulls.NEVER,
    ),
    aggregate("MEDIAN", _DOUBLE, meaning="the middle value, or the mean of the two middle ones"),
    aggregate(
        "QUANTILE",
        _DOUBLES,
        parametric=True,
        meaning="the value below which the share p, a constant in [0, 1], lies; linear between two",
        spark="percentile({*})",
        aliases=("PERCENTILE", "PERCENTILE_CONT"),
    ),
    aggregate(
        "PERCENTILE_DISC",
        takes(Shape.ORDERED, DOUBLE, gives=Result.T),
        parametric=True,
        meaning="the smallest v for which at least the share p, a constant in [0, 1], is <= v",
        spark=None,  # Spark's goes through DOUBLE
        aliases=("APPROX_PERCENTILE",),
    ),
    aggregate(
        "MODE",
        _EXTREME,
        meaning="the most frequent value, the smallest of several",
        spark="mode() within group (order by {0})",
    ),
    aggregate(
        "TOP_K",
        takes(Shape.ORDERED, INT, gives=Result.COUNTED),
        parametric=True,
        meaning="the k (a constant) most frequent values with their counts, most frequent first, "
        "equal counts by ascending value",
        spark=None,
        aliases=("TOP", "TOPK", "FREQUENT_ITEMS"),
        nulls=Nulls.NEVER,
    ),
    aggregate("VAR_POP", _DOUBLE, meaning="the population variance"),
    aggregate(
        "VAR_SAMP",
        _DOUBLE,
        meaning="the sample variance; NULL for one row",
        aliases=("VARIANCE", "VAR"),
        nulls=Nulls.PARTIAL,
    ),
    aggregate("STDDEV_POP", _DOUBLE, meaning="the population standard deviation"),
    aggregate(
        "STDDEV_SAMP",
        _DOUBLE,
        meaning="the sample standard deviation; NULL for one row",
        aliases=("STDDEV", "STD"),
        nulls=Nulls.PARTIAL,
    ),
    aggregate(
        "SKEWNESS",
        _DOUBLE,
        meaning="the population skewness; NULL if the variance is 0",
        nulls=Nulls.PARTIAL,
    ),
    aggregate(
        "KURTOSIS",
        _DOUBLE,
        meaning="the population excess kurtosis; NULL if the variance is 0",
        nulls=Nulls.PARTIAL,
    ),
    aggregate("COVAR_POP", _DOUBLES, meaning="the population covariance"),
    aggregate(
        "COVAR_SAMP",
        _DOUBLES,
        meaning="the sample covariance; NULL for one row",
        nulls=Nulls.PARTIAL,
    ),
    aggregate(
        "CORR",
        _DOUBLES,
        meaning="Pearson's correlation; NULL if a variance is 0",
        nulls=Nulls.PARTIAL,
    ),
    aggregate(
        "FIRST",
        _ONE,
        meaning="x, perhaps NULL, of the row with the earliest time; the smallest of several",
        spark=None,
        nulls=Nulls.LENIENT,
        aliases=("FIRST_VALUE",),
    ),
    aggregate(
        "LAST",
        _ONE,
        meaning="x, perhaps NULL, of the row with the latest time; the largest of several",
        spark=None,
        nulls=Nulls.LENIENT,
        aliases=("LAST_VALUE",),
    ),
    aggregate(
        "ANY_VALUE",
        _ONE,
        meaning="x, perhaps NULL, of some row: the one FIRST takes",
        spark=None,
        nulls=Nulls.LENIENT,
        aliases=("SAMPLE1",),
    ),
    aggregate(
        "MIN_BY",
        takes(Shape.T, Shape.COMPARABLE, gives=Result.T),
        meaning="x, perhaps NULL, of the row with the smallest y that is not NULL; the smallest of "
        "several",
        nulls=Nulls.LENIENT,
        aliases=("ARG_MIN",),
    ),
    aggregate(
        "MAX_BY",
        takes(Shape.T, Shape.COMPARABLE, gives=Result.T),
        meaning="x, perhaps NULL, of the row with the largest y that is not NULL; the largest of "
        "several",
        nulls=Nulls.LENIENT,
        aliases=("ARG_MAX",),
    ),
    aggregate(
        "COLLECT_LIST",
        takes(Shape.T, gives=Result.ARRAY_T),
        meaning="the values, by time and then ascending",
        spark=None,
        nulls=Nulls.NEVER,
        aliases=("ARRAY_AGG",),
    ),
    aggregate(
        "COLLECT_SET",
        takes(Shape.T, gives=Result.ARRAY_T),
        meaning="the different values, ascending",
        spark="sort_array(collect_set({0}))",
        nulls=Nulls.NEVER,
    ),
    aggregate(
        "STRING_AGG",
        takes(STRING, STRING, gives=STRING, optional=1),
        parametric=True,
        meaning="the strings by time and then ascending, with d, a constant (''), between them",
        spark=None,
        aliases=("LISTAGG",),
    ),
    aggregate("BOOL_AND", _BOOLEAN, meaning="whether x is true in every row", aliases=("EVERY",)),
    aggregate(
        "BOOL_OR", _BOOLEAN, meaning="whether x is true in some row", aliases=("SOME", "ANY")
    ),
    aggregate("BIT_AND", _BITS, meaning="the bits set in every value"),
    aggregate("BIT_OR", _BITS, meaning="the bits set in some value"),
    aggregate("BIT_XOR", _BITS, meaning="the bits set in an odd number of values"),
)
