"""Loads the collector of Markdown cases, which serves `docs/` as well as `tests/`."""

pytest_plugins = ["tests.golden_markdown"]
