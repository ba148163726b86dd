"""The join of a block: its inputs, what holds between them, and what is grouped above them.

A block is what lies between a stream that is made and the streams it reads. Inner joins are one
join of many inputs; an outer, semi or anti join is one of its own, whose preserved side goes on as
an input of the join above. Columns are followed to the attributes of the inputs they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from cqlc.algebra.expr import Column, Expr
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Dstream,
    Except,
    Filter,
    Intersect,
    Istream,
    IstreamRestore,
    Join,
    JoinKind,
    Now,
    NrrJoin,
    Plan,
    Project,
    Range,
    Rank,
    Relation,
    Rename,
    Rows,
    Rstream,
    RstreamRestore,
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.schema import TIME, Schema
from cqlc.algebra.walk import conjuncts, map_columns, output_schema, schema_of, subplans
from cqlc.analysis.equality import Attribute, Equality
from cqlc.analysis.join_conditions import Conditions, read_conditions
from cqlc.catalog import Catalog, TableDeclaration
from cqlc.datatypes import DataType
from cqlc.source import NOWHERE, Span

_MOST = 200
"""Inputs beyond which a join is not read: views that join themselves grow exponentially."""


@dataclass(frozen=True, slots=True)
class Outside:
    """A block that is not a join the theories read, and why."""

    reason: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Input:
    """An input of a join: a window over a stream, a relation, or something derived.

    `declared` is the stream or relation it reads, if it reads one as it is.
    """

    name: str
    relation: Relation
    declared: TableDeclaration | None
    joined: bool = False
    """Whether it was joined or grouped below, where a stored row of it may make new results."""
    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class KeyedState:
    """GROUP BY or DISTINCT over the results of a join: the attributes among its keys."""

    keys: tuple[Attribute, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class JoinBlock:
    """A join with everything known about it.

    `bundles` are the inputs that arrive joined already, by the joins `below`. `inner` says that
    all results are made of one row of each input; `exact`, that nothing was left out that could
    matter.
    """

    inputs: tuple[Input, ...]
    conditions: Conditions
    bundles: tuple[frozenset[str], ...]
    grouping: KeyedState | None
    below: tuple[JoinBlock, ...]
    inner: bool
    exact: bool
    span: Span

    @property
    def equalities(self) -> tuple[Equality, ...]:
        """The equal attributes, by conditions and because event time is the time of elements."""
        times = (
            Equality(Attribute(i.name, i.declared.event_time.column), Attribute(i.name, TIME))
            for i in self.inputs
            if i.declared is not None and i.declared.event_time is not None
        )
        return (*self.conditions.equalities, *times)


def join_block(root: Plan, catalog: Catalog) -> JoinBlock | Outside:
    """The join of the block that ends in `root`."""
    try:
        return _Reader(catalog).block(root)
    except _OutsideError as error:
        return error.outside


class _OutsideError(Exception):
    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.outside = Outside(reason, span)


@dataclass(frozen=True, slots=True)
class _Region:
    """A part of a block: inputs, conditions so far, and columns as expressions of attributes."""

    inputs: tuple[Input, ...]
    conditions: tuple[Expr, ...]
    columns: Mapping[str, Expr]
    bundles: tuple[frozenset[str], ...] = ()
    grouping: KeyedState | None = None
    below: tuple[JoinBlock, ...] = ()
    inner: bool = True
    exact: bool = True

    @property
    def names(self) -> frozenset[str]:
        """The names of the inputs."""
        return frozenset(i.name for i in self.inputs)


class _Reader:
    """Reads one block; the names of inputs are unique in it."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._taken: set[str] = set()
        self._attributes: dict[str, Attribute] = {}

    def block(self, root: Plan) -> JoinBlock:
        """The block that ends in `root`."""
        match root:
            case Rstream() | RstreamRestore():
                raise _OutsideError("RSTREAM shows every row again and again", root.span)
            case Istream(r) | Dstream(r) | IstreamRestore(r):
                return self._closed(self._region(r, ""), root.span)
            case Scan():
                raise _OutsideError("a stream as it is keeps nothing", root.span)
            case _:
                return self._closed(self._region(root, ""), root.span)

    def _closed(self, region: _Region, span: Span) -> JoinBlock:
        """A region as a join of its own; a join that only passes on another is that other."""
        alone = len(region.inputs) == 1 or any(b == region.names for b in region.bundles)
        if alone and len(region.below) == 1 and region.grouping is None:
            return region.below[0]
        used = {n: a for n, a in self._attributes.items() if a.stream in region.names}
        conditions = read_conditions(region.conditions, used)
        return JoinBlock(
            region.inputs,
            conditions,
            tuple(b for b in region.bundles if len(b) > 1),
            region.grouping,
            region.below,
            region.inner,
            region.exact and conditions.simple and not conditions.bounds,
            span,
        )

    def _region(self, plan: Relation, alias: str) -> _Region:
        match plan:
            case Filter(input, predicate):
                return _where(self._region(input, alias), predicate)
            case Project(input, columns):
                region = self._region(input, alias)
                return replace(region, columns={c.name: _over(c.value, region) for c in columns})
            case Rename(input, name):
                return _renamed(self._region(input, name), name)
            case NrrJoin(input):
                region = self._region(input, alias)
                looked_up = output_schema(plan, (schema_of(input),))
                return replace(_with_unknown(region, looked_up), exact=False)
            case Join(left, right, JoinKind.INNER, predicate):
                both = _beside(self._region(left, ""), self._region(right, ""))
                return _where(both, predicate)
            case Join():
                return self._outer(plan)
            case Unbounded() | Now() | Range() | Rows() | Session() | Table() | Values():
                return self._input(plan, alias)
            case Distinct(input):
                region = self._region(input, alias)
                return self._keyed(region, region.columns, {}, plan.span)
            case Aggregate(input, keys) if keys:
                region = self._region(input, alias)
                named = {k.name: _over(k.value, region) for k in keys}
                values = {a.name: _unknown(a.name, a.value.type) for a in plan.aggregates}
                return self._keyed(region, named, values, plan.span)
            case Aggregate(input):
                return self._derived(plan, alias, self._region(input, alias))
            case Union(left, right):
                return self._derived(plan, alias, self._region(left, ""), self._region(right, ""))
            case Except() | Intersect() | Rank():
                return self._unread(plan, alias)

    def _outer(self, plan: Join) -> _Region:
        """An outer, semi or anti join is a join of two inputs, each of which may be joined below.

        Only the preserved side is followed upwards; of a full join neither is.
        """
        sides = [self._bundled(self._region(side, "")) for side in (plan.left, plan.right)]
        joined = replace(_where(_beside(*sides), plan.predicate), inner=False, exact=False)
        if plan.kind is JoinKind.FULL:
            return self._derived(plan, "", joined)
        preserved = _passed_on(sides[0], self._closed(joined, plan.span))
        schemas = (schema_of(plan.left), schema_of(plan.right))
        return _with_unknown(preserved, output_schema(plan, schemas))

    def _bundled(self, region: _Region) -> _Region:
        """A side of a join as one input: if it is a join itself, that is one of those below."""
        if len(region.inputs) == 1 or region.bundles == (region.names,):
            return region
        inner = self._closed(region, region.inputs[0].span)
        return replace(region, bundles=(region.names,), below=(inner,))

    def _keyed(
        self, region: _Region, keys: Mapping[str, Expr], values: Mapping[str, Expr], span: Span
    ) -> _Region:
        """State per value of some columns, of which those that are not followed are left out."""
        found = (self._attributes.get(e.name) for e in keys.values() if isinstance(e, Column))
        state = KeyedState(tuple(dict.fromkeys(a for a in found if a is not None)), span)
        inner = self._closed(replace(region, grouping=state), span)
        return replace(_passed_on(region, inner), columns={**keys, **values})

    def _input(self, plan: Relation, alias: str) -> _Region:
        """A window over a stream, a relation or constants."""
        source = _source(plan)
        declared = self._catalog.tables.get(source) if source is not None else None
        partitioned = isinstance(plan, Rows) and bool(plan.partition)
        found = self._new(plan, alias or source or "input", declared)
        return replace(found, exact=not partitioned and (declared is not None or _fixed(plan)))

    def _derived(self, plan: Relation, alias: str, *of: _Region) -> _Region:
        """Something whose columns are not followed, made of regions that stand for themselves."""
        below = tuple(self._closed(region, plan.span) for region in of)
        return replace(self._new(plan, alias or "input", None), below=below, exact=False)

    def _unread(self, plan: Except | Intersect | Rank, alias: str) -> _Region:
        """Something that is not read; an input only if windows bound it."""
        if any(isinstance(part, Unbounded) for part in subplans(plan)):
            raise _OutsideError(f"{_described(plan)} is not followed", plan.span)
        return self._derived(plan, alias)

    def _new(self, plan: Relation, alias: str, declared: TableDeclaration | None) -> _Region:
        name, number = alias, 1
        while name in self._taken:
            number += 1
            name = f"{alias}_{number}"
        self._taken.add(name)
        if len(self._taken) > _MOST:
            raise _OutsideError(f"more than {_MOST} inputs are joined", plan.span)
        columns: dict[str, Expr] = {}
        for column in schema_of(plan):
            key = f"{name}::{column.name}"
            columns[column.name] = Column(key, column.type)
            if declared is not None:
                self._attributes[key] = Attribute(name, column.name)
        return _Region((Input(name, plan, declared, span=plan.span),), (), columns)


def _source(plan: Relation) -> str | None:
    """The declared stream or relation that an input reads as it is."""
    match plan:
        case Table(name):
            return name
        case Unbounded(input) | Now(input) | Range(input) | Rows(input) | Session(input):
            return input.name if isinstance(input, Scan) else None
        case _:
            return None


def _fixed(plan: Relation) -> bool:
    return isinstance(plan, Values)


def _passed_on(region: _Region, inner: JoinBlock) -> _Region:
    """What goes on from a join or grouping, as inputs that arrive joined."""
    joined = tuple(replace(i, joined=True) for i in region.inputs)
    return replace(region, inputs=joined, bundles=(region.names,), below=(inner,), exact=False)


def _beside(left: _Region, right: _Region) -> _Region:
    return _Region(
        left.inputs + right.inputs,
        left.conditions + right.conditions,
        {**left.columns, **right.columns},
        left.bundles + right.bundles,
        None,
        left.below + right.below,
        exact=left.exact and right.exact,
    )


def _where(region: _Region, predicate: Expr) -> _Region:
    parts = tuple(_over(part, region) for part in conjuncts(predicate))
    return replace(region, conditions=region.conditions + parts)


def _renamed(region: _Region, alias: str) -> _Region:
    return replace(region, columns={f"{alias}.{n}": e for n, e in region.columns.items()})


def _with_unknown(region: _Region, schema: Schema) -> _Region:
    """The region with the columns of `schema`, unknown where it does not have them."""
    columns = {f.name: region.columns.get(f.name, _unknown(f.name, f.type)) for f in schema}
    return replace(region, columns=columns)


def _over(expr: Expr, region: _Region) -> Expr:
    """The expression over attributes instead of columns."""
    return map_columns(expr, lambda c: region.columns.get(c.name, c))


def _unknown(name: str, type: DataType) -> Expr:
    return Column(f"?::{name}", type)


def _described(plan: Except | Intersect | Rank) -> str:
    match plan:
        case Except():
            return "EXCEPT"
        case Intersect():
            return "INTERSECT"
        case Rank():
            return "a ranking"
