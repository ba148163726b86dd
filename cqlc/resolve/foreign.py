"""Functions of other systems, and the CQL way of what they do."""

from __future__ import annotations

_TUMBLE = "a tumbling window is [RANGE 10 SECONDS SLIDE 10 SECONDS] after the stream's name in FROM"
_BOUNDARY = (
    "RSTREAM with SLIDE reports at a window's end: that is the element's _time, and the start is "
    "_time minus the RANGE"
)
_NO_CLOCK = "a query has no clock of its own; a stream element's time is its column _time"
_NO_CHANCE = "a rerun must give the same answer; put random numbers into the data"
_SESSION = "a session window is [PARTITION BY k SESSION 10 SECONDS] after the stream's name"
_ROWS = "look back with a second window: FROM s [PARTITION BY k ROWS 2]"

FOREIGN_FUNCTIONS: dict[str, str] = {
    "TUMBLE": _TUMBLE,
    "WINDOW": _TUMBLE,
    "HOP": "a hopping window is [RANGE 10 SECONDS SLIDE 2 SECONDS] after the stream's name in FROM",
    "SESSION": _SESSION,
    "SESSION_WINDOW": _SESSION,
    "CUMULATE": "there are no cumulating windows; use [RANGE 1 DAY SLIDE 1 HOUR]",
    "TUMBLE_START": _BOUNDARY,
    "TUMBLE_END": _BOUNDARY,
    "HOP_START": _BOUNDARY,
    "HOP_END": _BOUNDARY,
    "WINDOW_TIME": _BOUNDARY,
    "LAG": _ROWS,
    "LEAD": _ROWS,
    "SPLIT_INDEX": "SPLIT(s, d)[i] counts from 0, SPLIT_PART(s, d, i) from 1",
    "TRY_CAST": "CAST gives NULL where a value cannot be converted",
    "DECODE": "use CASE",
    "TO_TIMESTAMP_LTZ": "use TIMESTAMP_SECONDS(n) or TIMESTAMP_MILLIS(n)",
    "TIMESTAMPDIFF": "subtract the times: DURATION_SECONDS(a - b)",
    "TIMESTAMPADD": "add a length of time: t + 5 MINUTES",
}
"""What to write instead of functions that CQL expresses differently."""

UNCERTAIN_FUNCTIONS: dict[str, str] = {
    "NOW": _NO_CLOCK,
    "CURRENT_TIMESTAMP": _NO_CLOCK,
    "CURRENT_DATE": _NO_CLOCK,
    "CURRENT_TIME": _NO_CLOCK,
    "LOCALTIMESTAMP": _NO_CLOCK,
    "PROCTIME": _NO_CLOCK,
    "RAND": _NO_CHANCE,
    "RANDOM": _NO_CHANCE,
    "RANDN": _NO_CHANCE,
    "UUID": _NO_CHANCE,
    "MONOTONICALLY_INCREASING_ID": _NO_CHANCE,
}
"""Why functions that depend on the moment or on chance are missing, and what to do instead."""

FOREIGN_COLUMNS: dict[str, str] = {
    "session_start": "SESSION_START needs a [SESSION gap] window in FROM",
    "session_end": "SESSION_END needs a [SESSION gap] window in FROM",
    "rowtime": _NO_CLOCK,
    "proctime": _NO_CLOCK,
    "current_timestamp": _NO_CLOCK,
    "current_date": _NO_CLOCK,
    "localtimestamp": _NO_CLOCK,
    "window_start": _BOUNDARY,
    "window_end": _BOUNDARY,
}
"""What to write instead of names that other systems know without declaring them."""
