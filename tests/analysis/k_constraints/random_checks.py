"""What must hold for any join and arrivals that keep its constraints."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations
from types import ModuleType

from cqlc.analysis import k_constraints
from cqlc.analysis.k_constraints import JoinGraph, KConstraint
from cqlc.catalog import WithinRows, WithinTime
from tests.analysis.k_constraints.distances import Log, true_k
from tests.analysis.k_constraints.graphs import (
    filters_of,
    multiset,
    random_constraints,
    random_log,
    random_shape,
    relational,
    run,
)
from tests.analysis.k_constraints.simulator import KMon, Values

API = k_constraints


def loses_nothing(count: int, seed: int, api: ModuleType = API) -> tuple[int, float]:
    """Compares runs with the join of all rows; returns the results seen and the state saved."""
    generator = random.Random(seed)
    results, kept, whole = 0, 0, 0
    for number in range(count):
        shape = random_shape(generator, api)
        log = random_log(generator, shape)
        constraints = random_constraints(generator, shape, log, api)
        expected = relational(shape, log, filters_of(shape))
        machine = run(shape, log, constraints, (1, 3, 5)[number % 3], api)
        assert multiset(machine.results) == expected, (shape, constraints, log)
        results += sum(expected.values())
        kept += machine.size
        if number % 10 == 0:
            whole += 10 * run(shape, log, [], 1, api).size
    return results, 1 - kept / whole


def invents_nothing(count: int, seed: int, api: ModuleType = API) -> int:
    """With k too small results are missing and none is wrong; returns how many are missing."""
    generator = random.Random(seed)
    missing = 0
    for _ in range(count):
        shape = random_shape(generator, api)
        log = random_log(generator, shape)
        constraints = [
            _smaller(shape, log, c) for c in random_constraints(generator, shape, log, api)
        ]
        expected = relational(shape, log, filters_of(shape))
        found: Counter[str] = multiset(run(shape, log, constraints, 1, api).results)
        assert found <= expected, (shape, constraints, log)
        missing += sum((expected - found).values())
    return missing


def _smaller(shape: JoinGraph, log: Log, constraint: KConstraint) -> KConstraint:
    match constraint.within:
        case WithinTime():
            k = true_k(log, shape, constraint, in_time=True)
            return replace(constraint, within=WithinTime(max(0, k - 1)))
        case _:
            k = true_k(log, shape, constraint, in_time=False)
            return replace(constraint, within=WithinRows(max(0, k - 1)))


def outcome_is_kept_promise(count: int, seed: int, api: ModuleType = API) -> Counter[str]:
    """Every component is as empty after a long quiet end as its outcome says.

    After the arrivals, all streams bring many rows with fresh values in ascending order that join
    nothing: rows of a component that is LIMITED or CLOSING are all gone then, and rows of one that
    is DANGLING unless no parent ever joined them.
    """
    generator = random.Random(seed)
    seen: Counter[str] = Counter()
    for _ in range(count):
        shape = random_shape(generator, api)
        log = random_log(generator, shape, 18)
        constraints = random_constraints(generator, shape, log, api)
        machine = run(shape, log, constraints, 1, api)
        components = (machine.yes, machine.no, machine.unknown)
        old = [row for c in components for rows in c.values() for row in rows]
        _quiet_end(machine, shape)
        constrained = replace(shape, constraints=tuple(constraints))
        for effect in api.effects(constrained):
            pairs = (
                (effect.yes, machine.yes),
                (effect.no, machine.no),
                (effect.unknown, machine.unknown),
            )
            for component, stored in pairs:
                left = [row for row in stored[effect.stream] if row in old]
                seen[f"{component.outcome.name}{' with rows' if left else ''}"] += 1
                if component.outcome < api.Outcome.WINDOWED:
                    assert not left, (effect.stream, component, shape, constraints, log)
                if component.outcome is api.Outcome.DANGLING:
                    for row in left:
                        assert not _referenced_by_all(shape, log, effect.stream, row.values)
    return seen


def _quiet_end(machine: KMon, shape: JoinGraph) -> None:
    for step in range(25):
        for number, stream in enumerate(shape.streams):
            value = 1000 + step * 10 + number
            columns = {c for e in shape.edges if e.parent == stream.name for c, _ in e.columns}
            values = {"id": value, "x": 9 if stream.filtered else 0} | dict.fromkeys(columns, value)
            machine.arrive(stream.name, values, machine.now + 3)


def _referenced_by_all(shape: JoinGraph, log: Log, stream: str, values: Values) -> bool:
    """Whether every parent stream has brought a row that joins this one."""
    edges = [e for e in shape.edges if e.child == stream]
    return bool(edges) and all(
        any(
            name == edge.parent and all(row[a] == values[b] for a, b in edge.columns)
            for name, row, _ in log
        )
        for edge in edges
    )


def repairs_are_smallest(count: int, seed: int, api: ModuleType = API) -> Counter[int]:
    """The repairs told are smallest and all that size has, by trying every set of constraints."""
    generator = random.Random(seed)
    sizes: Counter[int] = Counter()
    for _ in range(count):
        shape = random_shape(generator, api)
        candidates = _candidates(shape, api)
        declared = tuple(c for c in candidates if generator.random() < 0.3)
        asked = replace(shape, constraints=declared)
        if generator.random() < 0.3:
            streams = (replace(shape.streams[0], window=WithinRows(9)), *shape.streams[1:])
            asked = replace(asked, streams=streams)
        found = api.analyse(asked)
        told = {frozenset(option) for option in found.repairs.options}
        working = _working(asked, [c for c in candidates if c not in declared], api)
        if frozenset() in working:
            assert not told
        elif len(working) <= 8:
            assert told == working, (asked, told, working)
        else:
            assert told <= working
        sizes[min(map(len, told), default=0)] += 1
    return sizes


def _candidates(shape: JoinGraph, api: ModuleType) -> list[KConstraint]:
    found: list[KConstraint] = []
    for edge in shape.edges:
        ((above, below),) = edge.columns
        found += [
            api.Rids(edge.parent, edge.child, edge.columns, api.PROPOSED),
            api.Ordering(edge.child, below, api.PROPOSED),
            api.Ordering(edge.parent, above, api.PROPOSED),
            api.Clustering(edge.parent, above, api.PROPOSED),
        ]
    return list(dict.fromkeys(found))


def _working(
    asked: JoinGraph, candidates: list[KConstraint], api: ModuleType
) -> set[frozenset[KConstraint]]:
    """The smallest sets with which no stream keeps rows for ever."""

    def frees(chosen: tuple[KConstraint, ...]) -> bool:
        trial = replace(asked, constraints=(*asked.constraints, *chosen))
        return all(s.outcome <= api.Outcome.WINDOWED for s in api.effects(trial))

    if not frees(tuple(candidates)):
        return set()
    for size in range(len(candidates) + 1):
        found = {frozenset(c) for c in combinations(candidates, size) if frees(c)}
        if found:
            return found
    return set()
