"""Says what is wrong where reading stopped, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Diagnostic, Fix, Label
from cqlc.source import Span
from cqlc.suggest import edit_distance
from cqlc.syntax.expected import OPERATORS, expected
from cqlc.syntax.failure import Failure
from cqlc.syntax.habits import HABITS
from cqlc.syntax.reader import Stuck
from cqlc.syntax.scanner import CLOSING, Chunk, Token, shown
from cqlc.syntax.tables import tables
from cqlc.syntax.words import RESERVED, UNITS

_STARTS = frozenset(("CREATE", "REGISTER", "INSERT", "SELECT"))
_MAX_KEYWORDS = 6
_COMPARISONS = frozenset(("=", "==", "<>", "!=", "<", "<=", ">", ">="))
_STREAM_OPERATORS = ("ISTREAM", "DSTREAM", "RSTREAM", "WSTREAM")
_NEED_LENGTH = {"RANGE": "5 MINUTES", "WINDOW": "5 MINUTES", "ROWS": "10", "SESSION": "5 MINUTES"}


def explain(stuck: Stuck, chunk: Chunk, text: str) -> Diagnostic:
    """What is wrong with a statement that cannot be read."""
    failure = _failure(stuck, chunk, text)
    for rule in RULES:
        if diagnostic := rule(failure):
            return diagnostic
    return _unexpected(failure)


def missing_semicolon(stuck: Stuck) -> Diagnostic | None:
    """The mistake of a statement that is complete where another one begins."""
    if not 0 < stuck.index < len(stuck.tokens):
        return None
    token, previous = stuck.tokens[stuck.index], stuck.tokens[stuck.index - 1]
    begins = token.text.upper() in _STARTS or (
        stuck.index + 1 < len(stuck.tokens)
        and token.text.upper() in _STREAM_OPERATORS
        and stuck.tokens[stuck.index + 1].text == "("
    )
    if not begins or "$END" not in stuck.accepts():
        return None
    place = Span(previous.end, previous.end)
    return Diagnostic(
        codes.MISSING_SEMICOLON,
        f"a new statement begins with {shown(token.text)} before the last one is ended",
        Label(token.span, "begins here"),
        help="end the statement before with `;`",
        fix=Fix("insert `;`", place, ";"),
    )


def _failure(stuck: Stuck, chunk: Chunk, text: str) -> Failure:
    return Failure(
        tokens=stuck.tokens,
        index=stuck.index,
        accepts=stuck.accepts(),
        rule=stuck.rule,
        text=text,
        end=Span(chunk.end - 1, chunk.end) if chunk.ended else Span(chunk.end, chunk.end),
        unclosed=chunk.unclosed,
    )


def number_runs_on(tokens: Sequence[Token]) -> Diagnostic | None:
    """`5abc`: a number and a word that is no unit, without space between them."""
    for number, word in pairwise(tokens):
        if number.type == "NUMBER" and word.type == "WORD" and number.end == word.start:
            text = number.text + word.text
            if word.text.upper() not in UNITS:
                return Diagnostic(
                    codes.NUMBER_RUNS_ON,
                    f"{shown(text)} is neither a number nor a name",
                    Label(Span(number.start, word.end), "a number that runs into a word"),
                    help=f'names begin with a letter; others are quoted: "{text[:20]}"',
                )
    return None


def _no_length(failure: Failure) -> Diagnostic | None:
    word = failure.word(failure.index - 1)
    if failure.word(failure.index) != "]" or word not in _NEED_LENGTH:
        return None
    return Diagnostic(
        codes.NO_LENGTH,
        f"{word} needs a length",
        Label(failure.span(failure.index - 1), "how long?"),
        help=f"write [{word} {_NEED_LENGTH[word]}]; all rows are [UNBOUNDED]",
    )


def _partitioned_range(failure: Failure) -> Diagnostic | None:
    """`[PARTITION BY x RANGE 5 MINUTES]`."""
    if failure.word(failure.index) != "RANGE" or not failure.accepts >= {"ROWS", "SESSION"}:
        return None
    if "NOW" in failure.accepts:
        return None
    return Diagnostic(
        codes.PARTITIONED_RANGE,
        "a partitioned window counts the rows of each partition",
        Label(failure.span(failure.index), "ROWS or SESSION is expected here"),
        help="write [RANGE 5 MINUTES] and GROUP BY, or [PARTITION BY x ROWS 10 RANGE 5 MINUTES]",
    )


def _operator_parentheses(failure: Failure) -> Diagnostic | None:
    """`ISTREAM SELECT ...` and `SELECT ISTREAM a, b FROM ...`."""
    index = failure.index
    word = failure.word(index - 1)
    if failure.word(index) in _STREAM_OPERATORS and failure.word(index - 1) in (
        "FROM",
        "JOIN",
        ",",
    ):
        return _operator_in_from(failure)
    if word not in _STREAM_OPERATORS or failure.word(index) in ("(", ""):
        return None
    return Diagnostic(
        codes.OPERATOR_PARENTHESES,
        f"{word} stands before parentheses",
        Label(failure.span(index - 1), f"`(` is expected behind {word}"),
        help=f"write {word}(SELECT ...) or SELECT {word}(a, b) FROM ...",
        fix=_parentheses_fix(failure),
    )


def _operator_in_from(failure: Failure) -> Diagnostic:
    word = failure.word(failure.index)
    return Diagnostic(
        codes.OPERATOR_PARENTHESES,
        "a query in FROM stands in parentheses of its own",
        Label(failure.span(failure.index), "a query begins here"),
        help=f"write FROM ({word}(SELECT ...)) [RANGE 5 MINUTES] AS x",
    )


def _parentheses_fix(failure: Failure) -> Fix | None:
    """Encloses the query, or the select list up to FROM, if it can be read then."""
    index, last = failure.index, len(failure.tokens) - 1
    if failure.word(index) != "SELECT":
        words = [failure.word(i) for i in range(index, len(failure.tokens))]
        last = index + words.index("FROM") - 1 if "FROM" in words else last
    opening, closing = failure.token("(", index), failure.token(")", last)
    tokens = failure.tokens
    if not failure.fits(
        [*tokens[:index], opening, *tokens[index : last + 1], closing, *tokens[last + 1 :]]
    ):
        return None
    text = "(" + failure.text[failure.span(index).start : failure.span(last).end] + ")"
    return Fix("add the parentheses", failure.span(index, last), text)


def _extra_comma(failure: Failure) -> Diagnostic | None:
    comma = failure.index - 1
    if failure.word(comma) != ",":
        return None
    rest = [*failure.tokens[:comma], *failure.tokens[failure.index :]]
    if not failure.fits(rest):
        return None
    return Diagnostic(
        codes.EXTRA_COMMA,
        "nothing follows this comma",
        Label(failure.span(comma), "one comma too many"),
        help="remove it, or add what is missing",
        fix=Fix("remove the comma", failure.span(comma), ""),
    )


def _unclosed_bracket(failure: Failure) -> Diagnostic | None:
    opening = failure.unclosed
    if opening is None:
        return None
    closing = CLOSING[opening.text]
    index = failure.index
    fix = None
    if failure.fits(
        [*failure.tokens[:index], failure.token(closing, index), *failure.tokens[index:]]
    ):
        place = failure.tokens[index - 1].end
        fix = Fix(f"insert `{closing}`", Span(place, place), closing)
    return Diagnostic(
        codes.UNCLOSED_BRACKET,
        f"this `{opening.text}` is not closed",
        Label(opening.span, "opened here"),
        related=(Label(failure.span(index), f"reading stopped here; `{closing}` is missing"),),
        help=f"add the missing `{closing}`",
        fix=fix,
    )


def _misspelled(failure: Failure) -> Diagnostic | None:
    """A word that makes the statement readable if a keyword stands in its place."""
    found: list[tuple[int, int, str]] = []
    for index in range(max(0, failure.index - 2), min(failure.index + 1, len(failure.tokens))):
        if failure.kind(index) == "WORD":
            found += _keywords_near(failure, index)
    for distance, index, keyword in sorted(found, key=lambda f: (f[0], -f[1], f[2])):
        tokens = [*failure.tokens]
        tokens[index] = failure.token(keyword, index)
        if failure.fits(tokens):
            word = failure.tokens[index].text
            return Diagnostic(
                codes.MISSPELLED,
                f"{shown(word)} is not a keyword; {keyword} is",
                Label(failure.span(index), f"did you mean {keyword}?"),
                help=f"write {keyword}",
                fix=Fix(f"write {keyword}", failure.span(index), keyword) if distance else None,
            )
    return None


def _keywords_near(failure: Failure, index: int) -> list[tuple[int, int, str]]:
    word = failure.word(index)
    limit = 1 if len(word) < 5 else 2
    if not 2 <= len(word) <= 20 or word in tables().keywords:
        return []
    distances = ((edit_distance(word, k, limit), k) for k in tables().keywords if k != word)
    return [(distance, index, keyword) for distance, keyword in distances if distance]


def _reserved_word(failure: Failure) -> Diagnostic | None:
    index = failure.index
    word = failure.word(index)
    if word not in tables().keywords or "NAME" not in failure.accepts:
        return None
    if failure.word(index + 1) == "(":
        return None
    quoted = f'"{failure.tokens[index].text}"'
    tokens = [*failure.tokens]
    tokens[index] = failure.token(quoted, index)
    if not failure.fits(tokens):
        return None
    return Diagnostic(
        codes.RESERVED_WORD,
        f"{word} is a reserved word" if word in RESERVED else f"{word} is a keyword here",
        Label(failure.span(index), "a name is expected here"),
        help=f"quote it to use it as a name: {quoted}",
        fix=Fix("quote the name", failure.span(index), quoted),
    )


def _missing_comma(failure: Failure) -> Diagnostic | None:
    index = failure.index
    if failure.word(index) == "(" and failure.kind(index - 1) == "WORD":
        # The word before may be the name of a function.
        index -= 1
    if not 0 < index < len(failure.tokens) or not _fits_with_comma(failure, index):
        return None
    place = Span(failure.tokens[index - 1].end, failure.tokens[index - 1].end)
    # In `a b c` the comma may be missing after `a` or after `b`.
    declares = failure.word(0) in ("CREATE", "REGISTER")
    certain = declares or (failure.kind(index - 2), failure.kind(index - 1)) != ("WORD", "WORD")
    return Diagnostic(
        codes.MISSING_COMMA,
        f"a comma is missing before {shown(failure.tokens[index].text)}",
        Label(failure.span(index), "a new item begins here"),
        help="put a comma between the items",
        fix=Fix("insert a comma", place, ",") if certain else None,
    )


def _fits_with_comma(failure: Failure, index: int) -> bool:
    comma = failure.token(",", index)
    return failure.fits([*failure.tokens[:index], comma, *failure.tokens[index:]])


def _chained_comparison(failure: Failure) -> Diagnostic | None:
    if failure.word(failure.index) not in _COMPARISONS or "AND" not in failure.accepts:
        return None
    return Diagnostic(
        codes.CHAINED_COMPARISON,
        "a comparison has two sides",
        Label(failure.span(failure.index), "a second comparison"),
        help="write 1 < x AND x < 10, or x BETWEEN 1 AND 10; put truth values in parentheses",
    )


def _unexpected(failure: Failure) -> Diagnostic:
    index = failure.index
    at_end = index >= len(failure.tokens)
    return Diagnostic(
        codes.UNEXPECTED,
        "the text ends too early"
        if at_end
        else f"{shown(failure.tokens[index].text)} does not fit here",
        Label(failure.span(index), "something is missing here" if at_end else "unexpected here"),
        help=f"expected here: {expected(failure.accepts)}",
        fix=_missing_keyword(failure),
    )


def _missing_keyword(failure: Failure) -> Fix | None:
    """The one keyword with which the statement can be read."""
    index = failure.index
    keywords = failure.accepts & tables().keywords.keys() - OPERATORS
    if index == 0 or len(keywords) > _MAX_KEYWORDS:
        return None
    fitting = [
        keyword
        for keyword in keywords
        if failure.fits(
            [*failure.tokens[:index], failure.token(keyword, index), *failure.tokens[index:]]
        )
    ]
    if len(fitting) != 1:
        return None
    place = failure.tokens[index - 1].end
    return Fix(f"insert {fitting[0]}", Span(place, place), f" {fitting[0]}")


def _bare_window(failure: Failure) -> Diagnostic | None:
    """`ISTREAM(S [RANGE 5])`: a bare name is a query, but takes no window."""
    name = failure.index - 1
    if failure.word(failure.index) != "[" or "UNION" not in failure.accepts:
        return None
    if failure.kind(name) not in ("WORD", "QUOTED"):
        return None
    select = [failure.token(text, name) for text in ("SELECT", "*", "FROM")]
    fits = failure.fits([*failure.tokens[:name], *select, *failure.tokens[name:]])
    place = Span(failure.span(name).start, failure.span(name).start)
    return Diagnostic(
        codes.BARE_WINDOW,
        "a window stands behind a stream in FROM",
        Label(failure.span(failure.index), "no window here"),
        help=f"write SELECT * FROM {failure.tokens[name].text} [...]",
        fix=Fix("write a SELECT", place, "SELECT * FROM ") if fits else None,
    )


def _misplaced_every(failure: Failure) -> Diagnostic | None:
    place = failure.near("EVERY")
    if place is None:
        return None
    return Diagnostic(
        codes.MISPLACED_EVERY,
        "EVERY belongs to RSTREAM and stands right behind its parentheses",
        Label(failure.span(place), "not here"),
        help="write SELECT RSTREAM(a, b) EVERY 5 SECONDS FROM ... or RSTREAM(SELECT ...) EVERY ...",
    )


RULES = (
    *HABITS,
    _no_length,
    _partitioned_range,
    _misplaced_every,
    _bare_window,
    _operator_parentheses,
    _extra_comma,
    _unclosed_bracket,
    _misspelled,
    _reserved_word,
    _missing_comma,
    _chained_comparison,
)
"""The known mistakes; the first one that fits is reported."""
