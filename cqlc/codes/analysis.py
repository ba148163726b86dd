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

UNSAFE_JOIN = Code("CQL3201", "state that punctuations cannot free", Severity.WARNING)
USELESS_SCHEME = Code("CQL3202", "punctuations of no use to a query", Severity.NOTE)
LASTING_PUNCTUATIONS = Code("CQL3203", "punctuations that are never obsolete", Severity.WARNING)
DANGLING_ROWS = Code("CQL3204", "rows stay if their values never arrive", Severity.NOTE)
KEYLESS_JOIN = Code("CQL3205", "join that is safe only as a whole", Severity.NOTE)

IDLE_CONSTRAINT = Code("CQL3301", "constraint that saves nothing", Severity.NOTE)
MANY_MANY_JOIN = Code("CQL3302", "join of many rows with many", Severity.NOTE)
CYCLIC_JOINS = Code("CQL3303", "references in a cycle", Severity.NOTE)
DANGLING_CHILDREN = Code("CQL3304", "rows that are never referenced stay", Severity.NOTE)
CONSTRAINTS_TOO_FEW = Code("CQL3305", "rows stay in spite of constraints", Severity.NOTE)
