"""A statement that could not be read, as the rules about mistakes see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cqlc.source import Span
from cqlc.syntax.builder.rules import RefusedError
from cqlc.syntax.reader import Stuck, read
from cqlc.syntax.scanner import Token

_MAX_TRIAL = 2_000
"""Longer statements are not read again to try a repair."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The tokens of a statement, and what could stand where reading stopped.

    `index` is the token that does not fit, or the number of tokens if the statement ends too
    early; `text` is the whole program, `end` the place of the statement's
    end, and `unclosed` a bracket still open there.
    """

    tokens: Sequence[Token]
    index: int
    accepts: frozenset[str]
    rule: str
    text: str
    end: Span
    unclosed: Token | None

    def word(self, index: int) -> str:
        """The text of a token in capitals; empty outside of the statement."""
        return self.tokens[index].text.upper() if 0 <= index < len(self.tokens) else ""

    def kind(self, index: int) -> str:
        """WORD, QUOTED, NUMBER, STRING or a symbol; empty outside of the statement."""
        return self.tokens[index].type if 0 <= index < len(self.tokens) else ""

    def follows(self, index: int, *words: str) -> bool:
        """Whether the tokens from `index` on have these texts."""
        return all(self.word(index + i) == word for i, word in enumerate(words))

    def near(self, *words: str, back: int = 1) -> int | None:
        """Where these words stand at the place of the failure, or up to `back` tokens before."""
        places = range(self.index, self.index - back - 1, -1)
        return next((i for i in places if i >= 0 and self.follows(i, *words)), None)

    def span(self, first: int, last: int | None = None) -> Span:
        """The place of a token, or of the tokens from `first` to `last`; the end beyond them."""
        if first >= len(self.tokens):
            return self.end
        last = first if last is None else min(last, len(self.tokens) - 1)
        return Span(self.tokens[first].start, self.tokens[last].end)

    def fits(self, tokens: Sequence[Token]) -> bool:
        """Whether the statement could be read if it had these tokens."""
        if len(tokens) > _MAX_TRIAL:
            return False
        try:
            return not isinstance(read(tokens, self.rule), Stuck)
        except RefusedError:
            return False

    def token(self, text: str, index: int) -> Token:
        """A token that does not stand in the text, for a trial at the place of another one."""
        place = self.span(index)
        kind = "WORD" if text[0].isalpha() else "QUOTED" if text[0] == '"' else text
        return Token(kind, text, place.start, place.end)
