"""Select-project-join and aggregate queries over streams with unbounded history, as data.

The class of queries is that of Arasu, Babcock, Babu, McAlister and Widom, "Characterizing Memory
Requirements for Queries over Continuous Data Streams" (ACM TODS 29(1), 2004).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TypeAlias

from cqlc.algebra.expr import Comparison, Value
from cqlc.datatypes import BIGINT, DataType
from cqlc.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Sort:
    """Values that are compared with one another.

    In a discrete sort a constant is its number (days, microseconds, units of the last decimal
    place). A dense sort knows the constants of the query in ascending order, and a constant is its
    index there: nothing but the order of values between two constants matters.
    """

    name: str
    dense: bool = False
    points: tuple[Value, ...] = ()


INTEGERS = Sort("integer")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute of a stream; its name is unique in the query."""

    name: str
    sort: Sort = INTEGERS
    type: DataType = BIGINT
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """`left op right` for two attributes; `op` is one of `<`, `<=` and `=`."""

    left: str
    op: Comparison
    right: str
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"


@dataclass(frozen=True, slots=True)
class Limit:
    """`attribute op point`; `op` is any comparison that NULL fails."""

    attribute: str
    op: Comparison
    point: int
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Among:
    """The attribute has one of finitely many values."""

    attribute: str
    points: frozenset[int]
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


Atom: TypeAlias = Link | Limit | Among


@dataclass(frozen=True, slots=True)
class Opaque:
    """A condition the theory does not read, on these attributes."""

    attributes: frozenset[str]
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Conjunction:
    """Atoms that hold together; attributes in `nulls` are NULL, those in `present` are not."""

    atoms: tuple[Atom, ...] = ()
    nulls: frozenset[str] = frozenset()
    present: frozenset[str] = frozenset()
    opaque: tuple[Opaque, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamUse:
    """One occurrence of a table in a query.

    `stored` says why the rows of this occurrence are at hand anyway (a window, a relation); it is
    empty for a stream of which everything seen so far counts. `keys` are attribute names.
    """

    name: str
    base: str
    attributes: tuple[Attribute, ...]
    stored: str = ""
    keys: tuple[tuple[str, ...], ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Output:
    """An attribute whose values are part of the answer.

    It is inexact if the answer holds a value computed from it, which may have fewer values.
    """

    attribute: str
    exact: bool = True
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Projection:
    """The answer is the values of some attributes, duplicates kept or not."""

    outputs: tuple[Output, ...]
    distinct: bool


class AggregateKind(StrEnum):
    """Aggregates, as far as memory can tell them apart."""

    COUNT = "COUNT"
    SUM = "SUM"
    AVG = "AVG"
    ALGEBRAIC = "algebraic"
    """Computed from a fixed number of sums: variances, correlation."""
    MIN = "MIN"
    MAX = "MAX"
    DIFFERENT = "of different values"
    """COUNT DISTINCT, SUM DISTINCT and the set of values."""
    MEDIAN = "MEDIAN"
    QUANTILE = "holistic"
    """Other functions of the counts of all values: quantiles, the mode, the most frequent."""
    LIST = "list"
    """The answer itself has a part for every row."""
    STEPWISE = "row by row"
    """The new answer follows from the old one and the new row: the first, the last value."""
    OTHER = "user-defined"


@dataclass(frozen=True, slots=True)
class Aggregated:
    """An aggregate over attributes; inexact if it reads values computed from them."""

    kind: AggregateKind
    attributes: tuple[str, ...] = ()
    exact: bool = True
    label: str = ""
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        return self.label or f"{self.kind}({', '.join(self.attributes) or '*'})"


@dataclass(frozen=True, slots=True)
class Aggregation:
    """The answer is one row for every group."""

    groups: tuple[Output, ...]
    aggregates: tuple[Aggregated, ...]


Head: TypeAlias = Projection | Aggregation


@dataclass(frozen=True)
class SpjQuery:
    """The disjoint union of `pieces`, one conjunction each, over the product of `uses`.

    Every `caveat` is a reason why inputs are less free, or the answer less telling, than the theory
    assumes: with one, UNBOUNDED cannot be concluded any more, while BOUNDED still can.
    """

    uses: tuple[StreamUse, ...]
    pieces: tuple[Conjunction, ...]
    head: Head
    caveats: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    """What is at hand besides stored occurrences: NRRs."""

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """Every attribute, by name."""
        return {a.name: a for use in self.uses for a in use.attributes}

    @cached_property
    def owner(self) -> Mapping[str, StreamUse]:
        """The occurrence an attribute belongs to."""
        return {a.name: use for use in self.uses for a in use.attributes}


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """A query outside the class, with the reason."""

    reason: str
    span: Span = NOWHERE
