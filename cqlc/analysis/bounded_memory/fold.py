"""Self-joins: occurrences that a query without duplicates can do without, and ones that never meet.

Without duplicates a query equals the one over fewer occurrences if mapping every occurrence to one
of those keeps every condition true and every output in place. Occurrences have to be mapped all at
once: `S1.A = S2.A, S1.C < T1.D, S2.C < T2.D` folds onto S and T together, and neither alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import combinations, product
from math import prod

from cqlc.algebra.expr import Comparison
from cqlc.analysis.bounded_memory.closure import Closure, close
from cqlc.analysis.bounded_memory.criteria import Case
from cqlc.analysis.bounded_memory.query import (
    Among,
    Atom,
    Conjunction,
    Limit,
    Link,
    Projection,
    SpjQuery,
    StreamUse,
)

_MOST_MAPS = 4096


def repeated(query: SpjQuery) -> list[list[StreamUse]]:
    """The occurrences of every table that occurs more than once."""
    by_base: dict[str, list[StreamUse]] = defaultdict(list)
    for use in query.uses:
        by_base[use.base].append(use)
    return [uses for uses in by_base.values() if len(uses) > 1]


# --------------------------------------------------------------------------------- folding


def fold(case: Case, head: Projection) -> Case:
    """The same query over as few occurrences as a map finds, for answers without duplicates."""
    kept = frozenset(o.attribute for o in head.outputs)
    images = _fewest(case, kept)
    if images is None:
        return case
    rename = _renaming(case.query, images)
    outputs = {rename[o.attribute]: replace(o, attribute=rename[o.attribute]) for o in head.outputs}
    uses = tuple(use for use in case.query.uses if use.name in images.values())
    shown = replace(head, outputs=tuple(outputs.values()))
    query = SpjQuery(uses, case.query.pieces, shown, case.query.caveats, case.query.given)
    piece = _restricted(case, query)
    closure = close(query.attributes, piece.atoms)
    assert closure is not None, "a part of a satisfiable conjunction is satisfiable"
    return Case(query, piece, closure)


def _fewest(case: Case, kept: frozenset[str]) -> dict[str, str] | None:
    """The map of occurrences with the smallest image, if any leaves one out."""
    maps = [m for m in _maps(case.query) if _holds(case, m, kept)]
    return min(maps, key=lambda m: (len(set(m.values())), sorted(m.values())), default=None)


def _maps(query: SpjQuery) -> Iterator[dict[str, str]]:
    """The maps of occurrences to occurrences of the same table that leave some out."""
    choices = [
        [
            other.name
            for other in query.uses
            if other.base == use.base and other.stored == use.stored
        ]
        for use in query.uses
    ]
    if prod(map(len, choices)) > _MOST_MAPS:
        return
    for images in product(*choices):
        if len(set(images)) < len(images):
            yield {use.name: image for use, image in zip(query.uses, images, strict=True)}


def _holds(case: Case, images: Mapping[str, str], kept: frozenset[str]) -> bool:
    rename = _renaming(case.query, images)
    unread = (name for opaque in case.piece.opaque for name in opaque.attributes)
    return (
        all(rename[name] == name for name in unread)
        and all(case.closure.implies(_renamed(atom, rename)) for atom in case.piece.atoms)
        and all((name in case.piece.nulls) == (rename[name] in case.piece.nulls) for name in rename)
        and all(case.closure.implies(Link(n, Comparison.EQ, rename[n])) for n in kept)
    )


def _renaming(query: SpjQuery, images: Mapping[str, str]) -> dict[str, str]:
    """Attributes by position: occurrences of one table have the same columns."""
    uses = {use.name: use for use in query.uses}
    return {
        one.name: other.name
        for use in query.uses
        for one, other in zip(use.attributes, uses[images[use.name]].attributes, strict=False)
    }


def _renamed(atom: Atom, rename: Mapping[str, str]) -> Atom:
    match atom:
        case Link(left, _, right):
            return replace(atom, left=rename[left], right=rename[right])
        case Limit(attribute) | Among(attribute):
            return replace(atom, attribute=rename[attribute])


def _restricted(case: Case, query: SpjQuery) -> Conjunction:
    """Everything implied about the attributes that are left."""
    names = list(query.attributes)
    links = (
        Link(left, op, right)
        for left, right in product(names, names)
        if left != right and query.attributes[left].sort == query.attributes[right].sort
        for op in (Comparison.EQ, Comparison.LT, Comparison.LE)
    )
    own = (a for a in case.piece.atoms if not isinstance(a, Link) and a.attribute in names)
    limits = (limit for name in names for limit in _limits(case.closure, name))
    atoms = (*(link for link in links if case.closure.implies(link)), *own, *limits)
    return replace(case.piece, atoms=atoms)


def _limits(closure: Closure, name: str) -> Iterator[Limit]:
    """The bounds of an attribute, as filters."""
    found = closure.of(name)
    for position, strictly, loosely in (
        (found.low, Comparison.GT, Comparison.GE),
        (found.high, Comparison.LT, Comparison.LE),
    ):
        if position is None:
            continue
        if not found.sort.dense:
            yield Limit(name, loosely, position)
        elif position % 2 == 0:
            yield Limit(name, loosely, position // 2)
        else:
            point = (position + (1 if strictly is Comparison.LT else -1)) // 2
            if 0 <= point < len(found.sort.points):
                yield Limit(name, strictly, point)


# ------------------------------------------------------------------------ rows that never meet


def apart(case: Case) -> bool:
    """Whether no row can stand at two occurrences of its table: they are separate streams."""
    return all(
        _exclusive(case, one, case, other)
        for uses in repeated(case.query)
        for one, other in combinations(uses, 2)
    )


def separate(case: Case, other: Case) -> bool:
    """Whether filters alone tell two pieces of a query apart: at some stream they share no row."""
    return any(_exclusive(case, use, other, use) for use in case.query.uses)


def _exclusive(case: Case, one: StreamUse, second: Case, other: StreamUse) -> bool:
    rename = {a.name: b.name for a, b in zip(one.attributes, other.attributes, strict=False)}
    nulls = {rename[name] for name in case.piece.nulls if name in rename}
    present = {rename[name] for name in _present(case, one)}
    if nulls & _present(second, other) or present & second.piece.nulls:
        return True
    atoms = (*(_renamed(a, rename) for a in _filters(case, one)), *_filters(second, other))
    return close({a.name: a for a in other.attributes}, atoms) is None


def _present(case: Case, use: StreamUse) -> set[str]:
    return {a.name for a in use.attributes if a.name in case.piece.present}


def _filters(case: Case, use: StreamUse) -> Iterator[Atom]:
    """What is implied about the rows at one occurrence alone."""
    names = {a.name for a in use.attributes}
    for atom in case.piece.atoms:
        match atom:
            case Link(left, _, right) if left in names and right in names:
                yield atom
            case Limit(attribute) | Among(attribute) if attribute in names:
                yield atom
            case _:
                pass
    for name in names - case.piece.nulls:
        yield from _limits(case.closure, name)
