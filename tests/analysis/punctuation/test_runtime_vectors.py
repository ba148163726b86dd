"""The examples of punctuations at work, PS-4, PS-10 to PS-12 and PS-43 to PS-50."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from cqlc.analysis.punctuation import (
    Graph,
    Grouping,
    JoinPlan,
    Leaf,
    Operator,
    Verdict,
    best_plan,
    check,
    graph_of,
    is_safe,
    reach,
)
from tests.analysis.punctuation.brute_force import Tree, trees
from tests.analysis.punctuation.queries import query, random_query
from tests.analysis.punctuation.simulator import Row, Simulator, schemes_of
from tests.analysis.punctuation.vectors import AUCTION, CHAIN, THREE, VECTORS


def flat(graph: Graph, **options: bool) -> Simulator:
    """All inputs in one operator."""
    leaves = tuple(Leaf((s.name,)) for s in graph.query.streams)
    return Simulator(graph, Operator(leaves, ()), **options)


def start(number: str) -> Simulator:
    return flat(graph_of(VECTORS[number].query()))


def test_ps_4_a_punctuation_frees_rows_of_its_value_only() -> None:
    auction = start("PS-2")
    for item in (1, 2):
        auction.row("item", sellerid=9, itemid=item, name="n", initialprice=5)
    auction.punctuation("bid", itemid=1)
    assert [row["itemid"] for row in auction.stored("item")] == [2]


def test_ps_10_chained_purge() -> None:
    run = start("PS-10")
    run.row("S1", A="a1", B="b1")
    for b, c in (("b1", "c1"), ("b1", "c2"), ("b2", "c3")):
        run.row("S2", B=b, C=c)
    run.row("S3", C="c1", A="a9")
    chain = reach(run.graph, 1, run.graph.blocks).chain
    needs = run.operators[0][0].needs({"S1": run.stored("S1")[0]}, chain)
    assert needs == [{("b1",)}, {("c1",), ("c2",)}]
    sizes: list[int] = []
    for stream, values in (("S2", {"B": "b1"}), ("S3", {"C": "c1"}), ("S3", {"C": "c2"})):
        run.punctuation(stream, **values)
        sizes.append(len(run.stored("S1")))
    assert sizes == [1, 1, 0]
    assert (len(run.stored("S2")), len(run.stored("S3"))) == (3, 1)


def test_ps_11_composite_punctuations() -> None:
    run = start("PS-8")
    run.row("S1", A="a1", B="b1")
    run.row("S2", B="b1", C="c1")
    run.row("S2", B="b1", C="c2")
    chain = reach(run.graph, 1, run.graph.blocks).chain
    needs = run.operators[0][0].needs({"S1": run.stored("S1")[0]}, chain)
    assert needs == [{("b1",)}, {("a1", "c1"), ("a1", "c2")}]
    run.punctuation("S2", B="b1")
    run.punctuation("S3", A="a2", C="c1")
    run.punctuation("S3", A="a1", C="c1")
    assert run.stored("S1")
    run.punctuation("S3", A="a1", C="c2")
    assert not run.stored("S1")


@pytest.mark.parametrize(
    "punctuations",
    [
        [("S2", {"B": "b1"}), ("S3", {"C": "c1"})],
        [("S3", {"A": "a1"}), ("S2", {"C": "c2"})],
    ],
)
def test_ps_12_either_way_round_the_cycle(punctuations: list[tuple[str, dict[str, str]]]) -> None:
    run = start("PS-12")
    run.row("S1", A="a1", B="b1")
    run.row("S2", B="b1", C="c1")
    run.row("S3", A="a1", C="c2")
    for i, (stream, values) in enumerate(punctuations):
        run.punctuation(stream, **values)
        assert len(run.stored("S1")) == (1 if i == 0 else 0)


def test_ps_33_punctuations_retire_together() -> None:
    run = flat(graph_of(query(THREE, "S1.K=S2.K S2.K=S3.K", "S1{K} S2{K} S3{K}")))
    operator = run.operators[0][0]
    run.punctuation("S1", K=1)
    run.punctuation("S2", K=1)
    operator.retire()
    assert len(operator.punctuations) == 2
    run.row("S3", K=1)
    assert not run.stored("S3")
    run.punctuation("S3", K=1)
    operator.retire()
    assert operator.punctuations == []


def test_ps_43_nothing_stored_to_extend() -> None:
    run = flat(graph_of(query(THREE, CHAIN, "S2{B} S3{C}")))
    run.row("S1", A="a1", B="b1")
    run.row("S2", B="b2", C="c3")
    run.punctuation("S2", B="b1")
    assert not run.stored("S1")


def test_ps_44_punctuation_before_the_row() -> None:
    run = start("PS-17")
    run.punctuation("S2", B="b1")
    run.row("S1", A="a1", B="b1")
    assert (run.results, run.stored("S1")) == ([], [])


def test_ps_45_a_row_against_its_own_punctuation() -> None:
    run = start("PS-17")
    run.row("S1", A="a1", B="b1")
    run.punctuation("S2", B="b1")
    run.row("S2", B="b1", C="c7")
    assert run.violations == [("S2", {"B": "b1", "C": "c7"})]
    assert run.results == []


def test_ps_46_propagation_through_a_tree() -> None:
    graph = graph_of(VECTORS["PS-17"].query())
    lower = Operator((Leaf(("S1",)), Leaf(("S2",))), ())
    run = Simulator(graph, Operator((lower, Leaf(("S3",))), ()))
    upper, below = (operator for operator, _ in run.operators)
    run.row("S2", B="b1", C="c1")
    run.row("S1", A="a1", B="b1")
    assert len(upper.states[0]) == 1
    run.punctuation("S2", C="c1")
    assert [p.values for p in below.pending] == [{"C": "c1"}]
    run.punctuation("S1", B="b1")
    assert run.stored("S2") == []
    assert [p.values for p in upper.punctuations] == [{"C": "c1"}]
    assert [(p.stream, p.values) for p in below.pending] == [("S1", {"B": "b1"})]
    run.punctuation("S3", C="c1")
    assert upper.states[0] == []
    run.punctuation("S2", B="b1")
    assert run.size == 0
    assert below.pending == []


def test_ps_47_a_key_is_a_punctuation_with_every_row() -> None:
    run = flat(graph_of(query("item bid", AUCTION, "bid{itemid} K:item{itemid}")))
    for item in (1, 1, 2):
        run.row("bid", itemid=item, bidderid=7)
    run.row("item", itemid=1)
    assert len(run.results) == 2
    assert [row["itemid"] for row in run.stored("bid")] == [2]


def events(graph: Graph, generator: random.Random) -> list[tuple[str, str, dict[str, object]]]:
    """Rows that respect the punctuations among them, and in the end all punctuations there are."""
    values = (1, 2)
    found: list[tuple[str, str, dict[str, object]]] = []
    closed: list[tuple[str, dict[str, object]]] = []
    columns: dict[str, set[str]] = {s.name: set() for s in graph.query.streams}
    for attribute in graph.classes:
        columns[attribute.stream].add(attribute.column)

    def close(stream: str, chosen: dict[str, object]) -> None:
        closed.append((stream, chosen))
        found.append(("punctuation", stream, chosen))

    for _ in range(generator.randint(8, 16)):
        stream = generator.choice(list(columns))
        row: dict[str, object] = {c: generator.choice(values) for c in sorted(columns[stream])}
        schemes = schemes_of(graph, stream)
        if schemes and generator.random() < 0.25:
            close(stream, {c: row[c] for c in generator.choice(schemes).columns})
        elif not any(s == stream and v.items() <= row.items() for s, v in closed):
            found.append(("row", stream, row))
    for stream in columns:
        for scheme in schemes_of(graph, stream):
            for chosen in product(values, repeat=len(scheme.columns)):
                close(stream, dict(zip(scheme.columns, chosen, strict=True)))
    return found


def play(run: Simulator, log: list[tuple[str, str, dict[str, object]]]) -> Simulator:
    for kind, stream, values in log:
        if kind == "row":
            run.row(stream, **values)
        else:
            run.punctuation(stream, **values)
    run.sweep()
    return run


def multiset(rows: list[Row]) -> Counter[str]:
    return Counter(str(sorted((k, sorted(v.items())) for k, v in row.items())) for row in rows)


def joined(graph: Graph, log: list[tuple[str, str, dict[str, object]]]) -> Counter[str]:
    """The join of all rows, by nested loops."""
    rows = {
        s.name: [v for k, n, v in log if k == "row" and n == s.name] for s in graph.query.streams
    }
    found: list[Row] = []
    for combination in product(*rows.values()):
        row: Row = dict(zip(rows, combination, strict=True))
        if all(
            row[e.left.stream][e.left.column] == row[e.right.stream][e.right.column]
            for e in graph.query.predicates
        ):
            found.append(row)
    return multiset(found)


def as_plan(tree: Tree) -> JoinPlan:
    return Leaf((tree,)) if isinstance(tree, str) else Operator(tuple(map(as_plan, tree)), ())


def safe_graphs(seed: int, count: int) -> list[tuple[Graph, random.Random]]:
    generator = random.Random(seed)
    found: list[tuple[Graph, random.Random]] = []
    while len(found) < count:
        graph = graph_of(random_query(generator))
        if len(graph.query.streams) > 1 and best_plan(graph) is not None:
            found.append((graph, generator))
    return found


def test_ps_48_purging_loses_nothing_and_empties_safe_plans() -> None:
    for graph, generator in safe_graphs(48, 60):
        log = events(graph, generator)
        plans = [as_plan(t) for t in trees(tuple(s.name for s in graph.query.streams))]
        safe = [p for p in plans if is_safe(graph, p)]
        for plan in generator.sample(safe, min(3, len(safe))):
            run = play(Simulator(graph, plan), log)
            assert multiset(run.results) == joined(graph, log)
            assert run.size == 0, f"{plan} keeps rows"


def test_ps_49_lazy_and_eager_sweeps_agree() -> None:
    for graph, generator in safe_graphs(49, 40):
        log = events(graph, generator)
        eager, lazy = play(flat(graph), log), play(flat(graph, eager=False), log)
        assert multiset(eager.results) == multiset(lazy.results)
        assert eager.size == lazy.size
        assert eager.peak <= lazy.peak


def test_ps_50_an_expired_punctuation_frees_nothing() -> None:
    run = flat(graph_of(query(THREE, CHAIN, "S2{B} S3{C}")))
    run.punctuation("S2", lifespan=10, B="b1")
    run.now = 20
    run.row("S1", A="a1", B="b1")
    assert run.stored("S1") == [{"A": "a1", "B": "b1"}]


def test_unsafe_inputs_keep_rows_however_many_punctuations_come() -> None:
    """The rows that stay are those of the inputs the checker names."""
    generator = random.Random(7)
    stayed = 0
    for _ in range(150):
        graph = graph_of(random_query(generator))
        stuck = set(check(graph.query).stuck)
        run = play(flat(graph), events(graph, generator))
        for stream in graph.query.streams:
            if run.stored(stream.name):
                assert stream.name in stuck
                stayed += 1
    assert stayed > 100


def test_retirement_never_blocks_a_purge() -> None:
    for graph, generator in safe_graphs(33, 60):
        log = events(graph, generator)
        run = flat(graph)
        for kind, stream, values in log:
            if kind == "row":
                run.row(stream, **values)
            else:
                run.punctuation(stream, **values)
            run.operators[0][0].retire()
        assert run.size == 0
        assert multiset(run.results) == joined(graph, log)


def test_final_groups_get_no_more_results_and_all_groups_become_final() -> None:
    generator = random.Random(4)
    finals = 0
    for _ in range(400):
        plain = random_query(generator)
        keys = tuple(generator.sample(sorted(graph_of(plain).classes), 1))
        graph = graph_of(replace(plain, groupings=(Grouping("groups", keys),)))
        if check(graph.query).verdict is not Verdict.SAFE:
            continue
        run, number = flat(graph), graph.classes[keys[0]]
        operator, final = run.operators[0][0], set[object]()
        for kind, stream, values in events(graph, generator):
            seen = len(run.results)
            if kind == "row":
                run.row(stream, **values)
            else:
                run.punctuation(stream, **values)
            fresh = {operator.value(row, number) for row in run.results[seen:]}
            assert not fresh & final
            final = {v for v in (1, 2) if operator.is_final({number: v})}
            finals += len(final)
        assert final == {1, 2}
    assert finals > 500
