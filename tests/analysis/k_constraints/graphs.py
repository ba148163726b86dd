"""Join graphs in a short notation, random ones with data, and large ones for measuring."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from types import ModuleType

from cqlc.analysis import k_constraints
from cqlc.analysis.equality import Attribute, Equality
from cqlc.analysis.k_constraints import JoinGraph, KConstraint, ManyOne
from cqlc.catalog import Adherence, Monitored, WithinRows, WithinTime
from tests.analysis.k_constraints.distances import Log, true_k
from tests.analysis.k_constraints.simulator import Filters, KMon, Row, combinations_of

API = k_constraints


def graph(
    streams: str,
    joins: str,
    constraints: str = "",
    api: ModuleType = API,
    filtered: str = "",
    rates: dict[str, float] | None = None,
) -> JoinGraph:
    """A graph such as `graph("S1 S2(A)", "S1.A=S2.A", "RIDS(1):S1>S2.A CA(0):S1.A OA(2):S2.A")`.

    `S2(A)` has the key A, `S2(A,B)` the key of both, `S2(A)(B)` two keys; `e:E(A)` reads E. A k of
    `5s` is seconds, `?` is monitored. `RIDS(1):S1.B>S2.A` names the parent's column if it differs.
    """
    vertices = tuple(_stream(t, filtered.split(), rates or {}, api) for t in streams.split())
    equalities = [_equality(t) for t in joins.split()]
    return api.join_graph(vertices, equalities, [_constraint(t, api) for t in constraints.split()])


def _stream(
    text: str, filtered: list[str], rates: dict[str, float], api: ModuleType
) -> k_constraints.JoinedStream:
    head, *keys = text.replace(")", "").split("(")
    name, _, source = head.partition(":")
    return api.JoinedStream(
        name,
        source or name,
        tuple(tuple(key.split(",")) for key in keys),
        name in filtered,
        rates.get(source or name),
    )


def _equality(text: str) -> Equality:
    left, right = (Attribute(*end.split(".")) for end in text.split("="))
    return Equality(left, right)


def _constraint(text: str, api: ModuleType) -> KConstraint:
    kind, k, where = text.replace("):", "(").split("(")
    within = _adherence(k)
    match kind:
        case "RIDS":
            parent, child = where.split(">")
            child, _, column = child.partition(".")
            parent, _, above = parent.partition(".")
            return api.Rids(parent, child, ((above or column, column),), within)
        case "CA":
            return api.Clustering(*where.split("."), within)
        case _:
            return api.Ordering(*where.split("."), within)


def _adherence(text: str) -> Adherence:
    if text == "?":
        return Monitored()
    return WithinTime(int(text[:-1]) * 1_000_000) if text.endswith("s") else WithinRows(int(text))


# ------------------------------------------------------------------------------------- random


def random_shape(generator: random.Random, api: ModuleType = API) -> JoinGraph:
    """A tree or acyclic graph of 2 to 4 streams; every stream has a key `id`, references `to_S`."""
    count = generator.randint(2, 4)
    names = [f"S{i}" for i in range(1, count + 1)]
    # Every stream joins an earlier or a later one, so that there may be several roots.
    pairs: set[tuple[int, int]] = set()
    for i in range(1, count):
        other = generator.randrange(i)
        pairs.add((i, other) if generator.random() < 0.3 else (other, i))
    if generator.random() < 0.4 and count > 2:
        a, b = sorted(generator.sample(range(count), 2))
        pairs.add((a, b))
    if any((b, a) in pairs for a, b in pairs):
        return random_shape(generator, api)
    edges = [ManyOne(names[a], names[b], ((f"to_{names[b]}", "id"),)) for a, b in sorted(pairs)]
    filtered = [n for n in names if generator.random() < 0.4]
    shape = api.JoinGraph(
        tuple(api.JoinedStream(n, n, (("id",),), n in filtered) for n in names),
        tuple(api.ManyOne(e.parent, e.child, e.columns) for e in edges),
    )
    return shape if api.refusal_of(shape) is None else random_shape(generator, api)


def random_log(generator: random.Random, shape: JoinGraph, length: int = 26) -> Log:
    """Arrivals that are roughly in order, so that small k hold; references may be in none."""
    wild = {c for e in shape.edges for c in e.columns if generator.random() < 0.3}
    jitter = generator.choice((0, 1, 2, 4))
    ids = {s.name: _nearly_sorted(generator, length, jitter) for s in shape.streams}
    domain = generator.choice((4, 8))
    counts: Counter[str] = Counter()
    log: list[tuple[str, dict[str, int], int]] = []
    time = 0
    for _ in range(length):
        stream = generator.choice([s.name for s in shape.streams])
        time += generator.choice((0, 1, 1, 2))
        near = counts[stream] * domain // 8 + generator.randint(-jitter, jitter + 1)
        values = {"id": ids[stream][counts[stream]], "x": generator.randrange(10)}
        for edge in shape.edges:
            if edge.parent == stream:
                for column, other in edge.columns:
                    far = generator.randrange(max(3, counts[stream]))
                    close = max(0, near + generator.choice((0, 0, 0, 1)))
                    values[column] = far if (column, other) in wild else close
        counts[stream] += 1
        log.append((stream, values, time))
    return log


def _nearly_sorted(generator: random.Random, length: int, jitter: int) -> list[int]:
    return sorted(range(length), key=lambda i: i + generator.uniform(0, jitter))


def random_constraints(
    generator: random.Random, shape: JoinGraph, log: Log, api: ModuleType = API
) -> list[KConstraint]:
    """Some constraints that hold on the arrivals, with the smallest k that does, or a bit more."""
    possible: list[KConstraint] = []
    for edge in shape.edges:
        ((above, below),) = edge.columns
        possible += [
            api.Rids(edge.parent, edge.child, edge.columns, WithinRows(0)),
            api.Ordering(edge.child, below, WithinRows(0)),
            api.Clustering(edge.parent, above, WithinRows(0)),
            api.Ordering(edge.parent, above, WithinRows(0)),
        ]
    chosen = [c for c in dict.fromkeys(possible) if generator.random() < 0.5]
    found: list[KConstraint] = []
    for constraint in chosen:
        in_time = generator.random() < 0.3
        k = true_k(log, shape, _native(constraint), in_time=in_time)
        k += generator.choice((0, 0, 0, 1, 3))
        found.append(replace(constraint, within=WithinTime(k) if in_time else WithinRows(k)))
    return found


def _native(constraint: KConstraint) -> KConstraint:
    kind = type(constraint).__name__
    if kind == "Rids":
        return API.Rids(constraint.parent, constraint.child, constraint.columns, constraint.within)
    return getattr(API, kind)(constraint.stream, constraint.column, constraint.within)


def filters_of(shape: JoinGraph) -> Filters:
    """The filter `x < 8` on the filtered streams."""
    return {s.name: (lambda values: values["x"] < 8) for s in shape.streams if s.filtered}


def relational(shape: JoinGraph, log: Log, filters: Filters) -> Counter[str]:
    """The join of all rows that pass their filters, by nested loops."""
    rows = {
        s.name: [
            Row(values, time)
            for stream, values, time in log
            if stream == s.name and filters.get(stream, lambda _: True)(values)
        ]
        for s in shape.streams
    }
    return multiset(list(combinations_of({}, list(rows), rows, shape.edges)))


def multiset(results: list[dict[str, Row]]) -> Counter[str]:
    """Results without regard to their order."""
    return Counter(
        str(sorted((name, tuple(row.values.items()), row.time) for name, row in result.items()))
        for result in results
    )


def run(
    shape: JoinGraph,
    log: Log,
    constraints: list[KConstraint],
    period: int,
    api: ModuleType = API,
) -> KMon:
    """Plays arrivals with some constraints in force."""
    rules = api.maintenance(replace(shape, constraints=tuple(constraints)))
    machine = KMon(rules, filters_of(shape), period)
    for stream, values, time in log:
        machine.arrive(stream, values, time)
    return machine


def chain(count: int, *, constrained: bool = False) -> JoinGraph:
    """A long chain of many-one joins, for measuring."""
    names = " ".join(f"S{i}(id)" for i in range(count))
    joins = " ".join(f"S{i}.to=S{i + 1}.id" for i in range(count - 1))
    rids = " ".join(f"RIDS(9):S{i}.to>S{i + 1}.id" for i in range(count - 1))
    return graph(names, joins, rids if constrained else "")


def star(count: int, predicates: int) -> JoinGraph:
    """A fact stream with many dimensions, joined on as many columns as there are predicates."""
    keys = ",".join(f"k{j}" for j in range(max(1, predicates // (count - 1))))
    names = "F " + " ".join(f"D{i}({keys})" for i in range(1, count))
    joins = " ".join(
        f"F.d{i}_{column}=D{i}.{column}" for i in range(1, count) for column in keys.split(",")
    )
    return graph(names, joins)
