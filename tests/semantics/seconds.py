"""Queries over rows whose times are small numbers of seconds; one tick is one second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from cqlc.algebra.plan import Clock, Plan, Stream
from cqlc.compiler import compile_program
from cqlc.semantics import Change, Meaning, Timeline, Values

SECOND = 1_000_000
Rows: TypeAlias = Mapping[str, Sequence[tuple[Any, ...]]]
"""Rows (time, value, ...) of streams, or changes (time, sign, value, ...) of tables, by name."""


def plan_of(program: str) -> Plan:
    """The plan of a program's last query."""
    return compile_program(program).require().queries[-1].plan


def meaning(
    streams: Rows,
    tables: Rows | None = None,
    *,
    clock: Clock | None = None,
    horizon: int | None = None,
    ordered: bool = True,
) -> Meaning:
    """The semantics over some inputs."""
    timeline = Timeline(
        {name: [(t * SECOND, tuple(v)) for t, *v in rows] for name, rows in streams.items()},
        {
            name: [(t * SECOND, sign, tuple(v)) for t, sign, *v in rows]
            for name, rows in (tables or {}).items()
        },
        ordered,
    )
    end = None if horizon is None else horizon * SECOND
    return Meaning(timeline, tick=SECOND, clock=clock, horizon=end)


def changes(program: str, streams: Rows, tables: Rows | None = None) -> list[Change]:
    """The net changes of a relation, or the elements of a stream, with times in seconds."""
    plan = plan_of(program)
    if isinstance(plan, Stream):
        return [(time, 1, values) for time, values in elements(program, streams, tables)]
    log = meaning(streams, tables).changelog(plan)
    return [(time // SECOND, sign, values) for time, sign, values in log]


def elements(
    program: str, streams: Rows, tables: Rows | None = None, horizon: int | None = None
) -> list[tuple[int, Values]]:
    """The elements of a stream without `_time`, with times in seconds."""
    plan = plan_of(program)
    assert isinstance(plan, Stream)
    found = meaning(streams, tables, horizon=horizon).stream(plan)
    return [(time // SECOND, values[:-1]) for time, values in found]


def relation(program: str, streams: Rows, at: int, tables: Rows | None = None) -> Counter[Values]:
    """The rows of a relation at a second."""
    plan = plan_of(program)
    assert not isinstance(plan, Stream)
    return meaning(streams, tables).relation(plan, at * SECOND)
