"""The list of functions in docs/language.md is that of the registry; `--bless` writes it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest

from cqlc.functions import AGGREGATES, FIELD, SCALARS, AggregateFunction, ScalarFunction
from cqlc.functions.numbers import NUMBER_FUNCTIONS
from cqlc.functions.strings import STRING_FUNCTIONS
from cqlc.functions.times import TIME_FUNCTIONS
from cqlc.functions.values import VALUE_FUNCTIONS

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
    assert present == wanted, "run `pytest --bless tests/golden/test_function_list.py`"
