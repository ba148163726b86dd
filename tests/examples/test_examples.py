"""Every example compiles to valid plans, keeps its meaning when formatted, says what it asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from cqlc.algebra.json import plan_from_json, plan_to_json
from cqlc.algebra.validate import problems
from cqlc.compiler import compile_program
from cqlc.diagnostics import has_errors
from cqlc.render.diagnostic import render_text
from cqlc.source import Source
from cqlc.syntax.parser import parse
from cqlc.syntax.printer import format_program

ROOT = Path(__file__).parents[2] / "examples" / "queries"
EXAMPLES = sorted(ROOT.rglob("*.cql"))


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.fixture(params=EXAMPLES, ids=_name)
def source(request: pytest.FixtureRequest) -> Source:
    path: Path = request.param
    return Source(path.read_text("utf-8"), _name(path))


def test_compiles(source: Source) -> None:
    compilation = compile_program(source)
    messages = [render_text(d, source) for d in compilation.diagnostics]
    assert not has_errors(compilation.diagnostics), "\n\n".join(messages)
    assert compilation.queries


def test_plans_are_valid_and_survive_json(source: Source) -> None:
    for query in compile_program(source).queries:
        assert problems(query.plan) == ()
        assert plan_from_json(plan_to_json(query.plan)) == query.plan


def test_formatting_keeps_the_program(source: Source) -> None:
    formatted = Source(format_program(source), source.name)
    assert parse(formatted).program == parse(source).program
    assert format_program(formatted) == formatted.text


def test_opens_with_what_it_asks(source: Source) -> None:
    first = source.text.split("\n", 1)[0]
    assert first.startswith("-- ")
    assert len(first) > 20


def test_lines_fit_a_screen(source: Source) -> None:
    assert all(len(line) <= 100 for line in source.text.splitlines())


@pytest.mark.parametrize(
    ("folder", "names"),
    [
        ("nexmark", [f"q{n}" for n in range(23)] + ["q12e"]),
        ("thesis", [f"L-{n:02}" for n in range(1, 17)]),
        ("sqr/auctions", [f"{n:02}_" for n in range(1, 12)]),
        ("sqr/network", [f"{n:02}_" for n in range(1, 7)]),
        ("sqr/military", [f"{n:02}_" for n in range(1, 8)]),
        ("sqr/habitat", [f"{n:02}_" for n in range(1, 7)]),
        ("sqr/swim", [f"{n:02}_" for n in range(1, 5)]),
    ],
)
def test_no_query_of_a_published_set_is_missing(folder: str, names: list[str]) -> None:
    present = [path.stem for path in (ROOT / folder).glob("*.cql")]
    missing = [
        name
        for name in names
        if not any(p == name or (name.endswith("_") and p.startswith(name)) for p in present)
    ]
    assert not missing


FORMATTED = ("quickstart", "nexmark", "kmon", "punctuation", "bounded_memory", "shedding")
"""The folders in today's spelling; the others show how the papers and the prototype write."""


@pytest.mark.parametrize(
    "path", [p for p in EXAMPLES if p.parent.name in FORMATTED], ids=lambda p: _name(p)
)
def test_todays_spelling_is_that_of_the_formatter(path: Path) -> None:
    text = path.read_text("utf-8")
    assert format_program(Source(text)) == text
