"""When a row is alive: the lifetimes that windows and tables give to rows.

A lifetime is half-open: a row is alive at τ if since <= τ < until. What is known of the time after
τ never matters at τ: it only moves the ends of lifetimes that lie beyond τ.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from cqlc.algebra.plan import Now, Range, Rows, Session, Unbounded, Window
from cqlc.algebra.schema import Schema
from cqlc.semantics.timeline import BEGINNING, FOREVER, Arrival, TableChange, Values
from cqlc.semantics.values import order_key


class Row(NamedTuple):
    """A row of a relation with its time and the lifetime of the state that made it.

    `time` is the latest time of the stream rows it was made of, the beginning of time if there
    are none; NRRs are read as of it. `since` and `until` are the intersection of the lifetimes of
    what it was made of; only rows of INTERNAL windows are ever seen outside of it.
    """

    values: Values
    time: int
    since: int
    until: int


class History:
    """Rows with lifetimes. `kept` rows stay visible when their lifetime is over (INTERNAL)."""

    def __init__(self, rows: Iterable[Row], *, kept: bool = False) -> None:
        self._rows = sorted((row for row in rows if row.since < row.until), key=lambda r: r.since)
        self._since = [row.since for row in self._rows]
        self._kept = kept
        self._longest = max((row.until - row.since for row in self._rows), default=0)

    def at(self, time: int) -> list[Row]:
        """The rows visible at `time`, in the order in which they came."""
        end = bisect_right(self._since, time)
        if self._kept:
            return self._rows[:end]
        start = bisect_right(self._since, time - self._longest)  # all before are dead by now
        return [row for row in self._rows[start:end] if time < row.until]

    def instants(self) -> set[int]:
        """The times at which the visible rows change."""
        changes = set(self._since)
        if not self._kept:
            changes.update(row.until for row in self._rows if row.until < FOREVER)
        return changes


@dataclass(frozen=True, slots=True)
class Setting:
    """What a window needs to know of its input and of time."""

    schema: Schema
    tick: int
    ordered: bool

    def pick(self, columns: Sequence[str]) -> Callable[[Values], Values]:
        """The values of some columns."""
        names = [field.name for field in self.schema]
        places = [names.index(column) for column in columns]
        return lambda values: tuple(values[place] for place in places)


def history(window: Window, elements: Sequence[Arrival], setting: Setting) -> History:
    """The rows of a window over a stream whose elements are in (time, arrival) order."""
    match window:
        case Now():
            return History(Row(v, t, t, t + setting.tick) for t, v in elements)
        case Unbounded():
            return History(Row(v, t, t, FOREVER) for t, v in elements)
        case Range(_, length, slide):
            moved = slide.up if slide else int
            rows = (Row(v, t, moved(t), moved(t + length)) for t, v in elements)
            return History(rows, kept=window.internal)
        case Rows():
            return History(_last_rows(window, elements, setting), kept=window.internal)
        case Session():
            return History(_sessions(window, elements, setting))


def table_history(changes: Iterable[TableChange]) -> History:
    """The rows of a table; of equal rows the oldest is deleted first."""
    alive: dict[Values, deque[int]] = defaultdict(deque)
    rows: list[Row] = []
    for time, sign, values in sorted(changes, key=lambda change: change[0]):
        if sign > 0:
            alive[values].append(time)
        elif alive[values]:
            rows.append(Row(values, BEGINNING, alive[values].popleft(), time))
    for values, times in alive.items():
        rows += (Row(values, BEGINNING, since, FOREVER) for since in times)
    return History(rows)


def _partitions(
    elements: Iterable[Arrival], columns: Sequence[str], setting: Setting
) -> list[list[Arrival]]:
    key = setting.pick(columns)
    partitions: dict[Values, list[Arrival]] = defaultdict(list)
    for time, values in elements:
        partitions[key(values)].append((time, values))
    return list(partitions.values())


def _last_rows(window: Rows, elements: Sequence[Arrival], setting: Setting) -> Iterable[Row]:
    """Row i (from 1) of a partition enters with the first multiple of `slide` that is at least i.

    It leaves with the first one that is at least i + rows, or when it is `range` old.
    """
    if window.sequence is not None:
        tie = setting.pick((window.sequence,))
        elements = sorted(elements, key=lambda e: (e[0], order_key(tie(e[1])), order_key(e[1])))
    elif not setting.ordered:
        elements = sorted(elements, key=lambda e: (e[0], order_key(e[1])))
    for partition in _partitions(elements, window.partition, setting):

        def moved(count: int, partition: list[Arrival] = partition) -> int:
            """When the window first covers the partition's first `count` rows."""
            last = -(-count // window.slide) * window.slide
            return partition[last - 1][0] if last <= len(partition) else FOREVER

        for number, (time, values) in enumerate(partition, 1):
            until = moved(number + window.rows)
            if window.range is not None:
                until = min(until, time + window.range)
            yield Row(values, time, moved(number), until)


def _sessions(window: Session, elements: Sequence[Arrival], setting: Setting) -> Iterable[Row]:
    for partition in _partitions(elements, window.partition, setting):
        session = partition[:1]
        for before, element in pairwise((*partition, (FOREVER, ()))):
            if element[0] - before[0] < window.gap:
                session.append(element)
                continue
            start, end = session[0][0], before[0] + window.gap
            for time, values in session:
                yield Row((*values, start, end), time, end, end + setting.tick)
            session = [element]
