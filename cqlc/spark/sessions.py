"""Session windows: rows that follow each other closely, shown together when the session is over."""

from __future__ import annotations

from dataclasses import replace

from cqlc.algebra.expr import Column
from cqlc.algebra.plan import Aggregate, Grid, Relation, Rename, Session
from cqlc.algebra.text import node_text
from cqlc.algebra.walk import columns as columns_of
from cqlc.datatypes import TIMESTAMP
from cqlc.spark.aggregation import inputs_of, keys_of, one_stage, result, task_of
from cqlc.spark.context import Context
from cqlc.spark.expression import name
from cqlc.spark.frame import Branch, Clockwork, Rows, shifted
from cqlc.spark.program import Computed, Group, Select, SessionWindow, Step

_START, _END = "session_start", "session_end"


def session(ctx: Context, node: Session, rows: Rows) -> Rows:
    """The rows of each session, collected and shown again at its end."""
    note = node_text(node)
    columns = ctx.named(node.input)
    given = ctx.united(rows, columns, note)
    window, row, at = ctx.fresh("_session"), ctx.fresh("_row"), ctx.fresh("_at")
    fields = ", ".join(name(n) for n in (*(c.name for c in columns), given.life.time.column))
    kept = Computed(row, f"collect_list(struct({fields}))")
    step, keys = _keyed(ctx, given, node.partition)
    spec = SessionWindow(given.clock.column, node.gap - 1, window)
    grouped = Group(step, keys, (kept,), spec, note=note)
    end = Computed(at, shifted(f"{name(window)}.end", 1))
    start = Computed(_START, f"{name(window)}.start")
    again = Computed(row, f"explode({name(row)})")
    spread = Select(grouped, (start, end, again))
    time = ctx.fresh("_time")
    shown = tuple(Computed(c.name, f"{name(row)}.{name(c.name)}") for c in columns)
    hidden = (
        Computed(_START, name(_START)),
        Computed(_END, name(at)),
        Computed(at, name(at)),
        Computed(time, f"{name(row)}.{name(given.life.time.column)}"),
    )
    life = ctx.cell(at, Grid(ctx.tick), time)
    return (Branch(Select(spread, (*shown, *hidden)), ctx.columns(node), life, Clockwork(at)),)


def session_of(node: Aggregate) -> tuple[Session, str] | None:
    """The session window whose sessions are the groups of an aggregation, if that is so.

    Then the rows need not be collected first: each key is a column of the partition or an end of
    the session, and all columns of the partition are keys. With it comes the prefix that the
    window's columns have in the aggregation.
    """
    relation: Relation = node.input
    prefix = ""
    while isinstance(relation, Rename):
        prefix = f"{relation.alias}.{prefix}"
        relation = relation.input
    if not isinstance(relation, Session):
        return None
    partition = {prefix + c for c in relation.partition}
    ends = {prefix + _START, prefix + _END}
    keys = {k.value.name for k in node.keys if isinstance(k.value, Column)}
    plain = len(keys) == len(node.keys) and partition <= keys <= partition | ends
    reads_ends = any(columns_of(a.value) & ends for a in node.aggregates)
    return (relation, prefix) if plain and not reads_ends else None


def aggregate_sessions(
    ctx: Context, node: Aggregate, window: Session, prefix: str, rows: Rows
) -> Rows:
    """The aggregates of each session, at its end."""
    ends = (prefix + _START, prefix + _END)
    shown = [k for k in node.keys if isinstance(k.value, Column) and k.value.name in ends]
    grouped_by = replace(node, keys=tuple(k for k in node.keys if k not in shown))
    columns, names = inputs_of(ctx, node, grouped_by.keys)
    aliased = tuple(
        replace(b, columns={prefix + c: value for c, value in b.columns.items()}) for b in rows
    )
    given = ctx.united(aliased, columns, node_text(window))
    task = task_of(ctx, grouped_by, given, names)
    if task is None:
        return ctx.refuse(node)
    spec = SessionWindow(given.clock.column, window.gap - 1, ctx.fresh("_session"))
    step, keys = _keyed(ctx, given, task.keys)
    grouped, values = one_stage(ctx, step, replace(task, keys=keys), spec)
    at = ctx.fresh("_at")
    end = shifted(f"{name(spec.name)}.end", 1)
    start = f"{name(spec.name)}.start"
    times = tuple(
        Computed(k.name, start if k.value == Column(ends[0], TIMESTAMP) else end) for k in shown
    )
    found = (*keys_of(grouped_by, task), *times, *values, Computed(at, end))
    return (result(ctx, node, grouped, found, at, Grid(ctx.tick)),)


def _keyed(ctx: Context, given: Branch, partition: tuple[str, ...]) -> tuple[Step, tuple[str, ...]]:
    """Spark wants sessions to have a key: without a partition they all have the same one."""
    if partition:
        return given.step, partition
    key = ctx.fresh("_all")
    shown = tuple(
        Computed(c, name(c), event_time=c == given.clock.column)
        for c in (*given.columns, *given.hidden)
    )
    same = Computed(key, f"pmod(hash({name(given.clock.column)}), 1)")
    return Select(given.step, (*shown, same)), (key,)
