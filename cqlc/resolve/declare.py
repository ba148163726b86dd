"""CREATE statements: streams, relations, NRRs, sinks and functions, into the catalog."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cqlc.algebra.expr import (
    And,
    Cast,
    Column,
    Compare,
    Expr,
    IsNull,
    Literal,
    Not,
    Or,
    Value,
    type_of,
)
from cqlc.algebra.walk import conjuncts
from cqlc.catalog import (
    ColumnDeclaration,
    FunctionDeclaration,
    SinkDeclaration,
    TableDeclaration,
    TableKind,
)
from cqlc.codes import names as codes
from cqlc.datatypes import NULL, DataType
from cqlc.diagnostics import Label
from cqlc.functions import aggregate_function, scalar_function
from cqlc.resolve.clauses import Clauses
from cqlc.resolve.environment import Environment
from cqlc.resolve.expression import Expressions, Rows
from cqlc.resolve.external import external
from cqlc.resolve.items import RESERVED
from cqlc.resolve.lookup import Names, dotted, same_name
from cqlc.resolve.operators import a_type, as_type
from cqlc.resolve.scope import Scope, ScopeColumn, ScopeItem
from cqlc.resolve.subqueries import Subqueries
from cqlc.resolve.types import count, data_type
from cqlc.source import Span
from cqlc.syntax import ast


@dataclass(slots=True)
class Declarations:
    """Declares the things of a program; `places` says where each stream, relation and view is."""

    env: Environment
    places: Names[Span] = field(default_factory=Names[Span])

    # -------------------------------------------------------------------------------------- tables

    def table(self, statement: ast.CreateTable) -> TableDeclaration | None:
        """A stream, relation or NRR, without what it says of others; None if it has no columns."""
        columns = self._columns(statement)
        if not columns:
            self.env.findings.report(
                codes.BAD_CLAUSE,
                f"{dotted(statement.name).text} has no columns",
                statement.name.span,
                "its columns are not declared",
                help=f"list them: CREATE {statement.kind} "
                f"{dotted(statement.name).text} (id BIGINT, at TIMESTAMP)",
            )
            return None
        table = TableDeclaration(
            TableKind(statement.kind), dotted(statement.name).text, columns, span=statement.span
        )
        table = self._constrained(table, statement)
        for written in statement.clauses:
            table = Clauses(self.env, table).apply(written, statement.clauses)
        return table

    def claim(self, name: ast.QualifiedName) -> bool:
        """Whether a stream, relation or view may have this name; a finding if it is taken."""
        written = dotted(name)
        other = self.places.find(written) if self.places.taken(written) else None
        if other is None and not self.env.tables.taken(written):
            self.places.add(written.text, name.span)
            return True
        related = () if other is None else (Label(other, "first declared here"),)
        self.env.findings.report(
            codes.DUPLICATE_NAME,
            f"{written.text} is declared twice",
            name.span,
            "declared again" if related else "the catalog has it already",
            help="give one of them another name",
            related=related,
        )
        return False

    def _columns(self, statement: ast.CreateTable) -> tuple[ColumnDeclaration, ...]:
        found: list[ColumnDeclaration] = []
        for definition in statement.columns:
            name = definition.name
            other = next((c for c in found if same_name(name, c.name)), None)
            if other is not None:
                self.env.findings.report(
                    codes.DUPLICATE_COLUMN,
                    f"the column {name.text} is there twice",
                    name.span,
                    "declared again",
                    help="give it another name",
                    related=(Label(other.span, "first declared here"),),
                )
                continue
            if name.text.lower() in RESERVED:
                self.env.findings.report(
                    codes.RESERVED_NAME,
                    f"{name.text} is a name of its own",
                    name.span,
                    "every stream has a column of this name",
                    help="call it something else",
                )
            found.append(self._column(definition))
        return tuple(found)

    def _column(self, definition: ast.ColumnDefinition) -> ColumnDeclaration:
        type = data_type(definition.type, self.env.findings) or NULL
        column = ColumnDeclaration(definition.name.text, type, span=definition.name.span)
        for constraint in definition.constraints:
            match constraint:
                case ast.NotNull():
                    column = replace(column, nullable=False)
                case ast.Domain(values):
                    column = replace(column, domain=self._domain(values, column))
                case ast.DistinctCount(text):
                    distinct = count(text, constraint.span, self.env.findings)
                    column = replace(column, distinct=distinct)
                case ast.Check() | ast.UniqueColumn():
                    pass  # these speak of the whole table
        return column

    def _domain(
        self, written: tuple[ast.Expr, ...], column: ColumnDeclaration
    ) -> tuple[Value, ...] | None:
        resolver = self.expressions((), "IN")
        values: list[Value] = []
        for expr in written:
            value = resolver.value(expr)
            constant = as_type(value, column.type) if column.type != NULL else value
            if isinstance(constant, Literal) and constant.value is not None:
                values.append(constant.value)
                continue
            self.env.findings.report(
                codes.BAD_CHECK,
                f"the values of {column.name} must be constants of type {column.type}",
                expr.span,
                f"this is {a_type(type_of(value))}",
                help=f"list constants: {column.name} {column.type} IN (..)",
            )
        return tuple(dict.fromkeys(values))

    # --------------------------------------------------------------------------------- constraints

    def _constrained(self, table: TableDeclaration, statement: ast.CreateTable) -> TableDeclaration:
        keys: list[tuple[str, ...]] = []
        checks: list[Expr] = []
        for definition in statement.columns:
            for constraint in definition.constraints:
                match constraint:
                    case ast.UniqueColumn():
                        keys.append((definition.name.text,))
                    case ast.Check(predicate):
                        checks += self._check(table, predicate)
                    case ast.NotNull() | ast.Domain() | ast.DistinctCount():
                        pass
        clauses = Clauses(self.env, table)
        for constraint in statement.constraints:
            match constraint:
                case ast.KeyConstraint(names):
                    columns = clauses.columns(names)
                    keys += [columns] if columns else []
                case ast.CheckConstraint(predicate):
                    checks += self._check(table, predicate)
                case ast.OrderedConstraint() | ast.ClusteredConstraint():
                    table = clauses.apply(constraint, statement.clauses)
                    clauses = Clauses(self.env, table)
                case ast.ReferencesConstraint():
                    pass  # resolved when all tables are known
        return replace(table, keys=tuple(dict.fromkeys(keys)), checks=tuple(checks))

    def _check(self, table: TableDeclaration, predicate: ast.Expr) -> tuple[Expr, ...]:
        resolver = self.expressions(table.columns, "CHECK")
        failures = self.env.findings.failures
        resolved = resolver.condition(predicate)
        if self.env.findings.failures > failures:
            return ()
        if _is_simple(resolved):
            return conjuncts(resolved)
        self.env.findings.report(
            codes.BAD_CHECK,
            "CHECK takes comparisons of a column with constants, joined by AND and OR",
            predicate.span,
            "more than that",
            help="state what bounds single columns: CHECK (price > 0 AND price < 1000)",
        )
        return ()

    def expressions(self, columns: tuple[ColumnDeclaration, ...], clause: str) -> Expressions:
        """Expressions over a table's own columns."""
        visible = tuple(ScopeColumn(c.name, Column(c.name, c.type)) for c in columns)
        scope = Scope([ScopeItem("", "", visible)] if columns else [])
        return Expressions(self.env, scope, clause, self._no_subquery, Subqueries())

    def _no_subquery(self, query: ast.Query, _scope: Scope) -> Rows | None:
        self.env.findings.report(
            codes.MISPLACED_EXPRESSION,
            "a declaration cannot ask a query",
            query.span,
            "only constants and columns may stand here",
            help="put the condition into the query",
        )
        return None

    # ------------------------------------------------------------------------ sinks and functions

    def sink(self, statement: ast.CreateSink) -> None:
        """A sink."""
        name = dotted(statement.name)
        if self.env.sinks.taken(name):
            self._duplicate(statement.name, "sink")
            return
        target = external(statement.target, self.env)
        self.env.sinks.add(name.text, SinkDeclaration(name.text, target, span=statement.span))

    def function(self, statement: ast.CreateFunction) -> None:
        """A function of the user's own."""
        name = dotted(statement.name)
        word = name.text.upper()
        if self.env.functions.taken(name) or scalar_function(word) or aggregate_function(word):
            self._duplicate(statement.name, "function")
            return
        parameters: list[tuple[str, DataType]] = []
        for parameter, written in statement.parameters:
            type = data_type(written, self.env.findings) or NULL
            if any(same_name(parameter, other) for other, _ in parameters):
                self.env.findings.report(
                    codes.DUPLICATE_COLUMN,
                    f"the parameter {parameter.text} is there twice",
                    parameter.span,
                    "declared again",
                    help="give it another name",
                )
            parameters.append((parameter.text, type))
        returns = data_type(statement.returns, self.env.findings) or NULL
        declared = FunctionDeclaration(
            name.text, tuple(parameters), returns, statement.aggregate, span=statement.span
        )
        self.env.functions.add(name.text, declared)

    def _duplicate(self, name: ast.QualifiedName, what: str) -> None:
        self.env.findings.report(
            codes.DUPLICATE_NAME,
            f"there is a {what} {dotted(name).text} already",
            name.span,
            "declared again",
            help="give it another name",
        )


def _is_simple(predicate: Expr) -> bool:
    """Whether a CHECK only compares columns with constants."""
    match predicate:
        case And(parts) | Or(parts):
            return all(map(_is_simple, parts))
        case Compare(_, left, right):
            return (_is_column(left) and isinstance(right, Literal)) or (
                isinstance(left, Literal) and _is_column(right)
            )
        case IsNull(operand) | Not(IsNull(operand)):
            return _is_column(operand)
        case Not(operand):
            return _is_simple(operand)
        case Column() | Literal():
            return True
        case _:
            return False


def _is_column(expr: Expr) -> bool:
    return isinstance(expr, Column) or (isinstance(expr, Cast) and isinstance(expr.operand, Column))
