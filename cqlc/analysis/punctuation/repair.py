"""The fewest schemes: to add to an unsafe join, or to keep of a safe one.

Both are hitting sets of cuts. A cut is a set of inputs that no scheme can enter from outside; by
theorem 3 of Li et al. (2006) a join is safe iff there is none for any stored row, so every cut
needs a scheme on one of its inputs whose columns all join inputs outside it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from cqlc.algebra.schema import TIME
from cqlc.analysis.hitting_set import HittingSets, hitting_sets
from cqlc.analysis.punctuation.graph import Graph, Rule, bits, graph_of, reach, union
from cqlc.analysis.punctuation.model import Closing, JoinQuery, PunctuationScheme

MOST = 8
"""How many sets of the same size are told."""

WORK = 200_000
"""How many steps of reachability, about, a search for the smallest set may take."""


def smallest_additions(query: JoinQuery) -> HittingSets[PunctuationScheme]:
    """The smallest sets of schemes whose addition makes the join, and those below, safe.

    One column per scheme is enough: whatever enables a composite scheme enables one on any of its
    columns. Of the columns of a class in one source, one stands for all.
    """
    return _smallest(query, candidates(query))


def needed_schemes(query: JoinQuery) -> HittingSets[PunctuationScheme]:
    """The smallest sets of the schemes sent as data that keep a safe join, and those below, safe.

    What closes values by itself costs no punctuation, so it is kept in any case.
    """
    every = dict.fromkeys(s for part in query.joins() for s in part.schemes)
    sent = tuple(s for s in every if s.closing is Closing.PUNCTUATION)
    unsent = query.with_schemes(lambda own: tuple(s for s in own if s not in sent))
    return _smallest(unsent, sent)


def candidates(query: JoinQuery) -> tuple[PunctuationScheme, ...]:
    """The schemes worth adding: a joined column of a declared stream each.

    Of the columns of one input that are equal anyway the first stands for all, unless another
    input reads the same stream and may have use for one of them only. Columns of known values are
    left out: to close them all is to end the stream.
    """
    readers = Counter(s.source for part in query.joins() for s in part.streams)
    found = (scheme for part in query.joins() for scheme in _candidates(part, readers))
    return tuple(dict.fromkeys(found))


def _candidates(query: JoinQuery, readers: Counter[str | None]) -> Iterator[PunctuationScheme]:
    graph = graph_of(query)
    sources = {s.name: s.source for s in query.streams}
    found: dict[tuple[str, int, str], PunctuationScheme] = {}
    for attribute, number in sorted(graph.classes.items()):
        source = sources[attribute.stream]
        joined = graph.owners[number].bit_count() > 1 and number not in graph.finite
        if source is not None and joined and attribute.column != TIME:
            which = attribute.column if readers[source] > 1 else ""
            scheme = PunctuationScheme(source, (attribute.column,))
            found.setdefault((attribute.stream, number, which), scheme)
    yield from found.values()


def _smallest(
    query: JoinQuery, options: tuple[PunctuationScheme, ...]
) -> HittingSets[PunctuationScheme]:
    """The smallest sets of `options` that make a join and those below safe, in the order given."""
    rank = {scheme: i for i, scheme in enumerate(options)}
    wider = query.with_schemes(lambda own: (*own, *options))
    graphs = [
        (frozenset(part.schemes), graph_of(full))
        for part, full in zip(query.joins(), wider.joins(), strict=True)
    ]

    def violated(chosen: frozenset[PunctuationScheme]) -> Iterator[tuple[PunctuationScheme, ...]]:
        for own, everything in graphs:
            for cut in _cuts(everything.with_schemes(chosen | own), everything):
                yield _entrances(everything, cut, rank)

    work = sum(_work(everything) for _, everything in graphs)
    return hitting_sets(violated, most=MOST, budget=max(8, WORK // work))


def _work(graph: Graph) -> int:
    """The steps it takes to see whether a join is safe, about."""
    size = len(graph.rules) + sum(map(len, graph.supplied)) + 1
    return size * len(graph.query.streams)


@dataclass(frozen=True, slots=True)
class _Cut:
    """Inputs that nothing enters from outside although a row outside needs it."""

    inside: int
    outside: int


def _cuts(known: Graph, everything: Graph) -> Iterator[_Cut]:
    """What states that cannot be freed do not reach, and blocks that nothing enters at all.

    What is not reached falls into parts without ways into each other. Rows that may end with time
    instead need only one way into all they do not reach.
    """
    neighbours = _neighbours(everything)
    starts = known.starts
    seen: set[_Cut] = set()
    for start, seeing in starts.items():
        unreached = known.all & ~reach(known, start, seeing).streams
        parts = _parts(unreached, neighbours)
        for part in (unreached,) if unreached & known.expiring else parts:
            cut = _Cut(part, known.all & ~part | start)
            if part and cut not in seen:
                seen.add(cut)
                yield cut
    for block in known.blocks:
        cut = _Cut(block, known.all & ~block)
        # A grouping may enter by its own values, which are not those of any input outside.
        needy = cut not in seen and any(b != block for b in starts if b & known.all)
        if needy and not cut.outside & known.expiring and not _entered(known, cut):
            yield cut


def _neighbours(graph: Graph) -> list[int]:
    """For every input those it may help to enter or be entered through, and its block."""
    near = [graph.block_of(i) for i in range(len(graph.query.streams))]
    for rule in graph.rules:
        for i in bits(union(rule.needs) & graph.all):
            near[i] |= 1 << rule.target
            near[rule.target] |= 1 << i
    return near


def _parts(mask: int, neighbours: list[int]) -> Iterator[int]:
    """The connected parts of a set of inputs."""
    while mask:
        part, frontier = 0, mask & -mask
        while frontier:
            part |= frontier
            frontier = union(neighbours[i] for i in bits(frontier)) & mask & ~part
        yield part
        mask &= ~part


def _entered(graph: Graph, cut: _Cut) -> bool:
    return any(_enters(graph, rule, cut) for rule in graph.rules)


def _enters(graph: Graph, rule: Rule, cut: _Cut) -> bool:
    return (
        bool(cut.inside >> rule.target & 1)
        and all(need & cut.outside for need in rule.needs)
        and graph.admits(rule, graph.block_of(rule.target))
    )


def _entrances(
    everything: Graph, cut: _Cut, rank: dict[PunctuationScheme, int]
) -> tuple[PunctuationScheme, ...]:
    """The options that let a row outside the cut reach into it."""
    found = {r.scheme for r in everything.rules if r.scheme in rank and _enters(everything, r, cut)}
    return tuple(sorted(found, key=rank.__getitem__))
