"""Expressions over grouped rows: what may be read there, and how it is called."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cqlc.algebra.expr import Column, Expr, type_of
from cqlc.algebra.plan import Named
from cqlc.algebra.walk import map_operands
from cqlc.codes import names as codes
from cqlc.resolve.environment import Environment
from cqlc.resolve.operators import POISON
from cqlc.resolve.subqueries import Subquery


@dataclass(frozen=True, slots=True)
class Grouping:
    """The keys of a grouped block, and the columns of its rows before they were grouped."""

    keys: tuple[Named, ...]
    row_columns: frozenset[str]
    env: Environment

    def regrouped(self, expr: Expr) -> Expr:
        """The expression over keys and aggregates; a finding for other columns of the rows."""
        for key in self.keys:
            if expr == key.value:
                return Column(key.name, type_of(expr), span=expr.span)
        if isinstance(expr, Column):
            if expr.name not in self.row_columns:
                return expr
            self._ungrouped(expr)
            return replace(POISON, span=expr.span)
        return map_operands(expr, self.regrouped)

    def check(self, subquery: Subquery) -> None:
        """A finding if a subquery reads columns of the rows that are not keys."""
        kept = {key.name for key in self.keys}
        lost = sorted((self.env.facts(subquery.rows).free & self.row_columns) - kept)
        if lost:
            self.env.findings.report(
                codes.UNGROUPED_COLUMN,
                f"the subquery reads {', '.join(lost)}, which GROUP BY does not keep",
                subquery.span,
                "the rows are grouped here",
                help=f"add {lost[0]} to GROUP BY",
            )

    def _ungrouped(self, column: Column) -> None:
        help = f"add it to GROUP BY, or aggregate it: ANY_VALUE({column.name}), MAX({column.name})"
        self.env.findings.report(
            codes.UNGROUPED_COLUMN,
            f"{column.name} has no single value in a group",
            column.span,
            "neither grouped nor aggregated",
            help=help,
        )
