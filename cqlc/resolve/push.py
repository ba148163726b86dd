"""Pushing the domain of outer columns down into a subquery that reads them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cqlc.algebra.expr import Call, Column, Compare, Comparison, Expr
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    JoinKind,
    Named,
    Now,
    NrrJoin,
    Project,
    Range,
    Rank,
    Relation,
    Rename,
    Rows,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.schema import Schema
from cqlc.algebra.walk import columns, conjuncts
from cqlc.resolve.facts import FactsOf
from cqlc.resolve.lookup import Fresh
from cqlc.resolve.operators import TRUE, conjunction


@dataclass(frozen=True, slots=True)
class Domain:
    """The different values that columns of an outer query have."""

    rows: Relation
    columns: tuple[Column, ...]

    @staticmethod
    def of(outer: Relation, names: frozenset[str], facts: FactsOf) -> Domain:
        """The domain of some of a relation's columns."""
        fields = [f for f in facts(outer).schema if f.name in names]
        read = tuple(Column(f.name, f.type) for f in fields)
        named = tuple(Named(column.name, column) for column in read)
        return Domain(Distinct(Project(outer, named)), read)

    @property
    def names(self) -> frozenset[str]:
        """The names of the columns."""
        return frozenset(column.name for column in self.columns)

    @property
    def named(self) -> tuple[Named, ...]:
        """The columns as output columns of the same names."""
        return tuple(Named(column.name, column) for column in self.columns)


def pushed_down(plan: Relation, domain: Domain, facts: FactsOf) -> Relation:
    """For every row d of the domain, d and each row that the plan has for it."""
    return _Push(domain, facts).into(plan)


class _Push:
    """One domain on its way down."""

    def __init__(self, domain: Domain, facts: FactsOf) -> None:
        self.domain = domain
        self.facts = facts
        self.names = Fresh()

    def into(self, plan: Relation) -> Relation:
        """The plan joined with the domain."""
        domain = self.domain
        if not self._reads(plan):
            return Join(domain.rows, plan, JoinKind.INNER, TRUE)
        match plan:
            case Filter(rows, predicate) if not self._reads(rows):
                return self._meet(rows, predicate)
            case Filter(rows) | Distinct(rows) | NrrJoin(rows):
                return replace(plan, input=self.into(rows))
            case Project(rows, shown):
                return replace(plan, input=self.into(rows), columns=(*shown, *domain.named))
            case Rename(rows, alias):
                renamed = _named(self.facts.schema(rows), alias)
                return Project(self.into(rows), (*renamed, *domain.named), span=plan.span)
            case Aggregate(rows, keys):
                return replace(plan, input=self.into(rows), keys=(*keys, *domain.named))
            case Rank(rows):
                by = (*plan.partition, *(column.name for column in domain.columns))
                return replace(plan, input=self.into(rows), partition=by)
            case Join():
                return self._join(plan)
            case Union() | Except() | Intersect():
                return self._set_operation(plan)
            case Values():
                return self._values(plan)
            case Table() | Now() | Unbounded() | Range() | Rows() | Session():
                return Join(domain.rows, plan, JoinKind.INNER, TRUE)

    def _meet(self, rows: Relation, predicate: Expr) -> Relation:
        """The domain joined with rows that do not read it, by a predicate that does."""
        parts = conjuncts(predicate)
        tied = [part for part in parts if columns(part) & self.domain.names]
        own = [part for part in parts if part not in tied]
        if own:
            rows = Filter(rows, conjunction(own), span=predicate.span)
        return Join(self.domain.rows, rows, JoinKind.INNER, conjunction(tied), span=predicate.span)

    def _reads(self, plan: Relation) -> bool:
        return bool(self.facts(plan).free & self.domain.names)

    def _join(self, plan: Join) -> Relation:
        right_reads = self._reads(plan.right)
        predicate_reads = bool(columns(plan.predicate) & self.domain.names)
        if plan.kind is JoinKind.FULL:
            return self._full_join(plan)
        if not right_reads:
            return replace(plan, left=self.into(plan.left))
        inner = plan.kind is JoinKind.INNER
        if inner and not predicate_reads and not self._reads(plan.left):
            return replace(plan, right=self.into(plan.right))
        right, equal = self._copy(plan.right)
        predicate = conjunction([plan.predicate, *equal])
        return replace(plan, left=self.into(plan.left), right=right, predicate=predicate)

    def _copy(self, plan: Relation) -> tuple[Relation, list[Expr]]:
        """The plan joined with the domain under other names, and what ties the two domains."""
        named: list[Named] = []
        equal: list[Expr] = []
        for column in self.domain.columns:
            copy = replace(column, name=self.names.name(f"{column.name}'"))
            named.append(Named(copy.name, column))
            equal.append(Compare(Comparison.SAME, column, copy))
        shown = _named(self.facts.schema(plan))
        return Project(self.into(plan), (*shown, *named)), equal

    def _full_join(self, plan: Join) -> Relation:
        right, equal = self._copy(plan.right)
        predicate = conjunction([plan.predicate, *equal])
        joined = replace(plan, left=self.into(plan.left), right=right, predicate=predicate)
        both = _named((*self.facts.schema(plan.left), *self.facts.schema(plan.right)))
        pairs = [e for e in equal if isinstance(e, Compare)]
        merged = tuple(
            Named(column.name, Call("COALESCE", (pair.left, pair.right), column.type))
            for column, pair in zip(self.domain.columns, pairs, strict=True)
        )
        return Project(joined, (*both, *merged))

    def _set_operation(self, plan: Union | Except | Intersect) -> Relation:
        """Both sides with their columns first and the domain's last, so that positions agree."""
        left = Project(
            self.into(plan.left), (*_named(self.facts.schema(plan.left)), *self.domain.named)
        )
        right = Project(
            self.into(plan.right), (*_named(self.facts.schema(plan.right)), *self.domain.named)
        )
        return replace(plan, left=left, right=right)

    def _values(self, plan: Values) -> Relation:
        rows = [
            Project(
                self.domain.rows,
                (
                    *(Named(f.name, v) for f, v in zip(plan.schema, row, strict=True)),
                    *self.domain.named,
                ),
            )
            for row in plan.rows
        ]
        whole: Relation = rows[0]
        for row in rows[1:]:
            whole = Union(whole, row)
        return whole


def _named(schema: Schema, alias: str | None = None) -> tuple[Named, ...]:
    prefix = "" if alias is None else f"{alias}."
    return tuple(Named(prefix + f.name, Column(f.name, f.type)) for f in schema)
