"""Windows over streams that were made from relations made from streams."""

from __future__ import annotations

from dataclasses import replace

from cqlc.algebra.expr import Column
from cqlc.algebra.plan import (
    Filter,
    Istream,
    Named,
    Now,
    Project,
    Range,
    Relation,
    Rename,
    Unbounded,
)
from cqlc.algebra.schema import TIME
from cqlc.datatypes import TIMESTAMP
from cqlc.rewrite.facts import Facts


def drop_istream_of_unbounded(plan: Relation, facts: Facts) -> Relation | None:
    """W(ISTREAM(f(S[UNBOUNDED]))) = f(W(S)) for a time window W, if f looks at one row at a time

    f keeps the time of each row, which is the time of the stream's element. A ROWS window must not
    be moved: its rows are counted after f.
    """
    match plan:
        case Now(Istream(relation)) | Range(Istream(relation)) | Unbounded(Istream(relation)):
            moved = _over(relation, plan)
            if moved is None:
                return None
            inner, time = moved
            shown = tuple(c for c in facts.columns(relation))
            return Project(inner, (*shown, Named(TIME, Column(time, TIMESTAMP))), span=plan.span)
        case _:
            return None


def _over(relation: Relation, window: Now | Range | Unbounded) -> tuple[Relation, str] | None:
    """The relation with another window in the place of UNBOUNDED, and its column for the time."""
    match relation:
        case Unbounded(stream):
            return replace(window, input=stream), TIME
        case Filter(inner):
            found = _over(inner, window)
            return found and (replace(relation, input=found[0]), found[1])
        case Rename(inner, alias):
            found = _over(inner, window)
            return found and (replace(relation, input=found[0]), f"{alias}.{found[1]}")
        case Project(inner, shown):
            found = _over(inner, window)
            if found is None:
                return None
            time = _unused(TIME, {c.name for c in shown})
            kept = (*shown, Named(time, Column(found[1], TIMESTAMP)))
            return replace(relation, input=found[0], columns=kept), time
        case _:
            return None


def _unused(name: str, taken: set[str]) -> str:
    found, number = name, 1
    while found in taken:
        number += 1
        found = f"{name}_{number}"
    return found
