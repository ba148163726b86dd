"""Program texts and places in them."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of character offsets in one source text."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The smallest span that covers this one and `other`."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(-1, -1)
"""The span of what was made by the compiler rather than written by a person."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place as people count it: both numbers start at 1."""

    line: int
    column: int


@dataclass(frozen=True)
class Source:
    """A program text with the name it goes by in messages."""

    text: str
    name: str = "<text>"

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        starts += [i + 1 for i, char in enumerate(self.text) if char == "\n"]
        return starts

    def position(self, offset: int) -> Position:
        """Line and column of a character offset."""
        offset = max(0, min(offset, len(self.text)))
        line = bisect_right(self._starts, offset)
        return Position(line, offset - self._starts[line - 1] + 1)

    def line(self, number: int) -> str:
        """The text of line `number`, without its end."""
        end = self._starts[number] - 1 if number < len(self._starts) else len(self.text)
        return self.text[self._starts[number - 1] : end].rstrip("\r")

    def slice(self, span: Span) -> str:
        """The text a span covers; empty for `NOWHERE`."""
        return self.text[span.start : span.end] if span.start >= 0 else ""
