"""What is known of a query besides its plan, on the way to deciding whether it is a stream."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from cqlc.algebra.plan import Grid, Plan, Relation, Unbounded, Window
from cqlc.resolve.result import Shedding
from cqlc.source import Span


class Obstacle(StrEnum):
    """What takes rows back by itself, so that results of its inputs cannot simply stay."""

    DISTINCT = "DISTINCT"
    NEGATION = "negation"
    SUBQUERY = "a subquery in a condition or value"
    OUTER_JOIN = "an outer join"
    SEMI_JOIN = "a semi join"
    SET_OPERATION = "a set operation"
    RANKING = "a ranking or LIMIT"
    CHANGING_SUBQUERY = "a subquery that takes rows back"


@dataclass(frozen=True, slots=True)
class ObstacleAt:
    """An obstacle and its place."""

    kind: Obstacle
    span: Span


@dataclass(frozen=True, slots=True)
class WindowUse:
    """A window of a query: its operator, its place, and whether INTERNAL was written."""

    window: Window
    span: Span
    internal: bool = False

    @property
    def is_bounded(self) -> bool:
        """Whether rows leave the window."""
        return not isinstance(self.window, Unbounded)


@dataclass(frozen=True, slots=True)
class SlideUse:
    """A SLIDE that was written."""

    grid: Grid
    span: Span


@dataclass(frozen=True, slots=True)
class Derived:
    """The relation of a query before it becomes a stream or stays a relation.

    `windows` are the windows written in it; `slides` also those of the subqueries in its
    expressions. `nicknames` pairs columns with the names they also answer to.
    """

    rows: Relation
    windows: tuple[WindowUse, ...] = ()
    slides: tuple[SlideUse, ...] = ()
    obstacles: tuple[ObstacleAt, ...] = ()
    aggregate: bool = False
    retroactive: bool = False
    """Whether a relation takes part whose rows may be deleted."""
    nicknames: tuple[tuple[str, str], ...] = ()
    shedding: Shedding | None = None

    @property
    def internal(self) -> tuple[WindowUse, ...]:
        """The windows that are INTERNAL."""
        return tuple(use for use in self.windows if use.internal)

    @property
    def is_simple(self) -> bool:
        """Whether results are combinations of input rows: selections, projections, joins."""
        return not self.aggregate and not self.obstacles


@dataclass(frozen=True, slots=True)
class Answer:
    """A resolved query: a stream or a relation, and what it was derived from."""

    plan: Plan
    derived: Derived

    @property
    def holds_latest_only(self) -> bool:
        """Whether it is the relation of an aggregate over windows: one value, the latest."""
        bounded = any(use.is_bounded for use in self.derived.windows)
        return self.derived.aggregate and bounded
