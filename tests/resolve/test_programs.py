"""Whole programs: the examples and the cases of the STREAM oracle all resolve."""

from __future__ import annotations

import json

import pytest

from cqlc.algebra.json import plan_from_json, plan_to_json
from cqlc.algebra.plan import Plan
from cqlc.algebra.validate import problems
from cqlc.algebra.walk import subplans
from cqlc.diagnostics import Severity
from cqlc.resolve import resolve
from cqlc.resolve.sorts import as_stream
from cqlc.source import Source
from cqlc.syntax.parser import parse
from tests.resolve.programs import ORACLE, example_programs, oracle_programs, resolved

EXAMPLES = dict(example_programs())
CASES = {name: (program, kind) for name, program, kind in oracle_programs()}


def _round_trip(plan: Plan) -> None:
    document = json.loads(json.dumps(plan_to_json(plan)))
    back = plan_from_json(document)
    assert back == plan
    assert [node.span for node in subplans(back)] == [node.span for node in subplans(plan)]


@pytest.mark.parametrize("program", EXAMPLES.values(), ids=EXAMPLES)
def test_example_resolves(program: str) -> None:
    resolution = resolved(program, prelude="")
    assert [d for d in resolution.diagnostics if d.severity is Severity.ERROR] == []
    for query in resolution.queries:
        _round_trip(query.plan)


@pytest.mark.skipif(not ORACLE.is_dir(), reason="the oracle's cases are not beside the project")
def test_oracle_is_here() -> None:
    assert len(CASES) > 200


@pytest.mark.parametrize(("program", "kind"), CASES.values() or [("", "")], ids=CASES or ["none"])
def test_oracle_case_resolves(program: str, kind: str) -> None:
    if not program:
        pytest.skip("the oracle's cases are not beside the project")
    resolution = resolved(program, prelude="")
    assert {d.severity for d in resolution.diagnostics} <= {Severity.NOTE}
    (query,) = resolution.queries
    assert ("stream" if as_stream(query.plan) else "relation") == kind
    for view in resolution.views.values():
        assert problems(view) == ()
    _round_trip(query.plan)


def test_work_grows_with_the_program_not_faster() -> None:
    """Counts operators built, not seconds: each statement costs the same however many there are."""

    def built(statements: int) -> int:
        views = (
            f"CREATE VIEW V{i} AS SELECT a, COUNT(*) AS n FROM S [RANGE {i + 1}] GROUP BY a;\n"
            f"SELECT x.a FROM V{i} AS x JOIN V{i // 2} AS y ON x.n = y.n;\n"
            for i in range(statements)
        )
        program = parse(Source("CREATE STREAM S (a INT);\n" + "".join(views))).program
        calls = 0
        from cqlc.resolve import facts

        compute = facts.FactsOf._compute  # pyright: ignore[reportPrivateUsage]

        def counted(self: facts.FactsOf, plan: Plan) -> facts.Facts:
            nonlocal calls
            calls += 1
            return compute(self, plan)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(facts.FactsOf, "_compute", counted)
            assert len(resolve(program).queries) == statements
        return calls

    assert built(200) <= 11 * built(20)
