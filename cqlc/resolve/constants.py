"""VALUES: constant relations."""

from __future__ import annotations

from cqlc.algebra.expr import Expr, type_of
from cqlc.algebra.plan import Values
from cqlc.algebra.schema import Field
from cqlc.algebra.walk import nullable
from cqlc.codes import names as codes
from cqlc.resolve.expression import Expressions
from cqlc.resolve.operators import unify
from cqlc.syntax import ast


def values_rows(clause: ast.ValuesClause, resolver: Expressions) -> Values:
    """The rows, with columns `column1`, `column2`, ... of their common types."""
    findings = resolver.env.findings
    width = len(clause.rows[0])
    rows: list[list[Expr]] = []
    for row in clause.rows:
        values = [resolver.value(value) for value in row]
        if len(values) != width:
            findings.report(
                codes.WRONG_COLUMN_COUNT,
                f"this row has {len(values)} values, the first has {width}",
                row[0].span.to(row[-1].span),
                f"{len(values)} values",
                help="give all rows the same number of values",
            )
            continue
        rows.append(values)
    fields: list[Field] = []
    for place in range(width):
        column = [row[place] for row in rows]
        unified = unify(column)
        if unified is None:
            findings.report(
                codes.NO_COMMON_TYPE,
                f"the values of column {place + 1} have no common type",
                clause.span,
                ", ".join(dict.fromkeys(str(type_of(value)) for value in column)),
                help="convert them with CAST",
            )
            continue
        converted, type = unified
        for row, value in zip(rows, converted, strict=True):
            row[place] = value
        may_be_null = any(nullable(value, ()) for value in converted)
        fields.append(Field(f"column{place + 1}", type, may_be_null))
    return Values(tuple(tuple(row) for row in rows), tuple(fields), span=clause.span)
