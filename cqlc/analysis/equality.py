"""Equality of attributes, closed under implication."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Attribute:
    """A column of one input of a join."""

    stream: str
    column: str

    def __str__(self) -> str:
        return f"{self.stream}.{self.column}"


@dataclass(frozen=True, slots=True)
class Equality:
    """An equi-join predicate."""

    left: Attribute
    right: Attribute


def equality_classes(
    attributes: Iterable[Attribute], equalities: Iterable[Equality]
) -> dict[Attribute, int]:
    """The number of the class of every attribute: equal ones, through any chain, share a class."""
    parent: dict[Attribute, Attribute] = {a: a for a in attributes}

    def root(attribute: Attribute) -> Attribute:
        while parent[attribute] != attribute:
            parent[attribute] = parent[parent[attribute]]
            attribute = parent[attribute]
        return attribute

    for equality in equalities:
        parent[root(equality.left)] = root(equality.right)
    numbers: dict[Attribute, int] = {}
    return {a: numbers.setdefault(root(a), len(numbers)) for a in parent}
