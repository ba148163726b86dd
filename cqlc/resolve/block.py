"""SELECT blocks: FROM, WHERE, GROUP BY, HAVING, the select list, DISTINCT and LIMIT."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from cqlc.algebra.expr import Column, Expr, SortKey, type_of
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Named,
    NamedAggregate,
    Project,
    Rank,
    Relation,
)
from cqlc.algebra.walk import conjuncts
from cqlc.codes import names as codes
from cqlc.resolve.aggregates import Ranking, sort_key
from cqlc.resolve.derived import Derived, Obstacle, ObstacleAt
from cqlc.resolve.expression import Expressions
from cqlc.resolve.grouping import Grouping
from cqlc.resolve.items import Item, select_items
from cqlc.resolve.joins import Joins
from cqlc.resolve.lookup import Fresh, same_name
from cqlc.resolve.naming import default_name
from cqlc.resolve.ordering import limit_of, limited, position
from cqlc.resolve.scope import Scope
from cqlc.resolve.shedding import shedding
from cqlc.resolve.sources import Sources
from cqlc.resolve.subqueries import Subqueries
from cqlc.resolve.unnest import Unnesting
from cqlc.syntax import ast

if TYPE_CHECKING:
    from cqlc.resolve.query import Queries


class Block:
    """One SELECT block on its way to a plan."""

    def __init__(self, queries: Queries, select: ast.Select, parent: Scope | None) -> None:
        self.queries = queries
        self.env = queries.env
        self.select = select
        self.scope = Scope.inside(parent)
        self.subqueries = Subqueries()
        self.sources = Sources(queries, self.scope, self.subqueries)
        self.unnesting = Unnesting(
            self.env, self.subqueries, self.scope.aliases, self.sources.obstacles
        )
        self.names = Fresh()
        self.aggregates: list[NamedAggregate] = []
        self.rankings: list[Ranking] = []
        self.aliases = {i.alias.text.lower(): i.value for i in select.items if i.alias}

    def derive(self, query: ast.Query) -> Derived:
        """The block's relation; `query` is the one around it, with its ORDER BY and LIMIT."""
        rows = self._filtered()
        items = select_items(self.select.items, self._grouped_expressions("SELECT"))
        keys = self._keys(items)
        having = self._having()
        order = [self._sort_key(item, items) for item in query.order_by]
        rows, adapt = self._grouped(rows, keys)
        unnesting = replace(self.unnesting, adapt=adapt)
        rows = unnesting.restrict(rows, [adapt(condition) for condition in having])
        rows = self._ranked(rows, unnesting)
        rows = self._projected(rows, items, order, query, unnesting)
        grouped = bool(keys or self.aggregates or self.select.having is not None)
        return Derived(
            rows,
            windows=tuple(self.sources.windows),
            slides=tuple(self.sources.slides),
            obstacles=tuple(self.sources.obstacles),
            aggregate=grouped,
            retroactive=self.sources.retroactive,
            nicknames=tuple((item.name, item.nickname) for item in items if item.nickname),
            shedding=shedding(self.select.shedding, self.sources.windows, self.env.findings),
        )

    # -------------------------------------------------------------------------------- expressions

    def _expressions(self, clause: str) -> Expressions:
        """For clauses that see single rows."""
        return Expressions(
            self.env, self.scope, clause, self.sources.subquery_rows, self.subqueries, self.names
        )

    def _grouped_expressions(self, clause: str) -> Expressions:
        """For clauses that may also see aggregates."""
        rankings = self.rankings if clause in ("SELECT", "ORDER BY") else None
        return replace(self._expressions(clause), aggregates=self.aggregates, rankings=rankings)

    # ---------------------------------------------------------------------------- FROM and WHERE

    def _filtered(self) -> Relation:
        joins = Joins(self.sources)
        for item in self.select.sources:
            joins.add(item)
        conditions = list(self.sources.conditions)
        if self.select.where is not None:
            conditions += conjuncts(self._expressions("WHERE").condition(self.select.where))
        tests = [c for c in conditions if any(self.subqueries.used(c))]
        plain = [c for c in conditions if c not in tests]
        rows, waiting = joins.combine(plain, self.select.span)
        return self.unnesting.restrict(rows, [*waiting, *tests])

    # ---------------------------------------------------------------------------------- grouping

    def _keys(self, items: list[Item]) -> list[Named]:
        resolver = replace(self._expressions("GROUP BY"), aliases=self.aliases)
        keys: list[Named] = []
        for expr in self.select.group_by:
            place = position(expr, len(items), "GROUP BY", self.env)
            value = items[place].value if place is not None and items else resolver.value(expr)
            if any(key.value == value for key in keys):
                continue
            if isinstance(value, Column) and value.name in (a.name for a in self.aggregates):
                self._aggregate_as_key(expr)
                continue
            name = value.name if isinstance(value, Column) else default_name(expr)
            keys.append(Named(self.names.name(name), value, span=expr.span))
        return keys

    def _aggregate_as_key(self, expr: ast.Expr) -> None:
        self.env.findings.report(
            codes.MISPLACED_AGGREGATE,
            "rows cannot be grouped by an aggregate of the groups",
            expr.span,
            "this select item is an aggregate",
            help="aggregate in a subquery first",
        )

    def _having(self) -> list[Expr]:
        if self.select.having is None:
            return []
        resolver = replace(self._grouped_expressions("HAVING"), aliases=self.aliases)
        return list(conjuncts(resolver.condition(self.select.having)))

    def _grouped(
        self, rows: Relation, keys: list[Named]
    ) -> tuple[Relation, Callable[[Expr], Expr]]:
        """The rows grouped, if they are, and how expressions are rewritten for that."""
        if not (keys or self.aggregates or self.select.having is not None):
            return rows, lambda expr: expr
        grouping = Grouping(tuple(keys), self.env.facts(rows).names, self.env)
        rows, keys, aggregates = self._computed(rows, keys)
        grouped = Aggregate(rows, tuple(keys), tuple(aggregates), span=self.select.span)
        inside = {name for a in self.aggregates for name, _ in self.subqueries.used(a.value)}
        inside |= {name for k in grouping.keys for name, _ in self.subqueries.used(k.value)}

        def adapt(expr: Expr) -> Expr:
            for name, subquery in self.subqueries.used(expr):
                if name not in inside:
                    grouping.check(subquery)
            return grouping.regrouped(expr)

        return grouped, adapt

    def _computed(
        self, rows: Relation, keys: list[Named]
    ) -> tuple[Relation, list[Named], list[NamedAggregate]]:
        """Keys and aggregates with the subqueries inside them joined to the rows."""
        values = [key.value for key in keys]
        if any(self.subqueries.used(*values, *(a.value for a in self.aggregates))):
            rows, values = self.unnesting.values(rows, values)
        aggregates: list[NamedAggregate] = []
        for named in self.aggregates:
            call = named.value
            if any(self.subqueries.used(call)):
                where = [call.where] if call.where is not None else []
                rows, parts = self.unnesting.values(rows, [*call.arguments, *where])
                arguments = tuple(parts[: len(call.arguments)])
                call = replace(call, arguments=arguments, where=parts[-1] if where else None)
            aggregates.append(replace(named, value=call))
        keys = [replace(k, value=v) for k, v in zip(keys, values, strict=True)]
        return rows, keys, aggregates

    # ----------------------------------------------------------------------------- ranking, order

    def _ranked(self, rows: Relation, unnesting: Unnesting) -> Relation:
        for ranking in self.rankings:
            self.sources.obstacles.append(ObstacleAt(Obstacle.RANKING, self.select.span))
            order = [key.value for key in ranking.order]
            values = [unnesting.adapt(value) for value in (*ranking.partition, *order)]
            rows, values = unnesting.values(rows, values)
            split = len(ranking.partition)
            rows, partition = self._as_columns(rows, values[:split])
            keys = zip(ranking.order, values[split:], strict=True)
            ordered = tuple(replace(key, value=value) for key, value in keys)
            rows = Rank(rows, ranking.kind, partition, ordered, ranking.name, span=self.select.span)
        return rows

    def _as_columns(self, rows: Relation, values: list[Expr]) -> tuple[Relation, tuple[str, ...]]:
        """The rows with columns for the values that are none, and the names of all of them."""
        computed = [
            Named(self.names.name("part"), value)
            for value in values
            if not isinstance(value, Column)
        ]
        names = iter([named.name for named in computed])
        found = tuple(v.name if isinstance(v, Column) else next(names) for v in values)
        if not computed:
            return rows, found
        schema = self.env.facts.schema(rows)
        kept = (Named(f.name, Column(f.name, f.type)) for f in schema)
        return Project(rows, (*kept, *computed), span=self.select.span), found

    def _sort_key(self, item: ast.SortItem, items: list[Item]) -> SortKey:
        """A key of ORDER BY: a result column, by name or position, or another value."""
        place = position(item.value, len(items), "ORDER BY", self.env)
        if place is None and isinstance(item.value, ast.Reference):
            parts = item.value.name.parts
            names = [i.name for i in items]
            place = next(
                (
                    i
                    for i, name in enumerate(names)
                    if len(parts) == 1 and same_name(parts[0], name)
                ),
                None,
            )
        if place is not None and items:
            return sort_key(items[place].value, item)
        resolver = replace(self._grouped_expressions("ORDER BY"), aliases=self.aliases)
        return sort_key(resolver.value(item.value), item)

    # -------------------------------------------------------------------------------- the results

    def _projected(
        self,
        rows: Relation,
        items: list[Item],
        order: list[SortKey],
        query: ast.Query,
        unnesting: Unnesting,
    ) -> Relation:
        limit = limit_of(query, self.env)
        if limit is None:
            order = []
        wanted = [
            unnesting.adapt(v) for v in (*(i.value for i in items), *(k.value for k in order))
        ]
        rows, values = unnesting.values(rows, wanted)
        shown = [
            Named(item.name, value, span=value.span)
            for item, value in zip(items, values, strict=False)
        ]
        columns = {n.value: Column(n.name, type_of(n.value)) for n in reversed(shown)}
        names = Fresh()
        for named in shown:
            names.name(named.name)
        added: list[Named] = []
        for value in values[len(items) :]:
            if value not in columns:
                added.append(Named(names.name("sort"), value, span=value.span))
                columns[value] = Column(added[-1].name, type_of(value))
        rows = Project(rows, (*shown, *added), span=self.select.span)
        if self.select.distinct:
            self._distinct(added)
            rows = Distinct(rows, span=self.select.span)
        if limit is None:
            return rows
        self.sources.obstacles.append(ObstacleAt(Obstacle.RANKING, limit.span))
        sorted_by = tuple(
            replace(key, value=columns[value])
            for key, value in zip(order, values[len(items) :], strict=True)
        )
        return limited(rows, sorted_by, limit, len(shown), self.env)

    def _distinct(self, added: list[Named]) -> None:
        self.sources.obstacles.append(ObstacleAt(Obstacle.DISTINCT, self.select.span))
        for named in added:
            self.env.findings.report(
                codes.UNGROUPED_COLUMN,
                "ORDER BY of a SELECT DISTINCT must be one of its items",
                named.span,
                "equal rows may differ here",
                help="add it to the select list",
            )
