"""What the k-Mon execution model stores of a join, and by which rules it forgets.

Every arrived row is logically in one of three components: Yes (it has a result with its
descendants), No (it never will) or Unknown. Sections 3 to 6 of Babu, Srivastava, Widom (2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cqlc.analysis.k_constraints.build import topological
from cqlc.analysis.k_constraints.model import (
    Clustering,
    JoinGraph,
    ManyOne,
    Ordering,
    Rids,
    is_declared,
)


class Shape(StrEnum):
    """The shape of a join graph."""

    TREE = "tree"
    """Without cycles even when directions are ignored: the main case."""
    DAG = "directed acyclic graph"
    """Two ways from a row may lead to different rows of one stream, which has to be checked."""
    CYCLIC = "cycle"


class Refusal(StrEnum):
    """Why the execution model does not apply, so that every row is kept as long as its window."""

    NO_JOIN = "there is no join"
    MANY_MANY = "a join is many-many: no key covers its columns on either side"
    DISCONNECTED = "some streams are not joined with the others"
    CYCLIC = "the many-one joins form a cycle"


@dataclass(frozen=True, slots=True)
class Floor:
    """Children arrive in the order of a join column (OAC): below a moving bound none will come."""

    parent_column: str
    child_column: str
    ordering: Ordering


@dataclass(frozen=True, slots=True)
class Closer:
    """Parents arrive clustered or ordered by a join column (CA, OAP): a value is done for them."""

    parent_column: str
    child_column: str
    constraint: Clustering | Ordering

    @property
    def clustered(self) -> bool:
        """Whether only values that arrive are ever done, so that dangling rows stay."""
        return isinstance(self.constraint, Clustering)


@dataclass(frozen=True, slots=True)
class EdgeRules:
    """The constraints at work on one join."""

    edge: ManyOne
    timeouts: tuple[Rids, ...]
    floors: tuple[Floor, ...]
    closers: tuple[Closer, ...]

    @property
    def ends_waiting(self) -> bool:
        """Whether a parent without a child is given up at some time."""
        return bool(self.timeouts or self.floors)


@dataclass(frozen=True, slots=True)
class StreamRules:
    """What is stored of one stream.

    `cover` are the parents whose rows decide, by theorem 5.1, when a row of this stream can go;
    None if there is no such set among the parents.
    """

    stream: str
    stores_yes: bool
    stores_no: bool
    cover: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Maintenance:
    """The rules for a whole join."""

    graph: JoinGraph
    shape: Shape
    streams: tuple[StreamRules, ...]
    edges: tuple[EdgeRules, ...]

    def stream(self, name: str) -> StreamRules:
        """The rules of the stream called `name`."""
        return next(s for s in self.streams if s.stream == name)

    def into(self, child: str) -> tuple[EdgeRules, ...]:
        """The rules of the joins with a stream's parents."""
        return tuple(e for e in self.edges if e.edge.child == child)

    def out_of(self, parent: str) -> tuple[EdgeRules, ...]:
        """The rules of the joins with a stream's children."""
        return tuple(e for e in self.edges if e.edge.parent == parent)


def shape_of(graph: JoinGraph) -> Shape:
    """Whether the joins form a tree, a graph without directed cycles, or a cycle."""
    if topological(graph.edges) is None:
        return Shape.CYCLIC
    return Shape.TREE if len(graph.edges) == len(graph.streams) - 1 else Shape.DAG


def refusal_of(graph: JoinGraph) -> Refusal | None:
    """Why the model does not apply, or None if it does.

    A cycle is refused: rows of a cycle may wait for rows outside it, and the published rule then
    takes them for complete too early.
    """
    if len(graph.streams) < 2:
        return Refusal.NO_JOIN
    if graph.loose:
        return Refusal.MANY_MANY
    if not _connected(graph):
        return Refusal.DISCONNECTED
    if shape_of(graph) is Shape.CYCLIC:
        return Refusal.CYCLIC
    return None


def _connected(graph: JoinGraph) -> bool:
    reached = {graph.streams[0].name}
    for _ in graph.streams:
        for edge in graph.edges:
            if edge.parent in reached or edge.child in reached:
                reached |= {edge.parent, edge.child}
    return len(reached) == len(graph.streams)


def maintenance(graph: JoinGraph) -> Maintenance:
    """The rules for a join that is not refused."""
    edges = tuple(_edge_rules(graph, edge) for edge in graph.edges)
    roots = set(graph.roots)
    return Maintenance(
        graph,
        shape_of(graph),
        tuple(_stream_rules(graph, s.name, edges, roots) for s in graph.streams),
        edges,
    )


def _edge_rules(graph: JoinGraph, edge: ManyOne) -> EdgeRules:
    floors: list[Floor] = []
    closers: list[Closer] = []
    for above, below in edge.columns:
        for found in filter(is_declared, graph.arrivals(edge.child, below)):
            if isinstance(found, Ordering):
                floors.append(Floor(above, below, found))
        for found in filter(is_declared, graph.arrivals(edge.parent, above)):
            closers.append(Closer(above, below, found))
    timeouts = tuple(filter(is_declared, graph.rids(edge)))
    return EdgeRules(edge, timeouts, tuple(floors), tuple(closers))


def _stream_rules(
    graph: JoinGraph, name: str, edges: tuple[EdgeRules, ...], roots: set[str]
) -> StreamRules:
    """Theorems 3.5 and 5.1 and section 4 of the paper, as flags.

    The roots are the only minimal cover of a graph without cycles. So Yes of a single root is not
    needed, and a stream's rows can be given up by their parents iff all roots are among these.
    """
    parents = graph.parents(name)
    given_up = bool(parents) and all(e.ends_waiting for e in edges if e.edge.child == name)
    return StreamRules(
        name,
        stores_yes=roots != {name},
        stores_no=bool(parents) and not given_up,
        cover=tuple(p for p in parents if p in roots) if roots <= set(parents) else None,
    )
