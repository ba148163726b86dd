"""Texts nobody should write: refused with a mistake, or read, never a crash."""

from __future__ import annotations

import random

import pytest

from cqlc.codes import syntax as codes
from cqlc.source import Source
from cqlc.syntax.parser import MAX_TEXT, Parsed, parse
from cqlc.syntax.printer import format_program
from tests.syntax.texts import program

HUGE = 10_000


def answered(text: str) -> Parsed:
    """Reads a text; formats it if it has no mistakes."""
    parsed = parse(Source(text))
    if not parsed.diagnostics:
        format_program(Source(text))
    return parsed


@pytest.mark.parametrize(
    "text",
    [
        "(" * HUGE,
        "[" * HUGE,
        f"SELECT {'(' * HUGE}1{')' * HUGE}",
        f"SELECT {'- ' * HUGE}1",
        f"SELECT {'NOT ' * HUGE}a",
        f"SELECT {'a + ' * HUGE}a",
        f"SELECT {'a || ' * HUGE}a",
        f"SELECT a{'::INT' * HUGE}",
        f"SELECT a{'[0]' * HUGE}",
        f"SELECT a{'.a' * HUGE}",
        f"SELECT {'CASE WHEN a THEN ' * 1000}a{' END' * 1000}",
        f"SELECT * FROM a{' JOIN b ON p' * HUGE}",
        f"SELECT 1{' UNION SELECT 1' * HUGE}"[:MAX_TEXT],
        f"CREATE STREAM s (a {'ARRAY<' * HUGE}INT{'>' * HUGE})",
        "SELECT " + "EXISTS (SELECT " * 1000 + "1" + ")" * 1000,
    ],
    ids=lambda text: text[:24],
)
def test_deep_texts_are_refused(text: str) -> None:
    (diagnostic,) = answered(text).diagnostics
    assert diagnostic.code == codes.TOO_DEEP
    assert diagnostic.help


@pytest.mark.parametrize("depth", [1, 50, 90])
def test_what_people_write_is_not_too_deep(depth: int) -> None:
    program(f"SELECT {'(' * depth}1{')' * depth}")
    program(f"SELECT {'a + ' * depth}a")
    program(f"SELECT {'- ' * depth}a")
    program(f"SELECT 1{' UNION ALL SELECT 1' * depth}")


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT {'a, ' * HUGE}a FROM s",
        f"SELECT a IN ({'1, ' * HUGE}1) FROM s",
        f"SELECT {'a OR ' * HUGE}a FROM s",
        f"CREATE STREAM s ({'a INT, ' * HUGE}b INT)",
        f"SELECT '{'x' * (MAX_TEXT - 100)}' FROM s",
        f"SELECT {'x' * (MAX_TEXT - 100)} FROM s",
        f"SELECT {'9' * (MAX_TEXT - 100)} FROM s",
        f"SELECT 1e{'9' * 5000} FROM s",
        f"SELECT a FROM s [RANGE {'9' * 5000} SECONDS SLIDE 0.{'0' * 5000}1 SECONDS]",
        f"SELECT a FROM s LIMIT {'9' * 5000}",
        "SELECT 1;" * 1000,
        ";" * HUGE,
        "/**/" * HUGE,
        "--\n" * HUGE,
    ],
    ids=lambda text: text[:24],
)
def test_wide_texts_are_read(text: str) -> None:
    assert not answered(text).diagnostics


@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "SELECT \0 FROM s",
        "\ufeffSELECT 1",
        "SELECT\u00a01",
        "SELECT\u3000a\u2028FROM\u2029s",
        "SELECT \U0001f600",
        "SELECT '\U0001f600', \"\U0001f600\"",
        "SELECT \ud800",
        "SELECT '\udfff'",
        "SELECT \u0661\u0662",
        "SELECT a\u0301, \u0301a",
        "SELECT \u202ea FROM s",
        "\u017fELECT 1",
        "SELECT \u0131 FROM s",
        "SELECT ß FROM straße",
        "\r\nSELECT 1;\r\n",
        "SELECT 1;\x1a",
        "'" * 9999,
        '"' * 9999,
        "`" * 9999,
        "/*" * 9999,
        "*/" * 9999,
        "-" * 9999,
        "\\" * 9999,
        "{}" * 999,
        "SELECT 'a\nb'",
    ],
    ids=ascii,
)
def test_odd_texts_are_answered(text: str) -> None:
    answered(text)


def test_ten_megabytes_are_refused_unread() -> None:
    for text in ("x" * 10_000_000, "SELECT 1;" * 1_200_000, "(" * 10_000_000, "\0" * 10_000_000):
        (diagnostic,) = parse(Source(text)).diagnostics
        assert diagnostic.code == codes.TOO_LONG


def test_garbage_is_answered() -> None:
    generator = random.Random(3)
    letters = [chr(code) for code in range(0x250)] + list("()[];,'\"`\n")
    for _ in range(20):
        answered("".join(generator.choices(letters, k=2_000)))
    words = ["SELECT", "FROM", "a", "(", ")", "[", "]", ",", ";", "5", "'x'", "=", "AND", "NOT"]
    for _ in range(20):
        answered(" ".join(generator.choices(words, k=2_000)))


def test_a_mistake_in_a_long_statement_is_found() -> None:
    for text in (f"SELCT {'a, ' * HUGE}a FROM s", f"SELECT {'a, ' * HUGE}a FORM s"):
        (diagnostic,) = answered(text).diagnostics
        assert diagnostic.code == codes.UNEXPECTED
