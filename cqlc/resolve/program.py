"""Programs: their declarations, views and queries, in any order."""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.algebra.plan import Istream, Plan
from cqlc.catalog import EMPTY, Catalog
from cqlc.codes import names as codes
from cqlc.diagnostics import in_order
from cqlc.resolve.constraints import Constraints
from cqlc.resolve.declare import Declarations
from cqlc.resolve.derived import Answer
from cqlc.resolve.environment import Environment, View
from cqlc.resolve.lookup import Fresh, Names, dotted
from cqlc.resolve.outputs import Output, named_outputs
from cqlc.resolve.query import Queries
from cqlc.resolve.result import Resolution, ResolvedQuery
from cqlc.resolve.shedding import refuse_shedding
from cqlc.resolve.sorts import as_relation, as_stream, contents
from cqlc.resolve.tree import nodes
from cqlc.resolve.types import data_type
from cqlc.suggest import closest
from cqlc.syntax import ast


@dataclass(frozen=True, slots=True)
class _ViewStatement:
    """A view: its name, its query, and the sort that was declared, if one was."""

    name: str
    statement: ast.CreateView | ast.CreateTable
    query: ast.Query


def resolve(program: ast.Program, catalog: Catalog = EMPTY) -> Resolution:
    """Plans of a program's queries, with everything found wrong in it."""
    return _Program(program, catalog).resolution()


class _Program:
    """One program on its way to plans."""

    def __init__(self, program: ast.Program, catalog: Catalog) -> None:
        self.program = program
        self.env = Environment(
            tables=Names(catalog.tables.items()),
            sinks=Names(catalog.sinks.items()),
            functions=Names(catalog.functions.items()),
        )
        self.declarations = Declarations(self.env)
        self.constraints = Constraints(self.env, list(catalog.references))
        self.queries = Queries(self.env)
        self.names = Fresh()
        self.numbered = 0

    def resolution(self) -> Resolution:
        """Declares everything, then resolves views in the order of their use, then queries."""
        views = self._declare()
        for view in _in_order_of_use(views, self.env):
            self._view(view)
        queries = [
            query
            for statement in self.program.statements
            if (query := self._query(statement)) is not None
        ]
        catalog = Catalog(
            self.env.tables.as_dict(),
            self.env.sinks.as_dict(),
            self.env.functions.as_dict(),
            tuple(self.constraints.references),
        )
        plans = {v.name: v.plan for v in self.env.views.things() if v.plan is not None}
        found = in_order(self.env.findings.diagnostics)
        return Resolution(catalog, plans, tuple(queries), found)

    # --------------------------------------------------------------------------------- declarations

    def _declare(self) -> list[_ViewStatement]:
        """Declares tables, sinks, functions and constraints; returns the views."""
        views: list[_ViewStatement] = []
        tables: list[ast.CreateTable] = []
        for statement in self.program.statements:
            match statement:
                case ast.CreateTable(query=None):
                    self._table(statement, tables)
                case ast.CreateTable(query=query) | ast.CreateView(query=query):
                    if self.declarations.claim(statement.name) and query is not None:
                        name = dotted(statement.name).text
                        views.append(_ViewStatement(name, statement, query))
                case ast.CreateSink():
                    self.declarations.sink(statement)
                case ast.CreateFunction():
                    self.declarations.function(statement)
                case ast.CreateConstraint() | ast.InsertInto() | ast.QueryStatement():
                    pass  # they speak of what is declared elsewhere
        for statement in tables:
            table = self.env.tables.find(dotted(statement.name))
            if table is not None:
                self.constraints.inside(statement, table)
        for statement in self.program.statements:
            if isinstance(statement, ast.CreateConstraint):
                self.constraints.statement(statement)
        return views

    def _table(self, statement: ast.CreateTable, tables: list[ast.CreateTable]) -> None:
        if not self.declarations.claim(statement.name):
            return
        table = self.declarations.table(statement)
        if table is None:
            name = dotted(statement.name).text
            self.env.views.add(name, View(name, None))
        else:
            self.env.tables.add(table.name, table)
            tables.append(statement)

    # ---------------------------------------------------------------------------------------- views

    def _view(self, view: _ViewStatement) -> None:
        known = self.env.views.as_dict().get(view.name)
        found = self.queries.top_answer(view.query, None, self._outputs(view.statement))
        if found is None or known is not None:
            self.env.views.add(view.name, View(view.name, None))
            return
        refuse_shedding(found.derived, view.query.span, self.env.findings)
        plan = self._sorted(found, view.statement)
        latest = as_stream(plan) is None and found.holds_latest_only
        derived = found.derived
        self.env.views.add(view.name, View(view.name, plan, derived.nicknames, latest))

    def _sorted(self, found: Answer, statement: ast.CreateView | ast.CreateTable) -> Plan:
        """The view's plan in the sort that was declared: insertions, or all rows so far."""
        kind = statement.kind if isinstance(statement, ast.CreateTable) else None
        rows = as_relation(found.plan)
        match kind:
            case ast.TableKind.STREAM if rows is not None:
                return Istream(rows, span=statement.span)
            case ast.TableKind.RELATION:
                return contents(found.plan, self.env.facts)
            case _:
                return found.plan

    def _outputs(self, statement: ast.CreateView | ast.CreateTable) -> tuple[Output, ...]:
        if isinstance(statement, ast.CreateView):
            return named_outputs(statement.columns)
        if statement.kind is ast.TableKind.NRR:
            self._refuse_in_view(statement, "an NRR is looked up in a table, not in a query")
        if statement.clauses or statement.constraints or _has_constraints(statement):
            self._refuse_in_view(statement, "what a query gives cannot be declared, only named")
        findings = self.env.findings
        return tuple(Output(c.name, data_type(c.type, findings)) for c in statement.columns)

    def _refuse_in_view(self, statement: ast.CreateTable, why: str) -> None:
        self.env.findings.report(
            codes.BAD_CLAUSE,
            f"{dotted(statement.name).text} is a view, and {why}",
            statement.name.span,
            "declared AS a query",
            help="keep name, columns and types only: CREATE STREAM v (a INT) AS SELECT ..",
        )

    # -------------------------------------------------------------------------------------- queries

    def _query(self, statement: ast.Statement) -> ResolvedQuery | None:
        match statement:
            case ast.QueryStatement(query):
                name, sink = self._default_name(query), None
            case ast.InsertInto(written, query):
                known = self.env.sinks.find(dotted(written))
                if known is None:
                    self._unknown_sink(written)
                name = sink = known.name if known else dotted(written).text
            case _:
                return None
        name = self.names.name(name)
        failures = self.env.findings.failures
        found = self.queries.top_answer(query, None)
        if found is None or self.env.findings.failures > failures:
            return None
        return ResolvedQuery(name, found.plan, sink, found.derived.shedding, statement.span)

    def _default_name(self, query: ast.Query) -> str:
        """The view's name, if the query is only that; else a number."""
        if isinstance(query.body, ast.NamedOperand):
            return dotted(query.body.name).text
        self.numbered += 1
        return f"query{self.numbered}"

    def _unknown_sink(self, name: ast.QualifiedName) -> None:
        written = dotted(name)
        near = closest(written.text, self.env.sinks)
        help = f"did you mean {near}?" if near else f"declare it: CREATE SINK {written.text} TO .."
        if self.env.tables.find(written) or self.env.views.find(written):
            help = f"{written.text} is read, not written; declare a sink for the results"
        self.env.findings.report(
            codes.UNKNOWN_SINK,
            f"there is no sink {written.text}",
            name.span,
            "not declared",
            help=help,
        )


def _has_constraints(statement: ast.CreateTable) -> bool:
    return any(column.constraints for column in statement.columns)


def _in_order_of_use(views: list[_ViewStatement], env: Environment) -> list[_ViewStatement]:
    """The views, each after those it uses; cycles are findings, and their views broken."""
    index = Names((view.name, view) for view in views)
    ordered: list[_ViewStatement] = []
    done: set[str] = set()
    for start in views:
        path: dict[str, _ViewStatement] = {}
        stack: list[tuple[_ViewStatement, bool]] = [(start, False)]
        while stack:
            view, finished = stack.pop()
            if finished:
                del path[view.name]
                done.add(view.name)
                ordered.append(view)
            elif view.name in path:
                circle = list(path.values())
                _cycle(circle[circle.index(view) :], env)
            elif view.name not in done:
                path[view.name] = view
                stack.append((view, True))
                stack += [(used, False) for used in _used(view, index)]
    return ordered


def _used(view: _ViewStatement, index: Names[_ViewStatement]) -> list[_ViewStatement]:
    common = {
        node.name.text.lower() for node in nodes(view.query) if isinstance(node, ast.CommonTable)
    }
    written = (
        dotted(node.name)
        for node in nodes(view.query)
        if isinstance(node, ast.TableReference | ast.NamedOperand)
    )
    found = (index.find(name) for name in written if name.text.lower() not in common)
    return list({used.name: used for used in found if used is not None}.values())


def _cycle(views: list[_ViewStatement], env: Environment) -> None:
    circle = " -> ".join([*(view.name for view in views), views[0].name])
    env.findings.report(
        codes.RECURSIVE_VIEW,
        f"{views[0].name} is defined by itself",
        views[0].statement.name.span,
        circle,
        help="recursion is not part of CQL; break the circle",
    )
    for view in views:
        env.views.add(view.name, View(view.name, None))
