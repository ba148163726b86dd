"""From plans to queries of the theory, with everything declared about columns as filters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from cqlc.algebra.expr import Column
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Dstream,
    Filter,
    Istream,
    IstreamRestore,
    Plan,
    Project,
    Relation,
    Rename,
    Rstream,
    RstreamRestore,
    Scan,
)
from cqlc.algebra.walk import schema_of
from cqlc.analysis.bounded_memory.answers import aggregated, outputs
from cqlc.analysis.bounded_memory.blocks import Block, Builder, OutsideError, over
from cqlc.analysis.bounded_memory.pieces import pieces
from cqlc.analysis.bounded_memory.query import (
    Aggregated,
    AggregateKind,
    Aggregation,
    Head,
    NotApplicable,
    Output,
    Projection,
    SpjQuery,
)
from cqlc.catalog import Catalog


def from_plan(plan: Plan, catalog: Catalog) -> SpjQuery | NotApplicable:
    """The query a plan asks, or why it is none of the theory's."""
    try:
        return _query(plan, catalog)
    except OutsideError as outside:
        return NotApplicable(outside.reason, outside.span)


def _query(plan: Plan, catalog: Catalog) -> SpjQuery:
    match plan:
        case Scan():
            raise OutsideError("a stream by itself is not a query", plan.span)
        case Istream(relation):
            return _relation(relation, catalog)
        case Dstream(relation):
            note = "DSTREAM shows what is taken back only"
            query = _relation(relation, catalog)
            return replace(query, caveats=(*query.caveats, note))
        case Rstream(relation):
            return _repeated(_relation(relation, catalog))
        case IstreamRestore() | RstreamRestore():
            raise OutsideError("restored results depend on the grid", plan.span)
        case _:
            return _relation(plan, catalog)


def _repeated(query: SpjQuery) -> SpjQuery:
    """RSTREAM gives the whole answer again and again, so it has to be stored: as counts."""
    match query.head:
        case Projection(found, distinct=False):
            counted = Aggregation(found, (Aggregated(AggregateKind.COUNT),))
            return replace(query, head=counted)
        case _:
            return query


# ------------------------------------------------------------------------------------ heads


def _relation(plan: Relation, catalog: Catalog) -> SpjQuery:
    above, aggregate = _aggregate_below(plan)
    if aggregate is not None:
        return _aggregation(aggregate, above, catalog)
    match plan:
        case Distinct(input):
            builder = Builder(catalog, distinct=True)
            block = builder.block(input)
        case _:
            builder = Builder(catalog, distinct=False)
            block = builder.block(plan)
    shown = [block.columns[f.name] for f in schema_of(plan) if not f.hidden]
    found = outputs(shown, builder)
    return _finished(builder, block, Projection(found, distinct=builder.distinct), ())


def _aggregate_below(plan: Relation) -> tuple[list[Relation], Aggregate | None]:
    """The operators above an aggregation at the top of a query, and the aggregation."""
    above: list[Relation] = []
    while isinstance(plan, Project | Filter | Rename | Distinct):
        above.append(plan)
        plan = plan.input
    return above, plan if isinstance(plan, Aggregate) else None


def _aggregation(aggregate: Aggregate, above: Iterable[Relation], catalog: Catalog) -> SpjQuery:
    builder = Builder(catalog, distinct=False)
    block = builder.block(aggregate.input)
    keys = [over(key.value, block) for key in aggregate.keys]
    calls = [
        replace(
            named.value,
            arguments=tuple(over(a, block) for a in named.value.arguments),
            where=None if named.value.where is None else over(named.value.where, block),
        )
        for named in aggregate.aggregates
    ]
    functions = tuple(aggregated(call, builder) for call in calls)
    head = Aggregation(outputs(keys, builder), functions)
    return _finished(builder, block, head, _hidden(aggregate, above))


def _hidden(aggregate: Aggregate, above: Iterable[Relation]) -> tuple[str, ...]:
    """What of an aggregation does not show in the answer, and so cannot prove that it is kept."""
    shown = {key.name for key in aggregate.keys} | {a.name for a in aggregate.aggregates}
    notes: list[str] = []
    for plan in reversed(list(above)):
        match plan:
            case Rename(_, alias):
                shown = {f"{alias}.{name}" for name in shown}
            case Filter():
                notes.append("HAVING may hide groups for ever")
            case Distinct():
                notes.append("DISTINCT may hide groups")
            case Project(_, columns):
                kept = {c.value.name: c.name for c in columns if isinstance(c.value, Column)}
                if not shown <= kept.keys():
                    notes.append("groups or aggregates are left out of the answer")
                shown = {kept[name] for name in shown if name in kept}
            case _:
                pass
    return tuple(notes)


# --------------------------------------------------------------------------------- finishing


def _finished(builder: Builder, block: Block, head: Head, notes: tuple[str, ...]) -> SpjQuery:
    """The query with its conditions split into pieces and all that is declared added."""
    uses, found = pieces(builder, block)
    query = SpjQuery(uses, found, _freely(head, builder), (*block.caveats, *notes), block.given)
    ordered = (
        f"the values of {name}, which a condition compares, come in an order of their own"
        for name in sorted(builder.conditioned & builder.ordered)
    )
    asked = builder.conditioned | set(_answered(head))
    crowded = {
        f"not every {a.sort.name} lies between two others"
        for a in query.attributes.values()
        if a.name in asked and a.sort in builder.crowded
    }
    return replace(query, caveats=(*query.caveats, *ordered, *sorted(crowded)))


def _freely(head: Head, builder: Builder) -> Head:
    """The head, in which attributes whose values come in some order prove nothing."""

    def free(output: Output) -> Output:
        return replace(output, exact=output.exact and output.attribute not in builder.ordered)

    match head:
        case Projection(found):
            return replace(head, outputs=tuple(map(free, found)))
        case Aggregation(groups, aggregates):
            functions = (
                replace(a, exact=a.exact and builder.ordered.isdisjoint(a.attributes))
                for a in aggregates
            )
            return Aggregation(tuple(map(free, groups)), tuple(functions))


def _answered(head: Head) -> Iterable[str]:
    """The attributes of the answer."""
    match head:
        case Projection(found):
            return [o.attribute for o in found]
        case Aggregation(groups, aggregates):
            names = [o.attribute for o in groups]
            return names + [name for a in aggregates for name in a.attributes]
