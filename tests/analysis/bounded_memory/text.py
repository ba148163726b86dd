"""Queries of the theory from a line of text: `S(A,B) T(D)`, `A<D AND B>3 AND E IN {1;2}`."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from types import ModuleType
from typing import Any

from cqlc.algebra.expr import Comparison
from cqlc.analysis import bounded_memory
from cqlc.datatypes import BIGINT, DOUBLE

KINDS = {
    "count": "COUNT",
    "sum": "SUM",
    "avg": "AVG",
    "var": "ALGEBRAIC",
    "min": "MIN",
    "max": "MAX",
    "countd": "DIFFERENT",
    "median": "MEDIAN",
    "quantile": "QUANTILE",
    "first": "STEPWISE",
    "list": "LIST",
    "udf": "OTHER",
}
_FLIPPED = {">": "<", ">=": "<="}
_COMPARISON = re.compile(r"^(\w+)(<=|>=|<>|<|>|=)(-?[\w.]+)$")


class Builder:
    """Makes queries of one copy of the package, the real one or one with a fault in it."""

    def __init__(self, api: ModuleType = bounded_memory) -> None:
        self.model: Any = importlib.import_module(api.__name__ + ".query")

    def query(
        self,
        streams: str,
        where: str = "",
        mode: str = "bag",
        proj: str = "",
        group: str = "",
        aggs: tuple[str, ...] = (),
        domain: str = "int",
        bases: dict[str, str] | None = None,
    ) -> Any:
        """A query of one piece; `bases` names the streams that are occurrences of one table."""
        parts = [part.replace(" ", "") for part in where.split("AND") if part.strip()]
        sort = self._sort(parts, domain)
        uses = tuple(
            self.model.StreamUse(name, (bases or {}).get(name, name), self._attributes(names, sort))
            for name, names in re.findall(r"(\w+)\(([\w,]*)\)", streams)
        )
        pieces = (self.model.Conjunction(tuple(self._atom(part, sort) for part in parts)),)
        return self.model.SpjQuery(uses, pieces, self.head(mode, proj, group, aggs))

    def head(self, mode: str, proj: str = "", group: str = "", aggs: tuple[str, ...] = ()) -> Any:
        """What is asked: `bag` or `set` of a projection, or `agg` with groups and aggregates."""
        if mode == "agg":
            return self.model.Aggregation(
                self._outputs(group), tuple(self.aggregate(text) for text in aggs)
            )
        return self.model.Projection(self._outputs(proj), mode == "set")

    def aggregate(self, text: str) -> Any:
        """`sum(B)`, `count(*)`."""
        function, argument = text.rstrip(")").split("(")
        attributes = () if argument == "*" else tuple(argument.split(","))
        return self.model.Aggregated(self.model.AggregateKind[KINDS[function]], attributes)

    def _outputs(self, names: str) -> Any:
        return tuple(self.model.Output(name) for name in names.split(",") if name)

    def _attributes(self, names: str, sort: Any) -> Any:
        type = DOUBLE if sort.dense else BIGINT
        return tuple(self.model.Attribute(name, sort, type) for name in names.split(",") if name)

    def _sort(self, parts: list[str], domain: str) -> Any:
        if domain == "int":
            return self.model.Sort("integer")
        constants = {c for part in parts for c in _constants(part)}
        return self.model.Sort("real", dense=True, points=tuple(sorted(constants)))

    def _atom(self, part: str, sort: Any) -> Any:
        if "IN{" in part:
            name, values = part.split("IN{")
            points = (_point(v, sort) for v in values.rstrip("}").split(";"))
            return self.model.Among(name, frozenset(points))
        left, op, right = _parts(part)
        if not right[0].isalpha():
            return self.model.Limit(left, Comparison(op), _point(right, sort))
        if op in _FLIPPED:
            left, op, right = right, _FLIPPED[op], left
        return self.model.Link(left, Comparison(op), right)


def with_atoms(original: Any, *atoms: Any) -> Any:
    """The query with more atoms in its only piece."""
    (piece,) = original.pieces
    return replace(original, pieces=(replace(piece, atoms=(*piece.atoms, *atoms)),))


def _parts(part: str) -> tuple[str, str, str]:
    match = _COMPARISON.match(part)
    assert match, part
    left, op, right = match.groups()
    return left, op, right


def _constants(part: str) -> list[float]:
    if "IN{" in part:
        return [float(v) for v in part.split("{")[1].rstrip("}").split(";")]
    right = _parts(part)[2]
    return [] if right[0].isalpha() else [float(right)]


def _point(text: str, sort: Any) -> int:
    return sort.points.index(float(text)) if sort.dense else int(text)
