"""The question of punctuation safety: a continuous join, its equalities and punctuation schemes.

H.-G. Li, S. Chen, J. Tatemura, D. Agrawal, K. S. Candan, W.-P. Hsiung, "Safety Guarantee of
Continuous Join Queries over Punctuated Data Streams" (VLDB 2006), sections 2 and 3. Beyond the
paper, watermarks, orders, keys and clustering count as schemes that close values by themselves,
inputs may be windowed, and attributes may have finitely many values or be bounded by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from cqlc.analysis.equality import Attribute, Equality
from cqlc.source import NOWHERE, Span


class Fate(StrEnum):
    """What happens to a stored row of an input if nothing purges it."""

    KEPT = "stays for ever"
    EXPIRES = "leaves with time"
    BOUNDED = "stays, but there are boundedly many"
    FIXED = "stays, and no row is ever added"


@dataclass(frozen=True, slots=True)
class JoinStream:
    """An input of the join: the name it goes by, and the declared stream it reads.

    Inputs of one source (a self-join) share its schemes; `source` is None where rows are derived,
    so that no scheme can be declared on them.
    """

    name: str
    source: str | None
    fate: Fate = Fate.KEPT
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


class Closing(StrEnum):
    """What tells that a value will not come again."""

    PUNCTUATION = "punctuation"
    WATERMARK = "watermark"
    ORDER = "order"
    KEY = "key"
    CLUSTER = "clustering"

    @property
    def by_range(self) -> bool:
        """Whether all values below a moving bound are closed, rather than single ones."""
        return self in (Closing.WATERMARK, Closing.ORDER)

    @property
    def needs_arrival(self) -> bool:
        """Whether only values that did arrive are ever closed, so that dangling rows stay."""
        return self in (Closing.KEY, Closing.CLUSTER)


@dataclass(frozen=True, slots=True)
class PunctuationScheme:
    """The columns of a declared stream whose values, taken together, can be closed, and how."""

    source: str
    columns: tuple[str, ...]
    closing: Closing = Closing.PUNCTUATION
    lifespan: int | None = None
    """For how long a punctuation holds, in microseconds; None means for ever."""
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        return f"{self.source}({', '.join(self.columns)})"


Schemes: TypeAlias = tuple[PunctuationScheme, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """A predicate `lower <= upper + constant`, such as a band join on event time has."""

    lower: Attribute
    upper: Attribute


@dataclass(frozen=True, slots=True)
class Grouping:
    """State with one entry per value of `keys` among the results: GROUP BY, DISTINCT.

    An entry is final, and can go, when no future result can have its values.
    """

    name: str
    keys: tuple[Attribute, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class JoinQuery:
    """A conjunctive join over streams.

    `finite` attributes have values from a set known in advance: constants of filters, declared
    domains. `bundles` are inputs that are themselves joined below (an outer join keeps its side
    together), by the joins `below`; an input in no bundle stands alone. `complete` says that these
    predicates are all there are: then UNSAFE is a proof, otherwise it is only the lack of one.
    """

    streams: tuple[JoinStream, ...]
    predicates: tuple[Equality, ...] = ()
    schemes: tuple[PunctuationScheme, ...] = ()
    finite: frozenset[Attribute] = frozenset()
    bounds: tuple[Bound, ...] = ()
    bundles: tuple[frozenset[str], ...] = ()
    groupings: tuple[Grouping, ...] = ()
    complete: bool = True
    below: tuple[JoinQuery, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    def joins(self) -> Iterator[JoinQuery]:
        """This join and all those below."""
        yield self
        for part in self.below:
            yield from part.joins()

    def with_schemes(self, change: Callable[[Schemes], Schemes]) -> JoinQuery:
        """The join, and all those below, with other schemes."""
        below = tuple(part.with_schemes(change) for part in self.below)
        return replace(self, schemes=change(self.schemes), below=below)

    def attributes(self) -> Iterator[Attribute]:
        """Every attribute the question mentions, in a fixed order, repeated ones again."""
        for equality in self.predicates:
            yield from (equality.left, equality.right)
        for bound in self.bounds:
            yield from (bound.lower, bound.upper)
        for stream in self.streams:
            for scheme in self.schemes:
                if scheme.source == stream.source:
                    yield from (Attribute(stream.name, c) for c in scheme.columns)
        for grouping in self.groupings:
            yield from grouping.keys
        yield from sorted(self.finite)
