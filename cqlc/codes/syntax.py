"""Mistakes in the text (CQL0xxx)."""

from cqlc.diagnostics import Code, Severity
