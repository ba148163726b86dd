"""The parse tables Lark makes of the grammar, and runs of them: the one place that knows Lark."""
# pyright: basic

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from lark import Lark, UnexpectedToken, __version__
from lark.lexer import Lexer

from cqlc.source import Span
from cqlc.syntax.builder import actions
from cqlc.syntax.builder.rules import SPELLED
from cqlc.syntax.scanner import Token

_CARRY_TEXT = frozenset(("NAME", "NUMBER", "STRING", "UNIT", "GENERIC"))


class UnexpectedError(Exception):
    """A token that cannot stand where it stands."""


class Run:
    """One parse: a stack of half-built pieces and the tokens that may come next."""

    def __init__(self, lark: Lark, start: str) -> None:
        # Lark wants tokens of its own class, and uses no more of them than their type.
        self._parser: Any = lark.parse_interactive(start=start)

    @property
    def choices(self) -> Collection[str]:
        """The terminals that may come next; a few may turn out not to fit."""
        return self._parser.choices()

    def accepts(self) -> frozenset[str]:
        """Exactly the terminals that may come next; slow, for messages."""
        return frozenset(self._parser.accepts())

    def feed(self, token: Token) -> None:
        """Takes the next token."""
        try:
            self._parser.feed_token(token)
        except UnexpectedToken:
            raise UnexpectedError from None

    def finish(self) -> Any:
        """The node built from all tokens."""
        try:
            return self._parser.feed_token(Token("$END", "", -1, -1)).value
        except UnexpectedToken:
            raise UnexpectedError from None


class Tables:
    """The tables of the whole grammar and the spellings of its terminals."""

    def __init__(self, lark: Lark) -> None:
        self._lark = lark
        names = {terminal.pattern.value: terminal.name for terminal in lark.terminals}
        self.keywords: Mapping[str, str] = {s: n for s, n in names.items() if s[0].isalpha()}
        self.symbols: Mapping[str, str] = {s: n for s, n in names.items() if not s[0].isalpha()}
        self.spellings: Mapping[str, str] = {name: spelling for spelling, name in names.items()}

    def run(self, start: str) -> Run:
        """A parse that begins with the rule `start`."""
        return Run(self._lark, start)


@cache
def tables() -> Tables:
    """The tables, made once per process, and once per user as long as the grammar stays."""
    return Tables(
        Lark(
            files("cqlc.syntax").joinpath("cql.lark").read_text(encoding="utf-8"),
            parser="lalr",
            lexer=_NoLexer,
            start=["statement", "expression", "type_name"],
            keep_all_tokens=True,
            maybe_placeholders=True,
            transformer=SimpleNamespace(**{n: _action(f) for n, f in actions().items()}),
            cache=_cache_file() or False,
        )
    )


class _NoLexer(Lexer):
    """Stands where Lark wants a lexer; tokens come from the scanner."""

    __future_interface__ = 2

    def __init__(self, lexer_conf: Any) -> None:
        pass

    def lex(self, lexer_state: Any, parser_state: Any) -> Any:
        return iter(())


class _Piece:
    """A built value with the place of its text."""

    __slots__ = ("end", "start", "value")

    def __init__(self, value: Any, start: int, end: int) -> None:
        self.value = value
        self.start = start
        self.end = end


def _action(function: Callable[..., Any]) -> Callable[[list[Any]], _Piece]:
    """A builder function as Lark calls it: on children, some of which only spell the rule."""
    keep = function in SPELLED

    def reduce(children: list[Any]) -> _Piece:
        start = next(child.start for child in children if child is not None)
        end = next(child.end for child in reversed(children) if child is not None)
        values = [
            child.value if type(child) is _Piece else child
            for child in children
            if keep or type(child) is not Token or child.type in _CARRY_TEXT
        ]
        return _Piece(function(Span(start, end), *values), start, end)

    return reduce


def _cache_file() -> str | None:
    """Where the tables of this grammar are kept; None where nothing can be kept.

    Making the tables takes half a second. Lark checks by a digest that a file fits the grammar; the
    file is a pickle, so nobody else may be able to write it.
    """
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cqlc"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):
        return None
    if os.name == "posix" and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return str(folder / f"grammar-lark-{__version__}.pickle")
