"""The functions of the registry: every one is defined, and gives the values its sentence says."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import pytest

from cqlc.algebra.expr import AggregateCall, Column, Value
from cqlc.algebra.schema import Field
from cqlc.compiler import compile_program
from cqlc.datatypes import BIGINT, DOUBLE, INT, STRING, DataType
from cqlc.functions import AGGREGATES, FIELD, SCALARS
from cqlc.semantics import Meaning, Timeline
from cqlc.semantics.aggregates import AGGREGATE_MEANINGS, aggregator
from cqlc.semantics.scalars import IMPLEMENTATIONS
from cqlc.semantics.windows import Row


def test_every_function_of_the_registry_has_a_meaning() -> None:
    assert set(IMPLEMENTATIONS) == set(SCALARS) - {FIELD.name}
    assert set(AGGREGATE_MEANINGS) == set(AGGREGATES)


def value_of(expression: str) -> Value:
    """The value of an expression of constants."""
    plan = compile_program(f"SELECT {expression} AS x;").require().queries[0].plan
    (row,) = Meaning(Timeline()).relation(plan, 0)  # type: ignore[arg-type]
    return row[0]


DAY = datetime.date

SCALAR_EXAMPLES: list[tuple[str, Value]] = [
    # arithmetic
    ("7 / 2", 3),
    ("-7 / 2", -3),
    ("-7 % 3", -1),
    ("7 % -3", 1),
    ("7.5e0 / 2", 3.75),
    ("1 / 0", None),
    ("1 % 0", None),
    ("1.0e0 / 0", None),
    ("CAST(2147483647 AS INT) + CAST(1 AS INT)", None),
    ("CAST(9223372036854775807 AS BIGINT) * 2", None),
    ("CAST(0.1e0 AS FLOAT) + CAST(0.2e0 AS FLOAT)", 0.30000001192092896),
    ("-CAST(NULL AS INT)", None),
    # three-valued logic
    ("NULL AND FALSE", False),
    ("NULL AND TRUE", None),
    ("NULL OR TRUE", True),
    ("NULL OR FALSE", None),
    ("NOT CAST(NULL AS BOOLEAN)", None),
    ("NULL = NULL", None),
    ("NULL IS NOT DISTINCT FROM NULL", True),
    ("1 IS DISTINCT FROM NULL", True),
    ("CASE WHEN NULL THEN 1 ELSE 2 END", 2),
    ("3 IN (1, NULL)", None),
    ("1 IN (1, NULL)", True),
    ("3 NOT IN (1, NULL)", None),
    ("2 BETWEEN 1 AND NULL", None),
    ("CAST('NaN' AS DOUBLE) = CAST('NaN' AS DOUBLE)", True),
    ("CAST('NaN' AS DOUBLE) > CAST('Infinity' AS DOUBLE)", True),
    # casts
    ("CAST('12' AS INT)", 12),
    ("CAST(' 12 ' AS INT)", 12),
    ("CAST('1.5' AS INT)", None),
    ("CAST('x' AS INT)", None),
    ("CAST(300 AS TINYINT)", None),
    ("CAST(-1.9e0 AS INT)", -1),
    ("CAST('NaN' AS INT)", None),
    ("CAST(1.5e0 AS STRING)", "1.5"),
    ("CAST(1e10 AS STRING)", "1.0E10"),
    ("CAST(1.5e-5 AS STRING)", "1.5E-5"),
    ("CAST(CAST(0.1e0 AS FLOAT) AS STRING)", "0.1"),
    ("CAST(TRUE AS STRING)", "true"),
    ("CAST('yes' AS BOOLEAN)", True),
    ("CAST('maybe' AS BOOLEAN)", None),
    ("CAST('1.005' AS DECIMAL(5, 2))", Decimal("1.01")),
    ("CAST(12345 AS DECIMAL(4, 0))", None),
    ("CAST('2024-02-29 12:30:00.25' AS TIMESTAMP)", 1709209800250000),
    ("CAST('2024-02-29T12:30:00+02:00' AS TIMESTAMP)", 1709202600000000),
    ("CAST('2024-02-30' AS DATE)", None),
    ("CAST(TIMESTAMP '1970-01-01 00:00:01.5' AS STRING)", "1970-01-01 00:00:01.5"),
    ("CAST(TIMESTAMP '1970-01-02 05:00:00' AS DATE)", DAY(1970, 1, 2)),
    # numbers
    ("ABS(-3)", 3),
    ("ABS(CAST(-128 AS TINYINT))", None),
    ("SIGN(-2.5e0)", -1.0),
    ("CEIL(1.2e0)", 2),
    ("FLOOR(-1.2e0)", -2),
    ("ROUND(2.5e0)", 3.0),
    ("ROUND(-2.5e0)", -3.0),
    ("ROUND(1.005e0, 2)", 1.01),
    ("ROUND(1234, -2)", 1200),
    ("BROUND(2.5e0)", 2.0),
    ("SQRT(9.0e0)", 3.0),
    ("LN(0.0e0)", None),
    ("LOG(2.0e0, 8.0e0)", 3.0),
    ("LOG10(1000.0e0)", 3.0),
    ("POWER(2.0e0, 10.0e0)", 1024.0),
    ("PMOD(-7, 3)", 2),
    ("MOD(-7, 3)", -1),
    ("GREATEST(1, NULL, 3)", 3),
    ("LEAST(NULL, 2, 1)", 1),
    ("BIT_COUNT(-1)", 64),
    ("SHIFTLEFT(1, 63)", -(2**63)),
    ("BIN(5)", "101"),
    # strings
    ("'ab' || 'c'", "abc"),
    ("'ab' || NULL", None),
    ("LENGTH('héllo')", 5),
    ("OCTET_LENGTH('héllo')", 6),
    ("SUBSTRING('abcdef', 2, 3)", "bcd"),
    ("SUBSTRING('abcdef', -3)", "def"),
    ("SUBSTRING('abcdef', 0, 2)", "ab"),
    ("SUBSTRING('abc', -5, 3)", "a"),
    ("LEFT('abc', 2)", "ab"),
    ("RIGHT('abc', 2)", "bc"),
    ("LPAD('ab', 5, 'xy')", "xyxab"),
    ("RPAD('abc', 2)", "ab"),
    ("INITCAP('hello wORLD')", "Hello World"),
    ("CONCAT_WS('-', 'a', NULL, 'b')", "a-b"),
    ("REPLACE('abcabc', 'b')", "acac"),
    ("TRANSLATE('abcba', 'ab', 'x')", "xcx"),
    ("INSTR('hello', 'l')", 3),
    ("LOCATE('l', 'hello', 4)", 4),
    ("SPLIT_PART('a,b,c', ',', -1)", "c"),
    ("SPLIT('a1b2c', '[0-9]')", ("a", "b", "c")),
    ("SPLIT('a,b,,', ',')", ("a", "b", "", "")),
    ("SPLIT('a,b,c', ',', 2)", ("a", "b,c")),
    ("LEVENSHTEIN('kitten', 'sitting')", 3),
    ("'abc' LIKE 'a%'", True),
    ("'a%c' LIKE 'a\\%c'", True),
    ("'abc' LIKE 'a_'", False),
    ("'a_c' LIKE 'a!_c' ESCAPE '!'", True),
    ("'ABC' ILIKE 'a%'", True),
    ("'abc123' RLIKE '[0-9]+$'", True),
    ("REGEXP_EXTRACT('k=v', '(\\w)=(\\w)', 2)", "v"),
    ("REGEXP_EXTRACT('none', '(\\d)', 1)", ""),
    ("REGEXP_REPLACE('a1b2', '([0-9])', '<$1>')", "a<1>b<2>"),
    ("MD5('abc')", "900150983cd24fb0d6963f7d28e17f72"),
    ("URL_ENCODE('a b&c')", "a+b%26c"),
    ("URL_DECODE('a+b%26c')", "a b&c"),
    ("URL_DECODE('%zz')", None),
    ("PARSE_URL('http://u@h.org:80/p?a=1&b=2#f', 'HOST')", "h.org"),
    ("PARSE_URL('http://h.org/p?a=1&b=2', 'QUERY', 'b')", "2"),
    # times
    ("YEAR(TIMESTAMP '2024-02-29 23:59:59')", 2024),
    ("WEEK(TIMESTAMP '2021-01-03 00:00:00')", 53),
    ("DAYOFWEEK(TIMESTAMP '2024-01-07 00:00:00')", 1),
    ("WEEKDAY(TIMESTAMP '2024-01-07 00:00:00')", 6),
    ("CAST(DATE_TRUNC('week', TIMESTAMP '2024-01-07 10:00:00') AS STRING)", "2024-01-01 00:00:00"),
    ("DATE_FORMAT(TIMESTAMP '2024-03-05 07:08:09.012', 'yyyy/MM/d')", "2024/03/5"),
    ("DATE_FORMAT(TIMESTAMP '2024-03-05 07:08:09.012', 'HH:mm:ss.SSS')", "07:08:09.012"),
    ("DATE_FORMAT(TIMESTAMP '2024-03-05 17:08:09', 'h a')", "5 PM"),
    ("TO_DATE('05.03.2024', 'dd.MM.yyyy')", DAY(2024, 3, 5)),
    ("TO_DATE('soon')", None),
    ("TO_TIMESTAMP('1970-01-01 00:00:01')", 1_000_000),
    ("TIMESTAMP '1970-01-01 00:01:00' - 1 MINUTE", 0),
    ("TIMESTAMP '1970-01-01 00:01:00' - TIMESTAMP '1970-01-01 00:00:00'", 60_000_000),
    ("DURATION_MICROS(1 SECOND / 3)", 333_333),
    ("DURATION_MICROS(5 MICROSECONDS / 2)", 3),
    ("DURATION_MICROS(1 SECOND * 2.5)", 2_500_000),
    ("UNIX_MILLIS(TIMESTAMP '1970-01-01 00:00:01.5')", 1500),
    ("DATE_ADD(DATE '2024-02-28', 2)", DAY(2024, 3, 1)),
    ("ADD_MONTHS(DATE '2024-01-31', 1)", DAY(2024, 2, 29)),
    ("LAST_DAY(DATE '2023-02-01')", DAY(2023, 2, 28)),
    ("DATEDIFF(DATE '2024-03-01', DATE '2024-02-28')", 2),
    ("MAKE_DATE(2023, 2, 29)", None),
    # values, arrays
    ("COALESCE(NULL, NULL, 3)", 3),
    ("NULLIF(1, 1)", None),
    ("NVL2(NULL, 1, 2)", 2),
    ("ARRAY(1, NULL, 3)[2]", 3),
    ("ARRAY(1, 2)[5]", None),
    ("SIZE(ARRAY(1, 2))", 2),
    ("ELEMENT_AT(ARRAY(1, 2), -1)", 2),
    ("SLICE(ARRAY(1, 2, 3), 2, 2)", (2, 3)),
    ("ARRAY_CONTAINS(ARRAY(1, NULL), 2)", None),
    ("ARRAY_DISTINCT(ARRAY(2, 1, 2))", (2, 1)),
    ("SORT_ARRAY(ARRAY(2, NULL, 1))", (None, 1, 2)),
    ("ARRAY_MAX(ARRAY(2, NULL, 5))", 5),
    ("ARRAY_JOIN(ARRAY('a', NULL, 'b'), '+')", "a+b"),
    ("ARRAY_EXCEPT(ARRAY(1, 2, 2), ARRAY(1))", (2,)),
    ("FLATTEN(ARRAY(ARRAY(1), ARRAY(2, 3)))", (1, 2, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "expected"), SCALAR_EXAMPLES)
def test_scalar(expression: str, expected: Value) -> None:
    got = value_of(expression)
    assert got == expected
    assert type(got) is type(expected)


def aggregate(name: str, rows: list[tuple[int, Value]], type: DataType, *more: Value) -> Value:
    """An aggregate over (time, x) rows, with further constant arguments."""
    schema = (Field("x", type), *(Field(f"p{i}", DOUBLE) for i in range(len(more))))
    arguments = tuple(Column(field.name, field.type) for field in schema)
    call = AggregateCall(name, arguments, type)
    members = [Row((x, *more), time, time, time + 1) for time, x in rows]
    return aggregator(call, schema, {})(members)


def at_once(*values: Value) -> list[tuple[int, Value]]:
    """Rows of one time."""
    return [(0, value) for value in values]


AGGREGATE_EXAMPLES: list[
    tuple[str, list[tuple[int, Value]], DataType, tuple[Value, ...], Value]
] = [
    ("COUNT", at_once(1, None, 3), BIGINT, (), 2),
    ("COUNT", at_once(None), BIGINT, (), 0),
    ("SUM", at_once(1, None, 3), BIGINT, (), 4),
    ("SUM", at_once(None), BIGINT, (), None),
    ("SUM", at_once(2**62, 2**62), BIGINT, (), None),
    ("SUM", at_once(0.1, 0.2, 0.3), DOUBLE, (), 0.6),
    ("AVG", at_once(1.0, 2.0), DOUBLE, (), 1.5),
    ("MIN", at_once(3, None, 1), INT, (), 1),
    ("MAX", at_once(1.0, math.nan), DOUBLE, (), math.nan),
    ("MEDIAN", at_once(1.0, 2.0, 10.0, 3.0), DOUBLE, (), 2.5),
    ("QUANTILE", at_once(1.0, 2.0, 3.0), DOUBLE, (0.25,), 1.5),
    ("PERCENTILE_DISC", at_once(5, 1, 3), INT, (0.5,), 3),
    ("MODE", at_once(2, 1, 2, 1, 3), INT, (), 1),
    ("TOP_K", at_once("b", "a", "b", "c"), STRING, (2,), (("b", 2), ("a", 1))),
    ("VAR_POP", at_once(1.0, 3.0), DOUBLE, (), 1.0),
    ("VAR_SAMP", at_once(1.0), DOUBLE, (), None),
    ("STDDEV_SAMP", at_once(1.0, 3.0), DOUBLE, (), math.sqrt(2.0)),
    ("SKEWNESS", at_once(1.0, 1.0), DOUBLE, (), None),
    ("FIRST", [(5, 1), (2, 9), (2, 7)], INT, (), 7),
    ("FIRST", [(5, 1), (2, None)], INT, (), None),
    ("LAST", [(5, 1), (5, 4), (2, 9)], INT, (), 4),
    ("COLLECT_LIST", [(5, 1), (2, 9), (2, 7)], INT, (), (7, 9, 1)),
    ("COLLECT_SET", at_once(3, 1, 3, None), INT, (), (1, 3)),
    ("STRING_AGG", [(2, "b"), (1, "a")], STRING, ("-",), "a-b"),
    ("BOOL_AND", at_once(True, None, False), INT, (), False),
    ("BIT_XOR", at_once(5, 1), INT, (), 4),
]


@pytest.mark.parametrize(("name", "rows", "type", "more", "expected"), AGGREGATE_EXAMPLES)
def test_aggregate(
    name: str,
    rows: list[tuple[int, Value]],
    type: DataType,
    more: tuple[Value, ...],
    expected: Value,
) -> None:
    got = aggregate(name, rows, type, *more)
    assert got == expected or (got is math.nan and expected is math.nan)
