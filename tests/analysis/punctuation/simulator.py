"""A join operator with chained purge, propagation and retirement of punctuations, on small data.

It runs plans the checker calls safe, to see that their states do empty and no result is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product

from cqlc.analysis.punctuation import Graph, JoinPlan, Leaf, PunctuationScheme, Rule, reach
from cqlc.analysis.punctuation.plans import mask_of

Values = Mapping[str, object]
Row = dict[str, Values]
"""A joined row: the values of every input that takes part."""


GROUP = "?"
"""In a row, the values of a group by the number of their class, where an input would stand."""


@dataclass(eq=False)
class Punctuation:
    """No more rows of `stream` with these values; `until` ends its validity."""

    stream: str
    values: dict[str, object]
    until: float = float("inf")

    def matches(self, row: Row) -> bool:
        return all(row[self.stream].get(c) == v for c, v in self.values.items())


@dataclass
class Operator:
    """One join: the stored rows of every input, and the punctuations known to hold for them."""

    graph: Graph
    blocks: tuple[int, ...]
    states: list[list[Row]] = field(default_factory=list)
    punctuations: list[Punctuation] = field(default_factory=list)
    pending: list[Punctuation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.states = [[] for _ in self.blocks]
        everything = sum(self.blocks)
        ways = [reach(self.graph, block, self.blocks).streams for block in self.blocks]
        self.purgeable = [streams == everything for streams in ways]
        names = {s.name: 1 << i for i, s in enumerate(self.graph.query.streams)}
        self.inputs = {n: i for n, m in names.items() for i, b in enumerate(self.blocks) if b & m}
        self.rules = [r for r in self.graph.rules if 1 << r.target & sum(self.blocks)]

    def value(self, row: Row, number: int) -> object:
        """The value of a class in a row, None if no input of the row and no group has it."""
        return next(iter(self._values(row, number)), None)

    def _values(self, row: Row, number: int) -> list[object]:
        members = self.graph.members[number]
        found = [row[a.stream].get(a.column) for _, a in members if a.stream in row]
        return found + [v for c, v in row.get(GROUP, {}).items() if c == str(number)]

    def joins(self, row: Row) -> bool:
        """Whether the parts of a row agree in every class, and with the group they belong to."""
        for number, members in enumerate(self.graph.members):
            seen = set(self._values(row, number))
            if len(members) > 1 and (len(seen) > 1 or None in seen):
                return False
        return True

    def results(self, row: Row, at: int) -> Iterator[Row]:
        """The rows a new row makes with stored ones."""
        others = [state for i, state in enumerate(self.states) if i != at]
        for combination in product(*others):
            joined = {k: v for part in (row, *combination) for k, v in part.items()}
            if self.joins(joined):
                yield joined

    def needs(self, row: Row, chain: tuple[Rule, ...]) -> list[set[tuple[object, ...]]]:
        """The values to be closed at every step of a chain, over the rows stored now."""
        prefixes, found = [row], list[set[tuple[object, ...]]]()
        for rule in chain:
            found.append({self._wanted(prefix, rule) for prefix in prefixes})
            prefixes = self._extended(prefixes, rule)
        return found

    def can_purge(self, row: Row, at: int, now: float = 0) -> bool:
        """Whether no future row can join this one: any chain of punctuations that holds will do.

        Rows of inputs without a complete chain are not tried, although some could go by chance.
        """
        return self.purgeable[at] and self._excluded(row, {at}, now)

    def is_final(self, group: Mapping[int, object]) -> bool:
        """Whether no future result can have these values of some classes."""
        return self._excluded({GROUP: {str(c): v for c, v in group.items()}}, set(), 0)

    def _excluded(self, row: Row, reached: set[int], now: float) -> bool:
        prefixes = [row]
        while prefixes and len(reached) < len(self.blocks):
            closed = next((r for r in self.rules if self._closes(r, prefixes, reached, now)), None)
            if closed is None:
                return False
            prefixes = self._extended(prefixes, closed)
            reached = {*reached, self._block(closed)}
        return True

    def _block(self, rule: Rule) -> int:
        return next(i for i, block in enumerate(self.blocks) if block >> rule.target & 1)

    def _closes(self, rule: Rule, prefixes: list[Row], reached: set[int], now: float) -> bool:
        if self._block(rule) in reached:
            return False
        wanted = {self._wanted(prefix, rule) for prefix in prefixes}
        columns = rule.scheme.columns
        stream = self.graph.query.streams[rule.target].name
        held = {
            tuple(p.values[c] for c in columns)
            for p in self.punctuations
            if p.stream == stream and set(p.values) == set(columns) and now < p.until
        }
        return all(None not in values and values in held for values in wanted)

    def _wanted(self, prefix: Row, rule: Rule) -> tuple[object, ...]:
        numbers = [self.graph.class_of(rule.target, c) for c in rule.scheme.columns]
        return tuple(self.value(prefix, n) for n in numbers)

    def _extended(self, prefixes: list[Row], rule: Rule) -> list[Row]:
        stored = self.states[self._block(rule)]
        joined = ({**prefix, **row} for prefix in prefixes for row in stored)
        return [row for row in joined if self.joins(row)]

    def purge(self, now: float = 0) -> None:
        """Removes rows until no more can go: each removal may free others."""
        changed = True
        while changed:
            changed = False
            for i, state in enumerate(self.states):
                kept = [row for row in state if not self.can_purge(row, i, now)]
                changed |= len(kept) < len(state)
                state[:] = kept

    def forward(self) -> list[Punctuation]:
        """The pending punctuations that now hold for the output too."""
        valid = [
            p
            for p in self.pending
            if not any(p.matches(row) for row in self.states[self.inputs[p.stream]])
        ]
        self.pending = [p for p in self.pending if p not in valid]
        return valid

    def retire(self) -> None:
        """Drops the punctuations no row can need again; composite ones first."""
        composite = [p for p in self.punctuations if len(p.values) > 1 and self._obsolete(p)]
        self.punctuations = [p for p in self.punctuations if p not in composite]
        for number, members in enumerate(self.graph.members):
            of_class = [p for p in self.punctuations if self._simple_value(p, number) is not None]
            for value in {self._simple_value(p, number) for p in of_class}:
                group = [p for p in of_class if self._simple_value(p, number) == value]
                owners = {a.stream for _, a in members}
                if {p.stream for p in group} == owners and not self._stores(owners, number, value):
                    self.punctuations = [p for p in self.punctuations if p not in group]

    def _simple_value(self, punctuation: Punctuation, number: int) -> object:
        if len(punctuation.values) > 1:
            return None
        ((column, value),) = punctuation.values.items()
        members = {a for _, a in self.graph.members[number]}
        return (
            value
            if any(a.stream == punctuation.stream and a.column == column for a in members)
            else None
        )

    def _obsolete(self, punctuation: Punctuation) -> bool:
        stream = [s.name for s in self.graph.query.streams].index(punctuation.stream)
        for column, value in punctuation.values.items():
            number = self.graph.class_of(stream, column)
            partners = {a.stream for _, a in self.graph.members[number]} - {punctuation.stream}
            closed = {p.stream for p in self.punctuations if self._simple_value(p, number) == value}
            if partners <= closed and not self._stores(partners, number, value):
                return True
        return False

    def _stores(self, streams: set[str], number: int, value: object) -> bool:
        states = [self.states[self.inputs[s]] for s in streams]
        return any(self.value(row, number) == value for state in states for row in state)


@dataclass
class Simulator:
    """A plan at work: rows and punctuations in, results out."""

    graph: Graph
    plan: JoinPlan
    eager: bool = True
    results: list[Row] = field(default_factory=list)
    violations: list[tuple[str, Values]] = field(default_factory=list)
    peak: int = 0
    now: float = 0

    def __post_init__(self) -> None:
        self.operators: list[tuple[Operator, tuple[int, int] | None]] = []
        self._build(self.plan, None)
        self.home = {
            name: (n, i)
            for n, (operator, _) in enumerate(self.operators)
            for name, i in operator.inputs.items()
            if operator.blocks[i].bit_count() == 1
        }

    def _build(self, plan: JoinPlan, parent: tuple[int, int] | None) -> None:
        if isinstance(plan, Leaf):
            return
        blocks = tuple(mask_of(self.graph, child) for child in plan.inputs)
        number = len(self.operators)
        self.operators.append((Operator(self.graph, blocks), parent))
        for i, child in enumerate(plan.inputs):
            self._build(child, (number, i))

    def row(self, stream: str, **values: object) -> None:
        """A row arrives."""
        number, at = self.home[stream]
        row: Row = {stream: values}
        known = self.operators[number][0].punctuations
        if any(p.stream == stream and p.matches(row) for p in known):
            self.violations.append((stream, values))
            return
        self._receive(number, at, row)
        self._close_keys(stream, values)
        self._measure()

    def _receive(self, number: int, at: int, row: Row) -> None:
        operator, parent = self.operators[number]
        for result in operator.results(row, at):
            if parent is None:
                self.results.append(result)
            else:
                self._receive(*parent, result)
        if not operator.can_purge(row, at, self.now):
            operator.states[at].append(row)

    def _close_keys(self, stream: str, values: Values) -> None:
        source = next(s.source for s in self.graph.query.streams if s.name == stream)
        for scheme in self.graph.query.schemes:
            if scheme.source == source and scheme.closing.needs_arrival:
                self.punctuation(stream, **{c: values[c] for c in scheme.columns})

    def punctuation(self, stream: str, lifespan: float = float("inf"), **values: object) -> None:
        """A punctuation arrives."""
        number, _ = self.home[stream]
        self._hold(number, Punctuation(stream, dict(values), self.now + lifespan))
        if self.eager:
            self.sweep()

    def _hold(self, number: int, punctuation: Punctuation) -> None:
        operator = self.operators[number][0]
        operator.punctuations.append(punctuation)
        operator.pending.append(punctuation)

    def sweep(self) -> None:
        """Purges bottom-up and passes punctuations on."""
        for operator, parent in reversed(self.operators):
            operator.purge(self.now)
            for punctuation in operator.forward():
                if parent is not None:
                    self._hold(parent[0], punctuation)
        self._measure()

    def _measure(self) -> None:
        self.peak = max(self.peak, self.size)

    @property
    def size(self) -> int:
        """The number of stored rows in all operators."""
        return sum(len(s) for operator, _ in self.operators for s in operator.states)

    def stored(self, stream: str) -> list[Values]:
        """The stored rows of an input, where it enters the plan."""
        number, at = self.home[stream]
        return [row[stream] for row in self.operators[number][0].states[at]]


def schemes_of(graph: Graph, stream: str) -> list[PunctuationScheme]:
    """The schemes that may be instantiated on an input."""
    source = next(s.source for s in graph.query.streams if s.name == stream)
    return [s for s in graph.query.schemes if s.source == source]
