"""Functions of values of any type, and of arrays and structs."""

from __future__ import annotations

from cqlc.datatypes import BIGINT, BOOLEAN, INT, STRING, Array
from cqlc.functions.build import scalar, takes
from cqlc.functions.signature import Nulls, Result, Shape

_ARRAYS = takes(Shape.ARRAY_T, Shape.ARRAY_T, gives=Result.ARRAY_T)
_ARRAY_ITEM = takes(Shape.ARRAY_T, Shape.T, gives=Result.ARRAY_T)
_EXTREME = takes(Shape.ARRAY_T, gives=Result.T)

VALUE_FUNCTIONS = (
    scalar(
        "COALESCE",
        takes(Shape.T, gives=Result.T, repeats=True),
        meaning="the first argument that is not NULL",
        nulls=Nulls.ALL,
        aliases=("IFNULL", "NVL"),
    ),
    scalar(
        "NULLIF",
        takes(Shape.T, Shape.T, gives=Result.T),
        meaning="x, or NULL if x = y",
        nulls=Nulls.LENIENT,
    ),
    scalar(
        "NVL2",
        takes(Shape.ANY, Shape.T, Shape.T, gives=Result.T),
        meaning="the second argument if the first is not NULL, else the third",
        nulls=Nulls.LENIENT,
    ),
    scalar(
        "IF",
        takes(BOOLEAN, Shape.T, Shape.T, gives=Result.T),
        meaning="the second argument if the first is true, else the third",
        nulls=Nulls.LENIENT,
        aliases=("IIF",),
    ),
    scalar(
        "ARRAY",
        takes(Shape.T, gives=Result.ARRAY_T, repeats=True),
        meaning="the array of the arguments",
        nulls=Nulls.NEVER,
    ),
    scalar(
        "SIZE",
        takes(Shape.ARRAY_T, gives=INT),
        meaning="the number of elements; NULL for NULL",
        spark="cardinality({0})",
        aliases=("CARDINALITY", "ARRAY_SIZE"),
    ),
    scalar(
        "GET",
        takes(Shape.ARRAY_T, INT, gives=Result.T),
        meaning="element i, counted from 0, NULL if there is none; also written a[i]",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "ELEMENT_AT",
        takes(Shape.ARRAY_T, INT, gives=Result.T),
        meaning="element i, counted from 1 or, if negative, from the end; NULL if there is none",
        spark="try_element_at({*})",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "SLICE",
        takes(Shape.ARRAY_T, INT, INT, gives=Result.ARRAY_T),
        meaning="n elements from element i, counted from 1 or, if negative, from the end; "
        "NULL for i = 0 or n < 0",
        spark="if({1} = 0 or {2} < 0, null, slice({0}, if({1} = 0, 1, {1}), greatest({2}, 0)))",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "ARRAY_CONTAINS",
        takes(Shape.ARRAY_T, Shape.T, gives=BOOLEAN),
        meaning="whether x is an element; NULL if it is not but some element is NULL",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "ARRAY_POSITION",
        takes(Shape.ARRAY_T, Shape.T, gives=BIGINT),
        meaning="the place of the first element equal to x, counted from 1; 0 if there is none",
    ),
    scalar(
        "ARRAY_DISTINCT",
        takes(Shape.ARRAY_T, gives=Result.ARRAY_T),
        meaning="each value once, where it came first",
    ),
    scalar(
        "SORT_ARRAY",
        takes(Shape.ARRAY_T, BOOLEAN, gives=Result.ARRAY_T, optional=1),
        meaning="the elements ascending with NULLs first; for a constant FALSE descending with "
        "NULLs last",
        parametric=True,
        aliases=("ARRAY_SORT",),
    ),
    scalar(
        "ARRAY_MAX",
        _EXTREME,
        meaning="the largest element that is not NULL; NULL if there is none",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "ARRAY_MIN",
        _EXTREME,
        meaning="the smallest element that is not NULL; NULL if there is none",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "ARRAY_JOIN",
        takes(Array(STRING), STRING, gives=STRING),
        meaning="the elements that are not NULL, with d between them",
    ),
    scalar("ARRAY_UNION", _ARRAYS, meaning="the different values of both, in order of appearance"),
    scalar(
        "ARRAY_INTERSECT",
        _ARRAYS,
        meaning="the different values of the first that the second has too",
    ),
    scalar(
        "ARRAY_EXCEPT", _ARRAYS, meaning="the different values of the first that the second has not"
    ),
    scalar(
        "ARRAY_REMOVE",
        _ARRAY_ITEM,
        meaning="the elements that are not equal to x; NULL elements stay",
    ),
    scalar(
        "ARRAY_APPEND",
        _ARRAY_ITEM,
        meaning="the array with x, which may be NULL, at its end; NULL for a NULL array",
        nulls=Nulls.LENIENT,
    ),
    scalar(
        "FLATTEN",
        takes(Shape.ARRAY_T, gives=Result.ARRAY_ARRAY_ELEMENT),
        meaning="the elements of the elements; NULL if an element is NULL",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "STRUCT",
        takes(Shape.ANY, gives=Result.STRUCT, repeats=True),
        meaning="the struct of the arguments, with fields col1, col2 and so on",
        spark="cast(struct({*}) as {type})",
        nulls=Nulls.NEVER,
        aliases=("ROW",),
    ),
)

FIELD = scalar(
    "FIELD",
    meaning="the field of a struct that the second argument, a string literal, names; "
    "NULL for a NULL struct; written s.f",
    spark="{0}.{1:name}",
    nulls=Nulls.PARTIAL,
)
"""Field access has no signature: its type depends on the name, and it is written with a dot."""
