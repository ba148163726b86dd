"""Packages with one deliberate fault, to see that the checks notice it."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType


@dataclass(frozen=True)
class Fault:
    """A wrong line: in `file` of the package, `right` becomes `wrong`."""

    name: str
    file: str
    right: str
    wrong: str


@contextmanager
def faulty(package: ModuleType, fault: Fault, folder: Path) -> Iterator[ModuleType]:
    """A copy of `package`, under a name of its own, with the fault put in."""
    original = Path(package.__path__[0])
    name = "faulty_" + package.__name__.rsplit(".", 1)[-1]
    shutil.copytree(original, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder / name).glob("*.py"):
        text = path.read_text("utf-8")
        if path.name == fault.file:
            assert text.count(fault.right) == 1, f"{fault.name}: the line to break is not there"
            text = text.replace(fault.right, fault.wrong)
        path.write_text(text.replace(package.__name__, name), "utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
        for module in [m for m in sys.modules if m == name or m.startswith(name + ".")]:
            del sys.modules[module]
