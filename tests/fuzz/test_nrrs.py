"""Joins with NRRs against DuckDB: each result reads the table as it was before its own time."""

from __future__ import annotations

import os
import random
from collections import Counter

import pytest

from cqlc.algebra.plan import Stream
from cqlc.compiler import compile_program
from cqlc.semantics import Meaning
from tests.fuzz.contents import LAST, SECOND
from tests.fuzz.queries import DECLARATIONS, WINDOWS
from tests.fuzz.test_duckdb import judge

QUERIES = int(os.environ.get("CQLC_FUZZ", "5000")) // 50
ALONE = [w for w in WINDOWS if "SLIDE" not in w and "SESSION" not in w]

BEFORE = """(
    SELECT a, e
    FROM (SELECT a, e, SUM(sign) AS n FROM N WHERE t < {time} GROUP BY a, e) AS v, range(n::BIGINT)
) AS y"""
"""The NRR as it was before the time of a result."""


@pytest.mark.parametrize("number", range(QUERIES))
def test_the_reference_agrees_with_duckdb_on_nrrs(number: int) -> None:
    rng = random.Random(number)
    first, second = rng.choice(ALONE), rng.choice(ALONE)
    two, outer = rng.random() < 0.5, rng.random() < 0.4
    condition = rng.choice(("x.a = y.a", "x.a = y.a AND y.e > 0", "x.a < y.e"))
    items = "x.a, x.b, y.e" + (", z.d" if two else "")
    sources = f"S [{first}] AS x" if first else "S AS x"
    if two and outer:
        sources += (
            f" JOIN T [{second}] AS z ON x.a = z.a" if second else " JOIN T AS z ON x.a = z.a"
        )
    elif two:
        sources += f", T [{second}] AS z" if second else ", T AS z"
    join = f"LEFT JOIN N AS y ON {condition}" if outer else ", N AS y"
    where = " AND ".join((["x.a = z.a"] if two else []) + ([] if outer else [condition]))
    text = f"SELECT {items} FROM {sources} {join}" + (f" WHERE {where}" if where else "")
    program = f"{DECLARATIONS} CREATE NRR N (a INT, e INT); {text};"
    plan = compile_program(program).require().queries[0].plan
    assert not isinstance(plan, Stream)
    history = judge(rng.randrange(8))
    meaning = Meaning(history.timeline, tick=SECOND)
    for at in rng.sample(range(1, LAST + 5), 5):
        left = f"{history.contents('S', first, at)} AS x"
        if two:
            left += f" JOIN {history.contents('T', second, at)} AS z ON x.a = z.a"
        time = "greatest(x._t, z._t)" if two else "x._t"
        kind = "LEFT JOIN" if outer else "JOIN"
        sql = f"SELECT {items} FROM {left} {kind} LATERAL {BEFORE.format(time=time)} ON {condition}"
        expected = Counter(history.answer(sql))
        assert meaning.relation(plan, at * SECOND) == expected, f"at {at}, from {text}"
