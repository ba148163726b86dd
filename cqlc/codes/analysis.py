"""Findings of the analyses (CQL3xxx)."""

from cqlc.diagnostics import Code, Severity
