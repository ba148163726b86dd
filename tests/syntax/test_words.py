"""Keywords are names wherever no keyword may stand; names may be nearly anything."""

from __future__ import annotations

import pytest

from cqlc.source import Source
from cqlc.syntax import ast
from cqlc.syntax.parser import parse
from cqlc.syntax.tables import tables
from cqlc.syntax.words import RESERVED, UNITS
from tests.syntax.texts import program, select

WORDS = sorted((tables().keywords.keys() | UNITS.keys()) - RESERVED)
# Functions of other languages, answered with the CQL way, and CAST, which has a form of its own.
CALLS = sorted({*WORDS} - {"CAST", "SESSION", "WINDOW"})
PLACES = """
CREATE STREAM s ({} INT, b INT)
CREATE STREAM s (b INT, {} INT NOT NULL)
CREATE STREAM {} (a INT)
CREATE RELATION r (a INT, KEY ({}))
CREATE STREAM s (a INT) TIMESTAMP BY {} SLACK 5 SECONDS
CREATE STREAM s (a INT) ORDERED BY {} WITHIN 5 ROWS
CREATE CONSTRAINT {} REFERENCES {} ({}) FROM {} ({}) WITHIN 5 ROWS
CREATE STREAM s (a STRUCT<{}: INT, x INT>)
CREATE SINK x TO {} OPTIONS ({} 'a', {}.b 'c')
CREATE VIEW {} AS SELECT 1
INSERT INTO {} SELECT 1
WITH {} AS (SELECT 1) SELECT 1
{} UNION {}
SELECT {} FROM s
SELECT a, {}, b FROM s
SELECT a AS {} FROM s
SELECT t.{}, {}.a, {}.* FROM s
SELECT ({}), ({} + 1), -{}, NOT {}, {}[0] FROM s
SELECT CAST({} AS INT), {}::INT FROM s
SELECT f({}, {}), SUM({}) FROM s
SELECT ISTREAM({}, a) FROM s
SELECT CASE {} WHEN {} THEN {} ELSE {} END FROM s
SELECT f() OVER (PARTITION BY {} ORDER BY {}) FROM s
SELECT a FROM {} [NOW], {} AS x
SELECT a FROM s [NOW] AS {}
SELECT a FROM s [PARTITION BY {} ROWS 1]
SELECT a FROM s JOIN t USING ({})
SELECT a FROM s WHERE {} = 1 AND {} > {} AND a + {} IS NULL AND a = {}
SELECT a FROM s WHERE {} IN ({}, {}) AND {} BETWEEN {} AND {}
SELECT a FROM s GROUP BY {} HAVING {} > 1 ORDER BY {} DESC
"""


@pytest.mark.parametrize("place", PLACES.strip().split("\n"))
def test_keywords_that_are_not_reserved_are_names(place: str) -> None:
    for word in WORDS:
        program(place.replace("{}", word.lower()))


def test_keywords_are_functions_too() -> None:
    for word in CALLS:
        (item,) = select(f"SELECT {word}(a) FROM s").items
        assert isinstance(item.value, ast.FunctionCall), word


def test_reserved_words_are_names_only_in_quotes() -> None:
    for word in RESERVED:
        assert parse(Source(f"SELECT a.{word}, {word} FROM s")).diagnostics, word
        assert program(f'SELECT "{word}", `{word}`, a."{word}" FROM "{word}" AS "{word}"')


@pytest.mark.parametrize("word", ["select", "SELECT", "Select", "sElEcT"])
def test_keywords_have_any_case(word: str) -> None:
    assert program(f"{word} a FROM s") == program("SELECT a FROM s")


@pytest.mark.parametrize("text", ["\u017felect", "\u0131n"])
def test_letters_that_capitals_hide_make_no_keyword(text: str) -> None:
    (item,) = select(f"SELECT {text} FROM s").items
    assert item.value == ast.Reference(ast.QualifiedName((ast.Name(text),)))


@pytest.mark.parametrize("text", ["a$b", "$x", "_time", "été", "名前", "a1", "Ω", "naïve_2"])
def test_names_of_letters_digits_and_signs(text: str) -> None:
    (item,) = select(f"SELECT {text} FROM s").items
    assert item.value == ast.Reference(ast.QualifiedName((ast.Name(text),)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('"a b"', "a b"),
        ('"a""b"', 'a"b'),
        ("`a``b`", "a`b"),
        ('"select"', "select"),
        ('""', ""),
        ('"a;b--c/*d"', "a;b--c/*d"),
    ],
)
def test_quoted_names(text: str, name: str) -> None:
    (item,) = select(f"SELECT {text} FROM s").items
    assert item.value == ast.Reference(ast.QualifiedName((ast.Name(name, quoted=True),)))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("timestamp", ast.Reference),
        ("timestamp '2020-01-01'", ast.Literal),
        ("date", ast.Reference),
        ("date '2020-01-01'", ast.Literal),
        ("5 min", ast.DurationLiteral),
        ("min", ast.Reference),
        ("min(a)", ast.FunctionCall),
        ("top", ast.Reference),
        ("top(a, 5)", ast.FunctionCall),
        ("extract", ast.Reference),
        ("(values)", ast.Reference),
        ("array", ast.Reference),
    ],
)
def test_words_mean_what_follows_says(text: str, kind: type) -> None:
    (item,) = select(f"SELECT {text} FROM s").items
    assert isinstance(item.value, kind)
