"""Calls of aggregates and ranking functions, collected for the block they stand in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cqlc.algebra.expr import AggregateCall, Column, Expr, Literal, SortKey
from cqlc.algebra.plan import NamedAggregate, RankKind
from cqlc.catalog import FunctionDeclaration
from cqlc.codes import names as codes
from cqlc.datatypes import BIGINT, DataType
from cqlc.functions import AggregateFunction
from cqlc.resolve.arguments import converted, declared_arguments, fit, wrong_arguments
from cqlc.resolve.lookup import dotted
from cqlc.resolve.operators import POISON, condition
from cqlc.syntax import ast

if TYPE_CHECKING:
    from cqlc.resolve.expression import Expressions


@dataclass(frozen=True, slots=True)
class Ranking:
    """A ranking function: the column it fills, its partition and its order."""

    name: str
    kind: RankKind
    partition: tuple[Expr, ...]
    order: tuple[SortKey, ...]


def aggregate(resolver: Expressions, expr: ast.FunctionCall, function: AggregateFunction) -> Expr:
    if not _may_aggregate(resolver, expr):
        return replace(POISON, span=expr.span)
    inner = row_resolver(resolver, f"the argument of {function.name}")
    counts_rows = function.name == "COUNT" and _is_star(expr.arguments)
    arguments = [] if counts_rows else [inner.value(a) for a in expr.arguments]
    matched = fit(function, arguments)
    if matched is None or (function.name == "COUNT" and not arguments and not counts_rows):
        wrong_arguments(resolver, expr, function, arguments)
        return replace(POISON, span=expr.span)
    values = converted(arguments, matched.arguments)
    if function.parametric and len(values) > 1:
        _check_parameter(resolver, function, values[1])
    return _collected(resolver, expr, inner, function.name, values, matched.result)


def declared_aggregate(
    resolver: Expressions, expr: ast.FunctionCall, function: FunctionDeclaration
) -> Expr:
    if not _may_aggregate(resolver, expr):
        return replace(POISON, span=expr.span)
    inner = row_resolver(resolver, f"the argument of {function.name}")
    values = declared_arguments(inner, expr, function)
    if values is None:
        return replace(POISON, span=expr.span)
    return _collected(resolver, expr, inner, function.name, values, function.returns)


def _collected(
    resolver: Expressions,
    expr: ast.FunctionCall,
    inner: Expressions,
    name: str,
    arguments: tuple[Expr, ...],
    type: DataType,
) -> Expr:
    """The column of an aggregate; equal aggregates share one."""
    where = None
    if expr.where is not None:
        where = condition(inner.value(expr.where), resolver.env.findings, "FILTER")
    aggregate = AggregateCall(name, arguments, type, expr.distinct, where, span=expr.span)
    known = resolver.aggregates if resolver.aggregates is not None else []
    for column in known:
        if column.value == aggregate:
            return Column(column.name, type, span=expr.span)
    fresh = resolver.names.name(name.lower().replace(".", "_"))
    known.append(NamedAggregate(fresh, aggregate, span=expr.span))
    return Column(fresh, type, span=expr.span)


def row_resolver(resolver: Expressions, clause: str) -> Expressions:
    return replace(resolver, clause=clause, aggregates=None, rankings=None, aliases={})


def _may_aggregate(resolver: Expressions, expr: ast.FunctionCall) -> bool:
    name = dotted(expr.name).text.upper()
    findings = resolver.env.findings
    if expr.over is not None:
        findings.report(
            codes.MISPLACED_CLAUSE,
            f"{name} cannot be used with OVER",
            expr.over.span,
            "only ROW_NUMBER, RANK and DENSE_RANK are",
            help="put a window on the stream and GROUP BY: FROM s [RANGE 1 MINUTE] GROUP BY k",
        )
        return False
    if resolver.aggregates is not None:
        return True
    help = "move the condition to HAVING" if resolver.clause == "WHERE" else ""
    if resolver.clause.startswith("the argument"):
        help = "aggregate in a subquery first, or use SUM(WSTREAM(SUM(a))[ROWS 10])"
    findings.report(
        codes.MISPLACED_AGGREGATE,
        f"{name} cannot stand in {resolver.clause}",
        expr.span,
        "aggregates are known only after grouping",
        help=help or "aggregate in a subquery first",
    )
    return False


def _is_star(arguments: tuple[ast.Expr, ...]) -> bool:
    return len(arguments) == 1 and isinstance(arguments[0], ast.Star)


def _check_parameter(resolver: Expressions, function: AggregateFunction, parameter: Expr) -> None:
    value = parameter.value if isinstance(parameter, Literal) else None
    match function.name, value:
        case ("QUANTILE" | "PERCENTILE_DISC", float() as share) if 0 <= share <= 1:
            return
        case ("TOP_K", int() as rows) if rows >= 1:
            return
        case ("STRING_AGG", str()):
            return
        case _:
            wanted = {"TOP_K": "a number of rows, 1 or more", "STRING_AGG": "a string"}
            resolver.env.findings.report(
                codes.WRONG_ARGUMENTS,
                f"the second argument of {function.name} must be a constant: "
                f"{wanted.get(function.name, 'a share from 0 to 1')}",
                parameter.span,
                "not such a constant",
                help=f"{function.name}: {function.meaning}",
            )


# ------------------------------------------------------------------------------------- ranking


def ranking(resolver: Expressions, expr: ast.FunctionCall, kind: RankKind) -> Expr:
    findings = resolver.env.findings
    if expr.over is None or expr.arguments or expr.where is not None or expr.distinct:
        findings.report(
            codes.MISPLACED_CLAUSE,
            f"{kind} is written {kind}() OVER (PARTITION BY .. ORDER BY ..)",
            expr.span,
            "not a ranking",
            help=f"add the order: {kind}() OVER (ORDER BY ..)",
        )
        return Literal(None, BIGINT, span=expr.span)
    if resolver.rankings is None:
        findings.report(
            codes.MISPLACED_AGGREGATE,
            f"{kind} cannot stand in {resolver.clause}",
            expr.span,
            "rows are ranked after that",
            help="rank in a subquery: SELECT * FROM (SELECT .., ROW_NUMBER() OVER (..) AS n "
            "FROM ..) WHERE n <= 3",
        )
        return Literal(None, BIGINT, span=expr.span)
    inner = replace(resolver, clause="OVER", rankings=None)
    partition = tuple(inner.value(value) for value in expr.over.partition)
    order = tuple(sort_key(inner.value(item.value), item) for item in expr.over.order)
    fresh = resolver.names.name(kind.lower())
    resolver.rankings.append(Ranking(fresh, kind, partition, order))
    return Column(fresh, BIGINT, span=expr.span)


def sort_key(value: Expr, item: ast.SortItem) -> SortKey:
    """A key of an order; NULL is the smallest value unless said otherwise."""
    first = not item.descending if item.nulls is None else item.nulls == "FIRST"
    return SortKey(value, item.descending, first, span=item.span)
