"""What stands after a table's columns: time, order, punctuations, rates, sources."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from cqlc.catalog import (
    Adherence,
    Clustered,
    ColumnDeclaration,
    EventTime,
    Monitored,
    Ordered,
    Scheme,
    TableDeclaration,
    TableKind,
    WithinRows,
    WithinTime,
)
from cqlc.codes import names as codes
from cqlc.datatypes import BOOLEAN, NULL, TIMESTAMP, is_orderable
from cqlc.diagnostics import Label
from cqlc.resolve.environment import Environment
from cqlc.resolve.external import external
from cqlc.resolve.lookup import dotted, same_name
from cqlc.resolve.types import MICROSECONDS, count, duration
from cqlc.source import Span
from cqlc.suggest import closest
from cqlc.syntax import ast


@dataclass(frozen=True, slots=True)
class Clauses:
    """Applies the clauses of a CREATE statement to the table it declares."""

    env: Environment
    table: TableDeclaration

    def apply(self, written: ast.Clause, among: tuple[ast.Clause, ...]) -> TableDeclaration:
        """The table with one clause more; `among` are all clauses of the statement."""
        self._check_once(written, among)
        table = self.table
        match written:
            case ast.TimestampBy():
                return self._timestamp_by(written)
            case ast.SequenceBy(name):
                column = self._stream_column(name, written.span, "SEQUENCE BY")
                return replace(table, sequence=column.name if column else None)
            case ast.PunctuatedBy():
                return self._punctuated(written)
            case ast.PunctuationsFrom(stream):
                self._only_streams(written.span, "PUNCTUATIONS FROM")
                return replace(table, punctuations_from=dotted(stream).text)
            case ast.Rate():
                return replace(table, rate=self._rate(written))
            case ast.AppendOnly():
                return replace(table, append_only=True)
            case ast.FromExternal(source):
                return replace(table, source=external(source, self.env))
            case ast.OrderedConstraint(name, column, bound):
                found = self._stream_column(column, written.span, "ORDERED BY")
                within = adherence(bound, self.env)
                if found is None or within is None:
                    return table
                new = Ordered(found.name, within, name.text if name else None, span=written.span)
                return replace(table, ordered=(*table.ordered, new))
            case ast.ClusteredConstraint(name, column, bound):
                found = self._stream_column(column, written.span, "CLUSTERED BY")
                within = adherence(bound, self.env)
                if found is None or within is None:
                    return table
                new = Clustered(found.name, within, name.text if name else None, span=written.span)
                return replace(table, clustered=(*table.clustered, new))
            case ast.ReferencesConstraint():
                return table  # resolved when all tables are known

    # ------------------------------------------------------------------------------------- time

    def _timestamp_by(self, written: ast.TimestampBy) -> TableDeclaration:
        """Event time: a TIMESTAMP, as an integer would not say what it counts."""
        findings = self.env.findings
        column = self.column(written.column)
        slack = 0 if written.slack is None else duration(written.slack, findings)
        idle = None if written.idle is None else duration(written.idle, findings)
        if column is None or slack is None:
            return self.table
        if column.type not in (TIMESTAMP, NULL):
            findings.report(
                codes.BAD_CLAUSE,
                f"{column.name} is {column.type}, and event time must be a TIMESTAMP",
                written.column.span,
                f"a column of type {column.type}",
                help="declare the column as TIMESTAMP; Spark reads one from text and from seconds",
            )
        # A row without a time has no place in the stream, so none is ever seen.
        columns = tuple(
            replace(c, nullable=False) if c.name == column.name else c for c in self.table.columns
        )
        time = EventTime(column.name, slack, idle, span=written.span)
        return replace(self.table, event_time=time, columns=columns)

    def _rate(self, written: ast.Rate) -> float | None:
        text = written.count
        if len(text) <= 40 and "e" not in text.lower() and Fraction(text) > 0:
            seconds = Fraction(MICROSECONDS[written.unit], 1_000_000)
            return float(Fraction(text) / seconds)
        self.env.findings.report(
            codes.BAD_LITERAL,
            f"{text[:40]} is not a rate",
            written.span,
            "a number above 0 is needed",
            help="write RATE 1000 PER SECOND",
        )
        return None

    # ----------------------------------------------------------------------------- punctuations

    def _punctuated(self, written: ast.PunctuatedBy) -> TableDeclaration:
        self._only_streams(written.span, "PUNCTUATED BY")
        lifespan = None
        if written.lifespan is not None:
            lifespan = duration(written.lifespan, self.env.findings)
        schemes = list(self.table.schemes)
        for names in written.schemes:
            columns = self.columns(names)
            if columns:
                schemes.append(Scheme(columns, lifespan, span=written.span))
        marker = None if written.marker is None else self.column(written.marker)
        if marker is not None and written.marker is not None and marker.type not in (BOOLEAN, NULL):
            self.env.findings.report(
                codes.BAD_CONSTRAINT,
                f"{marker.name} is {marker.type}, and a marker must be a BOOLEAN",
                written.marker.span,
                f"a column of type {marker.type}",
                help="a row is a punctuation where its marker is true",
            )
        name = marker.name if marker else self.table.marker
        return replace(self.table, schemes=tuple(schemes), marker=name)

    # --------------------------------------------------------------------------------- columns

    def column(self, name: ast.Name) -> ColumnDeclaration | None:
        """The column of this name, or None with a finding."""
        for column in self.table.columns:
            if same_name(name, column.name):
                return column
        near = closest(name.text, (c.name for c in self.table.columns))
        self.env.findings.report(
            codes.UNKNOWN_COLUMN,
            f"{self.table.name} has no column {name.text}",
            name.span,
            f"not a column of {self.table.name}",
            help=f"did you mean {near}?"
            if near
            else f"it has {', '.join(c.name for c in self.table.columns[:12])}",
        )
        return None

    def columns(self, names: tuple[ast.Name, ...]) -> tuple[str, ...]:
        """The columns of these names; none, with a finding, if one is missing or there twice."""
        found = [self.column(name) for name in names]
        known = tuple(column.name for column in found if column is not None)
        for place, name in enumerate(names):
            if any(same_name(name, other.text) for other in names[:place]):
                self.env.findings.report(
                    codes.DUPLICATE_COLUMN,
                    f"the column {name.text} is there twice",
                    name.span,
                    "listed again",
                    help="list it once",
                )
                return ()
        return known if len(known) == len(names) else ()

    def _stream_column(self, name: ast.Name, span: Span, what: str) -> ColumnDeclaration | None:
        self._only_streams(span, what)
        column = self.column(name)
        if column is not None and not is_orderable(column.type):
            self.env.findings.report(
                codes.BAD_CONSTRAINT,
                f"{column.name} is {column.type}, which has no order",
                name.span,
                f"{what} needs a column that < applies to",
                help="name a number, string or time",
            )
            return None
        return column

    # -------------------------------------------------------------------------------- what is wrong

    def _only_streams(self, span: Span, what: str) -> None:
        kind = self.table.kind
        if kind is not TableKind.STREAM:
            self.env.findings.report(
                codes.BAD_CLAUSE,
                f"{what} is about the order in which rows come, and {self.table.name} is "
                f"{'an' if kind is TableKind.NRR else 'a'} {kind}",
                span,
                "only a stream has it",
                help=f"leave it out, or declare {self.table.name} as a STREAM",
            )

    def _check_once(self, written: ast.Clause, among: tuple[ast.Clause, ...]) -> None:
        single = (
            ast.TimestampBy,
            ast.SequenceBy,
            ast.PunctuationsFrom,
            ast.Rate,
            ast.FromExternal,
        )
        if not isinstance(written, single):
            return
        first = next(clause for clause in among if type(clause) is type(written))
        if first is not written:
            self.env.findings.report(
                codes.BAD_CLAUSE,
                f"{self.table.name} has this clause twice",
                written.span,
                "given again",
                help="leave one out",
                related=(Label(first.span, "first given here"),),
            )


def adherence(written: ast.Bound, env: Environment) -> Adherence | None:
    """The k of a k-constraint, or None with a finding."""
    if written.monitor:
        return Monitored()
    if written.rows is not None:
        rows = count(written.rows, written.span, env.findings, least=0)
        return None if rows is None else WithinRows(rows)
    if written.duration is not None:
        length = duration(written.duration, env.findings)
        return None if length is None else WithinTime(length)
    return Monitored()
