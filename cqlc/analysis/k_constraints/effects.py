"""What the constraints make of every component of every stream: outcome, size and evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from functools import cached_property

from cqlc.analysis.k_constraints.model import Clustering, KConstraint, ManyOne, Ordering
from cqlc.analysis.k_constraints.quantities import (
    ahead,
    kept_rows,
    lasting,
    multiplicity,
    open_values,
    rate,
    unreferenced,
    waiting_time,
)
from cqlc.analysis.k_constraints.rules import Closer, EdgeRules, Maintenance
from cqlc.analysis.size import NONE, UNLIMITED, Size, greatest, least, plus, times


class Outcome(IntEnum):
    """What becomes of the rows of a component, from best to worst."""

    EMPTY = 0
    """No row is ever in it."""
    NOT_STORED = 1
    """Its rows need not be kept."""
    LIMITED = 2
    """A row leaves after k at the latest."""
    CLOSING = 3
    """A row leaves once the values of another stream have passed it."""
    WINDOWED = 4
    """A row leaves with its window."""
    DANGLING = 5
    """A row leaves once it was referenced; rows that never are stay."""
    KEPT = 6
    """Rows stay for ever."""


class Reason(StrEnum):
    """The rule behind an outcome (numbers are those of the paper)."""

    NO_CHILDREN = "a stream without children never waits"
    NOTHING_FAILS = "no row can fail: neither the stream nor a descendant has a filter"
    ROOT_NO = "nothing joins a failed row of a root"
    SINGLE_ROOT = "a complete row of the only root is never joined again (theorem 3.5)"
    GIVEN_UP = "parents give up on missing children, so failed ones need not be known (section 4)"
    TIMEOUT = "a child comes within k or never (RIDS)"
    FLOOR = "children below a bound will not come any more (OAC)"
    CLUSTERED = "a value is over for the parents k rows after it (CA, theorem 5.1)"
    ORDERED = "values below a bound are over for the parents (OAP, theorem 5.1)"
    WINDOW = "the window of the stream"
    NOTHING = "no constraint applies"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A rule and the constraint it uses, if any."""

    reason: Reason
    constraint: KConstraint | None = None


@dataclass(frozen=True, slots=True)
class Component:
    """What is known about one of Yes, No and Unknown of a stream."""

    outcome: Outcome
    size: Size
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class StreamEffect:
    """The state of one stream: its three components, and all of it together."""

    stream: str
    yes: Component
    no: Component
    unknown: Component

    @property
    def components(self) -> tuple[Component, ...]:
        """The three components."""
        return (self.yes, self.no, self.unknown)

    @property
    def outcome(self) -> Outcome:
        """The worst of the components."""
        return max(c.outcome for c in self.components)

    @property
    def size(self) -> Size:
        """All rows together; a bound that components share counts once."""
        return plus(*dict.fromkeys(c.size for c in self.components))


@dataclass(frozen=True, slots=True)
class Wait:
    """How the waiting of a row ends, how many seconds it lasts at most, and why."""

    outcome: Outcome
    length: Size
    evidence: tuple[Evidence, ...]


class Effects:
    """The effects on all streams of a join, computed once each, children first."""

    def __init__(self, rules: Maintenance) -> None:
        self.rules = rules
        self.graph = rules.graph
        self._waits: dict[str, Wait] = {}
        self._edge_waits: dict[ManyOne, tuple[Wait, Wait]] = {}

    @cached_property
    def streams(self) -> tuple[StreamEffect, ...]:
        """The effect on every stream, in the order of the query."""
        return tuple(self.of(s.name) for s in self.graph.streams)

    def of(self, name: str) -> StreamEffect:
        """The effect on one stream."""
        parts = (self._yes(name), self._no(name), self._unknown(name))
        return StreamEffect(name, *(self._in_window(name, part) for part in parts))

    def _in_window(self, name: str, part: Component) -> Component:
        """A window removes what nothing else does, and bounds the rest."""
        stream = self.graph.stream(name)
        if stream.window is None or part.outcome <= Outcome.NOT_STORED:
            return part
        size = least(part.size, kept_rows(stream, stream.window))
        evidence = (*part.evidence, Evidence(Reason.WINDOW))
        if part.outcome > Outcome.WINDOWED:
            return Component(Outcome.WINDOWED, size, evidence[-1:])
        return Component(part.outcome, size, evidence)

    # ---------------------------------------------------------------------------- components

    def _yes(self, name: str) -> Component:
        if not self.rules.stream(name).stores_yes:
            return Component(Outcome.NOT_STORED, NONE, (Evidence(Reason.SINGLE_ROOT),))
        if self.graph.parents(name):
            return self._covered(name)
        return self._root_yes(name)

    def _root_yes(self, root: str) -> Component:
        """A complete row of one of several roots goes with a child that all roots are done with.

        The child is referenced by the row itself, so only the other roots may leave it dangling.
        """
        found = [KEPT]
        for way in self.rules.out_of(root):
            child = way.edge.child
            done = self._covered(child)
            others = [w for w in self._deciding(child) if w.edge.parent != root]
            if done.outcome is Outcome.DANGLING and all(map(_ordered, others)):
                done = replace(done, outcome=Outcome.CLOSING)
            rows = times(multiplicity(self.graph, root, child), done.size)
            found.append(replace(done, size=rows))
        return min(found, key=lambda c: c.outcome)

    def _no(self, name: str) -> Component:
        rules = self.rules.stream(name)
        if not self.graph.parents(name):
            return Component(Outcome.NOT_STORED, NONE, (Evidence(Reason.ROOT_NO),))
        if self._nothing_fails(name):
            return Component(Outcome.EMPTY, NONE, (Evidence(Reason.NOTHING_FAILS),))
        if not rules.stores_no:
            evidence = tuple(e for way in self.rules.into(name) for e in _waiting_evidence(way))
            return Component(Outcome.NOT_STORED, NONE, (Evidence(Reason.GIVEN_UP), *evidence))
        return self._closed(self.rules.into(name))

    def _nothing_fails(self, name: str) -> bool:
        """Whether every row joins sooner or later or waits for ever: then No stays empty.

        Two ways to one stream may disagree, and a row given up fails; so neither may be possible.
        """
        below = self._below(name)
        ways = [way for way in self.rules.edges if way.edge.parent in below]
        filtered = any(self.graph.stream(n).filtered for n in below)
        windowed = any(self.graph.stream(n).window for n in below)
        tree = len(ways) == len(below) - 1
        return tree and not filtered and not windowed and not any(w.ends_waiting for w in ways)

    def _below(self, name: str) -> set[str]:
        found = {name}
        for child in self.graph.children(name):
            found |= self._below(child)
        return found

    def _unknown(self, name: str) -> Component:
        """The rows that wait for a child, directly or through a child that waits itself.

        Closing values does not end the waiting: a row must stay as long as a parent waits with it.
        """
        wait = self._wait(name)
        if wait.outcome is Outcome.EMPTY:
            return Component(Outcome.EMPTY, NONE, wait.evidence)
        rows = times(rate(self.graph.stream(name)), wait.length)
        return Component(wait.outcome, rows, wait.evidence)

    # ------------------------------------------------------------------------------- waiting

    def _wait(self, name: str) -> Wait:
        if name not in self._waits:
            ways = self.rules.out_of(name)
            none = Wait(Outcome.EMPTY, NONE, (Evidence(Reason.NO_CHILDREN),))
            self._waits[name] = self._longest(ways) if ways else none
        return self._waits[name]

    def _longest(self, ways: Iterable[EdgeRules]) -> Wait:
        """The longest wait for the children on some joins; none if there are no joins."""
        parts = [self._wait_on(way.edge) for way in ways]
        outcome = max((w.outcome for pair in parts for w in pair), default=Outcome.LIMITED)
        if outcome is Outcome.KEPT:
            return Wait(Outcome.KEPT, UNLIMITED, (Evidence(Reason.NOTHING),))
        return Wait(
            max(outcome, Outcome.LIMITED),
            greatest(*(plus(here.length, further.length) for here, further in parts)),
            tuple(dict.fromkeys(e for pair in parts for wait in pair for e in wait.evidence)),
        )

    def _wait_on(self, edge: ManyOne) -> tuple[Wait, Wait]:
        """The wait for a child, and for the children of that."""
        if edge not in self._edge_waits:
            way = next(w for w in self.rules.edges if w.edge == edge)
            self._edge_waits[edge] = (self._edge_wait(way), self._further_wait(edge.child))
        return self._edge_waits[edge]

    def _further_wait(self, name: str) -> Wait:
        """How long a child that has come may wait itself; its window makes it look absent."""
        wait, stream = self._wait(name), self.graph.stream(name)
        if wait.outcome is Outcome.EMPTY:
            return Wait(Outcome.EMPTY, NONE, ())
        if stream.window is None:
            return wait
        length = least(wait.length, lasting(stream, stream.window))
        return Wait(min(wait.outcome, Outcome.LIMITED), length, (Evidence(Reason.WINDOW),))

    def _edge_wait(self, way: EdgeRules) -> Wait:
        """How long a parent waits for a child that does not come."""
        child = self.graph.stream(way.edge.child)
        evidence = tuple(_waiting_evidence(way))
        if way.timeouts:
            limits = (waiting_time(c, c.within, child) for c in way.timeouts)
            return Wait(Outcome.LIMITED, least(*limits), evidence)
        if way.floors:
            passes = (
                plus(
                    waiting_time(f.ordering, f.ordering.within, child),
                    ahead(way.edge.parent, f.parent_column, way.edge.child, f.child_column),
                )
                for f in way.floors
            )
            return Wait(Outcome.CLOSING, least(*passes), evidence)
        return Wait(Outcome.KEPT, UNLIMITED, (Evidence(Reason.NOTHING),))

    # ------------------------------------------------------------------------------- closing

    def _deciding(self, child: str) -> tuple[EdgeRules, ...]:
        cover = self.rules.stream(child).cover or ()
        return tuple(w for w in self.rules.into(child) if w.edge.parent in cover)

    def _covered(self, name: str) -> Component:
        """The rows that the roots above are not done with (theorem 5.1).

        A row stays as long as a parent that joins it waits for another of its children.
        """
        ways = self._deciding(name)
        if not ways:
            return KEPT
        found = self._closed(ways)
        for way in ways:
            parent = self.graph.stream(way.edge.parent)
            others = [w for w in self.rules.out_of(parent.name) if w.edge.child != name]
            hold = self._longest(others)
            rows = times(rate(parent), hold.length)
            outcome = hold.outcome
            if parent.window is not None:
                rows, outcome = least(rows, kept_rows(parent, parent.window)), Outcome.LIMITED
            evidence = (*found.evidence, *hold.evidence)
            found = Component(max(found.outcome, outcome), plus(found.size, rows), evidence)
        return KEPT if found.outcome is Outcome.KEPT else found

    def _closed(self, ways: Iterable[EdgeRules]) -> Component:
        """The rows whose values the parents on these joins are not done with."""
        found = Component(Outcome.CLOSING, NONE, ())
        for way in ways:
            if not way.closers:
                return KEPT
            closer = min(way.closers, key=lambda c: c.clustered)
            reason = Reason.CLUSTERED if closer.clustered else Reason.ORDERED
            found = Component(
                max(found.outcome, Outcome.DANGLING if closer.clustered else Outcome.CLOSING),
                plus(found.size, self._open_rows(way, closer)),
                (*found.evidence, Evidence(reason, closer.constraint)),
            )
        return found

    def _open_rows(self, way: EdgeRules, closer: Closer) -> Size:
        parent, child = self.graph.stream(way.edge.parent), self.graph.stream(way.edge.child)
        found = open_values(closer, parent, child)
        match closer.constraint:
            case Clustering():
                return plus(found, unreferenced(child.name, parent.name))
            case Ordering():
                over = ahead(child.name, closer.child_column, parent.name, closer.parent_column)
                return plus(found, times(rate(child), over))


KEPT = Component(Outcome.KEPT, UNLIMITED, (Evidence(Reason.NOTHING),))


def _ordered(way: EdgeRules) -> bool:
    return not all(closer.clustered for closer in way.closers)


def _waiting_evidence(way: EdgeRules) -> list[Evidence]:
    if way.timeouts:
        return [Evidence(Reason.TIMEOUT, constraint) for constraint in way.timeouts]
    return [Evidence(Reason.FLOOR, floor.ordering) for floor in way.floors]
