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

_STEPS = 40
"""How many choices the search may look at for every question the budget allows."""


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
    requirements = _Requirements(violated)
    search = _Search(requirements, most, budget)
    found: list[frozenset[T]] = []
    try:
        for size in count():
            for one in search.of_size(size):
                found.append(one)
            if found or search.impossible:
                break
    except _SpentError:
        irreducible = None if found else _irreducible(requirements)
        if irreducible is not None:
            return HittingSets((irreducible,), smallest=len(irreducible) == search.floor)
    return HittingSets(tuple(found), smallest=True)


class _Requirements(Generic[T]):
    """The requirements heard of so far; a choice that meets all of them is asked about anew."""

    def __init__(self, violated: Violated[T]) -> None:
        self.violated = violated
        self.known: dict[tuple[T, ...], None] = {}
        self.asked = 0

    def unmet(self, chosen: frozenset[T]) -> list[tuple[T, ...]]:
        """Some requirements the choice does not meet; none if it meets them all."""
        missed = [options for options in self.known if chosen.isdisjoint(options)]
        return missed or list(dict.fromkeys(self._ask(chosen)))

    def are_met(self, chosen: frozenset[T]) -> bool:
        """Whether the choice meets all requirements."""
        known = any(chosen.isdisjoint(options) for options in self.known)
        return not known and next(self._ask(chosen), None) is None

    def _ask(self, chosen: frozenset[T]) -> Iterator[tuple[T, ...]]:
        self.asked += 1
        for options in self.violated(chosen):
            if not chosen.isdisjoint(options):
                raise ValueError("a requirement is unmet although one of its options is chosen")
            self.known[options] = None
            yield options


def _irreducible(requirements: _Requirements[T]) -> frozenset[T] | None:
    """A set that meets all requirements and of which no element can be left out, if one exists."""
    chosen: dict[T, None] = {}
    while unmet := requirements.unmet(frozenset(chosen)):
        if () in unmet:
            return None
        for options in unmet:
            if chosen.keys().isdisjoint(options):
                chosen[options[0]] = None
    kept = frozenset(chosen)
    for element in reversed(chosen):
        if requirements.are_met(kept - {element}):
            kept -= {element}
    return kept


class _Search(Generic[T]):
    """Depth-first search over choices, cut off by disjoint requirements still to be met."""

    def __init__(self, requirements: _Requirements[T], most: int, budget: int) -> None:
        self.requirements = requirements
        self.most = most
        self.budget = budget
        self.steps = budget * _STEPS
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
            unmet = self._unmet(chosen)
            if not unmet:
                found.add(chosen)
                yield chosen
                continue
            if () in unmet:
                self.impossible = True
                return
            at_least = len(chosen) + _disjoint(unmet)
            if not chosen:
                self.floor = max(self.floor, at_least)
            if at_least <= size:
                stack += reversed([chosen | option for option in _branches(unmet)])
        if not found:
            self.floor = max(self.floor, size + 1)

    def _unmet(self, chosen: frozenset[T]) -> list[tuple[T, ...]]:
        self.steps -= 1
        if self.steps < 0 or self.requirements.asked >= self.budget:
            raise _SpentError
        return self.requirements.unmet(chosen)


def _branches(unmet: list[tuple[T, ...]]) -> list[frozenset[T]]:
    """What to choose next: all that is forced, or else one option of the narrowest requirement."""
    forced = frozenset(options[0] for options in unmet if len(options) == 1)
    return [forced] if forced else [frozenset((option,)) for option in min(unmet, key=len)]


def _disjoint(requirements: Iterable[tuple[T, ...]]) -> int:
    """How many requirements, at least, no two of which can be met by one declaration."""
    used: set[T] = set()
    found = 0
    for options in sorted(requirements, key=len):
        if used.isdisjoint(options):
            used.update(options)
            found += 1
    return found
