"""Windows: from brackets in FROM to the operators that make a stream a relation."""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.algebra.plan import (
    Grid,
    Now,
    Range,
    Rows,
    Session,
    Stream,
    Unbounded,
    Window,
)
from cqlc.algebra.schema import Schema
from cqlc.codes import names as name_codes
from cqlc.codes import windows as codes
from cqlc.resolve.derived import SlideUse, WindowUse
from cqlc.resolve.findings import Findings
from cqlc.resolve.lookup import same_name
from cqlc.resolve.types import count, duration
from cqlc.source import Span
from cqlc.suggest import closest
from cqlc.syntax import ast


@dataclass(frozen=True, slots=True)
class Windowed:
    """A stream to be windowed: its columns, the names it goes by, and its tie-breaking column."""

    stream: Stream
    schema: Schema
    names: tuple[str, ...]
    sequence: str | None = None


def window(
    source: Windowed, written: ast.Window | None, span: Span, findings: Findings
) -> WindowUse:
    """The window that was written; all rows so far if none was, or if it is broken."""
    stream = source.stream
    everything = WindowUse(Unbounded(stream, span=span), span)
    if written is None:
        return everything
    place = written.span
    match written:
        case ast.NowWindow():
            return WindowUse(Now(stream, span=place), place)
        case ast.UnboundedWindow(internal):
            return WindowUse(Unbounded(stream, span=place), place, internal)
        case ast.RangeWindow():
            found: Window | None = _range(source, written, findings)
            internal = written.internal
        case ast.RowsWindow():
            found, internal = _rows(source, written, findings), written.internal
        case ast.SessionWindow():
            found, internal = _session(source, written, findings), False
    return everything if found is None else WindowUse(found, place, internal)


def slide_of(use: WindowUse) -> tuple[SlideUse, ...]:
    """The window's SLIDE, if it has one."""
    if isinstance(use.window, Range) and use.window.slide is not None:
        return (SlideUse(use.window.slide, use.span),)
    return ()


def _range(source: Windowed, written: ast.RangeWindow, findings: Findings) -> Range | None:
    length = _positive(written.length, "RANGE", findings)
    if length is None:
        return None
    grid = None
    if written.slide is not None:
        period = _positive(written.slide, "SLIDE", findings)
        offset = 0 if written.offset is None else duration(written.offset, findings)
        if period is None or offset is None:
            return None
        grid = Grid(period, offset % period)
    return Range(source.stream, length, grid, written.internal, span=written.span)


def _positive(written: ast.Duration, what: str, findings: Findings) -> int | None:
    length = duration(written, findings)
    if length == 0:
        findings.report(
            codes.BAD_WINDOW,
            f"{what} 0 is no length of time",
            written.span,
            "nothing fits into it",
            help="the rows of the present instant are [NOW]",
        )
        return None
    return length


def _rows(source: Windowed, written: ast.RowsWindow, findings: Findings) -> Rows | None:
    rows = count(written.rows, written.span, findings)
    slide = 1 if written.slide is None else count(written.slide, written.span, findings)
    age = None if written.range is None else _positive(written.range, "RANGE", findings)
    partition = _partition(source, written.partition, findings)
    broken = written.range is not None and age is None
    if rows is None or slide is None or partition is None or broken:
        return None
    return Rows(
        source.stream,
        rows,
        partition,
        age,
        slide,
        source.sequence,
        written.internal,
        span=written.span,
    )


def _session(source: Windowed, written: ast.SessionWindow, findings: Findings) -> Session | None:
    gap = _positive(written.gap, "SESSION", findings)
    partition = _partition(source, written.partition, findings)
    for field in source.schema:
        if field.name in ("session_start", "session_end"):
            findings.report(
                codes.BAD_WINDOW,
                f"a session window adds {field.name}, which the stream has already",
                written.span,
                "two columns of one name",
                help="rename the stream's column in a view",
            )
            return None
    if gap is None or partition is None:
        return None
    return Session(source.stream, gap, partition, span=written.span)


def _partition(
    source: Windowed, written: tuple[ast.QualifiedName, ...], findings: Findings
) -> tuple[str, ...] | None:
    found: list[str] = []
    for name in written:
        qualifier, last = name.parts[:-1], name.parts[-1]
        field = next((f for f in source.schema if same_name(last, f.name)), None)
        known = not qualifier or any(same_name(qualifier[-1], own) for own in source.names)
        if field is None or not known:
            near = closest(last.text, (f.name for f in source.schema if not f.hidden))
            findings.report(
                name_codes.UNKNOWN_COLUMN,
                f"{source.names[0]} has no column {'.'.join(p.text for p in name.parts)}",
                name.span,
                "a window is partitioned by columns of its own stream",
                help=f"did you mean {near}?" if near and known else "",
            )
            return None
        found.append(field.name)
    return tuple(dict.fromkeys(found))
