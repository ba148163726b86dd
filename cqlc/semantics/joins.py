"""Which rows of two relations match.

By definition two rows match if the predicate is true of their concatenation and there was a tick
at which both were alive. The equalities of the predicate only narrow down which pairs are tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

from cqlc.algebra.expr import Compare, Comparison, Expr
from cqlc.algebra.schema import Schema
from cqlc.algebra.walk import columns, conjuncts
from cqlc.semantics.expressions import Evaluator, UserFunctions, evaluator
from cqlc.semantics.timeline import Values
from cqlc.semantics.windows import Row

Matches: TypeAlias = Iterable[tuple[int, Row]]
"""The numbers of the right rows that a left row matches, and the rows they make together."""

Matcher: TypeAlias = Callable[[Sequence[Row], Sequence[Row]], Iterator[Matches]]
"""For every left row, its matches, which are looked for when asked for."""


def matcher(predicate: Expr, left: Schema, right: Schema, functions: UserFunctions) -> Matcher:
    """The matching of two relations by a predicate."""
    holds = evaluator(predicate, (*left, *right), functions)
    candidates = _candidates(predicate, left, right, functions)

    def match(lefts: Sequence[Row], rights: Sequence[Row]) -> Iterator[Matches]:
        partners = candidates(rights)
        return (matches_of(one, rights, partners(one)) for one in lefts)

    def matches_of(one: Row, rights: Sequence[Row], partners: Sequence[int]) -> Matches:
        for number in partners:
            pair = _together(one, rights[number])
            if pair is not None and holds(pair.values) is True:
                yield number, pair

    return match


def _together(one: Row, other: Row) -> Row | None:
    """The row that two rows make, if their lifetimes meet."""
    since, until = max(one.since, other.since), min(one.until, other.until)
    if since >= until:
        return None
    return Row(one.values + other.values, max(one.time, other.time), since, until)


def _candidates(
    predicate: Expr, left: Schema, right: Schema, functions: UserFunctions
) -> Callable[[Sequence[Row]], Callable[[Row], Sequence[int]]]:
    """The right rows worth trying for a left row: those with equal keys; without keys, all."""
    keys = _equalities(predicate, left, right, functions)
    if not keys:
        return lambda rights: lambda _: range(len(rights))

    def index(rights: Sequence[Row]) -> Callable[[Row], Sequence[int]]:
        places: dict[Values, list[int]] = defaultdict(list)
        for number, row in enumerate(rights):
            places[tuple(key(row.values) for _, key in keys)].append(number)
        return lambda one: places.get(tuple(key(one.values) for key, _ in keys), ())

    return index


def _equalities(
    predicate: Expr, left: Schema, right: Schema, functions: UserFunctions
) -> list[tuple[Evaluator, Evaluator]]:
    lefts, rights = ({field.name for field in schema} for schema in (left, right))
    keys: list[tuple[Evaluator, Evaluator]] = []
    for part in conjuncts(predicate):
        match part:
            case Compare(Comparison.EQ | Comparison.SAME, one, other):
                for a, b in ((one, other), (other, one)):
                    if columns(a) <= lefts and columns(b) <= rights:
                        build = evaluator(a, left, functions), evaluator(b, right, functions)
                        keys.append(build)
                        break
            case _:
                pass
    return keys
