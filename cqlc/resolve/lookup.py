"""Names: comparing them, finding what they mean, and making new ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar

from cqlc.syntax import ast

T = TypeVar("T")


def dotted(name: ast.QualifiedName) -> ast.Name:
    """A qualified name as one name; quoted if any of its parts is."""
    if len(name.parts) == 1:
        return name.parts[0]
    text = ".".join(part.text for part in name.parts)
    return ast.Name(text, any(part.quoted for part in name.parts), span=name.span)


def same_name(written: ast.Name, declared: str) -> bool:
    """Whether a written name means the declared one: case counts in quoted names only."""
    if written.quoted:
        return written.text == declared
    return written.text.lower() == declared.lower()


class Names(Generic[T]):
    """Things by name. A name as written finds its exact spelling first, then any other case."""

    def __init__(self, entries: Iterable[tuple[str, T]] = ()) -> None:
        self._exact: dict[str, T] = {}
        self._folded: dict[str, str] = {}
        for name, thing in entries:
            self.add(name, thing)

    def add(self, name: str, thing: T) -> None:
        """Adds a thing; a name that is there already is replaced."""
        self._exact[name] = thing
        self._folded.setdefault(name.lower(), name)

    def find(self, name: ast.Name) -> T | None:
        """What a written name means."""
        if name.text in self._exact:
            return self._exact[name.text]
        if name.quoted:
            return None
        spelled = self._folded.get(name.text.lower())
        return None if spelled is None else self._exact[spelled]

    def taken(self, name: ast.Name) -> bool:
        """Whether a new thing of this name would be hard to tell from an old one."""
        return name.text in self._exact or (not name.quoted and name.text.lower() in self._folded)

    def __iter__(self) -> Iterator[str]:
        return iter(self._exact)

    def things(self) -> Iterable[T]:
        """Everything that has a name."""
        return self._exact.values()

    def as_dict(self) -> dict[str, T]:
        """The things by their exact names."""
        return self._exact


class Fresh:
    """New names that differ from those already given, without regard to case.

    A name with an outer one also avoids the names of enclosing queries.
    """

    def __init__(self, outer: Fresh | None = None) -> None:
        self._outer = outer
        self._used: set[str] = set()

    def name(self, wanted: str) -> str:
        """`wanted`, or the first of wanted_1, wanted_2, ... that is free."""
        candidate, number = wanted, 0
        while self._taken(candidate.lower()):
            number += 1
            candidate = f"{wanted}_{number}"
        self._used.add(candidate.lower())
        return candidate

    def _taken(self, name: str) -> bool:
        scope: Fresh | None = self
        while scope is not None:
            if name in scope._used:
                return True
            scope = scope._outer
        return False
