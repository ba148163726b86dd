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
            {"R": _changes(rng)},
        )
        self._database = duckdb.connect()
        self._database.execute("SET error_on_division_by_zero = false; SET threads = 1")
        self._known: dict[tuple[str, str, int], str] = {}
        self._store()

    def _store(self) -> None:
        streams, tables = self.timeline.streams, self.timeline.tables
        run = self._database.execute
        run("CREATE TABLE S (t INT, n INT, a INT, b INT, c VARCHAR)")
        run("CREATE TABLE T (t INT, n INT, a INT, d INT)")
        run("CREATE TABLE R (t INT, sign INT, a INT, e INT)")
        for name in ("S", "T"):
            for number, (time, values) in enumerate(streams[name]):
                row = (time // SECOND, number, *values)
                run(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
        for time, sign, values in tables["R"]:
            run("INSERT INTO R VALUES (?, ?, ?, ?)", (time // SECOND, sign, *values))

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
    """The definition of a window, in SQL."""
    if name == "R":
        counted = f"SELECT a, e, SUM(sign) AS n FROM R WHERE t <= {at} GROUP BY a, e"
        return f"SELECT a, e FROM ({counted}) AS counted, range(n::BIGINT)"
    columns = "a, b, c" if name == "S" else "a, d"
    past = f"SELECT * FROM {name} WHERE t <= {at}"
    number = {word: int(n) for word, n in re.findall(r"(RANGE|ROWS|SLIDE) (\d+)", window)}
    if "SLIDE" in number:
        boundary = at // number["SLIDE"] * number["SLIDE"]
        seen = f"t < {boundary} AND t >= {boundary - number['RANGE']}"
    elif "ROWS" in number:
        partition = "PARTITION BY a" if window.startswith("PARTITION") else ""
        young = f"row_number() OVER ({partition} ORDER BY t DESC, n DESC) <= {number['ROWS']}"
        past, seen = f"{past} QUALIFY {young}", f"t > {at - number.get('RANGE', at + 1)}"
    elif "RANGE" in number:
        seen = f"t > {at - number['RANGE']}"
    else:
        seen = f"t = {at}" if window == "NOW" else "true"
    return f"SELECT {columns} FROM ({past}) AS past WHERE {seen}"


def _small(rng: random.Random) -> int | None:
    return rng.choice((0, 1, 1, 2, 2, 3, None))


def _arrivals(rng: random.Random, row: Callable[[], Values]) -> list[tuple[int, Values]]:
    times = sorted(rng.randrange(LAST + 1) for _ in range(rng.randrange(12, 26)))
    return [(time * SECOND, row()) for time in times]


def _changes(rng: random.Random) -> list[TableChange]:
    """Insertions and deletions; only rows that are there are deleted."""
    present: list[Values] = []
    changes: list[TableChange] = []
    for time in sorted(rng.randrange(LAST + 1) for _ in range(16)):
        if present and rng.random() < 0.35:
            changes.append((time * SECOND, -1, present.pop(rng.randrange(len(present)))))
        else:
            present.append((_small(rng), _small(rng)))
            changes.append((time * SECOND, 1, present[-1]))
    return changes
