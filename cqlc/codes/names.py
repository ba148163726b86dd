"""Mistakes in names and types (CQL1xxx)."""

from cqlc.diagnostics import Code, Severity
