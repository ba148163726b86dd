"""What each relational operator does to bags of rows, as in SQL.

A bag is a list of rows; its order only serves to break ties between stream elements of one
instant. Nothing here knows of time: `cqlc.semantics.meaning` applies these to the inputs at τ.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

from cqlc.algebra.expr import SortKey
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    NrrJoin,
    Project,
    Rank,
    RankKind,
    Rename,
    Union,
)
from cqlc.algebra.schema import Schema
from cqlc.semantics.aggregates import aggregator
from cqlc.semantics.expressions import UserFunctions, evaluator
from cqlc.semantics.joins import Matches, matcher
from cqlc.semantics.timeline import BEGINNING, FOREVER, Values
from cqlc.semantics.values import order_key
from cqlc.semantics.windows import History, Row

Bag: TypeAlias = Sequence[Row]
Unary: TypeAlias = Callable[[Bag], Bag]
Binary: TypeAlias = Callable[[Bag, Bag], Bag]

UnaryPlan: TypeAlias = Rename | Filter | Project | Distinct | Aggregate | Rank
BinaryPlan: TypeAlias = Join | Union | Except | Intersect


def unary(plan: UnaryPlan, schema: Schema, functions: UserFunctions) -> Unary:
    """What `plan` does to the bag of its input."""
    match plan:
        case Rename():
            return lambda rows: rows
        case Filter(_, predicate):
            holds = evaluator(predicate, schema, functions)
            return lambda rows: [row for row in rows if holds(row.values) is True]
        case Project(_, columns):
            parts = [evaluator(column.value, schema, functions) for column in columns]
            return lambda rows: [
                Row(tuple([part(values) for part in parts]), time, since, until)
                for values, time, since, until in rows
            ]
        case Distinct():
            return _distinct
        case Aggregate():
            return _aggregate(plan, schema, functions)
        case Rank():
            return _rank(plan, schema, functions)


def binary(plan: BinaryPlan, left: Schema, right: Schema, functions: UserFunctions) -> Binary:
    """What `plan` does to the bags of its inputs."""
    match plan:
        case Join():
            return _join(plan, left, right, functions)
        case Union():
            return lambda lefts, rights: [*lefts, *rights]
        case Except():
            return minus
        case Intersect():
            return lambda lefts, rights: minus(lefts, minus(lefts, rights))


def minus(left: Bag, right: Bag) -> list[Row]:
    """The bag difference: every row of `left` that has no partner of its own in `right`."""
    partners = Counter(row.values for row in right)
    rest: list[Row] = []
    for row in left:
        if partners[row.values] > 0:
            partners[row.values] -= 1
        else:
            rest.append(row)
    return rest


def _distinct(rows: Bag) -> list[Row]:
    first: dict[Values, Row] = {}
    for row in rows:
        first.setdefault(row.values, row)
    return list(first.values())


def _join(plan: Join, left: Schema, right: Schema, functions: UserFunctions) -> Binary:
    match_rows = matcher(plan.predicate, left, right, functions)

    def apply(lefts: Bag, rights: Bag) -> list[Row]:
        matches = match_rows(lefts, rights)
        if plan.kind is not JoinKind.FULL:
            return joined(plan.kind, lefts, matches, len(right))
        found = [list(each) for each in matches]
        met = {number for each in found for number, _ in each}
        strangers = (row for number, row in enumerate(rights) if number not in met)
        padded = [_padded(row, before=len(left)) for row in strangers]
        return joined(JoinKind.LEFT, lefts, found, len(right)) + padded

    return apply


def joined(kind: JoinKind, lefts: Bag, matches: Iterable[Matches], width: int) -> list[Row]:
    """What the left rows and their matches make; `width` is the number of the right's columns."""
    both = zip(lefts, matches, strict=True)
    match kind:
        case JoinKind.INNER:
            return [pair for found in matches for _, pair in found]
        case JoinKind.SEMI:
            return [row for row, found in both if any(True for _ in found)]
        case JoinKind.ANTI:
            return [row for row, found in both if not any(True for _ in found)]
        case JoinKind.LEFT | JoinKind.FULL:
            return [
                pair
                for row, found in both
                for pair in [pair for _, pair in found] or [_padded(row, after=width)]
            ]


def as_of_join(plan: NrrJoin, schema: Schema, table: History, functions: UserFunctions) -> Unary:
    """Each row joined with the table as it was just before the row's own time.

    That never changes, so it is looked up once for every row.
    """
    right = tuple(replace(field, name=f"{plan.alias}.{field.name}") for field in plan.schema)
    match_rows = matcher(plan.predicate, schema, right, functions)
    known: dict[Row, Matches] = {}

    def partners(row: Row) -> Matches:
        if row not in known:
            rows = (
                found._replace(since=BEGINNING, until=FOREVER) for found in table.at(row.time - 1)
            )
            known[row] = list(next(match_rows([row], list(rows))))
        return known[row]

    return lambda rows: joined(plan.kind, rows, map(partners, rows), len(right))


def _padded(row: Row, before: int = 0, after: int = 0) -> Row:
    return row._replace(values=(None,) * before + row.values + (None,) * after)


def _aggregate(plan: Aggregate, schema: Schema, functions: UserFunctions) -> Unary:
    keys = [evaluator(key.value, schema, functions) for key in plan.keys]
    aggregates = [aggregator(each.value, schema, functions) for each in plan.aggregates]

    def apply(rows: Bag) -> list[Row]:
        groups: dict[Values, list[Row]] = defaultdict(list)
        for row in rows:
            groups[tuple(key(row.values) for key in keys)].append(row)
        return [
            _made_of(members, (*key, *(aggregate(members) for aggregate in aggregates)))
            for key, members in groups.items()
        ]

    return apply


def _made_of(rows: Bag, values: Values) -> Row:
    """A row made of several: as young as the youngest of them, alive while all of them are."""
    latest = max(row.time for row in rows)
    return Row(values, latest, max(row.since for row in rows), min(row.until for row in rows))


def _rank(plan: Rank, schema: Schema, functions: UserFunctions) -> Unary:
    names = [field.name for field in schema]
    places = [names.index(column) for column in plan.partition]
    keys = [(key, evaluator(key.value, schema, functions)) for key in plan.order]

    def sort_keys(row: Row) -> tuple[_SortPlace, ...]:
        return tuple(_SortPlace(key, order_key(value(row.values))) for key, value in keys)

    def apply(rows: Bag) -> list[Row]:
        partitions: dict[Values, list[tuple[tuple[_SortPlace, ...], Row]]] = defaultdict(list)
        for row in rows:
            partition = tuple(row.values[place] for place in places)
            partitions[partition].append((sort_keys(row), row))
        ranked: list[Row] = []
        for members in partitions.values():
            members.sort(key=lambda member: (member[0], order_key(member[1].values)))
            numbers = _numbers(plan.kind, [places for places, _ in members])
            for number, (_, row) in zip(numbers, members, strict=True):
                ranked.append(row._replace(values=(*row.values, number)))
        return ranked

    return apply


class _SortPlace:
    """A value's place in the order that one sort key asks for."""

    __slots__ = ("_descending", "_key")

    def __init__(self, sort: SortKey, key: tuple[object, ...]) -> None:
        is_null = key == (0,)
        self._key = (is_null != sort.nulls_first, () if is_null else key)
        self._descending = sort.descending

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SortPlace) and self._key == other._key

    def __lt__(self, other: _SortPlace) -> bool:
        if self._key[0] != other._key[0] or not self._descending:
            return self._key < other._key
        return other._key < self._key


def _numbers(kind: RankKind, keys: Sequence[tuple[object, ...]]) -> Iterable[int]:
    """The numbers of rows whose sort keys, in order, are these."""
    rank = dense = 0
    for number, key in enumerate(keys, 1):
        if number == 1 or key != keys[number - 2]:
            rank, dense = number, dense + 1
        match kind:
            case RankKind.ROW_NUMBER:
                yield number
            case RankKind.RANK:
                yield rank
            case RankKind.DENSE_RANK:
                yield dense
