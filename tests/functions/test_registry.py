"""The function registry: unique names, sentences, templates and signature matching."""

from __future__ import annotations

import string
from collections import Counter

import pytest

from cqlc.datatypes import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    FLOAT,
    INT,
    NULL,
    SMALLINT,
    STRING,
    TIMESTAMP,
    Array,
    DataType,
    Decimal,
    Struct,
)
from cqlc.functions import (
    AGGREGATES,
    SCALARS,
    AggregateFunction,
    ScalarFunction,
    aggregate_function,
    match_signature,
    scalar_function,
)

ALL: tuple[ScalarFunction | AggregateFunction, ...] = (*SCALARS.values(), *AGGREGATES.values())


def test_no_name_is_used_twice() -> None:
    names = Counter(name for f in ALL for name in (f.name, *f.aliases))
    assert [name for name, uses in names.items() if uses > 1] == []


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.name)
def test_entry_is_complete(function: ScalarFunction | AggregateFunction) -> None:
    assert function.name == function.name.upper()
    assert function.meaning
    assert not function.meaning.endswith(".")
    if function.name != "FIELD":
        assert function.signatures
    if function.spark is not None:
        most = max((len(s.parameters) for s in function.signatures), default=2)
        for _, field, _, _ in string.Formatter().parse(function.spark):
            assert field is None or field in ("*", "type") or int(field) < most


def _call(name: str, *types: DataType) -> DataType | None:
    function = scalar_function(name) or aggregate_function(name)
    assert function is not None
    for signature in function.signatures:
        if matched := match_signature(signature, types):
            return matched.result
    return None


@pytest.mark.parametrize(
    ("name", "types", "result"),
    [
        ("ABS", (INT,), INT),
        ("ABS", (Decimal(5, 2),), Decimal(5, 2)),
        ("ABS", (STRING,), None),
        ("CEIL", (FLOAT,), BIGINT),
        ("CEIL", (Decimal(5, 2),), Decimal(4, 0)),
        ("SUBSTR", (STRING, INT), STRING),
        ("SUBSTR", (STRING, BIGINT, SMALLINT), STRING),
        ("SUBSTR", (STRING,), None),
        ("SUBSTR", (STRING, DOUBLE), None),
        ("COALESCE", (INT, BIGINT, NULL), BIGINT),
        ("COALESCE", (INT, STRING), None),
        ("GREATEST", (DATE, TIMESTAMP), TIMESTAMP),
        ("GREATEST", (INT,), None),
        ("GREATEST", (Array(INT), Array(INT)), None),
        ("YEAR", (DATE,), INT),
        ("ARRAY", (INT, DOUBLE), Array(DOUBLE)),
        ("GET", (Array(STRING), INT), STRING),
        ("ARRAY_CONTAINS", (Array(INT), STRING), None),
        ("FLATTEN", (Array(Array(INT)),), Array(INT)),
        ("STRUCT", (INT, STRING), Struct((("col1", INT), ("col2", STRING)))),
        ("CONCAT", (Array(INT), Array(BIGINT)), Array(BIGINT)),
        ("COUNT", (), BIGINT),
        ("COUNT", (INT, STRING), BIGINT),
        ("SUM", (INT,), BIGINT),
        ("SUM", (FLOAT,), DOUBLE),
        ("SUM", (Decimal(10, 2),), Decimal(20, 2)),
        ("SUM", (DURATION,), DURATION),
        ("SUM", (STRING,), None),
        ("AVG", (Decimal(10, 2),), DOUBLE),
        ("MAX", (STRING,), STRING),
        ("MAX", (Array(INT),), None),
        ("MAX_BY", (STRING, DOUBLE), STRING),
        ("TOP_K", (STRING, INT), Array(Struct((("item", STRING), ("count", BIGINT))))),
        ("EVERY", (BOOLEAN,), BOOLEAN),
    ],
)
def test_signatures(name: str, types: tuple[DataType, ...], result: DataType | None) -> None:
    assert _call(name, *types) == result
