"""Verdicts in words: the user's names, the place, and a way out."""

from __future__ import annotations

import pytest

from cqlc.analysis.bounded_memory import judge
from cqlc.analysis.bounded_memory.findings import findings
from cqlc.compiler import compile_program
from cqlc.diagnostics import Diagnostic
from cqlc.source import Source

STREAMS = "CREATE STREAM s (a INT, b INT, c INT); CREATE STREAM t (d INT, e INT);\n"


def found(query: str) -> tuple[Source, tuple[Diagnostic, ...]]:
    compilation = compile_program(STREAMS + query).require()
    resolved = compilation.queries[0]
    return compilation.source, findings(judge(resolved.plan, compilation.catalog), resolved.span)


CASES = {
    "CQL3101": ("SELECT DISTINCT ISTREAM(a) FROM s WHERE a > 3;", "`s.a`", "a"),
    "CQL3102": ("SELECT ISTREAM(1 AS x) FROM s, t WHERE a = d;", "`s.a` and `t.d`", "a = d"),
    "CQL3103": ("SELECT ISTREAM(1 AS x) FROM s, t WHERE a < d;", "`s.a < t.d`", "a < d"),
    "CQL3105": ("SELECT a, COUNT(*) FROM s GROUP BY a;", "`s.a`", "a"),
    "CQL3106": ("SELECT COUNT(DISTINCT a) FROM s;", "`s.a`", "COUNT(DISTINCT a)"),
    "CQL3107": ("SELECT MAX(a) FROM s, t WHERE a < d;", "MAX(s.a)", "MAX(a)"),
    "CQL3108": ("SELECT COLLECT_LIST(a) FROM s;", "COLLECT_LIST(s.a)", "COLLECT_LIST(a)"),
}


@pytest.mark.parametrize("code", CASES)
def test_finding(code: str) -> None:
    query, named, place = CASES[code]
    source, diagnostics = found(query)
    assert [d.code.id for d in diagnostics] == [code]
    assert named in diagnostics[0].message
    assert source.slice(diagnostics[0].primary.span) == place
    assert "CHECK" in diagnostics[0].help


def test_alike_findings_are_one() -> None:
    _, diagnostics = found("SELECT ISTREAM(a, b, c) FROM s, t;")
    assert [d.code.id for d in diagnostics] == ["CQL3101"]
    assert all(name in diagnostics[0].message for name in ("`s.a`", "`s.b`", "`s.c`"))


def test_missing_bound_is_named() -> None:
    _, diagnostics = found("SELECT DISTINCT ISTREAM(a) FROM s WHERE a > 3;")
    assert diagnostics[0].primary.text == "s.a has no upper bound"


def test_unknown_gives_its_reason() -> None:
    _, diagnostics = found("SELECT s.a FROM s LEFT JOIN t ON s.a = t.d;")
    assert [d.code.id for d in diagnostics] == ["CQL3110"]
    assert diagnostics[0].primary.text == "an outer join takes results back"


def test_large_bounds_are_told() -> None:
    wide = "a BETWEEN 1 AND 2000 AND b BETWEEN 1 AND 2000"
    _, diagnostics = found(f"SELECT DISTINCT ISTREAM(a, b) FROM s WHERE {wide};")
    assert [d.code.id for d in diagnostics] == ["CQL3111"]
    assert "8,000,000" in diagnostics[0].message
