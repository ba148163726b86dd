"""WSTREAM inside an aggregate, as the subquery it stands for.

`SELECT SUM(WSTREAM(SUM(a))[ROWS 10]) FROM S [RANGE 6 SECONDS SLIDE 6 SECONDS]` is the sum over the
last ten sums: an aggregate over a window on the stream that the inner aggregate gives when the
input windows only bound its state (Golab's thesis, section 3.4).
"""

from __future__ import annotations

from dataclasses import replace

from cqlc.codes import windows as codes
from cqlc.resolve.environment import Environment
from cqlc.resolve.lookup import Fresh
from cqlc.resolve.naming import default_name
from cqlc.resolve.tree import nodes, replaced
from cqlc.syntax import ast


def without_nested_wstream(select: ast.Select, env: Environment) -> ast.Select:
    """The block with its nested WSTREAMs as a subquery with a window; itself if it has none."""
    parts = [*(item.value for item in select.items), *([select.having] if select.having else [])]
    found = [
        node
        for part in parts
        for call in nodes(part)
        if isinstance(call, ast.FunctionCall)
        for node in call.arguments
        if isinstance(node, ast.NestedWstream)
    ]
    if not found:
        return select
    first = found[0]
    for other in found[1:]:
        if other.window != first.window:
            env.findings.report(
                codes.NESTED_WSTREAM_MISUSED,
                "the nested WSTREAMs of one query must have the same window",
                other.span,
                "another window than the first",
                help="ask for them in two queries",
            )
    inner = list(dict.fromkeys((*select.group_by, *(node.argument for node in found))))
    names = Fresh()
    references: list[ast.Expr] = [
        ast.Reference(
            ast.QualifiedName((ast.Name(names.name(default_name(e)), True),)), span=e.span
        )
        for e in inner
    ]
    by_value: dict[ast.Node, ast.Node] = dict(zip(inner, references, strict=True))
    images: dict[ast.Node, ast.Node] = {node: by_value[node.argument] for node in found}
    images |= {key: by_value[key] for key in select.group_by}
    block = replace(
        select,
        items=tuple(ast.SelectItem(value, span=value.span) for value in inner),
        distinct=False,
        to_stream=ast.ToStream(ast.StreamOperator.ISTREAM, span=first.span),
        sources=tuple(_internal(item) for item in select.sources),
        having=None,
        shedding=None,
    )
    source = ast.Subquery(ast.Query(block, span=select.span), _window(first), span=select.span)
    return replace(
        select,
        items=replaced(select.items, images),
        having=replaced(select.having, images),
        group_by=replaced(select.group_by, images),
        sources=(source,),
        where=None,
    )


def _window(nested: ast.NestedWstream) -> ast.Window:
    match nested.window:
        case ast.OutputRows(rows):
            return ast.RowsWindow(rows, span=nested.window.span)
        case ast.OutputRange(length):
            return ast.RangeWindow(length, span=nested.window.span)


def _internal(item: ast.FromItem) -> ast.FromItem:
    """The FROM item with INTERNAL windows, as WSTREAM implies."""
    match item:
        case ast.JoinClause(left, _, right):
            return replace(item, left=_internal(left), right=_internal(right))
        case ast.TableReference() | ast.Subquery():
            match item.window:
                case ast.RangeWindow() | ast.RowsWindow() | ast.UnboundedWindow():
                    return replace(item, window=replace(item.window, internal=True))
                case ast.NowWindow():
                    tick = ast.Duration("1", ast.Unit.MICROSECOND, span=item.window.span)
                    window = ast.RangeWindow(tick, internal=True, span=item.window.span)
                    return replace(item, window=window)
                case ast.SessionWindow() | None:
                    return item
