"""What is known of each operator while a plan is built: columns, depth, free columns."""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.algebra.plan import NrrJoin, Plan
from cqlc.algebra.schema import Schema
from cqlc.algebra.walk import columns, expressions, inputs, output_schema

MAX_DEPTH = 250
"""Plans of more levels are refused: walks over plans are recursive."""


@dataclass(frozen=True, slots=True)
class Facts:
    """An operator's columns, its levels, and the columns of outer queries it reads."""

    plan: Plan
    schema: Schema
    names: frozenset[str]
    depth: int
    free: frozenset[str]


class FactsOf:
    """The facts of plans, computed once for each operator.

    The plans are kept, so an `id` stays the identity of one of them.
    """

    def __init__(self) -> None:
        self._known: dict[int, Facts] = {}

    def __call__(self, plan: Plan) -> Facts:
        """The facts of a plan, of which most parts are known already."""
        known = self._known.get(id(plan))
        if known is None:
            known = self._known[id(plan)] = self._compute(plan)
        return known

    def schema(self, plan: Plan) -> Schema:
        """The columns of a plan."""
        return self(plan).schema

    def _compute(self, plan: Plan) -> Facts:
        of = tuple(self(child) for child in inputs(plan))
        schema = output_schema(plan, tuple(facts.schema for facts in of))
        names = frozenset(field.name for field in schema)
        read = frozenset[str]().union(*map(columns, expressions(plan)))
        # Semi and anti joins and NRR lookups read columns that their own schema does not show.
        seen = names.union(*(facts.names for facts in of), _looked_up(plan))
        free = (read - seen).union(*(facts.free for facts in of))
        return Facts(plan, schema, names, 1 + max((f.depth for f in of), default=0), free)


def _looked_up(plan: Plan) -> frozenset[str]:
    if isinstance(plan, NrrJoin):
        return frozenset(f"{plan.alias}.{field.name}" for field in plan.schema)
    return frozenset()
