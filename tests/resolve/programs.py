"""Programs for the resolver's tests, and what becomes of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from cqlc.algebra.plan import Plan
from cqlc.algebra.text import plan_text
from cqlc.algebra.validate import problems
from cqlc.diagnostics import Severity
from cqlc.resolve import Resolution, resolve
from cqlc.source import Source
from cqlc.syntax.parser import parse

PRELUDE = """
CREATE STREAM S (a INT, b INT, c STRING, at TIMESTAMP) TIMESTAMP BY at;
CREATE STREAM T (a INT, d DOUBLE, e STRING, at TIMESTAMP) TIMESTAMP BY at;
CREATE STREAM P (id BIGINT NOT NULL, tags ARRAY<STRING>, who STRUCT<name: STRING, age: INT>);
CREATE RELATION R (k INT, v STRING, KEY (k));
CREATE NRR N (k INT, w STRING, KEY (k));
CREATE SINK out TO parquet OPTIONS (path 'out');
CREATE FUNCTION twice(x DOUBLE) RETURNS DOUBLE;
CREATE AGGREGATE FUNCTION blend(x DOUBLE) RETURNS DOUBLE;
"""

EXAMPLES = Path(__file__).parents[2] / "examples" / "queries"
ORACLE = Path(__file__).parents[3] / "shared" / "oracle" / "stream"


def resolved(text: str, prelude: str = PRELUDE) -> Resolution:
    """What the resolver makes of a program that parses; every plan is checked."""
    parsed = parse(Source(prelude + text))
    assert parsed.diagnostics == (), [d.message for d in parsed.diagnostics]
    resolution = resolve(parsed.program)
    for query in resolution.queries:
        assert problems(query.plan) == (), plan_text(query.plan)
    return resolution


def codes(text: str, prelude: str = PRELUDE) -> list[str]:
    """The codes of everything that is found."""
    return [d.code.id for d in resolved(text, prelude).diagnostics]


def plan(text: str, prelude: str = PRELUDE) -> Plan:
    """The plan of a program's only query, which must be without errors."""
    resolution = resolved(text, prelude)
    errors = [d for d in resolution.diagnostics if d.severity is Severity.ERROR]
    assert errors == [], [(d.code.id, d.message) for d in errors]
    (query,) = resolution.queries
    return query.plan


def oracle_programs() -> Iterator[tuple[str, str, str]]:
    """The cases of the STREAM oracle: name, program, and the sort of the answer."""
    for path in sorted(ORACLE.glob("*.json")):
        case = json.loads(path.read_text("utf-8"))
        views = (f"{v['declaration']} as {v['query']}" for v in case.get("views") or ())
        statements = (*case["declarations"], *views, case["query"])
        yield path.stem, "".join(f"{s};\n" for s in statements), case["result_kind"]


def example_programs() -> Iterator[tuple[str, str]]:
    """The bundled examples: name and program."""
    for path in sorted(EXAMPLES.rglob("*.cql")):
        yield str(path.relative_to(EXAMPLES)), path.read_text("utf-8")
