"""What declared constraints say about selections: some are always true, some never are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from cqlc.algebra.expr import Column, Compare, Comparison, Expr, Literal, Value
from cqlc.algebra.plan import Filter, Relation
from cqlc.algebra.walk import conjunction, conjuncts
from cqlc.rewrite.facts import Facts

_FLIPPED = {
    Comparison.LT: Comparison.GT,
    Comparison.LE: Comparison.GE,
    Comparison.GT: Comparison.LT,
    Comparison.GE: Comparison.LE,
    Comparison.EQ: Comparison.EQ,
    Comparison.NE: Comparison.NE,
}


def drop_declared_predicate(plan: Relation, facts: Facts) -> Relation | None:
    """σ[p ∧ q](R) = σ[q](R) if a NOT NULL column's CHECK or domain implies p"""
    match plan:
        case Filter(relation, predicate):
            parts = conjuncts(predicate)
            kept = [p for p in parts if not always_true(p, relation, facts)]
            if len(kept) == len(parts):
                return None
            return replace(plan, predicate=conjunction(kept))
        case _:
            return None


def always_true(part: Expr, relation: Relation, facts: Facts) -> bool:
    """Whether the declarations make a predicate true of every row."""
    found = _comparison(part)
    if found is None:
        return False
    column, op, value = found
    origin = facts.origin(relation, column)
    if origin is None:
        return False
    table, name = origin
    declared = table.column(name)
    if declared.nullable:
        return False
    if declared.domain is not None:
        return all(_holds(each, op, value) for each in declared.domain)
    known = (_comparison(c) for check in table.checks for c in conjuncts(check))
    return any(
        _implies(other, constant, op, value)
        for other_name, other, constant in (k for k in known if k is not None)
        if other_name == name
    )


def _comparison(part: Expr) -> tuple[str, Comparison, Value] | None:
    """A comparison of a column with a constant, the column first."""
    match part:
        case Compare(op, Column(name), Literal(value)) if op in _FLIPPED and value is not None:
            return name, op, value
        case Compare(op, Literal(value), Column(name)) if op in _FLIPPED and value is not None:
            return name, _FLIPPED[op], value
        case _:
            return None


_TESTS: dict[Comparison, Callable[[Any, Any], bool]] = {
    Comparison.LT: lambda a, b: a < b,
    Comparison.LE: lambda a, b: a <= b,
    Comparison.GT: lambda a, b: a > b,
    Comparison.GE: lambda a, b: a >= b,
    Comparison.EQ: lambda a, b: a == b,
    Comparison.NE: lambda a, b: a != b,
}


def _holds(left: Value, op: Comparison, right: Value) -> bool:
    return left is not None and left == left and _TESTS[op](left, right)


def _implies(known: Comparison, bound: Value, op: Comparison, value: Value) -> bool:
    """Whether `x known bound` makes `x op value` true for every x."""
    match known, op:
        case Comparison.EQ, _:
            return _holds(bound, op, value)
        case (Comparison.GT, Comparison.GT | Comparison.GE | Comparison.NE):
            return _holds(bound, Comparison.GE, value)
        case (Comparison.GE, Comparison.GE):
            return _holds(bound, Comparison.GE, value)
        case (Comparison.GE, Comparison.GT | Comparison.NE):
            return _holds(bound, Comparison.GT, value)
        case (Comparison.LT, Comparison.LT | Comparison.LE | Comparison.NE):
            return _holds(bound, Comparison.LE, value)
        case (Comparison.LE, Comparison.LE):
            return _holds(bound, Comparison.LE, value)
        case (Comparison.LE, Comparison.LT | Comparison.NE):
            return _holds(bound, Comparison.LT, value)
        case _:
            return False
