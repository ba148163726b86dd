"""What k-constraints do for a join: effects on every stream, idle constraints, smallest repairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from cqlc.algebra.schema import TIME
from cqlc.analysis.hitting_set import hitting_sets
from cqlc.analysis.k_constraints.effects import (
    Component,
    Effects,
    Evidence,
    Outcome,
    Reason,
    StreamEffect,
)
from cqlc.analysis.k_constraints.model import (
    JoinedStream,
    JoinGraph,
    KConstraint,
    ManyOne,
    Ordering,
    Rids,
    is_declared,
)
from cqlc.analysis.k_constraints.quantities import kept_rows
from cqlc.analysis.k_constraints.rules import (
    EdgeRules,
    Maintenance,
    Refusal,
    Shape,
    maintenance,
    refusal_of,
    shape_of,
)
from cqlc.analysis.size import NONE, UNLIMITED
from cqlc.catalog import WithinTime

PROPOSED = WithinTime(60_000_000)
"""The k of a proposed constraint; the outcome does not depend on it, the size does."""

MOST = 8
BUDGET = 400


class Idleness(StrEnum):
    """Why a constraint changes nothing."""

    REFUSED = "the join is not of the kind constraints help with"
    MONITORED = "its k is estimated while running, which proves nothing beforehand"
    NOT_JOINED = "no join of the query uses its columns"
    NOT_DECISIVE = "it is not enough: other rows keep the state"


@dataclass(frozen=True, slots=True)
class IdleConstraint:
    """A constraint that changes nothing for this join, and why."""

    constraint: KConstraint
    why: Idleness


@dataclass(frozen=True, slots=True)
class ConstraintRepairs:
    """The smallest sets of constraints that free every stream; none if constraints cannot."""

    options: tuple[tuple[KConstraint, ...], ...]
    smallest: bool


@dataclass(frozen=True, slots=True)
class Analysis:
    """The effect of the declared constraints on a join."""

    graph: JoinGraph
    shape: Shape
    refusal: Refusal | None
    rules: Maintenance | None
    """What to store and when to forget it; None if the join is refused."""
    streams: tuple[StreamEffect, ...]
    idle: tuple[IdleConstraint, ...]
    repairs: ConstraintRepairs

    @property
    def outcome(self) -> Outcome:
        """The worst of all streams."""
        return max(s.outcome for s in self.streams)

    def stream(self, name: str) -> StreamEffect:
        """The effect on the stream called `name`."""
        return next(s for s in self.streams if s.stream == name)


def analyse(graph: JoinGraph) -> Analysis:
    """The effects of the constraints on a join, and what would be missing to free its state."""
    refusal = refusal_of(graph)
    rules = maintenance(graph) if refusal is None else None
    streams = effects(graph)
    held = any(s.outcome > Outcome.WINDOWED for s in streams)
    return Analysis(
        graph,
        shape_of(graph),
        refusal,
        rules,
        streams,
        tuple(_idle(graph, rules, streams)),
        repairs(graph) if held and rules is not None else ConstraintRepairs((), smallest=True),
    )


def effects(graph: JoinGraph) -> tuple[StreamEffect, ...]:
    """The effect on every stream; rows of a refused join stay as long as their windows."""
    if refusal_of(graph) is None:
        return Effects(maintenance(graph)).streams
    return tuple(_plain(stream) for stream in graph.streams)


def _plain(stream: JoinedStream) -> StreamEffect:
    none = Component(Outcome.NOT_STORED, NONE, (Evidence(Reason.NOTHING),))
    if stream.window is None:
        kept = Component(Outcome.KEPT, UNLIMITED, (Evidence(Reason.NOTHING),))
    else:
        rows = kept_rows(stream, stream.window)
        kept = Component(Outcome.WINDOWED, rows, (Evidence(Reason.WINDOW),))
    return StreamEffect(stream.name, none, none, kept)


def _idle(
    graph: JoinGraph, rules: Maintenance | None, streams: tuple[StreamEffect, ...]
) -> Iterator[IdleConstraint]:
    used = {e.constraint for s in streams for c in s.components for e in c.evidence}
    at_work = {c for edge in rules.edges for c in _at_work(edge)} if rules else set[KConstraint]()
    for constraint in graph.constraints:
        if isinstance(constraint, Ordering) and constraint.column == TIME:
            continue  # nobody wrote that down
        if not is_declared(constraint):
            yield IdleConstraint(constraint, Idleness.MONITORED)
        elif rules is None:
            yield IdleConstraint(constraint, Idleness.REFUSED)
        elif constraint not in at_work:
            yield IdleConstraint(constraint, Idleness.NOT_JOINED)
        elif constraint not in used:
            yield IdleConstraint(constraint, Idleness.NOT_DECISIVE)


def _at_work(rules: EdgeRules) -> Iterator[KConstraint]:
    yield from rules.timeouts
    yield from (floor.ordering for floor in rules.floors)
    yield from (closer.constraint for closer in rules.closers)


# ------------------------------------------------------------------------------------ repairs


def repairs(graph: JoinGraph) -> ConstraintRepairs:
    """The smallest sets of constraints with which no stream keeps rows for ever, dangling or not.

    Clustering is never among them: an order does the same and more.
    """

    def violated(chosen: frozenset[KConstraint]) -> Iterator[tuple[KConstraint, ...]]:
        added = sorted(chosen, key=str)
        rules = maintenance(replace(graph, constraints=(*graph.constraints, *added)))
        for effect in Effects(rules).streams:
            yield from _lacking(rules, effect)

    found = hitting_sets(violated, most=MOST, budget=BUDGET)
    options = tuple(tuple(sorted(option, key=str)) for option in found.sets)
    return ConstraintRepairs(options, found.smallest)


def _lacking(rules: Maintenance, effect: StreamEffect) -> Iterator[tuple[KConstraint, ...]]:
    """For every component that keeps rows, constraints one of which any remedy has to contain."""
    name = effect.stream
    above, below = rules.into(name), rules.out_of(name)
    if effect.unknown.outcome > Outcome.WINDOWED:
        yield from (_ends_waiting(rules, e) for e in below if not e.ends_waiting)
    if effect.no.outcome > Outcome.WINDOWED:
        waits = (_ends_waiting(rules, e) for e in above if not e.ends_waiting)
        closes = (_closes(rules, e) for e in above if not _is_ordered(e))
        yield (*next(waits, ()), *next(closes, ()))
    if effect.yes.outcome > Outcome.WINDOWED:
        yield from _lacking_yes(rules, name)


def _lacking_yes(rules: Maintenance, name: str) -> Iterator[tuple[KConstraint, ...]]:
    """What the complete rows of a stream lack to be given up by theorem 5.1.

    Those of a root go with one of its children, whichever; so a remedy is asked for all of them.
    """
    if rules.into(name):
        yield from _lacking_cover(rules, name)
        return
    children = [list(_lacking_cover(rules, e.edge.child)) for e in rules.out_of(name)]
    if [] not in children:  # else the rows below that child are to blame, and are asked for there
        possible = [lacks for lacks in children if () not in lacks]
        yield tuple(dict.fromkeys(c for lacks in possible for options in lacks for c in options))


def _lacking_cover(rules: Maintenance, name: str) -> Iterator[tuple[KConstraint, ...]]:
    cover = rules.stream(name).cover
    if cover is None:
        yield ()
        return
    for edge in rules.into(name):
        if edge.edge.parent in cover:
            if not _is_ordered(edge):
                yield _closes(rules, edge)
            if rules.graph.stream(edge.edge.parent).window is None:
                others = (e for e in rules.out_of(edge.edge.parent) if e.edge.child != name)
                yield from (_ends_waiting(rules, e) for e in others if not e.ends_waiting)


def _is_ordered(edge: EdgeRules) -> bool:
    return not all(closer.clustered for closer in edge.closers)


def _ends_waiting(rules: Maintenance, edge: EdgeRules) -> tuple[KConstraint, ...]:
    """The constraints that let parents give up on missing children."""
    child = rules.graph.stream(edge.edge.child).source
    floors = (Ordering(child, below, PROPOSED) for _, below in edge.edge.columns)
    return tuple(dict.fromkeys((_reference(rules, edge.edge), *floors)))


def _reference(rules: Maintenance, edge: ManyOne) -> Rids:
    parent, child = rules.graph.stream(edge.parent).source, rules.graph.stream(edge.child).source
    return Rids(parent, child, edge.columns, PROPOSED)


def _closes(rules: Maintenance, edge: EdgeRules) -> tuple[KConstraint, ...]:
    """The constraints that tell when a parent is done with values, dangling ones too."""
    parent = rules.graph.stream(edge.edge.parent).source
    orders = (Ordering(parent, above, PROPOSED) for above, _ in edge.edge.columns)
    return tuple(dict.fromkeys(orders))
