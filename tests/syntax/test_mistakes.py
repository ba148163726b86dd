"""Mistakes: each gets its code, a place, help, and where it is certain a fix that repairs it."""

from __future__ import annotations

import pytest

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Code, Diagnostic
from cqlc.source import Source
from cqlc.syntax import ast
from cqlc.syntax.parser import MAX_PROBLEMS, parse
from tests.syntax.texts import program

CASES: list[tuple[Code, str, str | None]] = [
    (codes.UNEXPECTED, "SELECT a FROM s LIMIT x", None),
    (codes.UNEXPECTED, "SELECT a FROM", None),
    (codes.UNEXPECTED, "SELECT CASE WHEN a THEN b FROM s", "SELECT CASE WHEN a THEN b END FROM s"),
    (codes.UNEXPECTED, "SELECT a FROM s GROUP a", "SELECT a FROM s GROUP BY a"),
    (codes.UNEXPECTED, "CREATE VIEW v SELECT 1", "CREATE VIEW v AS SELECT 1"),
    (codes.UNEXPECTED, "INSERT alerts SELECT 1", "INSERT INTO alerts SELECT 1"),
    (codes.UNCLOSED_STRING, "SELECT 'abc FROM s", None),
    (codes.UNCLOSED_STRING, 'SELECT "abc FROM s', None),
    (codes.UNCLOSED_COMMENT, "SELECT a /* FROM s", None),
    (codes.UNMATCHED_BRACKET, "SELECT a) FROM s", None),
    (codes.UNMATCHED_BRACKET, "SELECT f(a] FROM s", "SELECT f(a) FROM s"),
    (codes.ODD_CHARACTER, "SELECT a FROM s WHERE a \u2264 5", "SELECT a FROM s WHERE a <= 5"),
    (codes.ODD_CHARACTER, "SELECT a FROM s WHERE a && b", "SELECT a FROM s WHERE a AND b"),
    (codes.ODD_CHARACTER, "SELECT a \u2013 b FROM s", "SELECT a - b FROM s"),
    (codes.ODD_CHARACTER, "SELECT \u200ba FROM s", "SELECT a FROM s"),
    (codes.ODD_CHARACTER, "SELECT @a FROM s", None),
    (codes.TOO_DEEP, f"SELECT {'(' * 101}a{')' * 101} FROM s", None),
    (codes.TOO_DEEP, f"SELECT {'- ' * 200}a FROM s", None),
    (codes.TOO_DEEP, f"SELECT a{'.a' * 60} FROM s", None),
    (codes.TOO_LONG, f"SELECT {'a' * 600_000} FROM s", None),
    (codes.BAD_TYPE, "CREATE STREAM s (a DECIMAL(1.5))", None),
    (codes.BAD_TYPE, "CREATE STREAM s (a ARRAY<x: INT>)", None),
    (codes.UNCLOSED_BRACKET, "SELECT (a + b FROM s", "SELECT (a + b) FROM s"),
    (codes.UNCLOSED_BRACKET, "SELECT a FROM s [NOW WHERE b", "SELECT a FROM s [NOW] WHERE b"),
    (codes.UNCLOSED_BRACKET, "CREATE STREAM s (a INT", "CREATE STREAM s (a INT)"),
    (codes.MISSPELLED, "SELCT a FROM s", "SELECT a FROM s"),
    (codes.MISSPELLED, "SELECT a FORM s", "SELECT a FROM s"),
    (codes.MISSPELLED, "SELECT a FROM s WEHRE a = 1", "SELECT a FROM s WHERE a = 1"),
    (codes.MISSPELLED, "SELECT a FROM s GRUOP BY a", "SELECT a FROM s GROUP BY a"),
    (codes.MISSPELLED, "SELECT a FROM s [RAGNE 5 MINUTES]", "SELECT a FROM s [RANGE 5 MINUTES]"),
    (codes.MISSPELLED, "CREATE STRAEM s (a INT)", "CREATE STREAM s (a INT)"),
    (codes.MISSPELLED, "SELECT a FROM s jion t ON p", "SELECT a FROM s JOIN t ON p"),
    (codes.MISSING_COMMA, "CREATE STREAM s (a INT b INT)", "CREATE STREAM s (a INT, b INT)"),
    (codes.MISSING_COMMA, "SELECT f(a) g(b) FROM s", "SELECT f(a), g(b) FROM s"),
    (codes.MISSING_COMMA, "SELECT a b c FROM s", None),
    (codes.EXTRA_COMMA, "SELECT a, FROM s", "SELECT a FROM s"),
    (codes.EXTRA_COMMA, "CREATE STREAM s (a INT,)", "CREATE STREAM s (a INT)"),
    (codes.EXTRA_COMMA, "SELECT a FROM s, WHERE b", "SELECT a FROM s WHERE b"),
    (codes.RESERVED_WORD, "SELECT order FROM s", 'SELECT "order" FROM s'),
    (codes.RESERVED_WORD, "SELECT a rate FROM s", 'SELECT a "rate" FROM s'),
    (codes.NUMBER_RUNS_ON, "SELECT 5abc FROM s", None),
    (codes.CHAINED_COMPARISON, "SELECT a FROM s WHERE 1 < a < 5", None),
    (codes.NO_LENGTH, "SELECT a FROM s [RANGE]", None),
    (codes.NO_LENGTH, "SELECT a FROM s [PARTITION BY b ROWS]", None),
    (codes.OPERATOR_PARENTHESES, "ISTREAM SELECT a FROM s", "ISTREAM (SELECT a FROM s)"),
    (codes.OPERATOR_PARENTHESES, "SELECT ISTREAM a, b FROM s", "SELECT ISTREAM (a, b) FROM s"),
    (codes.OPERATOR_PARENTHESES, "SELECT a FROM ISTREAM(SELECT 1)", None),
    (
        codes.WINDOW_FUNCTION,
        "SELECT * FROM TABLE(TUMBLE(TABLE s, DESCRIPTOR(t), INTERVAL '5' MINUTES))",
        "SELECT * FROM s [RANGE 5 MINUTES SLIDE 5 MINUTES]",
    ),
    (
        codes.WINDOW_FUNCTION,
        "SELECT * FROM HOP(TABLE s, DESCRIPTOR(t), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE)",
        "SELECT * FROM s [RANGE 5 MINUTES SLIDE 1 MINUTE]",
    ),
    (
        codes.WINDOW_FUNCTION,
        "SELECT * FROM CUMULATE(TABLE s, DESCRIPTOR(t), INTERVAL '1' HOUR, INTERVAL '1' DAY)",
        None,
    ),
    (codes.WINDOW_FUNCTION, "SELECT * FROM SESSION(TABLE s, DESCRIPTOR(t), 5 MINUTES)", None),
    (codes.WINDOW_FUNCTION, "SELECT 1 FROM s GROUP BY TUMBLE(t, INTERVAL '1' HOUR)", None),
    (codes.WINDOW_FUNCTION, "SELECT 1 FROM s GROUP BY window(t, '10 minutes', '5 minutes')", None),
    (
        codes.INTERVAL,
        "SELECT a FROM s WHERE t > b - INTERVAL '5' MINUTE",
        "SELECT a FROM s WHERE t > b - 5 MINUTES",
    ),
    (codes.INTERVAL, "SELECT INTERVAL '1 day' FROM s", "SELECT 1 DAY FROM s"),
    (codes.INTERVAL, "SELECT INTERVAL 2 HOUR FROM s", "SELECT 2 HOURS FROM s"),
    (codes.INTERVAL, "SELECT a FROM s [RANGE '5 min']", "SELECT a FROM s [RANGE 5 MINUTES]"),
    (codes.EMIT, "SELECT a FROM s EMIT CHANGES", "SELECT a FROM s"),
    (codes.EMIT, "SELECT a FROM s GROUP BY a EMIT AFTER WATERMARK", None),
    (
        codes.WATERMARK,
        "CREATE STREAM s (t TIMESTAMP, WATERMARK FOR t AS t - INTERVAL '5' SECOND)",
        "CREATE STREAM s (t TIMESTAMP) TIMESTAMP BY t SLACK 5 SECONDS",
    ),
    (codes.WATERMARK, "CREATE STREAM s (WATERMARK FOR t AS t, t TIMESTAMP)", None),
    (codes.CREATE_TABLE, "CREATE TABLE s (a INT)", None),
    (
        codes.CONNECTOR,
        "CREATE STREAM s (a INT) WITH ('connector' = 'kafka', 'topic' = 'x')",
        "CREATE STREAM s (a INT) FROM kafka OPTIONS (subscribe 'x')",
    ),
    (
        codes.CONNECTOR,
        "CREATE STREAM s (a INT) WITH ('connector'='filesystem', 'format'='csv', 'path'='x')",
        "CREATE STREAM s (a INT) FROM csv OPTIONS (path 'x')",
    ),
    (codes.CONNECTOR, "CREATE STREAM s (a INT) WITH ('connector' = 'kafka', 'x' = 'y')", None),
    (codes.SELECT_TOP, "SELECT TOP 5 a FROM s", None),
    (codes.WITHIN, "SELECT * FROM a JOIN b WITHIN 1 HOUR ON p", None),
    (codes.WITHIN, "SELECT a FROM s GROUP BY a WITHIN 5 MINUTES", None),
    (codes.FOREIGN_STATEMENT, "DROP TABLE s", None),
    (codes.FOREIGN_STATEMENT, "SET x = 1", None),
    (
        codes.FRAME,
        "SELECT a FROM s [RANGE 5 MINUTES PRECEDING]",
        "SELECT a FROM s [RANGE 5 MINUTES]",
    ),
    (codes.FRAME, "SELECT SUM(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND x) FROM s", None),
    (codes.SYSTEM_TIME, "SELECT * FROM a JOIN b FOR SYSTEM_TIME AS OF a.t ON p", None),
    (codes.NOISE_WORD, "CREATE OR REPLACE VIEW v AS SELECT 1", "CREATE VIEW v AS SELECT 1"),
    (codes.NOISE_WORD, "CREATE MATERIALIZED VIEW v AS SELECT 1", "CREATE VIEW v AS SELECT 1"),
    (
        codes.NOISE_WORD,
        "CREATE RELATION r (a INT, PRIMARY KEY (a) NOT ENFORCED)",
        "CREATE RELATION r (a INT, PRIMARY KEY (a))",
    ),
    (codes.NOISE_WORD, "SELECT * FROM a NATURAL JOIN b", None),
    (codes.SCRIPT, "source : x", None),
    (codes.COLUMN_LIST, "INSERT INTO t (a, b) SELECT 1, 2", None),
    (codes.BARE_WINDOW, "ISTREAM(s [RANGE 5])", "ISTREAM(SELECT * FROM s [RANGE 5])"),
    (codes.MISPLACED_EVERY, "SELECT RSTREAM(a) FROM s EVERY 5 SECONDS", None),
    (codes.PARTITIONED_RANGE, "SELECT a FROM s [PARTITION BY b RANGE 5 MINUTES]", None),
]


def mistakes(text: str) -> tuple[Diagnostic, ...]:
    return parse(Source(text)).diagnostics


def repaired(text: str, diagnostic: Diagnostic) -> str:
    assert diagnostic.fix
    span = diagnostic.fix.span
    return text[: span.start] + diagnostic.fix.replacement + text[span.end :]


@pytest.mark.parametrize(("code", "text", "fixed"), CASES, ids=lambda c: getattr(c, "id", None))
def test_a_mistake_is_named_placed_and_answered(code: Code, text: str, fixed: str | None) -> None:
    (diagnostic,) = mistakes(text + ";")
    assert diagnostic.code == code
    assert diagnostic.message
    assert diagnostic.help
    assert diagnostic.primary.text
    assert 0 <= diagnostic.primary.span.start <= len(text) + 1
    if fixed is None:
        assert diagnostic.fix is None
    else:
        assert repaired(text, diagnostic) == fixed
        program(fixed)


def test_every_code_has_a_case() -> None:
    declared = {value for value in vars(codes).values() if isinstance(value, Code)}
    elsewhere = {codes.TOO_MANY, codes.MISSING_SEMICOLON}
    assert {code for code, _, _ in CASES} | elsewhere == declared


def test_all_mistakes_of_a_program_are_reported_and_the_rest_is_read() -> None:
    parsed = parse(Source("SELCT a FROM s; SELECT b FROM t; SELECT FROM; SELECT 'x; SELECT c"))
    assert len(parsed.diagnostics) == 3
    assert len(parsed.program.statements) == 1


def test_statements_behind_an_unclosed_string_are_read() -> None:
    parsed = parse(Source("SELECT 'x FROM s;\nSELECT 1;\nSELECT \"y;\nSELECT 2;"))
    assert [d.code for d in parsed.diagnostics] == [codes.UNCLOSED_STRING] * 2
    assert len(parsed.program.statements) == 2


def test_a_missing_semicolon_hides_nothing() -> None:
    text = "CREATE VIEW v AS SELECT a FROM s\nSELECT b FROM t\nCREATE SINK x TO console"
    parsed = parse(Source(text))
    assert [d.code for d in parsed.diagnostics] == [codes.MISSING_SEMICOLON] * 2
    kinds = [type(node) for node in parsed.program.statements]
    assert kinds == [ast.CreateView, ast.QueryStatement, ast.CreateSink]
    first, second = parsed.diagnostics
    once = repaired(text, second)
    program(repaired(once, first))


def test_smart_quotes() -> None:
    text = "SELECT a FROM s WHERE b = \u2018x\u2019"
    first, second = mistakes(text)
    assert first.code == second.code == codes.ODD_CHARACTER
    program(repaired(repaired(text, second), first))


def test_too_many_mistakes_are_cut() -> None:
    found = mistakes("SELECT FROM;" * (MAX_PROBLEMS * 3))
    assert len(found) == MAX_PROBLEMS + 1
    assert codes.TOO_MANY in {d.code for d in found}


def test_names_that_broken_statements_would_declare() -> None:
    text = 'CREATE STREAM Bids (a; CREATE VIEW a."B" AS SELCT 1; CREATE VIEW c AS SELECT 1; SELCT 1'
    assert parse(Source(text)).broken == {"bids", "a.b"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a FROM s WHERE", "an expression"),
        ("SELECT a FROM s WHERE a IS 5", "DISTINCT, FALSE, NOT, NULL, TRUE or UNKNOWN"),
        ("CREATE STREAM s (a, b INT)", "a type"),
        ("SELECT a FROM s LIMIT", "a number"),
        ("CREATE STREAM", "a name"),
        ("= 5", "a statement"),
        ("INSERT INTO s", "a query"),
        ("SELECT a FROM s [RANGE 5 SECONDS SECONDS]", "`]`, EXTERNAL, INTERNAL or SLIDE"),
    ],
)
def test_what_is_expected_in_the_users_words(text: str, expected: str) -> None:
    (diagnostic,) = mistakes(text)
    assert diagnostic.code == codes.UNEXPECTED
    assert expected in diagnostic.help


def test_a_declared_function_may_have_the_name_of_a_foreign_window() -> None:
    text = "SELECT window(a, 5) FROM s;"
    assert mistakes(text)
    assert not mistakes(f"CREATE FUNCTION Window(x INT, y INT) RETURNS INT; {text}")
    program("CREATE STREAM window (hop INT, KEY (hop)); SELECT hop FROM window;")
