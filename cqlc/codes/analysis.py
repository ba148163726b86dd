"""Findings of the analyses (CQL3xxx)."""

from cqlc.diagnostics import Code, Severity

NRR_JOIN_OVER_STRICT = Code("CQL3001", "NRR looked up by rows that may be taken back")
RELATION_JOIN_OVER_STRICT = Code(
    "CQL3002", "relation joined with rows that may be taken back", Severity.NOTE
)
NRR_WITHOUT_KEY = Code("CQL3003", "NRR without a key", Severity.WARNING)
