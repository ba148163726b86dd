"""Statements and declarations as documents."""

from __future__ import annotations

from cqlc.syntax import ast
from cqlc.syntax.printer import expressions as ex
from cqlc.syntax.printer.layout import (
    LINE,
    Anchor,
    Doc,
    Group,
    Nest,
    enclosed,
    hanging,
    separated,
)
from cqlc.syntax.printer.queries import query
from cqlc.syntax.words import RESERVED


def statement(node: ast.Statement) -> Doc:
    """A statement without its semicolon."""
    match node:
        case ast.CreateTable():
            return _create_table(node)
        case ast.CreateView(name, columns, body):
            listed: Doc = (" ", ex.name_list(columns)) if columns else ()
            head = ("CREATE VIEW ", ex.qualified(name), listed, " AS")
            return Group((head, Nest((LINE, query(body)))))
        case ast.CreateConstraint(constraint, on):
            place = f" ON {ex.qualified(on)}" if on else ""
            return ("CREATE ", _adherence(constraint), place)
        case ast.CreateSink(name, target):
            return Group(
                (f"CREATE SINK {ex.qualified(name)}", Nest((LINE, "TO ", _external(target))))
            )
        case ast.CreateFunction():
            return _create_function(node)
        case ast.InsertInto(sink, body):
            return hanging(f"INSERT INTO {ex.qualified(sink)}", query(body))
        case ast.QueryStatement(body):
            return query(body)


def _create_table(node: ast.CreateTable) -> Doc:
    head: Doc = f"CREATE {node.kind} {ex.qualified(node.name)}"
    constraints = (_table_constraint(node.kind, part) for part in node.constraints)
    elements = [*map(_column, node.columns), *constraints]
    if elements:
        head = (head, " ", enclosed("(", separated(elements), ")"))
    tail: list[Doc] = [(LINE, Anchor(clause.span, _clause(clause))) for clause in node.clauses]
    if node.query:
        tail.append((LINE, hanging("AS", query(node.query))))
    return Group((head, Nest(tuple(tail))))


def _create_function(node: ast.CreateFunction) -> Doc:
    word = "CREATE AGGREGATE FUNCTION" if node.aggregate else "CREATE FUNCTION"
    parameters = (f"{ex.name(name)} {ex.type_name(type)}" for name, type in node.parameters)
    listed = enclosed("(", separated(parameters), ")")
    return (f"{word} {ex.qualified(node.name)}", listed, f" RETURNS {ex.type_name(node.returns)}")


def _column(node: ast.ColumnDefinition) -> Doc:
    constraints = tuple((" ", _column_constraint(part)) for part in node.constraints)
    return Anchor(node.span, (f"{ex.name(node.name)} {ex.type_name(node.type)}", constraints))


def _column_constraint(node: ast.ColumnConstraint) -> Doc:
    match node:
        case ast.NotNull():
            return "NOT NULL"
        case ast.Check(predicate):
            return enclosed("CHECK (", ex.expression(predicate), ")")
        case ast.Domain(values):
            return enclosed("IN (", separated(map(ex.expression, values)), ")")
        case ast.DistinctCount(count):
            return f"DISTINCT {count}"
        case ast.UniqueColumn():
            return "UNIQUE"


def _table_constraint(kind: ast.TableKind, node: ast.TableConstraint) -> Doc:
    match node:
        case ast.KeyConstraint(columns):
            word = "UNIQUE " if kind is ast.TableKind.STREAM else "KEY "
            return Anchor(node.span, (word, ex.name_list(columns)))
        case ast.CheckConstraint(predicate):
            return Anchor(node.span, enclosed("CHECK (", ex.expression(predicate), ")"))
        case ast.ReferencesConstraint() | ast.OrderedConstraint() | ast.ClusteredConstraint():
            return Anchor(node.span, _adherence(node))


def _adherence(
    node: ast.ReferencesConstraint | ast.OrderedConstraint | ast.ClusteredConstraint,
) -> Doc:
    head = f"CONSTRAINT {ex.name(node.name)} " if node.name else ""
    match node:
        case ast.ReferencesConstraint(_, child, child_columns, parent, parent_columns, bound):
            source = f" FROM {ex.qualified(parent)} " if parent else " FROM "
            columns = (ex.name_list(child_columns), source, ex.name_list(parent_columns))
            return (f"{head}REFERENCES {ex.qualified(child)} ", columns, _bound(bound))
        case ast.OrderedConstraint(_, column, bound):
            return f"{head}ORDERED BY {ex.name(column)}{_bound(bound)}"
        case ast.ClusteredConstraint(_, column, bound):
            return f"{head}CLUSTERED BY {ex.name(column)}{_bound(bound)}"


def _bound(node: ast.Bound) -> str:
    monitor = " MONITOR" if node.monitor else ""
    if node.rows is not None:
        return f" WITHIN {node.rows} ROWS{monitor}"
    return f" WITHIN {ex.duration(node.duration)}{monitor}" if node.duration else monitor


def _clause(node: ast.Clause) -> Doc:
    match node:
        case ast.TimestampBy(column, slack, idle):
            late = f" SLACK {ex.duration(slack)}" if slack else ""
            silent = f" IDLE {ex.duration(idle)}" if idle else ""
            return f"TIMESTAMP BY {ex.name(column)}{late}{silent}"
        case ast.SequenceBy(column):
            return f"SEQUENCE BY {ex.name(column)}"
        case ast.PunctuatedBy(schemes, marker, lifespan):
            mark = f" MARKER {ex.name(marker)}" if marker else ""
            life = f" LIFESPAN {ex.duration(lifespan)}" if lifespan else ""
            return (hanging("PUNCTUATED BY", separated(map(ex.name_list, schemes))), mark, life)
        case ast.PunctuationsFrom(stream):
            return f"PUNCTUATIONS FROM {ex.qualified(stream)}"
        case ast.Rate(count, unit):
            return f"RATE {count} PER {unit.value.removesuffix('S')}"
        case ast.AppendOnly():
            return "APPEND ONLY"
        case ast.FromExternal(source):
            return ("FROM ", _external(source))
        case ast.OrderedConstraint() | ast.ClusteredConstraint() | ast.ReferencesConstraint():
            return _adherence(node)


def _external(node: ast.External) -> Doc:
    head = _dotted(node.format)
    if not node.options:
        return head
    options = (Anchor(o.span, f"{_dotted(o.key)} {ex.string(o.value)}") for o in node.options)
    return (f"{head} ", enclosed("OPTIONS (", separated(options), ")"))


def _dotted(text: str) -> str:
    """A format or an option's key: bare where it is made of plain words, else a string."""
    plain = all(part.isidentifier() and part.isascii() for part in text.split("."))
    return text if plain and not set(text.upper().split(".")) & RESERVED else ex.string(text)
