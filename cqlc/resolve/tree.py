"""Walking syntax trees, whatever they consist of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cqlc.syntax import ast


def nodes(root: ast.Node) -> Iterator[ast.Node]:
    """Every node of a tree, the root first."""
    stack: list[Any] = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            stack.extend(reversed(part))  # pyright: ignore[reportUnknownArgumentType]
        elif isinstance(part, ast.Node):
            yield part
            stack.extend(getattr(part, name) for name in reversed(_parts(part)))


def replaced(part: Any, images: Mapping[ast.Node, ast.Node]) -> Any:
    """The tree with nodes replaced by their images, the largest ones first."""
    if isinstance(part, tuple):
        return tuple(replaced(item, images) for item in part)  # pyright: ignore
    if not isinstance(part, ast.Node):
        return part
    if part in images:
        return images[part]
    return replace(part, **{name: replaced(getattr(part, name), images) for name in _parts(part)})


def _parts(node: ast.Node) -> tuple[str, ...]:
    return type(node).__match_args__  # pyright: ignore
