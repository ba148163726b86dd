"""Expressions: from syntax to typed algebra, with subqueries left standing as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from cqlc.algebra.expr import (
    And,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
    Expr,
    IsNull,
    Literal,
    Negate,
    Not,
    Operator,
    Or,
    type_of,
)
from cqlc.algebra.plan import NamedAggregate, Relation
from cqlc.codes import names as codes
from cqlc.codes import windows as window_codes
from cqlc.datatypes import (
    BOOLEAN,
    DOUBLE,
    DURATION,
    INT,
    NULL,
    STRING,
    Array,
    DataType,
    is_integer,
    is_numeric,
)
from cqlc.diagnostics import Fix
from cqlc.functions import SCALARS
from cqlc.resolve.aggregates import Ranking
from cqlc.resolve.calls import call, check_constant
from cqlc.resolve.columns import column
from cqlc.resolve.environment import Environment
from cqlc.resolve.lookup import Fresh
from cqlc.resolve.operators import POISON, a_type, arithmetic, compare, condition, convert, unify
from cqlc.resolve.predicates import (
    compare_tuples,
    exists,
    in_list,
    in_query,
    negated_if,
    quantified,
    scalar,
)
from cqlc.resolve.scope import Missing, Scope
from cqlc.resolve.subqueries import Subqueries
from cqlc.resolve.types import castable, data_type, duration, literal
from cqlc.source import NOWHERE, Span
from cqlc.syntax import ast

_COST = 4
"""Python calls that one level of an expression takes, here and in later walks."""

_ARITHMETIC = {operator.value: operator for operator in Operator}
_COMPARISONS = {comparison.value: comparison for comparison in Comparison}


@dataclass(frozen=True, slots=True)
class Rows:
    """The relation a subquery stands for, and its columns."""

    relation: Relation
    columns: tuple[Column, ...]


ResolveRows = Callable[[ast.Query, Scope], Rows | None]
"""How the queries inside expressions are resolved; None if they are broken."""


@dataclass(slots=True)
class Expressions:
    """Resolves the expressions of one clause.

    `aggregates` and `rankings` collect those found; None where they may not stand. `aliases` are
    the named items of the select list, which some clauses may use.
    """

    env: Environment
    scope: Scope
    clause: str
    resolve_rows: ResolveRows
    subqueries: Subqueries
    names: Fresh = field(default_factory=Fresh)
    aggregates: list[NamedAggregate] | None = None
    rankings: list[Ranking] | None = None
    aliases: Mapping[str, ast.Expr] = field(default_factory=dict[str, ast.Expr])

    def condition(self, expr: ast.Expr) -> Expr:
        """An expression that must be true or false."""
        return condition(self.value(expr), self.env.findings, self.clause)

    def value(self, expr: ast.Expr) -> Expr:
        """Any expression that has one value."""
        self.env.budget -= _COST
        try:
            return self._too_deep(expr) if self.env.budget < 0 else self._value(expr)
        finally:
            self.env.budget += _COST

    def _value(self, expr: ast.Expr) -> Expr:
        findings = self.env.findings
        match expr:
            case ast.Literal():
                return literal(expr, findings)
            case ast.DurationLiteral(written):
                return Literal(duration(written, findings), DURATION, span=expr.span)
            case ast.Reference(name):
                return self._reference(name)
            case ast.Binary():
                return self._binary(expr)
            case ast.Logical(op, operands):
                parts = tuple(
                    condition(self.value(o), findings, f"what {op} joins") for o in operands
                )
                return And(parts, span=expr.span) if op == "AND" else Or(parts, span=expr.span)
            case ast.Unary():
                return self._unary(expr)
            case ast.IsTest(operand, what, negated):
                return negated_if(negated, self._is_test(operand, what, expr.span))
            case ast.Between():
                return self._between(expr)
            case ast.Like():
                return self._like(expr)
            case ast.InList():
                return in_list(self, expr)
            case ast.InQuery():
                return in_query(self, expr)
            case ast.Exists(query):
                return exists(self, query, expr.span)
            case ast.Quantified():
                return quantified(self, expr)
            case ast.ScalarQuery(query):
                return scalar(self, query, expr.span)
            case ast.CaseWhen():
                return self._case(expr)
            case ast.CastAs(operand, type):
                return self._cast(self.value(operand), type, expr.span)
            case ast.FunctionCall():
                return call(self, expr)
            case ast.Subscript(operand, index):
                return self._subscript(self.value(operand), self.value(index), expr.span)
            case ast.Star() | ast.RowValue() | ast.NestedWstream():
                return self._misplaced(expr)

    def without_aliases(self) -> Expressions:
        """The same, but the select list's names mean nothing."""
        return replace(self, aliases={})

    # ------------------------------------------------------------------------------- operators

    def _reference(self, name: ast.QualifiedName) -> Expr:
        item = self.aliases.get(name.parts[0].text.lower()) if len(name.parts) == 1 else None
        if item is not None and isinstance(self.scope.find(name), Missing):
            return self.without_aliases().value(item)
        return column(name, self.scope, self.env)

    def _binary(self, expr: ast.Binary) -> Expr:
        findings = self.env.findings
        if isinstance(expr.left, ast.RowValue) or isinstance(expr.right, ast.RowValue):
            return compare_tuples(self, expr)
        left, right = self.value(expr.left), self.value(expr.right)
        if expr.op == "||":
            return self._concatenate(left, right, expr.span)
        if operator := _ARITHMETIC.get(expr.op):
            return arithmetic(operator, left, right, expr.span, findings)
        self._check_null(expr)
        return compare(_COMPARISONS[expr.op], left, right, expr.span, findings)

    def _check_null(self, expr: ast.Binary) -> None:
        null = next((e for e in (expr.left, expr.right) if _is_null(e)), None)
        if null is None or expr.op not in ("=", "<>"):
            return
        negation = "IS NULL" if expr.op == "=" else "IS NOT NULL"
        fix = None
        if null is expr.right and expr.left.span != NOWHERE:
            fix = Fix(f"use {negation}", Span(expr.left.span.end, null.span.end), f" {negation}")
        self.env.findings.report(
            codes.EQUALS_NULL,
            f"a comparison with NULL is never true: use {negation}",
            expr.span,
            "always NULL",
            help=f"write .. {negation}",
            fix=fix,
        )

    def _concatenate(self, left: Expr, right: Expr, span: Span) -> Expr:
        parts: list[Expr] = []
        for side in (left, right):
            if isinstance(side, Call) and side.function == "CONCAT" and side.type == STRING:
                parts += side.arguments
            else:
                parts.append(side)
        unified = unify(parts)
        if unified is not None:
            values, type = unified
            if type in (STRING, NULL) or isinstance(type, Array):
                return Call("CONCAT", tuple(values), type, span=span)
        wrong = next((p for p in parts if type_of(p) not in (STRING, NULL)), parts[-1])
        self.env.findings.report(
            codes.WRONG_OPERAND,
            f"|| does not apply to {a_type(type_of(wrong))}",
            wrong.span,
            f"this is {a_type(type_of(wrong))}",
            help="convert it: CAST(.. AS STRING)",
        )
        return Literal(None, STRING, span=span)

    def _unary(self, expr: ast.Unary) -> Expr:
        if expr.op == "NOT":
            return Not(
                condition(self.value(expr.operand), self.env.findings, "NOT"), span=expr.span
            )
        if expr.op == "-" and isinstance(expr.operand, ast.Literal) and _is_number(expr.operand):
            return replace(literal(expr.operand, self.env.findings, "-"), span=expr.span)
        operand = self.value(expr.operand)
        type = type_of(operand)
        if not (is_numeric(type) or type in (DURATION, NULL)):
            self.env.findings.report(
                codes.WRONG_OPERAND,
                f"{expr.op} does not apply to {a_type(type)}",
                expr.span,
                f"this is {a_type(type)}",
                help="only numbers and lengths of time have a sign",
            )
            return POISON
        if type == NULL:
            operand = convert(operand, DOUBLE)
        return operand if expr.op == "+" else Negate(operand, span=expr.span)

    def _is_test(self, operand: ast.Expr, what: str, span: Span) -> Expr:
        value = self.value(operand)
        if what == "NULL":
            return IsNull(value, span=span)
        value = condition(value, self.env.findings, f"what IS {what} tests")
        if what == "UNKNOWN":
            return IsNull(value, span=span)
        return Compare(Comparison.SAME, value, Literal(what == "TRUE", BOOLEAN), span=span)

    def _between(self, expr: ast.Between) -> Expr:
        value, low, high = self.value(expr.operand), self.value(expr.low), self.value(expr.high)
        findings = self.env.findings
        inside = And(
            (
                compare(Comparison.GE, value, low, expr.span, findings),
                compare(Comparison.LE, value, high, expr.span, findings),
            ),
            span=expr.span,
        )
        return negated_if(expr.negated, inside)

    def _like(self, expr: ast.Like) -> Expr:
        operands = [expr.operand, expr.pattern, *([expr.escape] if expr.escape else [])]
        arguments = [self.value(operand) for operand in operands]
        for argument in arguments:
            if type_of(argument) not in (STRING, NULL):
                self.env.findings.report(
                    codes.WRONG_OPERAND,
                    f"{expr.op} does not apply to {a_type(type_of(argument))}",
                    argument.span,
                    f"this is {a_type(type_of(argument))}",
                    help="convert it: CAST(.. AS STRING)",
                )
        function = "REGEXP_LIKE" if expr.op == "RLIKE" else expr.op
        if expr.escape is not None and expr.op == "RLIKE":
            self.env.findings.report(
                codes.WRONG_OPERAND,
                "RLIKE has no ESCAPE",
                expr.escape.span,
                "a regular expression escapes with a backslash",
                help="write a backslash before the character, and leave ESCAPE out",
            )
        elif expr.escape is not None:
            check_constant(self, SCALARS[function], arguments[-1])
        strings = tuple(convert(argument, STRING) for argument in arguments)
        return negated_if(expr.negated, Call(function, strings, BOOLEAN, span=expr.span))

    def _case(self, expr: ast.CaseWhen) -> Expr:
        findings = self.env.findings
        subject = None if expr.operand is None else self.value(expr.operand)
        whens: list[Expr] = []
        for when, _ in expr.branches:
            value = self.value(when)
            if subject is None:
                whens.append(condition(value, findings, "what follows WHEN"))
            else:
                whens.append(compare(Comparison.EQ, subject, value, when.span, findings))
        values = [self.value(then) for _, then in expr.branches]
        values.append(self.value(expr.otherwise) if expr.otherwise else POISON)
        unified = unify(values)
        if unified is None:
            self._no_common_type(values, expr.span, "the results of CASE")
            return replace(POISON, span=expr.span)
        converted, type = unified
        branches = tuple(zip(whens, converted[:-1], strict=True))
        return Case(branches, converted[-1], type, span=expr.span)

    def _no_common_type(self, values: list[Expr], span: Span, what: str) -> None:
        types = list(dict.fromkeys(str(type_of(v)) for v in values if type_of(v) != NULL))
        self.env.findings.report(
            codes.NO_COMMON_TYPE,
            f"{what} have no common type",
            span,
            f"{', '.join(types)} do not convert to each other",
            help="convert them with CAST",
        )

    def _cast(self, operand: Expr, written: ast.TypeName, span: Span) -> Expr:
        target = data_type(written, self.env.findings)
        if target is None:
            return replace(POISON, span=span)
        if castable(type_of(operand), target):
            return replace(convert(operand, target), span=span)
        self.env.findings.report(
            codes.IMPOSSIBLE_CAST,
            f"{a_type(type_of(operand))} cannot be converted to {a_type(target)}",
            span,
            "there is no such conversion",
            help=_cast_help(type_of(operand), target),
        )
        return Cast(POISON, target, span=span)

    def _subscript(self, array: Expr, index: Expr, span: Span) -> Expr:
        type = type_of(array)
        if isinstance(type, Array) and (position := _as_index(index)) is not None:
            return Call("GET", (array, position), type.element, span=span)
        if NULL not in (type, type_of(index)):
            self.env.findings.report(
                codes.WRONG_OPERAND,
                f"[..] does not apply to {a_type(type)} and {a_type(type_of(index))}",
                span,
                "an array and a whole number are needed",
                help="elements of an ARRAY are counted from 0; a window stands in FROM",
            )
        return replace(POISON, span=span)

    # --------------------------------------------------------------------------- what is wrong

    def _misplaced(self, expr: ast.Expr) -> Expr:
        code, message, help = codes.MISPLACED_EXPRESSION, "", ""
        match expr:
            case ast.Star():
                message = "* cannot stand here"
                help = "* is a select item, or what COUNT counts"
            case ast.NestedWstream():
                code = window_codes.NESTED_WSTREAM_MISUSED
                message = "WSTREAM(..)[..] can only be the argument of an aggregate"
                help = "write SUM(WSTREAM(SUM(a))[ROWS 10]), or WSTREAM around the whole list"
            case _:
                message = "a row of values can only be compared"
                help = "compare it with = or IN"
        self.env.findings.report(code, message, expr.span, f"in {self.clause}", help=help)
        return replace(POISON, span=expr.span)

    def _too_deep(self, expr: ast.Expr) -> Expr:
        self.env.findings.report(
            codes.TOO_DEEP,
            "the expression nests too deeply",
            expr.span,
            "too deep",
            help="cut it up with a subquery or a view",
        )
        return replace(POISON, span=expr.span)


def _is_null(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Literal) and expr.kind is ast.LiteralKind.NULL


def _is_number(expr: ast.Literal) -> bool:
    return expr.kind in (
        ast.LiteralKind.INTEGER,
        ast.LiteralKind.DECIMAL,
        ast.LiteralKind.FLOATING,
    )


def _as_index(expr: Expr) -> Expr | None:
    return convert(expr, INT) if is_integer(type_of(expr)) else None


def _cast_help(source: DataType, target: DataType) -> str:
    if DURATION in (source, target):
        return "DURATION_SECONDS(d) gives the seconds of a length of time; n * 1 SECOND makes one"
    return "go through another type, for example STRING"
