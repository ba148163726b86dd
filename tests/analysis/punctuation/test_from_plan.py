"""Queries as questions: what is read from plans and declarations, and what the answers say."""

from __future__ import annotations

import pytest

from cqlc.analysis.join_block import Outside
from cqlc.analysis.punctuation import (
    Fate,
    JoinQuery,
    Safety,
    Verdict,
    check,
    explain,
    findings,
    from_plan,
)
from tests.analysis.programs import program

K = "PUNCTUATED BY (k)"
SAFE, IF, UNSAFE = Verdict


def safety(query: str, **clauses: str) -> Safety:
    asked = from_plan(*program(query, **clauses))
    assert isinstance(asked, JoinQuery), asked
    return check(asked)


CASES: dict[str, tuple[str, dict[str, str], Verdict]] = {
    "both sides punctuated": ("SELECT a.v FROM a, b WHERE a.k = b.k", {"a": K, "b": K}, SAFE),
    "one side punctuated": ("SELECT a.v FROM a, b WHERE a.k = b.k", {"a": K}, UNSAFE),
    "explicit join": ("SELECT a.v FROM a JOIN b ON a.k = b.k", {"a": K, "b": K}, SAFE),
    "stream of insertions": (
        "SELECT ISTREAM(a.v) FROM a, b WHERE a.k = b.k",
        {"a": K, "b": K},
        SAFE,
    ),
    "key": ("SELECT a.v FROM a, b WHERE a.k = b.k", {"a_key": "k", "b": K}, IF),
    "clustered": (
        "SELECT a.v FROM a, b WHERE a.k = b.k",
        {"a": "CLUSTERED BY k WITHIN 9 ROWS", "b": K},
        IF,
    ),
    "ordered": (
        "SELECT a.v FROM a, b WHERE a.k = b.k",
        {"a": "ORDERED BY k WITHIN 9 ROWS", "b": "ORDERED BY k WITHIN 1 MINUTES"},
        SAFE,
    ),
    "monitored order": (
        "SELECT a.v FROM a, b WHERE a.k = b.k",
        {"a": "ORDERED BY k MONITOR", "b": K},
        UNSAFE,
    ),
    "numbers of different types": (
        "SELECT a.v FROM a, b WHERE a.l = b.k",
        {"a": "PUNCTUATED BY (l)", "b": K},
        SAFE,
    ),
    "equality on time": ("SELECT a.v FROM a, b WHERE a.at = b.at", {}, SAFE),
    "band on time": (
        "SELECT a.v FROM a, b WHERE a.k = b.k AND a.at BETWEEN b.at - 5 MINUTES AND b.at + 1 HOURS",
        {},
        SAFE,
    ),
    "band by difference": (
        "SELECT a.v FROM a, b WHERE a.k = b.k AND a.at - b.at < 1 HOURS AND b.at - a.at < 1 HOURS",
        {},
        SAFE,
    ),
    "half a band": (
        "SELECT a.v FROM a, b WHERE a.k = b.k AND a.at < b.at + 5 MINUTES",
        {},
        UNSAFE,
    ),
    "constant": (
        "SELECT a.v FROM a, b WHERE a.k = b.k AND a.l = 3",
        {"a": "PUNCTUATED BY (k, l)", "b": K},
        SAFE,
    ),
    "list of constants": (
        "SELECT a.v FROM a, b WHERE a.k = b.k AND a.l IN (1, 2, 3)",
        {"a": "PUNCTUATED BY (k, l)", "b": K},
        SAFE,
    ),
    "unjoined column": (
        "SELECT a.v FROM a, b WHERE a.k = b.k AND a.l > 3",
        {"a": "PUNCTUATED BY (k, l)", "b": K},
        UNSAFE,
    ),
    "boolean column": (
        "SELECT a.v FROM a, b WHERE a.k = b.k",
        {"a": "PUNCTUATED BY (k, ok)", "b": K},
        SAFE,
    ),
    "window on one side": (
        "SELECT a.v FROM a [RANGE 1 HOUR], b WHERE a.k = b.k",
        {"a": K},
        SAFE,
    ),
    "window without punctuation": (
        "SELECT a.v FROM a [RANGE 1 HOUR], b WHERE a.k = b.k",
        {},
        UNSAFE,
    ),
    "windows on both sides": (
        "SELECT a.v FROM a [RANGE 1 HOUR], b [ROWS 5] WHERE a.k = b.k",
        {},
        SAFE,
    ),
    "last row per key": (
        "SELECT a.v FROM a [PARTITION BY k ROWS 1], b WHERE a.k = b.k",
        {"a": K, "b": K},
        SAFE,
    ),
    "cycle": (
        "SELECT a.v FROM a, b, c WHERE a.k = b.k AND b.l = c.l AND c.v = a.v",
        {"a": K, "b": "PUNCTUATED BY (l)", "c": "PUNCTUATED BY (v)"},
        SAFE,
    ),
    "self-join": ("SELECT x.v FROM a x, a y WHERE x.k = y.l", {"a": K}, UNSAFE),
    "self-join, both": (
        "SELECT x.v FROM a x, a y WHERE x.k = y.l",
        {"a": "PUNCTUATED BY (k), (l)"},
        SAFE,
    ),
    "cross product": ("SELECT a.v FROM a, b", {"a": K, "b": K}, UNSAFE),
    "subquery": (
        "SELECT x.w FROM (SELECT k AS j, v AS w FROM a WHERE v > 0) x, b WHERE x.j = b.k",
        {"a": K, "b": K},
        SAFE,
    ),
    "computed column": (
        "SELECT x.j FROM (SELECT k + 1 AS j FROM a) x, b WHERE x.j = b.k",
        {"a": K, "b": K},
        UNSAFE,
    ),
    "left join": ("SELECT a.v FROM a LEFT JOIN b ON a.k = b.k", {"a": K, "b": K}, SAFE),
    "left join, one side": ("SELECT a.v FROM a LEFT JOIN b ON a.k = b.k", {"b": K}, UNSAFE),
    "full join": ("SELECT a.v FROM a FULL JOIN b ON a.k = b.k", {"a": K, "b": K}, SAFE),
    "left join above a join": (
        "SELECT a.v FROM a JOIN b ON a.k = b.k LEFT JOIN c ON b.k = c.k",
        {"a": K, "b": K, "c": K},
        SAFE,
    ),
    "join above a left join": (
        "SELECT a.v FROM a LEFT JOIN b ON a.k = b.k JOIN c ON a.k = c.k",
        {"a": K, "b": K, "c": K},
        SAFE,
    ),
    "join on the side that may be missing": (
        "SELECT a.v FROM a LEFT JOIN b ON a.k = b.k JOIN c ON b.k = c.k",
        {"a": K, "b": K, "c": K},
        UNSAFE,
    ),
    "left join that the missing side would close": (
        "SELECT a.v FROM a LEFT JOIN b ON a.k = b.k JOIN c ON a.k = c.k",
        {"b": K, "c": K},
        UNSAFE,
    ),
    "semi-join": ("SELECT a.v FROM a WHERE a.k IN (SELECT k FROM b)", {"a": K, "b": K}, SAFE),
    "anti-join": (
        "SELECT a.v FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.k = a.k)",
        {"a": K, "b": K},
        SAFE,
    ),
    "distinct": ("SELECT DISTINCT k FROM a", {"a": K}, SAFE),
    "distinct, unpunctuated": ("SELECT DISTINCT k, l FROM a", {"a": "PUNCTUATED BY (v)"}, UNSAFE),
    "groups": ("SELECT k, COUNT(*) FROM a GROUP BY k", {"a": K}, SAFE),
    "groups of a part of the scheme": (
        "SELECT k, COUNT(*) FROM a GROUP BY k",
        {"a": "PUNCTUATED BY (k, l)"},
        UNSAFE,
    ),
    "groups of more than the scheme": (
        "SELECT k, l, COUNT(*) FROM a GROUP BY k, l",
        {"a": K},
        SAFE,
    ),
    "groups by time": ("SELECT at, COUNT(*) FROM a GROUP BY at", {}, SAFE),
    "one group": ("SELECT COUNT(*) FROM a", {}, SAFE),
    "groups in a window": ("SELECT k, COUNT(*) FROM a [RANGE 1 HOUR] GROUP BY k", {}, SAFE),
    "groups of a join": (
        "SELECT a.l, COUNT(*) FROM a, b WHERE a.k = b.k GROUP BY a.l",
        {"a": "PUNCTUATED BY (k), (l)", "b": K},
        SAFE,
    ),
    "groups of a join, not closed": (
        "SELECT a.l, COUNT(*) FROM a, b WHERE a.k = b.k GROUP BY a.l",
        {"a": K, "b": K},
        UNSAFE,
    ),
    "join of groups": (
        "SELECT x.n FROM (SELECT k, COUNT(*) AS n FROM a GROUP BY k) x, b WHERE x.k = b.k",
        {"a": K, "b": K},
        SAFE,
    ),
    "union": ("SELECT k FROM a UNION ALL SELECT k FROM b", {}, SAFE),
    "union of joins": (
        "SELECT a.k FROM a, b WHERE a.k = b.k UNION ALL SELECT k FROM c",
        {"a": K},
        UNSAFE,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_verdict(name: str) -> None:
    query, clauses, expected = CASES[name]
    assert safety(query, **clauses).verdict is expected


def test_relations_never_close() -> None:
    tables = "CREATE RELATION r (k BIGINT, KEY (k));"
    found = safety("SELECT a.v FROM a, r WHERE a.k = r.k", tables=tables, a=K)
    assert found.stuck == ("a",)
    assert {s.name: s.fate for s in found.query.streams} == {"a": Fate.KEPT, "r": Fate.BOUNDED}


def test_looking_up_keeps_nothing() -> None:
    tables = "CREATE NRR r (k BIGINT, KEY (k));"
    assert safety("SELECT a.v FROM a JOIN r ON a.k = r.k", tables=tables).verdict is SAFE


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT RSTREAM(k) FROM a", "RSTREAM shows every row again and again"),
        ("SELECT k FROM a EXCEPT ALL SELECT k FROM b", "EXCEPT is not followed"),
        ("SELECT k FROM a ORDER BY v LIMIT 3", "a ranking is not followed"),
    ],
)
def test_outside(query: str, reason: str) -> None:
    found = from_plan(*program(query))
    assert isinstance(found, Outside)
    assert found.reason == reason


def test_views_that_join_themselves_do_not_blow_up() -> None:
    views = ["CREATE VIEW v0 AS SELECT k FROM a;"]
    views += [
        f"CREATE VIEW v{i} AS SELECT x.k FROM v{i - 1} x, v{i - 1} y WHERE x.k = y.k;"
        for i in range(1, 20)
    ]
    found = from_plan(*program("SELECT k FROM v19", tables="\n".join(views)))
    assert isinstance(found, Outside)
    assert "inputs are joined" in found.reason


def test_what_is_left_out_is_no_proof() -> None:
    joined = "SELECT a.v FROM a, b WHERE a.k = b.k"
    assert safety(joined).proved
    assert safety(f"{joined} AND a.l > 3").proved
    assert not safety(f"{joined} AND a.l > 3 AND a.l < 5").proved
    assert not safety(f"{joined} AND a.v < b.v").proved
    assert not safety(f"{joined} AND (a.l = 3 OR b.l = 3)").proved


UNSAFE_CASES = [
    name
    for name, (_, clauses, verdict) in CASES.items()
    if verdict is UNSAFE and all("WITHIN" not in c and "MONITOR" not in c for c in clauses.values())
]


@pytest.mark.parametrize("name", UNSAFE_CASES)
def test_repairs_written_down_make_it_safe(name: str) -> None:
    """Every repair, put into the declarations, changes the verdict; none is told in vain."""
    query, clauses, _ = CASES[name]
    told = _told(safety(query, **clauses))
    hopeless = name in ("cross product", "computed column", "join on the side that may be missing")
    assert bool(told) is not hopeless
    for option in told:
        wider = dict(clauses)
        for source, columns in option:
            wider[source] = f"{wider.get(source, '')} PUNCTUATED BY ({columns})"
        assert safety(query, **wider).verdict is not UNSAFE


def _told(found: Safety) -> list[list[tuple[str, str]]]:
    options = found.repairs.options
    return [[(s.source, ", ".join(s.columns)) for s in option.schemes] for option in options]


def test_a_scheme_used_below_is_not_useless() -> None:
    query = "SELECT a.v FROM a LEFT JOIN b ON a.k = b.k JOIN c ON a.l = c.l"
    found = safety(query, a="PUNCTUATED BY (k), (l)", b=K, c="PUNCTUATED BY (l), (v)")
    told = [d.message for d in findings(found, found.query.span)]
    assert found.verdict is SAFE
    assert [str(s) for s in found.needed] == ["a(k)", "a(l)", "c(l)", "b(k)"]
    assert [t for t in told if "free no row" in t] == [
        "punctuations on c(v) free no row of this query"
    ]


def test_repairs_reach_below() -> None:
    query = "SELECT a.v FROM a LEFT JOIN b ON a.k = b.k JOIN c ON a.l = c.l"
    assert _told(safety(query)) == [[("a", "k"), ("a", "l"), ("b", "k"), ("c", "l")]]


def test_proof_in_words() -> None:
    found = safety("SELECT a.v FROM a, b WHERE a.k = b.k", a=K, b=K)
    assert explain(found) == (
        "rows of `a`: freed by punctuations on b(k) for their a.k",
        "rows of `b`: freed by punctuations on a(k) for their b.k",
        "free each other: {a, b}",
        "plan: (a b)",
    )


def test_finding_in_words() -> None:
    plan, catalog = program("SELECT a.v FROM a, b WHERE a.k = b.k", a=K)
    asked = from_plan(plan, catalog)
    assert isinstance(asked, JoinQuery)
    (found,) = findings(check(asked), plan.span)
    assert found.message == "rows of `a` can never be purged"
    assert found.primary.text == "new rows of `b` can always match what is stored"
    assert found.help.startswith("the fewest schemes that help: PUNCTUATED BY (k) on `b`")


def test_windows_need_no_words() -> None:
    found = safety("SELECT a.v FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.k = b.k")
    assert found.streams == ()
    assert findings(found, found.query.span) == ()
