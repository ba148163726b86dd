"""Applies laws to a plan until none fits any more, and keeps what was done as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cqlc.algebra.plan import Plan, Relation, Stream
from cqlc.algebra.walk import map_relation, map_stream
from cqlc.catalog import Catalog
from cqlc.rewrite.facts import Facts
from cqlc.rewrite.laws import RELATION_LAWS

Law: TypeAlias = Callable[[Relation, Facts], Relation | None]
"""An equation read from left to right; None where its left side does not fit."""

_MOST_STEPS = 10_000


@dataclass(frozen=True, slots=True)
class Step:
    """One use of a law: its name, and the subplan before and after."""

    law: str
    before: Relation
    after: Relation


@dataclass(frozen=True, slots=True)
class Derivation:
    """A plan, and how it was derived from the one that was given."""

    result: Plan
    steps: tuple[Step, ...]


class EndlessRewritingError(Exception):
    """Two laws undo each other."""


def rewrite(plan: Plan, catalog: Catalog, laws: Sequence[Law] = RELATION_LAWS) -> Derivation:
    """The plan after as many steps as there are, subplans before what is made of them."""
    sweep = _Sweep(Facts(catalog), laws)
    current: Plan = plan
    while True:
        swept = sweep.plan(current)
        if swept is current:
            return Derivation(current, tuple(sweep.steps))
        current = swept
        sweep.begin()


class _Sweep:
    """One way through a plan, bottom-up; shared subplans stay shared."""

    def __init__(self, facts: Facts, laws: Sequence[Law]) -> None:
        self.facts = facts
        self.laws = laws
        self.steps: list[Step] = []
        self._done: dict[int, tuple[Plan, Plan]] = {}

    def begin(self) -> None:
        """Forgets the last sweep."""
        self._done.clear()

    def plan(self, plan: Plan) -> Plan:
        """A stream or a relation."""
        if isinstance(plan, Stream):
            return self.stream(plan)
        return self.relation(plan)

    def stream(self, plan: Stream) -> Stream:
        """The stream with its relation rewritten."""
        known = self._done.get(id(plan))
        if known is None:
            changed = False

            def relation(part: Relation) -> Relation:
                nonlocal changed
                image = self.relation(part)
                changed |= image is not part
                return image

            made = map_stream(plan, relation)
            known = plan, made if changed else plan
            self._done[id(plan)] = known
        return known[1]  # pyright: ignore[reportReturnType]

    def relation(self, plan: Relation) -> Relation:
        """The relation with its inputs rewritten, and then itself as long as a law fits."""
        known = self._done.get(id(plan))
        if known is None:
            known = plan, self._applied(self._rebuilt(plan))
            self._done[id(plan)] = known
        return known[1]  # pyright: ignore[reportReturnType]

    def _rebuilt(self, plan: Relation) -> Relation:
        changed = False

        def stream(part: Stream) -> Stream:
            nonlocal changed
            image = self.stream(part)
            changed |= image is not part
            return image

        def relation(part: Relation) -> Relation:
            nonlocal changed
            image = self.relation(part)
            changed |= image is not part
            return image

        made = map_relation(plan, stream, relation)
        return made if changed else plan

    def _applied(self, plan: Relation) -> Relation:
        while True:
            for law in self.laws:
                after = law(plan, self.facts)
                if after is not None:
                    self.steps.append(Step(law.__name__, plan, after))
                    if len(self.steps) > _MOST_STEPS:
                        raise EndlessRewritingError(law.__name__)
                    plan = after
                    break
            else:
                return plan
