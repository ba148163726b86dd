"""Result columns under other names and types, as views and aliases declare them."""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.algebra.expr import Column, Expr, type_of
from cqlc.algebra.plan import Named, Project, Relation
from cqlc.codes import names as codes
from cqlc.datatypes import DataType, is_numeric
from cqlc.resolve.environment import Environment
from cqlc.resolve.items import RESERVED
from cqlc.resolve.operators import a_type, as_type, convert
from cqlc.source import Span
from cqlc.syntax import ast


@dataclass(frozen=True, slots=True)
class Output:
    """A declared result column; its type is None where only a name was given."""

    name: ast.Name
    type: DataType | None = None


def named_outputs(names: tuple[ast.Name, ...]) -> tuple[Output, ...]:
    """Results that are only renamed."""
    return tuple(Output(name) for name in names)


def renamed(rows: Relation, outputs: tuple[Output, ...], span: Span, env: Environment) -> Relation:
    """The rows with their columns called and typed as declared; unchanged if nothing was."""
    schema = env.facts.schema(rows)
    if not outputs:
        return rows
    if len(outputs) != len(schema):
        env.findings.report(
            codes.WRONG_COLUMN_COUNT,
            f"{len(outputs)} columns are declared, the query has {len(schema)}",
            outputs[0].name.span.to(outputs[-1].name.span),
            f"{len(outputs)} names",
            help="name every column of the query: " + ", ".join(f.name for f in schema[:12]),
        )
        return rows
    _check_names(outputs, env)
    base, values = columns_of(rows, env)
    columns = tuple(
        Named(output.name.text, _typed(value, output, env), span=output.name.span)
        for output, value in zip(outputs, values, strict=True)
    )
    return Project(base, columns, span=span)


def columns_of(rows: Relation, env: Environment) -> tuple[Relation, list[Expr]]:
    """A relation's columns as values; a projection is looked through, so that none is doubled."""
    if isinstance(rows, Project):
        return rows.input, [named.value for named in rows.columns]
    return rows, [Column(f.name, f.type) for f in env.facts.schema(rows)]


def _check_names(outputs: tuple[Output, ...], env: Environment) -> None:
    seen: set[str] = set()
    for output in outputs:
        name = output.name
        if name.text.lower() in seen:
            env.findings.report(
                codes.DUPLICATE_COLUMN,
                f"the column {name.text} is there twice",
                name.span,
                "declared again",
                help="give it another name",
            )
        if name.text.lower() in RESERVED:
            env.findings.report(
                codes.RESERVED_NAME,
                f"{name.text} is a name of its own",
                name.span,
                "streams and changelogs have a column of this name",
                help=f"call it {name.text.strip('_')}",
            )
        seen.add(name.text.lower())


def _typed(value: Expr, output: Output, env: Environment) -> Expr:
    """The value as the declared type: what converts by itself, and any number as another."""
    type = type_of(value)
    if output.type is None:
        return value
    if is_numeric(type) and is_numeric(output.type):
        return convert(value, output.type)
    found = as_type(value, output.type)
    if found is not None:
        return found
    env.findings.report(
        codes.NO_COMMON_TYPE,
        f"{output.name.text} is declared as {a_type(output.type)}, but the query gives "
        f"{a_type(type)}",
        output.name.span,
        f"{type} does not convert to {output.type}",
        help="declare the type that the query gives, or CAST it in the query",
    )
    return value
