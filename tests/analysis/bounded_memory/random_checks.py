"""Checks on random queries, for one copy of the package: the real one, or one with a fault."""

from __future__ import annotations

import importlib
import random
from collections import Counter
from itertools import combinations, product
from types import ModuleType
from typing import Any

from cqlc.analysis import bounded_memory
from tests.analysis.bounded_memory import lto
from tests.analysis.bounded_memory.evaluate import answer, observed
from tests.analysis.bounded_memory.executor import Executor, arrivals
from tests.analysis.bounded_memory.generator import random_query

RUNS = 40
"""Short runs of the executor for every query."""


def name_of(verdict: Any) -> str:
    return type(verdict).__name__


def expansion(count: int, seed: int, api: ModuleType = bounded_memory) -> Counter[str]:
    """The closed form has the verdict of the full expansion into LTO queries."""
    generator = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(count):
        query = random_query(generator, api)
        outputs = [o.attribute for o in query.head.outputs]
        wanted = lto.bounded(query, outputs, distinct=query.head.distinct)
        verdict = name_of(api.analyse(query))
        assert verdict == ("Bounded" if wanted else "Unbounded"), query
        seen[verdict] += 1
    return seen


def aggregates(count: int, seed: int, api: ModuleType = bounded_memory) -> Counter[str]:
    """Verdicts on aggregates follow the rules on top of the expansion; UNKNOWN is a refusal."""
    generator = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(count):
        query = random_query(generator, api, modes=("agg",))
        groups = [o.attribute for o in query.head.groups]
        wanted = all(
            lto.aggregate_bounded(query, groups, a.kind.name, next(iter(a.attributes), None))
            for a in query.head.aggregates
        )
        verdict = name_of(api.analyse(query))
        assert verdict in (("Bounded",) if wanted else ("Unbounded", "Unknown")), query
        seen[verdict] += 1
    return seen


def witnesses(
    count: int, seed: int, modes: tuple[str, ...], api: ModuleType = bounded_memory
) -> Counter[str]:
    """All 2^3 prefixes of a witness are told apart, each two by the continuation it names."""
    make = importlib.import_module(api.__name__ + ".adversary").witness
    generator = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(count):
        query = random_query(generator, api, modes=modes)
        verdict = api.analyse(query)
        if name_of(verdict) == "Unbounded":
            found = make(verdict.case, verdict.violations[0], 3)
            assert told_apart(query, found) == 28, query
            seen[verdict.violations[0].condition.name] += 1
    return seen


def told_apart(query: Any, found: Any) -> int:
    """How many of the pairs of prefixes their continuation tells apart."""
    prefixes = list(product((False, True), repeat=len(found.slots)))
    different = 0
    for one, other in combinations(prefixes, 2):
        rows = found.continuation(one, other)
        seen = [observed(query, found.prefix(bits), rows) for bits in (one, other)]
        different += seen[0] != seen[1]
    return different


def synopses(count: int, seed: int, api: ModuleType = bounded_memory) -> Counter[str]:
    """A bounded query is answered from its synopsis, which is never larger than it says."""
    generator = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(count):
        query = random_query(generator, api)
        verdict = api.analyse(query)
        if name_of(verdict) == "Bounded" and not verdict.empty:
            kept = {s.stream: [r.attribute for r in s.ranges] for s in verdict.synopsis.streams}
            relevant = {use.name: kept.get(use.name, []) for use in query.uses}
            for _ in range(RUNS):
                assert not goes_wrong(query, relevant, generator, verdict.synopsis.values), query
            seen["set" if query.head.distinct else "bag"] += 1
    return seen


def control(count: int, seed: int) -> Counter[tuple[str, bool]]:
    """How often the executor's errors on unbounded queries are noticed: the power of `synopses`."""
    generator = random.Random(seed)
    seen: Counter[tuple[str, bool]] = Counter()
    for _ in range(count):
        query = random_query(generator)
        verdict = bounded_memory.analyse(query)
        conditions = {v.condition.name for v in getattr(verdict, "violations", ())}
        if len(query.uses) > 1 and conditions in ({"COUNTING"}, {"ISOLATING"}):
            relevant = {use.name: [a.name for a in use.attributes] for use in query.uses}
            noticed = any(goes_wrong(query, relevant, generator, None) for _ in range(RUNS))
            seen[(*conditions, noticed)] += 1
    return seen


def goes_wrong(
    query: Any, relevant: dict[str, list[str]], generator: random.Random, size: int | None
) -> bool:
    """Whether the executor misses or invents results, or keeps more than it may, on some input."""
    executor = Executor(query, relevant)
    rows: list[Any] = []
    before: Counter[Any] = Counter()
    for use, row in arrivals(query, generator):
        rows.append((use.base, row))
        after = answer(query, rows)
        if executor.arrive(use, row) != after - before:
            return True
        if size is not None and executor.values() > size:
            return True
        before = after
    return False
