"""Safety by enumeration, written from the definitions and sharing nothing with the checker."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from cqlc.analysis.punctuation import Attribute, Closing, Fate, JoinQuery, JoinStream

Tree = str | tuple["Tree", ...]
"""A plan: an input, or an operator over plans."""


def unpurgeable(query: JoinQuery, *, dangling_too: bool = False) -> set[str]:
    """The inputs whose rows can never be freed.

    A row of S stays iff there is a set N of other inputs such that no row outside N expires and
    every scheme of N has a column whose value rows outside N do not fix: then new rows of N with
    fresh values get past any finite set of punctuations.
    """
    blocks = _blocks(query)
    stuck: set[str] = set()
    for block in blocks:
        if not any(s.fate is Fate.KEPT for s in block):
            continue
        others = [b for b in blocks if b is not block]
        if any(
            _evades(query, fresh, [b for b in blocks if b not in fresh], dangling_too)
            for fresh in _subsets(others)
        ):
            stuck |= {s.name for s in block}
    for grouping in query.groupings:
        known = set(grouping.keys)
        if any(
            _evades(query, fresh, [b for b in blocks if b not in fresh], dangling_too, known)
            for fresh in _subsets(blocks)
        ):
            stuck.add(grouping.name)
    return stuck


def _blocks(query: JoinQuery) -> list[list[JoinStream]]:
    grouped = [[s for s in query.streams if s.name in g] for g in query.bundles]
    alone = [[s] for s in query.streams if not any(s.name in g for g in query.bundles)]
    return grouped + alone


def _evades(
    query: JoinQuery,
    fresh: list[list[JoinStream]],
    old: list[list[JoinStream]],
    dangling_too: bool,
    given: set[Attribute] | None = None,
) -> bool:
    if any(s.fate is Fate.EXPIRES for block in old for s in block):
        return False
    if any(len(block) == 1 and block[0].fate is Fate.FIXED for block in fresh):
        return False
    stored = {s.name for block in old for s in block}
    # In a joined row values count as closed only once the part's own stored rows are gone.
    lasting = (Fate.BOUNDED, Fate.FIXED)
    parts = [s for block in fresh for s in block if len(block) == 1 or s.fate not in lasting]
    for stream in parts:
        for scheme in query.schemes:
            if scheme.source != stream.source:
                continue
            if dangling_too and scheme.closing in (Closing.KEY, Closing.CLUSTER):
                continue
            ranged = scheme.closing in (Closing.WATERMARK, Closing.ORDER)
            columns = [Attribute(stream.name, c) for c in scheme.columns]
            if all(_fixed(query, a, stored, ranged, given or set()) for a in columns):
                return False
    return True


def _fixed(
    query: JoinQuery, attribute: Attribute, stored: set[str], ranged: bool, given: set[Attribute]
) -> bool:
    """Whether a value, or for ranges an upper bound of it, is known from stored rows or filters."""
    known = {attribute}
    growing = True
    while growing:
        growing = False
        for equality in query.predicates:
            ends = {equality.left, equality.right}
            if ends & known and not ends <= known:
                known |= ends
                growing = True
        for bound in query.bounds if ranged else ():
            if bound.lower in known and bound.upper not in known:
                known.add(bound.upper)
                growing = True
    return bool(known & (query.finite | given)) or any(a.stream in stored for a in known)


def is_joined(query: JoinQuery, attribute: Attribute) -> bool:
    """Whether rows of others, or groups, supply values of an attribute not known in advance."""
    others = {s.name for s in query.streams} - {attribute.stream}
    keys = {key for grouping in query.groupings for key in grouping.keys}
    known = _fixed(query, attribute, set(), False, set())
    return not known and _fixed(query, attribute, others, False, keys)


def _subsets(blocks: list[list[JoinStream]]) -> Iterator[list[list[JoinStream]]]:
    for size in range(1, len(blocks) + 1):
        for chosen in combinations(blocks, size):
            yield list(chosen)


def trees(names: tuple[str, ...]) -> list[Tree]:
    """All plans over some inputs: 1, 4, 26, 236 for 2, 3, 4, 5 of them."""
    if len(names) == 1:
        return [names[0]]
    found: list[Tree] = []
    for blocks in _partitions(names):
        if len(blocks) > 1:
            found += [tuple(children) for children in _products(blocks)]
    return found


def _products(blocks: list[tuple[str, ...]]) -> Iterator[list[Tree]]:
    if not blocks:
        yield []
        return
    for first in trees(blocks[0]):
        for rest in _products(blocks[1:]):
            yield [first, *rest]


def _partitions(names: tuple[str, ...]) -> Iterator[list[tuple[str, ...]]]:
    if not names:
        yield []
        return
    first, rest = names[0], names[1:]
    for size in range(len(rest) + 1):
        for chosen in combinations(rest, size):
            left = tuple(n for n in rest if n not in chosen)
            for blocks in _partitions(left):
                yield [(first, *chosen), *blocks]


def leaves(tree: Tree) -> frozenset[str]:
    """The inputs of a plan."""
    return frozenset((tree,)) if isinstance(tree, str) else frozenset().union(*map(leaves, tree))


def tree_is_safe(query: JoinQuery, tree: Tree) -> bool:
    """Whether every operator of a plan can purge all its inputs, by enumeration."""
    if isinstance(tree, str):
        return True
    if not all(tree_is_safe(query, child) for child in tree):
        return False
    inside = leaves(tree)
    part = JoinQuery(
        tuple(s for s in query.streams if s.name in inside),
        query.predicates,
        query.schemes,
        query.finite,
        query.bounds,
        tuple(leaves(child) for child in tree if not isinstance(child, str)),
    )
    return not unpurgeable(part)


def text(tree: Tree) -> str:
    """A plan as the checker writes it, inputs of every operator in order."""
    if isinstance(tree, str):
        return tree
    return f"({' '.join(sorted(map(text, tree), key=lambda t: t.replace('(', '')))})"
