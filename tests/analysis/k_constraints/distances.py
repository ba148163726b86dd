"""How well data adhere to constraints: the smallest k that holds, from the definitions.

Distances count rows as in section 1.3 of Babu, Srivastava, Widom (2004): the later row belongs to a
join or scrambling distance, neither end to a clustering distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cqlc.analysis.k_constraints import Clustering, JoinGraph, KConstraint, ManyOne, Ordering, Rids
from tests.analysis.k_constraints.simulator import Values

Log = Sequence[tuple[str, Values, int]]
"""Arrivals: stream, values, time."""


def join_distance(log: Log, edge: ManyOne) -> int:
    """The most rows of the child's stream between a parent and its child, the child included."""
    worst = 0
    for i, (stream, values, _) in enumerate(log):
        if stream != edge.parent:
            continue
        counted = 0
        for other, later, _ in log[i + 1 :]:
            if other == edge.child:
                counted += 1
                if all(values[a] == later[b] for a, b in edge.columns):
                    worst = max(worst, counted)
                    break
    return worst


def join_delay(log: Log, edge: ManyOne) -> int:
    """The longest time from a parent to its child."""
    delays = [
        later - time
        for i, (stream, values, time) in enumerate(log)
        if stream == edge.parent
        for other, found, later in log[i + 1 :]
        if other == edge.child and all(values[a] == found[b] for a, b in edge.columns)
    ]
    return max(delays, default=0)


def clustering_distance(values: Sequence[int]) -> int:
    """The most other values between the first and the last of a value."""
    worst = 0
    for value in set(values):
        first = values.index(value)
        last = len(values) - 1 - values[::-1].index(value)
        worst = max(worst, sum(v != value for v in values[first:last]))
    return worst


def clustering_gap(timed: Sequence[tuple[int, int]]) -> int:
    """The longest time between two rows of a value with none of it in between."""
    gaps = [
        later - earlier
        for value in {v for v, _ in timed}
        for earlier, later in pairwise([t for v, t in timed if v == value])
    ]
    return max(gaps, default=0)


def scrambling_distance(values: Sequence[int]) -> int:
    """The most rows from a value to a smaller one that comes later."""
    pairs = ((i, j) for j in range(len(values)) for i in range(j) if values[i] > values[j])
    return max((j - i for i, j in pairs), default=0)


def scrambling_delay(timed: Sequence[tuple[int, int]]) -> int:
    """The longest time from a value to a smaller one that comes later."""
    pairs = ((a, b) for j, b in enumerate(timed) for a in timed[:j] if a[0] > b[0])
    return max((b[1] - a[1] for a, b in pairs), default=0)


def true_k(log: Log, graph: JoinGraph, constraint: KConstraint, *, in_time: bool) -> int:
    """The smallest k with which a constraint holds on some arrivals."""
    match constraint:
        case Rids():
            edges = [
                e
                for e in graph.edges
                if (e.parent, e.child) == (constraint.parent, constraint.child)
            ]
            measure = join_delay if in_time else join_distance
            return max(measure(log, edge) for edge in edges)
        case Clustering(stream, column):
            timed = [(v[column], t) for s, v, t in log if s == stream]
            return clustering_gap(timed) if in_time else clustering_distance([v for v, _ in timed])
        case Ordering(stream, column):
            timed = [(v[column], t) for s, v, t in log if s == stream]
            return (
                scrambling_delay(timed) if in_time else scrambling_distance([v for v, _ in timed])
            )
