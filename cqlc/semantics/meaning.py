"""The meaning of plans: a relation's rows at any tick, a stream's elements, over finite inputs.

The definitions are those of CQL (Arasu, Babu, Widom, "The CQL continuous query language", VLDB
Journal 2006) with Golab's extensions ("Sliding Window Query Processing over Data Streams", 2006):

- a relation at τ is its operator applied to its inputs at τ; a window at τ holds the rows alive;
- ISTREAM at τ is R(τ) minus R(τ - 1) as bags, DSTREAM is R(τ - 1) minus R(τ), RSTREAM is R(τ) at
  every tick of its clock;
- an NRR is seen by every row as it was just before that row's own time.

Relations change at their `instants` only, so nothing is computed in between.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TypeAlias

from cqlc.algebra.plan import (
    Aggregate,
    Clock,
    Distinct,
    Dstream,
    EveryChange,
    Except,
    Filter,
    Grid,
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
    Window,
)
from cqlc.algebra.schema import Schema
from cqlc.algebra.walk import derive, inputs, output_schema, subplans
from cqlc.semantics.expressions import UserFunctions, evaluator
from cqlc.semantics.relational import (
    Binary,
    BinaryPlan,
    Unary,
    UnaryPlan,
    as_of_join,
    binary,
    minus,
    unary,
)
from cqlc.semantics.timeline import BEGINNING, FOREVER, Arrival, TableChange, Timeline
from cqlc.semantics.timeline import Values as RowValues
from cqlc.semantics.values import fit
from cqlc.semantics.windows import History, Row, Setting, history, table_history

Change: TypeAlias = tuple[int, int, RowValues]
"""A time, +1 or -1, and the row a relation gains or loses then."""


class Meaning:
    """What plans mean over one timeline.

    `tick` is the length of an instant in microseconds; all times are multiples of it. `clock` is
    the clock of RSTREAMs that have none of their own. Clocks begin to tick with the first input.
    Nothing after the `horizon` is looked at; without one, an RSTREAM on a clock stops at the first
    tick of the clock at which its relation has changed for the last time, since it would go on for
    ever.
    """

    def __init__(
        self,
        timeline: Timeline,
        *,
        tick: int = 1,
        clock: Clock | None = None,
        horizon: int | None = None,
        functions: UserFunctions | None = None,
    ) -> None:
        if any(moment % tick for moment in timeline.times):
            raise ValueError(f"the times are not all multiples of the tick, {tick} microseconds")
        self._timeline = timeline
        self._start = min(timeline.times, default=0)
        self._tick = tick
        self._clock = clock or EveryChange()
        self._horizon = FOREVER if horizon is None else horizon
        self._endless = horizon is None
        self._functions = functions or {}
        self._plans: dict[int, Plan] = {}  # keeps plans alive, and so their ids unique
        self._schemas: dict[int, Schema] = {}
        self._elements: dict[int, list[Arrival]] = {}
        self._histories: dict[int, History] = {}
        self._instants: dict[int, list[int]] = {}
        self._unaries: dict[int, Unary] = {}
        self._binaries: dict[int, Binary] = {}
        self._recent: dict[int, dict[int, Sequence[Row]]] = defaultdict(dict)

    # ------------------------------------------------------------------------- what is asked

    def relation(self, plan: Relation, at: int) -> Counter[RowValues]:
        """The rows of a relation at a time, as a bag."""
        self._note(plan)
        return Counter(row.values for row in self._rows(plan, at))

    def stream(self, plan: Stream) -> list[Arrival]:
        """The elements of a stream in the order of time; `_time` is their last value."""
        self._note(plan)
        return self._stream(plan)

    def instants(self, plan: Plan) -> list[int]:
        """The times at which a plan's answer may change, up to the horizon."""
        self._note(plan)
        return self._changes(plan)

    def changelog(self, plan: Relation) -> list[Change]:
        """The net changes of a relation in the order of time, deletions first."""
        self._note(plan)
        return [
            (moment, sign, row.values)
            for moment, before, after in self._steps(plan)
            for sign, rows in ((-1, minus(before, after)), (1, minus(after, before)))
            for row in rows
        ]

    def _note(self, plan: Plan) -> None:
        if id(plan) not in self._plans:
            self._plans |= {id(part): part for part in subplans(plan)}
            self._schemas |= derive(plan, output_schema)

    # ------------------------------------------------------------------------------- instants

    def _changes(self, plan: Plan) -> list[int]:
        if id(plan) not in self._instants:
            found = {moment for moment in self._change_times(plan) if moment <= self._horizon}
            self._instants[id(plan)] = sorted(found)
        return self._instants[id(plan)]

    def _change_times(self, plan: Plan) -> Iterable[int]:
        match plan:
            case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
                return (moment for moment, _ in self._stream(plan))
            case Now() | Unbounded() | Range() | Rows() | Session() | Table():
                return self._history(plan).instants()
            case Values():
                return (BEGINNING,)
            case (
                Rename() | Filter() | Project() | Distinct() | Join() | NrrJoin() | Aggregate()
                | Union() | Except() | Intersect() | Rank()
            ):  # fmt: skip
                return chain.from_iterable(self._changes(part) for part in inputs(plan))

    # ------------------------------------------------------------------------------ relations

    def _rows(self, plan: Relation, at: int) -> Sequence[Row]:
        """R(at), which is R at the last instant up to `at`; the last two are remembered."""
        instants = self._changes(plan)
        past = bisect_right(instants, at)
        if past == 0:
            return []
        moment, recent = instants[past - 1], self._recent[id(plan)]
        if moment not in recent:
            if len(recent) == 2:
                del recent[min(recent)]
            recent[moment] = self._evaluate(plan, moment)
        return recent[moment]

    def _evaluate(self, plan: Relation, at: int) -> Sequence[Row]:
        match plan:
            case Now() | Unbounded() | Range() | Rows() | Session() | Table():
                return self._history(plan).at(at)
            case Values(rows):
                constants = (tuple(evaluator(e, (), self._functions)(()) for e in r) for r in rows)
                return [Row(v, BEGINNING, BEGINNING, FOREVER) for v in constants]
            case NrrJoin(input):
                return self._as_of(plan)(self._rows(input, at))
            case Rename(input) | Filter(input) | Project(input) | Distinct(input):
                return self._unary(plan)(self._rows(input, at))
            case Aggregate(input) | Rank(input):
                return self._unary(plan)(self._rows(input, at))
            case Join(left, right, kind):
                if kind in (JoinKind.INNER, JoinKind.SEMI) and self._any_empty(left, right, at):
                    return ()
                return self._binary(plan)(self._rows(left, at), self._rows(right, at))
            case Union(left, right) | Except(left, right) | Intersect(left, right):
                return self._binary(plan)(self._rows(left, at), self._rows(right, at))

    def _any_empty(self, left: Relation, right: Relation, at: int) -> bool:
        """Whether an input has no rows; the one that changes less often is looked at first."""
        first, second = sorted((left, right), key=lambda plan: len(self._changes(plan)))
        return not self._rows(first, at) or not self._rows(second, at)

    def _unary(self, plan: UnaryPlan) -> Unary:
        if id(plan) not in self._unaries:
            schema = self._schemas[id(plan.input)]
            self._unaries[id(plan)] = unary(plan, schema, self._functions)
        return self._unaries[id(plan)]

    def _binary(self, plan: BinaryPlan) -> Binary:
        if id(plan) not in self._binaries:
            left, right = self._schemas[id(plan.left)], self._schemas[id(plan.right)]
            self._binaries[id(plan)] = binary(plan, left, right, self._functions)
        return self._binaries[id(plan)]

    def _as_of(self, plan: NrrJoin) -> Unary:
        if id(plan) not in self._unaries:
            table = table_history(self._table(plan.name, plan.schema))
            schema = self._schemas[id(plan.input)]
            self._unaries[id(plan)] = as_of_join(plan, schema, table, self._functions)
        return self._unaries[id(plan)]

    def _history(self, plan: Window | Table) -> History:
        if id(plan) not in self._histories:
            match plan:
                case Table(name, schema):
                    found = table_history(self._table(name, schema))
                case Now(input) | Unbounded(input) | Range(input) | Rows(input) | Session(input):
                    schema = self._schemas[id(input)]
                    setting = Setting(schema, self._tick, self._timeline.ordered)
                    found = history(plan, self._stream(input), setting)
            self._histories[id(plan)] = found
        return self._histories[id(plan)]

    def _table(self, name: str, schema: Schema) -> list[TableChange]:
        changes = self._timeline.tables.get(name, ())
        return [(moment, sign, _stored(values, schema)) for moment, sign, values in changes]

    # -------------------------------------------------------------------------------- streams

    def _stream(self, plan: Stream) -> list[Arrival]:
        if id(plan) not in self._elements:
            elements = [e for e in self._elements_of(plan) if e[0] <= self._horizon]
            self._elements[id(plan)] = elements
        return self._elements[id(plan)]

    def _elements_of(self, plan: Stream) -> Iterable[Arrival]:
        match plan:
            case Scan(name, schema):
                arrivals = sorted(self._timeline.streams.get(name, ()), key=lambda a: a[0])
                return [_element(moment, _stored(values, schema)) for moment, values in arrivals]
            case Istream(relation):
                steps = self._steps(relation)
                return _elements((now, minus(after, before)) for now, before, after in steps)
            case Dstream(relation):
                steps = self._steps(relation)
                return _elements((now, minus(before, after)) for now, before, after in steps)
            case Rstream(relation, clock):
                ticks = self._ticks(relation, self._clock if clock == EveryChange() else clock)
                return _elements((now, self._rows(relation, now)) for now in ticks)
            case IstreamRestore(continuous, grid):
                return _elements(self._restored(continuous, grid).items())
            case RstreamRestore(sampled, continuous, grid):
                return self._rstream_restore(sampled, continuous, grid)

    def _steps(self, plan: Relation) -> Iterator[tuple[int, Sequence[Row], Sequence[Row]]]:
        """Every instant of a relation with its rows one tick before and then."""
        for now in self._changes(plan):
            before = self._rows(plan, now - self._tick)
            yield now, before, self._rows(plan, now)

    def _ticks(self, plan: Relation, clock: Clock) -> Iterable[int]:
        match clock:
            case EveryChange():
                steps = self._steps(plan)
                return (now for now, *two in steps if minus(*two) or minus(*reversed(two)))
            case Grid():
                return self._boundaries(self._changes(plan), clock)

    def _boundaries(self, instants: Sequence[int], grid: Grid) -> Iterable[int]:
        """The boundaries from the first of some instants, or the first input, on."""
        if not instants:
            return ()
        start = max(instants[0], self._start)
        end = grid.up(instants[-1] - 1) if self._endless else self._horizon
        return range(grid.up(start - 1), end + 1, grid.period)

    def _restored(self, continuous: Relation, grid: Grid) -> dict[int, list[Row]]:
        """The insertions into a relation, by the boundary they are held to."""
        held: dict[int, list[Row]] = defaultdict(list)
        for now, before, after in self._steps(continuous):
            held[grid.up(now)] += minus(after, before)
        return held

    def _rstream_restore(
        self, sampled: Relation, continuous: Relation, grid: Grid
    ) -> Iterable[Arrival]:
        held = self._restored(continuous, grid)
        for now in self._boundaries(sorted({*self._changes(sampled), *held}), grid):
            rows = self._rows(sampled, now)
            yield from _elements(((now, [*rows, *minus(held.get(now, ()), rows)]),))


def _element(moment: int, values: RowValues) -> Arrival:
    return moment, (*values, moment)


def _elements(bags: Iterable[tuple[int, Iterable[Row]]]) -> list[Arrival]:
    return [_element(moment, row.values) for moment, rows in bags for row in rows]


def _stored(values: RowValues, schema: Schema) -> RowValues:
    """An input row as its types hold it: FLOAT has single precision."""
    return tuple(
        fit(value, field.type) if isinstance(value, float) else value
        for value, field in zip(values, schema, strict=False)
    )
