"""Joins in FROM, and the order in which everything in FROM is put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cqlc.algebra.expr import Call, Comparison, Expr
from cqlc.algebra.plan import Filter, Join, JoinKind, NrrJoin, Relation, Scan, Values
from cqlc.algebra.walk import columns, conjuncts, subplans
from cqlc.codes import names as name_codes
from cqlc.codes import windows as codes
from cqlc.diagnostics import Label
from cqlc.resolve.derived import Obstacle, ObstacleAt
from cqlc.resolve.expression import Expressions
from cqlc.resolve.lookup import same_name
from cqlc.resolve.operators import compare, conjunction, unify
from cqlc.resolve.scope import MergedColumn, Scope, ScopeColumn, ScopeItem
from cqlc.resolve.sources import Joinable, NrrUse, Sources
from cqlc.resolve.unnest import Unnesting
from cqlc.source import Span
from cqlc.syntax import ast

_KINDS = {
    "INNER": JoinKind.INNER,
    "CROSS": JoinKind.INNER,
    "LEFT": JoinKind.LEFT,
    "RIGHT": JoinKind.LEFT,
    "FULL": JoinKind.FULL,
    "SEMI": JoinKind.SEMI,
    "ANTI": JoinKind.ANTI,
}
_OBSTACLES = {
    JoinKind.LEFT: Obstacle.OUTER_JOIN,
    JoinKind.FULL: Obstacle.OUTER_JOIN,
    JoinKind.SEMI: Obstacle.SEMI_JOIN,
    JoinKind.ANTI: Obstacle.NEGATION,
}


@dataclass(frozen=True, slots=True)
class Joins:
    """Adds the items of a FROM clause to a block's sources, and joins them."""

    sources: Sources

    # ----------------------------------------------------------------------------------- the list

    def add(self, item: ast.FromItem) -> None:
        """Adds an item of the list after FROM; inner joins only add conditions."""
        sources = self.sources
        if isinstance(item, ast.JoinClause) and _KINDS[item.kind] is JoinKind.INNER:
            start = len(sources.scope.items)
            self.add(item.left)
            middle = len(sources.scope.items)
            self.add(item.right)
            sources.conditions += self._conditions(item, start, middle, sources.scope)
            return
        match self._item(item):
            case NrrUse() as nrr:
                sources.nrrs.append(nrr)
            case None:
                pass
            case rows:
                sources.parts.append(rows)

    def combine(self, conditions: Sequence[Expr], span: Span) -> tuple[Relation, list[Expr]]:
        """All items joined; each condition as low as its columns allow, the others returned."""
        waiting = list(conditions)
        parts = [self._filtered(part, waiting) for part in self.sources.parts]
        if not parts:
            if self.sources.nrrs:
                self._nrr_alone(self.sources.nrrs[0])
            return Values(((),), (), span=span), waiting
        rows = parts[0]
        for part in parts[1:]:
            names = self._names(rows) | self._names(part)
            predicate = conjunction(_taken(waiting, names))
            rows = Join(rows, part, JoinKind.INNER, predicate, span=part.span)
        for nrr in self.sources.nrrs:
            names = self._names(rows) | _columns_of(nrr)
            rows = self._look_up(rows, nrr, JoinKind.INNER, _taken(waiting, names))
        return rows, waiting

    def _filtered(self, part: Relation, waiting: list[Expr]) -> Relation:
        own = _taken(waiting, self._names(part))
        if not own:
            return part
        predicate = conjunction(own)
        return Filter(part, predicate, span=predicate.span)

    def _names(self, rows: Relation) -> frozenset[str]:
        return self.sources.queries.env.facts(rows).names

    # ------------------------------------------------------------------------------ explicit joins

    def _item(self, item: ast.FromItem) -> Joinable:
        match item:
            case ast.TableReference() | ast.Subquery():
                return self.sources.primary(item)
            case ast.JoinClause():
                return self._join(item)

    def _join(self, item: ast.JoinClause) -> Joinable:
        """A join that stays where it stands: an outer, semi or anti join, or one below these."""
        scope, kind = self.sources.scope, _KINDS[item.kind]
        start = len(scope.items)
        left = self._item(item.left)
        middle = len(scope.items)
        right = self._item(item.right)
        inside = Scope(scope.items[start:], [], scope.parent, scope.aliases)
        inside.merged = [m for m in scope.merged if m.item in inside.items]
        others = [m for m in scope.merged if m not in inside.merged]
        # ON sees the two sides of its own join only.
        conditions = self._conditions(item, 0, middle - start, inside)
        scope.merged = [*others, *inside.merged]
        if kind in (JoinKind.SEMI, JoinKind.ANTI):
            del scope.items[middle:]
        if kind in _OBSTACLES:
            self.sources.obstacles.append(ObstacleAt(_OBSTACLES[kind], item.span))
        if item.kind == "RIGHT" or (kind is JoinKind.INNER and isinstance(left, NrrUse)):
            left, right = right, left
        return self._joined(left, right, kind, conditions, item.span)

    def _joined(
        self, left: Joinable, right: Joinable, kind: JoinKind, conditions: list[Expr], span: Span
    ) -> Joinable:
        kept = (left, right) if kind is JoinKind.FULL else (left,)
        for side in kept:
            if isinstance(side, NrrUse):
                self._nrr_not_looked_up(side, kind, span)
                return None
        if left is None or right is None or isinstance(left, NrrUse):
            return left or right
        if isinstance(right, NrrUse):
            return self._look_up(left, right, kind, conditions, span)
        subqueries = self.sources.subqueries
        plain = [c for c in conditions if not any(subqueries.used(c))]
        tests = [c for c in conditions if any(subqueries.used(c))]
        env, aliases = self.sources.queries.env, self.sources.scope.aliases
        unnesting = Unnesting(env, subqueries, aliases, self.sources.obstacles)
        if kind is JoinKind.INNER:
            joined = Join(left, right, kind, conjunction(plain), span=span)
            return unnesting.restrict(joined, tests)
        if tests:
            right = self._restrict_right(right, kind, tests, unnesting)
        return Join(left, right, kind, conjunction(plain), span=span)

    def _restrict_right(
        self, right: Relation, kind: JoinKind, tests: list[Expr], unnesting: Unnesting
    ) -> Relation:
        """Subqueries in the ON of an outer join may filter its right side beforehand."""
        facts = self.sources.queries.env.facts
        for test in tests:
            read = columns(test)
            for name, subquery in self.sources.subqueries.used(test):
                read = (read - {name}) | facts(subquery.rows).free
                read = read.union(*map(columns, getattr(subquery, "operands", ())))
            if kind is JoinKind.FULL or not read <= facts(right).names:
                self.sources.queries.env.findings.report(
                    name_codes.MISPLACED_EXPRESSION,
                    "a subquery in the ON of an outer join may only read the joined side",
                    test.span,
                    "this one reads more than that",
                    help="join with a subquery that has this condition in its own WHERE",
                )
        return unnesting.restrict(right, tests)

    # -------------------------------------------------------------------------------- conditions

    def _conditions(
        self, item: ast.JoinClause, start: int, middle: int, scope: Scope
    ) -> list[Expr]:
        if item.using:
            sides = scope.items[start:middle], scope.items[middle:]
            return [c for name in item.using for c in self._using(name, item, scope, sides)]
        if item.on is None:
            return []
        queries = self.sources.queries
        resolver = Expressions(
            queries.env, scope, "ON", self.sources.subquery_rows, self.sources.subqueries
        )
        return list(conjuncts(resolver.condition(item.on)))

    def _using(
        self,
        name: ast.Name,
        item: ast.JoinClause,
        scope: Scope,
        sides: tuple[list[ScopeItem], list[ScopeItem]],
    ) -> list[Expr]:
        """The equality that USING means, and the one column that it leaves of two."""
        findings = self.sources.queries.env.findings
        left, right = (self._column(name, side, scope) for side in sides)
        if left is None or right is None:
            return []
        equal = compare(Comparison.EQ, left.column.value, right.column.value, name.span, findings)
        value = right.column.value if item.kind == "RIGHT" else left.column.value
        unified = unify([left.column.value, right.column.value])
        if item.kind == "FULL" and unified is not None:
            value = Call("COALESCE", tuple(unified[0]), unified[1], span=name.span)
        merged = ScopeColumn(left.column.name, value)
        scope.merged = [m for m in scope.merged if m not in (left, right)]
        scope.merged.append(MergedColumn(merged, left.item, left.replaced | right.replaced))
        return [equal]

    def _column(self, name: ast.Name, side: list[ScopeItem], scope: Scope) -> MergedColumn | None:
        """The column of one side of a join that USING names."""
        for merged in scope.merged:
            if merged.item in side and same_name(name, merged.column.name):
                return merged
        found = [(i, c) for i in side for c in i.columns if same_name(name, c.name)]
        if len(found) == 1:
            item, column = found[0]
            return MergedColumn(column, item, columns(column.value))
        if any(item.open for item in side):
            return None
        shown = " or ".join(item.alias for item in side)
        self.sources.queries.env.findings.report(
            name_codes.AMBIGUOUS_COLUMN if found else name_codes.UNKNOWN_COLUMN,
            f"USING needs one column {name.text} on both sides",
            name.span,
            f"{shown} has {'several' if found else 'none'}",
            help="write the condition with ON",
        )
        return None

    # --------------------------------------------------------------------------------------- NRRs

    def _look_up(
        self,
        rows: Relation,
        nrr: NrrUse,
        kind: JoinKind,
        conditions: list[Expr],
        span: Span | None = None,
    ) -> Relation:
        if not any(isinstance(node, Scan) for node in subplans(rows)):
            self._nrr_alone(nrr)
        table, predicate = nrr.table, conjunction(conditions)
        place = span or nrr.span
        return NrrJoin(rows, table.name, table.schema, nrr.alias, kind, predicate, span=place)

    def _nrr_alone(self, nrr: NrrUse) -> None:
        self.sources.queries.env.findings.report(
            codes.NRR_ALONE,
            f"the NRR {nrr.table.name} needs a stream whose rows look it up",
            nrr.span,
            "an NRR has no contents of its own to query",
            help=f"add a stream to FROM, or declare {nrr.table.name} as a RELATION",
        )

    def _nrr_not_looked_up(self, nrr: NrrUse, kind: JoinKind, span: Span) -> None:
        self.sources.queries.env.findings.report(
            codes.NRR_NOT_LOOKED_UP,
            f"an NRR cannot be the side that a {kind} join keeps all rows of",
            nrr.span,
            f"{nrr.table.name} is only looked up by rows that have a time",
            help=f"use a LEFT JOIN with the NRR on its right, or declare {nrr.table.name} as a "
            "RELATION",
            related=(Label(span, "this join"),),
        )


def _columns_of(nrr: NrrUse) -> frozenset[str]:
    return frozenset(f"{nrr.alias}.{field.name}" for field in nrr.table.schema)


def _taken(waiting: list[Expr], names: frozenset[str]) -> list[Expr]:
    """Takes the conditions out that read some columns, and none but these."""
    taken = [c for c in waiting if (read := columns(c)) and read <= names]
    for condition in taken:
        waiting.remove(condition)
    return taken
