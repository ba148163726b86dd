"""Queries: their bodies, common tables, set operations, and the stream operators around them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cqlc.algebra.expr import Column, SortKey
from cqlc.algebra.plan import Named, Plan, Project, Relation, Scan, Table, Values
from cqlc.catalog import TableKind
from cqlc.codes import names as name_codes
from cqlc.codes import windows as codes
from cqlc.resolve.aggregates import sort_key
from cqlc.resolve.block import Block
from cqlc.resolve.constants import values_rows
from cqlc.resolve.derived import Answer, Derived, Obstacle, ObstacleAt
from cqlc.resolve.environment import Environment, View
from cqlc.resolve.expression import Expressions, Rows
from cqlc.resolve.facts import MAX_DEPTH
from cqlc.resolve.lookup import Fresh, Names, dotted, same_name
from cqlc.resolve.nested import without_nested_wstream
from cqlc.resolve.ordering import limit_of, limited, position
from cqlc.resolve.outputs import Output, named_outputs, renamed
from cqlc.resolve.scope import Scope, ScopeColumn, ScopeItem
from cqlc.resolve.setops import Operand, combine
from cqlc.resolve.shedding import refuse_shedding
from cqlc.resolve.sorts import as_stream, contents
from cqlc.resolve.streams import answer
from cqlc.resolve.subqueries import Subqueries
from cqlc.source import Span
from cqlc.suggest import closest
from cqlc.syntax import ast

_COST = 14
"""Python calls that a query inside a query takes."""


@dataclass(frozen=True, slots=True)
class Queries:
    """Resolves queries; `ctes` are the common tables in sight, `defining` those being defined."""

    env: Environment
    ctes: Names[View] = field(default_factory=Names[View])
    defining: tuple[str, ...] = ()

    # -------------------------------------------------------------------------------- entry points

    def answer(
        self, query: ast.Query, parent: Scope | None, columns: tuple[ast.Name, ...] = ()
    ) -> Answer | None:
        """A query inside another one, with its columns renamed; None if it is broken."""
        found = self.top_answer(query, parent, named_outputs(columns))
        if found is not None:
            refuse_shedding(found.derived, query.span, self.env.findings)
        return found

    def top_answer(
        self, query: ast.Query, parent: Scope | None, outputs: tuple[Output, ...] = ()
    ) -> Answer | None:
        """A query, with its columns called and typed as declared; None if it is broken."""
        failures = self.env.findings.failures
        if isinstance(query.body, ast.NamedOperand) and not outputs and _is_bare(query):
            plan = self._named(query.body)
            return None if plan is None else Answer(plan, Derived(contents(plan, self.env.facts)))
        derived, operator = self._derive(query, parent)
        if self.env.findings.failures > failures:
            return None
        rows = renamed(derived.rows, outputs, query.span, self.env)
        if outputs:
            derived = replace(derived, nicknames=())
        found = answer(replace(derived, rows=rows), operator, self.env)
        self._check_depth(found.plan, query.span)
        return None if self.env.findings.failures > failures else found

    def subquery(self, query: ast.Query, scope: Scope) -> tuple[Derived, Rows] | None:
        """A query in an expression, as the relation it stands for; None if it is broken."""
        failures = self.env.findings.failures
        derived, operator = self._derive(query, scope)
        if self.env.findings.failures > failures:
            return None
        refuse_shedding(derived, query.span, self.env.findings)
        for use in derived.internal:
            self.env.findings.report(
                codes.INTERNAL_NOT_POSSIBLE,
                "a window in a condition's subquery cannot be INTERNAL",
                use.span,
                "the condition must be able to change back",
                help="leave INTERNAL out",
            )
        rows = derived.rows
        if operator is not None and operator.operator is not ast.StreamOperator.RSTREAM:
            # Golab writes NOT EXISTS (SELECT RSTREAM ..): RSTREAM there only says "relation".
            found = answer(derived, operator, self.env)
            if self.env.facts(found.plan).free and as_stream(found.plan) is not None:
                self._correlated_stream(query.span)
            rows = contents(found.plan, self.env.facts)
        if self.env.findings.failures > failures:
            return None
        return derived, self._rows(rows, query.span)

    def named_query(self, name: ast.Name) -> View | None:
        """The common table or view of this name."""
        return self.ctes.find(name) or self.env.views.find(name)

    # -------------------------------------------------------------------------------------- bodies

    def _derive(
        self, query: ast.Query, parent: Scope | None
    ) -> tuple[Derived, ast.ToStream | None]:
        """The relation of a query and the stream operator that was written around it."""
        self.env.budget -= _COST
        try:
            if self.env.budget < 0:
                self._too_deep(query.span)
                return _nothing(query.span), None
            inner = self._with_common_tables(query, parent)
            return inner._derive_body(query, parent)
        finally:
            self.env.budget += _COST

    def _derive_body(
        self, query: ast.Query, parent: Scope | None
    ) -> tuple[Derived, ast.ToStream | None]:
        body = query.body
        match body:
            case ast.Select():
                select = without_nested_wstream(body, self.env)
                return Block(self, select, parent).derive(query), body.to_stream
            case ast.StreamOf(operator, wrapped):
                self._refuse_limit(query)
                derived, inside = self._derive(wrapped, parent)
                if inside is not None:
                    self._stream_of_stream(operator, inside)
                return derived, operator
            case ast.Query():
                derived, operator = self._derive(body, parent)
                if operator is not None:
                    self._refuse_limit(query)
                    return derived, operator
                return self._ordered(derived, query), None
            case ast.SetOperation() | ast.NamedOperand() | ast.ValuesClause():
                operand = self._operand(body, parent)
                return self._ordered(operand.derived, query), None

    def _operand(self, body: ast.QueryBody, parent: Scope | None) -> Operand:
        match body:
            case ast.SetOperation():
                return self._set_operation(body, parent)
            case ast.NamedOperand():
                plan = self._named(body)
                rows = _nothing(body.span).rows if plan is None else contents(plan, self.env.facts)
                return Operand(Derived(rows, retroactive=True), True, body.span)
            case ast.ValuesClause():
                rows = values_rows(body, self._constants(parent))
                return Operand(Derived(rows), False, body.span)
            case ast.Query() if _is_bare(body):
                return self._operand(body.body, parent)
            case ast.Query() | ast.Select() | ast.StreamOf():
                query = body if isinstance(body, ast.Query) else ast.Query(body, span=body.span)
                derived, operator = self._derive(query, parent)
                refuse_shedding(derived, body.span, self.env.findings)
                if operator is not None or (derived.internal and derived.aggregate):
                    found = answer(derived, operator, self.env)
                    derived = Derived(contents(found.plan, self.env.facts), retroactive=True)
                return Operand(derived, False, body.span)

    def _set_operation(self, body: ast.SetOperation, parent: Scope | None) -> Operand:
        """A chain of set operations, from the left; chains may be long."""
        chain: list[ast.SetOperation] = []
        first: ast.QueryBody = body
        while isinstance(first, ast.SetOperation):
            chain.append(first)
            first = first.left
        found = self._operand(first, parent)
        for operation in reversed(chain):
            right = self._operand(operation.right, parent)
            found = combine(operation.op, operation.all, found, right, self.env)
        return found

    def _named(self, operand: ast.NamedOperand) -> Plan | None:
        """What a bare name stands for; None, with a finding, if nothing that has contents."""
        name = dotted(operand.name)
        view = self.named_query(name)
        if view is not None:
            if view.plan is None:
                self.env.findings.depend_on_failure()
            return view.plan
        table = self.env.tables.find(name)
        if table is None:
            self.unknown_table(operand.name)
            return None
        match table.kind:
            case TableKind.STREAM:
                return Scan(table.name, table.schema, span=operand.span)
            case TableKind.RELATION:
                return Table(table.name, table.schema, span=operand.span)
            case TableKind.NRR:
                self.env.findings.report(
                    codes.NRR_ALONE,
                    f"the NRR {table.name} needs a stream whose rows look it up",
                    operand.span,
                    "an NRR has no contents of its own to query",
                    help=f"join it with a stream, or declare {table.name} as a RELATION",
                )
                return None

    def _constants(self, parent: Scope | None) -> Expressions:
        scope = Scope.inside(parent)
        return Expressions(self.env, scope, "VALUES", self._refused_subquery, Subqueries())

    def _refused_subquery(self, query: ast.Query, _scope: Scope) -> Rows | None:
        self.env.findings.report(
            name_codes.MISPLACED_EXPRESSION,
            "a subquery cannot stand here",
            query.span,
            "constants are wanted",
            help="use SELECT instead of VALUES",
        )
        return None

    # --------------------------------------------------------------------------- common tables

    def _with_common_tables(self, query: ast.Query, parent: Scope | None) -> Queries:
        if not query.ctes:
            return self
        known = Names((name, view) for name, view in self.ctes.as_dict().items())
        for cte in query.ctes:
            inside = replace(self, ctes=known, defining=(*self.defining, cte.name.text.lower()))
            found = inside.answer(cte.query, parent, cte.columns)
            known = Names((name, view) for name, view in known.as_dict().items())
            if found is None:
                known.add(cte.name.text, View(cte.name.text, None))
            else:
                known.add(cte.name.text, view_of(cte.name.text, found))
        return replace(self, ctes=known)

    # ------------------------------------------------------------------------------- order, limit

    def _ordered(self, derived: Derived, query: ast.Query) -> Derived:
        limit = limit_of(query, self.env)
        schema = self.env.facts.schema(derived.rows)
        columns = tuple(ScopeColumn(f.name, Column(f.name, f.type)) for f in schema)
        scope = Scope([ScopeItem("", "", columns)])
        resolver = Expressions(self.env, scope, "ORDER BY", self._refused_subquery, Subqueries())
        order: list[SortKey] = []
        for item in query.order_by:
            place = position(item.value, len(columns), "ORDER BY", self.env)
            if place is not None and columns:
                value = columns[place].value
            else:
                value = resolver.value(item.value)
            order.append(sort_key(value, item))
        if limit is None:
            return derived
        rows = limited(derived.rows, tuple(order), limit, len(schema), self.env)
        ranked = ObstacleAt(Obstacle.RANKING, limit.span)
        return replace(derived, rows=rows, obstacles=(*derived.obstacles, ranked))

    def _refuse_limit(self, query: ast.Query) -> None:
        if query.limit is not None or query.offset is not None:
            self.env.findings.report(
                codes.LIMIT_ON_STREAM,
                "a stream has no first rows: it goes on for ever",
                query.span,
                "LIMIT stands outside of the stream operator",
                help="move ORDER BY .. LIMIT inside: ISTREAM(SELECT .. ORDER BY .. LIMIT 10)",
            )
        elif query.order_by:
            limit_of(query, self.env)

    # ----------------------------------------------------------------------------- what is wrong

    def unknown_table(self, name: ast.QualifiedName) -> None:
        """A finding about a name that nothing has."""
        written = dotted(name)
        if written.text.lower() in self.defining:
            self.env.findings.report(
                name_codes.RECURSIVE_VIEW,
                f"{written.text} is defined by itself",
                name.span,
                f"{written.text} -> {written.text}",
                help="recursion is not part of CQL",
            )
            return
        known = (*self.ctes, *self.env.views, *self.env.tables)
        near = closest(written.text, known)
        help = f"did you mean {near}?" if near else f"declare it: CREATE STREAM {written.text} (..)"
        if any(same_name(written, sink) for sink in self.env.sinks):
            help = "a sink is written to with INSERT INTO, it cannot be read"
        self.env.findings.report(
            name_codes.UNKNOWN_TABLE,
            f"there is no stream, relation or view {written.text}",
            name.span,
            "not declared",
            help=help,
        )

    def _stream_of_stream(self, outer: ast.ToStream, inner: ast.ToStream) -> None:
        self.env.findings.report(
            codes.STREAM_OF_STREAM,
            f"{outer.operator} applies to relations, and {inner.operator} makes a stream",
            outer.span,
            "applied to a stream",
            help=f"leave one of them out, or put a window in between: {outer.operator}(SELECT * "
            f"FROM ({inner.operator} ..) [RANGE 1 MINUTE])",
        )

    def _correlated_stream(self, span: Span) -> None:
        self.env.findings.report(
            codes.CORRELATED_STREAM,
            "a stream cannot depend on a row of the query around it",
            span,
            "this stream reads a column from outside",
            help="leave the stream operator out: a condition asks a relation",
        )

    def _check_depth(self, plan: Plan, span: Span) -> None:
        if self.env.facts(plan).depth > MAX_DEPTH:
            self._too_deep(span)

    def _too_deep(self, span: Span) -> None:
        self.env.findings.report(
            name_codes.TOO_DEEP,
            "the query nests too deeply",
            span,
            f"more than {MAX_DEPTH} operators on top of each other, or subqueries in subqueries",
            help="cut it up: a view that goes to a sink and is read again as a stream",
        )

    def _rows(self, rows: Relation, span: Span) -> Rows:
        """The subquery's rows; their names must not look like those of an outer query's columns."""
        schema = self.env.facts.schema(rows)
        if any("." in f.name for f in schema):
            names = Fresh()
            safe = [names.name(f.name.replace(".", "_")) for f in schema]
            pairs = zip(safe, schema, strict=True)
            named = tuple(Named(name, Column(f.name, f.type)) for name, f in pairs)
            rows = Project(rows, named, span=span)
            schema = self.env.facts.schema(rows)
        return Rows(rows, tuple(Column(f.name, f.type) for f in schema))


def _nothing(span: Span) -> Derived:
    return Derived(Values((), (), span=span))


def view_of(name: str, found: Answer) -> View:
    """A named query as others see it."""
    derived = found.derived
    return View(name, found.plan, derived.nicknames, found.holds_latest_only)


def _is_bare(query: ast.Query) -> bool:
    return not (query.ctes or query.order_by or query.limit or query.offset)
