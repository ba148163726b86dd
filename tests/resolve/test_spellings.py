"""Texts that mean the same become equal plans."""

from __future__ import annotations

import pytest

from tests.resolve.programs import plan

PAIRS = [
    ("ISTREAM(SELECT a FROM S [ROWS 5])", "SELECT ISTREAM(a) FROM S [ROWS 5]"),
    ("DSTREAM(SELECT DISTINCT a FROM S [ROWS 5])", "SELECT DISTINCT DSTREAM(a) FROM S [ROWS 5]"),
    ("SELECT ISTREAM(DISTINCT a) FROM S", "SELECT DISTINCT ISTREAM(a) FROM S"),
    ("RSTREAM(SELECT * FROM S) EVERY 1 MINUTE", "SELECT RSTREAM(*) EVERY 60 SECONDS FROM S"),
    (
        "WSTREAM(SELECT S.a FROM S [RANGE 1 MINUTE], T [NOW])[ROWS 9]",
        "SELECT WSTREAM(S.a)[ROWS 9] FROM S [RANGE 1 MINUTE], T [NOW]",
    ),
    (
        "ISTREAM-RESTORE(SELECT a FROM S [RANGE 9 SLIDE 3])",
        "SELECT ISTREAM_RESTORE(a) FROM S [WINDOW 9 SECONDS SLIDE 3 SECONDS EXTERNAL]",
    ),
    (
        "ISTREAM(SELECT a FROM S ORDER BY b LIMIT 3)",
        "SELECT ISTREAM(a) FROM S ORDER BY b LIMIT 3",
    ),
    # Golab: ISTREAM may be left out where INTERNAL is written.
    (
        "SELECT a FROM S [RANGE 1 MINUTE INTERNAL]",
        "ISTREAM(SELECT a FROM S [RANGE 1 MINUTE INTERNAL])",
    ),
    (
        "SELECT SUM(a) FROM S [RANGE 1 MINUTE INTERNAL]",
        "SELECT ISTREAM(SUM(a)) FROM S [RANGE 1 MINUTE INTERNAL]",
    ),
    # Golab's L-6 and L-7; and under WSTREAM windows are INTERNAL by themselves.
    (
        "SELECT SUM(a) FROM (SELECT SUM(a) FROM S [RANGE 6 SLIDE 6 INTERNAL]) [ROWS 10]",
        "SELECT SUM(WSTREAM(SUM(a))[ROWS 10]) FROM S [RANGE 6 SLIDE 6]",
    ),
    (
        "SELECT WSTREAM(S.a)[ROWS 9] FROM S [ROWS 3], T [RANGE 5]",
        "SELECT WSTREAM(S.a)[ROWS 9] FROM S [ROWS 3 INTERNAL], T [RANGE 5 INTERNAL]",
    ),
    # RSTREAM in a condition only says that the subquery is a relation.
    (
        "SELECT a FROM S WHERE NOT EXISTS (SELECT RSTREAM(*) FROM T [ROWS 5] WHERE T.a = S.a)",
        "SELECT a FROM S WHERE NOT EXISTS (SELECT * FROM T [ROWS 5] WHERE T.a = S.a)",
    ),
    (
        "SELECT S.a FROM S JOIN T ON S.a = T.a JOIN R ON k = T.a",
        "SELECT S.a FROM S, T, R WHERE S.a = T.a AND k = T.a",
    ),
    ("SELECT s.A FROM s", "SELECT S.a AS A FROM S"),
    ("SELECT a FROM S [UNBOUNDED]", "SELECT a FROM S"),
    ("SELECT a FROM S [RANGE UNBOUNDED]", "SELECT a FROM S"),
    (
        "SELECT a FROM S WHERE a NOT BETWEEN 1 AND 2",
        "SELECT a FROM S WHERE NOT (a >= 1 AND a <= 2)",
    ),
    ("SELECT a FROM S WHERE a IN (1)", "SELECT a FROM S WHERE a = 1"),
    (
        "SELECT a FROM S WHERE a <> ALL (SELECT k FROM R)",
        "SELECT a FROM S WHERE a NOT IN (SELECT k FROM R)",
    ),
    (
        "SELECT a FROM S WHERE a = SOME (SELECT k FROM R)",
        "SELECT a FROM S WHERE a IN (SELECT k FROM R)",
    ),
    ("SELECT c || 'x' || c AS y FROM S", "SELECT CONCAT(c, 'x', c) AS y FROM S"),
    ("SELECT a::DOUBLE FROM S", "SELECT CAST(a AS DOUBLE) FROM S"),
    ("SELECT TOP 3 (a) FROM S", "SELECT TOP_K(a, 3) AS top FROM S"),
    ("SELECT EXTRACT(HOUR FROM at) AS h FROM S", "SELECT HOUR(at) AS h FROM S"),
    ("SELECT a FROM S MINUS SELECT k FROM R", "SELECT a FROM S EXCEPT SELECT k FROM R"),
    (
        "SELECT a FROM S WHERE at > '2024-01-02'",
        "SELECT a FROM S WHERE at > TIMESTAMP '2024-01-02'",
    ),
    (
        "SELECT a FROM S WHERE a > 1 AND (b > 2 AND c = 'x')",
        "SELECT a FROM S WHERE a > 1 AND b > 2 AND c = 'x'",
    ),
]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_same_plan(one: str, other: str) -> None:
    assert plan(one + ";") == plan(other + ";")


def test_sort_of_default_answers() -> None:
    """TV-8: joins of INTERNAL windows are streams, L-2 and L-6 are relations."""
    from cqlc.algebra.plan import Istream, Project

    joined = plan("SELECT S.a FROM S [ROWS 5 INTERNAL], T [ROWS 5 INTERNAL] WHERE S.a = T.a;")
    assert isinstance(joined, Istream)
    assert isinstance(plan("SELECT MAX(a) FROM S [RANGE 1 MINUTE];"), Project)
    latest = "SELECT SUM(a) FROM (SELECT SUM(a) FROM S [RANGE 6 SLIDE 6 INTERNAL]) [ROWS 10];"
    assert isinstance(plan(latest), Project)
    # What WSTREAM gives is a relation, also where windows below it are INTERNAL.
    windowed = "SELECT a FROM (SELECT WSTREAM(a)[ROWS 5] FROM S [RANGE 9 INTERNAL]) AS x;"
    assert isinstance(plan(windowed), Project)
    # A relation that takes rows back is no stream, whatever its windows are.
    assert isinstance(plan("SELECT a FROM S [ROWS 5 INTERNAL], R WHERE a = k;"), Project)
