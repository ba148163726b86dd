"""The generalized punctuation graph: which inputs' rows can be freed through whose punctuations.

Predicates are closed under implication first. The paper builds its graphs from the written ones,
and then the "only if" of its theorems fails: from `A = B` and `B = C` a punctuation on `C` frees
rows by `A` too. Sets of inputs are bit masks.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from heapq import heappop, heappush

from cqlc.analysis.equality import Attribute, equality_classes
from cqlc.analysis.punctuation.model import Fate, JoinQuery, PunctuationScheme


@dataclass(frozen=True, slots=True)
class Rule:
    """One scheme on one input: `target` is closed once every need has an input already closed.

    A need is the mask of the inputs whose rows supply the value of a column of the scheme. It may
    hold the target, which supplies nothing as long as it is not closed.
    """

    target: int
    needs: tuple[int, ...]
    scheme: PunctuationScheme


@dataclass(frozen=True, slots=True)
class Reach:
    """The inputs whose future rows can be excluded from joining a row, and the rules in order.

    A grouping whose values were used is among `streams` too.
    """

    streams: int
    chain: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Graph:
    """The rules of a query, over inputs numbered as in the query, and after them its groupings."""

    query: JoinQuery
    classes: dict[Attribute, int]
    members: tuple[tuple[tuple[int, Attribute], ...], ...]
    """The attributes of a class with the numbers of their inputs, by the class's number."""
    owners: tuple[int, ...]
    """The mask of the inputs that have an attribute in a class, by the class's number."""
    rules: tuple[Rule, ...]
    needs: tuple[tuple[int, tuple[int, ...]], ...]
    """Every different need with the positions of the rules that have it."""
    supplied: tuple[tuple[int, ...], ...]
    """The positions of the needs an input meets, by the input's number."""
    blocks: tuple[int, ...]
    """The masks of the inputs that are joined below, or stand alone."""
    finite: frozenset[int]
    """The classes whose values are known in advance."""
    suppliers: tuple[frozenset[int], ...]
    """The classes whose values bound those of a class from above, itself among them."""
    expiring: int
    """The inputs whose rows leave with time, and with them every row they are part of."""

    @property
    def starts(self) -> dict[int, tuple[int, ...]]:
        """The states that have to be purged, each with the inputs and states a row of it sees.

        A grouping sees its own values; the inputs do not see those, as results may bring new ones.
        """
        count = len(self.query.streams)
        groupings = (1 << count + i for i in range(len(self.query.groupings)))
        found = {block: self.blocks for block in self.blocks if self.grows(block)}
        return found | {grouping: (*self.blocks, grouping) for grouping in groupings}

    @property
    def all(self) -> int:
        """The mask of all inputs."""
        return (1 << len(self.query.streams)) - 1

    def admits(self, rule: Rule, block: int) -> bool:
        """Whether closing values of a rule's target closes them for a block that it is part of.

        It does for joined rows only once the target's stored rows are gone; so not if they stay.
        """
        stays = self.query.streams[rule.target].fate in (Fate.BOUNDED, Fate.FIXED)
        return block == 1 << rule.target or not stays

    def grows(self, block: int) -> bool:
        """Whether the rows of a block can pile up."""
        return any(self.query.streams[i].fate is Fate.KEPT for i in bits(block))

    def with_schemes(self, schemes: Container[PunctuationScheme]) -> Graph:
        """The graph as if these of its schemes were the only ones."""
        rules = tuple(r for r in self.rules if r.scheme in schemes or not r.scheme.columns)
        needs, supplied = _needs(len(self.supplied), rules)
        return replace(self, rules=rules, needs=needs, supplied=supplied)

    def block_of(self, stream: int) -> int:
        """The block an input belongs to."""
        return next(block for block in self.blocks if block >> stream & 1)

    def class_of(self, stream: int, column: str) -> int:
        """The class of an input's column."""
        return self.classes[Attribute(self.query.streams[stream].name, column)]

    def unjoined(self, rule: Rule) -> tuple[str, ...]:
        """The columns of a rule's scheme whose values no other input supplies."""
        alone = 1 << rule.target
        return tuple(
            column
            for column in rule.scheme.columns
            for classes in (self._sources(rule, column),)
            if not classes & self.finite and not union(self.owners[c] for c in classes) & ~alone
        )

    def supplier(self, rule: Rule, column: str, reached: int) -> Attribute | None:
        """The first attribute of the inputs reached that supplies a value for a rule's column."""
        classes = self._sources(rule, column)
        if classes & self.finite:
            return None
        known = (pair for c in sorted(classes) for pair in self.members[c])
        return next(attribute for stream, attribute in known if reached >> stream & 1)

    def _sources(self, rule: Rule, column: str) -> frozenset[int]:
        return _sources(rule.scheme, self.class_of(rule.target, column), self.suppliers)

    def names(self, mask: int) -> tuple[str, ...]:
        """The names of the inputs in a mask."""
        every = (*self.query.streams, *self.query.groupings)
        return tuple(every[i].name for i in bits(mask))


def graph_of(query: JoinQuery) -> Graph:
    """The generalized punctuation graph of a query, with its predicates closed."""
    classes = equality_classes(query.attributes(), query.predicates)
    index = {stream.name: i for i, stream in enumerate(query.streams)}
    members: list[list[tuple[int, Attribute]]] = [[] for _ in set(classes.values())]
    for attribute, number in sorted(classes.items()):
        members[number].append((index[attribute.stream], attribute))
    for i, grouping in enumerate(query.groupings, len(index)):
        for attribute in grouping.keys:
            members[classes[attribute]].append((i, attribute))
    owners = tuple(_mask(stream for stream, _ in those) for those in members)
    grouped = [_mask(index[name] for name in group) for group in query.bundles]
    alone = [1 << i for i in index.values() if not any(g >> i & 1 for g in grouped)]
    finite = frozenset(classes[a] for a in query.finite)
    suppliers = _upper_bounds(query, classes, len(owners))
    rules = _rules(query, classes, owners, finite, suppliers)
    needs, supplied = _needs(len(index) + len(query.groupings), rules)
    return Graph(
        query=query,
        classes=classes,
        members=tuple(map(tuple, members)),
        owners=owners,
        rules=rules,
        needs=needs,
        supplied=supplied,
        blocks=tuple(sorted(grouped + alone)),
        finite=finite,
        suppliers=suppliers,
        expiring=_mask(i for i, s in enumerate(query.streams) if s.fate is Fate.EXPIRES),
    )


def _rules(
    query: JoinQuery,
    classes: dict[Attribute, int],
    owners: Sequence[int],
    finite: frozenset[int],
    suppliers: Sequence[frozenset[int]],
) -> tuple[Rule, ...]:
    """The rules, those first that chains should prefer: of few columns, and closing by themselves.

    A column of finitely many values needs no input: its punctuations can be listed in advance.
    """
    found: list[Rule] = []
    for i, stream in enumerate(query.streams):
        if stream.fate is Fate.FIXED:
            found.append(Rule(i, (), PunctuationScheme(stream.name, ())))
        for scheme in query.schemes:
            if scheme.source == stream.source and scheme.columns:
                numbers = (classes[Attribute(stream.name, c)] for c in scheme.columns)
                sources = (_sources(scheme, n, suppliers) for n in numbers)
                needs = (union(owners[n] for n in those) for those in sources if not those & finite)
                found.append(Rule(i, tuple(dict.fromkeys(needs)), scheme))
    return tuple(sorted(found, key=_preference))


def _preference(rule: Rule) -> tuple[int, bool]:
    return len(rule.scheme.columns), not rule.scheme.closing.by_range


def _needs(
    count: int, rules: Sequence[Rule]
) -> tuple[tuple[tuple[int, tuple[int, ...]], ...], tuple[tuple[int, ...], ...]]:
    """The fields `needs` and `supplied` of a graph with these rules."""
    having: dict[int, list[int]] = {}
    for n, rule in enumerate(rules):
        for need in rule.needs:
            having.setdefault(need, []).append(n)
    supplied: list[list[int]] = [[] for _ in range(count)]
    for position, need in enumerate(having):
        for i in bits(need):
            supplied[i].append(position)
    needs = tuple((need, tuple(rules_of)) for need, rules_of in having.items())
    return needs, tuple(map(tuple, supplied))


def _sources(
    scheme: PunctuationScheme, number: int, suppliers: Sequence[frozenset[int]]
) -> frozenset[int]:
    """The classes that supply a value to close, or a bound on it where a range is closed."""
    return suppliers[number] if scheme.closing.by_range else frozenset((number,))


def _upper_bounds(
    query: JoinQuery, classes: dict[Attribute, int], count: int
) -> tuple[frozenset[int], ...]:
    """For every class the classes that bound it from above, through any number of predicates."""
    above: list[set[int]] = [{n} for n in range(count)]
    changed = bool(query.bounds)
    while changed:
        changed = False
        for bound in query.bounds:
            low, high = above[classes[bound.lower]], above[classes[bound.upper]]
            if not high <= low:
                low |= high
                changed = True
    return tuple(map(frozenset, above))


def reach(graph: Graph, start: int, blocks: Sequence[int]) -> Reach:
    """The inputs of an operator over `blocks` closed for a row of the block `start`.

    Theorem 3: the state of an input is purgeable iff this is all inputs. A row that contains a
    part that expires needs nothing more. Of the rules that can fire, the first one does.
    """
    around = {i: block for block in blocks for i in bits(block)}
    everything = union(blocks)
    reached, chain = start, list[Rule]()
    waiting = [len(rule.needs) for rule in graph.rules]
    ready = [n for n, needs in enumerate(waiting) if not needs]
    met: set[int] = set()
    arrived = start
    while not reached & graph.expiring:
        for i in bits(arrived):
            for need in graph.supplied[i]:
                if need not in met:
                    met.add(need)
                    for n in graph.needs[need][1]:
                        waiting[n] -= 1
                        if not waiting[n]:
                            heappush(ready, n)
        while ready and reached >> graph.rules[ready[0]].target & 1:
            heappop(ready)
        if not ready:
            break
        rule = graph.rules[heappop(ready)]
        arrived = around.get(rule.target, 0)
        if not arrived or not graph.admits(rule, arrived):
            arrived = 0
            continue
        reached |= arrived
        chain.append(rule)
    return Reach(everything if reached & graph.expiring else reached, tuple(chain))


def bits(mask: int) -> Iterator[int]:
    """The numbers of the ones in a mask, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _mask(numbers: Iterable[int]) -> int:
    return union(1 << n for n in numbers)


def union(masks: Iterable[int]) -> int:
    """The inputs of any of the masks."""
    return reduce(int.__or__, masks, 0)
