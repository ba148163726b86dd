"""Names, types and durations; what all rules share."""

from __future__ import annotations

from typing import TypeAlias

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Diagnostic, Label
from cqlc.source import Span
from cqlc.syntax import ast
from cqlc.syntax.builder.rules import RefusedError
from cqlc.syntax.scanner import Token
from cqlc.syntax.words import UNITS

_QUOTES = ('"', "`")
_MAX_LENGTH_DIGITS = 9
_MAX_PARTS = 50

_TypeArgument: TypeAlias = tuple[ast.Name | None, ast.TypeName]


def name(span: Span, token: Token) -> ast.Name:
    text = token.text
    if text[0] in _QUOTES:
        return ast.Name(text[1:-1].replace(text[0] * 2, text[0]), quoted=True, span=span)
    return ast.Name(text, span=span)


def names(span: Span, *parts: ast.Name) -> tuple[ast.Name, ...]:
    return parts


def qualified_name(
    span: Span, first: ast.Name | ast.QualifiedName, last: ast.Name | None = None
) -> ast.QualifiedName:
    match first:
        case ast.Name():
            return ast.QualifiedName((first,), span=span)
        case ast.QualifiedName(parts):
            if len(parts) == _MAX_PARTS:
                raise RefusedError(_too_many_parts(span))
            return ast.QualifiedName((*parts, last) if last else parts, span=span)


def _too_many_parts(span: Span) -> Diagnostic:
    return Diagnostic(
        codes.TOO_DEEP,
        f"this name has more than {_MAX_PARTS} parts",
        Label(span, "names joined by dots"),
        help="a name is a table, a column and the fields inside of it",
    )


def type_name(span: Span, token: Token, *parameters: Token) -> ast.TypeName:
    return ast.TypeName(token.text.upper(), tuple(map(_length, parameters)), span=span)


def _length(token: Token) -> int:
    if not token.text.isdigit() or len(token.text) > _MAX_LENGTH_DIGITS:
        raise RefusedError(
            Diagnostic(
                codes.BAD_TYPE,
                f"`{token.text[:20]}` is no length of a type",
                Label(token.span, "a small whole number is expected"),
                help="write it like CHAR(20) or DECIMAL(10, 2)",
            )
        )
    return int(token.text)


def generic_type(span: Span, token: Token, *arguments: _TypeArgument) -> ast.TypeName:
    constructor = token.text.upper()
    fields = tuple(name for name, _ in arguments if name is not None)
    types = tuple(type for _, type in arguments)
    fits = len(fields) == len(types) if constructor == "STRUCT" else not fields and len(types) == 1
    if not fits:
        raise RefusedError(
            Diagnostic(
                codes.BAD_TYPE,
                f"{constructor} does not take these arguments",
                Label(span, "inside of `<` and `>`"),
                help="write ARRAY<INT> or STRUCT<a: INT, b: STRING>",
            )
        )
    return ast.TypeName(constructor, arguments=types, field_names=fields, span=span)


def element_type(span: Span, type: ast.TypeName) -> _TypeArgument:
    return None, type


def field_type(span: Span, name: ast.Name, type: ast.TypeName) -> _TypeArgument:
    return name, type


def duration(span: Span, amount: Token, unit: ast.Unit | None) -> ast.Duration:
    return ast.Duration(amount.text, unit, span=span)


def unit(span: Span, word: Token) -> ast.Unit:
    return UNITS[word.text.upper()]


def string_value(token: Token) -> str:
    return token.text[1:-1].replace("''", "'")
