"""PS-42: verdicts, plans and repairs of random joins equal those found by enumeration.

`CQLC_FUZZ` sets the number of joins.
"""

from __future__ import annotations

import os
import random

from cqlc.analysis.punctuation import Verdict, check
from tests.analysis.punctuation import random_checks
from tests.analysis.punctuation.queries import (
    large_query,
    random_extended_query,
    random_query,
    ring,
)

COUNT = int(os.environ.get("CQLC_FUZZ", "5000"))


def test_ps_42_verdicts() -> None:
    counts = random_checks.verdicts(COUNT, seed=42)
    assert min(counts.get(v, 0) for v in Verdict) > COUNT // 50, counts


def test_ps_42_plans() -> None:
    generator = random.Random(43)
    for number in range(COUNT // 10):
        make = random_query if number % 2 else random_extended_query
        asked = make(generator)
        if not asked.bundles:
            random_checks.plans_agree(asked)


def test_repairs_and_needed_schemes_are_smallest() -> None:
    generator = random.Random(44)
    for number in range(COUNT // 20):
        make = random_query if number % 2 else random_extended_query
        random_checks.repairs_are_smallest(make(generator))


def test_every_repair_of_a_large_join_works() -> None:
    for seed in range(3):
        found = check(large_query(20, 60, 25, seed))
        assert found.verdict is Verdict.UNSAFE
        assert found.repairs.options
        for option in found.repairs.options:
            random_checks.irreducible(found.query, option.schemes)


def test_ring_needs_one_operator_and_all_schemes() -> None:
    found = check(ring(30))
    assert found.verdict is Verdict.SAFE
    assert len(found.needed) == 30
    assert str(found.plan) == f"({' '.join(f'S{i}' for i in range(30))})"
    broken = check(ring(12, punctuated=False))
    assert {len(o.schemes) for o in broken.repairs.options} == {12}
