"""Random queries judged by an engine nobody here wrote: DuckDB on the contents of the windows."""
