"""Deliberate faults in the checker, and the check that notices each."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from cqlc.analysis import punctuation
from tests.analysis.mutants import Fault, faulty
from tests.analysis.punctuation import random_checks
from tests.analysis.punctuation.queries import query, random_query
from tests.analysis.punctuation.vectors import VECTORS, verify

Check = Callable[[ModuleType], None]


def vector(number: str) -> Check:
    """The check of one vector, called by its number."""

    def check(api: ModuleType) -> None:
        verify(VECTORS[number], api)

    check.__name__ = number
    return check


def _verdicts(api: ModuleType) -> None:
    random_checks.verdicts(400, 1, api)


def _plans(api: ModuleType) -> None:
    generator = random.Random(2)
    for _ in range(60):
        random_checks.plans_agree(random_query(generator, api), api)


def _band(api: ModuleType) -> None:
    """Punctuations close single values, so they are no use to a band join."""
    ends = api.Attribute("S", "ts"), api.Attribute("T", "ts")
    bounds = (api.Bound(*ends), api.Bound(*reversed(ends)))
    asked = replace(query("S T", "S.A=T.A", "S{ts} T{ts}", api), bounds=bounds)
    assert set(api.check(asked).stuck) == {"S", "T"}


FAULTS: list[tuple[Fault, Check]] = [
    (
        Fault(
            "only written equalities supply values",
            "graph.py",
            "needs = (union(owners[n] for n in those) for those in sources if not those & finite)",
            "needs = (_mask(k for k, other in enumerate(query.streams) if any("
            "{other.name, stream.name} == {e.left.stream, e.right.stream}"
            " and c in (e.left.column, e.right.column) for e in query.predicates))"
            " for c in scheme.columns)",
        ),
        vector("PS-16"),
    ),
    (
        Fault(
            "one column of a composite scheme is enough",
            "graph.py",
            "waiting = [len(rule.needs) for rule in graph.rules]",
            "waiting = [min(len(rule.needs), 1) for rule in graph.rules]",
        ),
        _verdicts,
    ),
    (
        Fault(
            "columns that join nothing are overlooked",
            "graph.py",
            "for those in sources if not those & finite",
            "for those in sources if owners[min(those)].bit_count() > 1",
        ),
        _verdicts,
    ),
    (
        Fault(
            "inputs of one stream do not share its schemes",
            "graph.py",
            "if scheme.source == stream.source and scheme.columns:",
            "if scheme.source == stream.name and scheme.columns:",
        ),
        vector("PS-38 both"),
    ),
    (
        Fault(
            "the search stops after the first input it closes",
            "graph.py",
            "        reached |= arrived\n",
            "        if chain:\n            break\n        reached |= arrived\n",
        ),
        _verdicts,
    ),
    (
        Fault(
            "only simple schemes make edges of the transformed graph",
            "transformed.py",
            "if origin != target and all(",
            "if origin != target and len(rule.scheme.columns) == 1 and all(",
        ),
        vector("PS-13"),
    ),
    (
        Fault(
            "the transformed graph is merged only once",
            "transformed.py",
            "if len(components) == len(nodes):",
            "if rounds or len(components) == len(nodes):",
        ),
        vector("PS-30"),
    ),
    (
        Fault(
            "an operator counts as purgeable when its first input is",
            "plans.py",
            "for b in blocks if graph.grows(b))",
            "for b in blocks[:1] if graph.grows(b))",
        ),
        vector("PS-5"),
    ),
    (
        Fault(
            "the first safe plan found is taken, not the best",
            "plans.py",
            "for cost, blocks in sorted(candidates):",
            "for cost, blocks in sorted(candidates, reverse=True):",
        ),
        _plans,
    ),
    (
        Fault(
            "rows of bounded windows are taken to close what they are joined with",
            "graph.py",
            "return block == 1 << rule.target or not stays",
            "return True",
        ),
        _verdicts,
    ),
    (
        Fault(
            "rows that expire free nothing else",
            "graph.py",
            "everything if reached & graph.expiring else reached",
            "reached",
        ),
        _verdicts,
    ),
    (
        Fault(
            "keys count like punctuations",
            "safety.py",
            "if not s.closing.needs_arrival",
            "if s.columns",
        ),
        _verdicts,
    ),
    (
        Fault(
            "a punctuation closes everything below its value",
            "graph.py",
            "suppliers[number] if scheme.closing.by_range else frozenset((number,))",
            "suppliers[number]",
        ),
        _band,
    ),
    (
        Fault(
            "simple punctuations do not wait for their own group",
            "retirement.py",
            "graph.owners[n] & graph.all & ~own & ~closed.get(n, 0)",
            "closed.get(n, 0) & ~closed.get(n, 0)",
        ),
        vector("PS-5"),
    ),
    (
        Fault(
            "repairs look at one input of a stream only",
            "repair.py",
            'which = attribute.column if readers[source] > 1 else ""',
            'which = ""',
        ),
        vector("two inputs, one scheme"),
    ),
    (
        Fault(
            "parts that expire are cut like others",
            "repair.py",
            "for part in (unreached,) if unreached & known.expiring else parts:",
            "for part in parts:",
        ),
        vector("expiring input"),
    ),
]


@pytest.mark.parametrize("check", {check.__name__: check for _, check in FAULTS}.values())
def test_checks_pass_without_a_fault(check: Check) -> None:
    check(punctuation)


@pytest.mark.parametrize(("fault", "check"), FAULTS, ids=[f.name for f, _ in FAULTS])
def test_fault_is_noticed(fault: Fault, check: Check, tmp_path: Path) -> None:
    with faulty(punctuation, fault, tmp_path) as api, pytest.raises(AssertionError):
        check(api)
