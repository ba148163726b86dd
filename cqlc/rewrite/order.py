"""The order of window joins by cost (section 5.3 of Golab's thesis)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from cqlc.algebra.expr import Column, Compare, Comparison, Expr
from cqlc.algebra.plan import Filter, Join, JoinKind, Project, Range, Relation, Rename, Scan
from cqlc.algebra.walk import columns, conjunction, conjuncts
from cqlc.rewrite.facts import Facts

_MOST = 6
"""So many inputs are ordered by trying all orders; 720 of them take a few milliseconds."""


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a join: its rate, the length of its window, its different join values."""

    rate: float
    length: float
    distinct: float


def order_cost(order: Sequence[Input]) -> float:
    """Comparisons per unit of time when each new row probes the other windows in this order."""
    total = 0.0
    for number, origin in enumerate(order):
        found, different, cost = 1.0, origin.distinct, 0.0
        for other_number, other in enumerate(order):
            if other_number == number:
                continue
            size = other.rate * other.length
            cost += found * size
            found *= size / max(different, other.distinct)
            different = min(different, other.distinct)
        total += origin.rate * cost
    return total


def best_order(join: Join, facts: Facts) -> Relation | None:
    """The same join in a cheaper order; None if there is none, or the costs are not known."""
    parts, predicates = _flat(join)
    if not 2 < len(parts) <= _MOST:
        return None
    key = _common_key(predicates)
    known = [_statistics(part, key, facts) for part in parts]
    inputs = [each for each in known if each is not None]
    if len(inputs) < len(parts):
        return None
    best = min(permutations(range(len(parts))), key=lambda o: order_cost([inputs[i] for i in o]))
    cost = order_cost([inputs[i] for i in best])
    if cost >= order_cost(inputs) * (1 - 1e-9):
        return None
    return _joined([parts[i] for i in best], predicates, facts)


def _flat(relation: Relation) -> tuple[list[Relation], list[Expr]]:
    """The inputs of a chain of inner joins, and its predicates."""
    match relation:
        case Join(left, right, JoinKind.INNER, predicate):
            (lefts, some), (rights, others) = _flat(left), _flat(right)
            return [*lefts, *rights], [*some, *others, *conjuncts(predicate)]
        case Project(inner, shown) if all(
            isinstance(c.value, Column) and c.value.name == c.name for c in shown
        ):
            parts, predicates = _flat(inner)
            return (parts, predicates) if len(parts) > 1 else ([relation], [])
        case _:
            return [relation], []


def _common_key(predicates: Sequence[Expr]) -> frozenset[str]:
    """The columns that are all equal, if the equalities of the chain make one class of them."""
    classes: list[set[str]] = []
    for part in predicates:
        match part:
            case Compare(Comparison.EQ, Column(a), Column(b)):
                touched = [c for c in classes if a in c or b in c]
                classes = [c for c in classes if c not in touched]
                classes.append({a, b}.union(*touched))
            case _:
                pass
    return frozenset(classes[0]) if len(classes) == 1 else frozenset()


def _statistics(relation: Relation, key: frozenset[str], facts: Facts) -> Input | None:
    """What is declared of the window of an input and of its join column."""
    names = sorted(key & facts.names(relation))
    window = _window(relation)
    if not names or window is None or not isinstance(window.input, Scan):
        return None
    declared = facts.catalog.tables.get(window.input.name)
    column = facts.declared(relation, names[0])
    if declared is None or declared.rate is None or column is None or column.distinct is None:
        return None
    return Input(declared.rate, window.length / 1_000_000, float(column.distinct))


def _window(relation: Relation) -> Range | None:
    while isinstance(relation, Rename | Filter | Project):
        relation = relation.input
    return relation if isinstance(relation, Range) else None


def _joined(parts: Sequence[Relation], predicates: Sequence[Expr], facts: Facts) -> Relation:
    """The left-deep join of the parts, each predicate as soon as its columns are there."""
    rest = list(predicates)
    joined = parts[0]
    names = facts.names(joined)
    for part in parts[1:]:
        names |= facts.names(part)
        here = [p for p in rest if columns(p) <= names]
        rest = [p for p in rest if p not in here]
        joined = Join(joined, part, JoinKind.INNER, conjunction(here))
    return joined
