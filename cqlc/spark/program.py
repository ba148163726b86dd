"""A Spark program as data: a graph of DataFrame steps, what it reads and what it gives.

The steps are close to PySpark's own methods, and the SQL inside them is text over the columns of
their input. `cqlc.spark.emit` writes a program as source, `cqlc.spark.run` runs that source.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from cqlc.algebra.schema import Schema
from cqlc.catalog import TableDeclaration


@dataclass(frozen=True, slots=True)
class Computed:
    """A column: its name and its value as SQL.

    Spark closes groups and drops join state by columns it knows as event time. `event_time` marks
    the column as such; every other column of an operator's input must not be.
    """

    name: str
    sql: str
    event_time: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """The part of the query a step stands for, shown beside it; never part of its identity."""

    note: str = field(default="", compare=False, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class ReadStream(Noted):
    """The rows of a declared stream, with their time in `_time`."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReadTable(Noted):
    """The rows of a declared relation or NRR, as they are when a micro-batch begins."""

    table: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Constants(Noted):
    """Constant rows, as SQL."""

    rows: tuple[tuple[str, ...], ...]
    columns: tuple[str, ...]
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Select(Noted):
    """One row of `columns` for each row."""

    input: Step
    columns: tuple[Computed, ...]


@dataclass(frozen=True, slots=True)
class Where(Noted):
    """The rows for which `condition` is true."""

    input: Step
    condition: str


@dataclass(frozen=True, slots=True)
class Concat(Noted):
    """The rows of all inputs, which have the same columns."""

    inputs: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Watermark(Noted):
    """The rows, with event time following the largest `column` seen, `delay` microseconds behind.

    Here the end of a finite input is let in: a row at the end of time that moves event time and
    goes no further.
    """

    input: Step
    column: str
    delay: int


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """Groups of the times [start, start + length) for starts `slide` apart."""

    column: str
    length: int
    slide: int
    start: int
    name: str


@dataclass(frozen=True, slots=True)
class SessionWindow:
    """Groups of times that are at most `gap` apart."""

    column: str
    gap: int
    name: str


@dataclass(frozen=True, slots=True)
class Group(Noted):
    """One row for each combination of keys (and window): the keys and the aggregates."""

    input: Step
    keys: tuple[str, ...]
    aggregates: tuple[Computed, ...]
    window: TimeWindow | SessionWindow | None = None


@dataclass(frozen=True, slots=True)
class Deduplicate(Noted):
    """The first row of each combination of `keys`."""

    input: Step
    keys: tuple[str, ...]


class How(StrEnum):
    """The kinds of joins, as PySpark calls them."""

    INNER = "inner"
    LEFT = "left_outer"
    FULL = "full_outer"
    SEMI = "left_semi"
    ANTI = "left_anti"


@dataclass(frozen=True, slots=True)
class Match(Noted):
    """The join of two inputs without common column names."""

    left: Step
    right: Step
    how: How
    condition: str


Step: TypeAlias = (
    ReadStream
    | ReadTable
    | Constants
    | Select
    | Where
    | Concat
    | Watermark
    | Group
    | Deduplicate
    | Match
)


class Delivery(StrEnum):
    """How the answer reaches a sink."""

    STREAM = "stream"
    """Rows with their `_time`."""
    CHANGELOG = "changelog"
    """Rows with `_op`, + or -, and `_time`."""
    UPSERT = "upsert"
    """The newest row of each key with `_op`; - says that the key has gone."""


@dataclass(frozen=True, slots=True)
class SparkProgram:
    """A query ready to be written as PySpark source."""

    name: str
    text: str
    """The query as the user wrote it."""
    result: Step
    columns: Schema
    """The columns of the result, as the query has them, without `_op` and `_time`."""
    delivery: Delivery
    key: tuple[str, ...] | None
    streams: tuple[TableDeclaration, ...]
    tables: tuple[TableDeclaration, ...]


def step_inputs(step: Step) -> tuple[Step, ...]:
    """The steps a step takes its rows from."""
    match step:
        case ReadStream() | ReadTable() | Constants():
            return ()
        case Select(i) | Where(i) | Watermark(i) | Group(i) | Deduplicate(i):
            return (i,)
        case Concat(inputs):
            return inputs
        case Match(left, right):
            return (left, right)


def steps(step: Step) -> Iterator[Step]:
    """Every step of a program, inputs first, shared ones once."""
    seen: set[int] = set()

    def visit(node: Step) -> Iterator[Step]:
        if id(node) not in seen:
            seen.add(id(node))
            for part in step_inputs(node):
                yield from visit(part)
            yield node

    return visit(step)


def map_step_inputs(step: Step, image: Callable[[Step], Step]) -> Step:
    """The step with every input replaced by its image."""
    match step:
        case ReadStream() | ReadTable() | Constants():
            return step
        case Select(i) | Where(i) | Watermark(i) | Group(i) | Deduplicate(i):
            return replace(step, input=image(i))
        case Concat(inputs):
            return replace(step, inputs=tuple(map(image, inputs)))
        case Match(left, right):
            return replace(step, left=image(left), right=image(right))


def step_columns(step: Step) -> tuple[str, ...]:
    """The columns of a step's rows."""
    match step:
        case ReadStream() | ReadTable() | Constants():
            return step.columns
        case Select():
            return tuple(c.name for c in step.columns)
        case Where(i) | Watermark(i) | Deduplicate(i):
            return step_columns(i)
        case Concat(inputs):
            return step_columns(inputs[0])
        case Group():
            window = (step.window.name,) if step.window else ()
            return (*window, *step.keys, *(a.name for a in step.aggregates))
        case Match(left, right, how):
            both = how not in (How.SEMI, How.ANTI)
            return (*step_columns(left), *(step_columns(right) if both else ()))


def event_times(step: Step) -> frozenset[str]:
    """The columns of a step's rows that Spark takes for event times."""
    match step:
        case ReadStream() | ReadTable() | Constants():
            return frozenset()
        case Watermark(i, column):
            return event_times(i) | {column}
        case Select(_, columns):
            return frozenset(c.name for c in columns if c.event_time)
        case Where(i) | Deduplicate(i):
            return event_times(i)
        case Concat(inputs):
            return event_times(inputs[0])
        case Group(i):
            window = {step.window.name} if step.window else frozenset[str]()
            return (event_times(i) & frozenset(step.keys)) | window
        case Match(left, right, how):
            both = how not in (How.SEMI, How.ANTI)
            return event_times(left) | (event_times(right) if both else frozenset[str]())


def is_stateful(program: SparkProgram) -> bool:
    """Whether Spark has to keep state for the program."""
    return any(isinstance(s, Group | Watermark) for s in steps(program.result))
