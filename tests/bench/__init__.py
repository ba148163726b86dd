"""Measurements: figures and ratios, each from one run, written to docs/benchmarks.md.

`python -m tests.bench [SECTION ...]` runs all sections or those named.
"""
