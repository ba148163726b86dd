"""What must hold for any join, checked against enumeration."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations
from types import ModuleType

from cqlc.analysis import punctuation
from cqlc.analysis.punctuation import JoinPlan, JoinQuery, PunctuationScheme, Safety
from tests.analysis.punctuation.brute_force import (
    Tree,
    is_joined,
    tree_is_safe,
    trees,
    unpurgeable,
)
from tests.analysis.punctuation.queries import random_extended_query, random_query


def verdicts(count: int, seed: int, api: ModuleType = punctuation) -> dict[str, int]:
    """Compares verdicts with enumeration; returns how often each was given."""
    generator = random.Random(seed)
    counts: dict[str, int] = {}
    for number in range(count):
        make = random_query if number % 2 else random_extended_query
        asked = make(generator, api)
        verdict_agrees(asked, api)
        verdict = str(api.verdict_of(asked))
        counts[verdict] = counts.get(verdict, 0) + 1
    return counts


def verdict_agrees(asked: JoinQuery, api: ModuleType = punctuation) -> None:
    """The inputs that are stuck, the verdict and the transformed graph are those of enumeration."""
    plain = native(asked)
    stuck, at_all = unpurgeable(plain), unpurgeable(plain, dangling_too=True)
    graph = api.graph_of(asked)
    blocked = {
        name
        for start, seen in graph.starts.items()
        if graph.all & ~api.reach(graph, start, seen).streams
        for name in graph.names(start)
    }
    assert blocked == stuck, asked
    expected = api.Verdict.SAFE_IF_REFERENCED if at_all else api.Verdict.SAFE
    assert api.verdict_of(asked) is (api.Verdict.UNSAFE if stuck else expected), asked
    fates = {s.fate for s in asked.streams}
    if fates <= {api.Fate.KEPT, api.Fate.EXPIRES}:
        inputs = stuck & {s.name for s in asked.streams}
        assert (len(api.transform(graph).nodes) == 1) is not bool(inputs), asked


def native(asked: JoinQuery) -> JoinQuery:
    """The same question in the classes the enumeration knows."""
    p = punctuation
    return p.JoinQuery(
        tuple(p.JoinStream(s.name, s.source, p.Fate(s.fate)) for s in asked.streams),
        tuple(p.Equality(_at(e.left), _at(e.right)) for e in asked.predicates),
        tuple(
            p.PunctuationScheme(s.source, s.columns, p.Closing(s.closing)) for s in asked.schemes
        ),
        frozenset(map(_at, asked.finite)),
        tuple(p.Bound(_at(b.lower), _at(b.upper)) for b in asked.bounds),
        asked.bundles,
        tuple(p.Grouping(g.name, tuple(map(_at, g.keys))) for g in asked.groupings),
    )


def _at(attribute: punctuation.Attribute) -> punctuation.Attribute:
    return punctuation.Attribute(attribute.stream, attribute.column)


def plans_agree(asked: JoinQuery, api: ModuleType = punctuation) -> None:
    """Plans are as safe as enumeration says, one exists iff the join is safe, and the best is."""
    plain = native(asked)
    graph = api.graph_of(asked)
    names = tuple(s.name for s in asked.streams)
    safe: list[JoinPlan] = []
    for tree in trees(names):
        plan = as_plan(tree, api)
        assert api.is_safe(graph, plan) is tree_is_safe(plain, tree), (asked, tree)
        if api.is_safe(graph, plan):
            safe.append(plan)
    best = api.best_plan(graph)
    assert (best is not None) is bool(safe), asked
    if best is not None:
        assert cost(graph, best, api) == min(cost(graph, plan, api) for plan in safe), asked


def as_plan(tree: Tree, api: ModuleType = punctuation) -> JoinPlan:
    """A tree as a plan of the checker."""
    if isinstance(tree, str):
        return api.Leaf((tree,))
    return api.Operator(tuple(as_plan(child, api) for child in tree), ())


def cost(graph: punctuation.Graph, plan: JoinPlan, api: ModuleType) -> tuple[int, int]:
    """The number of operators without a class common to all their inputs, and of operators."""
    if isinstance(plan, api.Leaf):
        return (0, 0)
    below = [cost(graph, child, api) for child in plan.inputs]
    inside = [set(_leaves(child, api)) for child in plan.inputs]
    classes = [{a.stream for _, a in members} for members in graph.members]
    keyed = any(all(streams & part for part in inside) for streams in classes)
    return (sum(b[0] for b in below) + (not keyed), sum(b[1] for b in below) + 1)


def _leaves(plan: JoinPlan, api: ModuleType) -> list[str]:
    if isinstance(plan, api.Leaf):
        return list(plan.streams)
    return [name for child in plan.inputs for name in _leaves(child, api)]


def repairs_are_smallest(asked: JoinQuery, api: ModuleType = punctuation) -> None:
    """The sets told are exactly the smallest that work, by trying all of no greater size."""
    found: Safety = api.check(asked)
    if found.verdict is not api.Verdict.UNSAFE:
        smallest_subset(asked, found, api)
        return
    everything = [
        api.PunctuationScheme(source, (column,))
        for source in sorted({s.source for s in asked.streams})
        for column in "ABC"
        if any(
            s.source == source and is_joined(native(asked), punctuation.Attribute(s.name, column))
            for s in asked.streams
        )
    ]
    works = _working(asked, everything, api)
    if found.repairs.options:
        size = len(found.repairs.options[0].schemes)
        assert found.repairs.smallest
        assert not any(True for s in works if len(s) < size), asked
        told = {frozenset(o.schemes) for o in found.repairs.options}
        assert told <= {s for s in works if len(s) == size}, asked
    else:
        assert not works, asked


def _working(
    asked: JoinQuery, options: list[PunctuationScheme], api: ModuleType
) -> set[frozenset[PunctuationScheme]]:
    """The smallest sets of options that make the join safe."""
    for size in range(len(options) + 1):
        found = {
            frozenset(chosen)
            for chosen in combinations(options, size)
            if not unpurgeable(native(replace(asked, schemes=(*asked.schemes, *chosen))))
        }
        if found:
            return found
        if size == 0 and unpurgeable(native(replace(asked, schemes=(*asked.schemes, *options)))):
            return set()
    return set()


def smallest_subset(asked: JoinQuery, found: Safety, api: ModuleType) -> None:
    """No smaller set of the schemes sent as data keeps the join as safe as it is."""
    schemes = found.query.schemes
    sent = [s for s in schemes if s.closing is api.Closing.PUNCTUATION]
    free = tuple(s for s in schemes if s.closing is not api.Closing.PUNCTUATION)
    without = replace(found.query, schemes=free)
    assert not unpurgeable(native(replace(without, schemes=(*free, *found.needed)))), asked
    for size in range(len(found.needed)):
        for chosen in combinations(sent, size):
            assert unpurgeable(native(replace(without, schemes=(*free, *chosen)))), asked


def irreducible(asked: JoinQuery, added: tuple[PunctuationScheme, ...]) -> None:
    """The additions make the join safe, and none of them can be left out."""
    schemes = (*asked.schemes, *added)
    assert punctuation.verdict_of(replace(asked, schemes=schemes)) is punctuation.Verdict.SAFE
    for scheme in added:
        fewer = tuple(s for s in schemes if s is not scheme)
        fewer_verdict = punctuation.verdict_of(replace(asked, schemes=fewer))
        assert fewer_verdict is punctuation.Verdict.UNSAFE
