"""Relations that do not change while a query runs: ordinary batch DataFrames."""

from __future__ import annotations

from cqlc.algebra.expr import Column
from cqlc.algebra.plan import (
    Distinct,
    Filter,
    Join,
    JoinKind,
    Named,
    NrrJoin,
    Project,
    Relation,
    Rename,
    Table,
    Union,
    Values,
)
from cqlc.algebra.text import node_text
from cqlc.spark.context import Context
from cqlc.spark.expression import name, sql, sql_type
from cqlc.spark.frame import Static
from cqlc.spark.program import (
    Computed,
    Concat,
    Constants,
    Deduplicate,
    How,
    Match,
    ReadTable,
    Select,
    Step,
    Where,
)

_HOW = {
    JoinKind.INNER: How.INNER,
    JoinKind.LEFT: How.LEFT,
    JoinKind.FULL: How.FULL,
    JoinKind.SEMI: How.SEMI,
    JoinKind.ANTI: How.ANTI,
}


def table(ctx: Context, node: Table) -> Static:
    """A declared relation."""
    columns = ctx.columns(node)
    return Static(ReadTable(node.name, tuple(columns), note=node_text(node)), columns)


def nrr(node: NrrJoin) -> Static:
    """The NRR of a join, its columns called as in the join's result."""
    read = ReadTable(node.name, tuple(f.name for f in node.schema), note=node.name)
    names = {f.name: f"{node.alias}.{f.name}" for f in node.schema}
    step = Select(read, tuple(Computed(new, name(old)) for old, new in names.items()))
    return Static(step, {names[f.name]: Column(names[f.name], f.type) for f in node.schema})


def values(ctx: Context, node: Values) -> Static:
    """Constant rows."""
    columns = ctx.columns(node)
    rows = tuple(tuple(sql(value) for value in row) for row in node.rows)
    types = tuple(sql_type(f.type) for f in node.schema)
    return Static(Constants(rows, tuple(columns), types, note=node_text(node)), columns)


def renamed(node: Rename, given: Static) -> Static:
    """The same rows under an alias."""
    return Static(given.step, {f"{node.alias}.{c}": e for c, e in given.columns.items()})


def filtered(node: Filter, given: Static) -> Static:
    """The rows for which the predicate is true."""
    return Static(Where(given.step, given.sql(node.predicate), note=node_text(node)), given.columns)


def projected(ctx: Context, node: Project, given: Static) -> Static:
    """The columns of the projection."""
    return Static(_named(given, node.columns, node_text(node)), ctx.columns(node))


def distinct(ctx: Context, node: Distinct, given: Static) -> Static:
    """Every different row once."""
    columns = ctx.columns(node)
    step = _named(given, ctx.named(node), node_text(node))
    return Static(Deduplicate(step, tuple(columns)), columns)


def union(ctx: Context, node: Union, left: Static, right: Static) -> Static:
    """The rows of both."""
    others = zip(ctx.named(node), ctx.named(node.right), strict=True)
    parts = (
        _named(left, ctx.named(node), node_text(node)),
        _named(right, [Named(a.name, b.value) for a, b in others], node_text(node)),
    )
    return Static(Concat(parts), ctx.columns(node))


def join(ctx: Context, node: Join, left: Static, right: Static) -> Static:
    """The join of two tables."""
    note = node_text(node)
    lefts = _named(left, ctx.named(node.left), note)
    rights = _named(right, ctx.named(node.right), note)
    step = Match(lefts, rights, _HOW[node.kind], sql(node.predicate), note=note)
    return Static(step, ctx.columns(node))


def under_own_names(ctx: Context, node: Relation, given: Static) -> Static:
    """The rows with every column called what the plan calls it."""
    columns = ctx.columns(node)
    if all(isinstance(e, Column) and e.name == c for c, e in given.columns.items()):
        return given
    return Static(_named(given, ctx.named(node), ""), columns)


def _named(given: Static, columns: list[Named] | tuple[Named, ...], note: str) -> Step:
    computed = tuple(Computed(c.name, given.sql(c.value)) for c in columns)
    return Select(given.step, computed, note=note)
