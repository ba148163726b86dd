"""What following a plan's rows costs: changelogs, keys, and the state of every operator.

The choice of state structure by the update pattern of the stored edge is that of L. Golab,
"Sliding Window Query Processing over Data Streams" (2006), section 3.5.2: FIFO queues for rows that
expire in the order they came, calendar queues for rows that carry their end, hash tables for rows
that are deleted one by one, and one entry per group for aggregates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Dstream,
    Except,
    Filter,
    Intersect,
    Istream,
    IstreamRestore,
    Join,
    Now,
    NrrJoin,
    Plan,
    Project,
    Range,
    Rank,
    Rename,
    Rows,
    Rstream,
    RstreamRestore,
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.walk import derive
from cqlc.analysis.keys import Key, keys
from cqlc.analysis.update_pattern import Edge, Patterns, UpdatePattern, update_patterns
from cqlc.catalog import Catalog


class Changelog(StrEnum):
    """What has to be told about a relation so that a reader can follow it."""

    APPEND = "insertions"
    EXPIRING = "insertions that carry their end"
    UPSERT = "rows that replace the one of their key, and deletions"
    RETRACT = "insertions and deletions"


class Structure(StrEnum):
    """How stored rows are arranged."""

    FIFO = "FIFO queue"
    CALENDAR = "calendar queue"
    HASH = "hash table"
    GROUPS = "one entry per group"


class Eviction(StrEnum):
    """What makes a stored row leave."""

    AGE = "in the order of arrival, at a fixed age"
    EXPIRY = "when its own end passes"
    DELETION = "when its deletion arrives"
    REPLACEMENT = "when a newer row takes its place, or its group is empty"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Buffer:
    """A part of an operator's state: whose rows it holds, arranged how, and when they leave."""

    holds: str
    structure: Structure
    eviction: Eviction
    lifetime: int | None = None
    """The longest a row stays, in microseconds; None if there is no such bound."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """All that is derived about the edge leaving an operator, and about the operator's state."""

    patterns: Patterns
    changelog: Changelog
    key: Key | None
    """The shortest key of the rows at any instant: what an upsert can be keyed by."""
    buffers: tuple[Buffer, ...]


def annotate(plan: Plan, catalog: Catalog, tick: int = 1) -> Mapping[int, Annotation]:
    """The annotation of every subplan, by the subplan's `id`; `tick` is the unit of time."""
    known = keys(plan, catalog)
    patterns = update_patterns(plan, catalog, tick)

    def transfer(node: Plan, of: tuple[Annotation, ...]) -> Annotation:
        here = patterns[id(node)]
        key = next(iter(known[id(node)]), None)
        log = changelog(here.output, key)
        return Annotation(here, log, key, buffers(node, tuple(a.patterns.state for a in of)))

    return derive(plan, transfer)


def changelog(output: Edge, key: Key | None) -> Changelog:
    """How a reader is told of the rows of an edge."""
    match output.pattern:
        case UpdatePattern.MONOTONIC:
            return Changelog.APPEND
        case UpdatePattern.WEAKEST | UpdatePattern.WEAK:
            return Changelog.EXPIRING
        case UpdatePattern.STRICT:
            return Changelog.UPSERT if key is not None else Changelog.RETRACT


def buffers(plan: Plan, of: tuple[Edge, ...]) -> tuple[Buffer, ...]:
    """What the operator has to keep, given the state patterns of its inputs."""
    match plan:
        case (
            Scan()
            | Table()
            | Values()
            | Now()
            | Unbounded()
            | Range()
            | Rename()
            | Filter()
            | Project()
            | NrrJoin()
            | Union()
            | Istream()
            | Dstream()
            | Rstream()
            | IstreamRestore()
            | RstreamRestore()
        ):
            return ()
        case Rows():
            return (Buffer("window", Structure.FIFO, Eviction.REPLACEMENT, plan.range),)
        case Session():
            return (Buffer("open sessions", Structure.GROUPS, Eviction.EXPIRY),)
        case Distinct():
            return _distinct_buffers(of[0])
        case Aggregate():
            groups = Buffer("groups", Structure.GROUPS, Eviction.REPLACEMENT, of[0].lifetime)
            if of[0].pattern is UpdatePattern.MONOTONIC:
                return (Buffer("groups", Structure.GROUPS, Eviction.NEVER),)
            return (stored("input", of[0]), groups)
        case Rank():
            return (stored("input", of[0]),)
        case Join() | Except() | Intersect():
            return (stored("left", of[0]), stored("right", of[1]))


def _distinct_buffers(given: Edge) -> tuple[Buffer, ...]:
    match given.pattern:
        case UpdatePattern.MONOTONIC:
            return (Buffer("values seen", Structure.HASH, Eviction.NEVER),)
        case UpdatePattern.WEAKEST | UpdatePattern.WEAK:
            shown = Buffer("values shown", Structure.CALENDAR, Eviction.EXPIRY, given.lifetime)
            spare = Buffer("a spare per value", Structure.HASH, Eviction.EXPIRY, given.lifetime)
            return (shown, spare)
        case UpdatePattern.STRICT:
            return (Buffer("a count per value", Structure.GROUPS, Eviction.DELETION),)


def stored(holds: str, given: Edge) -> Buffer:
    """The structure that suits rows that come and go by the pattern of `given`."""
    match given.pattern:
        case UpdatePattern.MONOTONIC:
            return Buffer(holds, Structure.HASH, Eviction.NEVER)
        case UpdatePattern.WEAKEST:
            return Buffer(holds, Structure.FIFO, Eviction.AGE, given.lifetime)
        case UpdatePattern.WEAK:
            return Buffer(holds, Structure.CALENDAR, Eviction.EXPIRY, given.lifetime)
        case UpdatePattern.STRICT:
            return Buffer(holds, Structure.HASH, Eviction.DELETION, given.lifetime)
