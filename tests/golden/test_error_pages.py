"""Every code has its page, which shows a program with exactly that code and one without it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cqlc.algebra.plan import Plan
from cqlc.analysis import k_constraints, punctuation
from cqlc.analysis.bounded_memory import judge
from cqlc.analysis.bounded_memory.findings import findings
from cqlc.catalog import Catalog
from cqlc.codes import CODES
from cqlc.codes.syntax import TOO_MANY
from cqlc.compiler import Compilation
from cqlc.diagnostics import Diagnostic
from cqlc.spark.lower import lower
from tests.golden_markdown import Case, diagnostics, read_cases

PAGES = Path(__file__).parents[2] / "docs" / "errors"
GENERATED = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

NEVER_ALONE = {TOO_MANY.id}
"""Codes that say something about other findings."""


def _page(code: str) -> Path:
    return PAGES / f"{code}.md"


def _wrong_and_right(code: str) -> tuple[Compilation, Compilation]:
    """The page's programs. One too long to print is a Python expression that makes it."""
    cases = list(read_cases(_page(code)))
    made = GENERATED.search(_page(code).read_text("utf-8"))
    if made:
        program = eval(made[1])
        cases.insert(0, Case("Wrong", 0, cases[0].catalog, program, ()))
    assert len(cases) >= 2, "a page shows a wrong and a right program"
    return cases[0].compile(), cases[-1].compile()


def _found(code: str, compilation: Compilation) -> set[str]:
    """The codes of what the stage that reports `code` finds, and those before it."""
    found = list(diagnostics(compilation))
    for query in compilation.queries:
        if code.startswith("CQL31"):
            found += findings(judge(query.plan, compilation.catalog), query.plan.span)
        elif code.startswith("CQL32"):
            found += _punctuation(query.plan, compilation.catalog)
        elif code.startswith("CQL33"):
            found += _constraints(query.plan, compilation.catalog)
        elif code.startswith("CQL4"):
            found += lower(query.plan, compilation.catalog).diagnostics
    return {d.code.id for d in found}


def _punctuation(plan: Plan, catalog: Catalog) -> tuple[Diagnostic, ...]:
    asked = punctuation.from_plan(plan, catalog)
    assert isinstance(asked, punctuation.JoinQuery)
    return punctuation.findings(punctuation.check(asked), plan.span)


def _constraints(plan: Plan, catalog: Catalog) -> tuple[Diagnostic, ...]:
    graph = k_constraints.from_plan(plan, catalog)
    assert isinstance(graph, k_constraints.JoinGraph)
    return k_constraints.findings(k_constraints.analyse(graph), plan.span)


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    assert {path.stem for path in PAGES.glob("*.md")} == set(CODES)


def test_pages_are_in_the_package() -> None:
    from importlib.resources import files

    packaged = {entry.name for entry in (files("cqlc") / "errors").iterdir()}
    assert packaged == {f"{code}.md" for code in CODES}


@pytest.mark.parametrize("code", CODES)
def test_page_is_titled_like_its_code(code: str) -> None:
    first = _page(code).read_text("utf-8").split("\n", 1)[0]
    assert first == f"# {code}: {CODES[code].title}"


@pytest.mark.parametrize("code", [c for c in CODES if not c.startswith("CQL5")])
def test_page_shows_the_code_and_the_way_out(code: str) -> None:
    wrong, right = _wrong_and_right(code)
    found = _found(code, wrong)
    assert found == {code} or (code in found and code in NEVER_ALONE)
    assert right.ok
    assert code not in _found(code, right)
