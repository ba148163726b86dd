"""What lowering knows of a plan, and what it finds on its way; the steps all operators share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from cqlc.algebra.expr import Column, Expr, type_of
from cqlc.algebra.plan import Clock, Grid, Named, Plan, Relation
from cqlc.algebra.schema import Schema
from cqlc.algebra.text import node_text
from cqlc.algebra.walk import derive, output_schema
from cqlc.analysis.update_pattern import Edge, Patterns, update_patterns
from cqlc.catalog import Catalog
from cqlc.codes import spark as codes
from cqlc.diagnostics import Diagnostic, Label
from cqlc.spark.expression import interval, name
from cqlc.spark.frame import Branch, Clockwork, Life, Moment, Rows, Static
from cqlc.spark.program import Computed, Concat, Constants, Select, Step

T = TypeVar("T", bound=Plan)

FOREVER = "TIMESTAMP '9999-12-31 00:00:00Z'"
"""The end of a lifetime that has none, where a column must hold one."""


@dataclass
class Context:
    """One lowering: the plan's analyses, the names in use, and the findings."""

    plan: Plan
    catalog: Catalog
    tick: int
    clock: Clock
    relation: Callable[[Relation], Rows | Static]
    """Lowers an input, once however often it is used."""
    with_times: bool
    """Whether some operator asks for the times of the stream rows a row was made of."""
    changing: Collection[str]
    """The tables that change while the query runs."""
    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    patterns: dict[int, Patterns] = field(init=False)
    schemas: dict[int, Schema] = field(init=False)
    _taken: set[str] = field(default_factory=set[str])
    _made: list[Plan] = field(default_factory=list[Plan])

    def __post_init__(self) -> None:
        self.patterns = dict(update_patterns(self.plan, self.catalog, self.tick))
        self.schemas = derive(self.plan, output_schema)
        self._taken |= {f.name for schema in self.schemas.values() for f in schema}

    def fresh(self, wanted: str) -> str:
        """A column name like `wanted` that nothing else has."""
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted}{number}"
        self._taken.add(found)
        return found

    def standing_for(self, node: Plan, other: T) -> T:
        """Another plan that is lowered in the place of `node`, with the same columns."""
        self._made.append(other)  # kept, so that its id stays its own
        self.patterns[id(other)] = self.patterns[id(node)]
        self.schemas[id(other)] = self.schemas[id(node)]
        return other

    def output(self, node: Plan) -> Edge:
        """How the rows of a subplan come and go."""
        return self.patterns[id(node)].output

    def state(self, node: Plan) -> Edge:
        """How the rows of a subplan come and go inside operators' state."""
        return self.patterns[id(node)].state

    def columns(self, node: Plan) -> dict[str, Expr]:
        """The columns of a subplan under their own names."""
        return {f.name: Column(f.name, f.type) for f in self.schemas[id(node)]}

    def named(self, node: Plan) -> tuple[Named, ...]:
        """The columns of a subplan, each as itself."""
        return tuple(Named(n, column) for n, column in self.columns(node).items())

    # ------------------------------------------------------------------------------- findings

    def refuse(self, node: Plan, *diagnostics: Diagnostic) -> Rows:
        """Notes why a subplan cannot be lowered; what stands for it lets the rest be looked at."""
        self.diagnostics += diagnostics
        time = self.fresh("_none")
        columns = self.columns(node)
        moment = Moment(time)
        life = Life(moment, moment, moment, moment)
        return (Branch(Constants((), (*columns, time)), columns, life, Clockwork(time)),)

    def needs_strict(self, node: Plan, why: str) -> Rows:
        """The one place where a plan is handed to operators that handle deletions."""
        return self.refuse(
            node,
            Diagnostic(
                codes.NEEDS_STRICT_RUNTIME,
                f"{node_text(node)} needs the strict runtime: {why}",
                Label(node.span, why),
                help="`cqlc explain` says what state the query needs",
            ),
        )

    # ---------------------------------------------------------------------------------- steps

    def selected(self, branch: Branch, columns: Sequence[Named], note: str) -> Branch:
        """The branch with these columns, computed and named as they say."""
        wanted = {c.name for c in columns}
        names = {h: self.fresh(h) if h in wanted else h for h in branch.hidden}
        hidden = tuple(Computed(new, name(old)) for old, new in names.items())
        step = Select(branch.step, (*computed(branch, columns), *hidden), note=note)
        clock = replace(branch.clock, column=names[branch.clock.column])
        return Branch(step, _under_names(columns), branch.life.renamed(names), clock)

    def united(self, rows: Rows, columns: Sequence[Named], note: str) -> Branch:
        """All branches in one with the watermark set: the input of an operator with state.

        Its columns are named as `columns` say; those of the lifetime have names of their own.
        """
        if len(rows) != 1:
            return self._merged(rows, columns, note)
        branch = rows[0]
        names = {h: self.fresh(h) for h in branch.hidden}
        clock = replace(branch.clock, column=names[branch.clock.column], delay=None)
        hidden = tuple(Computed(n, name(h), n == clock.column) for h, n in names.items())
        step = Select(branch.timed, (*computed(branch, columns), *hidden), note=note)
        return Branch(step, _under_names(columns), branch.life.renamed(names), clock)

    def _merged(self, rows: Rows, columns: Sequence[Named], note: str) -> Branch:
        names = [self.fresh(n) for n in ("_clock", "_since", "_until", "_gone", "_time")]
        clock, since, until, gone, time = names

        def part(branch: Branch) -> Step:
            life = branch.life
            moments = {since: life.since, until: life.until, gone: life.gone, time: life.time}
            event_time = Computed(clock, name(branch.clock.column), event_time=True)
            hidden = (Computed(n, m.sql if m else FOREVER) for n, m in moments.items())
            shown = computed(branch, columns)
            return Select(branch.timed, (*shown, event_time, *hidden), note=note)

        ends = [b.clock.longest for b in rows]
        return Branch(
            Concat(tuple(map(part, rows)), note=note),
            _under_names(columns),
            Life(
                Moment(since),
                Moment(until) if any(b.life.until for b in rows) else None,
                Moment(gone) if any(b.life.gone for b in rows) else None,
                Moment(time),
            ),
            Clockwork(
                clock,
                max(b.clock.ahead for b in rows),
                None if None in ends else max(e for e in ends if e is not None),
            ),
        )

    def in_cells(
        self, rows: Rows, edge: Edge, columns: Sequence[Named], note: str
    ) -> tuple[Branch, Grid]:
        """Every row once for each period of its grid that it is alive in, and that grid.

        The beginning of the period is marked as event time.
        """
        assert edge.grid is not None
        grid = edge.grid
        at, time = self.fresh("_at"), self.fresh("_time")
        single = edge.lifetime == grid.period
        parts: list[Step] = []
        for branch in rows:
            life, shown = branch.life, computed(branch, columns)
            if self.with_times:
                shown = (*shown, Computed(time, life.time.sql))
            if single:
                begin = Computed(at, life.since.sql, event_time=True)
                parts.append(Select(branch.timed, (*shown, begin), note=note))
                continue
            assert life.gone is not None
            step = interval(grid.period)
            cells = f"explode(sequence({life.since.sql}, {life.gone.sql} - {step}, {step}))"
            spread = Select(branch.timed, (*shown, Computed(at, cells)), note=note)
            again = tuple(Computed(c.name, name(c.name)) for c in shown)
            parts.append(Select(spread, (*again, Computed(at, name(at), event_time=True))))
        step = parts[0] if len(parts) == 1 else Concat(tuple(parts), note=note)
        cell = self.cell(at, grid, time if self.with_times else at)
        return Branch(step, _under_names(columns), cell, Clockwork(at, 0, grid.period)), grid

    def cell(self, at: str, grid: Grid, time: str) -> Life:
        """The lifetime of one period of a grid, beginning at the column `at`."""
        end = Moment(at, grid.period)
        return Life(Moment(at), end, end, Moment(time))


def computed(branch: Branch, columns: Sequence[Named]) -> tuple[Computed, ...]:
    """Columns of the plan, computed from the columns of a branch."""
    return tuple(Computed(c.name, branch.sql(c.value)) for c in columns)


def _under_names(columns: Sequence[Named]) -> dict[str, Expr]:
    return {c.name: Column(c.name, type_of(c.value)) for c in columns}
