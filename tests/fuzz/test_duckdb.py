"""The reference against DuckDB: random queries at random instants."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cqlc.algebra.plan import Stream
from cqlc.compiler import compile_program
from cqlc.semantics import Meaning, Values
from tests.fuzz.contents import LAST, SECOND, Judge
from tests.fuzz.queries import DECLARATIONS, Query, queries

PAIRS = int(os.environ.get("CQLC_FUZZ", "5000"))
"""How many pairs of a query and an instant are judged."""

INSTANTS = 5
judge = cache(Judge)


@settings(
    max_examples=PAIRS // INSTANTS,
    deadline=None,
    derandomize="CQLC_FUZZ" not in os.environ,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(
    queries(),
    st.integers(0, 7),
    st.lists(st.integers(0, LAST + 4), min_size=INSTANTS, max_size=INSTANTS, unique=True),
    st.sampled_from(("", "", "", "ISTREAM", "DSTREAM")),
)
def test_the_reference_agrees_with_duckdb(
    query: Query, seed: int, instants: list[int], operator: str
) -> None:
    agree(query, judge(seed), sorted(instants), operator)


def agree(query: Query, history: Judge, instants: list[int], operator: str = "") -> None:
    """Compares both answers at some seconds; `operator` asks for what comes or goes then."""
    text = f"{operator}({query.cql})" if operator else query.cql
    plan = compile_program(f"{DECLARATIONS}{text};").require().queries[0].plan
    meaning = Meaning(history.timeline, tick=SECOND)
    for at in instants:
        if isinstance(plan, Stream):
            elements = (v[:-1] for t, v in meaning.stream(plan) if t == at * SECOND)
            got = Counter(elements)
        else:
            got = meaning.relation(plan, at * SECOND)
        expected = _expected(query, history, at, operator)
        assert got == expected, f"at {at}, from {text}"


def _expected(query: Query, history: Judge, at: int, operator: str) -> Counter[Values]:
    now = _answer(query, history, at)
    if not operator:
        return now
    before = _answer(query, history, at - 1)
    return now - before if operator == "ISTREAM" else before - now


def _answer(query: Query, history: Judge, at: int) -> Counter[Values]:
    sql = query.sql(lambda name, window: history.contents(name, window, at))
    return Counter(history.answer(sql))
