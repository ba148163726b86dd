"""Plans as JSON documents and back: a numbered table of operators, so that shared parts stay so.

    {"version": 1, "root": 1, "nodes": [{"node": "Scan"}, {"node": "Now", "input": {"plan": 0}}]}

An operator refers to its inputs by their place in the table, which comes before its own. Everything
else (expressions, types, columns) is written where it is used. Reading checks the document: an
unknown version or tag, a missing field or a plan that does not hold together is an error of the
type `PlanFormatError`.
"""

# pyright: basic

from __future__ import annotations

import base64
import contextlib
import dataclasses
import datetime
import decimal
import math
from enum import Enum
from functools import cache
from types import ModuleType
from typing import Any, get_args, get_origin, get_type_hints

from cqlc import datatypes
from cqlc.algebra import expr as expr_module
from cqlc.algebra import plan as plan_module
from cqlc.algebra import schema as schema_module
from cqlc.algebra.plan import Plan
from cqlc.algebra.validate import problems
from cqlc.algebra.walk import inputs, subplans
from cqlc.source import NOWHERE, Span

VERSION = 1


class PlanFormatError(ValueError):
    """A document that is not a plan, and why."""


# ------------------------------------------------------------------------------------- writing


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The plan as a document of lists, dictionaries, strings and numbers."""
    places = {id(node): place for place, node in enumerate(subplans(plan))}
    nodes = [_operator(node, places) for node in subplans(plan)]
    return {"version": VERSION, "root": places[id(plan)], "nodes": nodes}


def _operator(plan: Plan, places: dict[int, int]) -> dict[str, Any]:
    """An operator with its inputs as places in the table."""
    children = {id(child) for child in inputs(plan)}
    encoded: dict[str, Any] = {"node": type(plan).__name__}
    for field in dataclasses.fields(plan):
        value = getattr(plan, field.name)
        if id(value) in children:
            encoded[field.name] = {"plan": places[id(value)]}
        elif value != NOWHERE:
            encoded[field.name] = _encoded(value)
    return encoded


def _encoded(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else {"float": str(value)}
        case decimal.Decimal():
            return {"decimal": str(value)}
        case datetime.date():
            return {"date": value.isoformat()}
        case bytes():
            return {"bytes": base64.b64encode(value).decode("ascii")}
        case tuple():
            return [_encoded(item) for item in value]
        case Span(start, end):
            return [start, end]
        case _:
            fields = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
            shown = {name: _encoded(part) for name, part in fields if part != NOWHERE}
            return {"node": type(value).__name__, **shown}


# ------------------------------------------------------------------------------------- reading


def plan_from_json(document: Any) -> Plan:
    """The plan that a document describes."""
    if not isinstance(document, dict):
        raise PlanFormatError("a plan is an object with version, root and nodes")
    if document.get("version") != VERSION:
        raise PlanFormatError(f"version {document.get('version')!r} is not {VERSION}")
    nodes = document.get("nodes")
    if not isinstance(nodes, list) or not nodes:
        raise PlanFormatError("nodes must be a list with at least one operator")
    decoded: list[Any] = []
    for place, node in enumerate(nodes):
        try:
            decoded.append(_decoded(node, decoded))
        except RecursionError:
            raise PlanFormatError(f"node {place} nests too deeply") from None
        except PlanFormatError as error:
            raise PlanFormatError(f"node {place}: {error}") from None
    plan = _root(document.get("root"), decoded)
    if wrong := problems(plan):
        raise PlanFormatError("; ".join(wrong))
    return plan


def _root(place: Any, decoded: list[Any]) -> Plan:
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(decoded):
        raise PlanFormatError(f"root {place!r} is not the place of an operator")
    root = decoded[place]
    if type(root).__name__ not in _operators():
        raise PlanFormatError(f"the root is a {type(root).__name__}, not an operator")
    return root


def _decoded(value: Any, before: list[Any]) -> Any:
    match value:
        case list():
            return tuple(_decoded(item, before) for item in value)
        case {"node": str(tag), **fields}:
            return _built(tag, {n: _decoded(part, before) for n, part in fields.items()})
        case {"plan": int(place), **rest} if not rest and 0 <= place < len(before):
            return before[place]
        case {"decimal": str(text), **rest} if not rest:
            return _parsed(decimal.Decimal, text)
        case {"float": str(text), **rest} if not rest:
            return _parsed(float, text)
        case {"date": str(text), **rest} if not rest:
            return _parsed(datetime.date.fromisoformat, text)
        case {"bytes": str(text), **rest} if not rest:
            return _parsed(base64.b64decode, text)
        case dict():
            raise PlanFormatError(f"{sorted(map(str, value))} is not a value")
        case _:
            return value


def _parsed(read: Any, text: str) -> Any:
    try:
        return read(text)
    except (ValueError, ArithmeticError):
        raise PlanFormatError(f"{text!r} is not a value") from None


def _built(tag: str, given: dict[str, Any]) -> Any:
    cls = _classes().get(tag)
    if cls is None:
        raise PlanFormatError(f"there is no node {tag!r}")
    hints = _hints(cls)
    if unknown := sorted(given.keys() - hints.keys()):
        raise PlanFormatError(f"{tag} has no field {unknown[0]!r}")
    fields: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        if field.name == "span":
            fields["span"] = _span(given.get("span", (NOWHERE.start, NOWHERE.end)))
        elif field.name in given:
            try:
                fields[field.name] = _fitted(hints[field.name], given[field.name])
            except (TypeError, ValueError) as error:
                raise PlanFormatError(f"{tag}.{field.name}: {error}") from None
        elif field.default is dataclasses.MISSING:
            raise PlanFormatError(f"{tag} needs a field {field.name!r}")
    return cls(**fields)


def _fitted(hint: Any, value: Any) -> Any:
    """The value as a field of this type wants it; parts of it were checked when they were made."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple:
        if not isinstance(value, tuple):
            raise TypeError("a list is wanted")
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return tuple(_fitted(arguments[0], item) for item in value)
        return tuple(_fitted(a, item) for a, item in zip(arguments, value, strict=True))
    if arguments:
        for choice in arguments:
            with contextlib.suppress(TypeError, ValueError):
                return _fitted(choice, value)
        raise TypeError(f"{value!r:.80} does not belong here")
    if not isinstance(hint, type):  # the recursive part of Value
        return value
    if issubclass(hint, Enum):
        return hint(value)
    if isinstance(value, hint) and isinstance(value, bool) is (hint is bool):
        return value
    raise TypeError(f"{value!r:.80} is not a {hint.__name__}")


def _span(value: Any) -> Span:
    match value:
        case (int(start), int(end)):
            return Span(start, end)
        case _:
            raise PlanFormatError("a span is two numbers")


@cache
def _classes() -> dict[str, type]:
    """Everything that plans are made of, by name."""
    modules = (datatypes, schema_module, expr_module, plan_module)
    return {cls.__name__: cls for module in modules for cls in _nodes(module)}


def _nodes(module: ModuleType) -> list[type]:
    declared = (cls for cls in vars(module).values() if isinstance(cls, type))
    own = (cls for cls in declared if cls.__module__ == module.__name__)
    return [cls for cls in own if dataclasses.is_dataclass(cls)]


@cache
def _hints(cls: type) -> dict[str, Any]:
    return get_type_hints(cls)


@cache
def _operators() -> frozenset[str]:
    return frozenset(cls.__name__ for cls in get_args(Plan))
