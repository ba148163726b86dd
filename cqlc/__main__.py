"""`python -m cqlc`."""

from cqlc.cli import entry

entry()
