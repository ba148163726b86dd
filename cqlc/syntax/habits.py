"""What people write who come from SQL, Flink, Spark or ksqlDB, and how CQL says it.

Each rule looks at the place where reading stopped and says something only if it knows the habit.
"""

from __future__ import annotations

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Diagnostic, Fix, Label
from cqlc.source import Span
from cqlc.syntax.failure import Failure
from cqlc.syntax.foreign_windows import length_at, window_call

_FOREIGN_STATEMENTS = """
    ALTER ANALYZE BEGIN CALL COMMIT DELETE DESCRIBE DROP EXECUTE EXPLAIN GRANT LOAD MERGE SET SHOW
    TRUNCATE UPDATE USE
"""
_OPTIONS = {
    "path": "path",
    "topic": "subscribe",
    "properties.bootstrap.servers": "kafka.bootstrap.servers",
}
"""Spark's names of some options of Flink."""

_FRAMES = (
    ("PRECEDING", "]"),
    ("PRECEDING",),
    ("FOLLOWING",),
    ("CURRENT", "ROW"),
    ("ROWS", "BETWEEN"),
    ("RANGE", "BETWEEN"),
)
_NOISE = (
    ("OR", "REPLACE"),
    ("IF", "NOT", "EXISTS"),
    ("NOT", "ENFORCED"),
    ("MATERIALIZED",),
    ("TEMPORARY",),
    ("TEMP",),
    ("RECURSIVE",),
)


def _window_function(failure: Failure) -> Diagnostic | None:
    return window_call(failure.tokens, failure.index + 2)


def _watermark(failure: Failure) -> Diagnostic | None:
    """`WATERMARK FOR ts AS ts - INTERVAL '5' SECOND` among columns, or `withWatermark(...)`."""
    words = [token.text.upper() for token in failure.tokens[: failure.index + 1]]
    if "WITHWATERMARK" in words:
        place = words.index("WITHWATERMARK")
    elif "WATERMARK" in words and failure.follows(words.index("WATERMARK") + 1, "FOR"):
        place = words.index("WATERMARK")
    else:
        return None
    return Diagnostic(
        codes.WATERMARK,
        "event time and lateness are declared behind the columns",
        Label(failure.span(place), "a watermark of another language"),
        help="write CREATE STREAM s (...) TIMESTAMP BY ts SLACK 5 SECONDS",
        fix=_watermark_fix(failure, place),
    )


def _watermark_fix(failure: Failure, place: int) -> Fix | None:
    """Moves `, WATERMARK FOR ts AS ts - d )` at the end of the columns behind them."""
    column = failure.word(place + 2)
    length = length_at(failure.tokens, place + 6)
    if length is None or not failure.follows(place + 3, "AS", column, "-"):
        return None
    slack, index = length
    if failure.word(place - 1) != "," or failure.word(index) != ")":
        return None
    text = f") TIMESTAMP BY {failure.tokens[place + 2].text} SLACK {slack}"
    return Fix("declare the event time behind the columns", failure.span(place - 1, index), text)


def _interval(failure: Failure) -> Diagnostic | None:
    """`INTERVAL '5' MINUTE`, and strings where a duration is wanted."""
    place = failure.near("INTERVAL")
    if place is None:
        if failure.kind(failure.index) != "STRING" or "NUMBER" not in failure.accepts:
            return None
        place = failure.index
    length = length_at(failure.tokens, place)
    if length is None and failure.word(place) != "INTERVAL":
        return None
    fix = None
    if length is not None:
        text, behind = length
        fix = Fix("write the duration plainly", failure.span(place, behind - 1), text)
    return Diagnostic(
        codes.INTERVAL,
        "a duration is a number and a unit",
        Label(failure.span(place), "written as in another language"),
        help=f"write {length[0] if length else '5 MINUTES'}",
        fix=fix,
    )


def _emit(failure: Failure) -> Diagnostic | None:
    place = failure.near("EMIT", back=2)
    if place is None:
        return None
    fix = None
    if failure.follows(place, "EMIT", "CHANGES") and place + 2 == len(failure.tokens) and place:
        before = Span(failure.tokens[place - 1].end, failure.tokens[-1].end)
        fix = Fix("remove it: a relation is reported as its changes anyway", before, "")
    return Diagnostic(
        codes.EMIT,
        "what a query reports is said by ISTREAM, DSTREAM or RSTREAM, or by none of them",
        Label(failure.span(place), "not part of CQL"),
        help="a query without operator reports its changes; ISTREAM(...) reports new rows only; "
        "a window with SLIDE reports when it ends",
        fix=fix,
    )


def _create_table(failure: Failure) -> Diagnostic | None:
    place = failure.near("TABLE", back=2)
    if place is None or failure.word(0) not in ("CREATE", "REGISTER") or place > 2:
        return None
    return Diagnostic(
        codes.CREATE_TABLE,
        "a table is a STREAM, a RELATION or an NRR",
        Label(failure.span(place), "which of the three?"),
        help="STREAM: rows arrive and stay; RELATION: rows change, and old results with them; "
        "NRR: rows change, and results already given stay",
    )


def _connector(failure: Failure) -> Diagnostic | None:
    """`WITH ('connector' = 'kafka', ...)` behind the columns."""
    place = failure.index
    if failure.word(0) != "CREATE" or not failure.follows(place, "WITH", "("):
        return None
    return Diagnostic(
        codes.CONNECTOR,
        "where data comes from is said by FROM format OPTIONS (...)",
        Label(failure.span(place), "as in another language"),
        help="write FROM kafka OPTIONS (subscribe 'topic'), with the options of the Spark source",
        fix=_connector_fix(failure, place),
    )


def _connector_fix(failure: Failure, place: int) -> Fix | None:
    """Certain only if Spark has all of the options."""
    pairs: dict[str, str] = {}
    index = place + 2
    while failure.kind(index) == "STRING" and failure.kind(index + 2) == "STRING":
        pairs[failure.tokens[index].text[1:-1]] = failure.tokens[index + 2].text
        index += 4 if failure.word(index + 3) == "," else 3
    format = pairs.pop("connector", "''")[1:-1]
    if format == "filesystem":
        format = pairs.pop("format", "''")[1:-1]
    if (
        not format.isidentifier()
        or failure.word(index) != ")"
        or not pairs.keys() <= _OPTIONS.keys()
    ):
        return None
    options = ", ".join(f"{_OPTIONS[key]} {value}" for key, value in pairs.items())
    text = f"FROM {format} OPTIONS ({options})" if pairs else f"FROM {format}"
    return Fix("name the format and its options", failure.span(place, index), text)


def _select_top(failure: Failure) -> Diagnostic | None:
    place = failure.index - 2
    if not failure.follows(place - 1, "SELECT", "TOP") or failure.kind(place + 1) != "NUMBER":
        return None
    count = failure.tokens[place + 1].text
    return Diagnostic(
        codes.SELECT_TOP,
        "the first rows are taken at the end of the query",
        Label(failure.span(place, place + 1), "not part of CQL"),
        help=f"write SELECT ... ORDER BY ... LIMIT {count}; the aggregate of the {count} most "
        f"frequent values is TOP {count} (x)",
    )


def _within(failure: Failure) -> Diagnostic | None:
    place = failure.near("WITHIN")
    if place is None:
        return None
    return Diagnostic(
        codes.WITHIN,
        "how long rows count, or wait for each other, is said by the windows of the streams",
        Label(failure.span(place), "not part of a query"),
        help="write FROM a [RANGE 1 HOUR] JOIN b [RANGE 1 HOUR] ON a.id = b.id",
    )


def _foreign_statement(failure: Failure) -> Diagnostic | None:
    if failure.word(0) not in _FOREIGN_STATEMENTS.split() or failure.index > 2:
        return None
    return Diagnostic(
        codes.FOREIGN_STATEMENT,
        f"CQL has no {failure.word(0)}: a program declares tables and asks queries",
        Label(failure.span(0), "no statement of CQL"),
        help="statements are CREATE STREAM|RELATION|NRR|VIEW|SINK|FUNCTION|CONSTRAINT, INSERT INTO "
        "and queries",
    )


def _frame(failure: Failure) -> Diagnostic | None:
    """`ROWS BETWEEN 5 PRECEDING AND CURRENT ROW`, `RANGE 5 MINUTES PRECEDING`."""
    for words in _FRAMES:
        place = failure.near(*words)
        if place is None:
            continue
        fix = None
        if words == ("PRECEDING", "]"):
            fix = Fix("remove it", Span(failure.span(place - 1).end, failure.span(place).end), "")
        return Diagnostic(
            codes.FRAME,
            "a window always ends now and has a length only",
            Label(failure.span(place), "frame bounds are not part of CQL"),
            help="write FROM s [RANGE 5 MINUTES] or FROM s [PARTITION BY key ROWS 5]",
            fix=fix,
        )
    return None


def _system_time(failure: Failure) -> Diagnostic | None:
    place = failure.near("FOR", "SYSTEM_TIME", back=2)
    if place is None:
        return None
    return Diagnostic(
        codes.SYSTEM_TIME,
        "a table that is read as of the row's time is an NRR",
        Label(failure.span(place, place + 3), "not part of CQL"),
        help="declare the table with CREATE NRR; a join then uses it as of each row's time",
    )


def _noise(failure: Failure) -> Diagnostic | None:
    """Words that say nothing in CQL; certain if the statement can be read without them."""
    for words in _NOISE:
        place = failure.near(*words)
        if place is None or place == 0:
            continue
        rest = [*failure.tokens[:place], *failure.tokens[place + len(words) :]]
        span = Span(failure.span(place - 1).end, failure.span(place + len(words) - 1).end)
        text = " ".join(words)
        return Diagnostic(
            codes.NOISE_WORD,
            f"{text} has no place in CQL",
            Label(failure.span(place, place + len(words) - 1), "says nothing here"),
            help="leave it out",
            fix=Fix(f"remove {text}", span, "") if failure.fits(rest) else None,
        )
    return None


def _natural_join(failure: Failure) -> Diagnostic | None:
    place = failure.near("NATURAL", "JOIN", back=6)
    if place is None:
        return None
    return Diagnostic(
        codes.NOISE_WORD,
        "NATURAL has no place in CQL",
        Label(failure.span(place), "which columns must be equal?"),
        help="name the columns: a JOIN b USING (id)",
    )


def _column_list(failure: Failure) -> Diagnostic | None:
    if not failure.follows(0, "INSERT", "INTO") or failure.word(3) != "(":
        return None
    if not all(
        failure.kind(i) in ("WORD", "QUOTED") or failure.word(i) == ","
        for i in range(4, failure.index)
    ):
        return None
    return Diagnostic(
        codes.COLUMN_LIST,
        "a sink takes the columns of the query as they are",
        Label(failure.span(3), "no list of columns here"),
        help="name and order the columns in the query: INSERT INTO sink SELECT a AS x, b AS y ...",
    )


HABITS = (
    _foreign_statement,
    _create_table,
    _watermark,
    _window_function,
    _interval,
    _emit,
    _connector,
    _select_top,
    _system_time,
    _frame,
    _noise,
    _natural_join,
    _within,
    _column_list,
)
"""The known habits; the more special ones come first."""
