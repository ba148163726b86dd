"""The transformed punctuation graph: inputs that can purge each other, merged step by step.

Definition 11 and theorem 5 of Li et al. (2006), with one repair: an edge may also rest on a
composite scheme all of whose columns join a single node. The verdict is that of `reach`; the
merging is the better explanation of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cqlc.analysis.punctuation.graph import Graph, bits, union
from cqlc.analysis.punctuation.model import PunctuationScheme


@dataclass(frozen=True, slots=True)
class VirtualEdge:
    """Rows of the node `origin` can be freed by punctuations on `target`; nodes by position."""

    origin: int
    target: int
    scheme: PunctuationScheme | None
    """None where rows of `origin` expire, so that they need no punctuation."""


@dataclass(frozen=True, slots=True)
class Round:
    """The nodes before a merging, as masks of inputs, and the edges between them."""

    nodes: tuple[int, ...]
    edges: tuple[VirtualEdge, ...]


@dataclass(frozen=True, slots=True)
class TransformedGraph:
    """All mergings, and the nodes that are left: the query is safe iff there is one."""

    rounds: tuple[Round, ...]
    nodes: tuple[int, ...]
    edges: tuple[VirtualEdge, ...]

    @property
    def sinks(self) -> tuple[int, ...]:
        """The nodes left whose rows no punctuation of another node can free."""
        origins = {edge.origin for edge in self.edges}
        return tuple(n for i, n in enumerate(self.nodes) if i not in origins)


def transform(graph: Graph) -> TransformedGraph:
    """Merges strongly connected nodes until none are left."""
    rounds: list[Round] = []
    nodes = graph.blocks
    while True:
        edges = _edges(graph, nodes)
        components = _components(len(nodes), edges)
        if len(components) == len(nodes):
            return TransformedGraph(tuple(rounds), nodes, edges)
        rounds.append(Round(nodes, edges))
        nodes = tuple(sorted(union(nodes[i] for i in bits(c)) for c in components))


def _edges(graph: Graph, nodes: Sequence[int]) -> tuple[VirtualEdge, ...]:
    """An edge per pair of nodes for which one suffices to instantiate a scheme of the other.

    Columns are compared by the input that has them: a partner inside the target's own node does
    not count.
    """
    found: dict[tuple[int, int], VirtualEdge] = {}
    where = {i: position for position, node in enumerate(nodes) for i in bits(node)}
    for origin, node in enumerate(nodes):
        if node & graph.expiring:
            others = (target for target in range(len(nodes)) if target != origin)
            found.update({(origin, t): VirtualEdge(origin, t, None) for t in others})
    for rule in graph.rules:
        if not graph.admits(rule, graph.block_of(rule.target)):
            continue
        target = where[rule.target]
        for origin, node in enumerate(nodes):
            if origin != target and all(need & node for need in rule.needs):
                found.setdefault((origin, target), VirtualEdge(origin, target, rule.scheme))
    return tuple(found.values())


def _components(count: int, edges: Sequence[VirtualEdge]) -> list[int]:
    """The strongly connected components, as masks of node positions."""
    ahead = [1 << i for i in range(count)]
    for edge in edges:
        ahead[edge.origin] |= 1 << edge.target
    for middle in range(count):
        for i in range(count):
            if ahead[i] >> middle & 1:
                ahead[i] |= ahead[middle]
    mutual = {
        union(1 << j for j in bits(ahead[i]) if ahead[j] >> i & 1): None for i in range(count)
    }
    return list(mutual)
