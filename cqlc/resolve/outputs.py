"""Result columns under other names and types, as views and aliases declare them."""

from __future__ import annotations

from dataclasses import dataclass

from cqlc.algebra.expr import Column, Expr
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
    # Names go straight into a projection that is there already; types need a second one.
    inside = {n.name: n.value for n in rows.columns} if isinstance(rows, Project) else {}
    retyped = any(o.type not in (None, f.type) for o, f in zip(outputs, schema, strict=True))
    columns: list[Named] = []
    for output, field in zip(outputs, schema, strict=True):
        column = Column(field.name, field.type)
        value = column if retyped else inside.get(field.name, column)
        if retyped:
            value = _typed(column, output, env)
        columns.append(Named(output.name.text, value, span=output.name.span))
    if isinstance(rows, Project) and not retyped:
        return Project(rows.input, tuple(columns), span=rows.span)
    if not retyped and all(o.name.text == f.name for o, f in zip(outputs, schema, strict=True)):
        return rows
    return Project(rows, tuple(columns), span=span)


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


def _typed(value: Column, output: Output, env: Environment) -> Expr:
    """The value as the declared type: what converts by itself, and any number as another."""
    if output.type is None:
        return value
    if is_numeric(value.type) and is_numeric(output.type):
        return convert(value, output.type)
    found = as_type(value, output.type)
    if found is not None:
        return found
    env.findings.report(
        codes.NO_COMMON_TYPE,
        f"{output.name.text} is declared as {a_type(output.type)}, but the query gives "
        f"{a_type(value.type)}",
        output.name.span,
        f"{value.type} does not convert to {output.type}",
        help="declare the type that the query gives, or CAST it in the query",
    )
    return value
