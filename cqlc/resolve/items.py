"""The select list: items, stars, and the names of results."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cqlc.algebra.expr import Expr
from cqlc.algebra.schema import TIME
from cqlc.codes import names as codes
from cqlc.resolve.expression import Expressions
from cqlc.resolve.lookup import Fresh
from cqlc.resolve.naming import default_name, nickname
from cqlc.suggest import closest
from cqlc.syntax import ast

RESERVED = (TIME, "_op")
"""Columns that streams and changelogs have beside those of a query."""


@dataclass(frozen=True, slots=True)
class Item:
    """A result column: its name, its value, and the other name it answers to."""

    name: str
    value: Expr
    nickname: str | None = None


def select_items(written: tuple[ast.SelectItem, ...], resolver: Expressions) -> list[Item]:
    """The result columns, with unique names."""
    names = Fresh()
    items: list[Item] = []
    for item in written:
        if isinstance(item.value, ast.Star):
            items += _star(item.value, resolver)
        else:
            value = resolver.value(item.value)
            items.append(Item(_name(item, resolver), value, _nickname(item)))
    return [replace(item, name=names.name(item.name)) for item in items]


def _name(item: ast.SelectItem, resolver: Expressions) -> str:
    if item.alias is None:
        return default_name(item.value)
    check_reserved(item.alias, resolver)
    return item.alias.text


def check_reserved(name: ast.Name, resolver: Expressions) -> None:
    """A finding if a column is given a name that every stream has."""
    if name.text.lower() in RESERVED:
        resolver.env.findings.report(
            codes.RESERVED_NAME,
            f"{name.text} is a name of its own",
            name.span,
            "streams and changelogs have a column of this name",
            help=f"call it {name.text.strip('_')}",
        )


def _nickname(item: ast.SelectItem) -> str | None:
    return None if item.alias else nickname(item.value)


def _star(star: ast.Star, resolver: Expressions) -> list[Item]:
    scope, findings = resolver.scope, resolver.env.findings
    if any(item.open for item in scope.items):
        findings.depend_on_failure()
    if not scope.items:
        findings.report(
            codes.MISPLACED_EXPRESSION,
            "* means the columns of FROM, and there is none",
            star.span,
            "nothing to show",
            help="add FROM",
        )
        return []
    item = None
    if star.qualifier is not None:
        item, rest = scope.item(star.qualifier.parts)
        if item is None or rest:
            near = closest(star.qualifier.parts[0].text, (i.alias for i in scope.items))
            findings.report(
                codes.UNKNOWN_COLUMN,
                f"{star.qualifier.parts[0].text} is not in FROM",
                star.qualifier.span,
                "no FROM item is called so",
                help=f"did you mean {near}?"
                if near
                else "FROM has " + ", ".join(i.alias for i in scope.items),
            )
            return []
    columns = scope.star(item)
    return [Item(c.name, replace(c.value, span=star.span), c.nickname) for _, c in columns]
