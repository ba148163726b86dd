"""Predicates as formulas over attributes and constants, and the disjoint cases in which they hold.

Three-valued logic is kept: a formula is true, false or unknown, and an attribute may be NULL. What
cannot be read (arithmetic over several columns, functions, patterns) stays as a condition on the
attributes it mentions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import floor
from typing import TypeAlias

from cqlc.algebra.expr import Comparison, Value
from cqlc.analysis.bounded_memory.query import Among, Atom, Attribute, Limit, Link, Opaque
from cqlc.analysis.bounded_memory.values import point_value
from cqlc.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Truth:
    """A constant; None is unknown."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Missing:
    """Whether an attribute is NULL."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Between:
    """A comparison of two attributes."""

    left: str
    op: Comparison
    right: str
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Against:
    """A comparison of an attribute with a constant, in units if its sort is discrete."""

    attribute: str
    op: Comparison
    value: Fraction | Value
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class OneOf:
    """Whether an attribute has one of some values."""

    attribute: str
    values: tuple[Fraction | Value, ...]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Unread:
    """A predicate on these attributes of which nothing more is known."""

    attributes: frozenset[str]
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class Every:
    """A conjunction."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """A disjunction."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """A negation."""

    part: Formula


Formula: TypeAlias = Truth | Missing | Between | Against | OneOf | Unread | Every | Some | Negated


@dataclass(frozen=True, slots=True)
class Null:
    """An attribute is NULL."""

    attribute: str


@dataclass(frozen=True, slots=True)
class Present:
    """An attribute is not NULL."""

    attribute: str


@dataclass(frozen=True, slots=True)
class UnlessNull:
    """An atom of one attribute that holds unless the attribute is NULL."""

    atom: Limit | Among


Literal: TypeAlias = Link | Limit | Among | Null | Present | Opaque | UnlessNull
Alternative: TypeAlias = tuple[Literal, ...]


class UnsplitError(Exception):
    """A formula falls into more cases than are looked at."""


MOST_CASES = 256

_NEGATION = {
    Comparison.EQ: Comparison.NE,
    Comparison.NE: Comparison.EQ,
    Comparison.LT: Comparison.GE,
    Comparison.GE: Comparison.LT,
    Comparison.GT: Comparison.LE,
    Comparison.LE: Comparison.GT,
    Comparison.SAME: Comparison.DIFFERENT,
    Comparison.DIFFERENT: Comparison.SAME,
}
FLIPPED = {
    Comparison.LT: Comparison.GT,
    Comparison.GT: Comparison.LT,
    Comparison.LE: Comparison.GE,
    Comparison.GE: Comparison.LE,
}
"""The comparison with its sides exchanged, where that makes a difference."""


def mentioned(formula: Formula) -> frozenset[str]:
    """The attributes of a formula."""
    match formula:
        case Truth():
            return frozenset()
        case Missing(name) | Against(name) | OneOf(name):
            return frozenset((name,))
        case Between(left, _, right):
            return frozenset((left, right))
        case Unread(names):
            return names
        case Every(parts) | Some(parts):
            return frozenset[str]().union(*map(mentioned, parts))
        case Negated(part):
            return mentioned(part)


def constants(formula: Formula) -> Iterable[tuple[str, Fraction | Value]]:
    """The attributes that are compared with constants, with the constants."""
    match formula:
        case Against(name, _, value):
            yield name, value
        case OneOf(name, values):
            yield from ((name, value) for value in values)
        case Every(parts) | Some(parts):
            for part in parts:
                yield from constants(part)
        case Negated(part):
            yield from constants(part)
        case Truth() | Missing() | Between() | Unread():
            pass


class Cases:
    """Splits formulas into disjoint alternatives, given the attributes and their sorts."""

    def __init__(self, attributes: Mapping[str, Attribute]) -> None:
        self.attributes = attributes

    def when(self, formula: Formula, value: bool | None) -> list[Alternative]:
        """The disjoint alternatives in which a formula has a truth value."""
        match formula:
            case Truth(constant):
                return [()] if constant is value else []
            case Missing(name):
                return self._missing(name, value)
            case Unread(names, span):
                return [(Opaque(names, span=span),)] if value is True else self._unreadable()
            case Between(left, op, right, span):
                return self._between(left, op, right, span, value)
            case Against(name, op, constant, span):
                return self._against(name, op, constant, span, value)
            case OneOf(name, values, span):
                return self._one_of(name, values, span, value)
            case Negated(part):
                return self.when(part, None if value is None else not value)
            case Some(parts):
                negated = Every(tuple(Negated(part) for part in parts))
                return self.when(Negated(negated), value)
            case Every(parts):
                return self._every(parts, value)

    def _unreadable(self) -> list[Alternative]:
        raise UnsplitError

    def _missing(self, name: str, value: bool | None) -> list[Alternative]:
        if value is None:
            return []
        return [(Present(name),)] if not value else self._null(name)

    def _null(self, name: str, *others: Literal) -> list[Alternative]:
        return [(*others, Null(name))] if self.attributes[name].nullable else []

    def _between(
        self, left: str, op: Comparison, right: str, span: Span, value: bool | None
    ) -> list[Alternative]:
        if op in (Comparison.SAME, Comparison.DIFFERENT):
            return self._same(left, right, span, value is (op is Comparison.SAME), value)
        if value is None:
            known = self._null(right, Present(left)) if left != right else []
            return self._null(left) + known
        return [(link,) for link in _links(left, op if value else _NEGATION[op], right, span)]

    def _same(
        self, left: str, right: str, span: Span, same: bool, value: bool | None
    ) -> list[Alternative]:
        if value is None:
            return []
        if same:
            both = [(*a, *b) for a, b in product(self._null(left), self._null(right))]
            return [*both, (Link(left, Comparison.EQ, right, span=span),)]
        one = [*self._null(left, Present(right)), *self._null(right, Present(left))]
        return one + [(link,) for link in _links(left, Comparison.NE, right, span)]

    def _against(
        self, name: str, op: Comparison, constant: Fraction | Value, span: Span, value: bool | None
    ) -> list[Alternative]:
        if op in (Comparison.SAME, Comparison.DIFFERENT):
            plain = Comparison.EQ if op is Comparison.SAME else Comparison.NE
            if value is None:
                return []
            null = self._null(name) if value is (op is Comparison.DIFFERENT) else []
            return self._against(name, plain, constant, span, value) + null
        if value is None:
            return self._null(name)
        return self._limits(name, op if value else _NEGATION[op], constant, span)

    def _limits(
        self, name: str, op: Comparison, constant: Fraction | Value, span: Span
    ) -> list[Alternative]:
        if not isinstance(constant, Fraction) or self.attributes[name].sort.dense:
            return [(Limit(name, op, self._point(name, constant), span=span),)]
        if constant.denominator == 1:
            return [(Limit(name, op, constant.numerator, span=span),)]
        match op:
            case Comparison.EQ:
                return []
            case Comparison.NE:
                return [(Present(name),)]
            case Comparison.LT | Comparison.LE:
                return [(Limit(name, Comparison.LE, floor(constant), span=span),)]
            case _:
                return [(Limit(name, Comparison.GE, floor(constant) + 1, span=span),)]

    def _one_of(
        self, name: str, values: Sequence[Fraction | Value], span: Span, value: bool | None
    ) -> list[Alternative]:
        if value is None:
            return self._null(name)
        dense = self.attributes[name].sort.dense
        points = [self._point(name, v) for v in values if dense or _whole(v)]
        if value:
            return [(Among(name, frozenset(points), span=span),)] if points else []
        return [(Present(name), *(Limit(name, Comparison.NE, p, span=span) for p in points))]

    def _point(self, name: str, constant: Fraction | Value) -> int:
        if not self.attributes[name].sort.dense and isinstance(constant, Fraction):
            return constant.numerator
        sort = self.attributes[name].sort
        plain = float(constant) if isinstance(constant, Fraction) else constant
        return sort.points.index(point_value(plain, sort))

    def _every(self, parts: Sequence[Formula], value: bool | None) -> list[Alternative]:
        if not parts:
            return [()] if value is True else []
        first, rest = parts[0], parts[1:]
        if value is True:
            return self._both(self.when(first, True), self._every(rest, True))
        if value is False:
            others = self.when(first, True) + self.when(first, None)
            return self.when(first, False) + self._both(others, self._every(rest, False))
        unknown = self._both(
            self.when(first, None), self._every(rest, True) + self._every(rest, None)
        )
        return unknown + self._both(self.when(first, True), self._every(rest, None))

    def _both(self, one: list[Alternative], other: list[Alternative]) -> list[Alternative]:
        if len(one) * len(other) > MOST_CASES:
            raise UnsplitError
        return [(*a, *b) for a, b in product(one, other) if not _clash(a, b)]


def _links(left: str, op: Comparison, right: str, span: Span) -> list[Link]:
    """A comparison as links; `<>` is one of two."""
    match op:
        case Comparison.GT | Comparison.GE:
            return [Link(right, FLIPPED[op], left, span=span)]
        case Comparison.NE:
            up = Link(left, Comparison.LT, right, span=span)
            return [up, Link(right, Comparison.LT, left, span=span)]
        case _:
            return [Link(left, op, right, span=span)]


def _whole(value: Fraction | Value) -> bool:
    return isinstance(value, Fraction) and value.denominator == 1


def _clash(one: Alternative, other: Alternative) -> bool:
    nulls = [{lit.attribute for lit in a if isinstance(lit, Null)} for a in (one, other)]
    return bool(nulls[0] & present(other) or nulls[1] & present(one))


def present(alternative: Iterable[Literal]) -> set[str]:
    """The attributes that cannot be NULL in an alternative."""
    found: set[str] = set()
    for literal in alternative:
        match literal:
            case Link(left, _, right):
                found |= {left, right}
            case Limit(name) | Among(name) | Present(name):
                found.add(name)
            case Null() | Opaque() | UnlessNull():
                pass
    return found


def nulls(alternative: Iterable[Literal]) -> frozenset[str]:
    """The attributes that are NULL in an alternative."""
    return frozenset(lit.attribute for lit in alternative if isinstance(lit, Null))


def atoms(alternative: Iterable[Literal]) -> tuple[Atom, ...]:
    """The atoms of an alternative."""
    plain = (lit.atom if isinstance(lit, UnlessNull) else lit for lit in alternative)
    return tuple(lit for lit in plain if isinstance(lit, Link | Limit | Among))


def opaque(alternative: Iterable[Literal]) -> tuple[Opaque, ...]:
    """The conditions of an alternative that are not read."""
    return tuple(lit for lit in alternative if isinstance(lit, Opaque))
