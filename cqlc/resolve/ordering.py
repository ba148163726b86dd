"""ORDER BY and LIMIT: the first rows of a relation, at every instant."""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.algebra.expr import Column, Compare, Comparison, Expr, Literal, SortKey
from cqlc.algebra.plan import Filter, Named, Project, Rank, RankKind, Relation
from cqlc.codes import names as name_codes
from cqlc.codes import windows as codes
from cqlc.datatypes import BIGINT
from cqlc.resolve.environment import Environment
from cqlc.resolve.lookup import Fresh
from cqlc.resolve.operators import conjunction
from cqlc.resolve.types import count
from cqlc.source import Span
from cqlc.syntax import ast


@dataclass(frozen=True, slots=True)
class Limit:
    """How many rows are wanted, and how many are passed over first."""

    rows: int | None
    offset: int
    span: Span


def limit_of(query: ast.Query, env: Environment) -> Limit | None:
    """The query's LIMIT and OFFSET; notes about one of ORDER BY and LIMIT without the other."""
    if query.limit is None and query.offset is None:
        if query.order_by:
            span = query.order_by[0].span.to(query.order_by[-1].span)
            env.findings.report(
                codes.ORDER_WITHOUT_LIMIT,
                "a relation has no order, so ORDER BY alone changes nothing",
                span,
                "no LIMIT follows",
                help="add LIMIT n for the first n rows, or leave ORDER BY out",
            )
        return None
    if not query.order_by:
        env.findings.report(
            codes.LIMIT_WITHOUT_ORDER,
            "LIMIT without ORDER BY keeps the rows with the smallest values",
            query.span,
            "no order says which rows are first",
            help="add ORDER BY",
        )
    rows = None if query.limit is None else count(query.limit, query.span, env.findings, 0)
    offset = 0 if query.offset is None else count(query.offset, query.span, env.findings, 0)
    return Limit(rows, offset or 0, query.span)


def limited(
    rows: Relation, order: tuple[SortKey, ...], limit: Limit, shown: int, env: Environment
) -> Relation:
    """The rows within the limit, with their first `shown` columns."""
    schema = env.facts.schema(rows)
    names = Fresh()
    for field in schema:
        names.name(field.name)
    number = Column(names.name("row_number"), BIGINT)
    ranked = Rank(rows, RankKind.ROW_NUMBER, (), order, number.name, span=limit.span)
    wanted: list[Expr] = []
    if limit.rows is not None:
        last = Literal(limit.offset + limit.rows, BIGINT)
        wanted.append(Compare(Comparison.LE, number, last))
    if limit.offset:
        wanted.append(Compare(Comparison.GT, number, Literal(limit.offset, BIGINT)))
    first = Filter(ranked, conjunction(wanted), span=limit.span)
    columns = tuple(Named(f.name, Column(f.name, f.type)) for f in schema[:shown])
    return Project(first, columns, span=limit.span)


def position(expr: ast.Expr, columns: int, clause: str, env: Environment) -> int | None:
    """The select item that a number means, counted from 0; None if it is not a number.

    A number outside of the list is a finding, and means the first item.
    """
    if not isinstance(expr, ast.Literal) or expr.kind is not ast.LiteralKind.INTEGER:
        return None
    if len(expr.text) < 9 and 1 <= int(expr.text) <= columns:
        return int(expr.text) - 1
    env.findings.report(
        name_codes.BAD_POSITION,
        f"{clause} {expr.text[:20]} is not the position of a select item",
        expr.span,
        f"there are {columns}",
        help=f"positions go from 1 to {columns}" if columns else "name the column",
    )
    return 0
