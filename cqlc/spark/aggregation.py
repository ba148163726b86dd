"""Aggregates over SLIDE windows, over NOW and over sessions.

A SLIDE window is aggregated in two stages: first the panes that all its positions share, then each
position from its panes. Everything else is grouped by period, instant or session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from cqlc.algebra.expr import AggregateCall
from cqlc.algebra.plan import Aggregate, Distinct, Grid, Named
from cqlc.algebra.text import aggregate_text, node_text
from cqlc.algebra.walk import columns as columns_of
from cqlc.codes import spark as codes
from cqlc.diagnostics import Diagnostic, Label
from cqlc.functions import AGGREGATES
from cqlc.spark.aggregates import Recipe, recipe, youngest
from cqlc.spark.context import Context
from cqlc.spark.expression import name
from cqlc.spark.frame import Branch, Clockwork, Rows, shifted
from cqlc.spark.program import (
    Computed,
    Group,
    Select,
    SessionWindow,
    Step,
    TimeWindow,
)

IN_ORDER = frozenset(("FIRST", "LAST", "ANY_VALUE", "COLLECT_LIST", "STRING_AGG"))
"""The aggregates that ask for the times of rows."""

_FEWEST_PANES = 3
"""From so many panes to a window on, two stages are cheaper than one."""


@dataclass(frozen=True, slots=True)
class Task:
    """An aggregation over the columns of one DataFrame: what its keys are called there, and how
    each column of the result is computed."""

    keys: tuple[str, ...]
    recipes: tuple[tuple[str, Recipe], ...]
    note: str


def distinct(ctx: Context, node: Distinct, rows: Rows) -> Rows:
    """Duplicate elimination: grouping by all columns."""
    groups = Aggregate(node.input, ctx.named(node), (), span=node.span)
    return aggregate(ctx, ctx.standing_for(node, groups), rows)


def aggregate(ctx: Context, node: Aggregate, rows: Rows) -> Rows:
    """The groups of every period of the input's grid."""
    edge = ctx.output(node.input)
    assert edge.grid is not None
    columns, names = inputs_of(ctx, node, node.keys)
    window = _common_window(rows)
    if window is not None:
        united = ctx.united(rows, columns, node_text(node))
        task = task_of(ctx, node, united, names)
        return _windowed(ctx, node, united, task, *window) if task else ctx.refuse(node)
    cells, grid = ctx.in_cells(rows, edge, columns, node_text(node))
    task = task_of(ctx, node, cells, names)
    return _per_cell(ctx, node, cells, task, grid) if task else ctx.refuse(node)


def inputs_of(
    ctx: Context, node: Aggregate, grouped_by: Sequence[Named]
) -> tuple[tuple[Named, ...], dict[str, str]]:
    """The columns the aggregation reads: the keys, and what its aggregates are computed from.

    A key is called what it is called in the result, unless an aggregate reads a column of that
    name; the second result says what each key is called.
    """
    read = sorted({c for a in node.aggregates for c in columns_of(a.value)})
    given = ctx.columns(node.input)
    names = {k.name: ctx.fresh(k.name) if k.name in read else k.name for k in grouped_by}
    keys = tuple(Named(names[k.name], k.value) for k in grouped_by)
    return (*keys, *(Named(c, given[c]) for c in read)), names


def task_of(ctx: Context, node: Aggregate, given: Branch, names: Mapping[str, str]) -> Task | None:
    """How the aggregation is done over `given`; None, with findings, if Spark cannot."""
    time = given.life.time.sql
    found = [(a, recipe(a.value, given.sql, time)) for a in node.aggregates]
    ctx.diagnostics += (_no_recipe(a.value) for a, made in found if made is None)
    recipes = [(a.name, made) for a, made in found if made is not None]
    if len(recipes) < len(found):
        return None
    if ctx.with_times:
        recipes.append((ctx.fresh("_time"), youngest(time)))
    return Task(tuple(names.values()), tuple(recipes), node_text(node))


def _no_recipe(call: AggregateCall) -> Diagnostic:
    known = call.function in AGGREGATES
    return Diagnostic(
        codes.NO_SPARK_AGGREGATE,
        f"Spark has no exact counterpart of {aggregate_text(call)} on a stream",
        Label(call.span, "of different values only" if known else "declared with CREATE FUNCTION"),
        help="COUNT, SUM, AVG, MIN and MAX take DISTINCT"
        if known
        else "use one of the built-in aggregates",
    )


def _common_window(rows: Rows) -> tuple[int, Grid] | None:
    """The length and grid of the SLIDE window that all rows are in, if there is one."""
    found: set[tuple[int, Grid]] = set()
    for branch in rows:
        since, gone = branch.life.since, branch.life.gone
        on_clock = since.column == branch.clock.column and since.plus == 0
        if gone is None or since.grid is None or not on_clock:
            return None
        if (gone.column, gone.grid) != (since.column, since.grid) or gone.plus < since.grid.period:
            return None
        found.add((gone.plus, since.grid))
    return next(iter(found)) if len(found) == 1 else None


# ------------------------------------------------------------------------------------- stages


def _windowed(
    ctx: Context, node: Aggregate, given: Branch, task: Task, length: int, grid: Grid
) -> Rows:
    """Windows of `length` that end at the boundaries of the grid."""
    window = ctx.fresh("_window")
    at = ctx.fresh("_at")
    start = (grid.offset - length) % grid.period
    final = TimeWindow(given.clock.column, length, grid.period, start, window)
    merged = length // grid.period >= _FEWEST_PANES and all(r.merges for _, r in task.recipes)
    if merged:
        pane = gcd(length, grid.period)
        grouped, values = _two_stages(ctx, given, task, final, pane, grid.offset % pane)
    else:
        grouped, values = one_stage(ctx, given.step, task, final)
    end = Computed(at, f"{name(window)}.end")
    return (result(ctx, node, grouped, (*keys_of(node, task), *values, end), at, grid),)


def _per_cell(ctx: Context, node: Aggregate, given: Branch, task: Task, grid: Grid) -> Rows:
    at = given.life.since.column
    keyed = Task((*task.keys, at), task.recipes, task.note)
    grouped, values = one_stage(ctx, given.step, keyed, None)
    shown = (*keys_of(node, task), *values, Computed(at, name(at)))
    return (result(ctx, node, grouped, shown, at, grid),)


def one_stage(
    ctx: Context, given: Step, task: Task, window: TimeWindow | SessionWindow | None
) -> tuple[Step, tuple[Computed, ...]]:
    """All rows of a group at once: the groups, and the aggregates' values."""
    kept: list[Computed] = []
    values: list[Computed] = []
    for column, found in task.recipes:
        if found.direct is not None:
            kept.append(Computed(column, found.direct))
            values.append(Computed(column, name(column)))
            continue
        parts = [ctx.fresh(f"{column}_of") for _ in found.partials]
        kept += (Computed(n, p.of_rows) for n, p in zip(parts, found.partials, strict=True))
        values.append(Computed(column, found.value([name(n) for n in parts])))
    return Group(given, task.keys, tuple(kept), window, note=task.note), tuple(values)


def _two_stages(
    ctx: Context, given: Branch, task: Task, window: TimeWindow, pane: int, start: int
) -> tuple[Step, tuple[Computed, ...]]:
    """Panes first, then windows of panes."""
    panes, moment = ctx.fresh("_pane"), ctx.fresh("_moment")
    kept: list[Computed] = []
    merged: list[Computed] = []
    values: list[Computed] = []
    for column, found in task.recipes:
        names = [ctx.fresh(f"{column}_of") for _ in found.partials]
        for part, partial in zip(names, found.partials, strict=True):
            assert partial.of_panes is not None
            kept.append(Computed(part, partial.of_rows))
            merged.append(Computed(part, partial.of_panes(name(part))))
        values.append(Computed(column, found.value([name(n) for n in names])))
    cut = TimeWindow(given.clock.column, pane, pane, start, panes)
    first = Group(given.step, task.keys, tuple(kept), cut, note=task.note)
    shown = tuple(Computed(n, name(n)) for n in (*task.keys, *(c.name for c in kept)))
    last = Computed(moment, shifted(f"{name(panes)}.end", -1), event_time=True)
    middle = Select(first, (*shown, last))
    over = TimeWindow(moment, window.length, window.slide, window.start, window.name)
    return Group(middle, task.keys, tuple(merged), over, note=task.note), tuple(values)


def result(
    ctx: Context, node: Aggregate, grouped: Step, shown: tuple[Computed, ...], at: str, grid: Grid
) -> Branch:
    """The groups under the names of the result, each alive for one period from `at` on."""
    names = {column.name for column in shown}
    latest = names - {at, *(f.name for f in ctx.schemas[id(node)])}
    life = ctx.cell(at, grid, next(iter(latest), at))
    return Branch(Select(grouped, shown), ctx.columns(node), life, Clockwork(at, 0, grid.period))


def keys_of(node: Aggregate, task: Task) -> tuple[Computed, ...]:
    """The keys under the names of the result."""
    return tuple(Computed(k.name, name(n)) for k, n in zip(node.keys, task.keys, strict=True))
