"""Documents that know where they may be broken into lines (after Wadler, A Prettier Printer)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from cqlc.source import Span

WIDTH = 100
INDENT = 2


@dataclass(frozen=True, slots=True)
class Line:
    """A place for a line break; written as `flat` where its group fits on one line."""

    flat: str


@dataclass(frozen=True, slots=True)
class Break:
    """A line break in any case."""


@dataclass(frozen=True, slots=True)
class Suffix:
    """A text that goes to the end of the line it is on, whatever else comes there."""

    text: str


@dataclass(frozen=True, slots=True)
class Nest:
    """A document whose lines are indented."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Group:
    """A document whose places for breaks are all broken or all flat."""

    doc: Doc


@dataclass(frozen=True, slots=True)
class Anchor:
    """The document of a piece of the text, to which comments may be attached.

    Comments stand on lines of their own before it, or, if a line can always end there, behind it.
    """

    span: Span
    doc: Doc
    ends_line: bool = True


Doc: TypeAlias = "str | Line | Break | Suffix | Nest | Group | Anchor | tuple[Doc, ...]"

LINE = Line(" ")
SOFT = Line("")
BREAK = Break()


def separated(docs: Iterable[Doc], separator: Doc = (",", LINE)) -> Doc:
    """The documents with a separator between them."""
    result: list[Doc] = []
    for doc in docs:
        if result:
            result.append(separator)
        result.append(doc)
    return tuple(result)


def enclosed(opening: str, doc: Doc, closing: str) -> Doc:
    """A document in brackets, on one line or indented between them."""
    return Group((opening, Nest((SOFT, doc)), SOFT, closing))


def hanging(head: str, doc: Doc) -> Doc:
    """A word and a document after it, or indented below it."""
    return Group((head, Nest((LINE, doc))))


def breaks(doc: Doc) -> bool:
    """Whether a document cannot be on one line."""
    match doc:
        case str():
            return "\n" in doc
        case Line():
            return False
        case Break() | Suffix():
            return True
        case Nest(inner) | Group(inner) | Anchor(_, inner, _):
            return breaks(inner)
        case tuple():
            return any(map(breaks, doc))


def render(doc: Doc, width: int = WIDTH) -> str:
    """The document as text, with as few line breaks as the width allows."""
    return _Renderer(width).run(doc)


class _Renderer:
    """The text so far, the column, and what waits for the end of the line."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.output: list[str] = []
        self.column = 0
        self.waiting: list[str] = []

    def run(self, doc: Doc) -> str:
        stack: list[tuple[int, bool, Doc]] = [(0, True, doc)]
        while stack:
            indent, broken, doc = stack.pop()
            match doc:
                case str():
                    self._write(doc)
                case Line(flat):
                    self._break(indent) if broken else self._write(flat)
                case Break():
                    self._break(indent)
                case Suffix(text):
                    self.waiting.append(text)
                case Nest(inner):
                    stack.append((indent + INDENT, broken, inner))
                case Anchor(_, inner, _):
                    stack.append((indent, broken, inner))
                case Group(inner):
                    flat = not breaks(inner) and self._fits(inner, stack)
                    stack.append((indent, not flat, inner))
                case tuple():
                    stack += [(indent, broken, part) for part in reversed(doc)]
        self._flush("\n")
        return "".join(self.output)

    def _write(self, text: str) -> None:
        self.output.append(text)
        self.column += len(text)

    def _flush(self, newline: str) -> None:
        """Writes the waiting comments; after a line comment only a new line can follow."""
        separator = " "
        for text in self.waiting:
            self.output.append(separator + text)
            separator = separator if text.startswith("/*") else newline
        self.waiting.clear()

    def _break(self, indent: int) -> None:
        newline = "\n" + " " * indent
        self._flush(newline)
        self.output.append(newline)
        self.column = indent

    def _fits(self, doc: Doc, rest: list[tuple[int, bool, Doc]]) -> bool:
        """Whether the document and what follows it up to the next break fit on this line."""
        room = self.width - self.column
        parts: list[tuple[bool, Doc]] = [(False, doc)]
        after = len(rest)
        while room >= 0:
            if not parts:
                if not after:
                    return True
                after -= 1
                _, broken, part = rest[after]
                parts.append((broken, part))
            broken, part = parts.pop()
            match part:
                case str():
                    room -= len(part)
                case Line(flat):
                    if broken:
                        return True
                    room -= len(flat)
                case Break():
                    return True
                case Suffix():
                    pass
                case Nest(inner) | Anchor(_, inner, _):
                    parts.append((broken, inner))
                case Group(inner):
                    parts.append((broken and breaks(inner), inner))
                case tuple():
                    parts += [(broken, inner) for inner in reversed(part)]
        return False
