"""One verdict per query: each of the five, what comes with it, and what repairs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from cqlc.analysis.bounded_memory.edits import applied
from cqlc.analysis.size import evaluate
from cqlc.analysis.verdict import StateVerdict
from cqlc.compiler import analyse, compile_program
from cqlc.source import NOWHERE, Source

EXAMPLES = Path(__file__).parent.parent.parent / "examples" / "queries"
STREAMS = """\
CREATE STREAM a (x BIGINT, y BIGINT, at TIMESTAMP) TIMESTAMP BY at RATE 10 PER SECOND;
CREATE STREAM b (x BIGINT, z BIGINT, at TIMESTAMP) TIMESTAMP BY at RATE 5 PER SECOND;
CREATE RELATION r (x BIGINT, name STRING, KEY (x));
"""
CASES = [
    ("SELECT ISTREAM(x) FROM a WHERE y > 3;", "BOUNDED"),
    ("SELECT COUNT(*), MAX(y) FROM a;", "BOUNDED"),
    ("SELECT COUNT(*) FROM a [ROWS 10];", "BOUNDED"),
    ("SELECT ISTREAM(a.x) FROM a, b WHERE a.x = b.x AND a.x BETWEEN 1 AND 9;", "BOUNDED"),
    (
        "SELECT ISTREAM(a.x) FROM a [RANGE 1 MINUTE], b [RANGE 1 MINUTE] WHERE a.x = b.x;",
        "WINDOWED",
    ),
    ("SELECT x, COUNT(*) FROM a [RANGE 1 MINUTE] GROUP BY x;", "WINDOWED"),
    ("SELECT x, MAX(y) FROM a [PARTITION BY x ROWS 3 RANGE 1 HOUR] GROUP BY x;", "WINDOWED"),
    ("SELECT ISTREAM(a.x) FROM a, b WHERE a.x = b.x;", "UNBOUNDED"),
    ("SELECT DISTINCT x FROM a;", "UNBOUNDED"),
    ("SELECT x, COUNT(*) FROM a GROUP BY x;", "UNBOUNDED"),
    ("SELECT RSTREAM(x) FROM a;", "UNBOUNDED"),
    ("SELECT ISTREAM(x) FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.x = a.x);", "UNKNOWN"),
]


@pytest.mark.parametrize(("query", "expected"), CASES)
def test_verdict(query: str, expected: str) -> None:
    compilation = compile_program(STREAMS + query).require()
    (judged,) = analyse(compilation).verdicts.values()
    assert judged.verdict.value == expected
    assert judged.deciding.reason


def test_punctuations_make_a_join_purgeable_and_are_the_evidence() -> None:
    text = STREAMS.replace("RATE", "PUNCTUATED BY (x) RATE")
    compilation = compile_program(text + "SELECT ISTREAM(a.x, b.z) FROM a, b WHERE a.x = b.x;")
    (judged,) = analyse(compilation.require()).verdicts.values()
    assert judged.verdict is StateVerdict.PURGEABLE
    declared = [e for e in judged.deciding.evidence if e.span != NOWHERE]
    assert [text[e.span.start : e.span.end] for e in declared] == ["PUNCTUATED BY (x)"] * 2


def test_estimates_are_rate_times_window() -> None:
    query = "SELECT ISTREAM(a.x) FROM a [RANGE 1 MINUTE], b [RANGE 2 MINUTES] WHERE a.x = b.x;"
    (judged,) = analyse(compile_program(STREAMS + query).require()).verdicts.values()
    (join,) = judged.operators
    assert join.estimate is not None
    assert evaluate(join.estimate.rows) == 10 * 60 + 5 * 120
    assert join.waits_for == ("a", "b")


@pytest.mark.parametrize("query", [query for query, expected in CASES if expected == "UNBOUNDED"])
def test_every_repair_applied_as_text_flips_the_verdict(query: str) -> None:
    source = Source(STREAMS + query)
    compilation = compile_program(source).require()
    (repairs,) = analyse(compilation).repairs.values()
    assert repairs
    for repair in repairs:
        repaired = compile_program(applied(repair.edits, source)).require()
        (judged,) = analyse(repaired).verdicts.values()
        assert judged.verdict.bounded, str(repair)


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.cql")), ids=lambda p: p.stem)
def test_every_example_gets_a_verdict_with_a_reason(path: Path) -> None:
    compilation = compile_program(Source(path.read_text("utf-8"), str(path)))
    for judged in analyse(compilation).verdicts.values():
        assert judged.deciding.reason
        assert all(operator.reason for operator in judged.operators)
