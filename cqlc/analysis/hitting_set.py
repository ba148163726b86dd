"""Smallest sets of declarations that meet every requirement: minimum hitting sets, found lazily.

Whoever asks knows, for a choice of declarations, some requirements it does not meet yet, each as
the declarations that would meet it. The problem is NP-hard (it holds Hamiltonian cycles), so the
search has a budget; when that is spent, a set from which nothing can be left out is returned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Generic, TypeVar

T = TypeVar("T")

Violated = Callable[[frozenset[T]], Iterable[tuple[T, ...]]]
"""Some requirements a choice does not meet, as the options that would; none if it meets them all.

A requirement without options cannot be met.
"""


@dataclass(frozen=True, slots=True)
class HittingSets(Generic[T]):
    """The sets found, and whether they are proved to be of the smallest size there is."""

    sets: tuple[frozenset[T], ...]
    smallest: bool


class _SpentError(Exception):
    """The budget is used up."""


def hitting_sets(violated: Violated[T], *, most: int, budget: int) -> HittingSets[T]:
    """Up to `most` smallest sets; no set at all if some requirement cannot be met.

    `budget` bounds how often `violated` is asked before the search settles for less.
    """
    search = _Search(violated, most, budget)
    found: list[frozenset[T]] = []
    try:
        for size in count():
            for one in search.of_size(size):
                found.append(one)
            if found or search.impossible:
                break
    except _SpentError:
        irreducible = None if found else _irreducible(violated)
        if irreducible is not None:
            return HittingSets((irreducible,), smallest=len(irreducible) == search.floor)
    return HittingSets(tuple(found), smallest=True)


def _irreducible(violated: Violated[T]) -> frozenset[T] | None:
    """A set that meets all requirements and of which no element can be left out, if one exists."""
    chosen: dict[T, None] = {}
    while unmet := tuple(violated(frozenset(chosen))):
        if () in unmet:
            return None
        missed = [options for options in unmet if chosen.keys().isdisjoint(options)]
        if not missed:
            raise ValueError("a requirement is unmet although one of its options is chosen")
        for options in missed:
            if chosen.keys().isdisjoint(options):
                chosen[options[0]] = None
    kept = frozenset(chosen)
    for element in reversed(chosen):
        if not any(True for _ in violated(kept - {element})):
            kept -= {element}
    return kept


class _Search(Generic[T]):
    """Depth-first search over choices, cut off by disjoint requirements still to be met."""

    def __init__(self, violated: Violated[T], most: int, budget: int) -> None:
        self.violated = violated
        self.most = most
        self.budget = budget
        self.floor = 0
        """A size no hitting set is below."""
        self.impossible = False

    def of_size(self, size: int) -> Iterator[frozenset[T]]:
        """The hitting sets of exactly `size` elements, given that there is no smaller one."""
        if size < self.floor:
            return
        found: set[frozenset[T]] = set()
        seen: set[frozenset[T]] = set()
        stack: list[frozenset[T]] = [frozenset()]
        while stack and len(found) < self.most:
            chosen = stack.pop()
            if chosen in seen:
                continue
            seen.add(chosen)
            requirements = self._ask(chosen)
            if not requirements:
                found.add(chosen)
                yield chosen
                continue
            if () in requirements:
                self.impossible = True
                return
            at_least = len(chosen) + _disjoint(requirements)
            if not chosen:
                self.floor = max(self.floor, at_least)
            if at_least <= size:
                forced = frozenset(r[0] for r in requirements if len(r) == 1)
                options = (
                    (forced,) if forced else (frozenset((o,)) for o in min(requirements, key=len))
                )
                stack += reversed([chosen | option for option in options])
        if not found:
            self.floor = max(self.floor, size + 1)

    def _ask(self, chosen: frozenset[T]) -> tuple[tuple[T, ...], ...]:
        if self.budget <= 0:
            raise _SpentError
        self.budget -= 1
        return tuple(self.violated(chosen))


def _disjoint(requirements: Iterable[tuple[T, ...]]) -> int:
    """How many requirements, at least, no two of which can be met by one declaration."""
    used: set[T] = set()
    found = 0
    for options in sorted(requirements, key=len):
        if used.isdisjoint(options):
            used.update(options)
            found += 1
    return found
