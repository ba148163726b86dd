"""What laws may ask about the plans they look at."""

from __future__ import annotations

from dataclasses import dataclass, field

from cqlc.algebra.expr import Column, Expr
from cqlc.algebra.plan import (
    Filter,
    Named,
    Now,
    Plan,
    Project,
    Range,
    Relation,
    Rename,
    Scan,
    Table,
    Unbounded,
)
from cqlc.algebra.schema import Schema
from cqlc.algebra.walk import inputs, output_schema
from cqlc.analysis.update_pattern import Edge, update_patterns
from cqlc.catalog import Catalog, ColumnDeclaration, TableDeclaration


@dataclass
class Facts:
    """Columns and update patterns of plans, each computed once."""

    catalog: Catalog
    _schemas: dict[int, tuple[Plan, Schema]] = field(default_factory=dict[int, tuple[Plan, Schema]])
    _edges: dict[int, tuple[Plan, Edge]] = field(default_factory=dict[int, tuple[Plan, Edge]])

    def schema(self, plan: Plan) -> Schema:
        """The columns of a plan."""
        # The plan is kept beside its columns, so that its id stays its own.
        if id(plan) not in self._schemas:
            of = tuple(self.schema(part) for part in inputs(plan))
            self._schemas[id(plan)] = plan, output_schema(plan, of)
        return self._schemas[id(plan)][1]

    def names(self, plan: Plan) -> frozenset[str]:
        """The names of a plan's columns."""
        return frozenset(f.name for f in self.schema(plan))

    def columns(self, plan: Plan) -> tuple[Named, ...]:
        """The columns of a plan, each as itself."""
        return tuple(Named(f.name, Column(f.name, f.type)) for f in self.schema(plan))

    def edge(self, plan: Plan) -> Edge:
        """How the rows of a plan come and go."""
        if id(plan) not in self._edges:
            patterns = update_patterns(plan, self.catalog)
            self._edges[id(plan)] = plan, patterns[id(plan)].output
        return self._edges[id(plan)][1]

    def declared(self, plan: Relation, column: str) -> ColumnDeclaration | None:
        """The declared column whose values a column holds, unchanged."""
        found = self.origin(plan, column)
        return found[0].column(found[1]) if found else None

    def origin(self, plan: Relation, column: str) -> tuple[TableDeclaration, str] | None:
        """The declared table and column that a column comes from, unchanged."""
        match plan:
            case Rename(r, alias):
                return self.origin(r, column.removeprefix(f"{alias}."))
            case Filter(r):
                return self.origin(r, column)
            case Project(r, columns):
                value: Expr | None = next((c.value for c in columns if c.name == column), None)
                return self.origin(r, value.name) if isinstance(value, Column) else None
            case Now(Scan(name)) | Range(Scan(name)) | Unbounded(Scan(name)) | Table(name):
                table = self.catalog.tables.get(name)
                known = table is not None and any(c.name == column for c in table.columns)
                return (table, column) if table is not None and known else None
            case _:
                return None
