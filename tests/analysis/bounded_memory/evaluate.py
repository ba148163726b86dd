"""The meaning of queries of the theory, computed from all rows seen: the definition, no tricks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from statistics import median
from typing import Any

from cqlc.algebra.expr import Comparison

_TESTS = {
    Comparison.EQ: lambda a, b: a == b,
    Comparison.NE: lambda a, b: a != b,
    Comparison.LT: lambda a, b: a < b,
    Comparison.LE: lambda a, b: a <= b,
    Comparison.GT: lambda a, b: a > b,
    Comparison.GE: lambda a, b: a >= b,
}


def holds(query: Any, atom: Any, row: Mapping[str, Any]) -> bool:
    """Whether an atom is true; NULL makes it unknown, which is not true."""
    if hasattr(atom, "left"):
        left, right = row[atom.left], row[atom.right]
        return left is not None and right is not None and _TESTS[atom.op](left, right)
    value = row[atom.attribute]
    if value is None:
        return False
    points = [constant(query, atom.attribute, p) for p in getattr(atom, "points", ())]
    if points:
        return value in points
    return _TESTS[atom.op](value, constant(query, atom.attribute, atom.point))


def constant(query: Any, attribute: str, point: int) -> Any:
    """The value a point stands for."""
    sort = query.attributes[attribute].sort
    return sort.points[point] if sort.dense else point


def results(query: Any, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The joined rows that satisfy some piece; rows come with the table they arrived at.

    A row of a table that occurs more than once stands at each of its occurrences.
    """
    at_use: list[list[dict[str, Any]]] = []
    for use in query.uses:
        here = [values for base, values in rows if base == use.base]
        at_use.append([_renamed(use, values) for values in here])
    joined = ({k: v for part in combo for k, v in part.items()} for combo in product(*at_use))
    return [row for row in joined if any(_in_piece(query, p, row) for p in query.pieces)]


def _renamed(use: Any, values: Mapping[str, Any]) -> dict[str, Any]:
    return {a.name: v for a, v in zip(use.attributes, values.values(), strict=True)}


def _in_piece(query: Any, piece: Any, row: Mapping[str, Any]) -> bool:
    return all(row[name] is None for name in piece.nulls) and all(
        holds(query, atom, row) for atom in piece.atoms
    )


def answer(query: Any, rows: Sequence[tuple[str, Mapping[str, Any]]]) -> Counter[Any]:
    """The answer after some rows, as a bag."""
    found = results(query, rows)
    head = query.head
    if hasattr(head, "outputs"):
        bag = Counter(tuple(row[o.attribute] for o in head.outputs) for row in found)
        return Counter(set(bag)) if head.distinct else bag
    groups: dict[Any, list[dict[str, Any]]] = {}
    for row in found:
        groups.setdefault(tuple(row[o.attribute] for o in head.groups), []).append(row)
    return Counter(
        (key, *(_aggregate(a, members) for a in head.aggregates)) for key, members in groups.items()
    )


def _aggregate(aggregate: Any, rows: Iterable[dict[str, Any]]) -> Any:
    rows = list(rows)
    if not aggregate.attributes:
        return len(rows)
    tuples = [tuple(row[n] for n in aggregate.attributes) for row in rows]
    values = [t[0] for t in tuples if t[0] is not None]
    match aggregate.kind.name:
        case "COUNT":
            return len(values)
        case "SUM":
            return sum(values)
        case "AVG":
            return sum(values) / len(values) if values else None
        case "MIN":
            return min(values, default=None)
        case "MAX":
            return max(values, default=None)
        case "DIFFERENT":
            return len(set(tuples))
        case "MEDIAN":
            return median(values) if values else None
        case "LIST":
            return tuple(sorted(values))
        case other:
            raise AssertionError(other)


def observed(query: Any, prefix: Sequence[Any], continuation: Sequence[Any]) -> tuple[Any, ...]:
    """What is seen while a continuation arrives: new results, or the current aggregates."""
    rows = [(row.use.base, row.values) for row in prefix]
    streamed = hasattr(query.head, "outputs")
    before = answer(query, rows)
    seen: list[Any] = [] if streamed else [before]
    for row in continuation:
        rows.append((row.use.base, row.values))
        after = answer(query, rows)
        seen.append(after - before if streamed else after)
        before = after
    return tuple(seen)
