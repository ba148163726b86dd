"""The join of a block of a plan as a join graph with the constraints its streams declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cqlc.algebra.plan import Now, Plan, Range, Rows, Unbounded
from cqlc.algebra.schema import TIME
from cqlc.analysis.join_block import Input, JoinBlock, Outside, join_block
from cqlc.analysis.k_constraints.build import join_graph
from cqlc.analysis.k_constraints.model import (
    Clustering,
    Extent,
    JoinedStream,
    JoinGraph,
    KConstraint,
    Ordering,
    Rids,
)
from cqlc.catalog import Catalog, References, TableDeclaration, TableKind, WithinRows, WithinTime


def from_plan(root: Plan, catalog: Catalog) -> JoinGraph | Outside:
    """The join graph of the block that ends in `root`, if it is one inner join of streams."""
    block = join_block(root, catalog)
    if isinstance(block, Outside):
        return block
    if block.grouping is not None:
        return Outside("groups are kept beside the join", block.grouping.span)
    if block.below or not block.inner:
        return Outside("not all joins are inner joins of streams", block.span)
    streams: list[JoinedStream] = []
    for given in block.inputs:
        found = _stream(given, block)
        if isinstance(found, Outside):
            return found
        streams.append(found)
    tables = {i.declared.name: i.declared for i in block.inputs if i.declared is not None}
    return join_graph(streams, block.equalities, constraints(tables.values(), catalog.references))


def constraints(
    tables: Iterable[TableDeclaration], references: Iterable[References]
) -> Iterator[KConstraint]:
    """The constraints declared on some streams and between them.

    A stream is ordered by its event time up to the slack, as rows that come later are dropped.
    """
    names: set[str] = set()
    for table in tables:
        names.add(table.name)
        for order in table.ordered:
            label = order.name or f"{table.name} ORDERED BY {order.column}"
            yield Ordering(table.name, order.column, order.within, label=label, span=order.span)
        for cluster in table.clustered:
            label = cluster.name or f"{table.name} CLUSTERED BY {cluster.column}"
            yield Clustering(
                table.name, cluster.column, cluster.within, label=label, span=cluster.span
            )
        slack = table.event_time.slack if table.event_time is not None else 0
        label = f"the time of {table.name}"
        yield Ordering(table.name, TIME, WithinTime(slack), label=label, span=table.span)
    for found in references:
        if found.parent in names and found.child in names:
            columns = tuple(zip(found.parent_columns, found.child_columns, strict=True))
            label = found.name or f"{found.child} REFERENCED FROM {found.parent}"
            yield Rids(
                found.parent, found.child, columns, found.within, label=label, span=found.span
            )


def _stream(given: Input, block: JoinBlock) -> JoinedStream | Outside:
    table, plan = given.declared, given.relation
    if table is None or table.kind is not TableKind.STREAM:
        return Outside(f"`{given.name}` is not a stream as it was declared", given.span)
    window: Extent | None
    match plan:
        case Unbounded():
            window = None
        case Now():
            window = WithinTime(1)
        case Range(length=length):
            window = WithinTime(length)
        case Rows(partition=(), rows=rows):
            window = WithinRows(rows)
        case _:
            return Outside(f"the window of `{given.name}` is not followed", given.span)
    return JoinedStream(
        given.name,
        table.name,
        table.keys,
        given.name in block.conditions.filtered,
        table.rate,
        window,
        span=given.span,
    )
