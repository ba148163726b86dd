"""Findings of the analyses (CQL3xxx)."""

from cqlc.diagnostics import Code, Severity

NRR_JOIN_OVER_STRICT = Code("CQL3001", "NRR looked up by rows that may be taken back")
RELATION_JOIN_OVER_STRICT = Code(
    "CQL3002", "relation joined with rows that may be taken back", Severity.NOTE
)
NRR_WITHOUT_KEY = Code("CQL3003", "NRR without a key", Severity.WARNING)

UNBOUNDED_OUTPUT = Code("CQL3101", "answer has values without bound", Severity.WARNING)
UNBOUNDED_EQUALITY = Code("CQL3102", "equality join over values without bound", Severity.WARNING)
UNBOUNDED_COUNTS = Code("CQL3103", "inequality join has to count partners", Severity.WARNING)
UNBOUNDED_DIRECTIONS = Code("CQL3104", "comparisons single out every row", Severity.WARNING)
UNBOUNDED_GROUPS = Code("CQL3105", "groups without bound", Severity.WARNING)
UNBOUNDED_VALUES = Code("CQL3106", "aggregate has to remember every value", Severity.WARNING)
UNBOUNDED_EXTREME = Code("CQL3107", "MIN or MAX works against a comparison", Severity.WARNING)
UNBOUNDED_LIST = Code("CQL3108", "answer lists every row", Severity.WARNING)
BOUND_UNKNOWN = Code("CQL3110", "no proof that memory is bounded or not", Severity.NOTE)
BOUND_LARGE = Code("CQL3111", "memory is bounded, but large", Severity.WARNING)
