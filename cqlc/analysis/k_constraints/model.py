"""The question of k-constraints: many-one joins of streams, and how well their arrival is ordered.

S. Babu, U. Srivastava, J. Widom, "Exploiting k-Constraints to Reduce Memory Overhead in Continuous
Queries over Data Streams" (ACM TODS 29(3), 2004). A constraint is declared on streams; every input
that reads such a stream has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from cqlc.analysis.equality import Attribute
from cqlc.catalog import Adherence, Monitored, WithinRows, WithinTime
from cqlc.source import NOWHERE, Span

Extent: TypeAlias = WithinRows | WithinTime
"""The length of a window."""


@dataclass(frozen=True, slots=True)
class JoinedStream:
    """An input of the join and the declared stream it reads.

    `filtered` says that some of its rows fail a condition of their own; `window` bounds its rows in
    any case; `rate` is rows per second.
    """

    name: str
    source: str
    keys: tuple[tuple[str, ...], ...] = ()
    filtered: bool = False
    rate: float | None = None
    window: Extent | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ManyOne:
    """A join in which a row of `parent` meets at most one row of `child`.

    `columns` are the pairs of a parent's and a child's column that are equal.
    """

    parent: str
    child: str
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Constraint:
    """How a declared constraint is called and where it stands; not part of its identity."""

    label: str = field(default="", compare=False, kw_only=True)
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Rids(Constraint):
    """Referential integrity: a parent's child, if it ever comes, comes within k of the parent."""

    parent: str
    child: str
    columns: tuple[tuple[str, str], ...]
    within: Adherence


@dataclass(frozen=True, slots=True)
class Clustering(Constraint):
    """Clustered arrival: a value does not come back after more than k rows with other values.

    With k a length of time it does not come back after it was away that long.
    """

    stream: str
    column: str
    within: Adherence


@dataclass(frozen=True, slots=True)
class Ordering(Constraint):
    """Ordered arrival: rows more than k after a row have no smaller value."""

    stream: str
    column: str
    within: Adherence


KConstraint: TypeAlias = Rids | Clustering | Ordering


@dataclass(frozen=True, slots=True)
class ManyMany:
    """A pair of inputs whose join no key makes many-one, and what a key would have to cover."""

    left: Attribute
    right: Attribute


@dataclass(frozen=True, slots=True)
class JoinGraph:
    """The join graph with the constraints on its streams.

    `loose` are joins the theory does not apply to.
    """

    streams: tuple[JoinedStream, ...]
    edges: tuple[ManyOne, ...]
    constraints: tuple[KConstraint, ...] = ()
    loose: tuple[ManyMany, ...] = ()

    def stream(self, name: str) -> JoinedStream:
        """The input called `name`."""
        return next(s for s in self.streams if s.name == name)

    def parents(self, name: str) -> tuple[str, ...]:
        """The inputs whose rows each meet at most one row of this one."""
        return tuple(e.parent for e in self.edges if e.child == name)

    def children(self, name: str) -> tuple[str, ...]:
        """The inputs of which a row of this one meets at most one row."""
        return tuple(e.child for e in self.edges if e.parent == name)

    @property
    def roots(self) -> tuple[str, ...]:
        """The inputs without parents."""
        return tuple(s.name for s in self.streams if not self.parents(s.name))

    def rids(self, edge: ManyOne) -> Iterator[Rids]:
        """The constraints that bound how long a row waits for its child."""
        parent, child = self.stream(edge.parent).source, self.stream(edge.child).source
        for constraint in self.constraints:
            match constraint:
                case Rids() if (constraint.parent, constraint.child) == (parent, child):
                    if set(constraint.columns) <= set(edge.columns):
                        yield constraint
                case _:
                    pass

    def arrivals(self, name: str, column: str) -> Iterator[Clustering | Ordering]:
        """The constraints on the order in which values of a column arrive."""
        source = self.stream(name).source
        for constraint in self.constraints:
            match constraint:
                case Clustering() | Ordering():
                    if (constraint.stream, constraint.column) == (source, column):
                        yield constraint
                case Rids():
                    pass


def is_declared(constraint: KConstraint) -> bool:
    """Whether k is known; a monitored k is estimated while running and proves nothing."""
    return not isinstance(constraint.within, Monitored)
