"""KC-31: constraints that hold lose no result, and states are as the analysis promises.

`CQLC_FUZZ` sets the number of runs.
"""

from __future__ import annotations

import os

from tests.analysis.k_constraints import random_checks

COUNT = int(os.environ.get("CQLC_FUZZ", "2000"))


def test_kc_31_no_result_is_lost() -> None:
    results, saved = random_checks.loses_nothing(COUNT, seed=31)
    assert results > 3 * COUNT, "runs without results prove nothing"
    assert saved > 0.1


def test_kc_31_too_small_k_loses_but_never_invents() -> None:
    assert random_checks.invents_nothing(COUNT // 10, seed=32) > COUNT // 100


def test_components_empty_as_promised() -> None:
    seen = random_checks.outcome_is_kept_promise(COUNT // 20, seed=33)
    assert seen["CLOSING"] > COUNT // 40
    assert seen["LIMITED"] > COUNT // 80
    assert seen["KEPT with rows"] > seen["KEPT"], "most of what is said to stay does stay"


def test_repairs_are_smallest() -> None:
    sizes = random_checks.repairs_are_smallest(COUNT // 40, seed=34)
    assert max(sizes) >= 3
