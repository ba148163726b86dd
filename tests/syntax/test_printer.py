"""Formatting: the same tree again, the same text again, and every comment."""

from __future__ import annotations

import random
from collections import Counter
from itertools import cycle
from pathlib import Path

import pytest

from cqlc.diagnostics import CompileError
from cqlc.source import Source
from cqlc.syntax import ast
from cqlc.syntax.parser import parse
from cqlc.syntax.printer import expression_text, format_program, query_text, statement_text
from cqlc.syntax.scanner import scan
from tests.syntax.texts import examples, oracle, program, query, select, statement, statements

WIDTH = 100


def comments(text: str) -> Counter[str]:
    return Counter(comment.text for comment in scan(text).comments)


def check(text: str) -> str:
    """Formats a text and insists on all that formatting promises."""
    formatted = format_program(Source(text))
    assert program(formatted) == program(text), formatted
    assert format_program(Source(formatted)) == formatted
    assert comments(formatted) == comments(text)
    return formatted


@pytest.mark.parametrize("text", statements())
def test_every_construct(text: str) -> None:
    formatted = check(f"{text};")
    assert formatted.endswith(";\n")


@pytest.mark.parametrize("path", examples(), ids=lambda path: path.stem)
def test_examples(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    formatted = check(text)
    short = [line for line in formatted.split("\n") if not line.lstrip().startswith("--")]
    assert max(map(len, short)) <= WIDTH


def test_oracle_texts() -> None:
    cases = oracle()
    if not cases:
        pytest.skip("the oracle cases are not at hand")
    for _, case in cases:
        check(";".join([*case["declarations"], case["query"]]))


@pytest.mark.parametrize("text", statements())
def test_one_line_forms(text: str) -> None:
    node = statement(text)
    line = statement_text(node)
    assert "\n" not in line
    assert statement(line) == node


def test_pieces() -> None:
    body = query("select a from S [range 5 min] as X order by a")
    assert query_text(body) == "SELECT a FROM S [RANGE 5 MINUTES] AS X ORDER BY a"
    (item,) = select("SELECT (a+1)*2 FROM s").items
    assert expression_text(item.value) == "(a + 1) * 2"


def test_short_statements_stay_on_one_line() -> None:
    assert check("select   a,b from s\nwhere a=1 ;") == "SELECT a, b FROM s WHERE a = 1;\n"


def test_long_statements_are_broken_at_their_clauses() -> None:
    text = (
        "CREATE VIEW v AS SELECT ISTREAM(bids.auction, bids.price * 0.908 AS euro) FROM bids "
        "[RANGE 10 MINUTES SLIDE 1 MINUTE], auctions AS a LEFT JOIN person p ON a.seller = p.id "
        "AND p.city IN ('Aachen', 'Berlin') WHERE bids.auction = a.id AND bids.price > 100"
    )
    assert check(text) == (
        "CREATE VIEW v AS\n"
        "  SELECT ISTREAM(bids.auction, bids.price * 0.908 AS euro)\n"
        "  FROM\n"
        "    bids [RANGE 10 MINUTES SLIDE 1 MINUTE],\n"
        "    auctions AS a LEFT JOIN person AS p ON a.seller = p.id AND p.city IN "
        "('Aachen', 'Berlin')\n"
        "  WHERE bids.auction = a.id AND bids.price > 100;\n"
    )


def test_blank_lines_between_statements_become_one_or_none() -> None:
    assert check("SELECT 1;\n\n\n\nSELECT 2;\nSELECT 3; SELECT 4") == (
        "SELECT 1;\n\nSELECT 2;\nSELECT 3;\nSELECT 4;\n"
    )


def test_comments_stay_where_they_are() -> None:
    text = """\
-- about the program

-- about the stream
CREATE STREAM bids (
  auction BIGINT, -- which one
  -- in dollars
  price DOUBLE
)
  TIMESTAMP BY at -- event time
  -- where from
  FROM parquet; -- bound later

/* the
   query */
SELECT
  auction, # first
  price
FROM bids
WHERE
  price > 0 -- positive
  -- and small
  AND price < 10;
-- the end
"""
    assert check(text) == text


def test_only_comments_and_nothing() -> None:
    assert check("-- a\n\n/* b */ # c") == "-- a\n\n/* b */\n# c\n"
    assert check("") == ""
    assert check(" ;; ; ") == ""


def test_comments_at_every_place() -> None:
    kinds = cycle(("-- c\n", "/* c */", "# c\n", "\n-- c\n", "/* c\n d */"))
    for text in statements():
        tokens = [token.text for chunk in scan(text).chunks for token in chunk.tokens]
        for place in range(len(tokens) + 1):
            check(" ".join([*tokens[:place], next(kinds), *tokens[place:]]) + ";")


def test_many_comments_at_random_places() -> None:
    generator = random.Random(7)
    kinds = ("-- {}\n", "/* {} */", "# {}\n", "\n-- {}\n", "/* {}\n x */", "\n")
    texts = [path.read_text(encoding="utf-8") for path in examples()] or statements()
    for number in range(100):
        words: list[str] = []
        for chunk in scan(generator.choice(texts)).chunks:
            if chunk.command:
                continue
            for token in chunk.tokens:
                words.append(token.text)
                if generator.random() < 0.1:
                    words.append(generator.choice(kinds).format(number))
            words.append(generator.choice((";", ";\n", ";\n\n")))
        check(" ".join(words))


def test_a_text_with_mistakes_is_not_rewritten() -> None:
    with pytest.raises(CompileError):
        format_program(Source("SELECT 1; SELCT 2;"))


def test_signs_never_become_comments() -> None:
    for text in ("- -a", "-(-a)", "a - -b", "a - (-b)", "-(- -a)"):
        assert "--" not in check(f"SELECT {text} FROM s")


def test_deepest_trees_are_formatted() -> None:
    sums = " + ".join("a" for _ in range(90))
    nested = "SELECT a FROM s"
    for _ in range(30):
        nested = f"SELECT a FROM ({nested}) AS x"
    for text in (
        f"SELECT {sums}",
        nested,
        f"SELECT {'NOT ' * 90}a",
        f"SELECT {'(' * 99}a{')' * 99}",
    ):
        assert not parse(Source(text)).diagnostics
        check(f"{text};")
        check(f"{text} /* c */;")


def test_units_are_singular_after_one() -> None:
    assert check("SELECT a FROM s [RANGE 1 minutes SLIDE 30 sec]") == (
        "SELECT a FROM s [RANGE 1 MINUTE SLIDE 30 SECONDS];\n"
    )


def test_quotes_of_names_are_kept() -> None:
    text = 'SELECT "a b", `c"d`, e FROM "select"'
    assert check(text) == 'SELECT "a b", "c""d", e FROM "select";\n'
    assert select(text).items[0].value == ast.Reference(
        ast.QualifiedName((ast.Name("a b", quoted=True),))
    )
