"""Random and mutated programs: always a tree or a mistake, and formatting keeps its promises.

`CQLC_FUZZ=20000 pytest tests/syntax/test_fuzz.py` runs so many mutated programs; the suite runs
some thousand.
"""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cqlc.diagnostics import Diagnostic
from cqlc.source import Source
from cqlc.syntax.parser import parse
from cqlc.syntax.printer import format_program
from cqlc.syntax.scanner import scan
from cqlc.syntax.tables import tables
from tests.syntax.texts import examples, statements

COUNT = int(os.environ.get("CQLC_FUZZ", "2400"))
BATCHES = 12
EXTRA = [
    "x",
    '"q q"',
    "'s'",
    "5",
    "1.5",
    "1e3",
    ";",
    "MIN",
    "SECONDS",
    "-- c\n",
    "/* d */",
    "# e\n",
]


def check(text: str) -> bool:
    """Reads a text, and formats it if it has no mistakes; says whether it had none."""
    source = Source(text)
    parsed = parse(source)
    for diagnostic in parsed.diagnostics:
        _check_diagnostic(diagnostic, text)
    if parsed.diagnostics:
        return False
    formatted = format_program(source)
    again = parse(Source(formatted))
    assert not again.diagnostics, formatted
    assert again.program == parsed.program, formatted
    assert format_program(Source(formatted)) == formatted
    assert _comments(formatted) == _comments(text)
    return True


def _check_diagnostic(diagnostic: Diagnostic, text: str) -> None:
    spans = [diagnostic.primary.span, *(label.span for label in diagnostic.related)]
    if diagnostic.fix:
        spans.append(diagnostic.fix.span)
        span, replacement = diagnostic.fix.span, diagnostic.fix.replacement
        parse(Source(text[: span.start] + replacement + text[span.end :]))
    assert all(0 <= span.start <= span.end <= len(text) for span in spans)
    assert diagnostic.message


def _comments(text: str) -> Counter[str]:
    return Counter(comment.text for comment in scan(text).comments)


def _token_lists() -> list[list[str]]:
    """The tokens of all statements at hand."""
    texts = [path.read_text(encoding="utf-8") for path in examples()] + statements()
    return [
        [token.text for token in chunk.tokens]
        for text in texts
        for chunk in scan(text).chunks
        if not chunk.command
    ]


def _mutated(tokens: list[str], others: list[list[str]], generator: random.Random) -> list[str]:
    """A statement with a few tokens dropped, doubled, swapped, replaced or misspelt."""
    tokens = [*tokens]
    for _ in range(generator.choice((0, 1, 1, 1, 2, 3, 6))):
        place = generator.randrange(len(tokens)) if tokens else 0
        other = generator.choice(others)
        cut = generator.randrange(len(other))
        match generator.randrange(8) if tokens else 0:
            case 0:
                tokens.insert(place, generator.choice([*tables().keywords, *tables().symbols]))
            case 1:
                tokens.pop(place)
            case 2:
                tokens[place] = generator.choice(other)
            case 3:
                tokens[place], tokens[-1] = tokens[-1], tokens[place]
            case 4:
                tokens[place:place] = tokens[place : place + generator.randrange(10)]
            case 5:
                tokens[place:place] = other[cut : cut + generator.randrange(8)]
            case 6:
                tokens.insert(place, generator.choice(EXTRA))
            case _:
                letters = [*tokens[place]]
                letters[generator.randrange(len(letters))] = chr(generator.randrange(0x3000))
                tokens[place] = "".join(letters)
    return tokens


@pytest.mark.parametrize("batch", range(BATCHES))
def test_mutated_programs(batch: int) -> None:
    generator = random.Random(batch)
    lists = _token_lists()
    clean = 0
    for _ in range(COUNT // BATCHES):
        program = [
            " ".join(_mutated(generator.choice(lists), lists, generator))
            + generator.choice((";", ";\n", " ;\n\n"))
            for _ in range(generator.choice((1, 1, 2, 3)))
        ]
        clean += check("".join(program))
    assert clean > 0


@settings(max_examples=COUNT // 12, deadline=None, derandomize=True, database=None)
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    check(text)


@settings(max_examples=COUNT // 12, deadline=None, derandomize=True, database=None)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(sorted([*tables().keywords, *tables().symbols, *EXTRA, "a", "s", "S"])),
            st.text(max_size=5),
            st.integers().map(str),
            st.floats(allow_nan=False).map(str),
        ),
        max_size=40,
    )
)
def test_any_tokens(tokens: list[str]) -> None:
    check(" ".join(tokens))


@st.composite
def _expressions(draw: st.DrawFn, depth: int = 4) -> str:
    """Expressions that follow the grammar, with parentheses where none are needed too."""
    atoms = ("a", "b.c", "5", "'x'", "NULL", "f()", "COUNT(*)", "5 MINUTES", "(SELECT 1)", "end")
    if depth == 0:
        return draw(st.sampled_from(atoms))
    inner = _expressions(depth - 1)
    forms = (
        *("({0})", "(- {0})", "(({0}) + ({1}))", "({0}) - ({1})", "({0}) * ({1})", "f({0}, {1})"),
        *("(NOT ({0}))", "({0}) AND ({1})", "({0}) OR ({1})", "({0}) = ({1})", "({0})::INT"),
        *("({0}) IS NULL", "({0}) BETWEEN ({1}) AND ({0})", "({0}) IN ({1}, {0})", "({0})[{1}]"),
        *("CASE WHEN {0} THEN {1} END", "({0}) || ({1})", "({0}) NOT LIKE ({1})", "- ({0})"),
        *(
            "({0}) > ALL (SELECT {1})",
            "EXISTS (SELECT {0} WHERE {1})",
            "SUM({0}) OVER (ORDER BY {1})",
        ),
    )
    return draw(st.sampled_from(forms)).format(draw(inner), draw(inner))


@settings(max_examples=COUNT // 12, deadline=None, derandomize=True, database=None)
@given(_expressions())
def test_expressions_keep_their_meaning(text: str) -> None:
    assert check(f"SELECT {text} AS x FROM s WHERE {text};")
