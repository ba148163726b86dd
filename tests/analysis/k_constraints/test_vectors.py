"""The examples KC-1 to KC-30."""

from __future__ import annotations

import math
import random
from dataclasses import replace

import pytest

from cqlc.analysis.k_constraints import (
    KConstraint,
    Maintenance,
    Outcome,
    Refusal,
    Rids,
    Shape,
    analyse,
    in_rows,
    maintenance,
    topological,
)
from cqlc.analysis.size import Number, Symbol, evaluate, times
from cqlc.catalog import Monitored, WithinRows, WithinTime
from tests.analysis.k_constraints.distances import clustering_distance, scrambling_distance
from tests.analysis.k_constraints.graphs import (
    filters_of,
    graph,
    multiset,
    random_constraints,
    random_log,
    random_shape,
    relational,
    run,
)
from tests.analysis.k_constraints.monitor import cluster_distances, estimates, order_distances
from tests.analysis.k_constraints.simulator import Arrivals, Row, combinations_of
from tests.analysis.k_constraints.vectors import CHAIN, FORK, RUNS, TWO_ROOTS, verify

INF = math.inf
SECOND = 1_000_000


@pytest.mark.parametrize("number", RUNS)
def test_run(number: str) -> None:
    verify(RUNS[number])


def test_kc_5_auxiliary_table() -> None:
    machine = RUNS["KC-5"].play()
    assert machine.arrivals["S1", "B"].last_counts == {5: 2, 8: 2, 10: 4}
    assert machine.count["S1"] == 4


def test_kc_6_floor() -> None:
    machine = RUNS["KC-6"].play(upto=5)
    assert machine.arrivals["S3", "B"].floor(WithinRows(2), 0) == 7


def test_kc_7_memory_of_the_network_query() -> None:
    """Ten-minute windows of 12,000 rows a second against one row in a hundred kept per stream."""
    bytes_per_row = Number(10)
    whole = times(Symbol("rate", "rows per second", 12_000), Number(600), bytes_per_row)
    assert evaluate(whole) == 72_000_000
    kept = times(Number(3), Number(0.01), Number(1_000), Number(600), bytes_per_row)
    assert evaluate(kept) == pytest.approx(180_000)


def test_kc_11_a_cycle_is_refused() -> None:
    shape = graph("S1(A)(B) S2(B)(C) S3(C)(A)", "S1.B=S2.B S2.C=S3.C S3.A=S1.A")
    assert topological(shape.edges), "one-one joins are turned so that no cycle is left"
    forced = graph("S1(A) S2(B) S3(C)", "S1.B=S2.B S2.C=S3.C S3.A=S1.A")
    found = analyse(forced)
    assert (found.shape, found.refusal) == (Shape.CYCLIC, Refusal.CYCLIC)
    assert found.outcome is Outcome.KEPT
    rows = {
        "S1": [Row({"A": 1, "B": 2}, 3), Row({"A": 4, "B": 2}, 4)],
        "S2": [Row({"B": 2, "C": 3}, 2)],
        "S3": [Row({"C": 3, "A": 1}, 1)],
    }
    results = list(combinations_of({}, list(rows), rows, forced.edges))
    assert [r["S1"].values for r in results] == [{"A": 1, "B": 2}]


def test_kc_12_k_from_delays_and_rates() -> None:
    assert in_rows(WithinTime(15 * SECOND), rate=100) == 1500
    assert in_rows(WithinTime(int(0.5 * SECOND)), rate=1000) == 500
    assert in_rows(WithinTime(2 * SECOND), rate=10 * 50) == 1000
    assert in_rows(WithinRows(25), rate=1 / 300) == 25


@pytest.mark.parametrize(
    ("values", "k"),
    [
        ([7, 5, 10], 1),
        ([1, 2, 3], 0),
        ([3, 2, 1], 2),
        ([2, 1, 4, 3], 1),
        ([1, 2, 5, 3, 4, 6, 2], 4),
    ],
)
def test_kc_14_scrambling(values: list[int], k: int) -> None:
    assert scrambling_distance(values) == k


def test_kc_14_scrambling_of_every_row() -> None:
    assert order_distances([1, 2, 5, 3, 4, 6, 2]) == [0, 0, 0, 1, 2, 0, 4]


@pytest.mark.parametrize(
    ("values", "k"),
    [
        ([5, 8, 5, 10], 1),
        ([1, 1, 2, 2, 3], 0),
        ([1, 2, 3, 1], 2),
        ([1, 2, 1, 3, 2, 4, 4, 5], 2),
    ],
)
def test_kc_14_clustering(values: list[int], k: int) -> None:
    assert clustering_distance(values) == k


@pytest.mark.parametrize(("k", "floor"), [(0, 10), (1, 7), (2, 7), (3, -INF)])
def test_kc_18_floor_of_running_maxima(k: int, floor: float) -> None:
    known = Arrivals()
    for count, value in enumerate((7, 5, 10), 1):
        known.add(value, count, count)
    assert known.floor(WithinRows(k), 3) == floor


def test_kc_22_trace_of_the_auxiliary_table() -> None:
    known, closed = Arrivals(), list[set[int]]()
    for count, value in enumerate((1, 2, 1, 3, 2, 4, 4, 5), 1):
        known.add(value, count, count)
        over = {v for v in known.last_counts if known.is_over(v, WithinRows(2), count, count)}
        closed.append(over)
    assert {v: known.distance(v, 8) for v in known.last_counts} == {1: 6, 2: 5, 3: 4, 4: 1, 5: 0}
    assert closed[4:] == [{1}, {1, 2}, {1, 2, 3}, {1, 2, 3}]


def test_kc_23_monitor_of_references() -> None:
    distances = [0, 2, 1, 1, 0, 1, 4, 3, 0, 0, 0, 0]
    assert list(estimates(distances, 3)) == [INF, INF, 2, 2, 1, 1, INF, INF, INF, 3, 0, 0]


def test_kc_24_monitor_of_an_order() -> None:
    values = [1, 2, 5, 3, 4, 6, 7, 8, 9, 10, 8, 7, 11, 12, 13, 14, 15]
    distances = order_distances(values)
    assert distances == [0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 2, 4, 0, 0, 0, 0, 0]
    known = [INF] * 3 + [1] + [INF] * 4 + [0, 0] + [INF] * 4 + [4, 0, 0]
    assert list(estimates(distances, 4)) == known


def test_kc_25_monitor_of_clusters() -> None:
    distances = cluster_distances([1, 1, 2, 1, 2, 3, 3, 4, 4, 2])
    assert distances == [0, 0, 0, 1, 1, 0, 0, 0, 0, 5]
    assert list(estimates(distances, 4)) == [INF] * 3 + [1] * 5 + [0, INF]


def covers(rules: Maintenance) -> dict[str, tuple[str, ...] | None]:
    return {s.stream: s.cover for s in rules.streams if rules.into(s.stream)}


def test_kc_27_where_closing_values_helps() -> None:
    assert covers(maintenance(graph(*CHAIN))) == {"S2": ("S1",), "S3": None}
    assert covers(maintenance(graph(*TWO_ROOTS))) == {"S3": ("S1", "S2")}
    assert covers(maintenance(graph(*FORK))) == {"S2": ("S1",), "S3": ("S1",)}
    diamond = graph("S1 S2(A) S3(B) S4(D)(E)", "S1.A=S2.A S1.B=S3.B S2.D=S4.D S3.E=S4.E")
    rules = maintenance(diamond)
    assert rules.shape is Shape.DAG
    assert covers(rules) == {"S2": ("S1",), "S3": ("S1",), "S4": None}


def stored(rules: Maintenance) -> str:
    yes = [f"{s.stream}.Y" for s in rules.streams if s.stores_yes]
    no = [f"{s.stream}.N" for s in rules.streams if s.stores_no]
    return " ".join(yes + no)


def test_kc_28_what_is_stored() -> None:
    assert stored(maintenance(graph(*FORK))) == "S2.Y S3.Y S2.N S3.N"
    assert stored(maintenance(graph(*FORK, "RIDS(1):S1>S3.B"))) == "S2.Y S3.Y S2.N"
    one = maintenance(graph(*TWO_ROOTS, "RIDS(1):S1>S3.A"))
    assert stored(one) == "S1.Y S2.Y S3.Y S3.N"
    both = maintenance(graph(*TWO_ROOTS, "RIDS(1):S1>S3.A RIDS(4):S2>S3.A"))
    assert stored(both) == "S1.Y S2.Y S3.Y"


def test_kc_29_a_many_many_join_is_refused() -> None:
    found = analyse(graph("S1 S2", "S1.A=S2.A", "OA(1):S1.A"))
    assert found.refusal is Refusal.MANY_MANY
    ((loose),) = found.graph.loose
    assert {str(loose.left), str(loose.right)} == {"S1.A", "S2.A"}
    assert [str(i.why) for i in found.idle] == ["the join is not of the kind constraints help with"]
    assert {s.outcome for s in found.streams} == {Outcome.KEPT}


def test_kc_30_a_larger_k_changes_no_result() -> None:
    generator = random.Random(30)
    for _ in range(100):
        shape = random_shape(generator)
        log = random_log(generator, shape)
        constraints = random_constraints(generator, shape, log)
        expected = relational(shape, log, filters_of(shape))
        for more in (1, 4):
            machine = run(shape, log, [_widened(c, more) for c in constraints], 1)
            assert multiset(machine.results) == expected


def test_kc_30_a_larger_k_of_one_constraint_saves_no_more() -> None:
    """On trees; in other graphs a failed row given up early may leave another one waiting."""
    generator = random.Random(31)
    for _ in range(150):
        shape = random_shape(generator)
        log = random_log(generator, shape)
        constraints = random_constraints(generator, shape, log)
        if len(shape.edges) < len(shape.streams):
            for constraint in [c for c in constraints if not isinstance(c, Rids)][:1]:
                wider = [_widened(constraint, more) for more in (0, 1, 4)]
                sizes = [run(shape, log, [c], 1).size for c in wider]
                assert sizes == sorted(sizes)


def _widened(constraint: KConstraint, more: int) -> KConstraint:
    match constraint.within:
        case WithinRows(rows):
            return replace(constraint, within=WithinRows(rows + more))
        case WithinTime(length):
            return replace(constraint, within=WithinTime(length + more))
        case Monitored():
            return constraint
