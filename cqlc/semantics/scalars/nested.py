"""Functions of values of any type, and of arrays and structs, which are tuples."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import TypeAlias

from cqlc.algebra.expr import Value
from cqlc.semantics.values import order_key

_Array: TypeAlias = tuple[Value, ...]


def _coalesce(*values: Value) -> Value:
    return next((value for value in values if value is not None), None)


def _nullif(value: Value, other: Value) -> Value:
    return None if value is not None and order_key(value) == order_key(other) else value


def _tuple(*values: Value) -> _Array:
    return values


def _get(array: _Array, place: int) -> Value:
    return array[place] if 0 <= place < len(array) else None


def _element_at(array: _Array, number: int) -> Value:
    return None if number == 0 else _get(array, number - 1 if number > 0 else len(array) + number)


def _slice(array: _Array, number: int, length: int) -> _Array | None:
    if number == 0 or length < 0:
        return None
    start = number - 1 if number > 0 else len(array) + number
    return array[start : start + length] if start >= 0 else ()


def _contains(array: _Array, item: Value) -> bool | None:
    return True if item in array else None if None in array else False


def _position(array: _Array, item: Value) -> int:
    return array.index(item) + 1 if item in array else 0


def _distinct(array: _Array) -> _Array:
    return tuple(dict.fromkeys(array))


def _sorted(array: _Array, ascending: bool = True) -> _Array:
    return tuple(sorted(array, key=order_key, reverse=not ascending))


def _extreme(pick: Callable[..., Value]) -> Callable[[_Array], Value]:
    def apply(array: _Array) -> Value:
        return pick((v for v in array if v is not None), key=order_key, default=None)

    return apply


def _flatten(arrays: tuple[_Array | None, ...]) -> _Array | None:
    return (
        None if None in arrays else tuple(chain.from_iterable(a for a in arrays if a is not None))
    )


def _nvl2(value: Value, known: Value, unknown: Value) -> Value:
    return unknown if value is None else known


def _choose(condition: bool | None, then: Value, otherwise: Value) -> Value:
    return then if condition is True else otherwise


def _join(array: tuple[str | None, ...], separator: str) -> Value:
    return separator.join(part for part in array if part is not None)


def _union(one: _Array, other: _Array) -> Value:
    return _distinct(one + other)


def _intersect(one: _Array, other: _Array) -> Value:
    return _distinct(tuple(v for v in one if v in other))


def _except(one: _Array, other: _Array) -> Value:
    return _distinct(tuple(v for v in one if v not in other))


def _remove(array: _Array, item: Value) -> Value:
    return tuple(v for v in array if v is None or v != item)


def _append(array: _Array | None, item: Value) -> Value:
    return None if array is None else (*array, item)


NESTED: dict[str, Callable[..., Value]] = {
    "COALESCE": _coalesce,
    "NULLIF": _nullif,
    "NVL2": _nvl2,
    "IF": _choose,
    "ARRAY": _tuple,
    "STRUCT": _tuple,
    "SIZE": len,
    "GET": _get,
    "ELEMENT_AT": _element_at,
    "SLICE": _slice,
    "ARRAY_CONTAINS": _contains,
    "ARRAY_POSITION": _position,
    "ARRAY_DISTINCT": _distinct,
    "SORT_ARRAY": _sorted,
    "ARRAY_MAX": _extreme(max),
    "ARRAY_MIN": _extreme(min),
    "ARRAY_JOIN": _join,
    "ARRAY_UNION": _union,
    "ARRAY_INTERSECT": _intersect,
    "ARRAY_EXCEPT": _except,
    "ARRAY_REMOVE": _remove,
    "ARRAY_APPEND": _append,
    "FLATTEN": _flatten,
}
