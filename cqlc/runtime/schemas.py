"""Arrow types and schemas from the names of Spark SQL types, as generated programs write them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa

from cqlc.runtime.columns import FROM, OP, TIME, UNTIL
from cqlc.runtime.kernel import Form, Port

_SIMPLE: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "FLOAT": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": pa.timestamp("us", tz="UTC"),
    "INTERVAL DAY TO SECOND": pa.duration("us"),
    "VOID": pa.null(),
}
_TOKEN = re.compile(r"INTERVAL DAY TO SECOND|`(?:[^`]|``)*`|\w+|[<>(),:]")

TIMES: dict[Form, tuple[str, ...]] = {
    Form.STREAM: (TIME,),
    Form.LIFETIMES: (FROM, UNTIL),
    Form.CHANGELOG: (OP, TIME),
}
"""The hidden columns of each form; all are BIGINT, times in microseconds."""


def arrow_type(name: str) -> pa.DataType:
    """The Arrow type of a Spark SQL type such as `DECIMAL(10,2)` or `ARRAY<STRUCT<a: INT>>`."""
    tokens = _TOKEN.findall(name)
    found, rest = _parse(tokens, name)
    if rest:
        raise ValueError(f"{name!r} is not the name of a type")
    return found


def _parse(tokens: list[str], name: str) -> tuple[pa.DataType, list[str]]:
    match tokens:
        case ["ARRAY", "<", *rest]:
            element, rest = _parse(rest, name)
            return pa.list_(element), _skip(rest, ">", name)
        case ["STRUCT", "<", *rest]:
            fields: list[tuple[str, pa.DataType]] = []
            while rest and rest[0] != ">":
                field = rest[0].strip("`").replace("``", "`")
                kind, rest = _parse(_skip(rest[1:], ":", name), name)
                fields.append((field, kind))
                rest = rest[1:] if rest[:1] == [","] else rest
            return pa.struct(fields), _skip(rest, ">", name)
        case ["DECIMAL", "(", precision, ",", scale, ")", *rest]:
            return pa.decimal128(int(precision), int(scale)), rest
        case [simple, *rest] if simple in _SIMPLE:
            return _SIMPLE[simple], rest
        case _:
            raise ValueError(f"{name!r} is not the name of a type")


def _skip(tokens: list[str], token: str, name: str) -> list[str]:
    if tokens[:1] != [token]:
        raise ValueError(f"{name!r} is not the name of a type")
    return tokens[1:]


def port(form: Form, columns: Mapping[str, str], *extra: str) -> Port:
    """An input with data columns of named types and the hidden columns of its form.

    `extra` are further hidden columns, such as `_visible`.
    """
    data = [pa.field(name, arrow_type(kind)) for name, kind in columns.items()]
    hidden = [pa.field(name, pa.int64()) for name in (*TIMES[form], *extra)]
    return Port(form, pa.schema([*data, *hidden]))
