"""Columnar operators that run inside Spark's Python workers."""
