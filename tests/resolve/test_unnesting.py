"""Subqueries of all kinds, unnested and evaluated, against DuckDB's answers on the same rows."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache

import duckdb
import pytest

from cqlc.algebra.walk import subplans
from cqlc.resolve.sorts import as_relation
from cqlc.semantics import Meaning, Timeline
from tests.resolve.programs import plan

DECLARATIONS = """
CREATE RELATION x (a INT, b INT, c STRING);
CREATE RELATION y (a INT, b INT);
CREATE RELATION z (k INT NOT NULL, b INT);
"""

QUERIES = [
    # tests in WHERE
    "SELECT * FROM x WHERE EXISTS (SELECT 1 FROM y WHERE y.a = x.a)",
    "SELECT * FROM x WHERE NOT EXISTS (SELECT 1 FROM y WHERE y.a = x.a AND y.b > x.b)",
    "SELECT * FROM x WHERE EXISTS (SELECT 1 FROM y WHERE y.b > 2)",
    "SELECT * FROM x WHERE a IN (SELECT a FROM y)",
    "SELECT * FROM x WHERE a NOT IN (SELECT a FROM y)",
    "SELECT * FROM x WHERE a NOT IN (SELECT a FROM y WHERE y.a IS NOT NULL)",
    "SELECT * FROM x WHERE a NOT IN (SELECT a FROM y WHERE y.b = x.b)",
    "SELECT * FROM x WHERE (a, b) IN (SELECT a, b FROM y)",
    "SELECT * FROM x WHERE (a, b) NOT IN (SELECT a, b FROM y WHERE y.a > 1)",
    "SELECT * FROM x WHERE b >= ALL (SELECT b FROM y WHERE y.a = x.a)",
    "SELECT * FROM x WHERE b < ANY (SELECT b FROM y WHERE y.a <> x.a)",
    "SELECT * FROM x WHERE NOT (b <= ALL (SELECT b FROM y))",
    "SELECT * FROM x WHERE NOT (b = ANY (SELECT b FROM y WHERE y.a = x.a))",
    "SELECT * FROM x WHERE b + 1 <> ALL (SELECT k FROM z)",
    # tests elsewhere
    "SELECT * FROM x WHERE a = 1 OR EXISTS (SELECT 1 FROM y WHERE y.a = x.a AND y.b < x.b)",
    "SELECT * FROM x WHERE a IS NULL OR a NOT IN (SELECT a FROM y WHERE y.b = x.b)",
    "SELECT a, a IN (SELECT a FROM y) AS known FROM x",
    "SELECT a, a NOT IN (SELECT a FROM y WHERE y.b <> x.b) AS unknown FROM x",
    "SELECT a, b > ALL (SELECT b FROM y WHERE y.a = x.a) AS most FROM x",
    "SELECT a, CASE WHEN EXISTS (SELECT 1 FROM y) THEN a ELSE b END AS v FROM x",
    "SELECT a, NOT EXISTS (SELECT 1 FROM y WHERE y.a > 99) AS v FROM x",
    # values
    "SELECT a, (SELECT MAX(b) FROM y) AS m FROM x",
    "SELECT a, (SELECT MAX(b) FROM y WHERE y.a = x.a) AS m FROM x",
    "SELECT a, (SELECT MAX(y.b + x.b) FROM y WHERE y.a = x.a) AS m FROM x",
    "SELECT a, (SELECT MIN(b) FROM y WHERE y.a < x.a) AS m FROM x",
    "SELECT * FROM x WHERE b > (SELECT AVG(b) FROM y WHERE y.a = x.a)",
    "SELECT * FROM x WHERE (SELECT MAX(b) FROM y) > (SELECT MIN(b) FROM z WHERE z.k <> x.a)",
    "SELECT * FROM x WHERE COALESCE((SELECT MAX(b) FROM y WHERE y.a = x.a), -1) < b",
    "SELECT a, (SELECT b FROM y WHERE y.a = x.a ORDER BY b DESC NULLS LAST LIMIT 1) AS top FROM x",
    "SELECT a, (SELECT SUM(b) FROM y WHERE y.a = x.a GROUP BY y.a) AS s FROM x",
    "SELECT SUM((SELECT MAX(b) FROM y WHERE y.a = x.a)) AS s FROM x GROUP BY b",
    "SELECT a, MAX(b) AS m FROM x GROUP BY a HAVING MAX(b) >= ALL (SELECT b FROM z)",
    "SELECT a, COUNT(*) AS n FROM x GROUP BY a HAVING EXISTS (SELECT 1 FROM y WHERE y.a = x.a)",
    "SELECT a, (SELECT MAX(y.b) FROM y WHERE y.a = x.a) AS m, COUNT(*) AS n FROM x GROUP BY a",
    # queries in queries in queries
    "SELECT * FROM x WHERE EXISTS (SELECT 1 FROM y WHERE y.a = x.a AND EXISTS "
    "(SELECT 1 FROM z WHERE z.k = y.b AND z.b = x.b))",
    "SELECT * FROM x WHERE a IN (SELECT y.a FROM y WHERE y.b > "
    "(SELECT MIN(z.b) FROM z WHERE z.k = x.b OR z.k = y.a))",
    "SELECT * FROM x WHERE NOT EXISTS (SELECT 1 FROM y WHERE y.a = x.a AND y.b NOT IN "
    "(SELECT z.b FROM z WHERE z.k <> x.a))",
    "SELECT a, (SELECT MAX((SELECT MIN(z.b + x.b) FROM z WHERE z.k > y.a)) FROM y) AS m FROM x",
    # operators in the way
    "SELECT * FROM x WHERE b IN (SELECT DISTINCT y.b FROM y WHERE y.a < x.a)",
    "SELECT * FROM x WHERE b IN (SELECT y.b FROM y WHERE y.a = x.a UNION SELECT z.b FROM z "
    "WHERE z.k = x.a)",
    "SELECT * FROM x WHERE b IN (SELECT y.b FROM y EXCEPT SELECT z.b FROM z WHERE z.k < x.a)",
    "SELECT * FROM x WHERE b IN (SELECT y.b FROM y INTERSECT ALL SELECT z.b FROM z "
    "WHERE z.k <> x.b)",
    "SELECT * FROM x WHERE EXISTS (SELECT 1 FROM y LEFT JOIN z ON y.a = z.k AND z.b > x.b "
    "WHERE z.k IS NULL AND y.a = x.a)",
    "SELECT * FROM x WHERE EXISTS (SELECT 1 FROM y FULL JOIN z ON y.a = z.k AND y.b = x.b "
    "WHERE z.k = x.a)",
    "SELECT * FROM x WHERE b IN (SELECT m FROM (SELECT y.a, MAX(y.b) AS m FROM y GROUP BY y.a "
    "HAVING MAX(y.b) > x.a) AS q WHERE q.a = x.a)",
    "SELECT * FROM x WHERE b = ANY (SELECT v.c2 FROM (VALUES (1, x.a), (2, x.b + 1)) AS v(c1, c2) "
    "WHERE v.c1 = x.a)",
    "SELECT x.a, q.m FROM x JOIN (SELECT a, MAX(b) AS m FROM y GROUP BY a) AS q ON q.a = x.a "
    "AND q.m > ALL (SELECT k FROM z WHERE z.b = x.b)",
    "SELECT x.a, y.b FROM x LEFT JOIN y ON x.a = y.a AND y.b IN (SELECT b FROM z)",
    "SELECT * FROM x WHERE b = (SELECT MAX(r.b) FROM (SELECT y.b, RANK() OVER (ORDER BY y.b) AS n "
    "FROM y WHERE y.a = x.a) AS r WHERE r.n <= 2)",
]


@cache
def _rows(seed: int) -> dict[str, list[tuple[int | str | None, ...]]]:
    rng = random.Random(seed)
    some = (0, 1, 1, 2, 3, None)
    return {
        "x": [(rng.choice(some), rng.choice(some), rng.choice("pq")) for _ in range(12)],
        "y": [(rng.choice(some), rng.choice(some)) for _ in range(seed * 5)],
        "z": [(rng.choice(some[:5]), rng.choice(some)) for _ in range(6)],
    }


@cache
def _database(seed: int) -> duckdb.DuckDBPyConnection:
    database = duckdb.connect()
    database.execute("CREATE TABLE x (a INT, b INT, c VARCHAR)")
    database.execute("CREATE TABLE y (a INT, b INT)")
    database.execute("CREATE TABLE z (k INT, b INT)")
    for name, rows in _rows(seed).items():
        for row in rows:
            database.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    return database


@pytest.mark.parametrize("seed", [0, 1, 3])
@pytest.mark.parametrize("query", QUERIES)
def test_same_answer(query: str, seed: int) -> None:
    rows = as_relation(plan(query + ";", DECLARATIONS))
    assert rows is not None
    changes = {name: [(0, 1, row) for row in table] for name, table in _rows(seed).items()}
    answer = Meaning(Timeline(tables=changes)).relation(rows, 0)
    assert answer == Counter(_database(seed).execute(query).fetchall())


def test_no_operator_reads_a_column_from_outside() -> None:
    from cqlc.resolve.facts import FactsOf

    for query in QUERIES:
        facts = FactsOf()
        for node in subplans(plan(query + ";", DECLARATIONS)):
            assert facts(node).free == frozenset()
