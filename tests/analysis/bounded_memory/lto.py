"""The definition, taken literally: all locally totally ordered refinements, each put to the test.

Nothing here uses the closed form under test. Closures are difference-bound matrices with Floyd and
Warshall's algorithm; a bound is an integer, in a dense order 2c for `x - y <= c` and 2c - 1 for
`x - y < c`. Exponential, so for small queries only.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

INFINITE = 10**9


class Matrix:
    """The closure of a conjunction over numbered attributes; the last index stands for zero."""

    def __init__(self, names: list[str], dense: bool) -> None:
        self.names = names
        self.index = {name: i for i, name in enumerate(names)}
        self.dense = dense
        size = len(names) + 1
        self.zero = len(names)
        self.bound = [[0 if i == j else INFINITE for j in range(size)] for i in range(size)]

    def copy(self) -> Matrix:
        other = Matrix.__new__(Matrix)
        other.names, other.index, other.dense, other.zero = (
            self.names,
            self.index,
            self.dense,
            self.zero,
        )
        other.bound = [row[:] for row in self.bound]
        return other

    def plus(self, a: int, b: int) -> int:
        if a >= INFINITE or b >= INFINITE:
            return INFINITE
        return a + b + 1 if self.dense and a % 2 and b % 2 else a + b

    def add(self, i: int, j: int, constant: int, *, strict: bool) -> bool:
        """Adds x_i - x_j <= constant (or <); False if nothing satisfies the whole any more."""
        new = 2 * constant - strict if self.dense else constant - strict
        if new >= self.bound[i][j]:
            return True
        if self.plus(new, self.bound[j][i]) < 0:
            return False
        size = len(self.bound)
        for a in range(size):
            left = self.plus(self.bound[a][i], new)
            for b in range(size):
                through = self.plus(left, self.bound[j][b])
                if through < self.bound[a][b]:
                    self.bound[a][b] = through
        return all(self.bound[a][a] >= 0 for a in range(size))

    # Elements are attribute indices, or ("k", constant).

    def difference(self, x: Any, y: Any) -> int:
        """The bound on x - y, constants being zero plus an offset."""
        i, a = (self.zero, x[1]) if isinstance(x, tuple) else (x, 0)
        j, b = (self.zero, y[1]) if isinstance(y, tuple) else (y, 0)
        offset = (a - b) * (2 if self.dense else 1)
        return min(self.bound[i][j] + offset, INFINITE)

    def at_most(self, x: Any, y: Any) -> bool:
        return self.difference(x, y) <= 0

    def less(self, x: Any, y: Any) -> bool:
        return self.difference(x, y) < 0

    def equal(self, x: Any, y: Any) -> bool:
        return self.at_most(x, y) and self.at_most(y, x)


class Query:
    """A query of one piece, unpacked: attributes, streams, constants and atoms."""

    def __init__(self, query: Any, extra: tuple[str, Any] | None = None) -> None:
        (piece,) = query.pieces
        self.streams = {u.name: [a.name for a in u.attributes] for u in query.uses}
        sorts = {a.sort for u in query.uses for a in u.attributes}
        self.dense = any(sort.dense for sort in sorts)
        points = next((s.points for s in sorts if s.dense), ())
        self.points = points
        scale = {p: p for p in range(len(points))}
        self.links = [(a.left, str(a.op), a.right) for a in piece.atoms if hasattr(a, "left")]
        self.limits = [
            (a.attribute, str(a.op), scale.get(a.point, a.point))
            for a in piece.atoms
            if hasattr(a, "point")
        ]
        if extra:
            self.streams["V"] = ["v"]
            self.links.append(extra)  # type: ignore[arg-type]
        self.names = [name for names in self.streams.values() for name in names]
        self.owner = {name: s for s, names in self.streams.items() for name in names}
        self.constants = sorted({point for _, _, point in self.limits})

    def value(self, constant: int) -> float:
        """The number a constant stands for."""
        return self.points[constant] if self.dense else constant

    def matrix(self) -> Matrix | None:
        m = Matrix(self.names, self.dense)
        for left, op, right in self.links:
            if not _add(m, m.index[left], op, m.index[right], 0):
                return None
        for name, op, point in self.limits:
            if not _add(m, m.index[name], op, m.zero, point):
                return None
        return m


def _add(m: Matrix, i: int, op: str, j: int, constant: int) -> bool:
    if op in ("=", "<", "<=") and not m.add(i, j, constant, strict=op == "<"):
        return False
    return op not in ("=", ">", ">=") or m.add(j, i, -constant, strict=op == ">")


def refinements(query: Query, m: Matrix) -> Iterator[Matrix]:
    """Every satisfiable way to order each stream's attributes and all constants."""
    pairs: list[tuple[int, int, int]] = [
        (m.index[a], m.zero, k) for a in query.names for k in query.constants
    ]
    pairs += [
        (m.index[a], m.index[b], 0)
        for names in query.streams.values()
        for a, b in combinations(names, 2)
    ]
    return _refine(m, pairs)


def _refine(m: Matrix, pairs: list[tuple[int, int, int]]) -> Iterator[Matrix]:
    if not pairs:
        yield m
        return
    (i, j, constant), rest = pairs[0], pairs[1:]
    for op in ("<", "=", ">"):
        branch = m.copy()
        if _add(branch, i, op, j, constant):
            yield from _refine(branch, rest)


class Refinement:
    """A locally totally ordered query, and the three conditions."""

    def __init__(self, query: Query, m: Matrix) -> None:
        self.query = query
        self.m = m
        self.constants = [("k", k) for k in query.constants]

    def bounded(self, name: str) -> bool:
        x = self.m.index[name]
        if self.query.dense:
            return any(self.m.equal(x, k) for k in self.constants)
        zero = self.m.zero
        return self.m.bound[x][zero] < INFINITE and self.m.bound[zero][x] < INFINITE

    def redundant(self, x: int, y: int) -> bool:
        m = self.m
        if any(m.equal(x, k) or m.equal(y, k) for k in self.constants):
            return True
        strict = m.less(x, y)
        for e in (*range(len(m.names)), *self.constants):
            if m.equal(e, x) or m.equal(e, y) or not (m.at_most(x, e) and m.at_most(e, y)):
                continue
            if not strict or m.less(x, e) or m.less(e, y):
                return True
        return False

    def references(self, stream: str, *, larger: bool) -> int:
        """|MaxRef| (larger) or |MinRef|, counted in classes of equal attributes."""
        found: list[int] = []
        for name in self.query.streams[stream]:
            x = self.m.index[name]
            if self.bounded(name) or any(self.m.equal(x, other) for other in found):
                continue
            for other in self.query.names:
                y = self.m.index[other]
                low, high = (y, x) if larger else (x, y)
                if (
                    self.query.owner[other] != stream
                    and self.m.at_most(low, high)
                    and not self.m.equal(low, high)
                    and not self.redundant(low, high)
                ):
                    found.append(x)
                    break
        return len(found)

    def allowed(self, outputs: list[str], *, distinct: bool) -> bool:
        """C1, C2 and C3."""
        query = self.query
        if len(query.streams) == 1 and not distinct:
            return True
        if not all(self.bounded(name) for name in outputs):
            return False
        for a, b in combinations(query.names, 2):
            joined = query.owner[a] != query.owner[b]
            if joined and self.m.equal(self.m.index[a], self.m.index[b]) and not self.bounded(a):
                return False
        sizes = [
            self.references(s, larger=True) + self.references(s, larger=False)
            for s in query.streams
        ]
        return max(sizes) <= (1 if distinct else 0)


def bounded(
    query: Any, outputs: list[str], *, distinct: bool, extra: tuple[str, str, str] | None = None
) -> bool:
    """Whether every refinement is bounded; `extra` is a comparison with a virtual stream's `v`."""
    unpacked = Query(query, extra)  # type: ignore[arg-type]
    m = unpacked.matrix()
    if m is None:
        return True
    return all(
        Refinement(unpacked, part).allowed(outputs, distinct=distinct)
        for part in refinements(unpacked, m)
    )


def attribute_bounded(query: Any, name: str) -> bool:
    """Whether an attribute has finitely many values in the solutions."""
    return bounded_alone(Query(query), name)


def bounded_alone(unpacked: Query, name: str) -> bool:
    m = unpacked.matrix()
    return m is None or all(
        Refinement(unpacked, part).bounded(name) for part in refinements(unpacked, m)
    )


def aggregate_bounded(query: Any, groups: list[str], kind: str, name: str | None) -> bool:
    """The rules for one aggregate, on top of full expansion."""
    unpacked = Query(query)
    if unpacked.matrix() is None:
        return True
    remembers = kind in ("DIFFERENT", "MEDIAN")
    if remembers and name and not bounded_alone(unpacked, name):
        return False
    if len(unpacked.streams) == 1:
        return all(bounded_alone(unpacked, g) for g in groups)
    distinct = kind in ("MIN", "MAX", "DIFFERENT") or _known(unpacked, groups, kind, name)
    if not bounded(query, groups, distinct=distinct):
        return False
    if kind in ("MIN", "MAX") and name:
        extra = ("v", "<", name) if kind == "MAX" else (name, "<", "v")
        return bounded(query, groups, distinct=True, extra=extra)
    return True


def _known(unpacked: Query, groups: list[str], kind: str, name: str | None) -> bool:
    """Whether an aggregate is known without counting: a mean of equal values, a sum of zeros.

    The article's rule for SUM, AVG and MEDIAN does not look at that.
    """
    m = unpacked.matrix()
    if m is None or name is None or kind not in ("SUM", "AVG", "MEDIAN"):
        return False
    x = m.index[name]
    grouped = any(m.equal(x, m.index[g]) for g in groups)
    if kind == "SUM":
        zeros = [k for k in unpacked.constants if unpacked.value(k) == 0]
        implied = [0] if not unpacked.dense else []
        return any(m.equal(x, ("k", k)) for k in (*zeros, *implied))
    return grouped or m.plus(m.bound[x][m.zero], m.bound[m.zero][x]) == 0
