"""Comparing what a query answers with the tables of a test, and showing how they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from cqlc.algebra.schema import Field
from cqlc.semantics import Arrival, Change, Values
from cqlc.testing.cells import CellError, TimeStyle, agrees, cell_text, parse_time, time_text
from cqlc.testing.markdown import TableText, TestFileError

_OPS = {1: "+", -1: "-"}
_TIME, _OP = "time", "op"


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of an answer: a stream has times, a changelog signs too, a snapshot neither."""

    fields: tuple[Field, ...]
    timed: bool
    signed: bool
    style: TimeStyle

    @property
    def header(self) -> list[str]:
        """The columns of a table of such rows."""
        own = [field.name for field in self.fields]
        return [*([_TIME] if self.timed else ()), *([_OP] if self.signed else ()), *own]

    def cells(self, change: Change, header: Sequence[str]) -> list[str]:
        """A row as cells under a header."""
        time, sign, values = change
        texts = {_TIME: time_text(time, self.style), _OP: _OPS[sign]} if self.timed else {}
        for field, value in zip(self.fields, values, strict=True):
            texts[field.name] = cell_text(value, field.type, self.style)
        return [texts[name] for name in header]


_Line: TypeAlias = tuple[str, list[str]]
"""A row of a comparison: ' ' if it agrees, '-' if it is missing, '+' if it is too much."""


def snapshot(changes: Iterable[Change], at: int) -> list[Change]:
    """The rows that are there at a time."""
    rows: Counter[Values] = Counter()
    for time, sign, values in changes:
        if time <= at:
            rows[values] += sign
    return [(at, 1, values) for values in rows.elements()]


def as_changes(arrivals: Iterable[Arrival]) -> list[Change]:
    """Rows with times, as changes."""
    return [(time, 1, values) for time, values in arrivals]


def compare(table: TableText | None, got: Sequence[Change], shape: Shape) -> list[str]:
    """How the answer differs from the table, as lines to read; none if it does not."""
    header = list(table.header) if table else shape.header
    if sorted(header) != sorted(shape.header) and (table or got):
        names = ", ".join(shape.header)
        return [f"the columns of the answer are: {names}", f"the table has: {', '.join(header)}"]
    rest = list(got)
    lines: list[tuple[int, _Line]] = []
    for number, cells in table.rows if table else ():
        time = _time_of(header, cells, number) if shape.timed else 0
        partner = next((c for c in rest if _same(header, cells, number, c, shape)), None)
        if partner is not None:
            rest.remove(partner)
        lines.append((time, (" " if partner else "-", list(cells))))
    lines += ((c[0] if shape.timed else 0, ("+", shape.cells(c, header))) for c in rest)
    return _shown(header, lines) if any(mark != " " for _, (mark, _) in lines) else []


def _time_of(header: Sequence[str], cells: Sequence[str], line: int) -> int:
    parsed = parse_time(cells[header.index(_TIME)]) if len(cells) == len(header) else None
    if parsed is None:
        raise TestFileError(line, "the row has no time", "write 12.5 or 00:00:12.5 under `time`")
    return parsed[0]


def _same(
    header: Sequence[str], cells: Sequence[str], line: int, change: Change, shape: Shape
) -> bool:
    time, sign, values = change
    row = dict(zip(header, cells, strict=True))
    if shape.timed and _time_of(header, cells, line) != time:
        return False
    if shape.signed and row[_OP].replace("−", "-") != _OPS[sign]:
        return False
    try:
        pairs = zip(shape.fields, values, strict=True)
        return all(agrees(row[field.name], value, field.type) for field, value in pairs)
    except CellError as error:
        raise TestFileError(line, str(error), "write NULL for no value") from None


def _shown(header: list[str], lines: list[tuple[int, _Line]]) -> list[str]:
    """The rows around the differences, in the order of time, under their header."""
    order = {"-": 0, "+": 1, " ": 2}
    lines = sorted(lines, key=lambda line: (line[0], order[line[1][0]]))
    near = {time for time, (mark, _) in lines if mark != " "}
    shown = [line for time, line in lines if time in near]
    widths = [
        max(len(row[i]) for row in [header, *(r for _, r in shown)]) for i in range(len(header))
    ]

    def aligned(mark: str, cells: list[str]) -> str:
        texts = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        return f"{mark} {'  '.join(texts)}".rstrip()

    words = {"-": "expected, but missing", "+": "not expected"}
    body = [
        f"{aligned(mark, cells)}   <- {words[mark]}" if mark in words else aligned(mark, cells)
        for mark, cells in shown
    ]
    hidden = len(lines) - len(shown)
    agreed = [f"  ({hidden} other row{'s' if hidden > 1 else ''} as expected)"] if hidden else []
    return [aligned(" ", header), *body, *agreed]
