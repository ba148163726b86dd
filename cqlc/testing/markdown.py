"""Test files: Markdown with a query, input tables and the output that is expected.

Every `##` heading opens a test; a file without one is one test. Fences marked `cql` hold the
program, those before the first test are shared. A line that begins with Input, Output, Late or
Until says what the table after it is; all else is prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class Role(StrEnum):
    """What a line of a test introduces."""

    INPUT = "Input"
    OUTPUT = "Output"
    LATE = "Late"
    UNTIL = "Until"


class TestFileError(Exception):
    """A test that cannot be read: the line, what is wrong, and a way out."""

    __test__ = False

    def __init__(self, line: int, message: str, help: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message
        self.help = help


@dataclass(frozen=True, slots=True)
class TableText:
    """A table as written: the numbers of its first line and of the one after it, and its cells."""

    start: int
    end: int
    header: tuple[str, ...]
    rows: tuple[tuple[int, tuple[str, ...]], ...]
    """The rows with their line numbers."""


@dataclass(frozen=True, slots=True)
class Section:
    """A line like ``Input `bids`:`` or `Output at 10:` with the table after it."""

    role: Role
    line: int
    name: str | None
    at: str | None
    table: TableText | None


@dataclass(frozen=True, slots=True)
class TestText:
    """One test as written."""

    __test__ = False

    path: Path
    title: str
    line: int
    program: str
    sections: tuple[Section, ...]

    def of(self, role: Role) -> list[Section]:
        """The sections with a role."""
        return [section for section in self.sections if section.role is role]


_SECTION = re.compile(
    r"(Input|Output|Late|Until)\b(?:\s+(?!at\b)`?([^\s`:]+)`?)?(?:\s+at\s+`?([^`]+?)`?)?\s*:?\s*"
)
_UNTIL = re.compile(r"Until\s+`?([^`]+?)`?\s*[:.]?\s*")


@dataclass(slots=True)
class _Draft:
    title: str
    line: int
    program: dict[int, str] = field(default_factory=dict[int, str])
    sections: list[Section] = field(default_factory=list[Section])


def read_tests(path: Path, text: str) -> list[TestText]:
    """The tests of a file."""
    lines = text.splitlines()
    shared = _Draft(path.stem, 1)
    drafts: list[_Draft] = []
    place = 0
    while place < len(lines):
        draft = drafts[-1] if drafts else shared
        line = lines[place]
        if line.startswith("```"):
            place = _read_fence(lines, place, draft)
            continue
        if line.startswith("## "):
            drafts.append(_Draft(line[3:].strip(), place + 1))
        elif line.startswith("# ") and not drafts:
            shared.title = line[2:].strip()
        elif section := _read_section(lines, place):
            draft.sections.append(section)
            if section.table is not None:
                place = section.table.end - 1
                continue
        place += 1
    whole = drafts or [shared]
    return [
        TestText(
            path,
            draft.title,
            draft.line,
            _program(shared.program | draft.program),
            (*(shared.sections if draft is not shared else ()), *draft.sections),
        )
        for draft in whole
        if draft.program or draft.sections
    ]


def _program(lines: dict[int, str]) -> str:
    """The lines of a program where they stand in the file, so that places in it are the file's."""
    return "\n".join(lines.get(number, "") for number in range(max(lines, default=-1) + 1))


def _read_fence(lines: list[str], place: int, draft: _Draft) -> int:
    """Reads a fence; the number of the line after it."""
    end = next((i for i in range(place + 1, len(lines)) if lines[i].startswith("```")), len(lines))
    if lines[place][3:].strip().split(" ")[0] == "cql":
        draft.program |= {number: lines[number] for number in range(place + 1, end)}
    return end + 1


def _read_section(lines: list[str], place: int) -> Section | None:
    if match := _UNTIL.fullmatch(lines[place]):
        return Section(Role.UNTIL, place + 1, None, match[1], None)
    match = _SECTION.fullmatch(lines[place])
    if match is None or match[1] == Role.UNTIL:
        return None
    table = _read_table(lines, place + 1)
    return Section(Role(match[1]), place + 1, match[2], match[3], table)


def _read_table(lines: list[str], place: int) -> TableText | None:
    """The table that follows, with nothing but empty lines before it."""
    while place < len(lines) and not lines[place].strip():
        place += 1
    start = place
    while place < len(lines) and lines[place].startswith("|"):
        place += 1
    if place == start:
        return None
    if place < start + 2 or not re.fullmatch(r"[|\s:-]+", lines[start + 1]):
        raise TestFileError(
            start + 1,
            "a table needs a header and a line of dashes under it",
            "write the names of the columns, then |---|---|",
        )
    header = tuple(_cells(lines[start]))
    rows = tuple((n + 1, tuple(_cells(lines[n]))) for n in range(start + 2, place))
    return TableText(start + 1, place + 1, header, rows)


def _cells(line: str) -> Iterator[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    for cell in re.split(r"(?<!\\)\|", inner):
        yield cell.strip().replace("\\|", "|")


def table_lines(header: list[str], rows: list[list[str]]) -> list[str]:
    """A table as Markdown, its columns aligned."""
    shown = [[cell.replace("|", "\\|") for cell in row] for row in [header, *rows]]
    widths = [max(len(row[place]) for row in shown) for place in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in shown
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]
