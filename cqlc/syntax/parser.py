"""From text to syntax tree: every statement that can be read, and every mistake in the others."""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Diagnostic, Label, in_order
from cqlc.source import Source, Span
from cqlc.syntax import ast
from cqlc.syntax.builder.rules import RefusedError
from cqlc.syntax.scanner import Chunk, scan, shown
from cqlc.syntax.words import terminal

MAX_TEXT = 1_000_000
"""Longer texts are refused: they are data, not programs."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The statements that could be read, and all that is wrong with the others."""

    program: ast.Program
    diagnostics: tuple[Diagnostic, ...]


def parse(source: Source) -> Parsed:
    """The syntax tree of a program; never raises."""
    statements: list[ast.Statement] = []
    problems: list[Diagnostic] = []
    for chunk in scan(source.text).chunks:
        problems += chunk.problems
        if not chunk.problems:
            statement = _statement(chunk, problems)
            if statement is not None:
                statements.append(statement)
    return Parsed(
        ast.Program(tuple(statements), span=Span(0, len(source.text))), in_order(problems)
    )


def _statement(chunk: Chunk, problems: list[Diagnostic]) -> ast.Statement | None:
    # Lark is imported when the first text is parsed, not when the compiler is imported.
    from cqlc.syntax.tables import UnexpectedError, tables

    grammar = tables()
    run = grammar.run("statement")
    token = None
    try:
        for index, token in enumerate(chunk.tokens):
            match token.type:
                case "WORD":
                    token.type = terminal(chunk.tokens, index, run.choices, grammar.keywords)
                case "QUOTED":
                    token.type = "NAME"
                case "NUMBER" | "STRING":
                    pass
                case symbol:
                    token.type = grammar.symbols.get(symbol, symbol)
            run.feed(token)
        token = None
        return run.finish()
    except RefusedError as refused:
        problems.append(refused.diagnostic)
    except UnexpectedError:
        place = token.span if token else Span(chunk.end, chunk.end)
        found = shown(token.text) if token else "the end of the statement"
        expected = ", ".join(sorted(grammar.spellings.get(t, t) for t in run.accepts()))
        problems.append(
            Diagnostic(
                codes.UNEXPECTED,
                f"{found} cannot stand here",
                Label(place, f"expected: {expected}"),
            )
        )
    return None
