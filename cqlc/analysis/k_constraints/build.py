"""From equi-joins and keys to a directed join graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import combinations

from cqlc.analysis.equality import Attribute, Equality, equality_classes
from cqlc.analysis.k_constraints.model import (
    JoinedStream,
    JoinGraph,
    KConstraint,
    ManyMany,
    ManyOne,
    Rids,
)


def join_graph(
    streams: Sequence[JoinedStream],
    equalities: Sequence[Equality],
    constraints: Iterable[KConstraint] = (),
) -> JoinGraph:
    """Directs every join from its many side to its one side, as keys and references tell.

    Equalities are closed under implication. An edge is taken for every written join, for every
    declared reference, and where it takes more to hold a class of equal attributes together.
    """
    known = tuple(constraints)
    joins = _Joins(streams, equalities, known)
    edges = list(joins.directed(joins.written))
    edges += joins.directed(joins.referenced - joins.written)
    loose: list[ManyMany] = []
    for members in joins.classes.values():
        for gap in _gaps(members, edges, joins):
            match gap:
                case ManyOne():
                    edges.append(gap)
                case ManyMany():
                    loose.append(gap)
    return JoinGraph(tuple(streams), _acyclic(edges, joins), known, tuple(loose))


Pair = tuple[str, str]


class _Joins:
    """What is known about every pair of inputs."""

    def __init__(
        self,
        streams: Sequence[JoinedStream],
        equalities: Sequence[Equality],
        constraints: tuple[KConstraint, ...],
    ) -> None:
        self.streams = {s.name: s for s in streams}
        self.order = {s.name: i for i, s in enumerate(streams)}
        ends = [a for e in equalities for a in (e.left, e.right)]
        self.classes: dict[int, list[Attribute]] = {}
        for attribute, number in sorted(equality_classes(ends, equalities).items()):
            self.classes.setdefault(number, []).append(attribute)
        self.references = [c for c in constraints if isinstance(c, Rids)]
        self.shared: dict[Pair, list[tuple[str, str]]] = {}
        for members in self.classes.values():
            for left, right in combinations(members, 2):
                if left.stream != right.stream:
                    self._share(left, right)
                    self._share(right, left)
        self.written = {
            self._pair(e.left.stream, e.right.stream)
            for e in equalities
            if e.left.stream != e.right.stream
        }
        self.referenced = {
            self._pair(*pair) for pair in self.shared if any(self._references(*pair))
        }

    def _share(self, left: Attribute, right: Attribute) -> None:
        self.shared.setdefault((left.stream, right.stream), []).append((left.column, right.column))

    def _pair(self, left: str, right: str) -> Pair:
        return (left, right) if self.order[left] <= self.order[right] else (right, left)

    def _references(self, parent: str, child: str) -> Iterator[Rids]:
        sources = (self.streams[parent].source, self.streams[child].source)
        columns = set(self.shared[parent, child])
        for reference in self.references:
            if (reference.parent, reference.child) == sources and columns >= set(reference.columns):
                yield reference

    def is_many_one(self, parent: str, child: str) -> bool:
        """Whether a row of `parent` meets at most one row of `child`."""
        columns = {column for _, column in self.shared[parent, child]}
        keyed = any(columns >= set(key) for key in self.streams[child].keys)
        return keyed or any(self._references(parent, child))

    def direction(self, left: str, right: str) -> ManyOne | None:
        """The edge of a pair. A one-one join goes as a reference says, else from first to last."""
        ways = [pair for pair in ((left, right), (right, left)) if self.is_many_one(*pair)]
        if not ways:
            return None
        parent, child = min(ways, key=lambda pair: not any(self._references(*pair)))
        return ManyOne(parent, child, tuple(dict.fromkeys(self.shared[parent, child])))

    def directed(self, pairs: Iterable[Pair]) -> Iterator[ManyOne]:
        """The edges of the pairs that have one, in the order of the inputs."""
        for pair in sorted(pairs, key=lambda pair: tuple(self.order[name] for name in pair)):
            edge = self.direction(*pair)
            if edge is not None:
                yield edge


def _gaps(
    members: list[Attribute], edges: list[ManyOne], joins: _Joins
) -> Iterator[ManyOne | ManyMany]:
    """What is missing between the inputs of a class: an implied edge, or none if there is none."""
    groups: dict[str, set[str]] = {a.stream: {a.stream} for a in members}

    def merge(left: str, right: str) -> None:
        joined = groups[left] | groups[right]
        groups.update(dict.fromkeys(joined, joined))

    for edge in edges:
        if edge.parent in groups and edge.child in groups:
            merge(edge.parent, edge.child)
    pairs = [(a, b) for a, b in combinations(members, 2) if a.stream != b.stream]
    for left, right in pairs:
        edge = joins.direction(left.stream, right.stream)
        if edge is not None and groups[left.stream] is not groups[right.stream]:
            merge(left.stream, right.stream)
            yield edge
    for left, right in pairs:
        if groups[left.stream] is not groups[right.stream]:
            merge(left.stream, right.stream)
            yield ManyMany(left, right)


def _acyclic(edges: list[ManyOne], joins: _Joins) -> tuple[ManyOne, ...]:
    """The edges, with one-one joins turned round where that opens a cycle."""
    taken: list[ManyOne] = []
    for edge in sorted(edges, key=lambda e: joins.is_many_one(e.child, e.parent)):
        back = ManyOne(edge.child, edge.parent, tuple((b, a) for a, b in edge.columns))
        turns = joins.is_many_one(edge.child, edge.parent)
        closes = topological([*taken, edge]) is None
        taken.append(back if turns and closes and topological([*taken, back]) else edge)
    return tuple(sorted(taken, key=lambda e: (joins.order[e.parent], joins.order[e.child])))


def topological(edges: Iterable[ManyOne]) -> tuple[str, ...] | None:
    """The inputs of some edges, children before parents; None if the edges form a cycle."""
    sorter = TopologicalSorter[str]()
    for edge in edges:
        sorter.add(edge.parent, edge.child)
    try:
        return tuple(sorter.static_order())
    except CycleError:
        return None
