"""cqlc: a compiler for continuous queries."""
