"""Plans as documents: what comes back, and what is refused."""

from __future__ import annotations

import datetime
import decimal
import json
import math
from typing import Any

import pytest

from cqlc.algebra.expr import Literal
from cqlc.algebra.json import PlanFormatError, plan_from_json, plan_to_json
from cqlc.algebra.plan import Filter, Join, JoinKind, Named, Now, Project, Rename, Scan, Values
from cqlc.algebra.schema import TIME_FIELD, Field
from cqlc.algebra.walk import subplans
from cqlc.datatypes import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    Array,
    Decimal,
    Struct,
)
from cqlc.source import Span

SCAN = Scan("S", (Field("a", INT, nullable=False), TIME_FIELD), span=Span(3, 9))


def _back(plan: Any) -> Any:
    return plan_from_json(json.loads(json.dumps(plan_to_json(plan))))


def test_constants_come_back_as_they_were() -> None:
    constants = [
        Literal(None, STRING),
        Literal(True, BOOLEAN),
        Literal(1, INT),
        Literal(1.0, DOUBLE),
        Literal(-math.inf, DOUBLE),
        Literal(2**62, TIMESTAMP),
        Literal("1", STRING),
        Literal("2024-01-01", STRING),
        Literal(b"\x00\xff", BINARY),
        Literal(decimal.Decimal("1.50"), Decimal(3, 2)),
        Literal(datetime.date(2024, 2, 29), DATE),
        Literal((("x", 1), None), Array(Struct((("s", STRING), ("n", INT))))),
    ]
    columns = tuple(Named(f"c{i}", literal) for i, literal in enumerate(constants))
    back = _back(Project(Values(((),), ()), columns))
    values = [named.value.value for named in back.columns]
    assert values == [literal.value for literal in constants]
    assert [type(v) for v in values] == [type(literal.value) for literal in constants]
    assert [named.value.type for named in back.columns] == [literal.type for literal in constants]


def test_not_a_number_comes_back() -> None:
    back = _back(Project(Values(((),), ()), (Named("x", Literal(math.nan, DOUBLE)),)))
    assert math.isnan(back.columns[0].value.value)


def test_shared_parts_and_places_stay() -> None:
    now = Now(SCAN)
    plan = Join(Rename(now, "x"), Rename(now, "y"), JoinKind.INNER, Literal(True, BOOLEAN))
    document = plan_to_json(plan)
    assert len(document["nodes"]) == 5
    back = _back(plan)
    assert back == plan
    assert back.left.input is back.right.input
    assert next(iter(subplans(back))).span == Span(3, 9)


def _changed(**changes: Any) -> dict[str, Any]:
    return plan_to_json(Now(SCAN)) | changes


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (None, "a plan is an object"),
        ([], "a plan is an object"),
        (_changed(version=2), "version 2 is not 1"),
        (_changed(version=None), "version None is not 1"),
        (_changed(nodes=[]), "at least one operator"),
        (_changed(nodes={}), "at least one operator"),
        (_changed(root=7), "root 7 is not the place"),
        (_changed(root=True), "root True is not the place"),
        (_changed(root="0"), "is not the place"),
        (_changed(nodes=[{"node": "Teleport"}]), "node 0: there is no node 'Teleport'"),
        (_changed(nodes=[{"node": "Scan", "name": "S"}]), "Scan needs a field 'schema'"),
        (_changed(nodes=[{"node": "Scan", "name": 5, "schema": []}]), "Scan.name: 5 is not a str"),
        (
            _changed(nodes=[{"node": "Scan", "name": "S", "schema": [], "colour": 1}]),
            "Scan has no field 'colour'",
        ),
        (_changed(nodes=[{"node": "Now", "input": {"plan": 1}}]), "is not a value"),
        (_changed(nodes=[{"node": "Now", "input": {"plan": 0}}]), "is not a value"),
        (
            _changed(
                nodes=[
                    {"node": "Values", "rows": [], "schema": []},
                    {"node": "Now", "input": {"plan": 0}},
                ]
            ),
            "Now.input:",
        ),
        (_changed(nodes=[{"node": "Simple", "kind": "INT"}], root=0), "not an operator"),
        (_changed(nodes=[{"node": "Simple", "kind": "COLOUR"}], root=0), "Simple.kind"),
        (_changed(nodes=[{"node": "Grid", "period": True}], root=0), "Grid.period"),
        (_changed(nodes=[{"decimal": "abc"}], root=0), "'abc' is not a value"),
        (_changed(nodes=[{"node": "Node", "span": [1]}], root=0), "a span is two numbers"),
        (_changed(nodes=[3], root=0), "not an operator"),
    ],
)
def test_what_is_not_a_plan_is_refused(document: Any, message: str) -> None:
    with pytest.raises(PlanFormatError, match="(?s)" + message.replace("(", r"\(")):
        plan_from_json(document)


def test_a_plan_that_does_not_hold_together_is_refused() -> None:
    broken = Filter(Rename(Now(SCAN), "x"), Literal(1, INT))
    with pytest.raises(PlanFormatError, match="1 is no condition"):
        _back(broken)


def test_deep_documents_are_refused() -> None:
    value: Any = "x"
    for _ in range(5000):
        value = [value]
    with pytest.raises(PlanFormatError, match="nests too deeply"):
        plan_from_json({"version": 1, "root": 0, "nodes": [value]})
