"""When the punctuations themselves can be forgotten.

A punctuation frees rows that are stored and rows still to come, so it may go only when no row can
need it again. Section 5.1 of Li et al. (2006) asks for the reverse schemes on the same columns.
Simple punctuations retire per value, as a group, when every input of the class has closed the
value: letting two of three retire each other would leave nothing to free a later row of the third.
"""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.analysis.equality import Attribute
from cqlc.analysis.punctuation.graph import Graph, Rule, bits
from cqlc.analysis.punctuation.model import PunctuationScheme


@dataclass(frozen=True, slots=True)
class Retirement:
    """Whether the punctuations of a scheme on one input become obsolete by themselves.

    `missing` are the attributes one of which, per entry, would have to be punctuated alone for
    that; a scheme with a lifespan forgets its punctuations in any case.
    """

    stream: str
    scheme: PunctuationScheme
    missing: tuple[tuple[Attribute, ...], ...]

    @property
    def retires(self) -> bool:
        """Whether every punctuation is obsolete at some time."""
        return not self.missing

    @property
    def needs_lifespan(self) -> bool:
        """Whether the punctuations pile up unless they are given a lifespan."""
        return bool(self.missing) and self.scheme.lifespan is None


def retirements(graph: Graph, used: tuple[Rule, ...]) -> tuple[Retirement, ...]:
    """What becomes of the punctuations of the rules that are used.

    A bound that moves, as a watermark does, is one value and replaces itself.
    """
    closed = _closed_alone(graph)
    return tuple(
        Retirement(
            graph.query.streams[rule.target].name, rule.scheme, _missing(graph, rule, closed)
        )
        for rule in used
        if rule.scheme.columns and not rule.scheme.closing.by_range
    )


def _closed_alone(graph: Graph) -> dict[int, int]:
    """For every class the inputs that can close a value of it by a scheme of one column."""
    closed: dict[int, int] = {}
    for rule in graph.rules:
        if len(rule.scheme.columns) == 1:
            number = graph.class_of(rule.target, rule.scheme.columns[0])
            closed[number] = closed.get(number, 0) | 1 << rule.target
    return closed


def _missing(graph: Graph, rule: Rule, closed: dict[int, int]) -> tuple[tuple[Attribute, ...], ...]:
    """The inputs that would have to close the values of some column, for the column fewest lack.

    A simple punctuation waits for every input of its class, itself among them; a composite one for
    all partners of one of its columns.
    """
    numbers = [graph.class_of(rule.target, column) for column in rule.scheme.columns]
    if graph.finite.issuperset(numbers):
        return ()  # there are only so many different punctuations
    own = 1 << rule.target if len(numbers) > 1 else 0
    lacking = [(graph.owners[n] & graph.all & ~own & ~closed.get(n, 0), n) for n in numbers]
    mask, number = min(lacking, key=lambda pair: pair[0].bit_count())
    return tuple(_members(graph, i, number) for i in bits(mask))


def _members(graph: Graph, stream: int, number: int) -> tuple[Attribute, ...]:
    return tuple(a for owner, a in graph.members[number] if owner == stream)


def is_strict(found: tuple[Retirement, ...]) -> bool:
    """Whether no punctuation has to be kept for ever."""
    return all(retirement.retires for retirement in found)
