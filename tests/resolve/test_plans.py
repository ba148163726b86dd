"""Programs and the plans they become, side by side."""

from __future__ import annotations

import textwrap

import pytest

from cqlc.algebra.text import plan_text
from tests.resolve.programs import plan

CASES = {
    "a stream without a window is unbounded": (
        "SELECT a FROM S",
        """
        Project a = S.a
          Rename S
            Unbounded
              Scan S
        """,
    ),
    "stars leave hidden columns out": (
        "SELECT * FROM S [NOW]",
        """
        Project a = S.a, b = S.b, c = S.c, at = S.at
          Rename S
            Now
              Scan S
        """,
    ),
    "names that repeat are numbered": (
        "SELECT S.a, T.a, S.a + 1 AS a FROM S, T",
        """
        Project a = S.a, a_1 = T.a, a_2 = S.a + 1
          Join INNER ON TRUE
            Rename S
              Unbounded
                Scan S
            Rename T
              Unbounded
                Scan T
        """,
    ),
    "the time of an element": (
        "SELECT _time, S._time - 1 MINUTE AS before FROM S [RANGE 5 SECONDS]",
        """
        Project time = S._time, before = S._time - 1 MINUTE
          Rename S
            Range 5 SECONDS
              Scan S
        """,
    ),
    "conditions stand as low as they can": (
        "SELECT 1 AS one FROM S [ROWS 5], T [RANGE 1 DAY], R "
        "WHERE S.a = T.a AND S.b > 2 AND R.k = T.a AND d + S.b < 1.5 AND 1 = 1",
        """
        Project one = 1
          Filter 1 = 1
            Join INNER ON R.k = T.a
              Join INNER ON S.a = T.a AND T.d + CAST(S.b AS DOUBLE) < 1.5
                Filter S.b > 2
                  Rename S
                    Rows 5
                      Scan S
                Rename T
                  Range 1 DAY
                    Scan T
              Rename R
                Table R
        """,
    ),
    "RIGHT JOIN is LEFT JOIN the other way round": (
        "SELECT S.a, T.d FROM S [NOW] RIGHT JOIN T [NOW] ON S.a = T.a",
        """
        Project a = S.a, d = T.d
          Join LEFT ON S.a = T.a
            Rename T
              Now
                Scan T
            Rename S
              Now
                Scan S
        """,
    ),
    "USING leaves one column": (
        "SELECT * FROM S [NOW] FULL JOIN T [NOW] USING (a)",
        """
        Project a = COALESCE(S.a, T.a), b = S.b, c = S.c, at = S.at, d = T.d, e = T.e, at_1 = T.at
          Join FULL ON S.a = T.a
            Rename S
              Now
                Scan S
            Rename T
              Now
                Scan T
        """,
    ),
    "an NRR is looked up when everything else is joined": (
        "SELECT S.a, w FROM S [NOW], N, T [NOW] WHERE S.a = N.k AND S.a = T.a",
        """
        Project a = S.a, w = N.w
          NrrJoin INNER N AS N ON S.a = N.k
            Join INNER ON S.a = T.a
              Rename S
                Now
                  Scan S
              Rename T
                Now
                  Scan T
        """,
    ),
    "below an outer join it is looked up where it stands": (
        "SELECT S.a, w, d FROM S [NOW] LEFT JOIN N ON N.k = S.a LEFT JOIN T [NOW] ON T.a = S.a",
        """
        Project a = S.a, w = N.w, d = T.d
          Join LEFT ON T.a = S.a
            NrrJoin LEFT N AS N ON N.k = S.a
              Rename S
                Now
                  Scan S
            Rename T
              Now
                Scan T
        """,
    ),
    "grouping by columns, positions, aliases and expressions": (
        "SELECT a, b % 2 AS parity, UPPER(c), COUNT(*), SUM(b) + COUNT(*) AS n "
        "FROM S GROUP BY 1, parity, UPPER(c) HAVING n > 3",
        """
        Project a = S.a, parity, upper, count, n = sum + count
          Filter sum + count > 3
            Aggregate count = COUNT(*), sum = SUM(S.b) BY S.a, parity = S.b % 2, upper = UPPER(S.c)
              Rename S
                Unbounded
                  Scan S
        """,
    ),
    "aggregates with DISTINCT and FILTER": (
        "SELECT COUNT(DISTINCT a), SUM(b) FILTER (WHERE c = 'x'), blend(b) FROM S",
        """
        Project count, sum, blend
          Aggregate count = COUNT(DISTINCT S.a), sum = SUM(S.b) FILTER (WHERE S.c = 'x'), blend = \
blend(CAST(S.b AS DOUBLE))
            Rename S
              Unbounded
                Scan S
        """,
    ),
    "the first rows at every instant": (
        "SELECT a FROM S [ROWS 100] ORDER BY b DESC, a LIMIT 3 OFFSET 1",
        """
        Project a
          Filter row_number <= 4 AND row_number > 1
            Rank row_number = ROW_NUMBER ORDER BY sort DESC, a
              Project a = S.a, sort = S.b
                Rename S
                  Rows 100
                    Scan S
        """,
    ),
    "ranking over an expression": (
        "SELECT a, RANK() OVER (PARTITION BY a % 2 ORDER BY b NULLS LAST) AS place FROM S",
        """
        Project a = S.a, place = rank
          Rank rank = RANK PARTITION BY part ORDER BY S.b NULLS LAST
            Project S.a, S.b, S.c, S.at, S._time, part = S.a % 2
              Rename S
                Unbounded
                  Scan S
        """,
    ),
    "sets of queries": (
        "SELECT a FROM S UNION SELECT k FROM R EXCEPT ALL SELECT a FROM T",
        """
        Except
          Distinct
            Union
              Project a = S.a
                Rename S
                  Unbounded
                    Scan S
              Project k = R.k
                Rename R
                  Table R
          Project a = T.a
            Rename T
              Unbounded
                Scan T
        """,
    ),
    "sides of a set operation get common types": (
        "SELECT a FROM S UNION ALL SELECT d FROM T",
        """
        Union
          Project a = CAST(S.a AS DOUBLE)
            Rename S
              Unbounded
                Scan S
          Project d = T.d
            Rename T
              Unbounded
                Scan T
        """,
    ),
    "constants": (
        "VALUES (1, 'x'), (2.5, NULL)",
        "Values (1, 'x'), (2.5, NULL)",
    ),
    "EXISTS is a semi join": (
        "SELECT a FROM S [NOW] WHERE EXISTS (SELECT * FROM R WHERE R.k = S.a AND v <> 'x')",
        """
        Project a = S.a
          Join SEMI ON subquery.R.k = S.a
            Rename S
              Now
                Scan S
            Rename subquery
              Project R.k
                Filter R.v <> 'x'
                  Rename R
                    Table R
        """,
    ),
    "NOT IN is an anti join in which NULL counts": (
        "SELECT a FROM S [NOW] WHERE a NOT IN (SELECT k FROM R)",
        """
        Project a = S.a
          Join ANTI ON COALESCE(S.a = subquery.k, TRUE)
            Rename S
              Now
                Scan S
            Rename subquery
              Project k = R.k
                Rename R
                  Table R
        """,
    ),
    "NOT IN without NULLs is a plain anti join": (
        "SELECT id FROM P [NOW] WHERE id NOT IN (SELECT COUNT(*) FROM S GROUP BY a)",
        """
        Project id = P.id
          Join ANTI ON P.id = subquery.count
            Rename P
              Now
                Scan P
            Rename subquery
              Project count
                Aggregate count = COUNT(*) BY S.a
                  Rename S
                    Unbounded
                      Scan S
        """,
    ),
    "ALL asks for no counterexample": (
        "SELECT id FROM P [NOW] WHERE id >= ALL (SELECT COUNT(*) FROM S GROUP BY a)",
        """
        Project id = P.id
          Join ANTI ON P.id < subquery.count
            Rename P
              Now
                Scan P
            Rename subquery
              Project count
                Aggregate count = COUNT(*) BY S.a
                  Rename S
                    Unbounded
                      Scan S
        """,
    ),
    "a correlated aggregate is grouped by what ties it": (
        "SELECT a FROM S [NOW] WHERE b > (SELECT AVG(d) FROM T [ROWS 9] WHERE T.a = S.a)",
        """
        Project a = S.a
          Join INNER ON subquery.T.a = S.a AND CAST(S.b AS DOUBLE) > subquery.avg
            Rename S
              Now
                Scan S
            Rename subquery
              Project avg, T.a
                Aggregate avg = AVG(T.d) BY T.a
                  Rename T
                    Rows 9
                      Scan T
        """,
    ),
    "where that is not possible, the outer values are pushed down": (
        "SELECT a, (SELECT COUNT(*) FROM T WHERE T.a < S.a) AS smaller FROM S [NOW]",
        """
        Project a = S.a, smaller = subquery.count
          Join LEFT ON S.a IS NOT DISTINCT FROM subquery.S.a
            #1 = Rename S
              Now
                Scan S
            Rename subquery
              Project count, S.a
                Aggregate count = COUNT(*) BY S.a
                  Join INNER ON T.a < S.a
                    Distinct
                      Project S.a
                        #1
                    Rename T
                      Unbounded
                        Scan T
        """,
    ),
    "a test under OR becomes a column": (
        "SELECT a FROM S [NOW] WHERE a = 1 OR EXISTS (SELECT * FROM R WHERE k = a)",
        """
        Project a = S.a
          Filter S.a = 1 OR test.found IS NOT NULL
            Join LEFT ON S.a IS NOT DISTINCT FROM test.S.a
              #1 = Rename S
                Now
                  Scan S
              Rename test
                Project S.a, found = TRUE
                  Join SEMI ON subquery.R.k = S.a
                    Distinct
                      Project S.a
                        #1
                    Rename subquery
                      Project R.k
                        Rename R
                          Table R
        """,
    ),
    "a row of values compared with a subquery's": (
        "SELECT (a, b) = (SELECT MAX(k), MIN(k) FROM R) AS both FROM S [NOW]",
        """
        Project both = S.a = subquery.max AND S.b = subquery.min
          Join LEFT ON TRUE
            Rename S
              Now
                Scan S
            Rename subquery
              Project max, min
                Aggregate max = MAX(R.k), min = MIN(R.k)
                  Rename R
                    Table R
        """,
    ),
    "results over INTERNAL windows are a stream": (
        "SELECT S.a FROM S [RANGE 1 MINUTE INTERNAL], T [ROWS 5 INTERNAL] WHERE S.a = T.a",
        """
        Istream
          Project a = S.a
            Join INNER ON S.a = T.a
              Rename S
                Range 1 MINUTE INTERNAL
                  Scan S
              Rename T
                Rows 5 INTERNAL
                  Scan T
        """,
    ),
    "an aggregate over INTERNAL windows is the stream of its values": (
        "SELECT RSTREAM(MAX(a)) EVERY 1 MINUTE FROM S [RANGE 1 HOUR INTERNAL]",
        """
        Rstream EVERY 1 MINUTE
          Project max
            Unbounded
              Istream
                Project max
                  Aggregate max = MAX(S.a)
                    Rename S
                      Range 1 HOUR
                        Scan S
        """,
    ),
    "WSTREAM windows the output": (
        "SELECT WSTREAM(S.a)[RANGE 1 MINUTE] FROM S [NOW], T [RANGE 1 HOUR] WHERE S.a = T.a",
        """
        Project a
          Range 1 MINUTE
            Istream
              Project a = S.a
                Join INNER ON S.a = T.a
                  Rename S
                    Range 1 MICROSECONDS INTERNAL
                      Scan S
                  Rename T
                    Range 1 HOUR INTERNAL
                      Scan T
        """,
    ),
    "WSTREAM inside an aggregate, by group": (
        "SELECT c, MAX(WSTREAM(SUM(a))[ROWS 3]) FROM S [RANGE 6 SECONDS SLIDE 6 SECONDS] "
        "GROUP BY c",
        """
        Project c = subquery.c, max
          Aggregate max = MAX(subquery.sum) BY subquery.c
            Rename subquery
              Rows 3
                Istream
                  Project c = S.c, sum
                    Aggregate sum = SUM(S.a) BY S.c
                      Rename S
                        Range 6 SECONDS SLIDE 6 SECONDS
                          Scan S
        """,
    ),
    "restore compares with the query without SLIDE": (
        "SELECT ISTREAM-RESTORE(a) FROM S [RANGE 1 MINUTE SLIDE 10 SECONDS OFFSET 3 SECONDS]",
        """
        IstreamRestore EVERY 10 SECONDS OFFSET 3 SECONDS
          Project a = S.a
            Rename S
              Range 1 MINUTE
                Scan S
        """,
    ),
    "a view over a relation, declared as a stream": (
        "REGISTER STREAM V (n INTEGER) AS SELECT COUNT(*) FROM S; SELECT n FROM V [RANGE 5]",
        """
        Project n = V.n
          Rename V
            Range 5 SECONDS
              Istream
                Project n = CAST(count AS INT)
                  Aggregate count = COUNT(*)
                    Rename S
                      Unbounded
                        Scan S
        """,
    ),
    "bare names make bags": (
        "ISTREAM(S2 UNION T2); "
        "CREATE VIEW S2 AS SELECT a FROM S; CREATE VIEW T2 AS SELECT a FROM T",
        """
        Istream
          Union
            Project a = S.a
              Rename S
                Unbounded
                  Scan S
            Project a = T.a
              Rename T
                Unbounded
                  Scan T
        """,
    ),
    "sessions": (
        "SELECT ISTREAM(a, COUNT(*), SESSION_END) FROM S [PARTITION BY a SESSION 5 MINUTES] "
        "GROUP BY a, SESSION_END",
        """
        Istream
          Project a = S.a, count, SESSION_END = S.session_end
            Aggregate count = COUNT(*) BY S.a, S.session_end
              Rename S
                Session 5 MINUTES PARTITION BY a
                  Scan S
        """,
    ),
    "structs and arrays": (
        "SELECT who.name, P.who.age + 1, tags[0], SIZE(tags) FROM P",
        """
        Project name = FIELD(P.who, 'name'), column = FIELD(P.who, 'age') + 1, tags = \
GET(P.tags, 0), size = SIZE(P.tags)
          Rename P
            Unbounded
              Scan P
        """,
    ),
    "common tables are shared": (
        "WITH x AS (SELECT a, COUNT(*) AS n FROM S GROUP BY a) "
        "SELECT p.a FROM x AS p JOIN x AS q ON p.n = q.n",
        """
        Project a = p.a
          Join INNER ON p.n = q.n
            Rename p
              #1 = Project a = S.a, n = count
                Aggregate count = COUNT(*) BY S.a
                  Rename S
                    Unbounded
                      Scan S
            Rename q
              #1
        """,
    ),
}


@pytest.mark.parametrize(("program", "expected"), CASES.values(), ids=CASES)
def test_plan(program: str, expected: str) -> None:
    assert plan_text(plan(program + ";")) == textwrap.dedent(expected).strip()
