"""The answer of a query as it reaches a sink: a stream, a changelog, or the newest row per key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cqlc.algebra.expr import Column, Expr, type_of
from cqlc.algebra.plan import Aggregate, Filter, Project, Relation, Rename, Stream
from cqlc.algebra.schema import TIME, Schema
from cqlc.algebra.text import node_text
from cqlc.algebra.walk import map_columns
from cqlc.analysis.update_pattern import UpdatePattern
from cqlc.spark.aggregation import inputs_of, keys_of, one_stage, task_of
from cqlc.spark.context import Context, computed
from cqlc.spark.expression import name, sql
from cqlc.spark.frame import Branch, Clockwork, Life, Moment, Rows
from cqlc.spark.netting import concat
from cqlc.spark.program import Computed, Constants, Delivery, Select, Step, step_columns

OP = "_op"
"""The column that says whether a row comes (+) or goes (-)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows for the sink, and how they are to be read."""

    step: Step
    columns: Schema
    delivery: Delivery
    key: tuple[str, ...] | None = None


def stream_answer(ctx: Context, plan: Stream, rows: Rows) -> Answer:
    """A stream: its rows with their time, which is their last column."""
    columns = ctx.named(plan)

    def shown(branch: Branch) -> Step:
        wanted = computed(branch, columns)
        same = all(c.sql == name(c.name) for c in wanted)
        if same and tuple(c.name for c in wanted) == step_columns(branch.step):
            return branch.step
        return Select(branch.step, wanted, note=node_text(plan))

    return Answer(concat(map(shown, rows)), ctx.schemas[id(plan)][:-1], Delivery.STREAM)


def changelog_answer(ctx: Context, plan: Relation, rows: Rows) -> Answer:
    """A relation: each row when it comes and, where it goes, when it goes."""
    columns = ctx.named(plan)
    note = node_text(plan)

    def shown(branch: Branch) -> Step:
        life = branch.life
        values = computed(branch, columns)
        if life.gone is None:
            new = (Computed(OP, "'+'"), Computed(TIME, life.since.sql))
            return Select(branch.step, (*values, *new), note=note)
        change = ctx.fresh("_change")
        came = f"struct('+' AS op, {life.since.sql} AS t)"
        went = f"struct('-' AS op, {life.gone.sql} AS t)"
        both = Computed(change, f"explode(array({came}, {went}))")
        spread = Select(branch.step, (*values, both), note=note)
        again = tuple(Computed(c.name, name(c.name)) for c in columns)
        parts = (Computed(OP, f"{name(change)}.op"), Computed(TIME, f"{name(change)}.t"))
        return Select(spread, (*again, *parts))

    return Answer(concat(map(shown, rows)), ctx.schemas[id(plan)], Delivery.CHANGELOG)


def running_aggregate(ctx: Context, plan: Relation) -> Aggregate | None:
    """The aggregation over growing input that an answer is read off row by row, if it is so."""
    node = plan
    while isinstance(node, Project | Filter | Rename):
        node = node.input
    if not isinstance(node, Aggregate):
        return None
    growing = ctx.output(node.input).pattern is UpdatePattern.MONOTONIC
    return node if growing else None


def upsert_answer(ctx: Context, plan: Relation, node: Aggregate, rows: Rows) -> Answer | None:
    """The newest result of each group; None if the answer does not show the group's key.

    A group that a HAVING or an outer WHERE leaves out is marked as gone.
    """
    shown, kept = _read_off(plan, node, ctx.columns(node))
    names = {k.name for k in node.keys}
    key = {n: e.name for n, e in shown.items() if isinstance(e, Column) and e.name in names}
    if set(key.values()) != names:
        return None
    groups = _groups(ctx, node, rows)
    if groups is None:
        return Answer(Constants((), ()), (), Delivery.UPSERT)
    there = " AND ".join(f"({sql(p)})" for p in kept)
    op = Computed(OP, f"if({there}, '+', '-')" if kept else "'+'")
    wanted = tuple(Computed(n, sql(e)) for n, e in shown.items())
    step = Select(groups, (*wanted, op), note=node_text(plan))
    return Answer(step, ctx.schemas[id(plan)], Delivery.UPSERT, tuple(key))


def _groups(ctx: Context, node: Aggregate, rows: Rows) -> Step | None:
    """The aggregates of all rows so far."""
    columns, names = inputs_of(ctx, node, node.keys)
    time = ctx.fresh("_time")
    given = concat(
        Select(b.step, (*computed(b, columns), Computed(time, b.life.time.sql))) for b in rows
    )
    moment = Moment(time)
    united = Branch(
        given,
        {c.name: Column(c.name, type_of(c.value)) for c in columns},
        Life(moment, None, None, moment),
        Clockwork(time),
    )
    task = task_of(ctx, node, united, names)
    if task is None:
        return None
    grouped, values = one_stage(ctx, given, task, None)
    return Select(grouped, (*keys_of(node, task), *values))


def _read_off(
    plan: Relation, node: Aggregate, columns: Mapping[str, Expr]
) -> tuple[Mapping[str, Expr], list[Expr]]:
    """The columns of `plan`, and the predicates its rows satisfy, in terms of those of `node`."""
    if plan is node or not isinstance(plan, Rename | Filter | Project):
        return columns, []
    shown, kept = _read_off(plan.input, node, columns)

    def value(expr: Expr) -> Expr:
        return map_columns(expr, lambda column: shown[column.name])

    match plan:
        case Rename(_, alias):
            return {f"{alias}.{c}": e for c, e in shown.items()}, kept
        case Filter(_, predicate):
            return shown, [*kept, value(predicate)]
        case Project():
            return {c.name: value(c.value) for c in plan.columns}, kept
