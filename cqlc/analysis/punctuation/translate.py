"""The joins of a block of a plan as questions of punctuation safety."""

from __future__ import annotations

from collections.abc import Iterator

from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Except,
    Filter,
    Intersect,
    Join,
    Now,
    NrrJoin,
    Plan,
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
from cqlc.algebra.schema import TIME
from cqlc.algebra.walk import subplans
from cqlc.analysis.equality import Attribute
from cqlc.analysis.join_block import Input, JoinBlock, Outside, join_block
from cqlc.analysis.punctuation.model import (
    Bound,
    Closing,
    Fate,
    Grouping,
    JoinQuery,
    JoinStream,
    PunctuationScheme,
)
from cqlc.catalog import Catalog, Monitored, TableDeclaration, TableKind
from cqlc.datatypes import BOOLEAN


def from_plan(root: Plan, catalog: Catalog) -> JoinQuery | Outside:
    """The join of the block that ends in `root`, with what its streams declare."""
    block = join_block(root, catalog)
    return block if isinstance(block, Outside) else _query(block)


def _query(block: JoinBlock) -> JoinQuery:
    streams = tuple(_stream(i) for i in block.inputs)
    declared = {i.declared.name: i.declared for i in block.inputs if i.declared is not None}
    return JoinQuery(
        streams,
        block.equalities,
        tuple(scheme for table in declared.values() for scheme in schemes(table)),
        block.conditions.finite | frozenset(_finite(block)),
        tuple(Bound(*pair) for pair in block.conditions.bounds),
        block.bundles,
        tuple(_groupings(block, streams)),
        block.exact,
        tuple(_query(part) for part in block.below),
        span=block.span,
    )


def schemes(table: TableDeclaration) -> Iterator[PunctuationScheme]:
    """Everything about a declared stream that closes values.

    Its time closes by itself; rows that come later than the slack allows are dropped. Relations
    close nothing: a row deleted may be inserted again.
    """
    if table.kind is not TableKind.STREAM:
        return
    for scheme in table.schemes:
        yield PunctuationScheme(
            table.name,
            scheme.columns,
            Closing.PUNCTUATION,
            scheme.lifespan,
            span=scheme.span,
        )
    yield PunctuationScheme(table.name, (TIME,), Closing.WATERMARK, span=table.span)
    for order in table.ordered:
        if not isinstance(order.within, Monitored):
            yield PunctuationScheme(table.name, (order.column,), Closing.ORDER, span=order.span)
    for key in table.keys:
        yield PunctuationScheme(table.name, key, Closing.KEY, span=table.span)
    for cluster in table.clustered:
        if not isinstance(cluster.within, Monitored):
            yield PunctuationScheme(
                table.name, (cluster.column,), Closing.CLUSTER, span=cluster.span
            )


def _stream(given: Input) -> JoinStream:
    fate = _fate(given.relation)
    stays = fate in (Fate.BOUNDED, Fate.FIXED)
    if given.joined and stays:
        # Its own rows stay, so they may make new results whatever is closed.
        return JoinStream(given.name, None, Fate.BOUNDED, span=given.span)
    source = given.declared.name if given.declared is not None else None
    return JoinStream(given.name, source, fate, span=given.span)


def _fate(plan: Relation) -> Fate:
    match plan:
        case Unbounded():
            return Fate.KEPT
        case Now() | Range() | Session():
            return Fate.EXPIRES
        case Rows(partition=partition, range=range):
            return Fate.EXPIRES if range else Fate.KEPT if partition else Fate.BOUNDED
        case Table() | Aggregate(keys=()):
            return Fate.BOUNDED
        case Values():
            return Fate.FIXED
        case (
            Rename() | Filter() | Project() | Distinct() | Join() | NrrJoin() | Aggregate()
            | Union() | Except() | Intersect() | Rank()
        ):  # fmt: skip
            grows = any(isinstance(part, Unbounded) for part in subplans(plan))
            return Fate.KEPT if grows else Fate.BOUNDED


def _groupings(block: JoinBlock, streams: tuple[JoinStream, ...]) -> Iterator[Grouping]:
    """The state of GROUP BY or DISTINCT, unless its entries leave with the rows they are made of.

    The results of internal windows stay although the rows in them leave.
    """
    leave = any(_fate(i.relation) is Fate.EXPIRES and not _internal(i) for i in block.inputs)
    bounded = all(s.fate in (Fate.BOUNDED, Fate.FIXED) for s in streams)
    if block.grouping is not None and not leave and not bounded:
        names = ", ".join(str(key) for key in block.grouping.keys) or "computed values"
        yield Grouping(f"the groups by {names}", block.grouping.keys, span=block.grouping.span)


def _internal(given: Input) -> bool:
    match given.relation:
        case Range() | Rows():
            return given.relation.internal
        case _:
            return False


def _finite(block: JoinBlock) -> Iterator[Attribute]:
    """The attributes that are declared to have finitely many values, NULL not among them."""
    for given in block.inputs:
        for column in given.declared.columns if given.declared is not None else ():
            listed = column.domain is not None or column.type == BOOLEAN
            if listed and not column.nullable:
                yield Attribute(given.name, column.name)
