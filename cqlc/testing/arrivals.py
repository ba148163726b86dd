"""What arrives in a test, cut into micro-batches; which rows come too late.

A row is late if its time is below the watermark of its stream at the start of its batch: the
latest time seen in the batches before, less the SLACK, or where the test moved it by hand. Rows
of one batch are never late because of each other. Late rows are dropped, and reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cqlc.algebra.expr import Value
from cqlc.catalog import Catalog, TableDeclaration, TableKind
from cqlc.semantics import BEGINNING, Arrival, TableChange, Timeline
from cqlc.testing.cells import CellError, TimeStyle, parse_cell, parse_time
from cqlc.testing.markdown import Section, TableText, TestFileError

_TIME_COLUMNS = ("_time", "time")
_SIGNS = {"+": 1, "-": -1, "−": -1}


@dataclass(frozen=True, slots=True)
class Feed:
    """The batches of one stream, and where its watermark was moved to after each of them."""

    batches: tuple[tuple[Arrival, ...], ...]
    moves: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Everything that arrives in a test."""

    timeline: Timeline
    """What counts: without the late rows."""
    batches: tuple[Timeline, ...]
    """What arrives in each micro-batch, late rows included."""
    late: Mapping[str, tuple[Arrival, ...]]
    style: TimeStyle


def without_late(feed: Feed, slack: int) -> tuple[list[Arrival], list[Arrival]]:
    """The rows that count and those that are late."""
    kept: list[Arrival] = []
    late: list[Arrival] = []
    watermark = BEGINNING
    for batch, move in zip(feed.batches, feed.moves, strict=True):
        for row in batch:
            (late if row[0] < watermark else kept).append(row)
        latest = max((time for time, _ in batch), default=BEGINNING)
        watermark = max(watermark, latest - slack, move)
    return kept, late


def read_arrivals(sections: Sequence[Section], catalog: Catalog) -> Arrivals:
    """The arrivals that a test's Input tables describe."""
    feeds: dict[str, Feed] = {}
    changes: dict[str, list[TableChange]] = {}
    styles: list[TimeStyle] = []
    for section in sections:
        table = _declared(section, catalog)
        if section.table is None:
            continue
        if table.kind is TableKind.STREAM:
            feeds[table.name] = _read_stream(section.table, table, styles)
        else:
            changes[table.name] = _read_changes(section.table, table, styles)
    kept: dict[str, list[Arrival]] = {}
    late: dict[str, tuple[Arrival, ...]] = {}
    for name, feed in feeds.items():
        event_time = catalog.tables[name].event_time
        kept[name], dropped = without_late(feed, event_time.slack if event_time else 0)
        if dropped:
            late[name] = tuple(dropped)
    style = styles[0] if styles else TimeStyle.SECONDS
    return Arrivals(Timeline(kept, changes), _batches(feeds, changes), late, style)


def _batches(
    feeds: Mapping[str, Feed], changes: Mapping[str, Sequence[TableChange]]
) -> tuple[Timeline, ...]:
    count = max((len(feed.batches) for feed in feeds.values()), default=1)
    return tuple(
        Timeline(
            {n: f.batches[number] for n, f in feeds.items() if number < len(f.batches)},
            changes if number == 0 else {},
        )
        for number in range(count)
    )


def _declared(section: Section, catalog: Catalog) -> TableDeclaration:
    names = {name.lower(): table for name, table in catalog.tables.items()}
    known = ", ".join(f"`{name}`" for name in catalog.tables) or "none"
    if section.name is None:
        raise TestFileError(
            section.line, f"{section.role} of what?", f"name a table: {known} are declared"
        )
    if section.name.lower() not in names:
        raise TestFileError(
            section.line, f"`{section.name}` is not declared", f"declared are: {known}"
        )
    return names[section.name.lower()]


def _read_stream(text: TableText, table: TableDeclaration, styles: list[TimeStyle]) -> Feed:
    batches: list[list[Arrival]] = [[]]
    moves: list[int] = []
    for line, cells in text.rows:
        first, _, rest = cells[0].partition(" ")
        if first.lower() in ("cut", "watermark"):
            moves.append(_time(rest, line, styles) if first.lower() == "watermark" else BEGINNING)
            batches.append([])
        else:
            batches[-1].append(_read_row(text, line, cells, table, styles))
    return Feed(tuple(map(tuple, batches)), (*moves, BEGINNING))


def _read_changes(
    text: TableText, table: TableDeclaration, styles: list[TimeStyle]
) -> list[TableChange]:
    if "op" not in text.header:
        raise TestFileError(
            text.start,
            f"the changes of `{table.name}` have no column `op`",
            "add a column `op` with + for a row that comes and - for one that goes",
        )
    changes: list[TableChange] = []
    for line, cells in text.rows:
        time, values = _read_row(text, line, cells, table, styles)
        sign = _SIGNS.get(cells[text.header.index("op")])
        if sign is None:
            raise TestFileError(line, "`op` is neither + nor -", "write + or -")
        changes.append((time, sign, values))
        if table.kind is TableKind.NRR:
            _check_keys(changes, table, line)
    return changes


def _check_keys(changes: Sequence[TableChange], table: TableDeclaration, line: int) -> None:
    """Refuses a key of an NRR that is used again: old answers would seem to be of the new row."""
    _, sign, values = changes[-1]
    names = [column.name for column in table.columns]
    for key in table.keys:
        places = [names.index(column) for column in key]
        used = tuple(values[place] for place in places)
        before = (tuple(v[place] for place in places) for _, s, v in changes[:-1] if s < 0)
        if sign > 0 and used in before:
            shown = ", ".join(map(str, used))
            message = f"the key ({shown}) was deleted before, and keys of an NRR are not used again"
            raise TestFileError(line, message, "use another key, or declare a RELATION")


def _read_row(
    text: TableText,
    line: int,
    cells: tuple[str, ...],
    table: TableDeclaration,
    styles: list[TimeStyle],
) -> Arrival:
    if len(cells) != len(text.header):
        wanted = f"{len(text.header)} cells are wanted, as in the header"
        raise TestFileError(line, f"the row has {len(cells)} cells", wanted)
    row = dict(zip(text.header, cells, strict=True))
    event_time = table.event_time.column if table.event_time else None
    time_column = next((c for c in (*_TIME_COLUMNS, event_time) if c in row), None)
    if time_column is None:
        raise TestFileError(
            text.start, f"the rows of `{table.name}` have no time", "add a column `time`"
        )
    time = _time(row[time_column], line, styles)
    if event_time is not None:
        row.setdefault(event_time, row[time_column])
    _check_columns(text, table)
    return time, tuple(
        _value(row[column.name], line, column.name, table) if column.name in row else None
        for column in table.columns
    )


def _check_columns(text: TableText, table: TableDeclaration) -> None:
    known = {column.name for column in table.columns} | {*_TIME_COLUMNS, "op"}
    for name in text.header:
        if name not in known:
            columns = ", ".join(column.name for column in table.columns)
            raise TestFileError(
                text.start, f"`{table.name}` has no column `{name}`", f"its columns are: {columns}"
            )


def _value(cell: str, line: int, column: str, table: TableDeclaration) -> Value:
    try:
        return parse_cell(cell, table.column(column).type)
    except CellError as error:
        raise TestFileError(
            line, f"column `{column}`: {error}", "write NULL for no value"
        ) from None


def _time(cell: str, line: int, styles: list[TimeStyle]) -> int:
    parsed = parse_time(cell)
    if parsed is None:
        raise TestFileError(
            line, f"`{cell}` is not a time", "write 12.5, 00:00:12.5 or 2024-05-01 00:00:12.5"
        )
    styles.append(parsed[1])
    return parsed[0]
