"""Joining the subqueries of expressions to the rows they are asked for.

Tests that stand alone in a condition become semi and anti joins. Elsewhere (under OR, in CASE, in
the select list) a test becomes a column: a left join with the outer values for which it is true.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cqlc.algebra.expr import (
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Comparison,
    Expr,
    IsNull,
    Literal,
    Negate,
    Not,
)
from cqlc.algebra.plan import (
    Distinct,
    Filter,
    Join,
    JoinKind,
    Named,
    NrrJoin,
    Project,
    Relation,
    Rename,
)
from cqlc.algebra.walk import columns, map_columns, nullable, operands, subplans
from cqlc.codes import names as codes
from cqlc.codes import windows as window_codes
from cqlc.datatypes import BOOLEAN
from cqlc.functions import SCALARS, Nulls
from cqlc.resolve.derived import Obstacle, ObstacleAt
from cqlc.resolve.detach import Detached, detach
from cqlc.resolve.environment import Environment
from cqlc.resolve.lookup import Fresh
from cqlc.resolve.operators import TRUE, conjunction
from cqlc.resolve.push import Domain
from cqlc.resolve.single import at_most_one_row
from cqlc.resolve.subqueries import (
    CompareTest,
    ExistsTest,
    ScalarValue,
    Subqueries,
    position,
)
from cqlc.source import Span

_INVERSE = {
    Comparison.EQ: Comparison.NE,
    Comparison.NE: Comparison.EQ,
    Comparison.LT: Comparison.GE,
    Comparison.GE: Comparison.LT,
    Comparison.GT: Comparison.LE,
    Comparison.LE: Comparison.GT,
}


@dataclass(frozen=True, slots=True)
class Unnesting:
    """Joins a block's subqueries to its rows.

    `aliases` names what is joined, `obstacles` collects what was; `adapt` rewrites values of the
    block's FROM items into values of the rows at hand, which may be grouped.
    """

    env: Environment
    subqueries: Subqueries
    aliases: Fresh
    obstacles: list[ObstacleAt]
    adapt: Callable[[Expr], Expr] = lambda expr: expr

    def restrict(self, rows: Relation, conditions: Sequence[Expr]) -> Relation:
        """The rows for which all conditions are true."""
        plain = [c for c in conditions if not any(self.subqueries.used(c))]
        if plain:
            rows = Filter(rows, conjunction(plain), span=conjunction(plain).span)
        for condition in conditions:
            if any(self.subqueries.used(condition)):
                rows = self._restrict(rows, condition)
        return rows

    def values(self, rows: Relation, exprs: Sequence[Expr]) -> tuple[Relation, list[Expr]]:
        """The rows with the subqueries' values beside them, and the expressions over these."""
        images: dict[str, Expr] = {}
        joined: dict[int, str] = {}
        for name, subquery in self.subqueries.used(*exprs):
            match subquery:
                case ScalarValue():
                    if id(subquery) not in joined:
                        rows, joined[id(subquery)] = self._scalar(rows, subquery, JoinKind.LEFT)
                    images[name] = _scalar_column(subquery, name, joined[id(subquery)])
                case ExistsTest():
                    rows, images[name] = self._exists(rows, subquery)
                case CompareTest():
                    rows, images[name] = self._compared(rows, subquery)

        return rows, [map_columns(e, lambda c: images.get(c.name, c)) for e in exprs]

    # -------------------------------------------------------------------------- as a condition

    def _restrict(self, rows: Relation, condition: Expr) -> Relation:
        negated, core = False, condition
        while isinstance(core, Not):
            negated, core = not negated, core.operand
        match self.subqueries.behind(core):
            case ExistsTest() as test:
                kind = JoinKind.ANTI if negated else JoinKind.SEMI
                return self._semi(rows, test, (), kind)
            case CompareTest() as test:
                rows, left = self._operands(rows, test)
                kind = JoinKind.SEMI if negated is test.every else JoinKind.ANTI
                return self._semi(rows, test, left, kind)
            case _:
                return self._compute(rows, condition)

    def _semi(
        self, rows: Relation, test: ExistsTest | CompareTest, left: Sequence[Expr], kind: JoinKind
    ) -> Relation:
        """The rows that have a match (SEMI) or none (ANTI).

        IN asks for a row where the comparison is true, NOT ALL for one where it is false. NOT IN
        and ALL refuse a row as soon as one comparison does not clearly come out right, so there
        NULL counts as a match.
        """
        what = Obstacle.NEGATION if kind is JoinKind.ANTI else Obstacle.SUBQUERY
        self.obstacles.append(ObstacleAt(what, test.span))
        alias = self.aliases.name("subquery")
        detached = self._detach(test.rows, rows, alias, test.span)
        links = list(detached.links)
        if isinstance(test, CompareTest):
            match = _match(test, left, alias)
            schema = (*self.env.facts.schema(rows), *self.env.facts.schema(detached.rows))
            if kind is JoinKind.ANTI and nullable(match, schema):
                match = Call("COALESCE", (match, TRUE), BOOLEAN, span=test.span)
            links.append(match)
        return Join(rows, detached.rows, kind, conjunction(links), span=test.span)

    def _compute(self, rows: Relation, condition: Expr) -> Relation:
        """The rows for which a condition on subqueries' values is true."""
        used = list(self.subqueries.used(condition))
        scalars = {id(s): s for _, s in used if isinstance(s, ScalarValue)}
        inner = len(scalars) == len({id(s) for _, s in used}) and all(
            _rejects_null(condition, name) for name, _ in used
        )
        if not inner:
            rows, [value] = self.values(rows, [condition])
            return Filter(rows, value, span=condition.span)
        # Where there is no value the condition is not true, so an inner join will do.
        aliases: dict[int, str] = {}
        joined: Join | None = None
        for subquery in scalars.values():
            joined, aliases[id(subquery)] = self._scalar(joined or rows, subquery, JoinKind.INNER)
        images = {
            name: _scalar_column(s, name, aliases[id(s)])
            for name, s in used
            if isinstance(s, ScalarValue)
        }
        value = map_columns(condition, lambda c: images.get(c.name, c))
        if joined is None:
            return Filter(rows, value, span=condition.span)
        predicate = conjunction([joined.predicate, value])
        return replace(joined, predicate=predicate, span=condition.span)

    # ------------------------------------------------------------------------------ as a value

    def _scalar(self, rows: Relation, subquery: ScalarValue, kind: JoinKind) -> tuple[Join, str]:
        if not at_most_one_row(subquery.rows, self.env):
            self.env.findings.report(
                codes.MANY_ROWS,
                "a subquery used as a value must have at most one row",
                subquery.span,
                "may have several rows",
                help="use an aggregate such as MAX, or ORDER BY .. LIMIT 1",
            )
        self.obstacles.append(ObstacleAt(Obstacle.SUBQUERY, subquery.span))
        alias = self.aliases.name("subquery")
        detached = self._detach(subquery.rows, rows, alias, subquery.span)
        predicate = conjunction(detached.links)
        return Join(rows, detached.rows, kind, predicate, span=subquery.span), alias

    def _exists(self, rows: Relation, test: ExistsTest) -> tuple[Relation, Expr]:
        detached = self._detach(test.rows, rows, self.aliases.name("subquery"), test.span)
        return self._marked(rows, detached.rows, list(detached.links), test.span)

    def _compared(self, rows: Relation, test: CompareTest) -> tuple[Relation, Expr]:
        """The three-valued outcome of a comparison with some row, or with every row.

        It is settled by one row that matches; for ALL that is one where the comparison fails.
        """
        rows, left = self._operands(rows, test)
        alias = self.aliases.name("subquery")
        detached = self._detach(test.rows, rows, alias, test.span)
        match = _match(test, left, alias)
        schema = (*self.env.facts.schema(rows), *self.env.facts.schema(detached.rows))
        links = list(detached.links)
        rows, found = self._marked(rows, detached.rows, [*links, match], test.span)
        if not nullable(match, schema):
            return rows, (Not(found, span=test.span) if test.every else found)
        rows, unknown = self._marked(rows, detached.rows, [*links, IsNull(match)], test.span)
        settled, otherwise = Literal(not test.every, BOOLEAN), Literal(test.every, BOOLEAN)
        branches = ((found, settled), (unknown, Literal(None, BOOLEAN)))
        return rows, Case(branches, otherwise, BOOLEAN, span=test.span)

    def _operands(self, rows: Relation, test: CompareTest) -> tuple[Relation, list[Expr]]:
        return self.values(rows, [self.adapt(operand) for operand in test.operands])

    def _marked(
        self, rows: Relation, searched: Relation, links: list[Expr], span: Span
    ) -> tuple[Relation, Expr]:
        self.obstacles.append(ObstacleAt(Obstacle.NEGATION, span))
        read = frozenset[str]().union(*map(columns, links)) & self.env.facts(rows).names
        mark = Named("found", TRUE)
        alias = self.aliases.name("test")
        if read:
            domain = Domain.of(rows, read, self.env.facts)
            matched = Join(domain.rows, searched, JoinKind.SEMI, conjunction(links), span=span)
            marks: Relation = Project(matched, (*domain.named, mark))
            equal = [
                Compare(Comparison.SAME, c, Column(f"{alias}.{c.name}", c.type))
                for c in domain.columns
            ]
        else:
            matched = Filter(searched, conjunction(links)) if links else searched
            marks, equal = Distinct(Project(matched, (mark,))), []
        joined = Join(rows, Rename(marks, alias), JoinKind.LEFT, conjunction(equal), span=span)
        return joined, Not(IsNull(Column(f"{alias}.found", BOOLEAN)), span=span)

    def _detach(self, rows: Relation, outer: Relation, alias: str, span: Span) -> Detached:
        bound = self.env.facts(rows).free & self.env.facts(outer).names
        detached = detach(rows, outer, alias, self.env.facts)
        if bound and _is_pushed_below_nrr(detached.rows, outer, bound, self.env):
            self.env.findings.report(
                window_codes.NRR_NOT_LOOKED_UP,
                "this subquery cannot be joined: it looks an NRR up for each outer row",
                span,
                "the time of the look-up would be unclear",
                help="look the NRR up in the outer query's FROM",
            )
        return detached


def _is_pushed_below_nrr(
    rows: Relation, outer: Relation, bound: frozenset[str], env: Environment
) -> bool:
    outside = {id(node) for node in subplans(outer)}
    return any(
        isinstance(node, NrrJoin) and id(node) not in outside and env.facts(node).names & bound
        for node in subplans(rows)
    )


def _match(test: CompareTest, left: Sequence[Expr], alias: str) -> Expr:
    """The comparison with a row called `alias`; its negation if it must hold for every row."""

    def image(column: Column) -> Expr:
        return Column(f"{alias}.{column.name}", column.type, span=column.span)

    right = [map_columns(column, image) for column in test.columns]
    op = _INVERSE.get(test.op, test.op) if test.every and len(right) == 1 else test.op
    pairs = [Compare(op, a, b, span=test.span) for a, b in zip(left, right, strict=True)]
    if len(pairs) == 1:
        return pairs[0]
    whole = And(tuple(pairs), span=test.span)
    return Not(whole, span=test.span) if test.every else whole


def _scalar_column(subquery: ScalarValue, stand_in: str, alias: str) -> Expr:
    column = subquery.columns[position(stand_in)]
    return Column(f"{alias}.{column.name}", column.type, span=subquery.span)


def _rejects_null(condition: Expr, name: str) -> bool:
    """Whether the condition cannot be true where the column is NULL."""
    match condition:
        case Compare(op, left, right):
            ordinary = op not in (Comparison.SAME, Comparison.DIFFERENT)
            return ordinary and (_passes_null(left, name) or _passes_null(right, name))
        case And(parts):
            return any(_rejects_null(part, name) for part in parts)
        case _:
            return False


def _passes_null(expr: Expr, name: str) -> bool:
    """Whether the expression is NULL where the column is."""
    match expr:
        case Column():
            return expr.name == name
        case Arithmetic() | Negate() | Cast():
            return any(_passes_null(operand, name) for operand in operands(expr))
        case Call(function, arguments):
            known = SCALARS.get(function)
            strict = known is not None and known.nulls in (Nulls.STRICT, Nulls.PARTIAL)
            return strict and any(_passes_null(argument, name) for argument in arguments)
        case _:
            return False
