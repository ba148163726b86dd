"""The logical algebra: two sorts, streams and relations, and the expressions over their rows."""
