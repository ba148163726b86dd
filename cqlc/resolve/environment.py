"""What statements are resolved against."""

from __future__ import annotations

from dataclasses import dataclass, field

from cqlc.algebra.plan import Plan
from cqlc.catalog import FunctionDeclaration, SinkDeclaration, TableDeclaration
from cqlc.resolve.facts import FactsOf
from cqlc.resolve.findings import Findings
from cqlc.resolve.lookup import Names


@dataclass(frozen=True, slots=True)
class View:
    """A named query: its plan, None if it is broken, and what its unnamed columns answer to."""

    name: str
    plan: Plan | None
    nicknames: tuple[tuple[str, str], ...] = ()
    holds_latest_only: bool = False
    """Whether it is the relation of an aggregate over windows."""


@dataclass(slots=True)
class Environment:
    """The names in force, the findings so far, and the facts of the plans built so far."""

    tables: Names[TableDeclaration] = field(default_factory=Names[TableDeclaration])
    views: Names[View] = field(default_factory=Names[View])
    sinks: Names[SinkDeclaration] = field(default_factory=Names[SinkDeclaration])
    functions: Names[FunctionDeclaration] = field(default_factory=Names[FunctionDeclaration])
    findings: Findings = field(default_factory=Findings)
    facts: FactsOf = field(default_factory=FactsOf)
    budget: int = 400
    """How many more levels of Python calls expressions and queries inside queries may take."""
