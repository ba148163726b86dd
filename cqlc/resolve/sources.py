"""FROM: streams with their windows, relations, NRRs, views and subqueries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from cqlc.algebra.expr import Column, Expr
from cqlc.algebra.plan import Relation, Rename, Scan, Table
from cqlc.algebra.schema import Schema
from cqlc.catalog import TableDeclaration, TableKind
from cqlc.codes import names as name_codes
from cqlc.codes import windows as codes
from cqlc.diagnostics import Fix, Label
from cqlc.resolve.derived import Obstacle, ObstacleAt, SlideUse, WindowUse
from cqlc.resolve.environment import View
from cqlc.resolve.expression import Rows
from cqlc.resolve.lookup import dotted, same_name
from cqlc.resolve.scope import Scope, ScopeColumn, ScopeItem
from cqlc.resolve.sorts import as_relation, as_stream
from cqlc.resolve.subqueries import Subqueries
from cqlc.resolve.windows import Windowed, slide_of, window
from cqlc.source import Span
from cqlc.syntax import ast

if TYPE_CHECKING:
    from cqlc.resolve.query import Queries


@dataclass(frozen=True, slots=True)
class NrrUse:
    """An NRR in FROM: it is looked up, not read."""

    table: TableDeclaration
    alias: str
    span: Span


Joinable: TypeAlias = Relation | NrrUse | None
"""What a FROM item is; None if it is broken."""


@dataclass(slots=True)
class Sources:
    """The FROM items of a block, collected one after the other.

    Items joined by commas and inner joins are `parts`; what ties them is in `conditions`. NRRs
    among them are looked up when all parts have been joined (Golab's Definition 3.1: as of the
    result's own time); below an outer join they are looked up where they stand.
    """

    queries: Queries
    scope: Scope
    subqueries: Subqueries
    parts: list[Relation] = field(default_factory=list[Relation])
    nrrs: list[NrrUse] = field(default_factory=list[NrrUse])
    conditions: list[Expr] = field(default_factory=list[Expr])
    windows: list[WindowUse] = field(default_factory=list[WindowUse])
    slides: list[SlideUse] = field(default_factory=list[SlideUse])
    obstacles: list[ObstacleAt] = field(default_factory=list[ObstacleAt])
    retroactive: bool = False

    def primary(self, item: ast.TableReference | ast.Subquery) -> Joinable:
        """A FROM item that is not a join."""
        match item:
            case ast.TableReference():
                return self._table(item)
            case ast.Subquery():
                return self._subquery(item)

    def _table(self, item: ast.TableReference) -> Joinable:
        env = self.queries.env
        name = dotted(item.name)
        if view := self.queries.named_query(name):
            return self._view(view, item, _alias(item, view.name))
        table = env.tables.find(name)
        if table is None:
            self.queries.unknown_table(item.name)
            return self._broken(_alias(item, name.text), name.text, item.span)
        alias = _alias(item, table.name)
        match table.kind:
            case TableKind.STREAM:
                scan = Scan(table.name, table.schema, span=item.name.span)
                source = Windowed(scan, table.schema, (alias.text, table.name), table.sequence)
                return self._windowed(source, item, alias, table.name)
            case TableKind.RELATION:
                self.refuse_window(item.window, f"{table.name} is a relation")
                self.retroactive = self.retroactive or not table.append_only
                rows = Table(table.name, table.schema, span=item.name.span)
                return self._renamed(rows, alias, table.name, item.span)
            case TableKind.NRR:
                self.refuse_window(item.window, f"{table.name} is an NRR")
                unique = self._add_to_scope(alias, table.name, table.schema, (), item.span)
                return NrrUse(table, unique, item.span)

    def _view(self, view: View, item: ast.TableReference, alias: ast.Name) -> Joinable:
        if view.plan is None:
            return self._broken(alias, view.name, item.span)
        stream, rows = as_stream(view.plan), as_relation(view.plan)
        if stream is not None:
            schema = self.queries.env.facts.schema(stream)
            source = Windowed(stream, schema, (alias.text, view.name))
            return self._windowed(source, item, alias, view.name, view.nicknames)
        self.refuse_window(item.window, f"{view.name} is a relation", view.holds_latest_only)
        self.retroactive = True
        return rows and self._renamed(rows, alias, view.name, item.span, view.nicknames)

    def _subquery(self, item: ast.Subquery) -> Joinable:
        alias = item.alias or ast.Name("subquery", span=item.span)
        around = Scope.inside(self.scope.parent)
        around.siblings = self.scope.items
        answer = self.queries.answer(item.query, around, item.columns)
        if answer is None:
            return self._broken(alias, alias.text, item.span)
        derived = answer.derived
        stream, rows = as_stream(answer.plan), as_relation(answer.plan)
        if stream is not None:
            if self.queries.env.facts(stream).free:
                self._correlated_stream(item.span)
            schema = self.queries.env.facts.schema(stream)
            source = Windowed(stream, schema, (alias.text,))
            return self._windowed(source, item, alias, alias.text, derived.nicknames)
        latest = answer.holds_latest_only
        self.refuse_window(item.window, "the subquery is a relation", latest, derived.windows)
        self.slides += derived.slides
        self.retroactive = self.retroactive or derived.retroactive
        self.obstacles += derived.obstacles
        if derived.is_simple:
            self.windows += derived.windows
        else:
            self.obstacles.append(ObstacleAt(Obstacle.CHANGING_SUBQUERY, item.span))
        return rows and self._renamed(rows, alias, alias.text, item.span, derived.nicknames)

    def _windowed(
        self,
        source: Windowed,
        item: ast.TableReference | ast.Subquery,
        alias: ast.Name,
        shown: str,
        nicknames: tuple[tuple[str, str], ...] = (),
    ) -> Relation:
        use = window(source, item.window, item.span, self.queries.env.findings)
        self.windows.append(use)
        self.slides += slide_of(use)
        return self._renamed(use.window, alias, shown, item.span, nicknames)

    def _renamed(
        self,
        rows: Relation,
        alias: ast.Name,
        shown: str,
        span: Span,
        nicknames: tuple[tuple[str, str], ...] = (),
    ) -> Relation:
        schema = self.queries.env.facts.schema(rows)
        unique = self._add_to_scope(alias, shown, schema, nicknames, span)
        return Rename(rows, unique, span=span)

    def _broken(self, alias: ast.Name, shown: str, span: Span) -> None:
        self.queries.env.findings.depend_on_failure()
        item = ScopeItem(alias.text, shown, (), open=True, span=span)
        self.scope.items.append(item)

    def subquery_rows(self, query: ast.Query, scope: Scope) -> Rows | None:
        """A query in one of the block's expressions."""
        found = self.queries.subquery(query, scope)
        if found is None:
            return None
        derived, rows = found
        self.slides += derived.slides
        return rows

    # ------------------------------------------------------------------------------------ scope

    def _add_to_scope(
        self,
        alias: ast.Name,
        shown: str,
        schema: Schema,
        nicknames: tuple[tuple[str, str], ...],
        span: Span,
    ) -> str:
        """Makes the columns visible under the alias; returns the alias' name in the plan."""
        self._check_alias(alias)
        # A dot or NUL in a quoted alias would make `alias.column` ambiguous.
        unique = self.scope.aliases.name(alias.text.replace(".", "_").replace("\0", "_"))
        known_as = dict(nicknames)
        columns = tuple(
            ScopeColumn(name, Column(f"{unique}.{name}", f.type), f.hidden, known_as.get(name))
            for f in schema
            for name in (f.name,)
        )
        self.scope.items.append(ScopeItem(alias.text, shown, columns, span=span))
        return unique

    def _check_alias(self, alias: ast.Name) -> None:
        other = next((i for i in self.scope.items if same_name(alias, i.alias)), None)
        if other is not None:
            self.queries.env.findings.report(
                name_codes.DUPLICATE_ALIAS,
                f"{alias.text} is the name of two FROM items",
                alias.span,
                "used again here",
                help=f"give one of them another name: {alias.text} AS {alias.text}2",
                related=(Label(other.span, "first used here"),),
            )

    # ----------------------------------------------------------------------------- what is wrong

    def refuse_window(
        self,
        written: ast.Window | None,
        why: str,
        latest_only: bool = False,
        inner: tuple[WindowUse, ...] = (),
    ) -> None:
        """A finding if a window was written on something that is not a stream."""
        if written is None:
            return
        findings = self.queries.env.findings
        if not latest_only:
            findings.report(
                codes.WINDOW_ON_RELATION,
                f"{why}, and only streams have windows",
                written.span,
                "a window stands here",
                help="leave the window out; or make it a stream: ISTREAM(SELECT * FROM ..)",
            )
            return
        bounded = [use for use in inner if use.is_bounded]
        fix = None
        if len(bounded) == 1:
            end = bounded[0].span.end
            fix = Fix("make the inner window INTERNAL", Span(end - 1, end), " INTERNAL]")
        findings.report(
            codes.WINDOW_ON_LATEST_VALUE,
            f"{why} that holds only the latest value of its aggregate",
            written.span,
            "there is never more than that to window",
            help="write INTERNAL in the inner window, so that the values become a stream, or "
            "WSTREAM: SUM(WSTREAM(SUM(a))[ROWS 10])",
            related=tuple(Label(use.span, "its window is EXTERNAL") for use in bounded),
            fix=fix,
        )

    def _correlated_stream(self, span: Span) -> None:
        self.queries.env.findings.report(
            codes.CORRELATED_STREAM,
            "a stream cannot depend on a row of the query around it",
            span,
            "this stream reads a column from outside",
            help="move the condition out of the stream, to the WHERE beside it",
        )


def _alias(item: ast.TableReference, declared: str) -> ast.Name:
    """The alias that was given, or the last part of the name in its declared spelling."""
    return item.alias or ast.Name(declared.rpartition(".")[2], span=item.name.span)
