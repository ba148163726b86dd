"""What cannot be run on Spark, or not as asked (CQL4xxx)."""

from cqlc.diagnostics import Code, Severity

NEEDS_STRICT_RUNTIME = Code("CQL4001", "needs the strict runtime")
NO_STREAM = Code("CQL4003", "nothing streams in this query")
NO_SPARK_AGGREGATE = Code("CQL4004", "aggregate that Spark cannot compute")
NOTHING_LEAVES = Code("CQL4006", "nothing ever leaves the relation")
NETTING = Code("CQL4005", "equal rows are netted", Severity.NOTE)
