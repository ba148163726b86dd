"""Who answers a test's question: the reference semantics, or Spark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Protocol

from cqlc.algebra.plan import Clock, Stream
from cqlc.compiler import Compilation
from cqlc.resolve import ResolvedQuery
from cqlc.semantics import FOREVER, Change, Meaning, Timeline, Values


@dataclass(frozen=True, slots=True)
class Question:
    """What one query of a program answers over a timeline.

    `tick`, `clock` and `horizon` are those of `cqlc.semantics.Meaning`. `batches` says how the
    rows arrive, late ones included; without any, all of the timeline arrives at once.
    """

    compilation: Compilation
    query: ResolvedQuery
    timeline: Timeline
    tick: int = 1
    clock: Clock | None = None
    horizon: int | None = None
    batches: tuple[Timeline, ...] = ()


class Engine(Protocol):
    """Something that runs queries."""

    def changes(self, question: Question) -> list[Change]:
        """The elements of a stream, +1 and without `_time`, or the net changes of a relation."""
        ...

    def final(self, question: Question) -> Counter[Values]:
        """All elements of a stream, or the rows of a relation when everything has happened."""
        ...


class Reference:
    """The reference semantics as an engine."""

    def changes(self, question: Question) -> list[Change]:
        """See `Engine`."""
        plan, meaning = question.query.plan, _meaning(question)
        if isinstance(plan, Stream):
            return [(time, 1, values[:-1]) for time, values in meaning.stream(plan)]
        return meaning.changelog(plan)

    def final(self, question: Question) -> Counter[Values]:
        """See `Engine`."""
        plan, meaning = question.query.plan, _meaning(question)
        if isinstance(plan, Stream):
            return Counter(values[:-1] for _, values in meaning.stream(plan))
        end = FOREVER if question.horizon is None else question.horizon
        return meaning.relation(plan, end)


def _meaning(question: Question) -> Meaning:
    return Meaning(
        question.timeline, tick=question.tick, clock=question.clock, horizon=question.horizon
    )


ENGINES: dict[str, Engine] = {"reference": Reference()}
"""The engines by name; Spark is another, made when it is asked for."""


class UnknownEngineError(LookupError):
    """A name that no engine has."""


def engine_called(name: str) -> Engine:
    """The engine with a name."""
    if name == "spark":
        from cqlc.testing.spark import SparkEngine

        return SparkEngine()
    if name not in ENGINES:
        names = ", ".join((*ENGINES, "spark"))
        raise UnknownEngineError(f"no engine is called {name}; there is: {names}")
    return ENGINES[name]
