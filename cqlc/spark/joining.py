"""Joins: of windows by the overlap of lifetimes, of periods by their beginning, and with tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cqlc.algebra.expr import Compare, Comparison, Expr
from cqlc.algebra.plan import Grid, Join, JoinKind, NrrJoin, Relation
from cqlc.algebra.text import node_text
from cqlc.algebra.walk import columns as columns_of
from cqlc.algebra.walk import conjuncts, map_columns
from cqlc.analysis.update_pattern import Edge
from cqlc.spark.context import Context
from cqlc.spark.expression import name, sql
from cqlc.spark.frame import Branch, Clockwork, Life, Moment, Rows, Static, shifted
from cqlc.spark.program import Computed, How, Match, Select, Step, Where, step_columns

_HOW = {
    JoinKind.INNER: How.INNER,
    JoinKind.LEFT: How.LEFT,
    JoinKind.FULL: How.FULL,
    JoinKind.SEMI: How.SEMI,
}


def join(ctx: Context, node: Join, left: Rows, right: Rows) -> Rows:
    """The join of two relations that change."""
    grid = _single_periods(ctx.state(node.left), ctx.state(node.right))
    if node.kind is JoinKind.INNER:
        left, right, rest = _filtered(ctx, node, left, right)
        if grid is not None:
            return (_by_period(ctx, node, left, right, rest),)
        if not any(_equates(part, ctx.columns(node.left)) for part in rest):
            return ctx.needs_strict(node, "Spark joins streams by an equality only")
        return (_by_overlap(ctx, node, left, right, rest),)
    edges = (ctx.output(node.left), ctx.output(node.right))
    if edges[0].grid is None or edges[0].grid != edges[1].grid:
        return ctx.needs_strict(node, "rows without a partner may find one later, and lose it")
    return (_by_period(ctx, node, left, right, conjuncts(node.predicate)),)


def _single_periods(left: Edge, right: Edge) -> Grid | None:
    """The grid of which all rows of both sides live for one period, if there is one."""
    one = left.grid is not None and left.lifetime == left.grid.period
    return left.grid if one and (left.grid, left.lifetime) == (right.grid, right.lifetime) else None


def _filtered(ctx: Context, node: Join, left: Rows, right: Rows) -> tuple[Rows, Rows, list[Expr]]:
    """The sides without the rows that cannot match, and what is left of the predicate."""
    lefts, rights = ctx.columns(node.left), ctx.columns(node.right)
    rest: list[Expr] = []
    for part in conjuncts(node.predicate):
        if columns_of(part) <= lefts.keys():
            left = tuple(b.where(part, node_text(node)) for b in left)
        elif columns_of(part) <= rights.keys():
            right = tuple(b.where(part, node_text(node)) for b in right)
        else:
            rest.append(part)
    return left, right, rest


def _equates(part: Expr, left: Iterable[str]) -> bool:
    """Whether a predicate asks that something on the left equals something on the right."""
    if not isinstance(part, Compare) or part.op not in (Comparison.EQ, Comparison.SAME):
        return False
    names = set(left)
    one, other = columns_of(part.left), columns_of(part.right)
    return bool(one and other) and (
        (one <= names and not other & names) or (other <= names and not one & names)
    )


# ---------------------------------------------------------------------------------- lifetimes


def _by_overlap(ctx: Context, node: Join, left: Rows, right: Rows, predicate: list[Expr]) -> Branch:
    """The pairs whose lifetimes overlap; a pair lives while both of its rows do."""
    note = node_text(node)
    one = ctx.united(left, ctx.named(node.left), note)
    two = ctx.united(right, ctx.named(node.right), note)
    meets = [*_alive(one, two), *_alive(two, one)]
    condition = " AND ".join(dict.fromkeys((*map(_text, predicate), *meets)))
    matched = Match(one.step, two.step, How.INNER, condition, note=note)
    return _paired(ctx, node, matched, one, two)


def _alive(one: Branch, other: Branch) -> Iterable[str]:
    """That `one` begins while `other` is alive; and what follows from it for event times.

    Spark drops a row from its state when no row to come can match it. It finds that out from
    conditions on the event time columns themselves.
    """
    if other.life.until is not None:
        yield f"{one.life.since.sql} < {other.life.until.sql}"
    if other.clock.longest is not None:
        end = shifted(name(other.clock.column), other.clock.longest)
        yield f"{name(one.clock.column)} < {end}"


def _paired(ctx: Context, node: Join, matched: Step, one: Branch, two: Branch) -> Branch:
    """The pairs with their common lifetime in columns."""
    since, until, gone, time = (ctx.fresh(n) for n in ("_since", "_until", "_gone", "_time"))
    a, b = one.life, two.life
    hidden = [Computed(since, f"greatest({a.since.sql}, {b.since.sql})")]
    external = (a.until, b.until) == (a.gone, b.gone)
    for column, moments in ((until, (a.until, b.until)), (gone, (a.gone, b.gone))):
        known = [m.sql for m in moments if m is not None]
        if known and not (external and column == gone):
            hidden.append(Computed(column, f"least({', '.join(known)})" if known[1:] else known[0]))
    if ctx.with_times:
        hidden.append(Computed(time, f"greatest({a.time.sql}, {b.time.sql})"))
    shown = tuple(Computed(n, name(n)) for n in ctx.columns(node))
    computed = {c.name for c in hidden}
    end = Moment(until) if until in computed else None
    return Branch(
        Select(matched, (*shown, *hidden)),
        ctx.columns(node),
        Life(
            Moment(since),
            end,
            end if external else Moment(gone) if gone in computed else None,
            Moment(time if ctx.with_times else since),
        ),
        Clockwork(since, 0, ctx.state(node).lifetime if a.until or b.until else None),
    )


# ------------------------------------------------------------------------------------ periods


def _by_period(
    ctx: Context, node: Join, left: Rows, right: Rows, predicate: Iterable[Expr]
) -> Branch:
    """The join of every period of the grid by itself."""
    note = node_text(node)
    one, grid = ctx.in_cells(left, ctx.output(node.left), ctx.named(node.left), note)
    two, _ = ctx.in_cells(right, ctx.output(node.right), ctx.named(node.right), note)
    begin, other = one.life.since.column, two.life.since.column
    condition = " AND ".join((f"{name(begin)} = {name(other)}", *map(_text, predicate)))
    at, marker = ctx.fresh("_at"), ctx.fresh("_matched")
    rights = two.step
    if node.kind is JoinKind.ANTI:
        # Spark has no anti-join of streams: rows without a partner are those of an outer join.
        kept = (*two.columns, other)
        columns = (Computed(c, name(c), event_time=c == other) for c in kept)
        rights = Select(two.step, (*columns, Computed(marker, "TRUE")))
    how = How.LEFT if node.kind is JoinKind.ANTI else _HOW[node.kind]
    matched: Step = Match(one.step, rights, how, condition, note=note)
    if node.kind is JoinKind.ANTI:
        matched = Where(matched, f"{name(marker)} IS NULL")
    start = name(begin)
    if node.kind is JoinKind.FULL:
        start = f"coalesce({start}, {name(other)})"
    times = Computed(at, start)
    shown = tuple(Computed(n, name(n)) for n in ctx.columns(node))
    time = _time_of_pair(ctx, node, one, two)
    step = Select(matched, (*shown, times, *time))
    life = ctx.cell(at, grid, time[0].name if time else at)
    return Branch(step, ctx.columns(node), life, Clockwork(at, 0, grid.period))


def _time_of_pair(ctx: Context, node: Join, one: Branch, two: Branch) -> tuple[Computed, ...]:
    if not ctx.with_times:
        return ()
    times = [one.life.time.sql]
    if node.kind not in (JoinKind.SEMI, JoinKind.ANTI):
        times.append(two.life.time.sql)
    return (Computed(ctx.fresh("_time"), f"greatest({', '.join((*times, *times))})"),)


# ------------------------------------------------------------------------------------- tables


def lookup(ctx: Context, node: Join | NrrJoin, given: Relation, rows: Rows, table: Static) -> Rows:
    """Each row joined with the rows a table has when the row is processed."""
    note = node_text(node)
    rights = frozenset(step_columns(table.step))

    def looked_up(branch: Branch) -> Branch:
        if rights & frozenset(step_columns(branch.step)):
            branch = ctx.selected(branch, ctx.named(given), note)
        columns = {**branch.columns, **table.columns}
        condition = sql(map_columns(node.predicate, lambda column: columns[column.name]))
        how = How.ANTI if node.kind is JoinKind.ANTI else _HOW[node.kind]
        step = Match(branch.step, table.step, how, condition, note=note)
        one_sided = node.kind in (JoinKind.SEMI, JoinKind.ANTI)
        return replace(branch, step=step, columns=branch.columns if one_sided else columns)

    return tuple(map(looked_up, rows))


def _text(predicate: Expr) -> str:
    return f"({sql(predicate)})"
