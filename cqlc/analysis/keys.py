"""Keys: the columns that identify a row of a relation at any instant, of a stream at any time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from typing import TypeAlias

from cqlc.algebra.expr import Column, Compare, Comparison, Expr, Literal
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Dstream,
    Except,
    Filter,
    Intersect,
    Istream,
    IstreamRestore,
    Join,
    JoinKind,
    Now,
    NrrJoin,
    Plan,
    Project,
    Range,
    Rank,
    RankKind,
    Rename,
    Rows,
    Rstream,
    RstreamRestore,
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.schema import TIME, Schema
from cqlc.algebra.walk import conjuncts, derive, output_schema
from cqlc.catalog import Catalog

Key: TypeAlias = frozenset[str]
"""Columns no two rows of which are equal; the empty key says that there is at most one row."""

Keys: TypeAlias = tuple[Key, ...]

_MOST = 8
"""Keys kept per plan, the shortest ones: products of keys would grow without it."""


def keys(plan: Plan, catalog: Catalog) -> Mapping[int, Keys]:
    """The known keys of every subplan, shortest first, by the subplan's `id`."""

    def transfer(node: Plan, of: tuple[tuple[Schema, Keys], ...]) -> tuple[Schema, Keys]:
        schemas = tuple(schema for schema, _ in of)
        schema = output_schema(node, schemas)
        found = _keys(node, tuple(known for _, known in of), (*schemas, schema), catalog)
        return schema, _shortest(found)

    return {node: known for node, (_, known) in derive(plan, transfer).items()}


def equated(predicate: Expr) -> tuple[tuple[Column, Column], ...]:
    """The pairs of columns that are equal wherever the predicate is true."""
    return tuple(
        (part.left, part.right)
        for part in conjuncts(predicate)
        if isinstance(part, Compare)
        and part.op in (Comparison.EQ, Comparison.SAME)
        and isinstance(part.left, Column)
        and isinstance(part.right, Column)
    )


def _keys(
    plan: Plan, of: tuple[Keys, ...], schemas: tuple[Schema, ...], catalog: Catalog
) -> Iterable[Key]:
    """The keys of a plan, given those of its inputs; `schemas` are the inputs' and its own."""
    match plan:
        case Scan(name) | Table(name):
            declared = catalog.tables.get(name)
            return map(frozenset, declared.keys) if declared else ()
        case Values(rows):
            return (frozenset(),) if len(rows) <= 1 else ()
        case Istream() | Dstream() | Rstream():
            # A row may come again at another tick, so its time belongs to the key.
            return (key | {TIME} for key in of[0])
        case Now():
            return (key - {TIME} for key in of[0])
        case Rows(rows=1):
            return (*of[0], frozenset(plan.partition))
        case Unbounded() | Range() | Rows() | Session() | Except():
            return of[0]
        case Intersect():
            pairs = zip(*schemas[:2], strict=True)
            return (*of[0], *_renamed(of[1], {b.name: a.name for a, b in pairs}))
        case Union() | IstreamRestore() | RstreamRestore():
            return ()
        case Rename():
            return (frozenset(f"{plan.alias}.{c}" for c in key) for key in of[0])
        case Filter(_, predicate):
            fixed = _constants(predicate)
            return (key - fixed for key in of[0])
        case Project():
            shown = {c.value.name: c.name for c in plan.columns if isinstance(c.value, Column)}
            return _renamed(of[0], shown)
        case Distinct():
            return (*of[0], _names(schemas[-1]))
        case Aggregate():
            return (frozenset(k.name for k in plan.keys),)
        case Rank():
            number = frozenset((*plan.partition, plan.name))
            return (*of[0], number) if plan.kind is RankKind.ROW_NUMBER else of[0]
        case Join():
            return _joined(plan.kind, plan.predicate, _names(schemas[0]), of[0], of[1])
        case NrrJoin():
            declared = catalog.tables.get(plan.name)
            rows = declared.keys if declared else ()
            right = tuple(frozenset(f"{plan.alias}.{c}" for c in key) for key in rows)
            return _joined(plan.kind, plan.predicate, _names(schemas[0]), of[0], right)


def _joined(
    kind: JoinKind, predicate: Expr, left_columns: Key, left: Keys, right: Keys
) -> Iterable[Key]:
    if kind in (JoinKind.SEMI, JoinKind.ANTI):
        return left
    if kind is JoinKind.FULL:
        return ()  # unmatched rows of both sides may agree in their NULLs
    across = [
        {a.name, b.name}
        for a, b in equated(predicate)
        if (a.name in left_columns) is not (b.name in left_columns)
    ]
    matched = frozenset[str]().union(*across)
    found = [a | b for a, b in product(left, right)]
    if any(key <= matched for key in right):
        found += left
    if kind is JoinKind.INNER and any(key <= matched for key in left):
        found += right
    return found


def _constants(predicate: Expr) -> Key:
    """The columns that have one value wherever the predicate is true."""
    return frozenset(
        side.name
        for part in conjuncts(predicate)
        if isinstance(part, Compare) and part.op is Comparison.EQ
        for side, other in ((part.left, part.right), (part.right, part.left))
        if isinstance(side, Column) and isinstance(other, Literal)
    )


def _names(schema: Schema) -> Key:
    return frozenset(field.name for field in schema)


def _renamed(found: Keys, names: Mapping[str, str]) -> Iterable[Key]:
    return (frozenset(names[c] for c in key) for key in found if all(c in names for c in key))


def _shortest(found: Iterable[Key]) -> Keys:
    distinct = sorted(dict.fromkeys(found), key=lambda key: (len(key), sorted(key)))
    minimal = [k for i, k in enumerate(distinct) if not any(s <= k for s in distinct[:i])]
    return tuple(minimal[:_MOST])
