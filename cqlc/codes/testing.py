"""Mistakes in tests of queries (CQL5xxx)."""

from cqlc.diagnostics import Code

BAD_TEST = Code("CQL5001", "test cannot be read")
