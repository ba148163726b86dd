"""Streams: declared ones, and what ISTREAM, DSTREAM and RSTREAM make of relations."""

from __future__ import annotations

from dataclasses import replace

from cqlc.algebra.plan import (
    Dstream,
    EveryChange,
    Grid,
    Istream,
    IstreamRestore,
    Plan,
    Rstream,
    RstreamRestore,
    Scan,
)
from cqlc.algebra.schema import TIME
from cqlc.algebra.text import node_text
from cqlc.analysis.update_pattern import Edge
from cqlc.catalog import EventTime
from cqlc.codes import spark as codes
from cqlc.diagnostics import Diagnostic, Label
from cqlc.spark.context import Context
from cqlc.spark.expression import interval, name
from cqlc.spark.frame import Branch, Clockwork, Life, Moment, Rows, shifted, up
from cqlc.spark.netting import Change, changes, concat, repeated, stream_at, stream_of
from cqlc.spark.program import Computed, Group, ReadStream, Select, Step

_MILLISECOND = 1000
"""Spark's watermark is in milliseconds, and what equals it counts as late."""


def scan(ctx: Context, node: Scan) -> Rows:
    """A declared stream; its watermark stays `slack` behind the newest row."""
    declared = ctx.catalog.tables.get(node.name)
    event_time = declared.event_time if declared else None
    slack = (event_time or EventTime(TIME)).slack
    delay = -(-slack // _MILLISECOND) * _MILLISECOND + _MILLISECOND
    columns = ctx.columns(node)
    step = ReadStream(node.name, tuple(columns), note=node_text(node))
    moment = Moment(TIME)
    return (Branch(step, columns, Life(moment, None, None, moment), Clockwork(TIME, delay=delay)),)


def istream(ctx: Context, node: Istream, rows: Rows) -> Rows:
    """The rows a relation gains."""
    return changes(ctx, node.input, rows, Change.GAINED, node_text(node))


def dstream(ctx: Context, node: Dstream, rows: Rows) -> Rows:
    """The rows a relation loses."""
    if any(branch.life.gone for branch in rows):
        return changes(ctx, node.input, rows, Change.LOST, node_text(node))
    return ctx.refuse(
        node,
        Diagnostic(
            codes.NOTHING_LEAVES,
            "this DSTREAM is empty: no row ever leaves its relation",
            Label(node.span, "every row stays for ever"),
            help="give the streams a window, such as [RANGE 10 MINUTES]",
        ),
    )


def rstream(ctx: Context, node: Rstream, rows: Rows) -> Rows:
    """All rows of a relation at every tick of the clock."""
    clock = ctx.clock if isinstance(node.clock, EveryChange) else node.clock
    edge = ctx.output(node.input)
    columns = ctx.named(node.input)
    note = node_text(node)
    if _once(edge, clock if isinstance(clock, Grid) else Grid(ctx.tick)):
        return tuple(stream_at(ctx, b, b.life.since, columns, note) for b in rows)
    if not isinstance(clock, Grid):
        return ctx.needs_strict(node, "all rows are repeated whenever one of them changes")
    if any(branch.life.gone is None for branch in rows):
        return ctx.needs_strict(node, "rows that stay for ever are repeated at every tick")
    return tuple(stream_of(ctx, b, _ticks(b.life, clock), columns, note) for b in rows)


def _once(edge: Edge, clock: Grid) -> bool:
    """Whether the clock ticks exactly once in every row's life, at its beginning."""
    return edge.grid == clock and edge.lifetime == clock.period


def _ticks(life: Life, clock: Grid) -> str:
    """The ticks of a clock in a lifetime, as rows."""
    assert life.gone is not None
    first = up(shifted(life.since.sql, -1), clock)
    last = shifted(life.gone.sql, -1)
    ticks = f"sequence({first}, {last}, {interval(clock.period)})"
    return f"explode(if({first} <= {last}, {ticks}, array()))"


def istream_restore(ctx: Context, node: IstreamRestore, rows: Rows) -> Rows:
    """What the continuous query gains, each row held to the next boundary."""
    note = node_text(node)
    gained = changes(ctx, node.continuous, rows, Change.GAINED, note)
    moment = Moment(TIME, grid=node.grid)
    return tuple(stream_at(ctx, b, moment, ctx.named(node.continuous), note) for b in gained)


def rstream_restore(ctx: Context, node: RstreamRestore, sampled: Rows, continuous: Rows) -> Rows:
    """At every boundary the sampled rows, and those that lived and died since the last one.

    A row that is there as often as it has come since the last boundary is not reported again: so
    of each row there are as many as there are sampled or held, whichever is more.
    """
    note = node_text(node)
    columns = ctx.named(node)[:-1]
    names = tuple(c.name for c in columns)
    gained = changes(ctx, node.continuous, continuous, Change.GAINED, note)
    held = tuple(
        stream_at(ctx, b, Moment(TIME, grid=node.grid), ctx.named(node.continuous), note)
        for b in gained
    )
    shown = rstream(ctx, Rstream(node.sampled, node.grid, span=node.span), sampled)
    counts = ctx.fresh("_sampled"), ctx.fresh("_held")

    def tagged(branch: Branch, mine: str, other: str) -> Step:
        pairs = zip(names, list(branch.columns)[:-1], strict=True)
        values = tuple(Computed(n, name(c)) for n, c in pairs)
        tags = (Computed(mine, "1"), Computed(other, "0"))
        return Select(branch.timed, (*values, Computed(TIME, name(TIME), event_time=True), *tags))

    parts = [tagged(b, *counts) for b in shown] + [tagged(b, *reversed(counts)) for b in held]
    sums = tuple(Computed(c, f"sum({name(c)})") for c in counts)
    counted = Group(concat(parts), (*names, TIME), sums, note=note)
    most = f"greatest({', '.join(map(name, counts))})"
    step = repeated(ctx, counted, (*names, TIME), most)
    moment = Moment(TIME)
    return (Branch(step, ctx.columns(node), Life(moment, None, None, moment), Clockwork(TIME)),)


def window(
    ctx: Context, node: Plan, branch: Branch, length: int | None, grid: Grid | None
) -> Branch:
    """The elements of a stream as rows that stay for `length`, or for ever."""
    time = branch.life.since
    since = replace(time, grid=grid)
    until = None if length is None else replace(time, plus=length, grid=grid)
    ahead = branch.clock.ahead + (grid.period if grid else 0)
    longest = None if length is None else ahead + length
    clock = replace(branch.clock, ahead=ahead, longest=longest)
    gone = None if ctx.output(node).lifetime is None else until
    return replace(branch, life=Life(since, until, gone, time), clock=clock)
