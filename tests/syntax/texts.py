"""Texts that every test of the syntax may use: each construct of the language at least once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cqlc.source import Source
from cqlc.syntax import ast
from cqlc.syntax.parser import parse

ROOT = Path(__file__).parents[2]

DECLARATIONS = """
CREATE STREAM bids (auction BIGINT, bidder BIGINT, price DOUBLE CHECK (price > 0), at TIMESTAMP)
  TIMESTAMP BY at SLACK 5 SECONDS IDLE 1 MINUTE FROM parquet OPTIONS (path 'data/bids')
CREATE RELATION category (id INT, name STRING, KEY (id))
CREATE NRR person (id BIGINT PRIMARY KEY, city STRING NOT NULL)
CREATE STREAM s (a INT UNIQUE, b STRING IN ('x', 'y'), c INT DISTINCT 50 NOT NULL, UNIQUE (a, c))
CREATE STREAM s (a INT, CHECK (a > 0 AND a < 10), CONSTRAINT c ORDERED BY a WITHIN 5 ROWS)
CREATE STREAM s (a INT, at TIMESTAMP) APPEND ONLY RATE 100 PER SECOND TIMESTAMP BY at SEQUENCE BY a
CREATE STREAM s (a INT) PUNCTUATED BY (a), (a, b) MARKER m LIFESPAN 4 HOURS PUNCTUATED BY (b)
CREATE STREAM s (a INT) PUNCTUATIONS FROM p ORDERED BY a WITHIN 5 SECONDS CLUSTERED BY a MONITOR
CREATE STREAM s (a INT) CONSTRAINT c REFERENCES t (x) FROM (a) WITHIN 10 ROWS MONITOR
CREATE STREAM s (a INT) REFERENCES t (x, y) FROM s (a, b) WITHIN 2 MINUTES
CREATE RELATION r (a INT) KEY (a) FROM 'org.example.Source' OPTIONS ('a.b' 'c', d.e = 5, f TRUE)
CREATE STREAM s (a ARRAY<STRUCT<x: INT, y DECIMAL(10, 2)>>, b CHAR(4), c VARCHAR(10))
register stream S (A integer, B float, C byte, D char(4))
register relation R (A integer)
REGISTER NRR n (k BIGINT, KEY (k))
CREATE STREAM v (a INT) AS ISTREAM(SELECT a FROM s [NOW])
CREATE RELATION v AS S UNION T
CREATE VIEW hot AS SELECT a FROM s
CREATE VIEW hot (x, "y z") AS SELECT a, b FROM s
CREATE SINK alerts TO parquet OPTIONS (path 'out/alerts')
CREATE SINK console TO console
CREATE FUNCTION f(x DOUBLE) RETURNS DOUBLE
CREATE FUNCTION now2() RETURNS TIMESTAMP
CREATE AGGREGATE FUNCTION g(x DOUBLE, n INT) RETURNS ARRAY<DOUBLE>
CREATE CONSTRAINT c ORDERED BY a WITHIN 5 ROWS ON s
CONSTRAINT c REFERENCES t (x) FROM s (a) MONITOR
INSERT INTO alerts SELECT ISTREAM(*) FROM s
INSERT INTO alerts S UNION T
"""

QUERIES = """
SELECT 1
SELECT a, b AS c, d e, s.*, * FROM s
SELECT DISTINCT a FROM s
select a from S where (A > 1 or B < 2) and not C = 3
SELECT a FROM s GROUP BY a, b + 1 HAVING COUNT(*) > 5 ORDER BY a DESC NULLS LAST, b LIMIT 5 OFFSET 2
SELECT a FROM s OFFSET 2 LIMIT 5
SELECT a FROM s ORDER BY a ASC NULLS FIRST OFFSET 2
ISTREAM(SELECT a FROM s)
Dstream(select distinct K from S [Range 3])
SELECT RSTREAM(a, b) FROM s
SELECT DISTINCT ISTREAM(a) FROM s
SELECT Rstream(DISTINCT a) FROM s
RSTREAM(SELECT a FROM s) EVERY 5 SECONDS
SELECT RSTREAM(*) EVERY 5 SECONDS FROM s
SELECT ISTREAM-RESTORE(*) FROM s
SELECT Rstream Restore(*) FROM s
ISTREAM_RESTORE(SELECT * FROM s)
WSTREAM(SELECT a FROM s)[RANGE 5 MINUTES]
SELECT Wstream(*)[ROWS 10] FROM s
SELECT SUM(Wstream(SUM(a))[ROWS 10]) FROM s
Lft Except Rgt
S UNION ALL T UNION U INTERSECT V MINUS W
(SELECT 1 UNION SELECT 2) EXCEPT ALL (SELECT 3 ORDER BY 1 LIMIT 1)
SELECT 1 UNION DISTINCT SELECT 2 INTERSECT ALL SELECT 3
WITH a AS (SELECT 1), b (x, y) AS (SELECT 2, 3) SELECT * FROM a, b
VALUES (1, 'a'), (2, 'b')
SELECT * FROM (SELECT a FROM s) AS x (b), (t [NOW]), (S UNION T) u [ROWS 5], (VALUES (1)) v
SELECT * FROM (SELECT a FROM s [NOW]) [RANGE 5] AS x, (SELECT 1) y [NOW]
SELECT * FROM a JOIN b ON a.x = b.x LEFT OUTER JOIN c USING (x, y) CROSS JOIN d
SELECT * FROM a INNER JOIN (b RIGHT JOIN c ON p) ON q FULL OUTER JOIN d ON r
SELECT * FROM a LEFT SEMI JOIN b ON p ANTI JOIN c ON q
SELECT * FROM ((a JOIN b ON p)) JOIN c ON q
SELECT a FROM s [RANGE 5] x, t [RANGE 5] y WHERE x.a = y.a ON OVERLOAD SHED BY PROB KEEP 10 ROWS
SELECT * FROM a JOIN b ON p ON OVERLOAD SHED BY LIFE KEEP 10 ROWS SPLIT VARIABLE
SELECT a FROM s ON OVERLOAD SHED BY RAND KEEP 5 ROWS SPLIT FIXED
"""

WINDOWS = """
[NOW]
[Range 5]
[RANGE 1 min INTERNAL]
[RANGE 1 MINUTE SLIDE 10 SECONDS]
[RANGE 1 HOUR SLIDE 5 MINUTES OFFSET 1 MINUTE INTERNAL]
[RANGE 5 ms EXTERNAL]
[WINDOW 10 min SLIDE 2 min]
[UNBOUNDED]
[Range Unbounded]
[UNBOUNDED INTERNAL]
[ROWS 10]
[ROWS 10 INTERNAL]
[Partition By T.Vid, x Rows 1]
[PARTITION BY a ROWS 5 RANGE 1 HOUR SLIDE 2 ROWS]
[ROWS 10 SLIDE 3]
[PARTITION BY x SESSION 2 MINUTES]
[SESSION 5]
"""

EXPRESSIONS = """
1
1.5
.5
1e3
2.5E-10
'it''s'
"quoted ""name"" here"
`back``tick`
TRUE
false
NULL
TIMESTAMP '2020-01-01 00:00:00'
DATE '2020-01-01'
5 MINUTES
1 day
_time - 10 sec
a
b.address.city
a + b * c - d / e % f
(a + b) * c
a - (b - c)
-a
- -a
-(-a)
+a
a || 'x' || b
a = b
a <> b
a != b
a == b
a <= b
NOT a AND b OR c AND NOT (d OR e)
a AND b AND c
(a AND b) AND c
a IS NULL
a IS NOT NULL
a + 1 IS TRUE
a IS NOT UNKNOWN
a IS DISTINCT FROM b
a IS NOT DISTINCT FROM b + 1
a BETWEEN 1 AND 2 AND b
a NOT BETWEEN b + 1 AND c
a LIKE 'x%'
a NOT ILIKE 'x!%' ESCAPE '!'
a RLIKE b || 'x'
a IN (1, 2, 3)
a NOT IN ('x')
a IN (SELECT b FROM s)
(a, b) NOT IN (SELECT c, d FROM s)
EXISTS (SELECT * FROM s)
NOT EXISTS (SELECT * FROM s WHERE s.a = t.a)
a >= ALL (SELECT b FROM s)
a = SOME (SELECT b FROM s)
a < ANY (S UNION T)
(SELECT MAX(a) FROM s)
((SELECT 1))
(SELECT 1) + (SELECT 2)
(S UNION T)
CASE WHEN a THEN b END
CASE a WHEN 1 THEN 'x' WHEN 2 THEN 'y' ELSE 'z' END
CAST(a AS DECIMAL(10, 2))
a::INT < 5
a::ARRAY<INT>
(a + b)::STRING
COUNT(*)
COUNT(DISTINCT a, b)
COUNT(s.*)
f()
my.func(a, b)
SUM(a) FILTER (WHERE b > 0)
ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY c DESC)
RANK() OVER (ORDER BY a)
EXTRACT(MINUTE FROM at)
extract('minute', at)
TOP 5 (a)
a[0]
f(a)[b + 1][0]
left(a, 3)
end
offset + "limit"
"""


def lines(text: str) -> list[str]:
    """The texts of a table above; an indented line continues the one before it."""
    return text.strip().replace("\n  ", " ").split("\n")


def statements() -> list[str]:
    """All texts above as statements."""
    queries = lines(QUERIES)
    queries += [f"SELECT * FROM s {window} AS x" for window in lines(WINDOWS)]
    queries += [f"SELECT {expression} FROM s" for expression in lines(EXPRESSIONS)]
    queries += [f"SELECT a FROM s WHERE {expression}" for expression in lines(EXPRESSIONS)]
    return lines(DECLARATIONS) + queries


def examples() -> list[Path]:
    """The bundled example programs."""
    return sorted((ROOT / "examples" / "queries").rglob("*.cql"))


def oracle() -> list[tuple[str, dict[str, Any]]]:
    """The cases computed by Stanford's STREAM; none where they are not at hand."""
    folder = ROOT.parent / "shared" / "oracle" / "stream"
    return [(path.stem, json.loads(path.read_text())) for path in sorted(folder.glob("*.json"))]


def program(text: str) -> ast.Program:
    """The syntax tree of a text without mistakes."""
    parsed = parse(Source(text))
    assert not parsed.diagnostics, [(d.code.id, d.message, d.help) for d in parsed.diagnostics]
    return parsed.program


def statement(text: str) -> ast.Statement:
    """The syntax tree of one statement."""
    (node,) = program(text).statements
    return node


def query(text: str) -> ast.Query:
    """The syntax tree of a query."""
    node = statement(text)
    assert isinstance(node, ast.QueryStatement)
    return node.query


def select(text: str) -> ast.Select:
    """The syntax tree of a SELECT block."""
    body = query(text).body
    assert isinstance(body, ast.Select)
    return body


def name(text: str) -> ast.QualifiedName:
    """A qualified name of unquoted parts."""
    return ast.QualifiedName(tuple(map(ast.Name, text.split("."))))


def column(text: str) -> ast.Reference:
    """A reference to a column."""
    return ast.Reference(name(text))


def integer(value: int) -> ast.Literal:
    """A whole number."""
    return ast.Literal(ast.LiteralKind.INTEGER, str(value))


def string(text: str) -> ast.Literal:
    """A string constant."""
    return ast.Literal(ast.LiteralKind.STRING, text)
