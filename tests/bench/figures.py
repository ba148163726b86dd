"""A section of docs/benchmarks.md: a table of figures and the command that gives it."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
HEAD = """# Benchmarks

Every table is written by the command above it, from one run. Times depend on the machine and on
what else it does; believe ratios, and those above 2 rather than those near 1.
"""


@dataclass(frozen=True)
class Section:
    """One table of the page."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""


def cpu_seconds(code: str, repeat: int = 5) -> float:
    """The median CPU time of a fresh interpreter running `code`."""
    taken: list[float] = []
    for _ in range(repeat):
        before = os.times()
        subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
        after = os.times()
        taken.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    return median(taken)


def seconds(action: Callable[[], object], repeat: int = 5) -> float:
    """The median CPU time of an action in this process."""
    taken: list[float] = []
    for _ in range(repeat):
        start = time.process_time()
        action()
        taken.append(time.process_time() - start)
    return median(taken)


def milliseconds(value: float) -> str:
    """A time for a table."""
    return f"{value * 1000:.1f} ms"


def ratio(value: float) -> str:
    """A ratio for a table."""
    return f"{value:.2f}×"


def write(section: Section) -> None:
    """Puts a section on the page in place of the one of that name."""
    page = PAGE.read_text("utf-8") if PAGE.exists() else HEAD
    text = _text(section)
    pattern = re.compile(rf"<!-- {section.name} -->.*?<!-- end {section.name} -->\n", re.DOTALL)
    if pattern.search(page):
        page = pattern.sub(lambda _: text, page)
    else:
        page += "\n" + text
    PAGE.write_text(page, "utf-8")


def _text(section: Section) -> str:
    lines = [
        f"<!-- {section.name} -->",
        f"## {section.title}",
        "",
        f"`python -m tests.bench {section.name}` on {_machine()}.",
        "",
        "| " + " | ".join(section.columns) + " |",
        "|" + "---|" * len(section.columns),
        *("| " + " | ".join(row) + " |" for row in section.rows),
    ]
    if section.note:
        lines += ["", section.note]
    return "\n".join([*lines, f"<!-- end {section.name} -->"]) + "\n"


def _machine() -> str:
    cores = os.cpu_count()
    return f"{cores} cores, Python {platform.python_version()}, {platform.system()}"
