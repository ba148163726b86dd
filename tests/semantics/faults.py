"""Deliberate faults: a piece of a definition's own text is replaced, and nothing else."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest


@dataclass(frozen=True)
class Fault:
    """A mistake in one function, and a test that must notice it."""

    about: str
    owner: Any
    """The module or class that holds the function."""
    function: str
    right: str
    wrong: str
    check: Callable[[], None]

    def plant(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Puts the faulty function wherever the right one is known."""
        original = getattr(self.owner, self.function)
        text = textwrap.dedent(inspect.getsource(original))
        assert text.count(self.right) >= 1, f"`{self.right}` is not in {self.function}"
        module = sys.modules[original.__module__]
        namespace: dict[str, Any] = dict(vars(module))
        code = "from __future__ import annotations\n" + text.replace(self.right, self.wrong)
        exec(compile(code, f"<fault: {self.about}>", "exec"), namespace)
        faulty = namespace[self.function]
        if not isinstance(self.owner, ModuleType):
            monkeypatch.setattr(self.owner, self.function, faulty)
            return
        for name, other in list(sys.modules.items()):
            if name.startswith(("cqlc.", "tests.")) and vars(other).get(self.function) is original:
                monkeypatch.setattr(other, self.function, faulty)
