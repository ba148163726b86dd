"""The syntax tree: what was written, with its places, before any name is looked up."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from cqlc.source import NOWHERE, Span


@dataclass(frozen=True, slots=True)
class Node:
    """The place of a piece of syntax; never part of its identity."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Name(Node):
    """An identifier; `quoted` ones keep their case and may be any text."""

    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class QualifiedName(Node):
    """Identifiers joined by dots."""

    parts: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Duration(Node):
    """A length of time: a number as written and a unit, None where none was written (seconds)."""

    amount: str
    unit: Unit | None


class Unit(StrEnum):
    """Units of time, in their formatted spelling."""

    MICROSECOND = "MICROSECONDS"
    MILLISECOND = "MILLISECONDS"
    SECOND = "SECONDS"
    MINUTE = "MINUTES"
    HOUR = "HOURS"
    DAY = "DAYS"
    WEEK = "WEEKS"


# -------------------------------------------------------------------------------- expressions


class LiteralKind(StrEnum):
    """What a literal was written as."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOATING = "floating"
    STRING = "string"
    BOOLEAN = "boolean"
    NULL = "null"
    TIMESTAMP = "timestamp"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant; `text` is its value without quotes and escapes (TRUE, 12, 1e3, abc)."""

    kind: LiteralKind
    text: str


@dataclass(frozen=True, slots=True)
class DurationLiteral(Node):
    """A duration as a value: `5 MINUTES`."""

    duration: Duration


@dataclass(frozen=True, slots=True)
class Reference(Node):
    """A column, perhaps qualified: `price`, `b.price`, `b.address.city`."""

    name: QualifiedName


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`left op right` with op one of = <> < <= > >= + - * / % ||, or IS [NOT] DISTINCT FROM."""

    op: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Logical(Node):
    """AND or OR of two or more operands."""

    op: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """NOT, - or + before an operand."""

    op: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class IsTest(Node):
    """`operand IS [NOT] NULL|TRUE|FALSE|UNKNOWN`."""

    operand: Expr
    what: str
    negated: bool


@dataclass(frozen=True, slots=True)
class Between(Node):
    """`operand [NOT] BETWEEN low AND high`."""

    operand: Expr
    low: Expr
    high: Expr
    negated: bool


@dataclass(frozen=True, slots=True)
class Like(Node):
    """`operand [NOT] LIKE|ILIKE|RLIKE pattern [ESCAPE escape]`."""

    op: str
    operand: Expr
    pattern: Expr
    escape: Expr | None
    negated: bool


@dataclass(frozen=True, slots=True)
class InList(Node):
    """`operand [NOT] IN (value, ...)`."""

    operand: Expr
    values: tuple[Expr, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class InQuery(Node):
    """`operand [NOT] IN (query)`; the operand may be a `RowValue`."""

    operand: Expr
    query: Query
    negated: bool


@dataclass(frozen=True, slots=True)
class Exists(Node):
    """`EXISTS (query)`."""

    query: Query


@dataclass(frozen=True, slots=True)
class Quantified(Node):
    """`operand op ALL|ANY (query)`; SOME is ANY."""

    op: str
    operand: Expr
    quantifier: str
    query: Query


@dataclass(frozen=True, slots=True)
class ScalarQuery(Node):
    """A query in parentheses used as a value."""

    query: Query


@dataclass(frozen=True, slots=True)
class RowValue(Node):
    """`(a, b)` before IN or a comparison with a query."""

    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class CaseWhen(Node):
    """`CASE [operand] WHEN .. THEN .. [ELSE ..] END`."""

    operand: Expr | None
    branches: tuple[tuple[Expr, Expr], ...]
    otherwise: Expr | None


@dataclass(frozen=True, slots=True)
class CastAs(Node):
    """`CAST(operand AS type)` or `operand::type`."""

    operand: Expr
    type: TypeName


@dataclass(frozen=True, slots=True)
class Star(Node):
    """`*` or `alias.*`, as a select item or the argument of COUNT."""

    qualifier: QualifiedName | None = None


@dataclass(frozen=True, slots=True)
class FunctionCall(Node):
    """`name([DISTINCT] args) [FILTER (WHERE ..)] [OVER (..)]`.

    EXTRACT(MINUTE FROM x) is the call EXTRACT('MINUTE', x); TOP 5 (x) is the call TOP(x, 5).
    """

    name: QualifiedName
    arguments: tuple[Expr, ...]
    distinct: bool = False
    where: Expr | None = None
    over: Over | None = None


@dataclass(frozen=True, slots=True)
class Over(Node):
    """`OVER (PARTITION BY .. ORDER BY ..)`, for the ranking functions."""

    partition: tuple[Expr, ...]
    order: tuple[SortItem, ...]


@dataclass(frozen=True, slots=True)
class Subscript(Node):
    """`operand[index]`: an element of an array, counted from 0."""

    operand: Expr
    index: Expr


@dataclass(frozen=True, slots=True)
class NestedWstream(Node):
    """`WSTREAM(arg)[window]` as the argument of an aggregate."""

    argument: Expr
    window: OutputWindow


Expr: TypeAlias = (
    Literal
    | DurationLiteral
    | Reference
    | Binary
    | Logical
    | Unary
    | IsTest
    | Between
    | Like
    | InList
    | InQuery
    | Exists
    | Quantified
    | ScalarQuery
    | RowValue
    | CaseWhen
    | CastAs
    | Star
    | FunctionCall
    | Subscript
    | NestedWstream
)


@dataclass(frozen=True, slots=True)
class TypeName(Node):
    """A type as written: `DECIMAL(10, 2)`, `ARRAY<STRING>`, `STRUCT<a: INT>`."""

    name: str
    parameters: tuple[int, ...] = ()
    arguments: tuple[TypeName, ...] = ()
    field_names: tuple[Name, ...] = ()


# ------------------------------------------------------------------------------------ windows


@dataclass(frozen=True, slots=True)
class NowWindow(Node):
    """`[NOW]`."""


@dataclass(frozen=True, slots=True)
class UnboundedWindow(Node):
    """`[UNBOUNDED]` or `[RANGE UNBOUNDED]`."""

    internal: bool = False


@dataclass(frozen=True, slots=True)
class RangeWindow(Node):
    """`[RANGE length [SLIDE d [OFFSET o]] [INTERNAL|EXTERNAL]]`; WINDOW is a synonym of RANGE."""

    length: Duration
    slide: Duration | None = None
    offset: Duration | None = None
    internal: bool = False


@dataclass(frozen=True, slots=True)
class RowsWindow(Node):
    """`[[PARTITION BY cols] ROWS n [RANGE t] [SLIDE m ROWS] [INTERNAL|EXTERNAL]]`."""

    rows: str
    partition: tuple[QualifiedName, ...] = ()
    range: Duration | None = None
    slide: str | None = None
    internal: bool = False


@dataclass(frozen=True, slots=True)
class SessionWindow(Node):
    """`[[PARTITION BY cols] SESSION gap]`."""

    gap: Duration
    partition: tuple[QualifiedName, ...] = ()


Window: TypeAlias = NowWindow | UnboundedWindow | RangeWindow | RowsWindow | SessionWindow


@dataclass(frozen=True, slots=True)
class OutputRows(Node):
    """`[ROWS n]` after WSTREAM."""

    rows: str


@dataclass(frozen=True, slots=True)
class OutputRange(Node):
    """`[RANGE t]` after WSTREAM."""

    length: Duration


OutputWindow: TypeAlias = OutputRows | OutputRange


# ------------------------------------------------------------------------------------ queries


class StreamOperator(StrEnum):
    """The relation-to-stream operators."""

    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"
    RSTREAM = "RSTREAM"
    WSTREAM = "WSTREAM"


@dataclass(frozen=True, slots=True)
class ToStream(Node):
    """A relation-to-stream operator as written: with -RESTORE, EVERY or an output window."""

    operator: StreamOperator
    restore: bool = False
    every: Duration | None = None
    window: OutputWindow | None = None


@dataclass(frozen=True, slots=True)
class SelectItem(Node):
    """An expression, or a star, with an optional name."""

    value: Expr
    alias: Name | None = None


@dataclass(frozen=True, slots=True)
class SortItem(Node):
    """One key of ORDER BY; `nulls` is FIRST, LAST or None."""

    value: Expr
    descending: bool = False
    nulls: str | None = None


@dataclass(frozen=True, slots=True)
class TableReference(Node):
    """A named stream, relation, NRR, view or CTE with its window and alias."""

    name: QualifiedName
    window: Window | None = None
    alias: Name | None = None


@dataclass(frozen=True, slots=True)
class Subquery(Node):
    """A query in FROM, with its window (if it is a stream) and alias (with column names)."""

    query: Query
    window: Window | None = None
    alias: Name | None = None
    columns: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinClause(Node):
    """`left [INNER|LEFT|RIGHT|FULL|CROSS|SEMI|ANTI] JOIN right [ON p | USING (cols)]`."""

    left: FromItem
    kind: str
    right: FromItem
    on: Expr | None = None
    using: tuple[Name, ...] = ()


FromItem: TypeAlias = TableReference | Subquery | JoinClause


@dataclass(frozen=True, slots=True)
class Shedding(Node):
    """`ON OVERLOAD SHED BY policy KEEP n ROWS [SPLIT FIXED|VARIABLE]`."""

    policy: str
    keep: str
    split: str | None = None


@dataclass(frozen=True, slots=True)
class Select(Node):
    """One SELECT block. `to_stream` is an operator written around the select list.

    A list operator covers the whole list: `SELECT ISTREAM(a, b)`. DISTINCT may stand outside or
    inside of it and means the same.
    """

    items: tuple[SelectItem, ...]
    distinct: bool = False
    to_stream: ToStream | None = None
    sources: tuple[FromItem, ...] = ()
    where: Expr | None = None
    group_by: tuple[Expr, ...] = ()
    having: Expr | None = None
    shedding: Shedding | None = None


@dataclass(frozen=True, slots=True)
class ValuesClause(Node):
    """`VALUES (..), (..)`."""

    rows: tuple[tuple[Expr, ...], ...]


@dataclass(frozen=True, slots=True)
class NamedOperand(Node):
    """A bare name where a query is wanted, as in the prototype's `S UNION T`."""

    name: QualifiedName


@dataclass(frozen=True, slots=True)
class SetOperation(Node):
    """`left UNION|EXCEPT|INTERSECT [ALL] right`; MINUS is EXCEPT."""

    op: str
    all: bool
    left: QueryBody
    right: QueryBody


@dataclass(frozen=True, slots=True)
class StreamOf(Node):
    """A relation-to-stream operator written around a query: `ISTREAM(SELECT ..)`."""

    operator: ToStream
    query: Query


QueryBody: TypeAlias = "Select | ValuesClause | NamedOperand | SetOperation | StreamOf | Query"


@dataclass(frozen=True, slots=True)
class CommonTable(Node):
    """`name [(cols)] AS (query)` of a WITH clause."""

    name: Name
    columns: tuple[Name, ...]
    query: Query


@dataclass(frozen=True, slots=True)
class Query(Node):
    """A query body with its CTEs, order and limit. A body in parentheses is a `Query` again."""

    body: QueryBody
    ctes: tuple[CommonTable, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    limit: str | None = None
    offset: str | None = None


# ------------------------------------------------------------------------------- declarations


@dataclass(frozen=True, slots=True)
class Option(Node):
    """`key 'value'` in OPTIONS (...); a dotted key is joined with dots."""

    key: str
    value: str


@dataclass(frozen=True, slots=True)
class External(Node):
    """`format OPTIONS (...)`: where data comes from or goes to."""

    format: str
    options: tuple[Option, ...] = ()


@dataclass(frozen=True, slots=True)
class NotNull(Node):
    """`NOT NULL`."""


@dataclass(frozen=True, slots=True)
class Check(Node):
    """`CHECK (predicate)`."""

    predicate: Expr


@dataclass(frozen=True, slots=True)
class Domain(Node):
    """`IN (value, ...)`: a finite domain."""

    values: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class DistinctCount(Node):
    """`DISTINCT n`: about how many different values there are."""

    count: str


@dataclass(frozen=True, slots=True)
class UniqueColumn(Node):
    """`KEY`, `PRIMARY KEY` or `UNIQUE` on one column."""


ColumnConstraint: TypeAlias = NotNull | Check | Domain | DistinctCount | UniqueColumn


@dataclass(frozen=True, slots=True)
class ColumnDefinition(Node):
    """`name type constraint...`."""

    name: Name
    type: TypeName
    constraints: tuple[ColumnConstraint, ...] = ()


@dataclass(frozen=True, slots=True)
class Bound(Node):
    """The adherence k of a k-constraint: `WITHIN k ROWS`, `WITHIN 5 SECONDS`; None with MONITOR."""

    rows: str | None = None
    duration: Duration | None = None
    monitor: bool = False


@dataclass(frozen=True, slots=True)
class KeyConstraint(Node):
    """`[PRIMARY] KEY (cols)` or `UNIQUE (cols)`."""

    columns: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class CheckConstraint(Node):
    """A table-level `CHECK (predicate)`."""

    predicate: Expr


@dataclass(frozen=True, slots=True)
class ReferencesConstraint(Node):
    """`[CONSTRAINT c] REFERENCES child (cols) FROM parent (cols) WITHIN k`: many-one and RIDS(k).

    Inside the declaration of the parent the FROM part names columns only.
    """

    name: Name | None
    child: QualifiedName
    child_columns: tuple[Name, ...]
    parent: QualifiedName | None
    parent_columns: tuple[Name, ...]
    bound: Bound


@dataclass(frozen=True, slots=True)
class OrderedConstraint(Node):
    """`[CONSTRAINT c] ORDERED BY col WITHIN k`: OA(k)."""

    name: Name | None
    column: Name
    bound: Bound


@dataclass(frozen=True, slots=True)
class ClusteredConstraint(Node):
    """`[CONSTRAINT c] CLUSTERED BY col WITHIN k`: CA(k)."""

    name: Name | None
    column: Name
    bound: Bound


TableConstraint: TypeAlias = (
    KeyConstraint | CheckConstraint | ReferencesConstraint | OrderedConstraint | ClusteredConstraint
)


@dataclass(frozen=True, slots=True)
class TimestampBy(Node):
    """`TIMESTAMP BY col [SLACK d [IDLE d]]`."""

    column: Name
    slack: Duration | None = None
    idle: Duration | None = None


@dataclass(frozen=True, slots=True)
class SequenceBy(Node):
    """`SEQUENCE BY col`."""

    column: Name


@dataclass(frozen=True, slots=True)
class PunctuatedBy(Node):
    """`PUNCTUATED BY (cols), (cols) ... [MARKER col] [LIFESPAN d]`."""

    schemes: tuple[tuple[Name, ...], ...]
    marker: Name | None = None
    lifespan: Duration | None = None


@dataclass(frozen=True, slots=True)
class PunctuationsFrom(Node):
    """`PUNCTUATIONS FROM stream`: a companion stream carries the punctuations."""

    stream: QualifiedName


@dataclass(frozen=True, slots=True)
class Rate(Node):
    """`RATE n PER unit`."""

    count: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class AppendOnly(Node):
    """`APPEND ONLY`."""


@dataclass(frozen=True, slots=True)
class FromExternal(Node):
    """`FROM format OPTIONS (...)`."""

    source: External


Clause: TypeAlias = (
    TimestampBy
    | SequenceBy
    | PunctuatedBy
    | PunctuationsFrom
    | Rate
    | AppendOnly
    | FromExternal
    | OrderedConstraint
    | ClusteredConstraint
    | ReferencesConstraint
)


class TableKind(StrEnum):
    """The kinds of declared tables."""

    STREAM = "STREAM"
    RELATION = "RELATION"
    NRR = "NRR"


@dataclass(frozen=True, slots=True)
class CreateTable(Node):
    """`CREATE|REGISTER STREAM|RELATION|NRR name (columns, constraints) clause...`.

    With `AS query` it is a view with a declared sort and columns, the prototype's vtable.
    """

    kind: TableKind
    name: QualifiedName
    columns: tuple[ColumnDefinition, ...]
    constraints: tuple[TableConstraint, ...] = ()
    clauses: tuple[Clause, ...] = ()
    query: Query | None = None


@dataclass(frozen=True, slots=True)
class CreateView(Node):
    """`CREATE VIEW name [(cols)] AS query`."""

    name: QualifiedName
    columns: tuple[Name, ...]
    query: Query


@dataclass(frozen=True, slots=True)
class CreateConstraint(Node):
    """A k-constraint as a statement of its own: `CREATE CONSTRAINT c ... ON stream`."""

    constraint: ReferencesConstraint | OrderedConstraint | ClusteredConstraint
    on: QualifiedName | None = None


@dataclass(frozen=True, slots=True)
class CreateSink(Node):
    """`CREATE SINK name TO format OPTIONS (...)`."""

    name: QualifiedName
    target: External


@dataclass(frozen=True, slots=True)
class CreateFunction(Node):
    """`CREATE [AGGREGATE] FUNCTION name(param type, ...) RETURNS type`."""

    name: QualifiedName
    parameters: tuple[tuple[Name, TypeName], ...]
    returns: TypeName
    aggregate: bool = False


@dataclass(frozen=True, slots=True)
class InsertInto(Node):
    """`INSERT INTO sink query`."""

    sink: QualifiedName
    query: Query


@dataclass(frozen=True, slots=True)
class QueryStatement(Node):
    """A query that stands alone and goes to the default sink."""

    query: Query


Statement: TypeAlias = (
    CreateTable
    | CreateView
    | CreateConstraint
    | CreateSink
    | CreateFunction
    | InsertInto
    | QueryStatement
)


@dataclass(frozen=True, slots=True)
class Program(Node):
    """The statements of a text, in order."""

    statements: tuple[Statement, ...]
