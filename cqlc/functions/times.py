"""Functions of times: TIMESTAMPs are microseconds in UTC, DATEs days, DURATIONs microseconds."""

from __future__ import annotations

from cqlc.datatypes import BIGINT, DATE, DOUBLE, DURATION, INT, STRING, TIMESTAMP
from cqlc.functions.build import scalar, takes
from cqlc.functions.signature import Nulls

_PART = takes(TIMESTAMP, gives=INT)
_DAYS = takes(DATE, INT, gives=DATE)

TIME_FUNCTIONS = (
    scalar("YEAR", _PART, meaning="the year"),
    scalar("QUARTER", _PART, meaning="the quarter of the year, 1 to 4"),
    scalar("MONTH", _PART, meaning="the month, 1 to 12"),
    scalar(
        "WEEK",
        _PART,
        meaning="the ISO week, 1 to 53",
        spark="weekofyear({0})",
        aliases=("WEEKOFYEAR",),
    ),
    scalar("DAY", _PART, meaning="the day of the month", aliases=("DAYOFMONTH",)),
    scalar("DAYOFWEEK", _PART, meaning="the day of the week, 1 is Sunday"),
    scalar("WEEKDAY", _PART, meaning="the day of the week, 0 is Monday"),
    scalar("DAYOFYEAR", _PART, meaning="the day of the year, 1 to 366", aliases=("DOY",)),
    scalar("HOUR", _PART, meaning="the hour, 0 to 23"),
    scalar("MINUTE", _PART, meaning="the minute, 0 to 59"),
    scalar("SECOND", _PART, meaning="the whole seconds, 0 to 59"),
    scalar(
        "DATE_TRUNC",
        takes(STRING, TIMESTAMP, gives=TIMESTAMP),
        meaning="the start of the YEAR, QUARTER, MONTH, WEEK (Monday), DAY, HOUR, MINUTE, SECOND, "
        "MILLISECOND or MICROSECOND a time lies in; NULL for another unit",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "DATE_FORMAT",
        takes(TIMESTAMP, STRING, gives=STRING),
        meaning="the time written by a pattern of yyyy MM dd HH mm ss SSS and the like",
    ),
    scalar(
        "TO_DATE",
        takes(STRING, STRING, gives=DATE, optional=1),
        meaning="the date a text stands for, by a pattern or as yyyy-MM-dd; NULL if none",
        nulls=Nulls.PARTIAL,
        spark="try_to_date({*})",
    ),
    scalar(
        "TO_TIMESTAMP",
        takes(STRING, STRING, gives=TIMESTAMP, optional=1),
        meaning="the time a text stands for, by a pattern or as yyyy-MM-dd HH:mm:ss; NULL if none",
        nulls=Nulls.PARTIAL,
        spark="try_to_timestamp({*})",
    ),
    scalar(
        "DATE",
        takes(TIMESTAMP, gives=DATE),
        meaning="the day a time lies in",
        spark="cast({0} as date)",
    ),
    scalar(
        "UNIX_SECONDS",
        takes(TIMESTAMP, gives=BIGINT),
        meaning="the whole seconds since 1970, rounded down",
        aliases=("UNIX_TIMESTAMP",),
    ),
    scalar(
        "UNIX_MILLIS",
        takes(TIMESTAMP, gives=BIGINT),
        meaning="the whole milliseconds since 1970, rounded down",
    ),
    scalar("UNIX_MICROS", takes(TIMESTAMP, gives=BIGINT), meaning="the microseconds since 1970"),
    scalar(
        "TIMESTAMP_SECONDS", takes(BIGINT, gives=TIMESTAMP), meaning="the time n seconds after 1970"
    ),
    scalar(
        "TIMESTAMP_MILLIS",
        takes(BIGINT, gives=TIMESTAMP),
        meaning="the time n milliseconds after 1970",
    ),
    scalar(
        "TIMESTAMP_MICROS",
        takes(BIGINT, gives=TIMESTAMP),
        meaning="the time n microseconds after 1970",
    ),
    scalar(
        "FROM_UNIXTIME",
        takes(BIGINT, STRING, gives=STRING, optional=1),
        meaning="n seconds after 1970 written by a pattern, or as yyyy-MM-dd HH:mm:ss",
    ),
    scalar("DATE_ADD", _DAYS, meaning="the date n days later", aliases=("DATEADD",)),
    scalar("DATE_SUB", _DAYS, meaning="the date n days earlier"),
    scalar(
        "DATEDIFF",
        takes(DATE, DATE, gives=INT),
        meaning="the days from the second date to the first",
        aliases=("DATE_DIFF",),
    ),
    scalar(
        "ADD_MONTHS",
        _DAYS,
        meaning="the date n months later, at most the last day of that month",
    ),
    scalar("LAST_DAY", takes(DATE, gives=DATE), meaning="the last day of the date's month"),
    scalar(
        "MAKE_DATE",
        takes(INT, INT, INT, gives=DATE),
        meaning="the date of year, month, day; NULL if there is none",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "MAKE_TIMESTAMP",
        takes(INT, INT, INT, INT, INT, DOUBLE, gives=TIMESTAMP),
        meaning="the time of year, month, day, hour, minute, seconds; NULL if there is none",
        spark="try_make_timestamp({0}, {1}, {2}, {3}, {4}, cast({5} as decimal(16,6)))",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "DURATION_MICROS",
        takes(DURATION, gives=BIGINT),
        meaning="the microseconds of a duration",
        spark="unix_micros(timestamp_micros(0) + {0})",
    ),
    scalar(
        "DURATION_SECONDS",
        takes(DURATION, gives=DOUBLE),
        meaning="the seconds of a duration, with their fraction",
        spark="unix_micros(timestamp_micros(0) + {0}) / 1000000D",
    ),
)
