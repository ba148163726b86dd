"""Every mistake the resolver knows: a program that makes it, and the same program put right."""

from __future__ import annotations

import pytest

from cqlc.codes import names, windows
from cqlc.diagnostics import Code, Fix, Severity
from cqlc.source import Source
from tests.resolve.programs import PRELUDE, codes, resolved


def _chain(length: int) -> str:
    """Views over views over views."""
    views = (f"CREATE VIEW V{i} AS SELECT a FROM V{i - 1}" for i in range(1, length))
    return "; ".join(("CREATE VIEW V0 AS SELECT a FROM S", *views))


CASES: dict[Code, tuple[str, str]] = {
    names.UNKNOWN_TABLE: ("SELECT a FROM Sx", "SELECT a FROM S"),
    names.UNKNOWN_COLUMN: ("SELECT aa FROM S", "SELECT a FROM S"),
    names.AMBIGUOUS_COLUMN: ("SELECT a FROM S, T", "SELECT S.a FROM S, T"),
    names.DUPLICATE_NAME: ("CREATE STREAM s (x INT)", "CREATE STREAM s2 (x INT)"),
    names.DUPLICATE_COLUMN: ("CREATE STREAM X (x INT, X INT)", "CREATE STREAM X (x INT, y INT)"),
    names.DUPLICATE_ALIAS: ("SELECT 1 FROM S, S", "SELECT 1 FROM S, S AS S2"),
    names.RECURSIVE_VIEW: (
        "CREATE VIEW V AS SELECT a FROM W; CREATE VIEW W AS SELECT a FROM V",
        "CREATE VIEW V AS SELECT a FROM W; CREATE VIEW W AS SELECT a FROM S",
    ),
    names.UNKNOWN_FUNCTION: ("SELECT UPER(c) FROM S", "SELECT UPPER(c) FROM S"),
    names.WRONG_ARGUMENTS: ("SELECT UPPER(a) FROM S", "SELECT UPPER(CAST(a AS STRING)) FROM S"),
    names.UNKNOWN_TYPE: ("CREATE STREAM X (x INTT)", "CREATE STREAM X (x INT)"),
    names.BAD_TYPE: ("CREATE STREAM X (x DECIMAL(50, 2))", "CREATE STREAM X (x DECIMAL(30, 2))"),
    names.BAD_LITERAL: ("SELECT DATE '2024-02-30' AS x", "SELECT DATE '2024-02-29' AS x"),
    names.CANNOT_COMPARE: ("SELECT a FROM S WHERE a = 'x'", "SELECT a FROM S WHERE c = 'x'"),
    names.WRONG_OPERAND: ("SELECT c + c FROM S", "SELECT c || c FROM S"),
    names.NOT_A_CONDITION: ("SELECT a FROM S WHERE a", "SELECT a FROM S WHERE a <> 0"),
    names.NO_COMMON_TYPE: (
        "SELECT CASE WHEN a = 1 THEN a ELSE c END FROM S",
        "SELECT CASE WHEN a = 1 THEN CAST(a AS STRING) ELSE c END FROM S",
    ),
    names.IMPOSSIBLE_CAST: (
        "SELECT CAST(tags AS INT) FROM P",
        "SELECT CAST(tags[0] AS INT) FROM P",
    ),
    names.UNGROUPED_COLUMN: (
        "SELECT a, b, COUNT(*) FROM S GROUP BY a",
        "SELECT a, b, COUNT(*) FROM S GROUP BY a, b",
    ),
    names.MISPLACED_AGGREGATE: (
        "SELECT a FROM S WHERE COUNT(*) > 1 GROUP BY a",
        "SELECT a FROM S GROUP BY a HAVING COUNT(*) > 1",
    ),
    names.MISPLACED_CLAUSE: (
        "SELECT SUM(a) OVER (ORDER BY b) FROM S",
        "SELECT RANK() OVER (ORDER BY b) FROM S",
    ),
    names.MISPLACED_EXPRESSION: ("SELECT SUM(*) FROM S", "SELECT COUNT(*) FROM S"),
    names.BAD_POSITION: ("SELECT a FROM S GROUP BY 2", "SELECT a FROM S GROUP BY 1"),
    names.WRONG_COLUMN_COUNT: (
        "SELECT a FROM S WHERE a IN (SELECT k, v FROM R)",
        "SELECT a FROM S WHERE a IN (SELECT k FROM R)",
    ),
    names.MANY_ROWS: (
        "SELECT a FROM S WHERE b = (SELECT k FROM R)",
        "SELECT a FROM S WHERE b = (SELECT MAX(k) FROM R)",
    ),
    names.RESERVED_NAME: ("SELECT a AS _time FROM S", "SELECT a AS time FROM S"),
    names.UNKNOWN_SINK: ("INSERT INTO outt SELECT a FROM S", "INSERT INTO out SELECT a FROM S"),
    names.BAD_CHECK: (
        "CREATE STREAM X (x INT CHECK (x * x > 0))",
        "CREATE STREAM X (x INT CHECK (x > 0 OR x < -1))",
    ),
    names.BAD_CLAUSE: (
        "CREATE STREAM X (x INT) TIMESTAMP BY x",
        "CREATE STREAM X (x TIMESTAMP) TIMESTAMP BY x",
    ),
    names.BAD_CONSTRAINT: (
        "CREATE STREAM X (x INT, m INT) PUNCTUATED BY (x) MARKER m",
        "CREATE STREAM X (x INT, m BOOLEAN) PUNCTUATED BY (x) MARKER m",
    ),
    names.EQUALS_NULL: ("SELECT a FROM S WHERE a = NULL", "SELECT a FROM S WHERE a IS NULL"),
    names.TOO_DEEP: (_chain(150), _chain(100)),
    names.UNCERTAIN_FUNCTION: ("SELECT NOW() FROM S", "SELECT _time FROM S"),
    names.DOUBLE_QUOTED_STRING: (
        'SELECT a FROM S WHERE c = "xyz"',
        "SELECT a FROM S WHERE c = 'xyz'",
    ),
    windows.WINDOW_ON_RELATION: ("SELECT k FROM R [ROWS 5]", "SELECT k FROM R"),
    windows.WINDOW_ON_LATEST_VALUE: (
        "SELECT SUM(a) FROM (SELECT SUM(a) FROM S [RANGE 6 SECONDS]) [ROWS 10]",
        "SELECT SUM(a) FROM (SELECT SUM(a) FROM S [RANGE 6 SECONDS INTERNAL]) [ROWS 10]",
    ),
    windows.BAD_WINDOW: ("SELECT a FROM S [RANGE 0 SECONDS]", "SELECT a FROM S [NOW]"),
    windows.STREAM_OF_STREAM: (
        "ISTREAM(SELECT ISTREAM(a) FROM S)",
        "ISTREAM(SELECT a FROM S)",
    ),
    windows.INTERNAL_NOT_POSSIBLE: (
        "SELECT DISTINCT a FROM S [RANGE 1 MINUTE INTERNAL]",
        "SELECT DISTINCT a FROM S [RANGE 1 MINUTE]",
    ),
    windows.WSTREAM_OF_NEGATION: (
        "SELECT WSTREAM(DISTINCT a)[RANGE 5 MINUTES] FROM S [RANGE 1 MINUTE]",
        "SELECT WSTREAM(a)[RANGE 5 MINUTES] FROM S [RANGE 1 MINUTE]",
    ),
    windows.RESTORE_NOT_DEFINED: (
        "SELECT WSTREAM-RESTORE(a)[ROWS 5] FROM S [RANGE 1 MINUTE]",
        "SELECT WSTREAM(a)[ROWS 5] FROM S [RANGE 1 MINUTE]",
    ),
    windows.DIFFERENT_SLIDES: (
        "SELECT 1 FROM S [RANGE 5 SECONDS SLIDE 1 SECOND], T [RANGE 5 SECONDS SLIDE 2 SECONDS]",
        "SELECT 1 FROM S [RANGE 5 SECONDS SLIDE 1 SECOND], T [RANGE 9 SECONDS SLIDE 1 SECOND]",
    ),
    windows.RESTORE_WITHOUT_SLIDE: (
        "SELECT ISTREAM-RESTORE(a) FROM S [RANGE 5 SECONDS]",
        "SELECT ISTREAM-RESTORE(a) FROM S [RANGE 5 SECONDS SLIDE 1 SECOND]",
    ),
    windows.WSTREAM_OF_MANY_ROWS: (
        "SELECT WSTREAM(a)[ROWS 5] FROM S [RANGE 5 SECONDS SLIDE 1 SECOND]",
        "SELECT WSTREAM(a)[RANGE 5 SECONDS] FROM S [RANGE 5 SECONDS SLIDE 1 SECOND]",
    ),
    windows.SLIDE_BEYOND_RANGE: (
        "SELECT ISTREAM-RESTORE(a) FROM S [RANGE 5 SECONDS SLIDE 5 SECONDS]",
        "SELECT ISTREAM-RESTORE(a) FROM S [RANGE 5 SECONDS SLIDE 4 SECONDS]",
    ),
    windows.RSTREAM_AT_EVERY_CHANGE: (
        "SELECT RSTREAM(a) FROM S [NOW]",
        "SELECT RSTREAM(a) EVERY 1 SECOND FROM S [NOW]",
    ),
    windows.MIXED_INTERNAL: (
        "SELECT COUNT(*) FROM S [ROWS 5 INTERNAL], T [ROWS 5]",
        "SELECT COUNT(*) FROM S [ROWS 5 INTERNAL], T [ROWS 5 INTERNAL]",
    ),
    windows.NRR_ALONE: ("SELECT k FROM N", "SELECT k FROM N, S WHERE k = a"),
    windows.NRR_NOT_LOOKED_UP: (
        "SELECT 1 FROM N LEFT JOIN S ON k = a",
        "SELECT 1 FROM S LEFT JOIN N ON k = a",
    ),
    windows.CORRELATED_STREAM: (
        "SELECT a FROM S WHERE EXISTS "
        "(SELECT 1 FROM (SELECT ISTREAM(k) FROM R WHERE k = S.a) [NOW])",
        "SELECT a FROM S WHERE EXISTS (SELECT 1 FROM (SELECT ISTREAM(k) FROM R) [NOW] AS r "
        "WHERE r.k = S.a)",
    ),
    windows.ORDER_WITHOUT_LIMIT: (
        "SELECT a FROM S ORDER BY a",
        "SELECT a FROM S ORDER BY a LIMIT 3",
    ),
    windows.LIMIT_WITHOUT_ORDER: (
        "SELECT a FROM S LIMIT 3",
        "SELECT a FROM S ORDER BY a LIMIT 3",
    ),
    windows.LIMIT_ON_STREAM: (
        "ISTREAM(SELECT a FROM S) ORDER BY a LIMIT 3",
        "ISTREAM(SELECT a FROM S ORDER BY a LIMIT 3)",
    ),
    windows.SHEDDING_NOT_POSSIBLE: (
        "SELECT a FROM S [ROWS 5] ON OVERLOAD SHED BY PROB KEEP 10 ROWS",
        "SELECT 1 FROM S [ROWS 5], T [ROWS 5] ON OVERLOAD SHED BY PROB KEEP 10 ROWS",
    ),
    windows.EVERY_WITHOUT_RSTREAM: (
        "SELECT ISTREAM(a) EVERY 1 SECOND FROM S",
        "SELECT RSTREAM(a) EVERY 1 SECOND FROM S",
    ),
    windows.WSTREAM_WITHOUT_WINDOW: (
        "SELECT ISTREAM(a)[ROWS 5] FROM S",
        "SELECT WSTREAM(a)[ROWS 5] FROM S",
    ),
    windows.NESTED_WSTREAM_MISUSED: (
        "SELECT SUM(WSTREAM(SUM(a))[ROWS 5]), MAX(WSTREAM(SUM(a))[ROWS 6]) FROM S",
        "SELECT SUM(WSTREAM(SUM(a))[ROWS 5]), MAX(WSTREAM(SUM(a))[ROWS 5]) FROM S",
    ),
}


def _id(value: Code | str) -> str:
    return value.id if isinstance(value, Code) else ""


def test_every_code_has_a_case() -> None:
    declared = {
        c for module in (names, windows) for c in vars(module).values() if isinstance(c, Code)
    }
    assert declared - CASES.keys() == set()


@pytest.mark.parametrize(("code", "wrong"), [(c, w) for c, (w, _) in CASES.items()], ids=_id)
def test_mistake_is_found_alone(code: Code, wrong: str) -> None:
    resolution = resolved(wrong + ";")
    assert [d.code for d in resolution.diagnostics] == [code]
    (found,) = resolution.diagnostics
    assert found.message
    assert found.primary.text
    assert found.help
    place = found.primary.span
    assert len(PRELUDE) <= place.start < place.end <= len(PRELUDE) + len(wrong)


@pytest.mark.parametrize(("code", "right"), [(c, r) for c, (_, r) in CASES.items()], ids=_id)
def test_way_out_is_one(code: Code, right: str) -> None:
    resolution = resolved(right + ";")
    assert code not in [d.code for d in resolution.diagnostics]
    assert [d for d in resolution.diagnostics if d.severity is not Severity.NOTE] == []


def _fixed(text: str) -> str:
    """The program with the fixes that its findings offer."""
    fixes = [d.fix for d in resolved(text).diagnostics if d.fix]
    whole = PRELUDE + text
    for fix in sorted(fixes, key=lambda f: -f.span.start):
        whole = whole[: fix.span.start] + fix.replacement + whole[fix.span.end :]
    return whole.removeprefix(PRELUDE)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("SELECT c + c FROM S;", "SELECT c || c FROM S;"),
        ("SELECT a FROM S WHERE a = NULL;", "SELECT a FROM S WHERE a IS NULL;"),
        ("SELECT a FROM S WHERE a <> NULL;", "SELECT a FROM S WHERE a IS NOT NULL;"),
        ("SELECT S.a FROM S AS x;", "SELECT x.a FROM S AS x;"),
        ('SELECT a FROM S WHERE c = "it\'s";', "SELECT a FROM S WHERE c = 'it''s';"),
        (
            "SELECT SUM(a) FROM (SELECT SUM(a) FROM S [RANGE 6]) [ROWS 10];",
            "SELECT SUM(a) FROM (SELECT SUM(a) FROM S [RANGE 6 INTERNAL]) [ROWS 10];",
        ),
    ],
)
def test_fixes_are_right(wrong: str, right: str) -> None:
    assert _fixed(wrong) == right
    assert codes(right) == []


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("SELECT pirce FROM (SELECT a AS price FROM S)", "did you mean price?"),
        ("SELECT x FROM S", "a string is written in single quotes"),
        ("SELECT d FROM S", "T has a column of this name; add it to FROM"),
        ("SELECT T.d FROM S", "add T to FROM"),
        ("SELECT S.z FROM S", "S has a, b, c, at"),
        (
            "SELECT 1 FROM S, (SELECT d FROM T WHERE T.a = S.a) AS q",
            "does not see the items beside",
        ),
        ("SELECT TUMBLE_END(at) FROM S", "RSTREAM with SLIDE reports at a window's end"),
        ("SELECT window_end FROM S", "RSTREAM with SLIDE reports at a window's end"),
        ("SELECT MEDAIN(a) FROM S", "did you mean MEDIAN?"),
        ("SELECT a FROM S WHERE at > 5", "convert one of them"),
        ("SELECT at + 5 FROM S", "a length of time has a unit: 5 MINUTES"),
        ("SELECT a FROM S WHERE at > 'noon'", "a time is written '2024-12-31 23:59:59'"),
        ("SELECT who.nmae FROM P", "did you mean name?"),
        ("SELECT EXTRACT(MINUT FROM at) FROM S", "did you mean MINUTE?"),
        ("SELECT ROUND(b, a) FROM S", "ROUND: x to d digits after the point, a constant"),
        ("SELECT a FROM S WHERE c LIKE 'x%' ESCAPE 'ab'", "escaped by a constant character"),
        ("SELECT a FROM S WHERE c RLIKE 'x' ESCAPE '!'", "write a backslash"),
        ("SELECT QUANTILE(a, 2) FROM S", "QUANTILE: the value below which"),
        ("SELECT twice('x') FROM S", "it is declared as twice(x DOUBLE)"),
        ("SELECT a FROM out", "a sink is written to with INSERT INTO"),
        ("INSERT INTO S SELECT a FROM T", "S is read, not written"),
    ],
)
def test_help(text: str, help: str) -> None:
    (found,) = resolved(text + ";").diagnostics
    assert help in found.help


def test_all_mistakes_in_one_run() -> None:
    text = """
        SELECT zz, S.q, UPER(c), a + c FROM S WHERE b = 'x' AND d > 1;
        SELECT a FROM S;
        CREATE VIEW V AS SELECT nope FROM S;
        SELECT anything FROM V WHERE more = 1;
        CREATE STREAM X (x FOO, y INT) TIMESTAMP BY z;
        SELECT y, x FROM X;
    """
    resolution = resolved(text)
    expected = ["CQL1002", "CQL1002", "CQL1008", "CQL1014", "CQL1013", "CQL1002"]
    assert [d.code.id for d in resolution.diagnostics] == [
        *expected,
        "CQL1002",
        "CQL1010",
        "CQL1002",
    ]
    assert [q.name for q in resolution.queries] == ["query2", "query4"]


def test_one_mistake_is_not_told_twice() -> None:
    """Unknown columns, tables and functions do not make what is built on them wrong."""
    for text in (
        "SELECT x + 1, UPPER(x), x AND TRUE, SUM(x), x.y.z FROM S",
        "SELECT t.a + t.b, t.c || 'x', * FROM Missing AS t WHERE t.d GROUP BY t.a",
        "SELECT FOO(a) * 2, FOO(a) || 'x' FROM S WHERE FOO(a)",
        "SELECT a FROM S WHERE a IN (SELECT nope FROM R) OR EXISTS (SELECT 1 FROM Missing)",
    ):
        found = resolved(text + ";").diagnostics
        assert len(found) == len({(d.code, d.primary.span) for d in found})
        assert {d.code for d in found} <= {
            names.UNKNOWN_COLUMN,
            names.UNKNOWN_TABLE,
            names.UNKNOWN_FUNCTION,
        }


def test_fix_is_data() -> None:
    (found,) = resolved("SELECT c + c FROM S;").diagnostics
    assert isinstance(found.fix, Fix)
    text = Source(PRELUDE + "SELECT c + c FROM S;")
    assert text.slice(found.fix.span) == " + "
