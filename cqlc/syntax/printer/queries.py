"""Queries, FROM items and windows as documents."""

from __future__ import annotations

from cqlc.syntax import ast
from cqlc.syntax.printer import expressions as ex
from cqlc.syntax.printer.layout import LINE, Anchor, Doc, Group, Nest, enclosed, hanging, separated

_JOINS = {
    "INNER": "JOIN",
    "LEFT": "LEFT JOIN",
    "RIGHT": "RIGHT JOIN",
    "FULL": "FULL JOIN",
    "CROSS": "CROSS JOIN",
    "SEMI": "LEFT SEMI JOIN",
    "ANTI": "LEFT ANTI JOIN",
}


def query(node: ast.Query) -> Doc:
    """A query without parentheses."""
    parts: list[Doc] = []
    if node.ctes:
        parts.append(hanging("WITH", separated(map(_common_table, node.ctes))))
    parts.append(_body(node.body))
    if node.order_by:
        parts.append(order_by(node.order_by))
    if node.limit is not None:
        parts.append(f"LIMIT {node.limit}")
    if node.offset is not None:
        parts.append(f"OFFSET {node.offset}")
    return Anchor(node.span, Group(separated(parts, LINE)) if len(parts) > 1 else parts[0])


def parenthesized(node: ast.Query) -> Doc:
    """A query in parentheses."""
    return enclosed("(", query(node), ")")


def order_by(keys: tuple[ast.SortItem, ...]) -> Doc:
    """An ORDER BY clause."""
    return hanging("ORDER BY", separated(map(_sort_item, keys)))


def _common_table(node: ast.CommonTable) -> Doc:
    columns: Doc = (" ", ex.name_list(node.columns)) if node.columns else ()
    return Anchor(node.span, (ex.name(node.name), columns, " AS ", parenthesized(node.query)))


def _sort_item(node: ast.SortItem) -> Doc:
    direction = " DESC" if node.descending else ""
    nulls = f" NULLS {node.nulls}" if node.nulls else ""
    return Anchor(node.span, (ex.expression(node.value), direction, nulls))


def _body(node: ast.QueryBody) -> Doc:
    match node:
        case ast.Select():
            return _select(node)
        case ast.ValuesClause(rows):
            return hanging(
                "VALUES",
                separated(enclosed("(", separated(map(ex.expression, row)), ")") for row in rows),
            )
        case ast.NamedOperand(name):
            return ex.qualified(name)
        case ast.SetOperation():
            return _set_operation(node)
        case ast.StreamOf(operator, inner):
            head, tail = _to_stream(operator)
            return (enclosed(f"{head}(", query(inner), ")"), tail)
        case ast.Query():
            return parenthesized(node)


def _set_operation(node: ast.SetOperation) -> Doc:
    word = f"{node.op} ALL" if node.all else node.op
    return Group((_operand(node.left), LINE, word, LINE, _operand(node.right)))


def _operand(node: ast.QueryBody) -> Doc:
    # A query in parentheses has its anchor inside of them.
    return _body(node) if isinstance(node, ast.Query) else Anchor(node.span, _body(node))


def _select(node: ast.Select) -> Doc:
    return Group(separated(_clauses(node), LINE))


def _clauses(node: ast.Select) -> list[Doc]:
    clauses: list[Doc] = [_select_list(node)]
    if node.sources:
        clauses.append(hanging("FROM", separated(map(_from_item, node.sources))))
    if node.where:
        clauses.append(hanging("WHERE", ex.anchored(node.where)))
    if node.group_by:
        clauses.append(hanging("GROUP BY", separated(map(ex.anchored, node.group_by))))
    if node.having:
        clauses.append(hanging("HAVING", ex.anchored(node.having)))
    if node.shedding:
        clauses.append(_shedding(node.shedding))
    return clauses


def _select_list(node: ast.Select) -> Doc:
    items = separated(map(_select_item, node.items))
    word = "SELECT DISTINCT" if node.distinct else "SELECT"
    if node.to_stream is None:
        return hanging(word, items)
    head, tail = _to_stream(node.to_stream)
    return (f"{word} ", enclosed(f"{head}(", items, ")"), tail)


def _to_stream(node: ast.ToStream) -> tuple[str, str]:
    """What stands before the opening and after the closing parenthesis."""
    tail = output_window(node.window) if node.window else ""
    if node.every:
        tail = f" EVERY {ex.duration(node.every)}"
    return f"{node.operator}-RESTORE" if node.restore else str(node.operator), tail


def output_window(node: ast.OutputWindow) -> str:
    """The window after WSTREAM(...)."""
    match node:
        case ast.OutputRows(rows):
            return f"[ROWS {rows}]"
        case ast.OutputRange(length):
            return f"[RANGE {ex.duration(length)}]"


def _select_item(node: ast.SelectItem) -> Doc:
    alias = f" AS {ex.name(node.alias)}" if node.alias else ""
    return Anchor(node.span, (ex.expression(node.value), alias))


def _shedding(node: ast.Shedding) -> Doc:
    split = f" SPLIT {node.split}" if node.split else ""
    text = f"ON OVERLOAD SHED BY {node.policy} KEEP {node.keep} ROWS{split}"
    return Anchor(node.span, text)


def _from_item(node: ast.FromItem) -> Doc:
    match node:
        case ast.TableReference(name, bounds, alias):
            return Anchor(node.span, (ex.qualified(name), _window(bounds), _alias(alias)))
        case ast.Subquery(inner, bounds, alias, columns):
            listed: Doc = (" ", ex.name_list(columns)) if columns else ()
            return Anchor(node.span, (parenthesized(inner), _window(bounds), _alias(alias), listed))
        case ast.JoinClause():
            return _join(node)


def _join(node: ast.JoinClause) -> Doc:
    right = _from_item(node.right)
    if isinstance(node.right, ast.JoinClause):
        right = enclosed("(", right, ")")
    condition: Doc = ()
    if node.on:
        condition = (LINE, Anchor(node.on.span, ("ON ", ex.expression(node.on))))
    elif node.using:
        condition = (LINE, "USING ", ex.name_list(node.using))
    joined = Anchor(node.right.span, (f"{_JOINS[node.kind]} ", right))
    return Group((_from_item(node.left), LINE, Group((joined, Nest(condition)))))


def _alias(alias: ast.Name | None) -> str:
    return f" AS {ex.name(alias)}" if alias else ""


def _window(node: ast.Window | None) -> str:
    return f" [{' '.join(_window_words(node))}]" if node else ""


def _window_words(node: ast.Window) -> list[str]:
    match node:
        case ast.NowWindow():
            return ["NOW"]
        case ast.UnboundedWindow(internal):
            return ["UNBOUNDED", *_scope(internal)]
        case ast.RangeWindow(length, slide, offset, internal):
            words = ["RANGE", ex.duration(length)]
            if slide:
                words += ["SLIDE", ex.duration(slide)]
            if offset:
                words += ["OFFSET", ex.duration(offset)]
            return [*words, *_scope(internal)]
        case ast.RowsWindow(rows, partition, length, slide, internal):
            words = [*_partition(partition), "ROWS", rows]
            if length:
                words += ["RANGE", ex.duration(length)]
            if slide is not None:
                words += ["SLIDE", slide, "ROWS"]
            return [*words, *_scope(internal)]
        case ast.SessionWindow(gap, partition):
            return [*_partition(partition), "SESSION", ex.duration(gap)]


def _scope(internal: bool) -> list[str]:
    return ["INTERNAL"] if internal else []


def _partition(columns: tuple[ast.QualifiedName, ...]) -> list[str]:
    return ["PARTITION BY", ", ".join(map(ex.qualified, columns))] if columns else []
