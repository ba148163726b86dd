"""Statements and what declarations are made of."""

from __future__ import annotations

from typing import TypeAlias

from cqlc.source import Span
from cqlc.syntax import ast
from cqlc.syntax.builder.names import string_value
from cqlc.syntax.builder.rules import spelled
from cqlc.syntax.scanner import Token

_Names: TypeAlias = tuple[ast.Name, ...]
_Parameters: TypeAlias = tuple[tuple[ast.Name, ast.TypeName], ...]
_Element: TypeAlias = ast.ColumnDefinition | ast.TableConstraint


def create_table(
    span: Span,
    kind: ast.TableKind,
    name: ast.QualifiedName,
    elements: tuple[_Element, ...] | None,
    *rest: ast.Clause | ast.TableConstraint | ast.Query | None,
) -> ast.Statement:
    columns: list[ast.ColumnDefinition] = []
    constraints: list[ast.TableConstraint] = []
    clauses: list[ast.Clause] = []
    query: ast.Query | None = None
    for element in elements or ():
        match element:
            case ast.ColumnDefinition():
                columns.append(element)
            case _:
                constraints.append(element)
    for part in rest:
        match part:
            case None | ast.Query():
                query = part
            case ast.KeyConstraint() | ast.CheckConstraint():
                constraints.append(part)
            case _:
                clauses.append(part)
    return ast.CreateTable(
        kind, name, tuple(columns), tuple(constraints), tuple(clauses), query, span=span
    )


@spelled
def table_kind(span: Span, word: Token) -> ast.TableKind:
    return ast.TableKind(word.text.upper())


def table_elements(span: Span, *elements: _Element) -> tuple[_Element, ...]:
    return elements


def as_query(span: Span, query: ast.Query) -> ast.Query:
    return query


def create_view(
    span: Span, name: ast.QualifiedName, columns: _Names | None, query: ast.Query
) -> ast.Statement:
    return ast.CreateView(name, columns or (), query, span=span)


def create_sink(span: Span, name: ast.QualifiedName, target: ast.External) -> ast.Statement:
    return ast.CreateSink(name, target, span=span)


def create_function(
    span: Span,
    aggregate: bool | None,
    name: ast.QualifiedName,
    parameters: _Parameters | None,
    returns: ast.TypeName,
) -> ast.Statement:
    return ast.CreateFunction(name, parameters or (), returns, aggregate or False, span=span)


def aggregate(span: Span) -> bool:
    return True


def parameters(span: Span, *parts: tuple[ast.Name, ast.TypeName]) -> _Parameters:
    return parts


def parameter(span: Span, name: ast.Name, type: ast.TypeName) -> tuple[ast.Name, ast.TypeName]:
    return name, type


def create_constraint(
    span: Span,
    constraint: ast.ReferencesConstraint | ast.OrderedConstraint | ast.ClusteredConstraint,
    on: ast.QualifiedName | None,
) -> ast.Statement:
    return ast.CreateConstraint(constraint, on, span=span)


def on_table(span: Span, name: ast.QualifiedName) -> ast.QualifiedName:
    return name


def insert_into(span: Span, sink: ast.QualifiedName, query: ast.Query) -> ast.Statement:
    return ast.InsertInto(sink, query, span=span)


def query_statement(span: Span, query: ast.Query) -> ast.Statement:
    return ast.QueryStatement(query, span=span)


def column_definition(
    span: Span, name: ast.Name, type: ast.TypeName, *constraints: ast.ColumnConstraint
) -> ast.ColumnDefinition:
    return ast.ColumnDefinition(name, type, constraints, span=span)


def not_null(span: Span) -> ast.ColumnConstraint:
    return ast.NotNull(span=span)


def check(span: Span, predicate: ast.Expr) -> ast.ColumnConstraint:
    return ast.Check(predicate, span=span)


def domain(span: Span, values: tuple[ast.Expr, ...]) -> ast.ColumnConstraint:
    return ast.Domain(values, span=span)


def distinct_count(span: Span, count: Token) -> ast.ColumnConstraint:
    return ast.DistinctCount(count.text, span=span)


def unique_column(span: Span) -> ast.ColumnConstraint:
    return ast.UniqueColumn(span=span)


def key_constraint(span: Span, columns: _Names) -> ast.TableConstraint:
    return ast.KeyConstraint(columns, span=span)


def check_constraint(span: Span, predicate: ast.Expr) -> ast.TableConstraint:
    return ast.CheckConstraint(predicate, span=span)


def named_references(
    span: Span,
    name: ast.Name,
    child: ast.QualifiedName,
    child_columns: _Names,
    parent: ast.QualifiedName | None,
    parent_columns: _Names,
    bound: ast.Bound,
) -> ast.ReferencesConstraint:
    return ast.ReferencesConstraint(
        name, child, child_columns, parent, parent_columns, bound, span=span
    )


def named_ordered(
    span: Span, name: ast.Name, column: ast.Name, bound: ast.Bound
) -> ast.OrderedConstraint:
    return ast.OrderedConstraint(name, column, bound, span=span)


def named_clustered(
    span: Span, name: ast.Name, column: ast.Name, bound: ast.Bound
) -> ast.ClusteredConstraint:
    return ast.ClusteredConstraint(name, column, bound, span=span)


def references(
    span: Span,
    child: ast.QualifiedName,
    child_columns: _Names,
    parent: ast.QualifiedName | None,
    parent_columns: _Names,
    bound: ast.Bound,
) -> ast.ReferencesConstraint:
    return ast.ReferencesConstraint(
        None, child, child_columns, parent, parent_columns, bound, span=span
    )


def ordered(span: Span, column: ast.Name, bound: ast.Bound) -> ast.OrderedConstraint:
    return ast.OrderedConstraint(None, column, bound, span=span)


def clustered(span: Span, column: ast.Name, bound: ast.Bound) -> ast.ClusteredConstraint:
    return ast.ClusteredConstraint(None, column, bound, span=span)


def bound_rows(span: Span, rows: Token, monitor: bool | None) -> ast.Bound:
    return ast.Bound(rows.text, None, monitor or False, span=span)


def bound_time(span: Span, length: ast.Duration, monitor: bool | None) -> ast.Bound:
    return ast.Bound(None, length, monitor or False, span=span)


def bound_unknown(span: Span) -> ast.Bound:
    return ast.Bound(None, None, monitor=True, span=span)


def monitor(span: Span) -> bool:
    return True


def timestamp_by(
    span: Span, column: ast.Name, slack: ast.Duration | None, idle: ast.Duration | None
) -> ast.Clause:
    return ast.TimestampBy(column, slack, idle, span=span)


def slack(span: Span, length: ast.Duration) -> ast.Duration:
    return length


def idle(span: Span, length: ast.Duration) -> ast.Duration:
    return length


def sequence_by(span: Span, column: ast.Name) -> ast.Clause:
    return ast.SequenceBy(column, span=span)


def punctuated_by(
    span: Span,
    schemes: tuple[_Names, ...],
    marker: ast.Name | None,
    lifespan: ast.Duration | None,
) -> ast.Clause:
    return ast.PunctuatedBy(schemes, marker, lifespan, span=span)


def schemes(span: Span, *parts: _Names) -> tuple[_Names, ...]:
    return parts


def marker(span: Span, column: ast.Name) -> ast.Name:
    return column


def lifespan(span: Span, length: ast.Duration) -> ast.Duration:
    return length


def punctuations_from(span: Span, stream: ast.QualifiedName) -> ast.Clause:
    return ast.PunctuationsFrom(stream, span=span)


def rate(span: Span, count: Token, unit: ast.Unit) -> ast.Clause:
    return ast.Rate(count.text, unit, span=span)


def append_only(span: Span) -> ast.Clause:
    return ast.AppendOnly(span=span)


def from_external(span: Span, source: ast.External) -> ast.Clause:
    return ast.FromExternal(source, span=span)


def external(span: Span, format: str, options: tuple[ast.Option, ...] | None) -> ast.External:
    return ast.External(format, options or (), span=span)


def format(span: Span, name: ast.QualifiedName | Token) -> str:
    return _dotted(name)


def options(span: Span, *parts: ast.Option) -> tuple[ast.Option, ...]:
    return parts


def option(span: Span, key: str, value: str) -> ast.Option:
    return ast.Option(key, value, span=span)


def option_key(span: Span, name: ast.QualifiedName | Token) -> str:
    return _dotted(name)


@spelled
def option_value(span: Span, *tokens: Token) -> str:
    first = tokens[0]
    if first.type == "STRING":
        return string_value(first)
    return "".join(token.text for token in tokens).lower()


def _dotted(name: ast.QualifiedName | Token) -> str:
    match name:
        case Token():
            return string_value(name)
        case ast.QualifiedName(parts):
            return ".".join(part.text for part in parts)
