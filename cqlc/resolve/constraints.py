"""Constraints between tables: references with their adherence, and companion streams."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cqlc.catalog import References, TableDeclaration, TableKind
from cqlc.codes import names as codes
from cqlc.datatypes import common_type
from cqlc.diagnostics import Label
from cqlc.resolve.clauses import Clauses, adherence
from cqlc.resolve.environment import Environment
from cqlc.resolve.lookup import Names, dotted
from cqlc.source import Span
from cqlc.suggest import closest
from cqlc.syntax import ast


@dataclass(slots=True)
class Constraints:
    """Resolves what tables say of each other, once all of them are declared."""

    env: Environment
    references: list[References] = field(default_factory=list[References])
    names: Names[Span] = field(default_factory=Names[Span])

    def inside(self, statement: ast.CreateTable, table: TableDeclaration) -> None:
        """The references and companion streams that a table's declaration names."""
        for written in (*statement.constraints, *statement.clauses):
            match written:
                case ast.ReferencesConstraint():
                    self._reference(written, table)
                case ast.OrderedConstraint() | ast.ClusteredConstraint():
                    self._claim(written.name)
                case ast.PunctuationsFrom(stream):
                    self._companion(stream, table)
                case _:
                    pass

    def statement(self, statement: ast.CreateConstraint) -> None:
        """A k-constraint that stands alone."""
        written = statement.constraint
        on = None if statement.on is None else self._table(statement.on)
        match written:
            case ast.ReferencesConstraint():
                self._reference(written, on)
            case ast.OrderedConstraint() | ast.ClusteredConstraint():
                self._claim(written.name)
                if statement.on is None:
                    self._report(
                        "the constraint does not say which stream it is about",
                        written.span,
                        "ON is missing",
                        "add ON and the stream's name",
                    )
                elif on is not None:
                    self.env.tables.add(on.name, Clauses(self.env, on).apply(written, ()))

    def _reference(
        self, written: ast.ReferencesConstraint, inside: TableDeclaration | None
    ) -> None:
        self._claim(written.name)
        child = self._table(written.child)
        parent = inside if written.parent is None else self._table(written.parent)
        within = adherence(written.bound, self.env)
        if parent is None and written.parent is None:
            self._report(
                "the constraint does not say whose rows refer to the others",
                written.span,
                "FROM names columns only",
                "write FROM parent (columns)",
            )
        if child is None or parent is None or within is None:
            return
        for table, span in ((child, written.child.span), (parent, written.span)):
            if table.kind is TableKind.NRR:
                self._report(
                    f"{table.name} is an NRR, whose changes are never waited for",
                    span,
                    "REFERENCES is about when rows come",
                    "declare it as a STREAM or RELATION",
                )
        child_columns = Clauses(self.env, child).columns(written.child_columns)
        parent_columns = Clauses(self.env, parent).columns(written.parent_columns)
        if not child_columns or not parent_columns:
            return
        if not self._match(written, child, child_columns, parent, parent_columns):
            return
        name = written.name.text if written.name else None
        self.references.append(
            References(
                parent.name,
                parent_columns,
                child.name,
                child_columns,
                within,
                name,
                span=written.span,
            )
        )

    def _match(
        self,
        written: ast.ReferencesConstraint,
        child: TableDeclaration,
        child_columns: tuple[str, ...],
        parent: TableDeclaration,
        parent_columns: tuple[str, ...],
    ) -> bool:
        if len(child_columns) != len(parent_columns):
            self._report(
                f"{len(parent_columns)} columns of {parent.name} cannot refer to "
                f"{len(child_columns)} of {child.name}",
                written.span,
                "the two lists must pair up",
                "list as many columns on both sides",
            )
            return False
        for ours, theirs in zip(parent_columns, child_columns, strict=True):
            types = parent.column(ours).type, child.column(theirs).type
            if common_type(*types) is None:
                self._report(
                    f"{parent.name}.{ours} is {types[0]}, {child.name}.{theirs} is {types[1]}",
                    written.span,
                    "the two are never equal",
                    "refer to a column of the same type",
                )
                return False
        return True

    def _companion(self, stream: ast.QualifiedName, table: TableDeclaration) -> None:
        companion = self._table(stream)
        if companion is None:
            return
        self.env.tables.add(table.name, replace(table, punctuations_from=companion.name))
        if companion.kind is not TableKind.STREAM:
            self._report(
                f"punctuations come from a stream, and {companion.name} is a {companion.kind}",
                stream.span,
                f"a {companion.kind}",
                "name a stream",
            )
        types = {c.name.lower(): c.type for c in companion.columns}
        for scheme in table.schemes:
            for name in scheme.columns:
                column = table.column(name)
                if types.get(name.lower()) != column.type:
                    self._report(
                        f"{companion.name} cannot close values of {table.name}.{name}: it has no "
                        f"column {name} of type {column.type}",
                        stream.span,
                        "its rows say which values are closed",
                        f"declare {companion.name} with the columns of the scheme",
                    )

    def _table(self, name: ast.QualifiedName) -> TableDeclaration | None:
        written = dotted(name)
        table = self.env.tables.find(written)
        if table is None:
            near = closest(written.text, self.env.tables)
            self.env.findings.report(
                codes.UNKNOWN_TABLE,
                f"there is no stream or relation {written.text}",
                name.span,
                "not declared",
                help=f"did you mean {near}?" if near else f"declare {written.text} first",
            )
        return table

    def _claim(self, name: ast.Name | None) -> None:
        if name is None:
            return
        other = self.names.find(name)
        if other is not None:
            self.env.findings.report(
                codes.DUPLICATE_NAME,
                f"there is a constraint {name.text} already",
                name.span,
                "declared again",
                help="give it another name",
                related=(Label(other, "first declared here"),),
            )
        else:
            self.names.add(name.text, name.span)

    def _report(self, message: str, span: Span, label: str, help: str) -> None:
        self.env.findings.report(codes.BAD_CONSTRAINT, message, span, label, help=help)
