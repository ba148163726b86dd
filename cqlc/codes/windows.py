"""Mistakes in the use of streams, relations and windows (CQL2xxx)."""

from cqlc.diagnostics import Code, Severity
