"""Whole programs as formatted text."""

from __future__ import annotations

from bisect import bisect_left

from cqlc.diagnostics import CompileError, has_errors
from cqlc.source import Source, Span
from cqlc.syntax import ast
from cqlc.syntax.parser import parse
from cqlc.syntax.printer.comments import weave
from cqlc.syntax.printer.layout import Anchor, Doc, Suffix, render
from cqlc.syntax.printer.statements import statement
from cqlc.syntax.scanner import Comment, Token, scan


def format_program(source: Source) -> str:
    """The program in its standard form, with all comments.

    Raises `CompileError` for a text with mistakes: what is not understood is not rewritten.
    """
    parsed = parse(source)
    if has_errors(parsed.diagnostics):
        raise CompileError(source, parsed.diagnostics)
    scanned = scan(source.text)
    tokens = [token for chunk in scanned.chunks for token in chunk.tokens]
    statements = parsed.program.statements
    pieces: list[tuple[Span, str]] = []
    comments = list(scanned.comments)
    for number, node in enumerate(statements, 1):
        limit = statements[number].span.start if number < len(statements) else len(source.text)
        first, last = _own(node, limit, comments, source)
        pieces += [(comment.span, comment.text) for comment in comments[:first]]
        own, comments = comments[first:last], comments[last:]
        span = node.span.to(own[-1].span) if own else node.span
        pieces.append((span, _statement(node, own, tokens, source)))
    pieces += [(comment.span, comment.text) for comment in comments]
    return _joined(pieces, source)


def _own(
    node: ast.Statement, limit: int, comments: list[Comment], source: Source
) -> tuple[int, int]:
    """The range of the comments inside of a statement and on its last line, before `limit`."""
    first = last = bisect_left(comments, node.span.start, key=lambda c: c.span.start)
    end = node.span.end
    while last < len(comments) and comments[last].span.start < limit:
        if "\n" in source.text[end : comments[last].span.start]:
            break
        end = max(end, comments[last].span.end)
        last += 1
    return first, last


def _statement(
    node: ast.Statement, comments: list[Comment], tokens: list[Token], source: Source
) -> str:
    inside = [comment for comment in comments if comment.span.start < node.span.end]
    behind = [comment for comment in comments if comment.span.start >= node.span.end]
    doc: Doc = weave(Anchor(node.span, statement(node)), inside, tokens, source)
    return render((doc, ";", *(Suffix(comment.text) for comment in behind)))


def _joined(pieces: list[tuple[Span, str]], source: Source) -> str:
    """Statements and comments, one blank line between them where there were some."""
    lines: list[str] = []
    end = 0
    for span, text in pieces:
        if lines and source.text.count("\n", end, span.start) > 1:
            lines.append("")
        lines.append(text)
        end = max(end, span.end)
    return "\n".join(lines) + "\n" if lines else ""
