"""Large queries: that they are what their generator says, for whoever measures them."""

from __future__ import annotations

import pytest

from cqlc.analysis.bounded_memory import analyse
from tests.analysis.bounded_memory.generator import large_query

SIZES = ((2, 10), (5, 50), (10, 100), (20, 200), (50, 500))


@pytest.mark.parametrize(("streams", "predicates"), SIZES)
@pytest.mark.parametrize("mode", ["bag", "set"])
def test_large_queries(streams: int, predicates: int, mode: str) -> None:
    for bounded, expected in ((True, "Bounded"), (False, "Unbounded")):
        query = large_query(streams, predicates, mode=mode, bounded=bounded)
        assert len(query.uses) == streams
        assert len(query.pieces[0].atoms) == predicates
        assert type(analyse(query)).__name__ == expected
