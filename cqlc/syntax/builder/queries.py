"""Queries, FROM items and windows."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from cqlc.source import Span
from cqlc.syntax import ast
from cqlc.syntax.ast import StreamOperator
from cqlc.syntax.builder.rules import spelled
from cqlc.syntax.scanner import Token

_Limit: TypeAlias = tuple[str | None, str | None]
_Condition: TypeAlias = tuple[ast.Expr | None, tuple[ast.Name, ...]]
_Items: TypeAlias = tuple[ast.SelectItem, ...]


def query(
    span: Span,
    ctes: tuple[ast.CommonTable, ...] | None,
    body: ast.QueryBody,
    order_by: tuple[ast.SortItem, ...] | None,
    limit: _Limit | None,
) -> ast.Query:
    count, offset = limit or (None, None)
    return ast.Query(body, ctes or (), order_by or (), count, offset, span=span)


def with_clause(span: Span, *parts: ast.CommonTable) -> tuple[ast.CommonTable, ...]:
    return parts


def common_table(
    span: Span, name: ast.Name, columns: tuple[ast.Name, ...] | None, query: ast.Query
) -> ast.CommonTable:
    return ast.CommonTable(name, columns or (), query, span=span)


def order_by(span: Span, *parts: ast.SortItem) -> tuple[ast.SortItem, ...]:
    return parts


def sort_item(
    span: Span, value: ast.Expr, descending: bool | None, nulls: str | None
) -> ast.SortItem:
    return ast.SortItem(value, descending or False, nulls, span=span)


@spelled
def direction(span: Span, word: Token) -> bool:
    return word.text.upper() == "DESC"


@spelled
def nulls(span: Span, _nulls: Token, where: Token) -> str:
    return where.text.upper()


def limit(span: Span, count: Token, offset: Token | None = None) -> _Limit:
    return count.text, offset.text if offset else None


def offset(span: Span, offset: Token, count: Token | None = None) -> _Limit:
    return count.text if count else None, offset.text


def union(span: Span, left: ast.QueryBody, right: ast.QueryBody) -> ast.QueryBody:
    return ast.SetOperation("UNION", False, left, right, span=span)


def union_all(span: Span, left: ast.QueryBody, right: ast.QueryBody) -> ast.QueryBody:
    return ast.SetOperation("UNION", True, left, right, span=span)


def except_some(span: Span, left: ast.QueryBody, right: ast.QueryBody) -> ast.QueryBody:
    return ast.SetOperation("EXCEPT", False, left, right, span=span)


def except_all(span: Span, left: ast.QueryBody, right: ast.QueryBody) -> ast.QueryBody:
    return ast.SetOperation("EXCEPT", True, left, right, span=span)


def intersect(span: Span, left: ast.QueryBody, right: ast.QueryBody) -> ast.QueryBody:
    return ast.SetOperation("INTERSECT", False, left, right, span=span)


def intersect_all(span: Span, left: ast.QueryBody, right: ast.QueryBody) -> ast.QueryBody:
    return ast.SetOperation("INTERSECT", True, left, right, span=span)


def values_clause(span: Span, *rows: tuple[ast.Expr, ...]) -> ast.QueryBody:
    return ast.ValuesClause(rows, span=span)


def value_row(span: Span, values: tuple[ast.Expr, ...]) -> tuple[ast.Expr, ...]:
    return values


def named_operand(span: Span, name: ast.QualifiedName) -> ast.QueryBody:
    return ast.NamedOperand(name, span=span)


def nested_query(span: Span, query: ast.Query) -> ast.QueryBody:
    return query


def parenthesized(span: Span, query: ast.Query) -> ast.Query:
    """Parentheses around nothing but parentheses say nothing."""
    match query:
        case ast.Query(ast.Query() as inner, (), (), None, None):
            return inner
        case _:
            return query


def select(
    span: Span,
    distinct: bool | None,
    items: tuple[_Items, bool, ast.ToStream | None],
    sources: tuple[ast.FromItem, ...] | None,
    where: ast.Expr | None,
    group_by: tuple[ast.Expr, ...] | None,
    having: ast.Expr | None,
    shedding: ast.Shedding | None,
) -> ast.QueryBody:
    select_items, inner_distinct, to_stream = items
    return ast.Select(
        select_items,
        bool(distinct) or inner_distinct,
        to_stream,
        sources or (),
        where,
        group_by or (),
        having,
        shedding,
        span=span,
    )


def select_items(span: Span, *items: ast.SelectItem) -> _Items:
    return items


def plain_list(span: Span, items: _Items) -> tuple[_Items, bool, None]:
    return items, False, None


def stream_list(
    span: Span,
    operator: ast.ToStream,
    distinct: bool | None,
    items: _Items,
    every: ast.Duration | None,
) -> tuple[_Items, bool, ast.ToStream]:
    return items, bool(distinct), _to_stream(operator, every, None)


def windowed_stream_list(
    span: Span,
    operator: ast.ToStream,
    distinct: bool | None,
    items: _Items,
    window: ast.OutputWindow,
) -> tuple[_Items, bool, ast.ToStream]:
    return items, bool(distinct), _to_stream(operator, None, window)


def _to_stream(
    operator: ast.ToStream,
    every: ast.Duration | None,
    window: ast.OutputWindow | None,
) -> ast.ToStream:
    return ast.ToStream(operator.operator, operator.restore, every, window, span=operator.span)


def distinct(span: Span) -> bool:
    return True


def plain_item(span: Span, value: ast.Expr) -> ast.SelectItem:
    return ast.SelectItem(value, span=span)


def named_item(span: Span, value: ast.Expr, alias: ast.Name) -> ast.SelectItem:
    return ast.SelectItem(value, alias, span=span)


def stream_of(
    span: Span, operator: ast.ToStream, query: ast.Query, every: ast.Duration | None
) -> ast.QueryBody:
    return ast.StreamOf(_to_stream(operator, every, None), query, span=span)


def windowed_stream_of(
    span: Span, operator: ast.ToStream, query: ast.Query, window: ast.OutputWindow
) -> ast.QueryBody:
    return ast.StreamOf(_to_stream(operator, None, window), query, span=span)


@spelled
def stream_operator(span: Span, word: Token) -> ast.ToStream:
    return ast.ToStream(StreamOperator(word.text.upper()), span=span)


@spelled
def restore_operator(span: Span, word: Token, *_rest: Token) -> ast.ToStream:
    operator = StreamOperator(word.text.upper().removesuffix("_RESTORE"))
    return ast.ToStream(operator, restore=True, span=span)


def every(span: Span, length: ast.Duration) -> ast.Duration:
    return length


def output_rows(span: Span, rows: Token) -> ast.OutputWindow:
    return ast.OutputRows(rows.text, span=span)


def output_range(span: Span, length: ast.Duration) -> ast.OutputWindow:
    return ast.OutputRange(length, span=span)


def from_clause(span: Span, *items: ast.FromItem) -> tuple[ast.FromItem, ...]:
    return items


def join(
    span: Span, left: ast.FromItem, kind: str | None, right: ast.FromItem, condition: _Condition
) -> ast.FromItem:
    on, using = condition
    return ast.JoinClause(left, kind or "INNER", right, on, using, span=span)


def cross_join(span: Span, left: ast.FromItem, right: ast.FromItem) -> ast.FromItem:
    return ast.JoinClause(left, "CROSS", right, span=span)


@spelled
def join_kind(span: Span, *words: Token) -> str:
    *_, kind = (word.text.upper() for word in words if word.text.upper() != "OUTER")
    return kind


def join_on(span: Span, predicate: ast.Expr) -> _Condition:
    return predicate, ()


def join_using(span: Span, columns: tuple[ast.Name, ...]) -> _Condition:
    return None, columns


def parenthesized_join(span: Span, join: ast.FromItem) -> ast.FromItem:
    return replace(join, span=span)


def table_reference(
    span: Span, name: ast.QualifiedName, window: ast.Window | None, alias: ast.Name | None
) -> ast.FromItem:
    return ast.TableReference(name, window, alias, span=span)


def table_reference_alias_first(
    span: Span, name: ast.QualifiedName, alias: ast.Name, window: ast.Window
) -> ast.FromItem:
    return ast.TableReference(name, window, alias, span=span)


def subquery(
    span: Span, query: ast.Query, window: ast.Window | None, alias: ast.Name | None
) -> ast.FromItem:
    return ast.Subquery(query, window, alias, span=span)


def subquery_alias_first(
    span: Span, query: ast.Query, alias: ast.Name, window: ast.Window
) -> ast.FromItem:
    return ast.Subquery(query, window, alias, span=span)


def subquery_columns(
    span: Span,
    query: ast.Query,
    window: ast.Window | None,
    alias: ast.Name,
    columns: tuple[ast.Name, ...],
) -> ast.FromItem:
    return ast.Subquery(query, window, alias, columns, span=span)


def alias(span: Span, name: ast.Name) -> ast.Name:
    return name


def where(span: Span, predicate: ast.Expr) -> ast.Expr:
    return predicate


def group_by(span: Span, keys: tuple[ast.Expr, ...]) -> tuple[ast.Expr, ...]:
    return keys


def having(span: Span, predicate: ast.Expr) -> ast.Expr:
    return predicate


def shedding(span: Span, policy: str, keep: Token, split: str | None) -> ast.Shedding:
    return ast.Shedding(policy, keep.text, split, span=span)


@spelled
def shed_policy(span: Span, word: Token) -> str:
    return word.text.upper()


@spelled
def split(span: Span, _split: Token, word: Token) -> str:
    return word.text.upper()


def window(span: Span, body: ast.Window) -> ast.Window:
    return replace(body, span=span)


def now(span: Span) -> ast.Window:
    return ast.NowWindow(span=span)


def unbounded(span: Span, internal: bool | None) -> ast.Window:
    return ast.UnboundedWindow(internal or False, span=span)


def range_window(
    span: Span,
    length: ast.Duration,
    slide: tuple[ast.Duration, ast.Duration | None] | None,
    internal: bool | None,
) -> ast.Window:
    step, offset = slide or (None, None)
    return ast.RangeWindow(length, step, offset, internal or False, span=span)


def rows_window(
    span: Span,
    partition: tuple[ast.QualifiedName, ...] | None,
    rows: Token,
    range: ast.Duration | None,
    slide: str | None,
    internal: bool | None,
) -> ast.Window:
    return ast.RowsWindow(rows.text, partition or (), range, slide, internal or False, span=span)


def session_window(
    span: Span, partition: tuple[ast.QualifiedName, ...] | None, gap: ast.Duration
) -> ast.Window:
    return ast.SessionWindow(gap, partition or (), span=span)


@spelled
def scope(span: Span, word: Token) -> bool:
    return word.text.upper() == "INTERNAL"


def partition(span: Span, *columns: ast.QualifiedName) -> tuple[ast.QualifiedName, ...]:
    return columns


def slide(
    span: Span, step: ast.Duration, offset: ast.Duration | None
) -> tuple[ast.Duration, ast.Duration | None]:
    return step, offset


def slide_offset(span: Span, length: ast.Duration) -> ast.Duration:
    return length


def rows_range(span: Span, length: ast.Duration) -> ast.Duration:
    return length


def rows_slide(span: Span, rows: Token) -> str:
    return rows.text
