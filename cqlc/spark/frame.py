"""A relation on its way through Spark: rows whose lifetimes are known from their columns.

The rows of MONOTONIC, WEAKEST and WEAK edges carry what their lifetime follows from, so no
deletion is ever sent: this is the direct approach of Golab's thesis with the expiration time in
columns. A `Branch` is one DataFrame of such rows; a relation is a union of branches until an
operator with state needs them in one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from cqlc.algebra.expr import Expr
from cqlc.algebra.plan import Grid
from cqlc.algebra.walk import map_columns
from cqlc.spark.expression import interval, name, sql
from cqlc.spark.program import Step, Watermark, Where


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that follows from a column: `column + plus`, moved up to a grid's next boundary."""

    column: str
    plus: int = 0
    grid: Grid | None = None

    @property
    def sql(self) -> str:
        """The time as SQL."""
        time = shifted(name(self.column), self.plus)
        return time if self.grid is None else up(time, self.grid)


def shifted(time: str, by: int) -> str:
    """A time some microseconds later, as SQL."""
    return f"{time} {'+' if by > 0 else '-'} {interval(abs(by))}" if by else time


def up(time: str, grid: Grid) -> str:
    """The first boundary of a grid after a time, as SQL."""
    micros = f"unix_micros({time})"
    start = shifted_number(micros, -grid.offset)
    return f"timestamp_micros({micros} - pmod({start}, {grid.period}) + {grid.period})"


def shifted_number(number: str, by: int) -> str:
    """A number some units larger, as SQL."""
    return f"{number} {'+' if by > 0 else '-'} {abs(by)}" if by else number


@dataclass(frozen=True, slots=True)
class Life:
    """When a row is there, and for how long it may be combined with others.

    A row is part of the relation in [since, gone) and of operators' state in [since, until); the
    two ends differ only above INTERNAL windows. None means for ever. `time` is the time of the
    youngest stream row it was made of.
    """

    since: Moment
    until: Moment | None
    gone: Moment | None
    time: Moment

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns the lifetime follows from."""
        moments = (self.since, self.until, self.gone, self.time)
        return tuple(dict.fromkeys(m.column for m in moments if m is not None))

    def renamed(self, names: Mapping[str, str]) -> Life:
        """The same lifetime where the columns have other names."""

        def moved(moment: Moment) -> Moment:
            return replace(moment, column=names.get(moment.column, moment.column))

        return Life(
            moved(self.since),
            moved(self.until) if self.until else None,
            moved(self.gone) if self.gone else None,
            moved(self.time),
        )


@dataclass(frozen=True, slots=True)
class Clockwork:
    """What Spark's event time has to do with a branch.

    `since` is at or after `column`, by at most `ahead`, and the end of the state lifetime at most
    `longest` after it. A `delay` means that the watermark still has to be set, on that column and
    so far behind it; it is put right below the first operator with state, after the filters.
    """

    column: str
    ahead: int = 0
    longest: int | None = None
    delay: int | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A DataFrame of rows with lifetimes; `columns` says what the plan's columns are in it."""

    step: Step
    columns: Mapping[str, Expr]
    life: Life
    clock: Clockwork

    def value(self, expr: Expr) -> Expr:
        """An expression over the plan's columns, in terms of the DataFrame's."""
        return map_columns(expr, lambda column: self.columns[column.name])

    def sql(self, expr: Expr) -> str:
        """An expression over the plan's columns as SQL over the DataFrame's."""
        return sql(self.value(expr))

    def where(self, predicate: Expr, note: str) -> Branch:
        """The rows for which the predicate is true."""
        return replace(self, step=Where(self.step, self.sql(predicate), note=note))

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that are not the plan's: those of the lifetime and of event time."""
        return tuple(dict.fromkeys((self.clock.column, *self.life.columns)))

    @property
    def timed(self) -> Step:
        """The rows, with the watermark set."""
        if self.clock.delay is None:
            return self.step
        return Watermark(self.step, self.clock.column, self.clock.delay)


Rows: TypeAlias = tuple[Branch, ...]
"""A relation as the union of its branches."""


@dataclass(frozen=True, slots=True)
class Static:
    """A relation that does not change while the query runs: the same rows at every instant."""

    step: Step
    columns: Mapping[str, Expr]

    def sql(self, expr: Expr) -> str:
        """An expression over the plan's columns as SQL over the DataFrame's."""
        return sql(map_columns(expr, lambda column: self.columns[column.name]))
