"""What the resolver makes of a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from cqlc.algebra.plan import Plan
from cqlc.catalog import Catalog
from cqlc.diagnostics import Diagnostic
from cqlc.source import Span


class ShedPolicy(StrEnum):
    """Which rows a join drops first when there are too many (Das, Gehrke, Riedewald)."""

    PROB = "PROB"
    LIFE = "LIFE"
    RAND = "RAND"


class MemorySplit(StrEnum):
    """Whether the two inputs of a join have half the memory each, or share it as they need."""

    FIXED = "FIXED"
    VARIABLE = "VARIABLE"


@dataclass(frozen=True, slots=True)
class Shedding:
    """What to do on overload: which rows to keep, and how many."""

    policy: ShedPolicy
    keep: int
    split: MemorySplit


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """A query that runs: its plan, the sink it feeds (None for the default one), its place."""

    name: str
    plan: Plan
    sink: str | None
    shedding: Shedding | None
    span: Span


@dataclass(frozen=True, slots=True)
class Resolution:
    """The catalog with the program's declarations, and the plans of all correct statements."""

    catalog: Catalog
    views: Mapping[str, Plan]
    queries: tuple[ResolvedQuery, ...]
    diagnostics: tuple[Diagnostic, ...]
