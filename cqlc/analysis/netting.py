"""Whether a row may leave a relation at the very instant at which an equal one arrives.

ISTREAM and DSTREAM are bag differences, so such a pair gives nothing, and an engine that only
looks at arrivals would be wrong. It cannot happen if nothing ever leaves, or if equal rows come
from the same rows of every window: then their lifetimes have the same end, and each begins before
its end. A window's row is known from its time, or from a key of its stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from cqlc.algebra.expr import Column
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Except,
    Filter,
    Intersect,
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
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.schema import TIME
from cqlc.algebra.walk import derive
from cqlc.analysis.keys import Key, Keys, keys
from cqlc.analysis.update_pattern import UpdatePattern, update_patterns
from cqlc.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Source:
    """An operator whose rows leave, and the sets of columns each of which tells them apart."""

    operator: Plan
    known_by: Keys


def unknown_rows(relation: Relation, catalog: Catalog) -> tuple[Plan, ...]:
    """The operators whose leaving rows may meet equal ones in `relation`; none if that is safe."""
    patterns = update_patterns(relation, catalog)
    known = keys(relation, catalog)

    def transfer(node: Plan, of: tuple[tuple[Source, ...], ...]) -> tuple[Source, ...]:
        if patterns[id(node)].output.pattern is UpdatePattern.MONOTONIC:
            return ()
        return _sources(node, of, known, catalog)

    found = derive(relation, transfer)[id(relation)]
    return tuple(source.operator for source in found if not source.known_by)


def _sources(
    plan: Plan, of: tuple[tuple[Source, ...], ...], known: Mapping[int, Keys], catalog: Catalog
) -> tuple[Source, ...]:
    match plan:
        case Now(stream) | Range(stream):
            times: list[Key] = [frozenset((TIME,))]
            declared = catalog.tables.get(stream.name) if isinstance(stream, Scan) else None
            if declared is not None and declared.event_time is not None:
                times.append(frozenset((declared.event_time.column,)))
            return (Source(plan, (*times, *known[id(stream)])),)
        case Rename(_, alias):
            return _shown(of[0], lambda column: f"{alias}.{column}")
        case Project(_, columns):
            names = {c.value.name: c.name for c in columns if isinstance(c.value, Column)}
            return _shown(of[0], names.get)
        case Filter() | NrrJoin():
            return of[0]
        case Join(kind=JoinKind.INNER):
            return (*of[0], *of[1])
        case (
            Join() | Union() | Except() | Intersect() | Distinct() | Aggregate() | Rank()
            | Session() | Rows() | Table() | Values() | Unbounded()
        ):  # fmt: skip
            return (Source(plan, ()),)
        case _:
            return ()  # a stream


def _shown(sources: tuple[Source, ...], rename: Callable[[str], str | None]) -> tuple[Source, ...]:
    """The sources as far as their columns are still to be seen under some name."""

    def renamed(key: Key) -> Key | None:
        names = [rename(column) for column in key]
        return None if None in names else frozenset(n for n in names if n is not None)

    return tuple(
        Source(s.operator, tuple(k for key in s.known_by if (k := renamed(key)) is not None))
        for s in sources
    )
