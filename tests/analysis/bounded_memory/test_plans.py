"""Plans as queries of the theory: declarations, NULLs, alternatives, windows, limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from typing import Any

import pytest

from cqlc.algebra.expr import Column, Compare, Comparison, Literal
from cqlc.algebra.plan import Dstream, Istream, Plan, Relation, Rstream
from cqlc.analysis.bounded_memory import Unbounded, Unknown, judge
from cqlc.analysis.bounded_memory.adversary import witness
from cqlc.analysis.bounded_memory.query import Projection
from cqlc.catalog import Catalog
from cqlc.compiler import compile_program
from cqlc.datatypes import INT
from cqlc.semantics import Meaning, Timeline

STREAMS = """
CREATE STREAM s (a INT, b INT, c STRING);
CREATE STREAM t (d INT, e INT, f STRING);
CREATE STREAM small (
  k TINYINT, flag BOOLEAN, x INT CHECK (x BETWEEN 1 AND 40), w STRING IN ('p', 'q')
);
CREATE STREAM timed (n INT, at TIMESTAMP) TIMESTAMP BY at;
CREATE STREAM keyed (id INT CHECK (id >= 1 AND id <= 5), v INT, UNIQUE (id));
CREATE STREAM loose (id INT, v INT, UNIQUE (id));
CREATE STREAM spread (lo INT, hi INT);
CREATE STREAM firm (lo INT NOT NULL, hi INT NOT NULL);
CREATE RELATION r (g INT, h INT, KEY (g));
CREATE NRR look (g INT, h INT, KEY (g));
"""


def resolved(text: str) -> tuple[Plan, Catalog]:
    compilation = compile_program(STREAMS + text).require()
    return compilation.queries[0].plan, compilation.catalog


def verdict(text: str) -> str:
    return type(judge(*resolved(text))).__name__


BOUNDED = {
    "small types": "SELECT DISTINCT ISTREAM(k, flag) FROM small;",
    "check and domain": "SELECT DISTINCT ISTREAM(x, w) FROM small;",
    "list of values": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a IN (3, 5, 7);",
    "list of words": "SELECT DISTINCT ISTREAM(c) FROM s WHERE c IN ('u', 'v');",
    "alternatives": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a = 1 OR (a > 5 AND a < 9);",
    "fraction": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a > 2.5 AND a < 4.5;",
    "no integer between": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a > 3 AND a < 4;",
    "shifted": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a + 5 > 7 AND 20 - a > 3;",
    "remainder": "SELECT a % 10, COUNT(*) FROM s GROUP BY a % 10;",
    "condition as a key": "SELECT a > b, COUNT(*) FROM s GROUP BY a > b;",
    "key with bounds": "SELECT DISTINCT ISTREAM(v) FROM keyed;",
    "both values NULL or equal": (
        "SELECT DISTINCT 1 AS one FROM s, t WHERE a IS NOT DISTINCT FROM d AND a BETWEEN 1 AND 3;"
    ),
    "semijoin": (
        "SELECT DISTINCT ISTREAM(a) FROM s WHERE a IN (1, 2) AND EXISTS (SELECT * FROM t "
        "WHERE t.d > s.b);"
    ),
    "union": "SELECT a FROM s UNION ALL SELECT d FROM t;",
    "lookup in an NRR": "SELECT ISTREAM(s.a, l.h) FROM s JOIN look AS l ON s.a = l.g;",
    "windows on both sides": "SELECT ISTREAM(a) FROM s [ROWS 5], t [RANGE 1 MINUTE] WHERE a = d;",
    "sum over a bounded join": "SELECT SUM(b) FROM s, t WHERE a = d AND a BETWEEN 1 AND 9;",
    "unreadable filter": "SELECT ISTREAM(a) FROM s WHERE c LIKE 'x%';",
    "contradiction": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a < b AND b < a;",
}

UNBOUNDED = {
    "open range": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a > 3;",
    "words between words": "SELECT DISTINCT ISTREAM(c) FROM s WHERE c > 'a' AND c < 'b';",
    "one open alternative": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a = 1 OR a > 5;",
    "not a list": "SELECT DISTINCT ISTREAM(a) FROM s WHERE a NOT IN (1, 2);",
    "relation that may still change": "SELECT ISTREAM(s.b) FROM s, r WHERE s.a = r.g;",
    "window on one side": "SELECT ISTREAM(d) FROM s [ROWS 5], t WHERE a = d;",
    "key without bounds": "SELECT DISTINCT ISTREAM(v) FROM loose;",
    "RSTREAM stores its answer": "SELECT RSTREAM(a) FROM s;",
    "union of separate streams": (
        "SELECT DISTINCT a FROM s WHERE a IN (1, 2) UNION SELECT d FROM t;"
    ),
    "bag self-join": "SELECT 1 AS one FROM s AS s1, s AS s2 WHERE s1.a = s2.a;",
    "self-join of disjoint parts": (
        "SELECT DISTINCT 1 AS one FROM s AS s1, s AS s2 WHERE s1.a = s2.a AND s1.b < 0 "
        "AND s2.b > 0;"
    ),
    "time only shown": "SELECT ISTREAM(timed.n, timed.at) FROM timed, t WHERE timed.n = t.d;",
    "distinct values": "SELECT COUNT(DISTINCT a) FROM s;",
    "list of all rows": "SELECT COLLECT_LIST(a) FROM s;",
}

UNKNOWN = {
    "unequal partners": "SELECT DISTINCT 1 AS one FROM s, t WHERE a <> d AND b <> e;",
    "set self-join that does not fold": (
        "SELECT DISTINCT 1 AS one FROM s AS s1, s AS s2 WHERE s1.a = s2.b;"
    ),
    "condition on the time": (
        "SELECT ISTREAM(t.d) FROM timed, t WHERE timed.n = t.d AND timed.at > TIMESTAMP "
        "'2024-01-01 00:00:00';"
    ),
    "computed join": "SELECT ISTREAM(s.a) FROM s, t WHERE s.a + s.b = t.d;",
    "computed output": "SELECT DISTINCT ISTREAM(a * b) FROM s;",
    "outer join": "SELECT s.a FROM s LEFT JOIN t ON s.a = t.d;",
    "absence": "SELECT a FROM s WHERE NOT EXISTS (SELECT * FROM t WHERE t.d = s.a);",
    "HAVING": "SELECT a, COUNT(*) FROM s GROUP BY a HAVING COUNT(*) > 3;",
    "key left out": "SELECT COUNT(*) FROM s GROUP BY a;",
    "quantile": "SELECT QUANTILE(a, 0.9) FROM s;",
    "average over a third stream": "SELECT AVG(u.x) FROM s, t, small AS u WHERE s.a < t.d;",
    "ranking": "SELECT a FROM s ORDER BY a LIMIT 3;",
}


@pytest.mark.parametrize("text", BOUNDED.values(), ids=BOUNDED.keys())
def test_bounded(text: str) -> None:
    assert verdict(text) == "Bounded"


@pytest.mark.parametrize("text", UNBOUNDED.values(), ids=UNBOUNDED.keys())
def test_unbounded(text: str) -> None:
    assert verdict(text) == "Unbounded"


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN.keys())
def test_unknown(text: str) -> None:
    found = judge(*resolved(text))
    assert isinstance(found, Unknown)
    assert found.reasons


@pytest.mark.parametrize(
    ("stream", "expected"), [("spread", "Unbounded"), ("firm", "Bounded")], ids=["NULL", "NOT NULL"]
)
def test_check_of_two_columns(stream: str, expected: str) -> None:
    """`lo < hi` says nothing of `lo` where `hi` is NULL: a CHECK fails only if it is false."""
    plan, catalog = resolved(f"SELECT DISTINCT ISTREAM(lo) FROM {stream};")
    lo, hi = Column("lo", INT), Column("hi", INT)
    checks = (
        Compare(Comparison.LT, lo, hi),
        Compare(Comparison.GT, lo, Literal(0, INT)),
        Compare(Comparison.LT, hi, Literal(10, INT)),
    )
    declared = replace(catalog.tables[stream], checks=checks)
    assert type(judge(plan, catalog.with_table(declared))).__name__ == expected


@pytest.mark.parametrize("text", UNBOUNDED.values(), ids=UNBOUNDED.keys())
def test_witness_grows_by_the_reference_semantics(text: str) -> None:
    """Every two prefixes have a continuation after which the plan's own answers differ."""
    plan, catalog = resolved(text)
    found = judge(plan, catalog)
    assert isinstance(found, Unbounded)
    made = witness(found.case, found.violations[0], 3)
    streamed = isinstance(found.case.query.head, Projection)
    prefixes = list(product((False, True), repeat=3))
    told = {
        (one, other)
        for one, other in combinations(prefixes, 2)
        if seen_by_semantics(plan, catalog, made, one, (one, other), streamed)
        != seen_by_semantics(plan, catalog, made, other, (one, other), streamed)
    }
    if made.prefixes == 4:  # equal rows in all slots: only their number can be told
        expected = {p for p in combinations(prefixes, 2) if sum(p[0]) != sum(p[1])}
        assert told >= expected
    else:
        assert len(told) == 28


def seen_by_semantics(
    plan: Plan, catalog: Catalog, made: Any, bits: Any, pair: tuple[Any, Any], streamed: bool
) -> Any:
    """What the plan answers while a continuation arrives after a prefix.

    Results that never change are streamed out, so only what is new counts; aggregates are at hand
    at any time.
    """
    prefix, rest = made.prefix(bits), made.continuation(*pair)
    rows = (*prefix, *rest)
    streams: dict[str, list[Any]] = {}
    tables: dict[str, list[Any]] = {}
    for time, row in enumerate(rows, 1):
        table = catalog.tables[row.use.base]
        values = [row.values[f"{row.use.name}.{c.name}"] for c in table.columns]
        if table.event_time:
            at = [c.name for c in table.columns].index(table.event_time.column)
            values[at] = time
        if table.kind == "STREAM":
            streams.setdefault(table.name, []).append((time, tuple(values)))
        else:
            tables.setdefault(table.name, []).append((time, 1, tuple(values)))
    meaning = Meaning(Timeline(streams, tables))
    times = range(len(prefix) + 1, len(rows) + 1)
    match plan:
        case Istream() | Dstream() | Rstream():
            # Times differ with the length of the prefix, so only their order is looked at.
            found = meaning.stream(plan)
            return [sorted(str(v[:-1]) for at, v in found if at == time) for time in times]
        case _ if isinstance(plan, Relation) and streamed:
            log = meaning.changelog(plan)
            return [sorted(str(change) for at, *change in log if at == time) for time in times]
        case _ if isinstance(plan, Relation):
            return [meaning.relation(plan, time) for time in (len(prefix), *times)]
        case _:
            raise AssertionError(plan)
