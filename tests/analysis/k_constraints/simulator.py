"""The k-Mon execution model on small data: sections 3 to 6 of Babu, Srivastava, Widom (2004).

It follows the rules the analysis derives, so that a wrong rule loses results here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from cqlc.analysis.k_constraints import (
    EdgeRules,
    Maintenance,
    ManyOne,
    Ordering,
    Rids,
)
from cqlc.catalog import Adherence, WithinRows, WithinTime

Values = Mapping[str, int]
Filters = Mapping[str, Callable[[Values], bool]]


@dataclass(eq=False)
class Row:
    """An arrived row, with what was counted when it came."""

    values: Values
    time: int
    counts: dict[ManyOne, int] = field(default_factory=dict)


@dataclass
class Arrivals:
    """What is remembered of the values of one column of a stream."""

    last_counts: dict[int, int] = field(default_factory=dict)
    """The auxiliary table of CA: the arrivals so far less the rows with other values since."""
    last_times: dict[int, int] = field(default_factory=dict)
    maxima: list[tuple[int, int]] = field(default_factory=list)
    """The running maximum after every arrival, with its time."""

    def add(self, value: int, count: int, time: int) -> None:
        self.last_counts[value] = self.last_counts.get(value, count - 1) + 1
        self.last_times[value] = time
        highest = max(value, self.maxima[-1][0]) if self.maxima else value
        self.maxima.append((highest, time))

    def distance(self, value: int, count: int) -> int:
        """The rows with other values since the first of this one."""
        return count - self.last_counts[value]

    def is_over(self, value: int, within: Adherence, count: int, now: int) -> bool:
        """Whether a clustered value will not come again."""
        if value not in self.last_counts:
            return False
        match within:
            case WithinRows(rows):
                return self.distance(value, count) > rows
            case WithinTime(length):
                return now - self.last_times[value] > length
            case _:
                return False

    def floor(self, within: Adherence, now: int) -> float:
        """A bound no future value of an ordered column is below."""
        match within:
            case WithinRows(rows):
                return self.maxima[-rows - 1][0] if len(self.maxima) > rows else -math.inf
            case WithinTime(length):
                old = [highest for highest, time in self.maxima if time + length < now]
                return old[-1] if old else -math.inf
            case _:
                return -math.inf


class KMon:
    """A join at work: every arrived row is in Yes, No or Unknown of its stream, or forgotten."""

    def __init__(self, rules: Maintenance, filters: Filters | None = None, period: int = 1) -> None:
        self.rules = rules
        self.graph = rules.graph
        self.filters = filters or {}
        self.period = period
        names = [s.name for s in self.graph.streams]
        self.yes: dict[str, list[Row]] = {n: [] for n in names}
        self.no: dict[str, list[Row]] = {n: [] for n in names}
        self.unknown: dict[str, list[Row]] = {n: [] for n in names}
        self.count = dict.fromkeys(names, 0)
        self.now = 0
        self.arrivals: dict[tuple[str, str], Arrivals] = {}
        self.results: list[dict[str, Row]] = []
        self._steps = 0

    # ----------------------------------------------------------------------------- arrival

    def arrive(self, stream: str, values: Values, time: int | None = None) -> None:
        """A row arrives, and now and then what is not needed any more is removed."""
        self.now = self.now + 1 if time is None else time
        self.count[stream] += 1
        for column, value in values.items():
            known = self.arrivals.setdefault((stream, column), Arrivals())
            known.add(value, self.count[stream], self.now)
        self._insert(stream, Row(values, self.now), fresh=True)
        self._steps += 1
        if self._steps % self.period == 0:
            self.collect()

    def _insert(self, stream: str, row: Row, *, fresh: bool) -> None:
        accepts = self.filters.get(stream)
        if accepts is not None and not accepts(row.values):
            self._to_no(stream, row)
            return
        edges = [way.edge for way in self.rules.out_of(stream)]
        if any(self._child(row, edge, self.no) for edge in edges):
            self._to_no(stream, row)
            return
        absent = [way for way in self.rules.out_of(stream) if not self._known(row, way.edge)]
        if fresh:
            row.counts = {way.edge: self.count[way.edge.child] for way in absent}
        if any(self._hopeless(row, way) for way in absent):
            self._to_no(stream, row)
        elif absent or any(self._child(row, edge, self.unknown) for edge in edges):
            self.unknown[stream].append(row)
        elif not self._consistent(stream, row):
            self._to_no(stream, row)
        else:
            self._to_yes(stream, row)

    def _child(self, row: Row, edge: ManyOne, component: dict[str, list[Row]]) -> Row | None:
        found = (other for other in component[edge.child] if joins(row, other, edge))
        return next(found, None)

    def _known(self, row: Row, edge: ManyOne) -> Row | None:
        return self._child(row, edge, self.yes) or self._child(row, edge, self.unknown)

    def _hopeless(self, row: Row, way: EdgeRules) -> bool:
        """Whether the absent child will not come any more."""
        child = way.edge.child
        timeouts = (self._timed_out(row, way.edge, rids) for rids in way.timeouts)
        floors = (
            row.values[f.parent_column] < self._floor(child, f.child_column, f.ordering)
            for f in way.floors
        )
        return any(timeouts) or any(floors)

    def _timed_out(self, row: Row, edge: ManyOne, rids: Rids) -> bool:
        match rids.within:
            case WithinRows(rows):
                # A child that was there and was forgotten left no count.
                arrived = row.counts.setdefault(edge, self.count[edge.child])
                return arrived + rows <= self.count[edge.child]
            case WithinTime(length):
                return self.now > row.time + length
            case _:
                return False

    def _floor(self, stream: str, column: str, ordering: Ordering) -> float:
        return self.arrivals.get((stream, column), Arrivals()).floor(ordering.within, self.now)

    def _consistent(self, stream: str, row: Row) -> bool:
        """Whether all ways down lead to one row per stream."""
        return next(self._below(stream, {stream: row}), None) is not None

    def _below(self, stream: str, found: dict[str, Row]) -> Iterator[dict[str, Row]]:
        todo = [stream]
        reached = dict(found)
        while todo:
            name = todo.pop()
            for way in self.rules.out_of(name):
                child = self._child(reached[name], way.edge, self.yes)
                if child is None or reached.setdefault(way.edge.child, child) is not child:
                    return
                todo.append(way.edge.child)
        yield reached

    def _to_yes(self, stream: str, row: Row) -> None:
        if stream in self.graph.roots:
            self._emit(stream, row)
        if self.rules.stream(stream).stores_yes:
            self.yes[stream].append(row)
        for way in self.rules.into(stream):
            for parent in self._waiting(row, way.edge):
                self.unknown[way.edge.parent].remove(parent)
                self._insert(way.edge.parent, parent, fresh=False)

    def _to_no(self, stream: str, row: Row) -> None:
        if self.rules.stream(stream).stores_no:
            self.no[stream].append(row)
        for way in self.rules.into(stream):
            for parent in self._waiting(row, way.edge):
                self.unknown[way.edge.parent].remove(parent)
                self._to_no(way.edge.parent, parent)

    def _waiting(self, row: Row, edge: ManyOne) -> list[Row]:
        return [parent for parent in self.unknown[edge.parent] if joins(parent, row, edge)]

    def _emit(self, stream: str, row: Row) -> None:
        """The results of a complete row of a root with complete rows of all other streams."""
        names = [s.name for s in self.graph.streams if s.name != stream]
        self.results += combinations_of(
            {stream: row}, names, {n: self.yes[n] for n in names}, self.graph.edges
        )

    # -------------------------------------------------------------------------- collection

    def collect(self) -> None:
        """Gives up rows that wait in vain, then forgets those no future row can join."""
        for way in self.rules.edges:
            for row in list(self.unknown[way.edge.parent]):
                if row not in self.unknown[way.edge.parent] or self._known(row, way.edge):
                    continue
                if self._hopeless(row, way):
                    self.unknown[way.edge.parent].remove(row)
                    self._to_no(way.edge.parent, row)
        for stream in self.graph.streams:
            if self.rules.into(stream.name):
                self._forget(stream.name)

    def _forget(self, stream: str) -> None:
        ways = self.rules.into(stream)
        cover = self.rules.stream(stream).cover
        for row in list(self.no[stream]):
            if all(self._no_more(row, way) for way in ways):
                self.no[stream].remove(row)
        if cover is None:
            return
        deciding = [way for way in ways if way.edge.parent in cover]
        for component in (self.yes, self.no, self.unknown):
            for row in list(component[stream]):
                if all(
                    self._no_more(row, way) and not self._waiting(row, way.edge) for way in deciding
                ):
                    component[stream].remove(row)
                    self._forget_above(stream, row)

    def _no_more(self, row: Row, way: EdgeRules) -> bool:
        """Whether no future row of the parent can join this one."""
        parent = way.edge.parent
        for closer in way.closers:
            value = row.values[closer.child_column]
            known = self.arrivals.get((parent, closer.parent_column), Arrivals())
            within = closer.constraint.within
            if closer.clustered and known.is_over(value, within, self.count[parent], self.now):
                return True
            if not closer.clustered and value < known.floor(within, self.now):
                return True
        return False

    def _forget_above(self, stream: str, row: Row) -> None:
        for way in self.rules.into(stream):
            for component in (self.yes, self.no, self.unknown):
                above = [p for p in component[way.edge.parent] if joins(p, row, way.edge)]
                for parent in above:
                    component[way.edge.parent].remove(parent)
                    self._forget_above(way.edge.parent, parent)

    # ------------------------------------------------------------------------------- views

    @property
    def size(self) -> int:
        """All stored rows."""
        return sum(len(rows) for c in (self.yes, self.no, self.unknown) for rows in c.values())


def joins(parent: Row, child: Row, edge: ManyOne) -> bool:
    """Whether two rows agree in the columns of a join."""
    return all(parent.values[a] == child.values[b] for a, b in edge.columns)


def combinations_of(
    found: dict[str, Row],
    names: list[str],
    rows: Mapping[str, list[Row]],
    edges: tuple[ManyOne, ...],
) -> Iterator[dict[str, Row]]:
    """All ways to add a row of every named stream that agree on every join."""
    if not names:
        yield found
        return
    first, rest = names[0], names[1:]
    for row in rows[first]:
        wider = {**found, first: row}
        if all(
            joins(wider[e.parent], wider[e.child], e)
            for e in edges
            if e.parent in wider and e.child in wider
        ):
            yield from combinations_of(wider, rest, rows, edges)
