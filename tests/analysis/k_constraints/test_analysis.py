"""Graphs from keys, effects and their formulas, idle constraints and repairs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cqlc.analysis.k_constraints import (
    Idleness,
    Outcome,
    Reason,
    Refusal,
    Shape,
    analyse,
    describe,
)
from cqlc.analysis.size import evaluate, symbols, text
from cqlc.catalog import WithinRows, WithinTime
from tests.analysis.k_constraints.graphs import chain, graph, star
from tests.analysis.k_constraints.simulator import KMon
from tests.analysis.k_constraints.vectors import CHAIN, FORK, TWO_ROOTS


def edges(streams: str, joins: str, constraints: str = "") -> str:
    found = graph(streams, joins, constraints)
    return " ".join(f"{e.parent}>{e.child}" for e in found.edges)


@pytest.mark.parametrize(
    ("streams", "joins", "constraints", "expected"),
    [
        ("S1 S2(A)", "S1.A=S2.A", "", "S1>S2"),
        ("S1(A) S2", "S1.A=S2.A", "", "S2>S1"),
        ("S1(A) S2(A)", "S1.A=S2.A", "", "S1>S2"),
        ("S1(A) S2(A)", "S1.A=S2.A", "RIDS(1):S2>S1.A", "S2>S1"),
        ("S1 S2", "S1.A=S2.A", "RIDS(?):S1>S2.A", "S1>S2"),
        ("S1 S2(A,B)", "S1.A=S2.A", "", ""),
        ("S1 S2(A,B)", "S1.A=S2.A S1.B=S2.B", "", "S1>S2"),
        ("S1 S2 S3(A)", "S1.A=S2.A S2.A=S3.A", "", "S1>S3 S2>S3"),
        ("S1 S2(A) S3(A)", "S1.A=S2.A S2.A=S3.A", "", "S1>S2 S2>S3"),
        ("S1 S2(A) S3(A)", "S1.A=S2.A S2.A=S3.A", "RIDS(1):S1>S3.A", "S1>S2 S1>S3 S2>S3"),
        ("e1:E(id) e2:E(id)", "e1.next=e2.id", "", "e1>e2"),
    ],
)
def test_joins_are_directed_by_keys(
    streams: str, joins: str, constraints: str, expected: str
) -> None:
    assert edges(streams, joins, constraints) == expected


def test_shapes() -> None:
    assert analyse(graph(*CHAIN)).shape is Shape.TREE
    assert analyse(graph(*TWO_ROOTS)).shape is Shape.TREE
    diamond = "S1 S2(A) S3(B) S4(D)(E)", "S1.A=S2.A S1.B=S3.B S2.D=S4.D S3.E=S4.E"
    assert analyse(graph(*diamond)).shape is Shape.DAG


def test_a_cross_product_is_refused() -> None:
    assert analyse(graph("S1 S2(A) S3", "S1.A=S2.A")).refusal is Refusal.DISCONNECTED


RATES = {"S1": 5.0, "S2": 1.0, "S3": 1.0}


def test_rids_bounds_waiting_by_k_and_multiplicity() -> None:
    found = analyse(graph(*FORK, "RIDS(5000):S1>S2.A RIDS(1000):S1>S3.B", rates=RATES))
    waiting = found.stream("S1").unknown
    assert waiting.outcome is Outcome.LIMITED
    assert text(waiting.size) == ("rate(S1) × max(k(S1 → S2) / rate(S2), k(S1 → S3) / rate(S3))")
    assert evaluate(waiting.size) == 25_000
    assert found.stream("S1").outcome is Outcome.LIMITED
    assert evaluate(found.stream("S1").size) == 25_000


def test_waiting_adds_up_along_a_chain() -> None:
    found = analyse(graph(*CHAIN, "RIDS(10s):S1>S2.B RIDS(5s):S2>S3.C", rates=RATES))
    assert evaluate(found.stream("S1").unknown.size) == 5 * (10 + 5)
    assert evaluate(found.stream("S2").unknown.size) == 5


def test_waiting_is_bounded_in_a_run() -> None:
    """Five parents per child, all children missing: never more than the formula says."""
    shape = graph("S1 S2(A)", "S1.A=S2.A", "RIDS(7):S1>S2.A", rates=RATES)
    found = analyse(shape)
    assert found.rules is not None
    machine, most = KMon(found.rules), 0
    for step in range(100):
        for i in range(5):
            machine.arrive("S1", {"A": 10_000 + 5 * step + i})
        most = max(most, len(machine.unknown["S1"]))
        machine.arrive("S2", {"A": step})
    bound = evaluate(found.stream("S1").unknown.size)
    assert bound == 35
    assert most == bound


def test_clustering_leaves_dangling_rows() -> None:
    found = analyse(graph("S1 S2(A)", "S1.A=S2.A", "CA(20):S1.A RIDS(3):S1>S2.A"))
    complete = found.stream("S2").yes
    assert complete.outcome is Outcome.DANGLING
    assert text(complete.size) == "k(S1.A) + 1 + unreferenced(S2, S1)"
    assert evaluate(complete.size) is None, "nothing declares how many rows dangle"
    assert found.stream("S2").no.outcome is Outcome.EMPTY


def test_order_frees_the_child_entirely() -> None:
    found = analyse(graph("S1 S2(A)", "S1.A=S2.A", "OA(20):S1.A RIDS(3):S1>S2.A", rates=RATES))
    complete = found.stream("S2").yes
    assert complete.outcome is Outcome.CLOSING
    assert text(complete.size) == "rate(S2) × k(S1.A) / rate(S1) + rate(S2) × lead(S2.A, S1.A)"
    assert {e.reason for e in complete.evidence} == {Reason.ORDERED}
    assert found.outcome is Outcome.CLOSING
    assert found.repairs.options == ()


def test_a_row_is_held_by_parents_that_wait_for_other_children() -> None:
    held = analyse(graph(*FORK, "OA(1):S1.A OA(1):S1.B"))
    assert held.stream("S2").yes.outcome is Outcome.KEPT
    freed = analyse(graph(*FORK, "OA(1):S1.A OA(1):S1.B RIDS(2):S1>S2.A RIDS(2):S1>S3.B"))
    assert freed.outcome is Outcome.CLOSING


def test_two_roots_free_each_other() -> None:
    asked = graph(*TWO_ROOTS, "OA(1):S1.A OA(1):S2.A RIDS(0):S1>S3.A RIDS(0):S2>S3.A")
    found = analyse(asked)
    assert {s.stream: s.outcome for s in found.streams} == dict.fromkeys(
        ("S1", "S2", "S3"), Outcome.CLOSING
    )
    clustered = graph(*TWO_ROOTS, "CA(1):S1.A OA(1):S2.A RIDS(0):S1>S3.A RIDS(0):S2>S3.A")
    mixed = analyse(clustered)
    assert mixed.stream("S1").yes.outcome is Outcome.CLOSING
    assert mixed.stream("S2").yes.outcome is Outcome.DANGLING


def test_a_window_removes_what_nothing_else_does() -> None:
    shape = graph("S1 S2(A)", "S1.A=S2.A", rates=RATES)
    streams = (
        replace(shape.streams[0], window=WithinTime(60_000_000)),
        replace(shape.streams[1], window=WithinRows(40)),
    )
    found = analyse(replace(shape, streams=streams))
    assert {s.outcome for s in found.streams} == {Outcome.WINDOWED}
    assert evaluate(found.stream("S1").size) == 300
    assert evaluate(found.stream("S2").size) == 40


def test_monitored_constraints_prove_nothing() -> None:
    found = analyse(graph("S1 S2(A)", "S1.A=S2.A", "OA(?):S1.A RIDS(?):S1>S2.A"))
    assert {s.outcome for s in found.streams} == {Outcome.KEPT}
    assert {i.why for i in found.idle} == {Idleness.MONITORED}


def test_idle_constraints_and_why() -> None:
    found = analyse(graph(*CHAIN, "OA(1):S1.A RIDS(9):S2>S3.C CA(1):S2.C"))
    assert {describe(i.constraint): i.why for i in found.idle} == {
        "S1.A": Idleness.NOT_JOINED,
        "S2.C": Idleness.NOT_DECISIVE,
    }


def test_repairs_of_a_plain_join() -> None:
    found = analyse(graph("S1 S2(A)", "S1.A=S2.A"))
    shown = {" ".join(sorted(map(describe, option))) for option in found.repairs.options}
    assert shown == {"S1 → S2 S1.A", "S1.A S2.A"}
    assert found.repairs.smallest


def test_no_constraint_frees_the_end_of_a_chain() -> None:
    assert analyse(graph(*CHAIN)).repairs.options == ()


def test_names_in_formulas_are_explained() -> None:
    found = analyse(graph(*FORK, "RIDS(5):S1>S2.A RIDS(1s):S1>S3.B"))
    known = symbols(found.stream("S1").unknown.size)
    assert {s.name: s.value for s in known.values()} == {
        "rate(S1)": None,
        "rate(S2)": None,
        "k(S1 → S2)": 5,
        "k(S1 → S3)": 1.0,
    }
    assert known["k(S1 → S3)"].meaning.startswith("seconds")


def test_large_graphs() -> None:
    assert analyse(chain(50, constrained=True)).shape is Shape.TREE
    wide = analyse(star(50, 490))
    assert wide.refusal is None
    assert len(wide.graph.edges) == 49
