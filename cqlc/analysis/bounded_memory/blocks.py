"""Plans as blocks: occurrences of tables, conditions, columns computed from their attributes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cqlc.algebra.expr import Column, Expr
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Except,
    Filter,
    Intersect,
    Istream,
    Join,
    JoinKind,
    Now,
    NrrJoin,
    Project,
    Range,
    Rank,
    Relation,
    Rename,
    Rows,
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.schema import TIME, Field, Schema
from cqlc.algebra.walk import conjuncts, map_columns
from cqlc.analysis.bounded_memory.query import Attribute, Sort, StreamUse
from cqlc.analysis.bounded_memory.values import sort_of
from cqlc.catalog import Catalog, TableDeclaration
from cqlc.source import NOWHERE, Span


class OutsideError(Exception):
    """A plan that is not a query of the theory."""

    def __init__(self, reason: str, span: Span = NOWHERE) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span


@dataclass(frozen=True, slots=True)
class Block:
    """Occurrences, conditions that all hold, and columns as expressions over attributes."""

    uses: tuple[StreamUse, ...]
    conditions: tuple[Expr, ...]
    columns: Mapping[str, Expr]
    caveats: tuple[str, ...] = ()
    given: tuple[str, ...] = ()


@dataclass
class Builder:
    """Builds the block of one query; `distinct` says that duplicates do not matter in it."""

    catalog: Catalog
    distinct: bool
    names: set[str] = field(default_factory=set[str])
    tables: list[tuple[str, str, TableDeclaration]] = field(
        default_factory=list[tuple[str, str, TableDeclaration]]
    )
    """Declared tables with the occurrence they belong to and the prefix of their attributes."""
    owner: dict[str, str] = field(default_factory=dict[str, str])
    """The occurrence an attribute belongs to."""
    ordered: set[str] = field(default_factory=set[str])
    """Attributes whose values do not come in any order: times, declared orders."""
    computed: list[tuple[str, Attribute, int]] = field(
        default_factory=list[tuple[str, Attribute, int]]
    )
    """Values with few possibilities that are computed from one occurrence, by its name."""
    conditioned: frozenset[str] = frozenset()
    crowded: set[Sort] = field(default_factory=set[Sort])

    def block(self, plan: Relation, alias: str = "") -> Block:
        """The block a relation is, or an `OutsideError`."""
        match plan:
            case Unbounded(Scan() as scan):
                return self._leaf(scan.name, scan.schema, alias, "", plan.span)
            case Unbounded(Istream(input)):
                return self._unwound(input, plan.span)
            case Now(Scan() as scan) | Range(Scan() as scan, internal=False):
                return self._leaf(scan.name, scan.schema, alias, "the rows of a window", plan.span)
            case Rows(Scan() as scan, partition=(), internal=False):
                return self._leaf(scan.name, scan.schema, alias, "the rows of a window", plan.span)
            case Table(name, schema):
                return self._leaf(name, schema, alias, "the relation", plan.span)
            case Rename(input, alias):
                return _renamed(self.block(input, alias), alias)
            case Filter(input, predicate):
                return _where(self.block(input), predicate)
            case Project(input, columns):
                block = self.block(input)
                named = {c.name: over(c.value, block) for c in columns}
                return replace(block, columns=named)
            case Distinct(input) if self.distinct:
                return self.block(input)
            case Join():
                return self._join(plan)
            case NrrJoin():
                return self._looked_up(plan)
            case (
                Unbounded() | Now() | Range() | Rows() | Session() | Values() | Distinct()
                | Aggregate() | Union() | Except() | Intersect() | Rank()
            ):  # fmt: skip
                raise OutsideError(_outside(plan), plan.span)

    def _unwound(self, plan: Relation, span: Span) -> Block:
        """All that a relation ever gained, which is the relation if it loses nothing."""
        block = self.block(plan)
        if any(use.stored for use in block.uses):
            raise OutsideError("results of windows pile up in an unbounded window", span)
        return block

    def _leaf(self, name: str, schema: Schema, alias: str, stored: str, span: Span) -> Block:
        use = self._fresh(alias or name)
        fields = [(replace(f, name=f"{use}.{f.name}"), f.name) for f in schema]
        attributes = tuple(_attribute(f) for f, _ in fields)
        table = self.catalog.tables.get(name)
        if table:
            self._declare(table, use, use)
        self.owner |= {a.name: use for a in attributes}
        keys = tuple(tuple(f"{use}.{c}" for c in key) for key in table.keys) if table else ()
        self.ordered |= {f"{use}.{TIME}"}
        occurrence = StreamUse(use, name, attributes, stored, keys, span=span)
        columns = {plain: Column(f.name, f.type) for f, plain in fields}
        return Block((occurrence,), (), columns)

    def _fresh(self, name: str) -> str:
        """A name no other occurrence has: a view may occur twice with the same aliases inside."""
        number = 1
        fresh = name
        while fresh in self.names:
            number += 1
            fresh = f"{name}_{number}"
        self.names.add(fresh)
        return fresh

    def _declare(self, table: TableDeclaration, use: str, prefix: str) -> None:
        self.tables.append((use, prefix, table))
        times = [table.event_time.column] if table.event_time else []
        orders = [c.column for c in (*table.ordered, *table.clustered)]
        parents = [
            c
            for r in self.catalog.references
            for side, cs in ((r.parent, r.parent_columns), (r.child, r.child_columns))
            if side == table.name
            for c in cs
        ]
        self.ordered |= {f"{prefix}.{name}" for name in (*times, *orders, *parents)}

    def _join(self, plan: Join) -> Block:
        left, right = self.block(plan.left), self.block(plan.right)
        both = Block(
            (*left.uses, *right.uses),
            (*left.conditions, *right.conditions),
            {**left.columns, **right.columns},
            (*left.caveats, *right.caveats),
            (*left.given, *right.given),
        )
        joined = _where(both, plan.predicate)
        if plan.kind is JoinKind.INNER:
            return joined
        if plan.kind is JoinKind.SEMI and self.distinct:
            return replace(joined, columns=left.columns)
        raise OutsideError(_JOINS[plan.kind], plan.span)

    def _looked_up(self, plan: NrrJoin) -> Block:
        """A lookup in an NRR adds columns to a row when it arrives; nothing has to wait for it."""
        block = self.block(plan.input)
        if len(block.uses) != 1 or plan.kind not in (JoinKind.INNER, JoinKind.LEFT):
            raise OutsideError("an NRR is looked up by results of a join", plan.span)
        (use,) = block.uses
        left = plan.kind is JoinKind.LEFT
        fields = tuple(
            replace(f, name=f"{plan.alias}.{f.name}", nullable=f.nullable or left)
            for f in plan.schema
        )
        table = self.catalog.tables.get(plan.name)
        if table and not left:
            self._declare(table, use.name, plan.alias)
        self.owner |= {f.name: use.name for f in fields}
        wider = replace(use, attributes=(*use.attributes, *map(_attribute, fields)))
        columns = {**block.columns, **{f.name: Column(f.name, f.type) for f in fields}}
        note = f"only values that {plan.name} holds are looked up"
        found = Block(
            (wider,), block.conditions, columns, (*block.caveats, note), (*block.given, plan.name)
        )
        return found if left else _where(found, plan.predicate)


_JOINS = {
    JoinKind.LEFT: "an outer join takes results back",
    JoinKind.FULL: "an outer join takes results back",
    JoinKind.ANTI: "the absence of partners is asked for",
    JoinKind.SEMI: "a semijoin with duplicates is not a join of all partners",
    JoinKind.INNER: "",
}


def _outside(plan: Relation) -> str:
    match plan:
        case Session():
            return "a session window"
        case Range() | Rows():
            return "a window that bounds state but not results, or one for every partition"
        case Values():
            return "constant rows"
        case Distinct():
            return "duplicates are removed inside the query only"
        case Aggregate():
            return "an aggregation inside the query"
        case Union() | Except() | Intersect():
            return "a set operation inside the query"
        case Rank():
            return "a ranking"
        case _:
            return "a window over the results of another query"


def _attribute(found: Field) -> Attribute:
    return Attribute(found.name, sort_of(found.type), found.type, found.nullable)


def _renamed(block: Block, alias: str) -> Block:
    return replace(block, columns={f"{alias}.{n}": v for n, v in block.columns.items()})


def _where(block: Block, predicate: Expr) -> Block:
    more = tuple(over(part, block) for part in conjuncts(predicate))
    return replace(block, conditions=(*block.conditions, *more))


def over(expr: Expr, block: Block) -> Expr:
    """An expression over the block's columns as one over its occurrences' attributes."""
    return map_columns(expr, lambda column: _column(column, block))


def _column(column: Column, block: Block) -> Expr:
    found = block.columns.get(column.name)
    if found is None:
        raise OutsideError(f"the time of results ({column.name}) is asked for", column.span)
    return replace(found, span=column.span) if isinstance(found, Column) else found
