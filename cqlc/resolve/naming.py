"""Names of result columns that have none of their own."""

from __future__ import annotations

from cqlc.algebra.schema import TIME
from cqlc.functions import aggregate_function
from cqlc.syntax import ast


def default_name(expr: ast.Expr) -> str:
    """What a result is called without AS: by its column, its function, or `column`."""
    match expr:
        case ast.Reference(name):
            text = name.parts[-1].text
            return "time" if text.lower() == TIME else text
        case ast.FunctionCall(name):
            return name.parts[-1].text.lower()
        case ast.CastAs(operand) | ast.Subscript(operand) | ast.Unary(_, operand):
            return default_name(operand)
        case ast.CaseWhen():
            return "case"
        case ast.ScalarQuery(query):
            body = query.body
            if isinstance(body, ast.Select) and len(body.items) == 1:
                item = body.items[0]
                return item.alias.text if item.alias else default_name(item.value)
            return "column"
        case _:
            return "column"


def nickname(expr: ast.Expr) -> str | None:
    """The column an unnamed aggregate is of: Golab's thesis calls SUM(a) by the name a."""
    match expr:
        case ast.FunctionCall(name, (ast.Reference(column),)):
            known = aggregate_function(name.parts[-1].text.upper())
            return column.parts[-1].text if known else None
        case _:
            return None
