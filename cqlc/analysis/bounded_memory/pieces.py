"""The conditions of a block and the declarations of its tables, split into conjunctions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial

from cqlc.algebra.expr import Column, Comparison, Value
from cqlc.algebra.walk import map_columns
from cqlc.analysis.bounded_memory.blocks import Block, Builder, OutsideError
from cqlc.analysis.bounded_memory.closure import close
from cqlc.analysis.bounded_memory.formula import (
    MOST_CASES,
    Alternative,
    Cases,
    Formula,
    OneOf,
    UnlessNull,
    UnsplitError,
    atoms,
    constants,
    mentioned,
    nulls,
    opaque,
    present,
)
from cqlc.analysis.bounded_memory.query import (
    Among,
    Atom,
    Attribute,
    Conjunction,
    Limit,
    Opaque,
    Sort,
    StreamUse,
)
from cqlc.analysis.bounded_memory.read import read
from cqlc.analysis.bounded_memory.values import has_room, rank, type_range, units


def pieces(builder: Builder, block: Block) -> tuple[tuple[StreamUse, ...], tuple[Conjunction, ...]]:
    """The occurrences with the sorts of their attributes fixed, and the disjoint conjunctions."""
    asked = [read(condition) for condition in block.conditions]
    declared = [formula for use in block.uses for formula in _declared(builder, use)]
    uses = _with_computed(builder, _with_points(builder, block.uses, [*asked, *declared]))
    attributes = {a.name: a for use in uses for a in use.attributes}
    builder.conditioned = frozenset[str]().union(*map(mentioned, asked))
    split = _Splitter(attributes)
    alternatives = split.asked(asked)
    alternatives = split.declared(alternatives, declared)
    bounds = tuple(_type_bounds(builder, uses))
    return uses, tuple(_conjunction(a, bounds) for a in alternatives)


def _conjunction(alternative: Alternative, bounds: tuple[Atom, ...]) -> Conjunction:
    missing = nulls(alternative)
    of_types = (
        atom for atom in bounds if isinstance(atom, Limit) and atom.attribute not in missing
    )
    return Conjunction(
        (*atoms(alternative), *of_types),
        missing,
        frozenset(present(alternative)),
        opaque(alternative),
    )


# --------------------------------------------------------------------------------- sorts


def _with_points(
    builder: Builder, uses: Iterable[StreamUse], formulas: Iterable[Formula]
) -> tuple[StreamUse, ...]:
    """The occurrences, with the constants of the query as points of their dense sorts."""
    sorts = {a.name: a.sort for use in uses for a in use.attributes}
    values: dict[str, set[Value]] = {}
    for formula in formulas:
        for name, value in constants(formula):
            plain = float(value) if isinstance(value, Fraction) else value
            values.setdefault(sorts[name].name, set()).add(plain)
    filled: dict[str, Sort] = {}
    for sort in {s.name: s for s in sorts.values() if s.dense}.values():
        points = rank(values.get(sort.name, ()), sort)
        filled[sort.name] = replace(sort, points=points)
        if not has_room(points, sort):
            builder.crowded.add(filled[sort.name])
    return tuple(
        replace(use, attributes=tuple(_sorted(a, filled) for a in use.attributes)) for use in uses
    )


def _sorted(attribute: Attribute, filled: Mapping[str, Sort]) -> Attribute:
    return replace(attribute, sort=filled.get(attribute.sort.name, attribute.sort))


def _with_computed(builder: Builder, uses: Iterable[StreamUse]) -> tuple[StreamUse, ...]:
    return tuple(
        replace(
            use,
            attributes=(*use.attributes, *(a for n, a, _ in builder.computed if n == use.name)),
        )
        for use in uses
    )


# ------------------------------------------------------------------------- what is declared


def _declared(builder: Builder, use: StreamUse) -> Iterator[Formula]:
    """The CHECKs and finite domains of an occurrence's table, over its attributes."""
    attributes = {a.name: a for a in use.attributes}
    for owner, prefix, table in builder.tables:
        if owner != use.name:
            continue
        for column in table.columns:
            attribute = attributes[f"{prefix}.{column.name}"]
            if column.domain is not None:
                yield OneOf(attribute.name, tuple(_constants(column.domain, attribute)))
        for check in table.checks:
            yield read(map_columns(check, partial(_prefixed, prefix)))


def _prefixed(prefix: str, column: Column) -> Column:
    return replace(column, name=f"{prefix}.{column.name}")


def _constants(domain: Iterable[Value], attribute: Attribute) -> Iterator[Fraction | Value]:
    """The values of a finite domain; NULL counts as absent."""
    for value in domain:
        found = value if attribute.sort.dense else units(value, attribute.type)
        if found is not None:
            yield found


def _type_bounds(builder: Builder, uses: Iterable[StreamUse]) -> Iterator[Atom]:
    """The bounds of small types and of computed values."""
    few = {attribute.name: count for _, attribute, count in builder.computed}
    for use in uses:
        for attribute in use.attributes:
            name = attribute.name
            found = (0, few[name] - 1) if name in few else type_range(attribute.type)
            if found:
                yield Limit(name, Comparison.GE, found[0])
                yield Limit(name, Comparison.LE, found[1])


# -------------------------------------------------------------------------------- splitting


class _Splitter:
    """Combines formulas into disjoint alternatives, dropping those nothing satisfies."""

    def __init__(self, attributes: Mapping[str, Attribute]) -> None:
        self.attributes = attributes
        self.cases = Cases(attributes)

    def asked(self, formulas: Iterable[Formula]) -> list[Alternative]:
        """The alternatives in which all conditions are true."""
        found: list[Alternative] = [()]
        for formula in formulas:
            more = self._true(formula)
            if len(found) * len(more) > MOST_CASES:
                more = [_unsplit(formula)]
            found = self._both(found, more)
        return found

    def _true(self, formula: Formula) -> list[Alternative]:
        try:
            return self.cases.when(formula, True)
        except UnsplitError:
            return [_unsplit(formula)]

    def _both(self, found: list[Alternative], more: list[Alternative]) -> list[Alternative]:
        both = [(*a, *b) for a in found for b in more]
        return both if len(both) == 1 else [a for a in both if self._possible(a)]

    def _possible(self, alternative: Alternative) -> bool:
        if nulls(alternative) & present(alternative):
            return False
        return close(self.attributes, atoms(alternative)) is not None

    def declared(self, found: list[Alternative], formulas: Iterable[Formula]) -> list[Alternative]:
        """The alternatives with what is declared: a CHECK is not false, but may be unknown.

        A CHECK of one column is taken as true where the column may be NULL as well: NULL would be
        one value more, and constrains nothing else. CHECKs of several columns come first, for they
        say nothing about one column when another is NULL.
        """
        for formula in sorted(formulas, key=lambda f: -len(mentioned(f))):
            found = [a for one in found for a in self._with(one, formula)]
            if len(found) > MOST_CASES:
                raise OutsideError("the declarations fall into too many cases")
        return [a for a in found if not nulls(a) & present(a)]

    def _with(self, alternative: Alternative, formula: Formula) -> list[Alternative]:
        names = mentioned(formula)
        try:
            true = self.cases.when(formula, True)
            unknown = self.cases.when(formula, None)
        except UnsplitError:
            return [alternative]
        alone = len(names) == 1 and not names & nulls(alternative)
        if alone and any(map(self._possible, true)):
            true, unknown = [_unless_null(a) for a in true], []
        return self._both([alternative], true + unknown)


def _unless_null(alternative: Alternative) -> Alternative:
    return tuple(UnlessNull(a) if isinstance(a, Limit | Among) else a for a in alternative)


def _unsplit(formula: Formula) -> Alternative:
    return (Opaque(mentioned(formula)),)
