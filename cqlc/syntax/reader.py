"""Reads the tokens of one statement: a syntax tree, or the place where no tree can go on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cqlc.syntax.scanner import Token
from cqlc.syntax.tables import Run, UnexpectedError, tables
from cqlc.syntax.words import terminal


@dataclass(frozen=True, slots=True)
class Stuck:
    """Where reading stopped: `index` is the token that does not fit, or their number at the end.

    `rule` is the rule that was to be read.
    """

    tokens: Sequence[Token]
    index: int
    rule: str

    def accepts(self) -> frozenset[str]:
        """The spellings of the tokens that could stand here; NAME, NUMBER, ... for classes.

        The tokens before are read again: a token that does not fit may have led the parser astray
        before it was refused.
        """
        grammar = tables()
        run = grammar.run(self.rule)
        for index in range(self.index):
            _feed(run, self.tokens, index)
        return frozenset(grammar.spellings.get(name, name) for name in run.accepts())


def read(tokens: Sequence[Token], rule: str = "statement") -> Any | Stuck:
    """The node that a rule makes of the tokens."""
    run = tables().run(rule)
    index = 0
    try:
        for index in range(len(tokens)):
            _feed(run, tokens, index)
        index = len(tokens)
        return run.finish()
    except UnexpectedError:
        return Stuck(tokens, index, rule)


def _feed(run: Run, tokens: Sequence[Token], index: int) -> None:
    token = tokens[index]
    match token.type:
        case "WORD":
            kind = terminal(tokens, index, run.choices, tables().keywords)
        case "QUOTED":
            kind = "NAME"
        case symbol:
            kind = tables().symbols.get(symbol, symbol)
    run.feed(Token(kind, token.text, token.start, token.end))
