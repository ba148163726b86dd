"""The parts of syntax tree nodes, and how deep they are nested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from cqlc.syntax.ast import Node

MAX_DEPTH = 100
"""Trees deeper than this are refused; all other walks over trees are recursive."""


def parts(node: Node) -> Iterator[Node]:
    """The nodes that a node is made of, in the order of its fields."""
    for name in node.__match_args__:
        yield from _nodes(getattr(node, name))


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, tuple):
        for item in cast("tuple[Any, ...]", value):
            yield from _nodes(item)


def too_deep(node: Node) -> Node | None:
    """The first node found deeper than `MAX_DEPTH`, without recursion."""
    level = [node]
    for _ in range(MAX_DEPTH):
        level = [part for parent in level for part in parts(parent)]
        if not level:
            return None
    return level[0]
