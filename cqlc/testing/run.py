"""Running tests: reading a file, asking the engine, judging, and writing answers back."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cqlc.algebra.plan import Stream
from cqlc.algebra.walk import schema_of
from cqlc.codes.testing import BAD_TEST
from cqlc.compiler import Compilation, compile_program
from cqlc.diagnostics import CompileError, Diagnostic, Label, Severity
from cqlc.render.diagnostic import render_text
from cqlc.resolve import ResolvedQuery
from cqlc.semantics import Change, EvaluationError
from cqlc.source import Source, Span
from cqlc.testing.answers import Shape, as_changes, compare, snapshot
from cqlc.testing.arrivals import Arrivals, read_arrivals
from cqlc.testing.cells import parse_time
from cqlc.testing.engine import Engine, Question
from cqlc.testing.markdown import Role, Section, TestFileError, TestText, read_tests, table_lines

_ERROR = Severity.ERROR


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one test ended; `problems` is empty if it passed."""

    path: Path
    title: str
    line: int
    problems: tuple[str, ...]
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether the test passed."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Answered:
    """A section of a test with the rows that belong there."""

    section: Section
    rows: tuple[Change, ...]
    shape: Shape

    def problems(self) -> list[str]:
        """How the section's table differs from the answer."""
        found = compare(self.section.table, self.rows, self.shape)
        at = f" at {self.section.at}" if self.section.at else ""
        title = f"{self.section.role}{at}, line {self.section.line}:"
        return [title, *(f"  {line}" for line in found)] if found else []


def run_file(path: Path, engine: Engine, *, bless: bool = False) -> list[Outcome]:
    """Runs the tests of a file; with `bless`, writes the answers into it."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return [Outcome(path, path.stem, 1, (f"the file cannot be read: {error}",), 0.0)]
    source = Source(text, str(path))
    try:
        tests = read_tests(path, text)
    except TestFileError as error:
        return [Outcome(path, path.stem, error.line, _told(error, source), 0.0)]
    outcomes: list[Outcome] = []
    answered: list[Answered] = []
    for test in tests:
        start = time.perf_counter()
        try:
            answers, late = answer(test, engine)
            problems = [line for each in answers for line in each.problems()] + late
            if bless and not late:
                answered += answers
                problems = []
        except TestFileError as error:
            problems = list(_told(error, source))
        except EvaluationError as error:
            problems = [f"the query has no answer: {error}"]
        except CompileError as error:
            shown = (render_text(d, source) for d in error.diagnostics if d.severity is _ERROR)
            problems = [line for each in shown for line in each.splitlines()]
        seconds = time.perf_counter() - start
        outcomes.append(Outcome(path, test.title, test.line, tuple(problems), seconds))
    if bless:
        path.write_text(_blessed(text, answered), encoding="utf-8")
    return outcomes


def answer(test: TestText, engine: Engine) -> tuple[list[Answered], list[str]]:
    """What belongs into the test's sections, and what is wrong with its late rows."""
    compilation = _compiled(test)
    arrivals = read_arrivals(test.of(Role.INPUT), compilation.catalog)
    horizon = _time_of(test.of(Role.UNTIL)[-1]) if test.of(Role.UNTIL) else None
    answers: list[Answered] = []
    known: dict[str, list[Change]] = {}
    for section in test.of(Role.OUTPUT):
        query = _query(section, compilation)
        if query.name not in known:
            question = Question(
                compilation, query, arrivals.timeline, horizon=horizon, batches=arrivals.batches
            )
            known[query.name] = engine.changes(question)
        answers.append(_output(section, query, known[query.name], arrivals))
    if not answers:
        raise TestFileError(test.line, "the test expects nothing", "add a line `Output:`")
    for section in test.of(Role.LATE):
        answers.append(_late(section, compilation, arrivals))
    listed = {(section.name or "").lower() for section in test.of(Role.LATE)}
    missing = [
        f"{len(rows)} late row(s) of `{name}` were dropped: list them under ``Late `{name}`:``"
        for name, rows in arrivals.late.items()
        if name.lower() not in listed
    ]
    return answers, missing


def _compiled(test: TestText) -> Compilation:
    if not test.program.strip():
        raise TestFileError(test.line, "the test has no query", "add a fence marked `cql`")
    compilation = compile_program(Source(test.program, str(test.path))).require()
    if not compilation.queries:
        raise TestFileError(test.line, "the program has no query", "add a SELECT")
    return compilation


def _query(section: Section, compilation: Compilation) -> ResolvedQuery:
    if section.name is None:
        return compilation.queries[-1]
    for query in compilation.queries:
        if section.name.lower() in (query.name.lower(), (query.sink or "").lower()):
            return query
    names = ", ".join(f"`{query.sink or query.name}`" for query in compilation.queries)
    raise TestFileError(section.line, f"no query is called `{section.name}`", f"there are: {names}")


def _output(
    section: Section, query: ResolvedQuery, changes: Sequence[Change], arrivals: Arrivals
) -> Answered:
    stream = isinstance(query.plan, Stream)
    fields = tuple(schema_of(query.plan)[:-1] if stream else schema_of(query.plan))
    if section.at is None:
        shape = Shape(fields, timed=True, signed=not stream, style=arrivals.style)
        return Answered(section, tuple(changes), shape)
    if stream:
        raise TestFileError(
            section.line,
            "the answer is a stream, which has no rows at a time",
            "write `Output:` and give the elements their times",
        )
    rows = snapshot(changes, _time_of(section))
    return Answered(section, tuple(rows), Shape(fields, False, False, arrivals.style))


def _late(section: Section, compilation: Compilation, arrivals: Arrivals) -> Answered:
    tables = {name.lower(): table for name, table in compilation.catalog.tables.items()}
    table = tables.get((section.name or "").lower())
    if table is None:
        raise TestFileError(section.line, "Late rows of what?", "name a declared stream")
    late = as_changes(arrivals.late.get(table.name, ()))
    time_column = table.event_time.column if table.event_time else None
    kept = [place for place, field in enumerate(table.schema[:-1]) if field.name != time_column]
    rows = tuple((t, s, tuple(values[place] for place in kept)) for t, s, values in late)
    fields = tuple(table.schema[place] for place in kept)
    return Answered(section, rows, Shape(fields, True, False, arrivals.style))


def _time_of(section: Section) -> int:
    parsed = parse_time(section.at or "")
    if parsed is None:
        raise TestFileError(section.line, f"`{section.at}` is not a time", "write 10 or 00:00:10")
    return parsed[0]


def _told(error: TestFileError, source: Source) -> tuple[str, ...]:
    """The finding for a test that cannot be read, as lines."""
    start = sum(len(source.line(number)) + 1 for number in range(1, error.line))
    place = Span(start, start + len(source.line(error.line)))
    finding = Diagnostic(BAD_TEST, error.message, Label(place), help=error.help)
    return tuple(render_text(finding, source).splitlines())


def _blessed(text: str, answers: Iterable[Answered]) -> str:
    """The file with the answers in the place of the tables."""
    lines = text.splitlines()
    for each in sorted(answers, key=lambda a: a.section.line, reverse=True):
        table, shape = each.section.table, each.shape
        fits = table is not None and sorted(table.header) == sorted(shape.header)
        header = list(table.header) if table is not None and fits else shape.header
        rows = [shape.cells(row, header) for row in each.rows]
        new = table_lines(header, rows)
        if table is None:
            lines[each.section.line : each.section.line] = ["", *new]
        elif each.problems():
            lines[table.start - 1 : table.end - 1] = new
    return "\n".join(lines) + "\n"
