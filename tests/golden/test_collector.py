"""The collector of Markdown cases: what it reads, what it refuses, what blessing may change."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden_markdown import MismatchError, bless, check, read_cases

PRELUDE = "```cql prelude\nCREATE STREAM s (a INT, at TIMESTAMP) TIMESTAMP BY at;\n```\n"


def _file(folder: Path, *parts: str) -> Path:
    path = folder / "cases.md"
    path.write_text("# Title\n\n" + PRELUDE + "\n".join(parts), "utf-8")
    return path


def _case(name: str, program: str, **stages: str) -> str:
    fences = "".join(f"\n```{stage}\n{text}```\n" for stage, text in stages.items())
    return f"\n## {name}\n\nWhy.\n\n```cql\n{program}\n```\n{fences}"


def test_cases_are_named_after_their_heading(tmp_path: Path) -> None:
    path = _file(tmp_path, _case("One", "SELECT a FROM s;"), "```cql\nSELECT at FROM s;\n```\n")
    assert [case.name for case in read_cases(path)] == ["One", "One (2)"]


def test_fences_belong_to_the_program_above_them(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        _case("One", "SELECT a FROM s;", plan="x\n"),
        "\n## Two\n\n```plan\nnot of a case\n```\n",
    )
    (case,) = read_cases(path)
    assert [fence.text for fence in case.expected] == ["x\n"]


def test_a_program_without_an_error_fence_must_compile(tmp_path: Path) -> None:
    (case,) = read_cases(_file(tmp_path, _case("One", "SELECT b FROM s;", plan="")))
    with pytest.raises(MismatchError, match="meant to compile"):
        check(case)


def test_a_program_with_an_error_fence_must_not_compile(tmp_path: Path) -> None:
    (case,) = read_cases(_file(tmp_path, _case("One", "SELECT a FROM s;", error="")))
    with pytest.raises(MismatchError, match="meant to have an error"):
        check(case)


def test_blessing_rewrites_fences_in_place(tmp_path: Path) -> None:
    path = _file(
        tmp_path,
        _case("One", "SELECT a FROM s;", plan="wrong\n"),
        _case("Two", "SELECT a FROM s [NOW];", plan=""),
    )
    before = path.read_text("utf-8")
    for case in read_cases(path):
        now = check(case)
        assert all(fence.text != text for fence, text in now.items())
        bless(path, case, now)
    after = path.read_text("utf-8")
    assert after.replace("```plan\n", "").split("Why.")[0] == before.split("Why.")[0]
    for case in read_cases(path):
        assert {fence.text for fence in case.expected} == set(check(case).values())
