"""One small Spark session for all tests of a worker that need it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """A local session with the state store that columnar operators need."""
    from tests.runtime.streaming import session

    started = session()
    yield started
    started.stop()
