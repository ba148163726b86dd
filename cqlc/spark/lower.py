"""From plans to Spark programs: one match over streams, one over relations.

What operators do is next door: `streams`, `aggregation`, `sessions`, `joining`, `cells`, `tables`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from cqlc.algebra.expr import Column, Literal
from cqlc.algebra.plan import (
    Aggregate,
    Clock,
    Distinct,
    Dstream,
    EveryChange,
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
    Relation,
    Rename,
    Rows,
    Rstream,
    RstreamRestore,
    Scan,
    Session,
    Stream,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.text import node_text
from cqlc.algebra.walk import subplans
from cqlc.analysis.update_pattern import UpdatePattern
from cqlc.catalog import Catalog, TableKind
from cqlc.codes import spark as codes
from cqlc.diagnostics import Diagnostic, Label, has_errors, in_order
from cqlc.spark import aggregation, cells, frame, joining, sessions, streams, tables
from cqlc.spark.answer import (
    Answer,
    changelog_answer,
    running_aggregate,
    stream_answer,
    upsert_answer,
)
from cqlc.spark.context import Context
from cqlc.spark.frame import Branch, Static
from cqlc.spark.program import SparkProgram, Where


class Lowering:
    """The lowering of one plan; a subplan that is used twice is lowered once."""

    def __init__(
        self,
        plan: Plan,
        catalog: Catalog,
        changing: Collection[str],
        tick: int,
        clock: Clock,
    ) -> None:
        calls = (a.value for p in subplans(plan) if isinstance(p, Aggregate) for a in p.aggregates)
        with_times = any(call.function in aggregation.IN_ORDER for call in calls)
        self.ctx = Context(plan, catalog, tick, clock, self.relation, with_times, changing)
        self._relations: dict[int, frame.Rows | Static] = {}
        self._streams: dict[int, frame.Rows] = {}

    def answer(self, plan: Plan, *, maintained: bool) -> Answer:
        """The whole plan, ready for a sink."""
        match plan:
            case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
                return stream_answer(self.ctx, plan, self.stream(plan))
            case _:
                running = running_aggregate(self.ctx, plan) if maintained else None
                rows = self._changing(running.input if running else plan)
                if running is None:
                    return changelog_answer(self.ctx, plan, rows)
                found = upsert_answer(self.ctx, plan, running, rows)
                return found or changelog_answer(self.ctx, plan, self._changing(plan))

    def stream(self, node: Stream) -> frame.Rows:
        """A stream: branches whose rows begin at their time and stay."""
        if id(node) not in self._streams:
            self._streams[id(node)] = self._stream(node)
        return self._streams[id(node)]

    def relation(self, node: Relation) -> frame.Rows | Static:
        """A relation that changes, or a table that does not."""
        if id(node) not in self._relations:
            self._relations[id(node)] = self._relation(node)
        return self._relations[id(node)]

    def _stream(self, node: Stream) -> frame.Rows:
        ctx = self.ctx
        match node:
            case Scan():
                return streams.scan(ctx, node)
            case Istream(r):
                return streams.istream(ctx, node, self._changing(r))
            case Dstream(r):
                return streams.dstream(ctx, node, self._changing(r))
            case Rstream(r):
                return streams.rstream(ctx, node, self._changing(r))
            case IstreamRestore(r):
                return streams.istream_restore(ctx, node, self._changing(r))
            case RstreamRestore(sampled, continuous):
                rows = self._changing(sampled), self._changing(continuous)
                return streams.rstream_restore(ctx, node, *rows)

    def _relation(self, node: Relation) -> frame.Rows | Static:
        ctx = self.ctx
        match node:
            case Now(s):
                return self._window(node, s, ctx.tick)
            case Unbounded(s):
                return self._window(node, s, None)
            case Range(s, length):
                return self._window(node, s, length)
            case Rows():
                return ctx.needs_strict(node, "a row leaves when enough others have come")
            case Session(s):
                return sessions.session(ctx, node, self.stream(s))
            case Table(name):
                if name in ctx.changing:
                    return ctx.needs_strict(node, "the relation changes, and so do past results")
                return tables.table(ctx, node)
            case Values():
                return tables.values(ctx, node)
            case Rename() | Filter() | Project():
                return self._row_by_row(node)
            case Union():
                return self._union(node)
            case Join():
                return self._join(node)
            case NrrJoin(r, name):
                if name in ctx.changing:
                    return ctx.needs_strict(node, "each row sees the NRR as of its own time")
                return joining.lookup(ctx, node, r, self._changing(r), tables.nrr(node))
            case Distinct():
                return self._distinct(node)
            case Aggregate():
                return self._aggregate(node)
            case Rank(r):
                if not self._by_period(r):
                    return ctx.needs_strict(node, "ranks change with every row")
                return cells.rank(ctx, node, self._changing(r))
            case Except(left, right) | Intersect(left, right):
                if not self._by_period(left, right):
                    return ctx.needs_strict(node, "what one side gains, the answer may lose")
                sides = self._changing(left), self._changing(right)
                return cells.set_operation(ctx, node, *sides)

    def _changing(self, node: Relation) -> frame.Rows:
        """A relation that must be made from a stream."""
        rows = self.relation(node)
        if isinstance(rows, Static):
            return self.ctx.refuse(node, no_stream(node))
        return rows

    def _by_period(self, *inputs: Relation) -> bool:
        """Whether the inputs change together on one grid, and rows' ends are known."""
        edges = [self.ctx.output(node) for node in inputs]
        known = all(e.pattern is not UpdatePattern.STRICT for e in edges)
        return known and edges[0].grid is not None and len({e.grid for e in edges}) == 1

    def _window(
        self, node: Now | Unbounded | Range, stream: Stream, length: int | None
    ) -> frame.Rows:
        grid = node.slide if isinstance(node, Range) else None
        rows = (streams.window(self.ctx, node, b, length, grid) for b in self.stream(stream))
        if grid is None or length is None or length >= grid.period:
            return tuple(rows)
        return tuple(_nonempty(branch, node_text(node)) for branch in rows)

    def _row_by_row(self, node: Rename | Filter | Project) -> frame.Rows | Static:
        """What is done to each row by itself, in every branch."""
        rows = self.relation(node.input)
        match node, rows:
            case Rename(), Static():
                return tables.renamed(node, rows)
            case Filter(), Static():
                return tables.filtered(node, rows)
            case Project(), Static():
                return tables.projected(self.ctx, node, rows)
            case Rename(_, alias), tuple():
                return tuple(
                    replace(b, columns={f"{alias}.{c}": e for c, e in b.columns.items()})
                    for b in rows
                )
            case Filter(_, predicate), tuple():
                return tuple(b.where(predicate, node_text(node)) for b in rows)
            case Project(), tuple():
                return tuple(self._projected(node, b) for b in rows)

    def _projected(self, node: Project, branch: Branch) -> Branch:
        """Columns that only change their names are computed where they are needed."""
        if all(isinstance(c.value, Column | Literal) for c in node.columns):
            return replace(branch, columns={c.name: branch.value(c.value) for c in node.columns})
        return self.ctx.selected(branch, node.columns, node_text(node))

    def _union(self, node: Union) -> frame.Rows | Static:
        left, right = self.relation(node.left), self.relation(node.right)
        match left, right:
            case Static(), Static():
                return tables.union(self.ctx, node, left, right)
            case tuple(), tuple():
                names = [f.name for f in self.ctx.schemas[id(node)]]
                others = [f.name for f in self.ctx.schemas[id(node.right)]]
                renamed = dict(zip(others, names, strict=True))
                moved = (
                    replace(b, columns={renamed[c]: e for c, e in b.columns.items()}) for b in right
                )
                return (*left, *moved)
            case _:
                return self.ctx.needs_strict(node, "rows of a table stay beside those of a stream")

    def _join(self, node: Join) -> frame.Rows | Static:
        ctx = self.ctx
        left, right = self.relation(node.left), self.relation(node.right)
        match left, right:
            case Static(), Static():
                return tables.join(ctx, node, left, right)
            case tuple(), tuple():
                return joining.join(ctx, node, left, right)
            case tuple(), Static() if node.kind is not JoinKind.FULL:
                table = tables.under_own_names(ctx, node.right, right)
                return joining.lookup(ctx, node, node.left, left, table)
            case Static(), tuple() if node.kind is JoinKind.INNER:
                table = tables.under_own_names(ctx, node.left, left)
                return joining.lookup(ctx, node, node.right, right, table)
            case _:
                why = "rows of the table without a partner may find one in the stream"
                return ctx.needs_strict(node, why)

    def _distinct(self, node: Distinct) -> frame.Rows | Static:
        rows = self.relation(node.input)
        if isinstance(rows, Static):
            return tables.distinct(self.ctx, node, rows)
        if not self._by_period(node.input):
            return self.ctx.needs_strict(node, "which of equal rows came first is known late")
        return aggregation.distinct(self.ctx, node, rows)

    def _aggregate(self, node: Aggregate) -> frame.Rows | Static:
        of_session = sessions.session_of(node)
        if of_session is not None:
            window, prefix = of_session
            rows = self.stream(window.input)
            return sessions.aggregate_sessions(self.ctx, node, window, prefix, rows)
        if not self._by_period(node.input):
            return self.ctx.needs_strict(node, "the next row of a group replaces its result")
        return aggregation.aggregate(self.ctx, node, self._changing(node.input))


def _nonempty(branch: Branch, note: str) -> Branch:
    """The rows that are alive at a boundary at all: windows shorter than their SLIDE have gaps."""
    since, until = branch.life.since, branch.life.until
    assert until is not None
    return replace(branch, step=Where(branch.step, f"{since.sql} < {until.sql}", note=note))


def no_stream(node: Relation) -> Diagnostic:
    """That something that streams was expected."""
    return Diagnostic(
        codes.NO_STREAM,
        "this query reads tables only, so there is nothing to stream",
        Label(node.span, "no stream below here"),
        help="use Spark SQL for it, or join the table with a stream",
    )


@dataclass(frozen=True, slots=True)
class Lowered:
    """The outcome of lowering: a program, unless there are errors among the findings."""

    program: SparkProgram | None
    diagnostics: tuple[Diagnostic, ...]


def lower(
    plan: Plan,
    catalog: Catalog,
    *,
    name: str = "query",
    text: str = "",
    changing: Collection[str] = (),
    maintained: bool = True,
    tick: int = 1,
    clock: Clock | None = None,
) -> Lowered:
    """The Spark program of a plan.

    Tables are read once a micro-batch and taken not to change, except those in `changing`.
    `maintained` says that the newest row of each key is enough of an answer, as it is for a sink
    that is a table. `tick` and `clock` are the unit of time and the clock of RSTREAMs without one.
    """
    constant = {
        n: replace(t, append_only=True)
        if n not in changing and t.kind is not TableKind.STREAM
        else t
        for n, t in catalog.tables.items()
    }
    known = replace(catalog, tables=constant)
    lowering = Lowering(plan, known, changing, tick, clock or EveryChange())
    answer = lowering.answer(plan, maintained=maintained)
    findings = in_order(lowering.ctx.diagnostics)
    if has_errors(findings):
        return Lowered(None, findings)
    read = {p.name for p in subplans(plan) if isinstance(p, Scan | Table | NrrJoin)}
    declared = [catalog.tables[n] for n in sorted(read) if n in catalog.tables]
    program = SparkProgram(
        name,
        text,
        answer.step,
        answer.columns,
        answer.delivery,
        answer.key,
        tuple(t for t in declared if t.kind is TableKind.STREAM),
        tuple(t for t in declared if t.kind is not TableKind.STREAM),
    )
    return Lowered(program, findings)
