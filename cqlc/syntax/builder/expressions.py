"""Expressions."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from cqlc.source import Span
from cqlc.syntax import ast
from cqlc.syntax.ast import LiteralKind
from cqlc.syntax.builder.names import string_value
from cqlc.syntax.builder.rules import spelled
from cqlc.syntax.scanner import Token

_Branches: TypeAlias = tuple[tuple[ast.Expr, ast.Expr], ...]

_CANONICAL = {"!=": "<>", "==": "=", "SOME": "ANY"}


def _word(token: Token) -> str:
    word = token.text.upper()
    return _CANONICAL.get(word, word)


def expressions(span: Span, *parts: ast.Expr) -> tuple[ast.Expr, ...]:
    return parts


def disjunction(span: Span, *operands: ast.Expr) -> ast.Expr:
    return ast.Logical("OR", operands, span=span)


def conjunction(span: Span, *operands: ast.Expr) -> ast.Expr:
    return ast.Logical("AND", operands, span=span)


def not_(span: Span, operand: ast.Expr) -> ast.Expr:
    return ast.Unary("NOT", operand, span=span)


@spelled
def binary(span: Span, left: ast.Expr, op: Token, right: ast.Expr) -> ast.Expr:
    return ast.Binary(_word(op), left, right, span=span)


@spelled
def comparison(span: Span, left: ast.Expr, op: Token, right: ast.Expr) -> ast.Expr:
    return ast.Binary(_word(op), left, right, span=span)


@spelled
def quantified(
    span: Span, operand: ast.Expr, op: Token, quantifier: Token, query: ast.Query
) -> ast.Expr:
    return ast.Quantified(_word(op), operand, _word(quantifier), query, span=span)


@spelled
def is_test(span: Span, operand: ast.Expr, _is: Token, what: Token) -> ast.Expr:
    return ast.IsTest(operand, _word(what), negated=False, span=span)


@spelled
def is_not_test(span: Span, operand: ast.Expr, _is: Token, _not: Token, what: Token) -> ast.Expr:
    return ast.IsTest(operand, _word(what), negated=True, span=span)


def is_distinct(span: Span, left: ast.Expr, right: ast.Expr) -> ast.Expr:
    return ast.Binary("IS DISTINCT FROM", left, right, span=span)


def is_not_distinct(span: Span, left: ast.Expr, right: ast.Expr) -> ast.Expr:
    return ast.Binary("IS NOT DISTINCT FROM", left, right, span=span)


def between(span: Span, operand: ast.Expr, low: ast.Expr, high: ast.Expr) -> ast.Expr:
    return ast.Between(operand, low, high, negated=False, span=span)


def not_between(span: Span, operand: ast.Expr, low: ast.Expr, high: ast.Expr) -> ast.Expr:
    return ast.Between(operand, low, high, negated=True, span=span)


@spelled
def like(
    span: Span, operand: ast.Expr, op: Token, pattern: ast.Expr, escape: ast.Expr | None
) -> ast.Expr:
    return ast.Like(_word(op), operand, pattern, escape, negated=False, span=span)


@spelled
def not_like(
    span: Span,
    operand: ast.Expr,
    _not: Token,
    op: Token,
    pattern: ast.Expr,
    escape: ast.Expr | None,
) -> ast.Expr:
    return ast.Like(_word(op), operand, pattern, escape, negated=True, span=span)


def escape(span: Span, value: ast.Expr) -> ast.Expr:
    return value


def in_list(span: Span, operand: ast.Expr, values: tuple[ast.Expr, ...]) -> ast.Expr:
    return ast.InList(operand, values, negated=False, span=span)


def not_in_list(span: Span, operand: ast.Expr, values: tuple[ast.Expr, ...]) -> ast.Expr:
    return ast.InList(operand, values, negated=True, span=span)


def in_query(span: Span, operand: ast.Expr, query: ast.Query) -> ast.Expr:
    return ast.InQuery(operand, query, negated=False, span=span)


def not_in_query(span: Span, operand: ast.Expr, query: ast.Query) -> ast.Expr:
    return ast.InQuery(operand, query, negated=True, span=span)


@spelled
def sign(span: Span, op: Token, operand: ast.Expr) -> ast.Expr:
    return ast.Unary(op.text, operand, span=span)


def number(span: Span, token: Token) -> ast.Expr:
    text = token.text
    kind = LiteralKind.DECIMAL if "." in text else LiteralKind.INTEGER
    if "e" in text or "E" in text:
        kind = LiteralKind.FLOATING
    return ast.Literal(kind, text, span=span)


def string(span: Span, token: Token) -> ast.Expr:
    return ast.Literal(LiteralKind.STRING, string_value(token), span=span)


@spelled
def boolean(span: Span, token: Token) -> ast.Expr:
    return ast.Literal(LiteralKind.BOOLEAN, _word(token), span=span)


def null(span: Span) -> ast.Expr:
    return ast.Literal(LiteralKind.NULL, "NULL", span=span)


def timestamp(span: Span, token: Token) -> ast.Expr:
    return ast.Literal(LiteralKind.TIMESTAMP, string_value(token), span=span)


def date(span: Span, token: Token) -> ast.Expr:
    return ast.Literal(LiteralKind.DATE, string_value(token), span=span)


def duration_literal(span: Span, amount: Token, unit: ast.Unit) -> ast.Expr:
    return ast.DurationLiteral(ast.Duration(amount.text, unit, span=span), span=span)


def reference(span: Span, name: ast.QualifiedName) -> ast.Expr:
    return ast.Reference(name, span=span)


def cast(span: Span, operand: ast.Expr, type: ast.TypeName) -> ast.Expr:
    return ast.CastAs(operand, type, span=span)


def subscript(span: Span, operand: ast.Expr, index: ast.Expr) -> ast.Expr:
    return ast.Subscript(operand, index, span=span)


def case(
    span: Span, operand: ast.Expr | None, branches: _Branches, otherwise: ast.Expr | None
) -> ast.Expr:
    return ast.CaseWhen(operand, branches, otherwise, span=span)


def branches(span: Span, *parts: tuple[ast.Expr, ast.Expr]) -> _Branches:
    return parts


def when(span: Span, condition: ast.Expr, value: ast.Expr) -> tuple[ast.Expr, ast.Expr]:
    return condition, value


def otherwise(span: Span, value: ast.Expr) -> ast.Expr:
    return value


def exists(span: Span, query: ast.Query) -> ast.Expr:
    return ast.Exists(query, span=span)


def scalar_query(span: Span, query: ast.Query) -> ast.Expr:
    return ast.ScalarQuery(query, span=span)


def grouped(span: Span, value: ast.Expr) -> ast.Expr:
    return replace(value, span=span)


def row_value(span: Span, first: ast.Expr, rest: tuple[ast.Expr, ...]) -> ast.Expr:
    return ast.RowValue((first, *rest), span=span)


def top(span: Span, count: Token, value: ast.Expr) -> ast.Expr:
    """`TOP 5 (x)`, the thesis's spelling of the aggregate TOP(x, 5)."""
    name = ast.QualifiedName((ast.Name("TOP", span=span),), span=span)
    return ast.FunctionCall(name, (value, number(count.span, count)), span=span)


def extract(span: Span, field: ast.Name, value: ast.Expr) -> ast.Expr:
    """`EXTRACT(MINUTE FROM x)` is the call EXTRACT('MINUTE', x)."""
    name = ast.QualifiedName((ast.Name("EXTRACT", span=span),), span=span)
    part = ast.Literal(LiteralKind.STRING, field.text.upper(), span=field.span)
    return ast.FunctionCall(name, (part, value), span=span)


def function_call(
    span: Span,
    name: ast.QualifiedName,
    distinct: bool | None,
    arguments: tuple[ast.Expr, ...] | None,
    where: ast.Expr | None,
    over: ast.Over | None,
) -> ast.Expr:
    return ast.FunctionCall(name, arguments or (), distinct or False, where, over, span=span)


def arguments(span: Span, *parts: ast.Expr) -> tuple[ast.Expr, ...]:
    return parts


def nested_wstream(span: Span, argument: ast.Expr, window: ast.OutputWindow) -> ast.Expr:
    return ast.NestedWstream(argument, window, span=span)


def filter(span: Span, predicate: ast.Expr) -> ast.Expr:
    return predicate


def over(
    span: Span, partition: tuple[ast.Expr, ...] | None, order: tuple[ast.SortItem, ...] | None
) -> ast.Over:
    return ast.Over(partition or (), order or (), span=span)


def over_partition(span: Span, keys: tuple[ast.Expr, ...]) -> tuple[ast.Expr, ...]:
    return keys


def star(span: Span, qualifier: ast.QualifiedName | None = None) -> ast.Expr:
    return ast.Star(qualifier, span=span)
