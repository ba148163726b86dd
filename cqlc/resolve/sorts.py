"""Which of the two sorts a plan has, and streams used as relations."""

from __future__ import annotations

from cqlc.algebra.expr import Column
from cqlc.algebra.plan import (
    Dstream,
    Istream,
    IstreamRestore,
    Named,
    Plan,
    Project,
    Relation,
    Rstream,
    RstreamRestore,
    Scan,
    Stream,
    Unbounded,
)
from cqlc.resolve.facts import FactsOf


def as_stream(plan: Plan) -> Stream | None:
    """The plan, if it is a stream."""
    match plan:
        case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return plan
        case _:
            return None


def as_relation(plan: Plan) -> Relation | None:
    """The plan, if it is a relation."""
    match plan:
        case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return None
        case _:
            return plan


def contents(plan: Plan, facts: FactsOf) -> Relation:
    """The relation, or all rows of a stream so far: it counts as [UNBOUNDED]."""
    match plan:
        case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return visible(Unbounded(plan, span=plan.span), facts)
        case _:
            return plan


def visible(rows: Relation, facts: FactsOf) -> Relation:
    """The relation without its hidden columns."""
    schema = facts.schema(rows)
    if not any(field.hidden for field in schema):
        return rows
    shown = tuple(Named(f.name, Column(f.name, f.type)) for f in schema if not f.hidden)
    return Project(rows, shown, span=rows.span)
