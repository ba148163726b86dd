"""Plans: closed unions of stream-valued and relation-valued operators.

A stream is a bag of timestamped rows; a relation has a bag of rows at every tick. Windows lead
from streams to relations, ISTREAM, DSTREAM and RSTREAM back (Arasu, Babu, Widom, "The CQL
continuous query language", VLDB Journal 2006). NRRs are Golab's non-retroactive relations: they
are not relations of the algebra, they can only be looked up by rows that have a time.

Times and lengths are microseconds. A relation's columns have unique names; a stream's schema
ends with the hidden column `_time`. What a plan means is defined in `cqlc.semantics`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from cqlc.algebra.expr import AggregateCall, Expr, SortKey
from cqlc.algebra.schema import Schema
from cqlc.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Node:
    """Where an operator came from; never part of its identity."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


# --------------------------------------------------------------------------------------- time


@dataclass(frozen=True, slots=True)
class Grid:
    """The instants `offset + i * period`, at which a sliding window moves or a clock ticks."""

    period: int
    offset: int = 0

    def up(self, time: int) -> int:
        """The first boundary after `time`."""
        return ((time - self.offset) // self.period + 1) * self.period + self.offset


@dataclass(frozen=True, slots=True)
class EveryChange:
    """A clock that ticks whenever the relation changes."""


Clock: TypeAlias = Grid | EveryChange


# ------------------------------------------------------------------------------------ streams


@dataclass(frozen=True, slots=True)
class Scan(Node):
    """The declared stream `name`."""

    name: str
    schema: Schema = field(repr=False)


@dataclass(frozen=True, slots=True)
class Istream(Node):
    """At every tick, the rows that the relation gained since the tick before, as a bag."""

    input: Relation


@dataclass(frozen=True, slots=True)
class Dstream(Node):
    """At every tick, the rows that the relation lost since the tick before, as a bag."""

    input: Relation


@dataclass(frozen=True, slots=True)
class Rstream(Node):
    """At every tick of the clock, all rows of the relation."""

    input: Relation
    clock: Clock


@dataclass(frozen=True, slots=True)
class IstreamRestore(Node):
    """What ISTREAM of the continuously evaluated plan yields, each row held to the next boundary.

    `continuous` is the query without its SLIDE; so results that live and die between two
    boundaries are reported too (Golab's restore semantics).
    """

    continuous: Relation
    grid: Grid


@dataclass(frozen=True, slots=True)
class RstreamRestore(Node):
    """At every boundary all rows of `sampled`, and those that lived and died since the last one."""

    sampled: Relation
    continuous: Relation
    grid: Grid


Stream: TypeAlias = Scan | Istream | Dstream | Rstream | IstreamRestore | RstreamRestore


# ------------------------------------------------------------------------------------ windows


@dataclass(frozen=True, slots=True)
class Now(Node):
    """The rows of the present tick."""

    input: Stream


@dataclass(frozen=True, slots=True)
class Unbounded(Node):
    """All rows so far."""

    input: Stream


@dataclass(frozen=True, slots=True)
class Range(Node):
    """The rows of the last `length` microseconds; with a grid, as of its last boundary.

    A row of time ts is alive in [ts, ts + length), or in [up(ts), up(ts + length)) on a grid. An
    `internal` window bounds state only: its rows combine while alive, and what they made stays.
    """

    input: Stream
    length: int
    slide: Grid | None = None
    internal: bool = False


@dataclass(frozen=True, slots=True)
class Rows(Node):
    """The last `rows` rows of each partition, at most `range` old, moving every `slide` rows.

    The order is (time, arrival); where a source has no arrival order, the column `sequence`
    breaks ties, else the row's own values do. `internal` as in `Range`.
    """

    input: Stream
    rows: int
    partition: tuple[str, ...] = ()
    range: int | None = None
    slide: int = 1
    sequence: str | None = None
    internal: bool = False


@dataclass(frozen=True, slots=True)
class Session(Node):
    """The rows of a finished session, for the one tick at its end (last time + gap).

    Rows of a partition whose gaps are smaller than `gap` form a session. The hidden columns
    `session_start` and `session_end` hold its first time and its end.
    """

    input: Stream
    gap: int
    partition: tuple[str, ...] = ()


Window: TypeAlias = Now | Unbounded | Range | Rows | Session


# ---------------------------------------------------------------------------------- relations


class JoinKind(StrEnum):
    """Which rows a join returns; SEMI and ANTI return left rows only."""

    INNER = "INNER"
    LEFT = "LEFT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


class RankKind(StrEnum):
    """How equal rows are numbered. ROW_NUMBER breaks ties by the row's own values."""

    ROW_NUMBER = "ROW_NUMBER"
    RANK = "RANK"
    DENSE_RANK = "DENSE_RANK"


@dataclass(frozen=True, slots=True)
class Named(Node):
    """An output column: a name and how its value is computed."""

    name: str
    value: Expr


@dataclass(frozen=True, slots=True)
class NamedAggregate(Node):
    """An output column of an aggregation."""

    name: str
    value: AggregateCall


@dataclass(frozen=True, slots=True)
class Table(Node):
    """The declared retroactive relation `name`, as of now."""

    name: str
    schema: Schema = field(repr=False)


@dataclass(frozen=True, slots=True)
class Values(Node):
    """A constant relation."""

    rows: tuple[tuple[Expr, ...], ...]
    schema: Schema = field(repr=False)


@dataclass(frozen=True, slots=True)
class Rename(Node):
    """The same rows, every column `c` called `alias.c`."""

    input: Relation
    alias: str


@dataclass(frozen=True, slots=True)
class Filter(Node):
    """The rows for which `predicate` is true."""

    input: Relation
    predicate: Expr


@dataclass(frozen=True, slots=True)
class Project(Node):
    """One row of `columns` for every row; duplicates stay."""

    input: Relation
    columns: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Distinct(Node):
    """Every different row once; NULLs are equal here."""

    input: Relation


@dataclass(frozen=True, slots=True)
class Join(Node):
    """The pairs of rows for which `predicate` is true; outer kinds fill up with NULLs."""

    left: Relation
    right: Relation
    kind: JoinKind
    predicate: Expr


@dataclass(frozen=True, slots=True)
class NrrJoin(Node):
    """Each row joined with the NRR `name` as it was just before the row's own time.

    The NRR's columns are called `alias.c`. A row's time is the latest time of the stream rows it
    was made of (Golab's Definition 3.1). FULL is not possible.
    """

    input: Relation
    name: str
    schema: Schema = field(repr=False)
    alias: str
    kind: JoinKind
    predicate: Expr


@dataclass(frozen=True, slots=True)
class Aggregate(Node):
    """One row of keys and aggregates for every group that has rows; none for empty input."""

    input: Relation
    keys: tuple[Named, ...]
    aggregates: tuple[NamedAggregate, ...]


@dataclass(frozen=True, slots=True)
class Union(Node):
    """The rows of both inputs, by position, named as in the left one; multiplicities add."""

    left: Relation
    right: Relation


@dataclass(frozen=True, slots=True)
class Except(Node):
    """The bag difference: each row max(0, left - right) times."""

    left: Relation
    right: Relation


@dataclass(frozen=True, slots=True)
class Intersect(Node):
    """The bag intersection: each row min(left, right) times."""

    left: Relation
    right: Relation


@dataclass(frozen=True, slots=True)
class Rank(Node):
    """Each row with its number in the order of its partition as the column `name`."""

    input: Relation
    kind: RankKind
    partition: tuple[str, ...]
    order: tuple[SortKey, ...]
    name: str


Relation: TypeAlias = (
    Now
    | Unbounded
    | Range
    | Rows
    | Session
    | Table
    | Values
    | Rename
    | Filter
    | Project
    | Distinct
    | Join
    | NrrJoin
    | Aggregate
    | Union
    | Except
    | Intersect
    | Rank
)

Plan: TypeAlias = Stream | Relation
