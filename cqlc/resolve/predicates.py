"""Tests of values against lists, rows and subqueries."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cqlc.algebra.expr import And, Compare, Comparison, Expr, Literal, Not, Or
from cqlc.algebra.plan import Named, Project
from cqlc.codes import names as codes
from cqlc.datatypes import BOOLEAN
from cqlc.resolve.operators import POISON, TRUE, compare
from cqlc.resolve.subqueries import CompareTest, ExistsTest, ScalarValue
from cqlc.source import Span
from cqlc.syntax import ast

if TYPE_CHECKING:
    from cqlc.resolve.expression import Expressions


def negated_if(negated: bool, expr: Expr) -> Expr:
    """The expression, or its negation."""
    return Not(expr, span=expr.span) if negated else expr


def in_list(resolver: Expressions, expr: ast.InList) -> Expr:
    """`x IN (1, 2)` and `(x, y) IN ((1, 2), (3, 4))`."""
    if isinstance(expr.operand, ast.RowValue):
        pairs = (ast.Binary("=", expr.operand, v, span=v.span) for v in expr.values)
        tests = [compare_tuples(resolver, pair) for pair in pairs]
    else:
        operand = resolver.value(expr.operand)
        findings = resolver.env.findings
        tests = [
            compare(Comparison.EQ, operand, resolver.value(v), v.span, findings)
            for v in expr.values
        ]
    some = tests[0] if len(tests) == 1 else Or(tuple(tests), span=expr.span)
    return negated_if(expr.negated, some)


def compare_tuples(resolver: Expressions, expr: ast.Binary) -> Expr:
    """`(a, b) = (c, d)` and `(a, b) = (query)`."""
    left, right = _tuple(resolver, expr.left), _tuple(resolver, expr.right)
    unknown = Literal(None, BOOLEAN, span=expr.span)
    if left is None or right is None:
        return unknown
    findings = resolver.env.findings
    if len(left) != len(right) or expr.op not in ("=", "<>"):
        findings.report(
            codes.WRONG_COLUMN_COUNT,
            f"a row of {len(left)} cannot be compared by {expr.op} with one of {len(right)}",
            expr.span,
            "rows are compared by = and <>, column by column",
            help="give both sides the same number of values, or compare them one by one",
        )
        return unknown
    pairs = zip(left, right, strict=True)
    equal = tuple(compare(Comparison.EQ, a, b, expr.span, findings) for a, b in pairs)
    return negated_if(expr.op == "<>", And(equal, span=expr.span))


def _tuple(resolver: Expressions, expr: ast.Expr) -> tuple[Expr, ...] | None:
    match expr:
        case ast.RowValue(values):
            return tuple(resolver.value(value) for value in values)
        case ast.ScalarQuery(query):
            rows = resolver.resolve_rows(query, resolver.scope)
            if rows is None:
                return None
            subquery = ScalarValue(rows.columns, rows.relation, expr.span)
            return resolver.subqueries.stand_ins(subquery)
        case _:
            return (resolver.value(expr),)


def exists(resolver: Expressions, query: ast.Query, span: Span) -> Expr:
    """`EXISTS (query)`."""
    rows = resolver.resolve_rows(query, resolver.scope)
    if rows is None:
        return Literal(None, BOOLEAN, span=span)
    relation = rows.relation
    if isinstance(relation, Project):
        # What the rows show does not matter, only that there are some.
        tied = resolver.env.facts(relation.input).free
        relation = replace(relation, columns=() if tied else (Named("found", TRUE),))
    return resolver.subqueries.stand_in(ExistsTest(relation, span), BOOLEAN)


def in_query(resolver: Expressions, expr: ast.InQuery) -> Expr:
    """`x [NOT] IN (query)`, which is `[NOT] x = ANY (query)`."""
    some = ast.Quantified("=", expr.operand, "ANY", expr.query, span=expr.span)
    return negated_if(expr.negated, quantified(resolver, some))


def quantified(resolver: Expressions, expr: ast.Quantified) -> Expr:
    """`x op ALL|ANY (query)`."""
    operands = _tuple(resolver, expr.operand)
    rows = resolver.resolve_rows(expr.query, resolver.scope)
    op = Comparison(expr.op)
    unknown = Literal(None, BOOLEAN, span=expr.span)
    if rows is None or operands is None:
        return unknown
    findings = resolver.env.findings
    if len(operands) != len(rows.columns) or (len(operands) > 1 and op is not Comparison.EQ):
        findings.report(
            codes.WRONG_COLUMN_COUNT,
            f"{len(operands)} values cannot be compared by {op} with {len(rows.columns)} columns",
            expr.span,
            f"the subquery has {len(rows.columns)}",
            help="select as many columns as there are values; rows of several compare by = only",
        )
        return unknown
    pairs = zip(operands, rows.columns, strict=True)
    tests = [compare(op, a, b, expr.span, findings) for a, b in pairs]
    compared = [(test.left, test.right) for test in tests if isinstance(test, Compare)]
    if len(compared) < len(tests):
        return unknown
    left, right = zip(*compared, strict=True)
    every = expr.quantifier == "ALL"
    test = CompareTest(left, op, right, every, rows.relation, expr.span)
    return resolver.subqueries.stand_in(test, BOOLEAN)


def scalar(resolver: Expressions, query: ast.Query, span: Span) -> Expr:
    """`(query)` as a value."""
    rows = resolver.resolve_rows(query, resolver.scope)
    if rows is None:
        return replace(POISON, span=span)
    if len(rows.columns) != 1:
        resolver.env.findings.report(
            codes.WRONG_COLUMN_COUNT,
            f"a subquery used as a value must have one column, not {len(rows.columns)}",
            span,
            f"has {len(rows.columns)} columns",
            help="select the one that is meant",
        )
        return replace(POISON, span=span)
    return resolver.subqueries.stand_ins(ScalarValue(rows.columns, rows.relation, span))[0]
