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
    run: Run

    def accepts(self) -> frozenset[str]:
        """The spellings of the tokens that could stand here; NAME, NUMBER, ... for classes."""
        spellings = tables().spellings
        return frozenset(spellings.get(name, name) for name in self.run.accepts())


def read(tokens: Sequence[Token], rule: str = "statement") -> Any | Stuck:
    """The node that a rule makes of the tokens."""
    grammar = tables()
    run = grammar.run(rule)
    index = 0
    try:
        for index, token in enumerate(tokens):
            match token.type:
                case "WORD":
                    kind = terminal(tokens, index, run.choices, grammar.keywords)
                case "QUOTED":
                    kind = "NAME"
                case symbol:
                    kind = grammar.symbols.get(symbol, symbol)
            run.feed(Token(kind, token.text, token.start, token.end))
        index = len(tokens)
        return run.finish()
    except UnexpectedError:
        return Stuck(tokens, index, rule, run)
