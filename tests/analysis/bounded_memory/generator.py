"""Random queries of the theory, small ones for the oracles and large ones for timing."""

from __future__ import annotations

import random
from itertools import pairwise
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

    A bounded one has at least as many predicates as it takes to join all its streams.
    """
    generator = random.Random(seed)
    names = [[f"a{i}_{j}" for j in range(4)] for i in range(streams)]
    text = " ".join(f"S{i}({','.join(attributes)})" for i, attributes in enumerate(names))
    if not bounded:
        atoms = _mixed_atoms(generator, names, predicates)
    elif mode == "set":
        atoms = _compared_atoms(generator, names, predicates)
    else:
        atoms = _chained_atoms(generator, names, predicates)
    return Builder().query(text, " AND ".join(atoms), mode)


def _mixed_atoms(generator: random.Random, names: list[list[str]], count: int) -> list[str]:
    """Order along the streams (so that all of it is satisfiable), with some filters."""
    atoms: list[str] = []
    for _ in range(count):
        i, j = sorted(generator.sample(range(len(names)), 2))
        left, right = generator.choice(names[i]), generator.choice(names[j])
        if generator.random() < 0.3:
            atoms.append(f"{left}>={_constant(generator)}")
        else:
            atoms.append(f"{left}{generator.choice(['<', '<='])}{right}")
    return atoms


def _compared_atoms(generator: random.Random, names: list[list[str]], count: int) -> list[str]:
    """Complete comparisons within pairs of streams, so that one row stands for all, and filters."""
    pairs = list(zip(names[::2], names[1::2], strict=False))
    width = max(w for w in (1, 2, 3, 4) if w == 1 or w * w * len(pairs) <= count)
    atoms = [f"{a}<={b}" for left, right in pairs for a in left[:width] for b in right[:width]]
    return _filled(generator, names, atoms, count)


def _chained_atoms(generator: random.Random, names: list[list[str]], count: int) -> list[str]:
    """Equality joins along the streams whose values have both bounds, and filters."""
    atoms = [f"{names[0][0]}>=1", f"{names[0][0]}<=9"]
    atoms += [f"{left[0]}={right[0]}" for left, right in pairwise(names)]
    return _filled(generator, names, atoms, count)


def _filled(
    generator: random.Random, names: list[list[str]], atoms: list[str], count: int
) -> list[str]:
    """The atoms with as many lower bounds as are missing, in any order."""
    while len(atoms) < count:
        atoms.append(f"{generator.choice(generator.choice(names))}>={_constant(generator)}")
    generator.shuffle(atoms)
    return atoms


def _constant(generator: random.Random) -> int:
    return -generator.randint(1000, 2000)
