"""Reads statements one by one and goes on after a mistake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Diagnostic, Label
from cqlc.source import Source
from cqlc.syntax import ast
from cqlc.syntax.builder.rules import RefusedError
from cqlc.syntax.foreign_windows import window_function
from cqlc.syntax.mistakes import explain, missing_semicolon, number_runs_on
from cqlc.syntax.reader import Stuck, read
from cqlc.syntax.scanner import Chunk, Token
from cqlc.syntax.script import Entry
from cqlc.syntax.walk import MAX_DEPTH, too_deep

_DECLARED = frozenset(
    ("STREAM", "RELATION", "NRR", "VIEW", "SINK", "FUNCTION", "TABLE", "CONSTRAINT")
)
_PATHS = ("source", "dest")


class Reading:
    """What has been read so far: statements, mistakes, and names that mistakes leave undeclared."""

    def __init__(self, source: Source, chunks: Sequence[Chunk]) -> None:
        self._text = source.text
        self.entries: list[Entry] = []
        self.problems: list[Diagnostic] = []
        self.broken: set[str] = set()
        self._functions = {_declares(c.tokens) for c in chunks if _mentions(c.tokens, "FUNCTION")}

    def add(self, chunk: Chunk) -> None:
        """Reads the next chunk: a statement, or several with semicolons missing between them."""
        if chunk.problems or chunk.command in _PATHS:
            self._fail(chunk.tokens, *chunk.problems)
            self.entries.append(Entry(chunk, None))
            return
        node, rest = self._statement(chunk, chunk.tokens)
        self.entries.append(Entry(chunk, node))
        while rest:
            node, rest = self._statement(chunk, rest)
            self.entries.append(Entry(Chunk(chunk.start), node))

    def one(self, chunks: Sequence[Chunk], rule: str) -> Any:
        """Reads a text that is a single piece of syntax; None after a mistake."""
        tokens = [token for chunk in chunks for token in chunk.tokens]
        problems = [problem for chunk in chunks for problem in chunk.problems]
        if problems:
            return self._fail((), *problems)
        whole = Chunk(0, len(self._text), tokens)
        node = self._read(tokens, rule)
        return self._fail((), explain(node, whole, self._text)) if isinstance(node, Stuck) else node

    def _statement(
        self, chunk: Chunk, tokens: Sequence[Token]
    ) -> tuple[ast.Statement | None, Sequence[Token]]:
        """The first statement, and the tokens of the next one where a semicolon is missing."""
        node = self._read(tokens, "statement")
        if not isinstance(node, Stuck):
            return node, ()
        if problem := missing_semicolon(node):
            self.problems.append(problem)
            first, _ = self._statement(chunk, tokens[: node.index])
            return first, tokens[node.index :]
        return self._fail(tokens, explain(node, chunk, self._text)), ()

    def _read(self, tokens: Sequence[Token], rule: str) -> Any:
        if problem := number_runs_on(tokens):
            return self._fail(tokens, problem)
        try:
            node = read(tokens, rule)
        except RefusedError as refused:
            return self._fail(tokens, refused.diagnostic)
        if isinstance(node, Stuck):
            return node
        if deep := too_deep(node):
            return self._fail(tokens, _too_deep(deep))
        if problem := window_function(node, tokens, self._functions):
            return self._fail(tokens, problem)
        return node

    def _fail(self, tokens: Sequence[Token], *problems: Diagnostic) -> None:
        self.problems += problems
        if problems and (name := _declares(tokens)):
            self.broken.add(name)


def _mentions(tokens: Sequence[Token], word: str) -> bool:
    return any(token.text.upper() == word for token in tokens[:3])


def _declares(tokens: Sequence[Token]) -> str:
    """The name, in lower case, that a statement of these tokens would declare."""
    for index, token in enumerate(tokens[:3]):
        if token.text.upper() in _DECLARED:
            name: list[str] = []
            for part in tokens[index + 1 :]:
                if part.type not in ("WORD", "QUOTED", "."):
                    break
                if part.type != "." and name and name[-1] != ".":
                    break
                name.append(part.text.strip('"`').lower())
            return "".join(name)
    return ""


def _too_deep(node: ast.Node) -> Diagnostic:
    return Diagnostic(
        codes.TOO_DEEP,
        f"this statement is nested more than {MAX_DEPTH} deep",
        Label(node.span, "one level too deep"),
        help="name inner queries with CREATE VIEW or WITH; a chain of `||` is CONCAT(...)",
    )
