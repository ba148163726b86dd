"""Queries as join graphs: what is read from plans and declarations, and what the answers say."""

from __future__ import annotations

import re

import pytest

from cqlc.analysis.join_block import Outside
from cqlc.analysis.k_constraints import (
    Analysis,
    JoinGraph,
    Outcome,
    Refusal,
    analyse,
    declaration,
    explain,
    findings,
    from_plan,
)
from cqlc.analysis.size import evaluate
from tests.analysis.programs import program

JOIN = "SELECT a.v FROM a, b WHERE a.k = b.k"
REFERENCE = "CONSTRAINT r REFERENCES b (k) FROM a (k) WITHIN {};"


def analysis(query: str, **clauses: str) -> Analysis:
    graph = from_plan(*program(query, **clauses))
    assert isinstance(graph, JoinGraph), graph
    return analyse(graph)


def edges(found: Analysis) -> str:
    return " ".join(f"{e.parent}>{e.child}" for e in found.graph.edges)


def outcomes(found: Analysis) -> dict[str, Outcome]:
    return {s.stream: s.outcome for s in found.streams}


def test_a_key_directs_the_join() -> None:
    assert edges(analysis(JOIN, b_key="k")) == "a>b"
    assert edges(analysis(JOIN, a_key="k")) == "b>a"
    assert analysis(JOIN).refusal is Refusal.MANY_MANY


def test_a_reference_directs_the_join_without_a_key() -> None:
    found = analysis(JOIN, tables=REFERENCE.format("10 ROWS"))
    assert edges(found) == "a>b"
    assert outcomes(found) == {"a": Outcome.LIMITED, "b": Outcome.KEPT}


def test_rates_give_numbers() -> None:
    found = analysis(
        JOIN,
        a="RATE 500 PER SECOND",
        b="RATE 100 PER SECOND",
        b_key="k",
        tables=REFERENCE.format("40 ROWS"),
    )
    assert evaluate(found.stream("a").size) == 200
    timed = analysis(JOIN, a="RATE 500 PER SECOND", tables=REFERENCE.format("2 SECONDS"))
    assert evaluate(timed.stream("a").size) == 1000


def test_orders_and_clusters() -> None:
    reference = REFERENCE.format("10 ROWS")
    ordered = analysis(JOIN, a="ORDERED BY k WITHIN 5 ROWS", b_key="k", tables=reference)
    assert outcomes(ordered) == {"a": Outcome.LIMITED, "b": Outcome.CLOSING}
    clustered = analysis(JOIN, a="CLUSTERED BY k WITHIN 5 ROWS", b_key="k", tables=reference)
    assert outcomes(clustered) == {"a": Outcome.LIMITED, "b": Outcome.DANGLING}
    monitored = analysis(JOIN, a="ORDERED BY k MONITOR", b_key="k", tables=reference)
    assert outcomes(monitored) == {"a": Outcome.LIMITED, "b": Outcome.KEPT}


def test_time_is_an_order() -> None:
    found = analysis("SELECT a.v FROM a, b WHERE a.at = b.at", b_key="at")
    assert outcomes(found) == {"a": Outcome.CLOSING, "b": Outcome.CLOSING}


def test_filters_and_windows() -> None:
    found = analysis(f"{JOIN} AND b.v > 3", b_key="k")
    assert [s.name for s in found.graph.streams if s.filtered] == ["b"]
    assert found.stream("b").no.outcome is Outcome.KEPT
    windows = "SELECT a.v FROM a [RANGE 60 SECONDS], b [ROWS 7] WHERE a.k = b.k"
    bounded = analysis(windows, b_key="k", a="RATE 2 PER SECOND")
    assert outcomes(bounded) == {"a": Outcome.WINDOWED, "b": Outcome.WINDOWED}
    assert evaluate(bounded.stream("a").size) == 120
    assert evaluate(bounded.stream("b").size) == 7


@pytest.mark.parametrize(
    ("query", "tables", "reason"),
    [
        ("SELECT a.v FROM a LEFT JOIN b ON a.k = b.k", "", "not all joins are inner joins"),
        ("SELECT a.v FROM a WHERE k IN (SELECT k FROM b)", "", "not all joins are inner joins"),
        ("SELECT DISTINCT a.v FROM a, b WHERE a.k = b.k", "", "groups are kept"),
        (
            "SELECT a.v FROM a, r WHERE a.k = r.k",
            "CREATE RELATION r (k BIGINT, KEY (k));",
            "`r` is not a stream",
        ),
        ("SELECT a.v FROM a [PARTITION BY l ROWS 1], b WHERE a.k = b.k", "", "the window of `a`"),
    ],
)
def test_outside(query: str, tables: str, reason: str) -> None:
    found = from_plan(*program(query, tables=tables))
    assert isinstance(found, Outside)
    assert found.reason.startswith(reason)


REPAIRABLE: dict[str, tuple[str, dict[str, str]]] = {
    "pair": (JOIN, {"b_key": "k"}),
    "filtered": (f"{JOIN} AND b.v > 3", {"b_key": "k"}),
    "fork": ("SELECT a.v FROM a, b, c WHERE a.k = b.k AND a.l = c.l", {"b_key": "k", "c_key": "l"}),
    "two roots": ("SELECT a.v FROM a, b, c WHERE a.k = c.k AND b.k = c.k", {"c_key": "k"}),
    "half done": (JOIN, {"b_key": "k", "a": "ORDERED BY k WITHIN 5 ROWS"}),
}


@pytest.mark.parametrize("name", REPAIRABLE)
def test_repairs_written_down_free_everything(name: str) -> None:
    query, clauses = REPAIRABLE[name]
    before = analysis(query, **clauses)
    assert before.outcome is Outcome.KEPT
    assert before.repairs.options
    for option in before.repairs.options:
        wider, references = dict(clauses), list[str]()
        for number, constraint in enumerate(option):
            written = declaration(constraint)
            if written.startswith("REFERENCES"):
                references.append(f"CONSTRAINT r{number} {written};")
            else:
                clause, stream = re.fullmatch(r"(.*) on (\w+)", written).groups()
                wider[stream] = f"{wider.get(stream, '')} {clause}"
        after = analysis(query, tables="\n".join(references), **wider)
        assert after.outcome <= Outcome.WINDOWED, option


def test_effects_in_words() -> None:
    found = analysis(
        JOIN,
        a="RATE 500 PER SECOND ORDERED BY k WITHIN 5 ROWS",
        b="RATE 100 PER SECOND",
        b_key="k",
        tables=REFERENCE.format("40 ROWS"),
    )
    lines = explain(found)
    assert (
        "a, waiting rows: rows leave after k, at most rate(a) × k(r) / rate(b) = 200 rows "
        "with rate(a) = 500, k(r) = 40, rate(b) = 100; a child comes within k or never (RIDS)"
    ) in lines
    assert any(line.startswith("b, complete rows: rows leave once values") for line in lines)


def test_a_join_without_constraints_is_no_news() -> None:
    plan, catalog = program(JOIN)
    graph = from_plan(plan, catalog)
    assert isinstance(graph, JoinGraph)
    assert findings(analyse(graph), plan.span) == ()


def test_finding_in_words() -> None:
    plan, catalog = program(JOIN, b_key="k", tables=REFERENCE.format("10 ROWS"))
    graph = from_plan(plan, catalog)
    assert isinstance(graph, JoinGraph)
    (found,) = findings(analyse(graph), plan.span)
    assert found.message == "rows of `b` stay for ever in spite of the constraints"
    assert found.help.startswith("with ORDERED BY k WITHIN 1 MINUTES on a all state")
