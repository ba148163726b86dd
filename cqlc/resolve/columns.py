"""References to columns, and what to say when there is no such column."""

from __future__ import annotations

from dataclasses import replace

from cqlc.algebra.expr import Call, Expr, Literal, type_of
from cqlc.algebra.schema import TIME
from cqlc.codes import names as codes
from cqlc.datatypes import STRING, Struct
from cqlc.diagnostics import Fix, Label
from cqlc.functions import FIELD
from cqlc.resolve.environment import Environment
from cqlc.resolve.foreign import FOREIGN_COLUMNS
from cqlc.resolve.lookup import same_name
from cqlc.resolve.operators import POISON, a_type
from cqlc.resolve.scope import Ambiguous, Anything, Found, Missing, Scope, ScopeItem
from cqlc.suggest import closest
from cqlc.syntax import ast


def column(name: ast.QualifiedName, scope: Scope, env: Environment) -> Expr:
    """The value of a column, or of a field in it; a finding if there is none."""
    found = scope.find(name)
    match found:
        case Found():
            value: Expr = replace(found.column.value, span=name.span)
            for field in found.fields:
                value = _field(value, field, env)
            return value
        case Ambiguous(items):
            _ambiguous(name, items, env)
        case Anything():
            env.findings.depend_on_failure()
        case Missing(item):
            first = name.parts[0]
            if len(name.parts) == 1 and first.quoted and not _near(first, scope):
                return _as_string(first, env)
            _missing(name, item, scope, env)
    return replace(POISON, span=name.span)


def _field(struct: Expr, name: ast.Name, env: Environment) -> Expr:
    type = type_of(struct)
    if struct == POISON:
        return struct
    if isinstance(type, Struct):
        for declared, field_type in type.fields:
            if same_name(name, declared):
                span = struct.span.to(name.span)
                return Call(FIELD.name, (struct, Literal(declared, STRING)), field_type, span=span)
        near = closest(name.text, (declared for declared, _ in type.fields))
        fields = ", ".join(declared for declared, _ in type.fields)
        label, help = "no such field", f"did you mean {near}?" if near else f"it has {fields}"
    else:
        label, help = f"what stands before it is {a_type(type)}", "only a STRUCT has fields"
    env.findings.report(
        codes.UNKNOWN_COLUMN, f"there is no field {name.text}", name.span, label, help=help
    )
    return replace(POISON, span=name.span)


def _ambiguous(name: ast.QualifiedName, items: tuple[ScopeItem, ...], env: Environment) -> None:
    text = name.parts[0].text
    choices = " or ".join(f"{item.alias}.{text}" for item in items)
    env.findings.report(
        codes.AMBIGUOUS_COLUMN,
        f"{text} may be a column of {' or '.join(item.alias for item in items)}",
        name.span,
        f"{len(items)} FROM items have it",
        help=f"write {choices}",
        related=tuple(Label(item.span, f"has a column {text}") for item in items),
    )


def _missing(
    name: ast.QualifiedName, item: ScopeItem | None, scope: Scope, env: Environment
) -> None:
    written = ".".join(part.text for part in name.parts)
    first = name.parts[0]
    if item is not None and len(name.parts) > 1:
        _missing_in_item(name.parts[1], item, env)
        return
    if len(name.parts) > 1 and not _known_qualifier(name, scope, env):
        return
    help = _help_for(first, scope, env)
    env.findings.report(
        codes.UNKNOWN_COLUMN,
        f"there is no column {written}",
        name.span,
        "no FROM item has it",
        help=help,
    )


def _missing_in_item(name: ast.Name, item: ScopeItem, env: Environment) -> None:
    visible = [c.name for c in item.columns if not c.hidden]
    near = closest(name.text, visible)
    env.findings.report(
        codes.UNKNOWN_COLUMN,
        f"{item.alias} has no column {name.text}",
        name.span,
        f"not a column of {item.alias}",
        help=f"did you mean {near}?" if near else _listed(item.alias, visible),
        related=(Label(item.span, f"{item.alias} is this"),),
    )


def _listed(alias: str, columns: list[str]) -> str:
    shown = ", ".join(columns[:12]) + (", ..." if len(columns) > 12 else "")
    return f"{alias} has {shown}" if columns else f"{alias} has no columns"


def _known_qualifier(name: ast.QualifiedName, scope: Scope, env: Environment) -> bool:
    """False, with a finding, if the first part of a name is neither a FROM item nor a column."""
    first = name.parts[0]
    items = list({item.alias: item for item, _ in scope.columns()}.values())
    hidden = next((i for i in items if same_name(first, i.table) and i.table != i.alias), None)
    help, fix = "", None
    if hidden is not None:
        help = f"{hidden.table} is called {hidden.alias} in this query"
        fix = Fix(f"write {hidden.alias}", first.span, hidden.alias)
    elif scope.unseen(first):
        help = "a subquery in FROM does not see the items beside it; move the condition to WHERE"
    elif env.tables.find(first) or env.views.find(first):
        help = f"add {first.text} to FROM"
    elif near := closest(first.text, (item.alias for item in items)):
        help = f"did you mean {near}?"
    elif items:
        help = "FROM has " + ", ".join(item.alias for item in items)
    env.findings.report(
        codes.UNKNOWN_COLUMN,
        f"{first.text} is not in FROM",
        first.span,
        "no FROM item is called so",
        help=help,
        fix=fix,
    )
    return False


def _help_for(name: ast.Name, scope: Scope, env: Environment) -> str:
    if help := FOREIGN_COLUMNS.get(name.text.lower()):
        return help
    owners = [
        table.name
        for table in env.tables.things()
        if any(same_name(name, c.name) for c in table.columns)
    ]
    if owners:
        return f"{' and '.join(owners[:3])} has a column of this name; add it to FROM"
    if near := _near(name, scope):
        return f"did you mean {near}?"
    return "a string is written in single quotes"


def _near(name: ast.Name, scope: Scope) -> str | None:
    visible = [c.name for _, c in scope.columns() if not c.hidden or c.name == TIME]
    return closest(name.text, visible)


def _as_string(name: ast.Name, env: Environment) -> Expr:
    """The Stanford prototype writes strings in double quotes."""
    text = name.text.replace("'", "''")
    env.findings.report(
        codes.DOUBLE_QUOTED_STRING,
        f'"{name.text}" is no column, so it is taken as a string',
        name.span,
        "double quotes are for names",
        help="write strings in single quotes",
        fix=Fix("use single quotes", name.span, f"'{text}'"),
    )
    return Literal(name.text, STRING, span=name.span)
