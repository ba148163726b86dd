"""The hundred vectors, and the four examples of Golab's thesis."""

from __future__ import annotations

import pytest

from cqlc.analysis.bounded_memory import analyse
from tests.analysis.bounded_memory.text import Builder
from tests.analysis.bounded_memory.vectors import VECTORS, Vector, verify


@pytest.mark.parametrize("found", VECTORS.values(), ids=VECTORS.keys())
def test_vector(found: Vector) -> None:
    verify(found)


def test_there_are_a_hundred() -> None:
    assert len(VECTORS) == 100


@pytest.mark.parametrize(
    ("where", "with_duplicates", "without"),
    [
        ("A=D AND A>10 AND D<20", "Bounded", "Bounded"),
        ("A=D", "Unbounded", "Unbounded"),
        ("B<D AND A>10 AND A<20", "Unbounded", "Bounded"),
    ],
    ids=["closed join", "open join", "inequality"],
)
def test_thesis_joins(where: str, with_duplicates: str, without: str) -> None:
    """Golab's examples over S(A,B,C) and T(D,E), with and without duplicates."""
    for mode, expected in (("bag", with_duplicates), ("set", without)):
        query = Builder().query("S(A,B,C) T(D,E)", where, mode, "A")
        assert type(analyse(query)).__name__ == expected


def test_thesis_filter() -> None:
    for mode, expected in (("bag", "Bounded"), ("set", "Unbounded")):
        query = Builder().query("S(A,B,C)", "A>10", mode, "A")
        assert type(analyse(query)).__name__ == expected
