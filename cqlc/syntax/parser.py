"""From text to syntax tree: every statement that can be read, and every mistake in the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cqlc.codes import syntax as codes
from cqlc.diagnostics import CompileError, Diagnostic, Label, in_order
from cqlc.source import Source, Span
from cqlc.syntax import ast
from cqlc.syntax.scanner import scan
from cqlc.syntax.script import combine

MAX_TEXT = 500_000
"""Longer texts are refused: they are data, not programs."""

MAX_PROBLEMS = 100
"""Reading stops after so many mistakes."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """The statements that could be read, and all that is wrong with the others.

    `broken` holds the names, in lower case, that the others would have declared.
    """

    program: ast.Program
    diagnostics: tuple[Diagnostic, ...]
    broken: frozenset[str] = frozenset()


def parse(source: Source) -> Parsed:
    """The syntax tree of a program; never raises."""
    # Lark is imported when a first text is parsed, not when the compiler is imported.
    from cqlc.syntax.reading import Reading

    whole = Span(0, len(source.text))
    if len(source.text) > MAX_TEXT:
        return Parsed(ast.Program((), span=whole), (_too_long(source),))
    chunks = scan(source.text).chunks
    reading = Reading(source, chunks)
    for chunk in chunks:
        if len(reading.problems) > MAX_PROBLEMS:
            break
        reading.add(chunk)
    statements = tuple(combine(reading.entries, reading.problems))
    return Parsed(
        ast.Program(statements, span=whole),
        _listed(in_order(reading.problems)),
        frozenset(reading.broken),
    )


def parse_expression(source: Source) -> ast.Expr:
    """The syntax tree of one expression, as catalog files hold them; raises `CompileError`."""
    return _parse_one(source, "expression")


def parse_type(source: Source) -> ast.TypeName:
    """The syntax tree of one type; raises `CompileError`."""
    return _parse_one(source, "type_name")


def _parse_one(source: Source, rule: str) -> Any:
    from cqlc.syntax.reading import Reading

    reading = Reading(source, ())
    if len(source.text) > MAX_TEXT:
        raise CompileError(source, [_too_long(source)])
    node = reading.one(scan(source.text).chunks, rule)
    if reading.problems:
        raise CompileError(source, reading.problems)
    return node


def _too_long(source: Source) -> Diagnostic:
    return Diagnostic(
        codes.TOO_LONG,
        f"the text has {len(source.text):,} characters; {MAX_TEXT:,} are read at most",
        Label(Span(0, 0), "starts here"),
        help="keep data in files and name them in FROM ... OPTIONS (path '...')",
    )


def _listed(problems: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    if len(problems) <= MAX_PROBLEMS:
        return problems
    place = problems[MAX_PROBLEMS].primary.span
    too_many = Diagnostic(
        codes.TOO_MANY,
        f"only the first {MAX_PROBLEMS} mistakes are listed",
        Label(place, "more from here on"),
        help="repair the mistakes above first",
    )
    return (*problems[:MAX_PROBLEMS], too_many)
