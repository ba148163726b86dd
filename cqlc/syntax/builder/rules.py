"""How functions of rules ask for all their tokens, and how they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from cqlc.diagnostics import Diagnostic

_Function = TypeVar("_Function", bound=Callable[..., Any])

SPELLED: set[Callable[..., Any]] = set()


def spelled(function: _Function) -> _Function:
    """Marks a function that gets every token of its rule."""
    SPELLED.add(function)
    return function


class RefusedError(Exception):
    """A text that follows the grammar and still says nothing."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        self.diagnostic = diagnostic
        super().__init__(diagnostic.message)
