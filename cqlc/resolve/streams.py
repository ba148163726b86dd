"""Relation-to-stream operators, INTERNAL windows, WSTREAM, restore, and CQL's defaults.

The operators are those of CQL; INTERNAL, WSTREAM and restore are L. Golab's ("Sliding Window
Query Processing over Data Streams", 2006, section 3.4), and so are most of the checks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from cqlc.algebra.plan import (
    Clock,
    Dstream,
    EveryChange,
    Grid,
    Istream,
    IstreamRestore,
    Now,
    Plan,
    Range,
    Relation,
    Rows,
    Rstream,
    RstreamRestore,
    Session,
    Stream,
    Unbounded,
    Window,
)
from cqlc.algebra.walk import inputs, map_relation
from cqlc.codes import windows as codes
from cqlc.diagnostics import Label
from cqlc.resolve.derived import Answer, Derived, Obstacle
from cqlc.resolve.environment import Environment
from cqlc.resolve.sorts import contents, visible
from cqlc.resolve.types import count, duration
from cqlc.syntax import ast

_Operator = ast.StreamOperator


def answer(derived: Derived, operator: ast.ToStream | None, env: Environment) -> Answer:
    """The query as a stream or relation: what its operator says, or what CQL assumes."""
    _check_slides(derived, env)
    possible = _check_internal(derived, env)
    if operator is None:
        return Answer(_default(derived) if possible else derived.rows, derived)
    if not _check_operator(operator, env):
        return Answer(derived.rows, derived)
    if operator.operator is _Operator.WSTREAM:
        windowed = _wstream(derived, operator, env)
        # The windows below no longer matter to what is built on top of this one.
        return Answer(windowed, replace(derived, windows=(), slides=(), aggregate=False))
    rows = derived.rows
    if possible and derived.internal and derived.aggregate:
        values = Istream(_external(derived), span=operator.span)
        if operator.operator is _Operator.ISTREAM and not operator.restore:
            return Answer(values, derived)
        rows = contents(values, env.facts)
    return Answer(_stream(rows, derived, operator, env), derived)


# ------------------------------------------------------------------------------------ defaults


def _default(derived: Derived) -> Plan:
    """A relation; but results over INTERNAL windows only ever grow, and are a stream."""
    internal = derived.internal
    if not internal:
        return derived.rows
    if derived.aggregate:
        return Istream(_external(derived), span=internal[0].span)
    growing = all(use.internal or not use.is_bounded for use in derived.windows)
    if growing and not derived.retroactive:
        return Istream(derived.rows, span=internal[0].span)
    return derived.rows


def _check_internal(derived: Derived, env: Environment) -> bool:
    """Whether the INTERNAL windows of a query, if any, may be so."""
    internal = derived.internal
    if not internal:
        return True
    window = internal[0]
    if derived.obstacles:
        obstacle = derived.obstacles[0]
        env.findings.report(
            codes.INTERNAL_NOT_POSSIBLE,
            f"a window below {obstacle.kind} cannot be INTERNAL",
            window.span,
            "results of this window would stay for ever",
            help="leave INTERNAL out; ISTREAM gives the stream of new results",
            related=(Label(obstacle.span, f"{obstacle.kind} takes results back"),),
        )
        return False
    external = [use for use in derived.windows if use.is_bounded and not use.internal]
    if derived.aggregate and external:
        env.findings.report(
            codes.MIXED_INTERNAL,
            "an aggregate's windows must all be INTERNAL or none",
            window.span,
            "INTERNAL here",
            help="write INTERNAL in every window, or in none",
            related=(Label(external[0].span, "but not here"),),
        )
        return False
    return True


# ----------------------------------------------------------------------------------- operators


def _check_operator(operator: ast.ToStream, env: Environment) -> bool:
    name, findings = operator.operator, env.findings
    if operator.restore and name in (_Operator.WSTREAM, _Operator.DSTREAM):
        findings.report(
            codes.RESTORE_NOT_DEFINED,
            f"{name}-RESTORE does not exist",
            operator.span,
            "restore is defined for ISTREAM and RSTREAM",
            help=f"write {name}, or ISTREAM-RESTORE for all results in between",
        )
        return False
    if (operator.window is not None) is not (name is _Operator.WSTREAM):
        missing = operator.window is None
        findings.report(
            codes.WSTREAM_WITHOUT_WINDOW,
            "WSTREAM needs a window after it" if missing else f"{name} has no output window",
            operator.span,
            "no window follows" if missing else "a window follows",
            help="write WSTREAM(..)[ROWS 10] or WSTREAM(..)[RANGE 1 MINUTE]",
        )
        return False
    if operator.every is not None and name is not _Operator.RSTREAM:
        findings.report(
            codes.EVERY_WITHOUT_RSTREAM,
            f"{name} has no clock: it reports changes when they happen",
            operator.every.span,
            "EVERY belongs to RSTREAM",
            help="use RSTREAM(..) EVERY .., or SLIDE in the window",
        )
        return False
    return True


def _stream(rows: Relation, derived: Derived, operator: ast.ToStream, env: Environment) -> Stream:
    grid = _grid(derived)
    restore = operator.restore and _check_restore(derived, operator, env)
    span = operator.span
    match operator.operator:
        case _Operator.DSTREAM:
            return Dstream(rows, span=span)
        case _Operator.RSTREAM:
            if restore and grid is not None:
                return RstreamRestore(rows, _continuous(rows), grid, span=span)
            return Rstream(rows, _clock(grid, operator, env), span=span)
        case _Operator.ISTREAM | _Operator.WSTREAM:
            if restore and grid is not None:
                return IstreamRestore(_continuous(rows), grid, span=span)
            return Istream(rows, span=span)


def _clock(grid: Grid | None, operator: ast.ToStream, env: Environment) -> Clock:
    if operator.every is not None:
        period = duration(operator.every, env.findings)
        if period == 0:
            env.findings.report(
                codes.BAD_WINDOW,
                "EVERY 0 is no length of time",
                operator.every.span,
                "a clock needs a period",
                help="leave EVERY out to report every change",
            )
        return Grid(period or 1)
    if grid is not None:
        return grid
    env.findings.report(
        codes.RSTREAM_AT_EVERY_CHANGE,
        "RSTREAM without SLIDE or EVERY reports all rows whenever any of them changes",
        operator.span,
        "no clock is given",
        help="write SLIDE d in the window or EVERY d after the operator; ISTREAM reports new rows",
    )
    return EveryChange()


def _wstream(derived: Derived, operator: ast.ToStream, env: Environment) -> Relation:
    """The output window over the stream of new results; input windows only bound state."""
    for obstacle in derived.obstacles:
        if obstacle.kind not in (Obstacle.SUBQUERY, Obstacle.SEMI_JOIN, Obstacle.RANKING):
            env.findings.report(
                codes.WSTREAM_OF_NEGATION,
                f"the output window may keep what {obstacle.kind} has taken back",
                operator.span,
                "rows leave this window by age or number only",
                help="use RSTREAM, or leave the operator out, for the current answer",
                related=(Label(obstacle.span, f"{obstacle.kind} is here"),),
            )
            break
    rows = derived.rows
    if derived.aggregate:
        rows = _external(derived)
    elif derived.is_simple:
        rows = _with_windows(derived, _internal)
    stream = Istream(rows, span=operator.span)
    window: Window | None = None
    match operator.window:
        case ast.OutputRows(text):
            size = count(text, operator.window.span, env.findings)
            window = None if size is None else Rows(stream, size, span=operator.window.span)
            if size is not None and derived.slides and not derived.aggregate:
                _many_rows(size, operator, env)
        case ast.OutputRange(written):
            length = duration(written, env.findings)
            if length == 0:
                env.findings.report(
                    codes.BAD_WINDOW,
                    "RANGE 0 is no length of time",
                    written.span,
                    "nothing fits into it",
                )
            elif length is not None:
                window = Range(stream, length, span=operator.window.span)
        case None:
            pass
    return visible(window or Unbounded(stream), env.facts)


def _many_rows(size: int, operator: ast.ToStream, env: Environment) -> None:
    env.findings.report(
        codes.WSTREAM_OF_MANY_ROWS,
        f"one evaluation may give more than the {size} rows that the output window holds",
        operator.span,
        "results of one instant are kept by their values, not by their age",
        help="use an output window by time: [RANGE ..]",
    )


# --------------------------------------------------------------------------- slides and restore


def _check_slides(derived: Derived, env: Environment) -> None:
    first = derived.slides[0] if derived.slides else None
    other = next((use for use in derived.slides if first and use.grid != first.grid), None)
    if first is not None and other is not None:
        env.findings.report(
            codes.DIFFERENT_SLIDES,
            "the windows of one query must slide together",
            other.span,
            "slides differently",
            help="use the same SLIDE and OFFSET, or put one part into a stream of its own",
            related=(Label(first.span, "from this window"),),
        )


def _check_restore(derived: Derived, operator: ast.ToStream, env: Environment) -> bool:
    if _grid(derived) is None:
        env.findings.report(
            codes.RESTORE_WITHOUT_SLIDE,
            "without SLIDE nothing is missed, so there is nothing to restore",
            operator.span,
            f"the same as {operator.operator}",
            help=f"write {operator.operator}, or add SLIDE to the windows",
        )
        return False
    for use in derived.windows:
        window = use.window
        if isinstance(window, Range) and window.slide and window.slide.period >= window.length:
            env.findings.report(
                codes.SLIDE_BEYOND_RANGE,
                "the windows do not overlap: a row may come and go between two evaluations",
                use.span,
                "SLIDE is not smaller than RANGE",
                help="restore reports such rows, too",
            )
    return True


def _grid(derived: Derived) -> Grid | None:
    """The grid the relation moves on: its own SLIDE, or that of all views it reads."""
    if derived.slides:
        return derived.slides[0].grid
    grids = {w.slide for w in _windows(derived.rows) if isinstance(w, Range) and w.slide}
    return grids.pop() if len(grids) == 1 else None


# ------------------------------------------------------------------------- windows of a relation


def _windows(rows: Relation) -> list[Window]:
    """The windows that a relation is made of, without those of the streams below them."""
    found: list[Window] = []

    def note(window: Window) -> Window:
        found.append(window)
        return window

    _mapped(rows, note)
    return found


def _continuous(rows: Relation) -> Relation:
    """The relation evaluated at every instant: without SLIDE."""
    return _mapped(rows, lambda w: replace(w, slide=None) if isinstance(w, Range) else w)


def _external(derived: Derived) -> Relation:
    return _with_windows(
        derived, lambda w: replace(w, internal=False) if isinstance(w, Range | Rows) else w
    )


def _internal(window: Window) -> Window:
    match window:
        case Range() | Rows():
            return replace(window, internal=True)
        case Now(stream):
            # [NOW] keeps a row for one tick, which is one microsecond.
            return Range(stream, 1, internal=True, span=window.span)
        case Unbounded() | Session():
            return window


def _with_windows(derived: Derived, change: Callable[[Window], Window]) -> Relation:
    """The relation with the windows written in this query changed; views keep theirs."""
    own = {id(use.window) for use in derived.windows}
    return _mapped(derived.rows, lambda w: change(w) if id(w) in own else w)


def _mapped(rows: Relation, change: Callable[[Window], Window]) -> Relation:
    images: dict[int, Relation] = {}

    def image(plan: Relation) -> Relation:
        if id(plan) not in images:
            match plan:
                case Now() | Unbounded() | Range() | Rows() | Session():
                    images[id(plan)] = change(plan)
                case _:
                    mapped = map_relation(plan, lambda stream: stream, image)
                    # Parts that did not change stay the same objects, so views stay shared.
                    pairs = zip(inputs(plan), inputs(mapped), strict=True)
                    images[id(plan)] = plan if all(a is b for a, b in pairs) else mapped
        return images[id(plan)]

    return image(rows)
