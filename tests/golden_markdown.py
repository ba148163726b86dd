"""Markdown as tests: a `cql` fence goes in, the fences after it are what each stage must give out.

A case is a `cql` fence with the fences that follow it, named after the heading above it (`##` in
the golden files). The fences out are called by the stages below; other fences are left alone.
Findings that are errors must be expected: without an `error` fence the program has to compile, and
with one it must not. `cql prelude` declares tables for all cases below it in its file.

`pytest --bless` writes what came out into the fences that are there. It adds no fence and removes
none, so a case that is meant to compile cannot be blessed into an error, nor the other way round.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from difflib import unified_diff
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from cqlc.algebra.plan import Plan
from cqlc.algebra.text import plan_text
from cqlc.analysis import update_pattern
from cqlc.catalog import EMPTY, Catalog
from cqlc.compiler import Compilation, compile_program
from cqlc.diagnostics import Diagnostic, has_errors, in_order
from cqlc.render.diagnostic import render_text
from cqlc.source import Source
from cqlc.syntax.printer import format_program

_PIECE = re.compile(
    r"^(?P<heading>\#+)[ ](?P<title>[^\n]+)$"
    r"|^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$",
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)


@dataclass(frozen=True)
class Fence:
    """A fenced block: the stage it shows, its text and where the text stands in the file."""

    stage: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Case:
    """A program and what is expected of it."""

    name: str
    line: int
    catalog: Catalog
    program: str
    expected: tuple[Fence, ...] = ()

    def compile(self) -> Compilation:
        """The program compiled with the tables of its file's prelude."""
        return compile_program(Source(self.program, "query.cql"), self.catalog)


def plans(compilation: Compilation) -> str:
    """Every query's plan."""
    return "\n\n".join(plan_text(query.plan) for query in compilation.queries)


def patterns(compilation: Compilation) -> str:
    """Every query's plan with the update pattern of each edge: of the state, then of the output."""

    def annotated(plan: Plan) -> str:
        found = update_pattern.update_patterns(plan, compilation.catalog)

        def note(node: Plan) -> str:
            both = (found[id(node)].state.pattern, found[id(node)].output.pattern)
            return "  -> " + ", ".join(dict.fromkeys(p.name for p in both))

        return plan_text(plan, note)

    return "\n\n".join(annotated(query.plan) for query in compilation.queries)


def diagnostics(compilation: Compilation) -> tuple[Diagnostic, ...]:
    """The findings of all stages that look at the program and its plans."""
    analysed = (update_pattern.check(q.plan, compilation.catalog) for q in compilation.queries)
    return in_order((*compilation.diagnostics, *chain.from_iterable(analysed)))


def findings(compilation: Compilation) -> str:
    """Every finding, as the command line prints it."""
    return "\n\n".join(render_text(d, compilation.source) for d in diagnostics(compilation))


def formatted(compilation: Compilation) -> str:
    """The program as `cqlc fmt` writes it."""
    return format_program(compilation.source)


STAGES: dict[str, Callable[[Compilation], str]] = {
    "plan": plans,
    "patterns": patterns,
    "error": findings,
    "findings": findings,
    "formatted": formatted,
}
"""What a fence of each name must hold; `findings` are those of a program that compiles."""


def read_cases(path: Path) -> list[Case]:
    """The cases of a Markdown file, in order."""
    text = path.read_text("utf-8")
    heading, catalog = path.stem, EMPTY
    names: Counter[str] = Counter()
    cases: list[Case] = []
    inside = False
    for match in _PIECE.finditer(text):
        if match["title"]:
            heading, inside = match["title"].strip(), False
            continue
        fence = Fence(match["info"].strip(), match["body"], *match.span("body"))
        if fence.stage == "cql prelude":
            catalog = compile_program(Source(fence.text, path.name), catalog).require().catalog
        elif fence.stage == "cql":
            names[heading] += 1
            name = heading if names[heading] == 1 else f"{heading} ({names[heading]})"
            line = text.count("\n", 0, fence.start) + 1
            cases.append(Case(name, line, catalog, fence.text))
            inside = True
        elif fence.stage in STAGES and inside:
            cases[-1] = replace(cases[-1], expected=(*cases[-1].expected, fence))
    return cases


class MismatchError(Exception):
    """What is wrong with a case, for people."""


def check(case: Case) -> dict[Fence, str]:
    """What each fence of a case should hold; raises where blessing cannot help."""
    compilation = case.compile()
    stages = {fence.stage for fence in case.expected}
    errors = has_errors(diagnostics(compilation))
    if errors and "error" not in stages:
        raise MismatchError(f"this program is meant to compile\n\n{findings(compilation)}")
    if not errors and "error" in stages:
        raise MismatchError("this program is meant to have an error, but it compiles")
    return {fence: STAGES[fence.stage](compilation).rstrip("\n") + "\n" for fence in case.expected}


class MarkdownFile(pytest.File):
    """A Markdown file with cases."""

    def collect(self) -> Iterator[MarkdownItem]:
        """An item per case."""
        for case in read_cases(self.path):
            yield MarkdownItem.from_parent(self, name=case.name, case=case)


class MarkdownItem(pytest.Item):
    """A case as a test."""

    def __init__(self, *, case: Case, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.case = case

    def runtest(self) -> None:
        """Compares every fence; with `--bless` rewrites those that differ."""
        wrong = {f: now for f, now in check(self.case).items() if f.text != now}
        if not wrong:
            return
        if self.config.getoption("--bless"):
            bless(self.path, self.case, wrong)
            return
        raise MismatchError("\n".join(_difference(fence, now) for fence, now in wrong.items()))

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        """The mismatch alone: the traceback of the collector helps nobody."""
        if isinstance(excinfo.value, MismatchError):
            return f"{self.path}:{self.case.line}: {self.name}\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the case is."""
        return self.path, self.case.line - 1, self.name


def bless(path: Path, case: Case, wrong: dict[Fence, str]) -> None:
    """Writes what came out into the fences of a case, found again since the file may have grown."""
    text = path.read_text("utf-8")
    fresh = next(c for c in read_cases(path) if c.name == case.name)
    replacements = [
        (now.start, now.end, wrong[was])
        for was, now in zip(case.expected, fresh.expected, strict=True)
        if was in wrong
    ]
    for start, end, replacement in sorted(replacements, reverse=True):
        text = text[:start] + replacement + text[end:]
    path.write_text(text, "utf-8")


def _difference(fence: Fence, now: str) -> str:
    lines = unified_diff(
        fence.text.splitlines(), now.splitlines(), f"{fence.stage} in the file", "now", lineterm=""
    )
    return "\n".join(lines)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares `--bless`."""
    parser.addoption(
        "--bless", action="store_true", help="write what Markdown cases give into their files"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuses to bless in parallel: workers would overwrite one another's files."""
    if config.getoption("--bless") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--bless rewrites files; use it without -n")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> MarkdownFile | None:
    """Collects Markdown files that have cases."""
    if file_path.suffix == ".md" and "\n```cql\n" in file_path.read_text("utf-8"):
        return MarkdownFile.from_parent(parent, path=file_path)
    return None
