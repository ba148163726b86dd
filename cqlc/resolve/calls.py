"""Function calls: scalar functions, aggregates, ranking functions and declared functions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cqlc.algebra.expr import Call, Expr, Literal
from cqlc.algebra.plan import RankKind
from cqlc.catalog import FunctionDeclaration
from cqlc.codes import names as codes
from cqlc.functions import ScalarFunction, aggregate_function, function_names, scalar_function
from cqlc.resolve.aggregates import aggregate, declared_aggregate, ranking, row_resolver
from cqlc.resolve.arguments import (
    converted,
    declared_arguments,
    fit,
    refuse_clauses,
    wrong_arguments,
)
from cqlc.resolve.foreign import FOREIGN_FUNCTIONS, UNCERTAIN_FUNCTIONS
from cqlc.resolve.lookup import dotted
from cqlc.resolve.operators import POISON
from cqlc.suggest import closest
from cqlc.syntax import ast

if TYPE_CHECKING:
    from cqlc.resolve.expression import Expressions

_PARTS = {
    "YEAR": "YEAR",
    "QUARTER": "QUARTER",
    "MONTH": "MONTH",
    "WEEK": "WEEK",
    "DAY": "DAY",
    "DOW": "DAYOFWEEK",
    "DAYOFWEEK": "DAYOFWEEK",
    "DOY": "DAYOFYEAR",
    "DAYOFYEAR": "DAYOFYEAR",
    "HOUR": "HOUR",
    "MINUTE": "MINUTE",
    "SECOND": "SECOND",
    "EPOCH": "UNIX_SECONDS",
}
"""The parts of a time that EXTRACT knows, and the functions that compute them."""

_TRUNCATIONS = (
    *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"),
    *("MILLISECOND", "MICROSECOND"),
)


def call(resolver: Expressions, expr: ast.FunctionCall) -> Expr:
    """The value of a function call."""
    name = dotted(expr.name)
    if declared := resolver.env.functions.find(name):
        if declared.aggregate:
            return declared_aggregate(resolver, expr, declared)
        return _declared_scalar(resolver, expr, declared)
    word = name.text.upper()
    if word in RankKind.__members__:
        return ranking(resolver, expr, RankKind(word))
    if known := aggregate_function(word):
        return aggregate(resolver, expr, known)
    if word in ("EXTRACT", "DATE_PART"):
        return _extract(resolver, expr)
    if scalar := scalar_function(word):
        return _scalar(resolver, expr, scalar)
    return _unknown(resolver, expr, name)


# ------------------------------------------------------------------------------------- scalars


def _scalar(resolver: Expressions, expr: ast.FunctionCall, function: ScalarFunction) -> Expr:
    refuse_clauses(resolver, expr, f"{function.name} is not an aggregate")
    arguments = [resolver.value(argument) for argument in expr.arguments]
    matched = fit(function, arguments)
    if matched is None:
        wrong_arguments(resolver, expr, function, arguments)
        return replace(POISON, span=expr.span)
    if function.name == "DATE_TRUNC":
        _check_truncation(resolver, arguments[0])
    if function.parametric and len(arguments) == max(
        len(s.parameters) for s in function.signatures
    ):
        check_constant(resolver, function, arguments[-1])
    values = converted(arguments, matched.arguments)
    return Call(function.name, values, matched.result, span=expr.span)


def _extract(resolver: Expressions, expr: ast.FunctionCall) -> Expr:
    part = expr.arguments[0] if expr.arguments else None
    word = part.text.upper() if isinstance(part, ast.Literal) else ""
    function = scalar_function(_PARTS.get(word.removesuffix("S"), ""))
    if function is not None and len(expr.arguments) == 2:
        return _scalar(resolver, replace(expr, arguments=expr.arguments[1:]), function)
    near = closest(word, _PARTS)
    resolver.env.findings.report(
        codes.WRONG_ARGUMENTS,
        f"a time has no part {word}" if word else "EXTRACT needs a part and a time",
        part.span if part else expr.span,
        "not a part of a time",
        help=f"did you mean {near}?" if near else f"parts are {', '.join(_PARTS)}",
    )
    return replace(POISON, span=expr.span)


def _check_truncation(resolver: Expressions, unit: Expr) -> None:
    word = unit.value if isinstance(unit, Literal) else None
    if isinstance(word, str) and word.upper() not in _TRUNCATIONS:
        near = closest(word, _TRUNCATIONS)
        resolver.env.findings.report(
            codes.WRONG_ARGUMENTS,
            f"DATE_TRUNC does not know the unit '{word}'",
            unit.span,
            "not a unit",
            help=f"did you mean '{near}'?" if near else "units are YEAR, MONTH, .., SECOND",
        )


def check_constant(resolver: Expressions, function: ScalarFunction, last: Expr) -> None:
    """A finding if the last argument of a call is not the constant that it must be."""
    value = last.value if isinstance(last, Literal) else None
    character = function.name not in ("LIKE", "ILIKE") or (
        isinstance(value, str) and len(value) == 1
    )
    if value is None or not character:
        resolver.env.findings.report(
            codes.WRONG_ARGUMENTS,
            f"the last argument of {function.name} must be a constant",
            last.span,
            "not a constant" if value is None else "one character is wanted",
            help=f"{function.name}: {function.meaning}",
        )


def _declared_scalar(
    resolver: Expressions, expr: ast.FunctionCall, function: FunctionDeclaration
) -> Expr:
    refuse_clauses(resolver, expr, f"{function.name} is not an aggregate")
    converted = declared_arguments(resolver, expr, function)
    if converted is None:
        return replace(POISON, span=expr.span)
    return Call(function.name, converted, function.returns, span=expr.span)


# --------------------------------------------------------------------------------- what is wrong


def _unknown(resolver: Expressions, expr: ast.FunctionCall, name: ast.Name) -> Expr:
    word = name.text.upper()
    # Mistakes inside the arguments are worth telling, too.
    inner = row_resolver(resolver, resolver.clause)
    for argument in expr.arguments:
        if not isinstance(argument, ast.Star):
            inner.value(argument)
    code, label, help = codes.UNKNOWN_FUNCTION, "no such function", ""
    if word in UNCERTAIN_FUNCTIONS:
        code, label = codes.UNCERTAIN_FUNCTION, "not the same in a rerun"
        help = UNCERTAIN_FUNCTIONS[word]
    elif word in FOREIGN_FUNCTIONS:
        help = FOREIGN_FUNCTIONS[word]
    elif near := closest(word, (*resolver.env.functions, *function_names(), *RankKind)):
        help = f"did you mean {near}?"
    else:
        help = f"a function of your own: CREATE FUNCTION {name.text}(x DOUBLE) RETURNS DOUBLE"
    what = "has no place in a query" if code is codes.UNCERTAIN_FUNCTION else "does not exist"
    resolver.env.findings.report(code, f"{name.text} {what}", expr.name.span, label, help=help)
    return replace(POISON, span=expr.span)
