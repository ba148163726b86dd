"""Windows written as functions, as Flink and Spark have them, and the windows of CQL they mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Diagnostic, Fix, Label
from cqlc.source import Span
from cqlc.syntax import ast
from cqlc.syntax.printer.expressions import duration
from cqlc.syntax.scanner import Token
from cqlc.syntax.walk import parts
from cqlc.syntax.words import UNITS

_FUNCTIONS = frozenset(("TUMBLE", "HOP", "CUMULATE", "SESSION", "WINDOW", "SESSION_WINDOW"))
_LENGTH = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*")


def length_at(tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
    """The duration that begins at a token, as CQL writes it, and the index behind it.

    Understood are INTERVAL '5' MINUTE, INTERVAL '5 minutes', INTERVAL 5 MINUTE, '5 minutes' and
    5 MINUTES.
    """
    following = [*tokens[index : index + 3]]
    words = 0
    if following and following[0].text.upper() == "INTERVAL":
        following.pop(0)
        words = 1
    if not following or following[0].type not in ("STRING", "NUMBER"):
        return None
    match = _LENGTH.fullmatch(following[0].text.strip("'"))
    if match is None:
        return None
    unit = match[2].upper()
    if not unit and len(following) > 1:
        unit, words = following[1].text.upper(), words + 1
    if unit not in UNITS:
        return None
    return duration(ast.Duration(match[1], UNITS[unit])), index + words + 1


def window_call(tokens: Sequence[Token], stop: int) -> Diagnostic | None:
    """What is to say about the first window function that begins at or before token `stop`."""
    for index in range(min(stop + 1, len(tokens) - 1)):
        if tokens[index].text.upper() in _FUNCTIONS and tokens[index + 1].text == "(":
            return _explain(tokens, index)
    return None


def window_function(
    node: ast.Node, tokens: Sequence[Token], declared: Collection[str]
) -> Diagnostic | None:
    """The same for a statement that follows the grammar: a call that is no declared function."""
    if _FUNCTIONS.isdisjoint(token.text.upper() for token in tokens):
        return None
    nodes = [node]
    while nodes:
        match node := nodes.pop():
            case ast.FunctionCall(ast.QualifiedName((ast.Name(name, False),))) if (
                name.upper() in _FUNCTIONS and name.lower() not in declared
            ):
                starts = [token.start for token in tokens]
                return _explain(tokens, starts.index(node.span.start))
            case _:
                nodes += parts(node)
    return None


def _explain(tokens: Sequence[Token], index: int) -> Diagnostic:
    function = tokens[index].text.upper()
    last = _closing(tokens, index + 1)
    inside = tokens[index : last + 1]
    window = _window(function, inside)
    table = _table(inside)
    source = table or _before(tokens[:index]) or "stream"
    help = f"write the window behind the stream: FROM {source} {window or '[...]'}"
    if function == "CUMULATE":
        help = "a window that only grows is [UNBOUNDED]; RSTREAM(...) EVERY d reports it regularly"
    fix = None
    if window and table and function in ("TUMBLE", "HOP"):
        first = index
        if (
            index > 1
            and tokens[index - 1].text == "("
            and tokens[index - 2].text.upper() == "TABLE"
        ):
            first, last = index - 2, last + 1
        if last < len(tokens):
            span = Span(tokens[first].start, tokens[last].end)
            fix = Fix("write the window behind the stream", span, f"{table} {window}")
    return Diagnostic(
        codes.WINDOW_FUNCTION,
        f"`{tokens[index].text}(...)` is no way to write a window in CQL",
        Label(tokens[index].span, "a window of another language"),
        help=help,
        fix=fix,
    )


def _closing(tokens: Sequence[Token], index: int) -> int:
    """The bracket that closes the one at `index`; the last token if there is none."""
    depth = 0
    for i in range(index, len(tokens)):
        depth += (tokens[i].text == "(") - (tokens[i].text == ")")
        if depth == 0:
            return i
    return len(tokens) - 1


def _window(function: str, tokens: Sequence[Token]) -> str:
    """The window of CQL; empty where the call does not say enough."""
    lengths: list[str] = []
    index = 0
    while index < len(tokens):
        if found := length_at(tokens, index):
            length, index = found
            lengths.append(length)
        else:
            index += 1
    match function, lengths:
        case ("TUMBLE" | "WINDOW", [size]):
            return f"[RANGE {size} SLIDE {size}]"
        case ("HOP", [slide, size]) | ("WINDOW", [size, slide]):
            return f"[RANGE {size} SLIDE {slide}]"
        case ("SESSION" | "SESSION_WINDOW", [gap]):
            return f"[PARTITION BY key SESSION {gap}]"
        case _:
            return ""


def _before(tokens: Sequence[Token]) -> str:
    """The table of the last FROM."""
    for index in range(len(tokens) - 2, -1, -1):
        if tokens[index].text.upper() == "FROM" and tokens[index + 1].type in ("WORD", "QUOTED"):
            return tokens[index + 1].text
    return ""


def _table(tokens: Sequence[Token]) -> str:
    """The table of `TUMBLE(TABLE bids, ...)`."""
    for index, token in enumerate(tokens[:-1]):
        if token.text.upper() == "TABLE" and tokens[index + 1].type in ("WORD", "QUOTED"):
            return tokens[index + 1].text
    return ""
