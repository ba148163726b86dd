"""What docs/language.md lists is what there is; `--bless` writes the list of functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from cqlc.functions import AGGREGATES, FIELD, SCALARS, AggregateFunction, ScalarFunction
from cqlc.functions.numbers import NUMBER_FUNCTIONS
from cqlc.functions.strings import STRING_FUNCTIONS
from cqlc.functions.times import TIME_FUNCTIONS
from cqlc.functions.values import VALUE_FUNCTIONS
from cqlc.syntax.scanner import MAX_BRACKETS
from cqlc.syntax.words import RESERVED

PAGE = Path(__file__).parents[2] / "docs" / "language.md"
START, END = "<!-- functions -->\n", "<!-- end of functions -->"

SECTIONS = {
    "Numbers": NUMBER_FUNCTIONS,
    "Strings": STRING_FUNCTIONS,
    "Time": TIME_FUNCTIONS,
    "Arrays, structs, conditions, conversions": VALUE_FUNCTIONS,
    "Aggregates": tuple(AGGREGATES.values()),
}


def _row(function: ScalarFunction | AggregateFunction) -> str:
    calls = ", ".join(f"`{function.name}{signature}`" for signature in function.signatures)
    others = "".join(f", `{name}`" for name in function.aliases)
    meaning = function.meaning.replace("|", "\\|")
    return f"| {calls}{others} | {meaning} |"


def _table(title: str, functions: Iterable[ScalarFunction | AggregateFunction]) -> str:
    rows = "\n".join(_row(f) for f in sorted(functions, key=lambda f: f.name))
    return f"### {title}\n\n| call | meaning |\n|---|---|\n{rows}\n"


def test_every_function_is_listed(request: pytest.FixtureRequest) -> None:
    listed = [f.name for section in SECTIONS.values() for f in section]
    assert sorted(listed) == sorted({*SCALARS, *AGGREGATES} - {FIELD.name})

    text = PAGE.read_text("utf-8")
    before, rest = text.split(START)
    present, after = rest.split(END)
    wanted = "\n" + "\n".join(_table(title, f) for title, f in SECTIONS.items()) + "\n"
    if request.config.getoption("--bless"):
        PAGE.write_text(f"{before}{START}{wanted}{END}{after}", "utf-8")
        return
    assert present == wanted, "run `pytest --bless tests/golden/test_language_page.py`"


def test_reserved_words_are_listed() -> None:
    listed = re.search(r"words that need quotes are\n\n`([A-Z_\s]+)`", PAGE.read_text("utf-8"))
    assert listed
    assert listed[1].split() == sorted(RESERVED)


def test_limits_are_told() -> None:
    assert f"Brackets nest at most {MAX_BRACKETS} deep" in PAGE.read_text("utf-8")
