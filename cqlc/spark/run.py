"""Runs programs: the source that `cqlc compile` writes is the source that is run."""

from __future__ import annotations

import sys
from itertools import count
from types import ModuleType

_numbers = count(1)


def load(source: str, name: str = "") -> ModuleType:
    """The module that the source of a program defines."""
    module = ModuleType(name or f"cqlc_program_{next(_numbers)}")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(source, f"<{module.__name__}>", "exec"), module.__dict__)
    return module
