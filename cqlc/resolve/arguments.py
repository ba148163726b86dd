"""Arguments of function calls: which signature they fit, and what to say if none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cqlc.algebra.expr import Expr, Literal, type_of
from cqlc.catalog import FunctionDeclaration
from cqlc.codes import names as codes
from cqlc.datatypes import DATE, TIMESTAMP, DataType
from cqlc.functions import AggregateFunction, Matched, ScalarFunction, match_signature
from cqlc.functions.signature import Parameter
from cqlc.resolve.lookup import dotted
from cqlc.resolve.operators import POISON, as_type, convert
from cqlc.syntax import ast

if TYPE_CHECKING:
    from cqlc.resolve.expression import Expressions


def fit(function: ScalarFunction | AggregateFunction, arguments: list[Expr]) -> Matched | None:
    """How a call fits the first signature that it fits; string constants may be times."""
    types = [type_of(argument) for argument in arguments]
    for signature in function.signatures:
        if matched := match_signature(signature, types):
            return matched
    for signature in function.signatures:
        wanted = zip(signature.parameters, arguments, types, strict=False)
        times = [_time(parameter, argument) or type for parameter, argument, type in wanted]
        if len(times) == len(types) and times != types:
            matched = match_signature(signature, times)
            if matched is not None:
                return matched
    return None


def _time(parameter: Parameter, argument: Expr) -> DataType | None:
    """DATE or TIMESTAMP, if one is wanted and the argument is a string that spells one."""
    for type in (DATE, TIMESTAMP):
        if parameter == type and isinstance(argument, Literal) and as_type(argument, type):
            return type
    return None


def converted(arguments: list[Expr], types: tuple[DataType, ...]) -> tuple[Expr, ...]:
    """The arguments, each as its wanted type."""
    pairs = zip(arguments, types, strict=True)
    return tuple(as_type(a, t) or convert(a, t) for a, t in pairs)


def declared_arguments(
    resolver: Expressions, expr: ast.FunctionCall, function: FunctionDeclaration
) -> tuple[Expr, ...] | None:
    """The arguments as a declared function wants them, or None with a finding."""
    arguments = [resolver.value(argument) for argument in expr.arguments]
    types = [type for _, type in function.parameters]
    if len(arguments) == len(types):
        fitted = [as_type(a, t) for a, t in zip(arguments, types, strict=True)]
        converted = tuple(a for a in fitted if a is not None)
        if len(converted) == len(types):
            return converted
    shown = ", ".join(f"{name} {type}" for name, type in function.parameters)
    given = ", ".join(str(type_of(a)) for a in arguments)
    resolver.env.findings.report(
        codes.WRONG_ARGUMENTS,
        f"{function.name} does not take ({given})",
        expr.span,
        f"called with {len(arguments)} arguments" if len(arguments) != len(types) else given,
        help=f"it is declared as {function.name}({shown})",
    )
    return None


def refuse_clauses(resolver: Expressions, expr: ast.FunctionCall, why: str) -> None:
    """A finding for each of DISTINCT, FILTER and OVER, if they were written."""
    written = (("DISTINCT", expr.distinct), ("FILTER", expr.where), ("OVER", expr.over))
    for clause, present in written:
        if present:
            resolver.env.findings.report(
                codes.MISPLACED_CLAUSE,
                f"{clause} cannot be used here: {why}",
                expr.span,
                f"called with {clause}",
                help="it applies to aggregates such as COUNT"
                if clause != "OVER"
                else "it applies to ROW_NUMBER, RANK and DENSE_RANK",
            )


def wrong_arguments(
    resolver: Expressions,
    expr: ast.FunctionCall,
    function: ScalarFunction | AggregateFunction,
    arguments: list[Expr],
) -> None:
    """A finding about a call that fits no signature."""
    if any(a == POISON for a in arguments) and resolver.env.findings.failures:
        resolver.env.findings.depend_on_failure()
        return
    given = ", ".join(str(type_of(a)) for a in arguments)
    forms = " or ".join(f"{function.name}{s}" for s in function.signatures)
    resolver.env.findings.report(
        codes.WRONG_ARGUMENTS,
        f"{dotted(expr.name).text.upper()} does not take ({given})",
        expr.span,
        f"called with {given or 'no arguments'}",
        help=f"{forms}: {function.meaning}",
    )
