"""Syntax tree nodes from the rules of the grammar: one function for each rule or alternative.

A function has the name of its rule. It gets the place of the text and the values of the rule's
parts; parts left out are None. Tokens that only spell the rule are left out too, unless the
function is marked as `spelled`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cqlc.syntax.builder import declarations, expressions, names, queries


def actions() -> dict[str, Callable[..., Any]]:
    """The functions of all rules by the names of the rules."""
    return {
        name: value
        for module in (names, expressions, queries, declarations)
        for name, value in vars(module).items()
        if callable(value) and getattr(value, "__module__", "") == module.__name__
    }
