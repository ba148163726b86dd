"""The bag difference of ISTREAM and DSTREAM, and other bags that are counted.

Where equal rows can meet, every row is looked at twice, when it comes (+1) and when it goes (-1);
the sums per row and instant say what the relation gained or lost. An instant is finished when
event time passes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

from cqlc.algebra.expr import Column, type_of
from cqlc.algebra.plan import Named, Relation
from cqlc.algebra.schema import TIME
from cqlc.analysis.keys import keys
from cqlc.analysis.netting import unknown_rows
from cqlc.codes import spark as codes
from cqlc.datatypes import TIMESTAMP
from cqlc.diagnostics import Diagnostic, Label
from cqlc.spark.context import Context, computed
from cqlc.spark.expression import name
from cqlc.spark.frame import Branch, Clockwork, Life, Moment, Rows
from cqlc.spark.program import Computed, Concat, Group, Select, Step, Where


class Change(IntEnum):
    """Which half of a relation's changes is wanted."""

    GAINED = 1
    LOST = -1


def changes(ctx: Context, relation: Relation, rows: Rows, wanted: Change, note: str) -> Rows:
    """The rows a relation gains or loses, as a stream."""
    columns = ctx.named(relation)
    meeting = unknown_rows(relation, ctx.catalog)
    if meeting:
        ctx.diagnostics.append(
            Diagnostic(
                codes.NETTING,
                "a row may leave at the instant an equal one arrives: such pairs are netted",
                Label(relation.span, "this takes one more aggregation"),
                related=tuple(Label(m.span, "rows that cannot be told apart") for m in meeting),
                help="select the time or a key of every window, or use RSTREAM, to do without",
            )
        )
        return (_netted(ctx, relation, rows, wanted, note),)
    if wanted is Change.GAINED:
        return tuple(stream_at(ctx, b, b.life.since, columns, note) for b in rows)
    return tuple(stream_at(ctx, b, b.life.gone, columns, note) for b in rows if b.life.gone)


def stream_at(
    ctx: Context, branch: Branch, moment: Moment, columns: Sequence[Named], note: str
) -> Branch:
    """The rows as elements of a stream at the given moments of theirs."""
    return stream_of(ctx, branch, moment.sql, columns, note)


def stream_of(
    ctx: Context, branch: Branch, times: str, columns: Sequence[Named], note: str
) -> Branch:
    """The rows as elements of a stream; `times` is SQL, and may be an explode().

    No time may be before the branch's event time.
    """
    clock = branch.clock
    shown = (*computed(branch, columns), Computed(TIME, times))
    if clock.delay is None or times == name(clock.column):
        moved = Clockwork(TIME, delay=clock.delay)
    else:
        kept = ctx.fresh("_clock")
        shown = (*shown, Computed(kept, name(clock.column)))
        moved = Clockwork(kept, clock.longest or clock.ahead, delay=clock.delay)
    return _stream(Select(branch.step, shown, note=note), columns, moved)


def _stream(step: Step, columns: Sequence[Named], clock: Clockwork) -> Branch:
    moment = Moment(TIME)
    shown = {c.name: Column(c.name, type_of(c.value)) for c in columns}
    return Branch(
        step,
        {**shown, TIME: Column(TIME, TIMESTAMP)},
        Life(moment, None, None, moment),
        clock,
    )


def _netted(ctx: Context, relation: Relation, rows: Rows, wanted: Change, note: str) -> Branch:
    columns = ctx.named(relation)
    names = tuple(c.name for c in columns)
    event, count = ctx.fresh("_event"), ctx.fresh("_count")

    def both(branch: Branch) -> Step:
        """Each row when it comes and when it goes."""
        life = branch.life
        events = [f"struct({life.since.sql} AS t, 1 AS n)"]
        if life.gone is not None:
            events.append(f"struct({life.gone.sql} AS t, -1 AS n)")
        explode = Computed(event, f"explode(array({', '.join(events)}))")
        spread = Select(branch.timed, (*computed(branch, columns), explode), note=note)
        again = tuple(Computed(n, name(n)) for n in names)
        time = Computed(TIME, f"{name(event)}.t", event_time=True)
        return Select(spread, (*again, time, Computed(count, f"{name(event)}.n")))

    total = Computed(count, f"sum({name(count)})")
    grouped = Group(concat(map(both, rows)), (*names, TIME), (total,))
    sign = ">" if wanted is Change.GAINED else "<"
    found = Where(grouped, f"{name(count)} {sign} 0")
    unique = bool(keys(relation, ctx.catalog)[id(relation)])
    return _stream(
        repeated(ctx, found, (*names, TIME), None if unique else f"abs({name(count)})"),
        columns,
        Clockwork(TIME),
    )


def repeated(ctx: Context, step: Step, columns: Sequence[str], count: str | None) -> Step:
    """Every row as many times as `count` says, with only the given columns."""
    shown = tuple(Computed(n, name(n)) for n in columns)
    if count is None:
        return Select(step, shown)
    copy = ctx.fresh("_copy")
    copies = Computed(copy, f"explode(array_repeat(0, CAST({count} AS INT)))")
    return Select(Select(step, (*shown, copies)), shown)


def concat(parts: Iterable[Step]) -> Step:
    """All rows of the parts."""
    together = tuple(parts)
    return together[0] if len(together) == 1 else Concat(together)
