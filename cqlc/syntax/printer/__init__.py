"""Syntax trees as text: whole programs with their comments, and single pieces on one line."""

from __future__ import annotations

from cqlc.syntax import ast
from cqlc.syntax.printer import expressions, queries, statements
from cqlc.syntax.printer.layout import Doc, render
from cqlc.syntax.printer.program import format_program

__all__ = ["expression_text", "format_program", "name_text", "query_text", "statement_text"]


def statement_text(node: ast.Statement) -> str:
    """A statement on one line, without its semicolon."""
    return _one_line(statements.statement(node))


def query_text(node: ast.Query) -> str:
    """A query on one line."""
    return _one_line(queries.query(node))


def expression_text(node: ast.Expr) -> str:
    """An expression on one line."""
    return _one_line(expressions.expression(node))


def name_text(node: ast.QualifiedName) -> str:
    """A name as it is written."""
    return expressions.qualified(node)


def _one_line(doc: Doc) -> str:
    return render(doc, width=1 << 30)
