"""What conjunctions imply: chains over integers, gaps of dense orders, holes and finite domains."""

from __future__ import annotations

import importlib
import random
from itertools import product
from types import ModuleType

import pytest

from cqlc.analysis import bounded_memory
from tests.analysis.bounded_memory.evaluate import holds
from tests.analysis.bounded_memory.text import Builder

CHAINS = {
    "strict steps add up": (
        "A>3 AND A<B AND B<C",
        {"A": (4, None), "B": (5, None), "C": (6, None)},
    ),
    "and come down": ("C<9 AND A<B AND B<C", {"A": (None, 6), "B": (None, 7), "C": (None, 8)}),
    "loose steps do not": ("A>3 AND A<=B", {"A": (4, None), "B": (4, None)}),
    "equality carries bounds": ("A=B AND A>3 AND B<9", {"A": (4, 8), "B": (4, 8)}),
    "a circle of loose steps is equality": ("A<=B AND B<=A AND A=3", {"B": (3, 3)}),
    "holes move bounds": ("A>=3 AND A<>3 AND A<>4 AND A<B", {"A": (5, None), "B": (6, None)}),
    "finite domains round": ("A IN{1;5;9} AND A>1 AND A<B", {"A": (5, 9), "B": (6, None)}),
}
"""Conditions over integers, with the bounds that follow by hand."""

IMPOSSIBLE = (
    "A<B AND A>=4 AND B<=4",
    "A<B AND B<C AND A>=1 AND C<=2",
    "A<B AND B<A",
    "A<B AND B<=C AND C<=A",
    "A=3 AND A<>3",
    "A IN{1;5} AND A>1 AND A<5",
    "A IN{1;5} AND B IN{2;3} AND A=B",
    "A>3 AND A<4",
)


def chains(api: ModuleType) -> None:
    """The bounds of all chains, and that nothing satisfies the impossible ones."""
    close = importlib.import_module(api.__name__ + ".closure").close
    for where, expected in CHAINS.values():
        query = Builder(api).query("S(A,B,C)", where)
        closure = close(query.attributes, query.pieces[0].atoms)
        assert closure is not None
        found = {name: (closure.of(name).low, closure.of(name).high) for name in expected}
        assert found == expected
    for where in IMPOSSIBLE:
        query = Builder(api).query("S(A,B,C)", where)
        assert close(query.attributes, query.pieces[0].atoms) is None, where


def test_chains() -> None:
    chains(bounded_memory)


@pytest.mark.parametrize("where", ["A>3 AND A<4", "A<B AND A>=4 AND B<=5"])
def test_dense_orders_have_room(where: str) -> None:
    query = Builder().query("S(A,B,C)", where, domain="dense")
    close = importlib.import_module("cqlc.analysis.bounded_memory.closure").close
    assert close(query.attributes, query.pieces[0].atoms) is not None


def test_bounds_are_those_of_the_solutions() -> None:
    """On a small box: satisfiable there if and only if said so, with exactly these extremes."""
    close = importlib.import_module("cqlc.analysis.bounded_memory.closure").close
    generator = random.Random(1)
    both = {True: 0, False: 0}
    for _ in range(400):
        atoms = [f"{name}>=0 AND {name}<=4" for name in "ABC"]
        for _ in range(generator.randint(1, 7)):
            left, right = generator.sample("ABC", 2)
            atoms.append(
                generator.choice(
                    (
                        f"{left}{generator.choice(('<', '<=', '='))}{right}",
                        f"{left}<>{generator.randint(0, 4)}",
                        f"{left}IN{{{generator.randint(0, 2)};{generator.randint(2, 4)}}}",
                    )
                )
            )
        query = Builder().query("S(A,B,C)", " AND ".join(atoms))
        rows = (dict(zip("ABC", values, strict=True)) for values in product(range(5), repeat=3))
        solutions = [
            row for row in rows if all(holds(query, atom, row) for atom in query.pieces[0].atoms)
        ]
        closure = close(query.attributes, query.pieces[0].atoms)
        assert (closure is not None) == bool(solutions), atoms
        both[bool(solutions)] += 1
        for name in "ABC" if closure else ():
            values = [row[name] for row in solutions]
            assert (closure.of(name).low, closure.of(name).high) == (min(values), max(values))
    assert min(both.values()) > 50
