"""cqlc: a compiler for continuous queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cqlc.compiler import Analysed, Compilation, analyse, compile_program
    from cqlc.diagnostics import CompileError, Diagnostic
    from cqlc.source import Source

__all__ = [
    "Analysed",
    "Compilation",
    "CompileError",
    "Diagnostic",
    "Source",
    "analyse",
    "compile_program",
]

_HOMES = {
    "CompileError": "cqlc.diagnostics",
    "Diagnostic": "cqlc.diagnostics",
    "Source": "cqlc.source",
}


def __getattr__(name: str) -> object:
    """Loads the public names when they are first used, so that `import cqlc` costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'cqlc' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "cqlc.compiler")), name)
