"""Random queries of the theory, small ones for the oracles and large ones for timing."""

from __future__ import annotations

import random
from types import ModuleType
from typing import Any

from cqlc.analysis import bounded_memory
from tests.analysis.bounded_memory.text import Builder

AGGREGATES = ("count", "sum", "avg", "min", "max", "countd", "median")


def random_query(
    generator: random.Random,
    api: ModuleType = bounded_memory,
    *,
    modes: tuple[str, ...] = ("bag", "set"),
    domains: tuple[str, ...] = ("int", "dense"),
    most_attributes: int = 5,
) -> Any:
    """One to three streams, at most two constants, up to six atoms."""
    streams = _streams(generator, most_attributes)
    names = [name for attributes in streams for name in attributes]
    constants = generator.sample(range(0, 7), generator.randint(0, 2))
    atoms: list[str] = []
    for _ in range(generator.randint(1, 6)):
        atoms.append(_atom(generator, names, constants))
    mode = generator.choice(modes)
    likely = 0.2 if mode != "agg" else 0.05
    chosen = [name for name in names if generator.random() < likely]
    text = " ".join(f"{'STU'[i]}({','.join(attributes)})" for i, attributes in enumerate(streams))
    aggs = tuple(_aggregate(generator, names) for _ in range(generator.randint(1, 2)))
    return Builder(api).query(
        text,
        " AND ".join(atoms),
        mode,
        ",".join(chosen),
        ",".join(chosen),
        aggs if mode == "agg" else (),
        generator.choice(domains),
    )


def _streams(generator: random.Random, most: int) -> list[list[str]]:
    while True:
        sizes = [generator.randint(1, 3) for _ in range(generator.choice([1, 2, 2, 2, 3, 3]))]
        if sum(sizes) <= most:
            break
    letters = iter("ABCDEFGHI")
    return [[next(letters) for _ in range(size)] for size in sizes]


def _atom(generator: random.Random, names: list[str], constants: list[int]) -> str:
    if constants and generator.random() < 0.4:
        op = generator.choice(["<", "<=", "=", ">", ">="])
        return f"{generator.choice(names)}{op}{generator.choice(constants)}"
    if len(names) == 1:
        return f"{names[0]}<={names[0]}"
    left, right = generator.sample(names, 2)
    return f"{left}{generator.choice(['<', '<', '<=', '<=', '='])}{right}"


def _aggregate(generator: random.Random, names: list[str]) -> str:
    function = generator.choice(AGGREGATES)
    argument = "*" if function == "count" else generator.choice(names)
    return f"{function}({argument})"


def large_query(
    streams: int, predicates: int, *, mode: str = "set", seed: int = 1, bounded: bool = False
) -> Any:
    """A query over many streams: a random mixture, or one that is bounded and has to be searched.

    The bounded ones compare the larger sides of odd streams with the smaller sides of even ones, so
    that no two comparisons of a stream point in different directions or can be placed apart.
    """
    generator = random.Random(seed)
    width = 4
    names = [[f"a{i}_{j}" for j in range(width)] for i in range(streams)]
    text = " ".join(f"S{i}({','.join(attributes)})" for i, attributes in enumerate(names))
    make = _bounded_atoms if bounded else _mixed_atoms
    atoms = make(generator, names, predicates)
    return Builder().query(text, " AND ".join(atoms), mode)


def _mixed_atoms(generator: random.Random, names: list[list[str]], count: int) -> list[str]:
    """Order along the streams (so that all of it is satisfiable), with some filters."""
    atoms: list[str] = []
    for _ in range(count):
        i, j = sorted(generator.sample(range(len(names)), 2))
        left, right = generator.choice(names[i]), generator.choice(names[j])
        kind = generator.random()
        if kind < 0.3:
            atoms.append(f"{left}>=-{generator.randint(1000, 2000)}")
        else:
            atoms.append(f"{left}{generator.choice(['<', '<='])}{right}")
    return atoms


def _bounded_atoms(generator: random.Random, names: list[list[str]], count: int) -> list[str]:
    """Complete comparisons between pairs of streams, and equality joins with both bounds."""
    atoms: list[str] = []
    pairs = list(zip(names[::2], names[1::2], strict=False))
    for left, right in pairs:
        atoms += [f"{a}<={b}" for a in left for b in right]
    while len(atoms) < count:
        left = generator.choice(names)
        atoms.append(f"{generator.choice(left)}>=-{generator.randint(1000, 2000)}")
    generator.shuffle(atoms)
    return atoms[:count] if count < len(atoms) else atoms
