"""The reference against DuckDB: random queries at random instants."""

from __future__ import annotations

import os
import random
from collections import Counter
from functools import cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cqlc.algebra.plan import Stream
from cqlc.compiler import compile_program
from cqlc.semantics import Meaning, Values
from tests.fuzz.contents import LAST, SECOND, Judge
from tests.fuzz.queries import DECLARATIONS, Query, random_query

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
@given(st.integers(0, 2**48))
def test_the_reference_agrees_with_duckdb(number: int) -> None:
    """Everything is drawn from one number, since hypothesis never tries the same one twice."""
    rng = random.Random(number)
    query, history = random_query(rng), judge(rng.randrange(8))
    operator = rng.choice(("", "", "", "ISTREAM", "DSTREAM"))
    agree(query, history, sorted(rng.sample(range(1, LAST + 5), INSTANTS)), operator)


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
