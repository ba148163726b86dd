"""Mistakes in the use of streams, relations and windows (CQL2xxx)."""

from cqlc.diagnostics import Code, Severity

WINDOW_ON_RELATION = Code("CQL2001", "window on a relation")
WINDOW_ON_LATEST_VALUE = Code("CQL2002", "window on an aggregate that only has its latest value")
BAD_WINDOW = Code("CQL2003", "window that holds nothing")
STREAM_OF_STREAM = Code("CQL2004", "relation-to-stream operator on a stream")
INTERNAL_NOT_POSSIBLE = Code("CQL2005", "INTERNAL window below an operator that takes rows back")
WSTREAM_OF_NEGATION = Code(
    "CQL2006", "WSTREAM of an operator that takes rows back", Severity.WARNING
)
RESTORE_NOT_DEFINED = Code("CQL2007", "restore is not defined for this operator")
DIFFERENT_SLIDES = Code("CQL2008", "windows of one query slide differently")
RESTORE_WITHOUT_SLIDE = Code("CQL2009", "restore without SLIDE changes nothing", Severity.WARNING)
WSTREAM_OF_MANY_ROWS = Code(
    "CQL2010", "output window smaller than one evaluation's results", Severity.WARNING
)
SLIDE_BEYOND_RANGE = Code("CQL2011", "windows do not overlap", Severity.NOTE)
RSTREAM_AT_EVERY_CHANGE = Code("CQL2012", "RSTREAM without a clock", Severity.NOTE)
MIXED_INTERNAL = Code("CQL2013", "INTERNAL on some windows of an aggregation")
NRR_ALONE = Code("CQL2014", "NRR without a stream to look it up")
NRR_NOT_LOOKED_UP = Code("CQL2015", "NRR where rows of their own are needed")
CORRELATED_STREAM = Code("CQL2016", "stream that depends on a row of an outer query")
ORDER_WITHOUT_LIMIT = Code("CQL2017", "ORDER BY without LIMIT has no effect", Severity.NOTE)
LIMIT_WITHOUT_ORDER = Code("CQL2018", "LIMIT without ORDER BY", Severity.NOTE)
LIMIT_ON_STREAM = Code("CQL2019", "LIMIT on a stream")
SHEDDING_NOT_POSSIBLE = Code("CQL2020", "load shedding without a window join")
EVERY_WITHOUT_RSTREAM = Code("CQL2021", "EVERY on an operator other than RSTREAM")
WSTREAM_WITHOUT_WINDOW = Code("CQL2022", "WSTREAM without its window, or a window without WSTREAM")
NESTED_WSTREAM_MISUSED = Code("CQL2023", "nested WSTREAM in the wrong place")
