"""What windows hold at an instant, computed by DuckDB from the whole history."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import duckdb

from cqlc.semantics import TableChange, Timeline, Values

SECOND = 1_000_000
LAST = 24
"""The last second at which anything happens."""


class Judge:
    """A random timeline, for the reference and as tables of a database."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(seed)
        self.timeline = Timeline(
            {
                "S": _arrivals(
                    rng, lambda: (_small(rng), _small(rng), rng.choice(("p", "q", None)))
                ),
                "T": _arrivals(rng, lambda: (_small(rng), _small(rng))),
            },
            {"R": _changes(rng), "N": _changes(rng)},
        )
        self._database = duckdb.connect()
        self._database.execute("SET error_on_division_by_zero = false; SET threads = 1")
        self._database.execute("PRAGMA disable_optimizer")  # the plainest plan is the best judge
        self._known: dict[tuple[str, str, int], str] = {}
        self._store()

    def _store(self) -> None:
        streams, tables = self.timeline.streams, self.timeline.tables
        run = self._database.execute
        run("CREATE TABLE S (t INT, n INT, a INT, b INT, c VARCHAR)")
        run("CREATE TABLE T (t INT, n INT, a INT, d INT)")
        run("CREATE TABLE R (t INT, sign INT, a INT, e INT)")
        run("CREATE TABLE N (t INT, sign INT, a INT, e INT)")
        for name in ("S", "T"):
            for number, (time, values) in enumerate(streams[name]):
                row = (time // SECOND, number, *values)
                run(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
        for name in ("R", "N"):
            for time, sign, values in tables[name]:
                row = (time // SECOND, sign, *values)
                run(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", row)

    def answer(self, sql: str) -> list[Values]:
        """The rows of a query."""
        return self._database.execute(sql).fetchall()

    def contents(self, name: str, window: str, at: int) -> str:
        """The table that holds what a source holds at a second; made when first asked for."""
        key = name, window, at
        if key not in self._known:
            table = self._known[key] = f"w{len(self._known)}"
            self._database.execute(f"CREATE TABLE {table} AS {content_query(name, window, at)}")
        return self._known[key]


def content_query(name: str, window: str, at: int) -> str:
    """The definition of a window, in SQL; the time of a row is its last column."""
    if name == "R":
        counted = f"SELECT a, e, SUM(sign) AS n FROM R WHERE t <= {at} GROUP BY a, e"
        return f"SELECT a, e FROM ({counted}) AS counted, range(n::BIGINT)"
    columns = "a, b, c" if name == "S" else "a, d"
    rows, seen = _windowed(name, window, at)
    return f"SELECT {columns}, t AS _t FROM ({rows}) AS seen WHERE {seen}"


def _windowed(name: str, window: str, at: int) -> tuple[str, str]:
    """The rows up to now with what is needed to choose among them, and the choice."""
    past = f"SELECT * FROM {name} WHERE t <= {at}"
    number = {word: int(n) for word, n in re.findall(r"([A-Z]+) (\d+)", window)}
    match list(number):
        case ["RANGE", "SLIDE", *_]:
            offset = number.get("OFFSET", 0)
            boundary = (at - offset) // number["SLIDE"] * number["SLIDE"] + offset
            return past, f"t < {boundary} AND t >= {boundary - number['RANGE']}"
        case ["RANGE"]:
            return past, f"t > {at - number['RANGE']}"
        case ["ROWS", "SLIDE"]:
            place = "row_number() OVER (ORDER BY t, n) AS place, count(*) OVER () AS total"
            moved = f"total // {number['SLIDE']} * {number['SLIDE']}"
            chosen = f"place <= {moved} AND place > {moved} - {number['ROWS']}"
            return f"SELECT *, {place} FROM ({past}) AS past", chosen
        case ["ROWS", *_]:
            partition = "PARTITION BY a" if window.startswith("PARTITION") else ""
            age = f"row_number() OVER ({partition} ORDER BY t DESC, n DESC) AS age"
            young = f"age <= {number['ROWS']} AND t > {at - number.get('RANGE', at + 1)}"
            return f"SELECT *, {age} FROM ({past}) AS past", young
        case ["SESSION"]:
            gap = number["SESSION"]
            first = f"coalesce(t - lag(t) OVER (PARTITION BY a ORDER BY t, n) >= {gap}, true)"
            begun = f"SELECT *, {first}::INT AS first FROM ({past}) AS past"
            session = "sum(first) OVER (PARTITION BY a ORDER BY t, n) AS session"
            numbered = f"SELECT *, {session} FROM ({begun}) AS begun"
            last = "max(t) OVER (PARTITION BY a, session) AS last"
            return f"SELECT *, {last} FROM ({numbered}) AS numbered", f"last + {gap} = {at}"
        case _:
            return past, f"t = {at}" if window == "NOW" else "true"


def _small(rng: random.Random) -> int | None:
    return rng.choice((0, 1, 1, 2, 2, 3, -3, None))


def _arrivals(rng: random.Random, row: Callable[[], Values]) -> list[tuple[int, Values]]:
    times = sorted(rng.randrange(LAST + 1) for _ in range(rng.randrange(30, 45)))
    return [(time * SECOND, row()) for time in times]


def _changes(rng: random.Random) -> list[TableChange]:
    """Insertions and deletions; only rows that are there are deleted."""
    present: list[Values] = []
    changes: list[TableChange] = []
    for time in sorted(rng.randrange(LAST + 1) for _ in range(24)):
        if present and rng.random() < 0.35:
            changes.append((time * SECOND, -1, present.pop(rng.randrange(len(present)))))
        else:
            present.append((_small(rng), _small(rng)))
            changes.append((time * SECOND, 1, present[-1]))
    return changes
