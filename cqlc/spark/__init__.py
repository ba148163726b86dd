"""Plans to PySpark Structured Streaming programs."""
