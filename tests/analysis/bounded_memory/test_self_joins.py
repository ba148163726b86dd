"""Self-joins: folding keeps answers, and every claim of growth has an input that shows it."""

from __future__ import annotations

import random
from collections import Counter
from types import ModuleType
from typing import Any

from cqlc.analysis import bounded_memory
from cqlc.analysis.bounded_memory import Unbounded, analyse
from cqlc.analysis.bounded_memory.adversary import witness
from cqlc.analysis.bounded_memory.closure import close
from cqlc.analysis.bounded_memory.criteria import Case
from cqlc.analysis.bounded_memory.fold import fold
from tests.analysis.bounded_memory.evaluate import answer
from tests.analysis.bounded_memory.random_checks import told_apart
from tests.analysis.bounded_memory.text import Builder

SHAPES = ("S1(A,B) S2(C,D)", "S1(A,B) S2(C,D) T1(E) T2(F)", "S1(A,B) S2(C,D) S3(E,F)")


def self_join(generator: random.Random, mode: str, api: ModuleType = bounded_memory) -> Any:
    shape = generator.choice(SHAPES)
    names = [name for name in "ABCDEF" if f"{name}," in shape or f"{name})" in shape]
    atoms: list[str] = []
    for _ in range(generator.randint(1, 4)):
        left, right = generator.sample(names, 2)
        constant = generator.random() < 0.25
        op = generator.choice(("<", "<=", "="))
        atoms.append(f"{left}{op}{generator.choice((1, 4)) if constant else right}")
    shown = ",".join(name for name in names if generator.random() < 0.15)
    bases = {"S1": "S", "S2": "S", "S3": "S", "T1": "T", "T2": "T"}
    return Builder(api).query(shape, " AND ".join(atoms), mode, shown, bases=bases)


def test_folding_keeps_the_answer() -> None:
    """On random instances, a folded query answers what the whole one does."""
    generator = random.Random(1)
    folded = answered = 0
    for _ in range(600):
        query = self_join(generator, "set")
        closure = close(query.attributes, query.pieces[0].atoms)
        if closure is None:
            continue
        less = fold(Case(query, query.pieces[0], closure), query.head)
        if len(less.query.uses) == len(query.uses):
            continue
        folded += 1
        smaller = _alone(less)
        for _ in range(6):
            rows = [_row(query, generator) for _ in range(5)]
            whole, part = answer(query, rows), answer(smaller, rows)
            assert _shown(whole) == _shown(part), query
            answered += bool(whole)
    assert folded > 60
    assert answered > 100


def _alone(case: Case) -> Any:
    """The folded query with the one piece that was folded."""
    from dataclasses import replace

    return replace(case.query, pieces=(case.piece,))


def _shown(found: Counter[Any]) -> set[frozenset[Any]]:
    """Answers as sets of values: outputs that are equal may be shown once in a folded query."""
    return {frozenset(row) for row in found}


def _row(query: Any, generator: random.Random) -> tuple[str, dict[str, int]]:
    use = generator.choice(query.uses)
    return use.base, {a.name: generator.randint(-1, 5) for a in use.attributes}


def test_claims_of_growth_have_an_input() -> None:
    generator = random.Random(2)
    seen: Counter[tuple[str, str]] = Counter()
    for _ in range(500):
        mode = generator.choice(("bag", "set"))
        query = self_join(generator, mode)
        verdict = analyse(query)
        seen[mode, type(verdict).__name__] += 1
        if isinstance(verdict, Unbounded):
            assert told_apart(query, witness(verdict.case, verdict.violations[0], 3)) == 28, query
    assert seen["bag", "Unbounded"] > 80
    assert seen["set", "Unknown"] > 20
