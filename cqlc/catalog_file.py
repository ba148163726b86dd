"""Catalogs from YAML or JSON files: the same declarations as CREATE statements, as data.

    streams:
      bids:
        columns:
          auction: BIGINT
          price: {type: DOUBLE, check: price > 0}
          at: TIMESTAMP
        timestamp_by: at
        slack: 5 SECONDS
        source: {format: parquet, options: {path: data/bids}}
    relations:
      category: {columns: {id: INT, name: STRING}, keys: [[id]]}

Types, conditions and lengths of time are written as in CQL. A file becomes the CREATE statements it
stands for, which are resolved like any others, so there is one set of rules and findings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cqlc.catalog import Catalog
from cqlc.diagnostics import Diagnostic, Severity, in_order
from cqlc.resolve import resolve
from cqlc.source import NOWHERE, Source, Span
from cqlc.syntax.parser import parse


class CatalogError(Exception):
    """A catalog file that cannot be used, with everything found wrong in it."""


class _Entry(BaseModel):
    """A part of the file; what it does not know is a mistake."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)


class _External(_Entry):
    """A source or sink."""

    format: str
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)


class _Column(_Entry):
    """A column with what is known of its values."""

    type: str
    not_null: bool = False
    unique: bool = False
    check: str | None = None
    domain: list[str | int | float | bool] | None = Field(default=None, alias="in")
    distinct: int | None = None


class _Adherence(_Entry):
    """An order or clustering of arrivals, and how closely it is kept."""

    column: str
    within: str | None = None
    monitor: bool = False
    name: str | None = None


class _Punctuations(_Entry):
    """Which values punctuations close, and how they come."""

    by: list[list[str]]
    marker: str | None = None
    lifespan: str | None = None
    stream: str | None = Field(default=None, alias="from")


class _Table(_Entry):
    """A stream, relation or NRR."""

    columns: dict[str, str | _Column]
    keys: list[list[str]] = Field(default_factory=list[list[str]])
    checks: list[str] = Field(default_factory=list[str])
    timestamp_by: str | None = None
    slack: str | None = None
    idle: str | None = None
    sequence_by: str | None = None
    punctuations: _Punctuations | None = None
    ordered_by: list[_Adherence] = Field(default_factory=list[_Adherence])
    clustered_by: list[_Adherence] = Field(default_factory=list[_Adherence])
    rate: str | None = None
    append_only: bool = False
    source: _External | None = None


class _Function(_Entry):
    """A function of the user's own."""

    parameters: dict[str, str] = Field(default_factory=dict)
    returns: str
    aggregate: bool = False


class _Reference(_Entry):
    """A many-one reference: rows of `parent` refer to one row of `child`."""

    parent: str
    parent_columns: list[str]
    child: str
    child_columns: list[str]
    within: str | None = None
    monitor: bool = False
    name: str


class _File(_Entry):
    """The whole file."""

    version: Literal[1] = 1
    streams: dict[str, _Table] = Field(default_factory=dict)
    relations: dict[str, _Table] = Field(default_factory=dict)
    nrrs: dict[str, _Table] = Field(default_factory=dict)
    sinks: dict[str, _External] = Field(default_factory=dict)
    functions: dict[str, _Function] = Field(default_factory=dict)
    references: list[_Reference] = Field(default_factory=list[_Reference])


def load_catalog(path: Path) -> Catalog:
    """The catalog in a file; `.json` is read as JSON, anything else as YAML."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text file"
        raise CatalogError(f"{path}: {reason}") from None
    return parse_catalog(text, str(path))


def parse_catalog(text: str, name: str = "catalog.yaml") -> Catalog:
    """The catalog in a text; `name` says what it is, and what messages call it."""
    data = _json(text, name) if name.lower().endswith(".json") else _yaml(text, name)
    try:
        file = _File.model_validate({} if data is None else data)
    except ValidationError as error:
        lines = (f"{_path(e['loc'])}: {e['msg']}" for e in error.errors())
        raise CatalogError("\n".join(f"{name}: {line}" for line in lines)) from None
    statements = list(_statements(file))
    source = Source("".join(statement for _, statement in statements), name)
    parsed = parse(source)
    resolution = resolve(parsed.program)
    found = in_order((*parsed.diagnostics, *resolution.diagnostics))
    mistakes = [d for d in found if d.severity is Severity.ERROR]
    if mistakes:
        raise CatalogError("\n".join(f"{name}: {_said(d, statements)}" for d in mistakes))
    return _placeless(resolution.catalog)


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise CatalogError(f"{name}: not JSON: {error}") from None


def _yaml(text: str, name: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise CatalogError(f"{name}: not YAML: {' '.join(str(error).split())}") from None


def _placeless(part: Any) -> Any:
    """The same without places: those are in the statements, which nobody sees."""
    match part:
        case tuple():
            return tuple(_placeless(item) for item in part)  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {key: _placeless(value) for key, value in part.items()}  # pyright: ignore
        case Span():
            return NOWHERE
        case _ if is_dataclass(part) and not isinstance(part, type):
            values = {f.name: _placeless(getattr(part, f.name)) for f in fields(part)}
            return replace(part, **values)
        case _:
            return part


def _path(location: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in location) or "the file"


def _said(found: Diagnostic, statements: list[tuple[str, str]]) -> str:
    """A finding with the entry it is about."""
    place = found.primary.span.start
    ends = accumulate(len(statement) for _, statement in statements)
    after = (entry for (entry, _), end in zip(statements, ends, strict=True) if place < end)
    entry = next(after, "the file")
    help = f" ({found.help})" if found.help else ""
    return f"{entry}: {found.code.id}: {found.message}{help}"


# ---------------------------------------------------------------------------------- statements


def _statements(file: _File) -> Iterable[tuple[str, str]]:
    """The CREATE statements a file stands for, each with the path of its entry."""
    kinds = (("streams", "STREAM"), ("relations", "RELATION"), ("nrrs", "NRR"))
    tables = (file.streams, file.relations, file.nrrs)
    for (key, kind), entries in zip(kinds, tables, strict=True):
        for name, table in entries.items():
            yield f"{key}.{name}", _table(kind, name, table)
    for name, sink in file.sinks.items():
        yield f"sinks.{name}", f"CREATE SINK {_name(name)} TO {_external(sink)};\n"
    for name, function in file.functions.items():
        yield f"functions.{name}", _function(name, function)
    for place, reference in enumerate(file.references):
        yield f"references.{place}", _reference(reference)


def _table(kind: str, name: str, table: _Table) -> str:
    elements = [_column(column, spec) for column, spec in table.columns.items()]
    elements += [f"UNIQUE {_names(key)}" for key in table.keys]
    elements += [f"CHECK ({check})" for check in table.checks]
    elements += [_adherence("ORDERED", spec) for spec in table.ordered_by]
    elements += [_adherence("CLUSTERED", spec) for spec in table.clustered_by]
    clauses = [
        _clause("TIMESTAMP BY", table.timestamp_by and _name(table.timestamp_by)),
        _clause("SLACK", table.slack),
        _clause("IDLE", table.idle),
        _clause("SEQUENCE BY", table.sequence_by and _name(table.sequence_by)),
        _punctuations(table.punctuations),
        _clause("RATE", table.rate),
        "APPEND ONLY" if table.append_only else "",
        _clause("FROM", table.source and _external(table.source)),
    ]
    after = " ".join(clause for clause in clauses if clause)
    return f"CREATE {kind} {_name(name)} ({', '.join(elements)}) {after};\n"


def _column(name: str, spec: str | _Column) -> str:
    if isinstance(spec, str):
        return f"{_name(name)} {spec}"
    parts = [_name(name), spec.type]
    parts += ["NOT NULL"] if spec.not_null else []
    parts += ["UNIQUE"] if spec.unique else []
    parts += [f"CHECK ({spec.check})"] if spec.check is not None else []
    parts += [f"IN ({', '.join(map(_constant, spec.domain))})"] if spec.domain else []
    parts += [f"DISTINCT {spec.distinct}"] if spec.distinct is not None else []
    return " ".join(parts)


def _adherence(kind: str, spec: _Adherence) -> str:
    name = f"CONSTRAINT {_name(spec.name)} " if spec.name else ""
    return f"{name}{kind} BY {_name(spec.column)} {_bound(spec.within, spec.monitor)}"


def _bound(within: str | None, monitor: bool) -> str:
    parts = [_clause("WITHIN", within), "MONITOR" if monitor or within is None else ""]
    return " ".join(part for part in parts if part)


def _punctuations(spec: _Punctuations | None) -> str:
    if spec is None:
        return ""
    parts = [
        f"PUNCTUATED BY {', '.join(map(_names, spec.by))}",
        _clause("MARKER", spec.marker and _name(spec.marker)),
        _clause("LIFESPAN", spec.lifespan),
        _clause("PUNCTUATIONS FROM", spec.stream and _name(spec.stream)),
    ]
    return " ".join(part for part in parts if part)


def _function(name: str, spec: _Function) -> str:
    kind = "AGGREGATE FUNCTION" if spec.aggregate else "FUNCTION"
    parameters = ", ".join(f"{_name(p)} {type}" for p, type in spec.parameters.items())
    return f"CREATE {kind} {_name(name)}({parameters}) RETURNS {spec.returns};\n"


def _reference(spec: _Reference) -> str:
    child = f"{_name(spec.child)} {_names(spec.child_columns)}"
    parent = f"{_name(spec.parent)} {_names(spec.parent_columns)}"
    bound = _bound(spec.within, spec.monitor)
    return f"CREATE CONSTRAINT {_name(spec.name)} REFERENCES {child} FROM {parent} {bound};\n"


def _external(spec: _External) -> str:
    options = ", ".join(f"{_text(k)} {_text(_option(v))}" for k, v in spec.options.items())
    return f"{_text(spec.format)} OPTIONS ({options})"


def _option(value: str | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _clause(keyword: str, value: str | None) -> str:
    return f"{keyword} {value}" if value else ""


def _name(text: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in text.split("."))


def _names(texts: list[str]) -> str:
    return f"({', '.join(map(_name, texts))})"


def _text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _constant(value: str | float | bool) -> str:
    return _text(value) if isinstance(value, str) else str(value).upper()
