"""Whether a continuous join is safe: can every stored row be freed by finitely many punctuations?

Theorems 3 and 4 of Li et al. (2006), for arbitrary schemes. Safety says that punctuations which
would free a row exist, not that they come: it is necessary for bounded state, and no bound on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from cqlc.analysis.equality import Attribute
from cqlc.analysis.punctuation.graph import Graph, Reach, Rule, graph_of, reach
from cqlc.analysis.punctuation.model import Closing, JoinQuery, PunctuationScheme, Schemes
from cqlc.analysis.punctuation.plans import JoinPlan, best_plan
from cqlc.analysis.punctuation.repair import needed_schemes, smallest_additions
from cqlc.analysis.punctuation.retirement import Retirement, retirements
from cqlc.analysis.punctuation.transformed import TransformedGraph, transform


class Verdict(StrEnum):
    """The answer for a join or one of its inputs."""

    SAFE = "SAFE"
    SAFE_IF_REFERENCED = "SAFE IF REFERENCED"
    """Safe for rows whose values do arrive on the keyed or clustered stream; others stay."""
    UNSAFE = "UNSAFE"


@dataclass(frozen=True, slots=True)
class Supply:
    """Where the value of a scheme's column comes from; no attribute if it is known in advance."""

    column: str
    attribute: Attribute | None


@dataclass(frozen=True, slots=True)
class ChainStep:
    """One link of a chained purge: close `stream` for the values that rows so far supply."""

    stream: str
    scheme: PunctuationScheme
    supplies: tuple[Supply, ...]


@dataclass(frozen=True, slots=True)
class StreamSafety:
    """Whether the stored rows of one input, or the entries of a grouping, can be freed, and how.

    For a bundle of inputs joined below, `streams` names them all. `missing` are the inputs whose
    future rows nothing excludes.
    """

    streams: tuple[str, ...]
    verdict: Verdict
    chain: tuple[ChainStep, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UselessScheme:
    """A scheme by which no row is freed, and its columns that join nothing, if that is why."""

    scheme: PunctuationScheme
    unjoined: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """Schemes to add, and the verdict that the check gives with them."""

    schemes: tuple[PunctuationScheme, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Repairs:
    """The smallest repairs; `smallest` is False if the search for smaller ones was cut short."""

    options: tuple[Repair, ...]
    smallest: bool


@dataclass(frozen=True, slots=True)
class Safety:
    """Everything known about the safety of one join."""

    graph: Graph
    verdict: Verdict
    proved: bool
    """Whether the verdict is certain. UNSAFE is not if predicates were left out of the question."""
    streams: tuple[StreamSafety, ...]
    useless: tuple[UselessScheme, ...]
    """The schemes this join makes no use of; one below may."""
    needed: tuple[PunctuationScheme, ...]
    """The fewest schemes that keep a safe join and those below safe, of those sent as data."""
    retirements: tuple[Retirement, ...]
    transformed: TransformedGraph
    plan: JoinPlan | None
    """The safe plan to run; None if there is none."""
    repairs: Repairs
    below: tuple[Safety, ...]
    """The joins whose results are inputs of this one."""

    @property
    def query(self) -> JoinQuery:
        """The question."""
        return self.graph.query

    def joins(self) -> Iterator[Safety]:
        """The answers for this join and all those below."""
        yield self
        for part in self.below:
            yield from part.joins()

    @property
    def used(self) -> tuple[PunctuationScheme, ...]:
        """Everything that closes values for this join and those below: what safety rests on."""
        here = (step.scheme for stream in self.streams for step in stream.chain)
        below = (scheme for part in self.below for scheme in part.used)
        return tuple(dict.fromkeys(s for s in (*here, *below) if s.columns))

    @property
    def stuck(self) -> tuple[str, ...]:
        """The inputs and groupings whose state can never be purged."""
        unsafe = (s for s in self.streams if s.verdict is Verdict.UNSAFE)
        return tuple(name for stream in unsafe for name in stream.streams)


def check(query: JoinQuery) -> Safety:
    """The safety of a join, with a plan if it is safe and repairs if it is not.

    Schemes that close only values that arrive count only where the others do not suffice.
    """
    found = _ways(query)
    verdict = worst(v for v, _ in found.values())
    graph = graph_of(query if verdict is not Verdict.SAFE else _without_arrival(query))
    used = tuple(dict.fromkeys(rule for _, way in found.values() for rule in way.chain))
    below = tuple(check(part) for part in query.below)
    overall = worst((verdict, *(part.verdict for part in below)))
    safe = overall is not Verdict.UNSAFE
    return Safety(
        graph=graph,
        verdict=overall,
        proved=(verdict is not Verdict.UNSAFE or query.complete) and all(p.proved for p in below),
        streams=tuple(_stream(graph, block, *freed) for block, freed in found.items()),
        useless=tuple(_useless(graph_of(query), used)),
        needed=_needed(query, overall) if safe else (),
        retirements=retirements(graph, used),
        transformed=transform(graph),
        plan=best_plan(graph),
        repairs=Repairs((), smallest=True) if safe else repairs(query),
        below=below,
    )


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The worst of some verdicts; SAFE if there are none."""
    return max(verdicts, key=tuple(Verdict).index, default=Verdict.SAFE)


def verdict_of(query: JoinQuery) -> Verdict:
    """The verdict alone, on a join and those below."""
    return worst(verdict for part in query.joins() for verdict, _ in _ways(part).values())


def repairs(query: JoinQuery) -> Repairs:
    """The smallest sets of schemes to add, each checked by asking again with it."""
    found = smallest_additions(query)
    options = tuple(
        Repair(added, verdict_of(query.with_schemes(partial(_and_also, added))))
        for added in (tuple(sorted(schemes, key=str)) for schemes in found.sets)
    )
    sound = tuple(option for option in options if option.verdict is not Verdict.UNSAFE)
    return Repairs(sound, found.smallest)


def _and_also(added: Schemes, own: Schemes) -> Schemes:
    return (*own, *added)


def _without_arrival(query: JoinQuery) -> JoinQuery:
    return query.with_schemes(lambda own: tuple(s for s in own if not s.closing.needs_arrival))


def _ways(query: JoinQuery) -> dict[int, tuple[Verdict, Reach]]:
    """How the rows of every state that grows are freed, as surely as possible."""
    likely = graph_of(query)
    certain = likely
    if any(scheme.closing.needs_arrival for scheme in query.schemes):
        certain = graph_of(_without_arrival(query))
    return {start: _freed(certain, likely, start) for start in likely.starts}


def _freed(certain: Graph, likely: Graph, start: int) -> tuple[Verdict, Reach]:
    for graph, verdict in ((certain, Verdict.SAFE), (likely, Verdict.SAFE_IF_REFERENCED)):
        way = reach(graph, start, graph.starts[start])
        if way.streams & graph.all == graph.all:
            return verdict, way
    return Verdict.UNSAFE, reach(likely, start, likely.starts[start])


def _needed(query: JoinQuery, verdict: Verdict) -> Schemes:
    certain = _without_arrival(query) if verdict is Verdict.SAFE else query
    kept = next(iter(needed_schemes(certain).sets))
    every = dict.fromkeys(scheme for part in query.joins() for scheme in part.schemes)
    return tuple(scheme for scheme in every if scheme in kept)


def _useless(graph: Graph, used: tuple[Rule, ...]) -> Iterator[UselessScheme]:
    """The schemes sent as data that free no row on any input that reads their stream."""
    useful = {rule.scheme for rule in used}
    for scheme in dict.fromkeys(rule.scheme for rule in graph.rules):
        if scheme.closing is Closing.PUNCTUATION and scheme.columns and scheme not in useful:
            unjoined = {c for r in graph.rules if r.scheme == scheme for c in graph.unjoined(r)}
            yield UselessScheme(scheme, tuple(c for c in scheme.columns if c in unjoined))


def _stream(graph: Graph, block: int, verdict: Verdict, way: Reach) -> StreamSafety:
    steps: list[ChainStep] = []
    reached = block
    for rule in way.chain:
        supplies = tuple(Supply(c, graph.supplier(rule, c, reached)) for c in rule.scheme.columns)
        steps.append(ChainStep(graph.query.streams[rule.target].name, rule.scheme, supplies))
        reached |= graph.block_of(rule.target)
    missing = graph.names(graph.all & ~way.streams)
    return StreamSafety(graph.names(block), verdict, tuple(steps), missing)
