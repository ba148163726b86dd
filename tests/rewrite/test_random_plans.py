"""Rewriting keeps the meaning of random queries over random timelines."""

from __future__ import annotations

import os
import random
from collections import Counter
from functools import cache

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cqlc.algebra.plan import Plan, Stream
from cqlc.algebra.walk import schema_of
from cqlc.compiler import compile_program
from cqlc.rewrite import rewrite
from cqlc.semantics import Meaning, Timeline
from tests.fuzz.contents import SECOND, Judge
from tests.fuzz.queries import DECLARATIONS, random_query

QUERIES = int(os.environ.get("CQLC_FUZZ", "600"))


@cache
def timeline(seed: int) -> Timeline:
    return Judge(seed).timeline


def answer(plan: Plan, history: Timeline) -> Counter[tuple[object, ...]]:
    """Everything a plan answers, at every instant."""
    meaning = Meaning(history, tick=SECOND)
    if isinstance(plan, Stream):
        return Counter(meaning.stream(plan))
    return Counter(meaning.changelog(plan))


@settings(
    max_examples=QUERIES,
    deadline=None,
    derandomize="CQLC_FUZZ" not in os.environ,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)
@given(st.integers(0, 2**48))
def test_rewriting_keeps_the_meaning(number: int) -> None:
    rng = random.Random(number)
    query = random_query(rng).cql
    operator = rng.choice(("", "", "ISTREAM", "DSTREAM"))
    text = f"{operator}({query})" if operator else query
    compilation = compile_program(f"{DECLARATIONS}{text};").require()
    plan = compilation.queries[0].plan
    derivation = rewrite(plan, compilation.catalog)
    before, after = schema_of(plan), schema_of(derivation.result)
    assert [(f.name, f.type) for f in before] == [(f.name, f.type) for f in after]
    history = timeline(rng.randrange(8))
    laws = [step.law for step in derivation.steps]
    assert answer(derivation.result, history) == answer(plan, history), f"{text}\nby {laws}"
