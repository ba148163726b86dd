"""Making subqueries independent of the row they are asked for.

A subquery may read columns of the query around it. Either its predicates on them are pulled up to
where it is joined with that query, or, where an operator is in the way, the domain of the columns
(their different values) is pushed down into it: T. Neumann and A. Kemper, "Unnesting Arbitrary
Queries", BTW 2015.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cqlc.algebra.expr import Column, Compare, Comparison, Expr, type_of
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    JoinKind,
    Named,
    NrrJoin,
    Project,
    Rank,
    Relation,
    Rename,
)
from cqlc.algebra.walk import columns, conjuncts, expressions, map_columns
from cqlc.resolve.facts import FactsOf
from cqlc.resolve.lookup import Fresh
from cqlc.resolve.operators import conjunction
from cqlc.resolve.push import Domain, pushed_down

_EQUALITIES = (Comparison.EQ, Comparison.SAME)


@dataclass(frozen=True, slots=True)
class Detached:
    """Rows that do not depend on the outer row, and the predicates that tie them to it."""

    rows: Relation
    links: tuple[Expr, ...] = ()


def detach(rows: Relation, outer: Relation, alias: str, facts: FactsOf) -> Detached:
    """The subquery's rows with columns `alias.c`, and their links to the rows of `outer`."""
    bound = facts(rows).free & facts(outer).names
    pulled = _Pull(bound, facts).up(rows)
    if pulled is not None:
        own = facts(pulled.rows).names
        links = tuple(_renamed(link, own, alias) for link in pulled.links)
        return Detached(Rename(pulled.rows, alias, span=rows.span), links)
    domain = Domain.of(outer, bound, facts)
    pushed = pushed_down(rows, domain, facts)
    links = tuple(
        Compare(Comparison.SAME, column, replace(column, name=f"{alias}.{column.name}"))
        for column in domain.columns
    )
    return Detached(Rename(pushed, alias, span=rows.span), links)


def _renamed(expr: Expr, own: frozenset[str], alias: str) -> Expr:
    def image(column: Column) -> Expr:
        return replace(column, name=f"{alias}.{column.name}") if column.name in own else column

    return map_columns(expr, image)


class _Pull:
    """Pulls predicates on the columns `bound` up to the top of a plan, as far as that is right."""

    def __init__(self, bound: frozenset[str], facts: FactsOf) -> None:
        self.bound = bound
        self.facts = facts

    def up(self, plan: Relation) -> Detached | None:
        """The plan without those predicates, and they; None if something is in the way."""
        if not self.facts(plan).free & self.bound:
            return Detached(plan)
        if isinstance(plan, Project | Aggregate | Rank) and self._computes(plan):
            return None
        match plan:
            case Filter(rows, predicate):
                inner = self.up(rows)
                return None if inner is None else self._filter(plan, inner, predicate)
            case Project(rows):
                inner = self.up(rows)
                return None if inner is None else self._project(plan, inner)
            case Rename(rows, alias):
                inner = self.up(rows)
                if inner is None:
                    return None
                own = self.facts(inner.rows).names
                links = tuple(_renamed(link, own, alias) for link in inner.links)
                return Detached(replace(plan, input=inner.rows), links)
            case Distinct(rows):
                inner = self.up(rows)
                if inner is None or self._fixed(inner) is None:
                    return None
                return Detached(replace(plan, input=inner.rows), inner.links)
            case Rank(rows):
                inner = self.up(rows)
                fixed = None if inner is None else self._fixed(inner)
                if inner is None or fixed is None:
                    return None
                partition = tuple(dict.fromkeys((*plan.partition, *fixed)))
                return Detached(replace(plan, input=inner.rows, partition=partition), inner.links)
            case Aggregate(rows):
                inner = self.up(rows)
                return None if inner is None else self._aggregate(plan, inner)
            case Join():
                return self._join(plan)
            case NrrJoin(rows):
                inner = self.up(rows)
                return None if inner is None else self._nrr_join(plan, inner)
            case _:
                return None

    def _computes(self, plan: Relation) -> bool:
        """Whether the operator computes with outer columns itself."""
        return any(columns(expr) & self.bound for expr in expressions(plan))

    def _split(self, predicate: Expr) -> tuple[list[Expr], tuple[Expr, ...]]:
        """The conditions that stay, and those on outer columns."""
        parts = conjuncts(predicate)
        tied = tuple(part for part in parts if columns(part) & self.bound)
        return [part for part in parts if part not in tied], tied

    def _filter(self, plan: Filter, inner: Detached, predicate: Expr) -> Detached:
        staying, tied = self._split(predicate)
        rows = inner.rows
        if staying:
            rows = Filter(rows, conjunction(staying), span=plan.span)
        return Detached(rows, (*inner.links, *tied))

    def _project(self, plan: Project, inner: Detached) -> Detached:
        """Shows the columns that the links need beside those that the query asked for."""
        own = self.facts(inner.rows)
        needed = [f for f in own.schema if any(f.name in columns(link) for link in inner.links)]
        shown = {c.value.name: c.name for c in plan.columns if isinstance(c.value, Column)}
        names = Fresh()
        for column in plan.columns:
            names.name(column.name)
        added: list[Named] = []
        for field in needed:
            if field.name not in shown:
                shown[field.name] = names.name(field.name)
                added.append(Named(shown[field.name], Column(field.name, field.type)))

        def image(column: Column) -> Expr:
            inside = column.name in own.names
            return replace(column, name=shown[column.name]) if inside else column

        links = tuple(map_columns(link, image) for link in inner.links)
        return Detached(replace(plan, input=inner.rows, columns=(*plan.columns, *added)), links)

    def _fixed(self, inner: Detached) -> tuple[str, ...] | None:
        """The columns that the links fix to one value per outer row; None if a link does not."""
        fixed: list[str] = []
        for link in inner.links:
            match self._sides(link, inner.rows):
                case None:
                    return None
                case (Column(name), _):
                    fixed.append(name)
                case (_, None):
                    continue
                case _:
                    return None
        return tuple(fixed)

    def _sides(self, link: Expr, rows: Relation) -> tuple[Expr, Expr | None] | None:
        """An equality's inner and outer side; (link, None) if it has no inner side at all."""
        own = self.facts(rows).names
        if not columns(link) & own:
            return link, None
        if isinstance(link, Compare) and link.op in _EQUALITIES:
            for inner, outer in ((link.left, link.right), (link.right, link.left)):
                if columns(inner) <= own and not columns(outer) & own:
                    return inner, outer
        return None

    def _aggregate(self, plan: Aggregate, inner: Detached) -> Detached | None:
        """Groups by the inner sides of the links: a group without rows has no row anyway."""
        keys, links = list(plan.keys), list[Expr]()
        names = Fresh()
        for column in (*plan.keys, *plan.aggregates):
            names.name(column.name)
        for link in inner.links:
            sides = self._sides(link, inner.rows)
            if sides is None:
                return None
            value, outer = sides
            if outer is None or not isinstance(link, Compare):
                links.append(link)
                continue
            key = next((k for k in keys if k.value == value), None)
            if key is None:
                key = Named(names.name(value.name if isinstance(value, Column) else "link"), value)
                keys.append(key)
            left, right = replace(_column(key), span=value.span), outer
            links.append(replace(link, left=left, right=right))
        rows = replace(plan, input=inner.rows, keys=tuple(keys))
        return Detached(rows, tuple(links))

    def _join(self, plan: Join) -> Detached | None:
        staying, tied = self._split(plan.predicate)
        if plan.kind is not JoinKind.INNER:
            if tied or self.facts(plan.right).free & self.bound or plan.kind is JoinKind.FULL:
                return None
            left = self.up(plan.left)
            return None if left is None else replace(left, rows=replace(plan, left=left.rows))
        left, right = self.up(plan.left), self.up(plan.right)
        if left is None or right is None:
            return None
        rows = Join(left.rows, right.rows, plan.kind, conjunction(staying), span=plan.span)
        return Detached(rows, (*left.links, *right.links, *tied))

    def _nrr_join(self, plan: NrrJoin, inner: Detached) -> Detached | None:
        staying, tied = self._split(plan.predicate)
        if tied and plan.kind is not JoinKind.INNER:
            return None
        predicate = conjunction(staying) if tied else plan.predicate
        return Detached(replace(plan, input=inner.rows, predicate=predicate), (*inner.links, *tied))


def _column(key: Named) -> Column:
    return Column(key.name, type_of(key.value))
