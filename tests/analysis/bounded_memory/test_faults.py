"""Deliberate faults in the analysis, and the check that notices each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from cqlc.analysis import bounded_memory
from tests.analysis.bounded_memory import random_checks
from tests.analysis.bounded_memory.test_closure import chains
from tests.analysis.bounded_memory.vectors import VECTORS, verify
from tests.analysis.mutants import Fault, faulty

Check = Callable[[ModuleType], object]


def vector(number: str) -> Check:
    return lambda api: verify(VECTORS[number], api)


def _expansion(api: ModuleType) -> object:
    return random_checks.expansion(1500, 1, api)


def _witnesses(api: ModuleType) -> object:
    return random_checks.witnesses(600, 3, ("bag", "set"), api)


def _synopses(api: ModuleType) -> object:
    return random_checks.synopses(300, 4, api)


FAULTS: list[tuple[Fault, Check]] = [
    (
        Fault(
            "a strict comparison leaves no gap on the way up",
            "closure.py",
            "return None if position is None else position + (not self._open(position))",
            "return position",
        ),
        # The way down still steps over strict comparisons, so that no verdict changes: only the
        # size does, here 4 combinations of 2 values (A in 2..3, B in 1..2).
        vector("BM-D05"),
    ),
    (
        Fault(
            "a strict comparison is taken for a loose one",
            "closure.py",
            "above[low][high] = above[low].get(high, False) or strict",
            "above[low][high] = False",
        ),
        chains,
    ),
    (
        Fault(
            "one bound is enough",
            "closure.py",
            "return self.low is not None and self.high is not None\n\n    def count",
            "return self.low is not None or self.high is not None\n\n    def count",
        ),
        vector("BM-P02"),
    ),
    (
        Fault(
            "an interval of a dense order is finite",
            "closure.py",
            "return self.values is not None or self.pinned",
            "return self.low is not None and self.low > -1 and self.high is not None",
        ),
        vector("BM-D11"),
    ),
    (
        Fault(
            "a strict cycle goes unnoticed",
            "closure.py",
            "        elif strict:\n            return None\n",
            "",
        ),
        vector("BM-D09"),
    ),
    (
        Fault(
            "one stream is never bounded by duplicates",
            "criteria.py",
            "if len(case.query.uses) == 1 and not distinct:",
            "if len(case.query.uses) == 1:",
        ),
        vector("BM-D02"),
    ),
    (
        Fault(
            "equality joins are free",
            "criteria.py",
            "return (*_equalities(case), *third, *_opaque(case))",
            "return (*third, *_opaque(case))",
        ),
        vector("BM-D23"),
    ),
    (
        Fault(
            "a larger and a smaller side never clash in one region",
            "criteria.py",
            "places = _together(case, one, other) or _stacked(case, one, other, opposed=True)",
            "places = _stacked(case, one, other, opposed=True)",
        ),
        vector("BM-D46"),
    ),
    (
        Fault(
            "joins can be placed apart whatever the order says",
            "criteria.py",
            "free = not case.closure.below(upper.low, lower.high)",
            "free = True",
        ),
        vector("BM-D41"),
    ),
    (
        Fault(
            "joins below all constants are overlooked",
            "criteria.py",
            "return range(-1 if below.low is None else 1, 2 if above.high is None else 0, 2)",
            "return range(1, 2 if above.high is None else 0, 2)",
        ),
        _expansion,
    ),
    (
        Fault(
            "the printed rule for MAX",
            "aggregates.py",
            "        violation = extreme_violation(enlarged, aggregate, probe)\n",
            "        violation = None\n",
        ),
        vector("BM-D64"),
    ),
    (
        Fault(
            "COUNT ignores duplicates",
            "aggregates.py",
            "        case AggregateKind.COUNT:\n            return _Need(aggregate, proof)",
            "        case AggregateKind.COUNT:\n            return None",
        ),
        vector("BM-D62"),
    ),
    (
        Fault(
            "occurrences fold one at a time",
            "fold.py",
            "if len(set(images)) < len(images):",
            "if len(set(images)) == len(images) - 1:",
        ),
        vector("BM-J3"),
    ),
    (
        Fault(
            "rows of all slots come from one block",
            "adversary.py",
            "index = number if place.rising else self.blocks - 1 - number",
            "index = 0 * number",
        ),
        _witnesses,
    ),
    (
        Fault(
            "both comparisons move the same way",
            "adversary.py",
            "index = number if place.rising else self.blocks - 1 - number",
            "index = number",
        ),
        _witnesses,
    ),
    (
        Fault(
            "a synopsis forgets the joined attributes",
            "synopsis.py",
            "wanted = joined | answered",
            "wanted = answered",
        ),
        _synopses,
    ),
]


@pytest.mark.parametrize(("fault", "check"), FAULTS, ids=[fault.name for fault, _ in FAULTS])
def test_fault_is_noticed(fault: Fault, check: Check, tmp_path: Path) -> None:
    check(bounded_memory)
    with faulty(bounded_memory, fault, tmp_path) as broken, pytest.raises(AssertionError):
        check(broken)
