"""Tests of queries, for their authors: Markdown files, and the same from Python.

`run_paths` is what `cqlc test` does. In pytest, `cases` finds the tests of files and directories,
for `parametrize`, and `check` runs one. `ask` answers a query over rows given in Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cqlc.compiler import compile_program
from cqlc.semantics import Arrival, Change, TableChange, Timeline
from cqlc.testing.engine import ENGINES, Engine, Question, UnknownEngineError, engine_called
from cqlc.testing.markdown import TestFileError, TestText, read_tests
from cqlc.testing.report import Report
from cqlc.testing.run import Outcome, answer, run_file

__all__ = [
    "ENGINES",
    "Engine",
    "Outcome",
    "Question",
    "Report",
    "TestFileError",
    "TestText",
    "UnknownEngineError",
    "ask",
    "cases",
    "check",
    "run_paths",
]


def run_paths(
    paths: Iterable[Path],
    engine: str = "reference",
    *,
    bless: bool = False,
    junit: Path | None = None,
) -> Report:
    """Runs the tests of files and of all Markdown files below directories.

    With `bless` the answers are written into the files; `junit` is a file for JUnit XML.
    """
    chosen = engine_called(engine)
    outcomes = (o for path in _files(paths) for o in run_file(path, chosen, bless=bless))
    report = Report(tuple(outcomes))
    if junit is not None:
        junit.write_text(report.junit(), encoding="utf-8")
    return report


def cases(*paths: str | Path) -> list[TestText]:
    """The tests in files and directories, for `pytest.mark.parametrize`."""
    files = _files(Path(path) for path in paths)
    return [test for path in files for test in read_tests(path, path.read_text(encoding="utf-8"))]


def check(test: TestText, engine: str = "reference") -> None:
    """Runs one test; an AssertionError shows how the answer differs."""
    answers, late = answer(test, engine_called(engine))
    problems = [line for each in answers for line in each.problems()] + late
    assert not problems, "\n".join([f"{test.title} ({test.path}:{test.line})", *problems])


def ask(
    program: str,
    streams: Mapping[str, Sequence[Arrival]] | None = None,
    tables: Mapping[str, Sequence[TableChange]] | None = None,
    *,
    engine: str = "reference",
    horizon: int | None = None,
) -> list[Change]:
    """What the last query of a program answers: elements (time, 1, row), or net changes.

    Rows of streams are `(time, values)` in the order of arrival, changes of tables `(time, 1 or
    -1, values)`; times are microseconds.
    """
    compilation = compile_program(program).require()
    timeline = Timeline(streams or {}, tables or {})
    question = Question(compilation, compilation.queries[-1], timeline, horizon=horizon)
    return engine_called(engine).changes(question)


def _files(paths: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        found += sorted(path.rglob("*.md")) if path.is_dir() else [path]
    return found
