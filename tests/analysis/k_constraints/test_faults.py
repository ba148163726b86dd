"""Deliberate faults in the analysis, and the check that notices each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from cqlc.analysis import k_constraints
from cqlc.analysis.size import evaluate
from tests.analysis.k_constraints import random_checks
from tests.analysis.k_constraints.graphs import graph
from tests.analysis.k_constraints.vectors import CHAIN, FORK, RUNS, TWO_ROOTS, verify
from tests.analysis.mutants import Fault, faulty

Check = Callable[[ModuleType], None]


def run(number: str) -> Check:
    """The check of one run, called by its number."""

    def check(api: ModuleType) -> None:
        verify(RUNS[number], api)

    check.__name__ = number
    return check


def no_result_lost(api: ModuleType) -> None:
    random_checks.loses_nothing(200, 1, api)


def promises(api: ModuleType) -> None:
    random_checks.outcome_is_kept_promise(40, 2, api)


def smallest_repairs(api: ModuleType) -> None:
    random_checks.repairs_are_smallest(40, 3, api)


def stored_components(api: ModuleType) -> None:
    one = api.maintenance(graph(*TWO_ROOTS, "RIDS(1):S1>S3.A", api))
    assert one.stream("S3").stores_no
    assert not api.maintenance(graph(*FORK, "RIDS(1):S1>S3.B", api)).stream("S3").stores_no


def covers(api: ModuleType) -> None:
    assert api.maintenance(graph(*CHAIN, "", api)).stream("S3").cover is None


def monitored(api: ModuleType) -> None:
    found = api.analyse(graph("S1 S2(A)", "S1.A=S2.A", "OA(?):S1.A RIDS(?):S1>S2.A", api))
    assert {s.outcome for s in found.streams} == {api.Outcome.KEPT}


def directions(api: ModuleType) -> None:
    (edge,) = graph("e1:E(id) e2:E(id)", "e1.next=e2.id", "", api).edges
    assert (edge.parent, edge.child) == ("e1", "e2")


def refusals(api: ModuleType) -> None:
    cycle = graph("S1(A) S2(B) S3(C)", "S1.B=S2.B S2.C=S3.C S3.A=S1.A", "", api)
    assert api.refusal_of(cycle) is api.Refusal.CYCLIC
    assert api.refusal_of(graph("S1 S2", "S1.A=S2.A", "", api)) is api.Refusal.MANY_MANY


def waits(api: ModuleType) -> None:
    rates = {"S1": 5.0, "S2": 1.0, "S3": 1.0}
    asked = graph(*CHAIN, "RIDS(10s):S1>S2.B RIDS(5s):S2>S3.C", api, rates=rates)
    size = api.analyse(asked).stream("S1").unknown.size
    assert evaluate(size) == 75
    half = api.analyse(graph(*CHAIN, "RIDS(10s):S1>S2.B", api))
    assert half.stream("S1").unknown.outcome is api.Outcome.KEPT


FAULTS: list[tuple[Fault, Check]] = [
    (
        Fault(
            "failed children are forgotten when only some parents give up",
            "rules.py",
            "given_up = bool(parents) and all(",
            "given_up = bool(parents) and any(",
        ),
        stored_components,
    ),
    (
        Fault(
            "complete rows of a root are never stored",
            "rules.py",
            "stores_yes=roots != {name},",
            "stores_yes=name not in roots,",
        ),
        run("KC-20"),
    ),
    (
        Fault(
            "one root among the parents is taken for a cover",
            "rules.py",
            "if roots <= set(parents) else None",
            "if roots & set(parents) else None",
        ),
        run("a root that is no parent"),
    ),
    (
        Fault(
            "any parents are taken for a cover",
            "rules.py",
            "cover=tuple(p for p in parents if p in roots) if roots <= set(parents) else None",
            "cover=parents",
        ),
        covers,
    ),
    (
        Fault(
            "the order of parents is taken for that of children",
            "rules.py",
            "graph.arrivals(edge.child, below)",
            "graph.arrivals(edge.parent, above)",
        ),
        no_result_lost,
    ),
    (
        Fault(
            "the order of children is taken for that of parents",
            "rules.py",
            "for found in filter(is_declared, graph.arrivals(edge.parent, above)):",
            "for found in filter(is_declared, graph.arrivals(edge.child, below)):",
        ),
        run("children in order"),
    ),
    (
        Fault(
            "a reference counts for all children of the parent",
            "model.py",
            "if (constraint.parent, constraint.child) == (parent, child):\n"
            "                    if set(constraint.columns) <= set(edge.columns):",
            "if constraint.parent == parent:\n                    if constraint.columns:",
        ),
        no_result_lost,
    ),
    (
        Fault(
            "a monitored k counts as declared",
            "model.py",
            "return not isinstance(constraint.within, Monitored)",
            "return True",
        ),
        monitored,
    ),
    (
        Fault(
            "a key is taken to be on the many side",
            "build.py",
            "columns = {column for _, column in self.shared[parent, child]}",
            "columns = {column for column, _ in self.shared[parent, child]}",
        ),
        directions,
    ),
    (
        Fault(
            "part of a key is enough",
            "build.py",
            "keyed = any(columns >= set(key) for key in self.streams[child].keys)",
            "keyed = bool(columns)",
        ),
        refusals,
    ),
    (
        Fault(
            "cycles are accepted",
            "rules.py",
            "if shape_of(graph) is Shape.CYCLIC:",
            "if shape_of(graph) is Shape.TREE and not graph.edges:",
        ),
        refusals,
    ),
    (
        Fault(
            "a child that waits itself is overlooked",
            "effects.py",
            "greatest(*(plus(here.length, further.length) for here, further in parts)),",
            "greatest(*(here.length for here, _ in parts)),",
        ),
        waits,
    ),
    (
        Fault(
            "waiting for children of children is taken to end",
            "effects.py",
            "outcome = max((w.outcome for pair in parts for w in pair), default=Outcome.LIMITED)",
            "outcome = max((w.outcome for w, _ in parts), default=Outcome.LIMITED)",
        ),
        waits,
    ),
    (
        Fault(
            "dangling rows are overlooked",
            "effects.py",
            "max(found.outcome, Outcome.DANGLING if closer.clustered else Outcome.CLOSING),",
            "Outcome.CLOSING,",
        ),
        promises,
    ),
    (
        Fault(
            "rows held by waiting parents are overlooked",
            "effects.py",
            "found = Component(max(found.outcome, outcome), plus(found.size, rows), evidence)",
            "found = Component(found.outcome, plus(found.size, rows), evidence)",
        ),
        promises,
    ),
    (
        Fault(
            "filters are overlooked",
            "effects.py",
            "return tree and not filtered and not",
            "return tree and not",
        ),
        promises,
    ),
    (
        Fault(
            "repairs forget that children may be ordered",
            "analysis.py",
            "return tuple(dict.fromkeys((_reference(rules, edge.edge), *floors)))",
            "return (_reference(rules, edge.edge),)",
        ),
        smallest_repairs,
    ),
]


@pytest.mark.parametrize("check", {check.__name__: check for _, check in FAULTS}.values())
def test_checks_pass_without_a_fault(check: Check) -> None:
    check(k_constraints)


@pytest.mark.parametrize(("fault", "check"), FAULTS, ids=[f.name for f, _ in FAULTS])
def test_fault_is_noticed(fault: Fault, check: Check, tmp_path: Path) -> None:
    with faulty(k_constraints, fault, tmp_path) as api, pytest.raises(AssertionError):
        check(api)
