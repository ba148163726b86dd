"""Expressions, names and types as documents."""

from __future__ import annotations

from cqlc.syntax import ast
from cqlc.syntax.ast import LiteralKind
from cqlc.syntax.printer import queries
from cqlc.syntax.printer.layout import (
    LINE,
    Anchor,
    Doc,
    Group,
    Nest,
    enclosed,
    hanging,
    separated,
)

# How tightly an expression binds; an operand that binds less tightly stands in parentheses.
_OR, _AND, _NOT, _PREDICATE, _SUM, _PRODUCT, _SIGN, _POSTFIX, _PRIMARY = range(9)
_SUMS = ("+", "-", "||")
_PRODUCTS = ("*", "/", "%")


def name(node: ast.Name) -> str:
    """An identifier, in double quotes if it was quoted."""
    return '"' + node.text.replace('"', '""') + '"' if node.quoted else node.text


def qualified(node: ast.QualifiedName) -> str:
    """Identifiers with dots between them."""
    return ".".join(map(name, node.parts))


def name_list(nodes: tuple[ast.Name, ...]) -> Doc:
    """Identifiers in parentheses."""
    return enclosed("(", separated(map(name, nodes)), ")")


def string(text: str) -> str:
    """A text as a string constant."""
    return "'" + text.replace("'", "''") + "'"


def duration(node: ast.Duration) -> str:
    """A length of time; the unit is singular after 1."""
    if node.unit is None:
        return node.amount
    unit = node.unit.value
    return f"{node.amount} {unit.removesuffix('S') if node.amount == '1' else unit}"


def type_name(node: ast.TypeName) -> str:
    """A type with its parameters."""
    if node.parameters:
        return f"{node.name}({', '.join(map(str, node.parameters))})"
    if not node.arguments:
        return node.name
    arguments = map(type_name, node.arguments)
    if node.field_names:
        fields = zip(map(name, node.field_names), arguments, strict=True)
        arguments = (f"{field}: {type}" for field, type in fields)
    return f"{node.name}<{', '.join(arguments)}>"


def expression(node: ast.Expr) -> Doc:
    """An expression as it stands where any expression may stand."""
    return _bound(node)[1]


def anchored(node: ast.Expr) -> Doc:
    """An expression to which comments may be attached."""
    return Anchor(node.span, expression(node))


def _at(node: ast.Expr, level: int) -> Doc:
    """An operand that must bind at least as tightly as `level`."""
    actual, doc = _bound(node)
    return doc if actual >= level else enclosed("(", doc, ")")


def _bound(node: ast.Expr) -> tuple[int, Doc]:
    """How tightly an expression binds, and its document."""
    match node:
        case ast.Literal():
            return _PRIMARY, _literal(node)
        case ast.DurationLiteral(length):
            return _PRIMARY, duration(length)
        case ast.Reference(column):
            return _PRIMARY, qualified(column)
        case ast.Binary():
            return _binary(node)
        case ast.Logical():
            return _logical(node)
        case ast.Unary("NOT", operand):
            return _NOT, ("NOT ", _at(operand, _NOT))
        case ast.Unary(op, operand):
            return _SIGN, (op, _at(operand, _POSTFIX))
        case ast.IsTest(operand, what, negated):
            return _PREDICATE, (_at(operand, _SUM), " IS NOT " if negated else " IS ", what)
        case ast.Between(operand, low, high, negated):
            word = " NOT BETWEEN " if negated else " BETWEEN "
            return _PREDICATE, (_at(operand, _SUM), word, _at(low, _SUM), " AND ", _at(high, _SUM))
        case ast.Like():
            return _PREDICATE, _like(node)
        case ast.InList(operand, values, negated):
            listed = enclosed("(", separated(map(anchored, values)), ")")
            return _PREDICATE, (_at(operand, _SUM), _in(negated), listed)
        case ast.InQuery(operand, query, negated):
            return _PREDICATE, (_at(operand, _SUM), _in(negated), queries.parenthesized(query))
        case ast.Exists(query):
            return _PRIMARY, ("EXISTS ", queries.parenthesized(query))
        case ast.Quantified(op, operand, quantifier, query):
            head = (_at(operand, _SUM), f" {op} {quantifier} ")
            return _PREDICATE, (head, queries.parenthesized(query))
        case ast.ScalarQuery(query):
            return _PRIMARY, queries.parenthesized(query)
        case ast.RowValue(values):
            return _PRIMARY, enclosed("(", separated(map(expression, values)), ")")
        case ast.CaseWhen():
            return _PRIMARY, _case(node)
        case ast.CastAs(operand, type):
            inside = (expression(operand), LINE, "AS ", type_name(type))
            return _PRIMARY, enclosed("CAST(", inside, ")")
        case ast.Star(qualifier):
            return _PRIMARY, f"{qualified(qualifier)}.*" if qualifier else "*"
        case ast.FunctionCall():
            return _PRIMARY, _call(node)
        case ast.Subscript(operand, index):
            return _POSTFIX, (_at(operand, _POSTFIX), enclosed("[", expression(index), "]"))
        case ast.NestedWstream(argument, window):
            inside = enclosed("WSTREAM(", expression(argument), ")")
            return _PRIMARY, (inside, queries.output_window(window))


def _literal(node: ast.Literal) -> str:
    match node.kind:
        case LiteralKind.STRING:
            return string(node.text)
        case LiteralKind.TIMESTAMP | LiteralKind.DATE:
            return f"{node.kind.name} {string(node.text)}"
        case (
            LiteralKind.INTEGER
            | LiteralKind.DECIMAL
            | LiteralKind.FLOATING
            | LiteralKind.BOOLEAN
            | LiteralKind.NULL
        ):
            return node.text


def _binary(node: ast.Binary) -> tuple[int, Doc]:
    level = _SUM if node.op in _SUMS else _PRODUCT if node.op in _PRODUCTS else _PREDICATE
    # Sums and products group to the left; comparisons do not group at all.
    left = _at(node.left, _SUM if level == _PREDICATE else level)
    right = _at(node.right, level + 1)
    return level, Group((left, Nest((LINE, f"{node.op} ", right))))


def _logical(node: ast.Logical) -> tuple[int, Doc]:
    level = _OR if node.op == "OR" else _AND
    first, *others = node.operands
    parts: list[Doc] = [Anchor(first.span, _at(first, level + 1))]
    for operand in others:
        doc = (f"{node.op} ", _at(operand, level + 1))
        parts += [LINE, Anchor(operand.span, doc, ends_line=operand is not others[-1])]
    return level, Group(tuple(parts))


def _like(node: ast.Like) -> Doc:
    word = f" NOT {node.op} " if node.negated else f" {node.op} "
    head: Doc = (_at(node.operand, _SUM), word, _at(node.pattern, _SUM))
    return (head, " ESCAPE ", _at(node.escape, _SUM)) if node.escape else head


def _in(negated: bool) -> str:
    return " NOT IN " if negated else " IN "


def _case(node: ast.CaseWhen) -> Doc:
    branches: list[Doc] = []
    for condition, value in node.branches:
        head = Group(("WHEN ", expression(condition), Nest((LINE, "THEN ", expression(value)))))
        branches += [LINE, Anchor(condition.span.to(value.span), head)]
    if node.otherwise:
        otherwise = ("ELSE ", expression(node.otherwise))
        branches += [LINE, Anchor(node.otherwise.span, otherwise)]
    operand = (" ", expression(node.operand)) if node.operand else ()
    return Group(("CASE", operand, Nest(tuple(branches)), LINE, "END"))


def _call(node: ast.FunctionCall) -> Doc:
    arguments: Doc = separated(map(anchored, node.arguments))
    match node:
        case ast.FunctionCall(
            ast.QualifiedName((ast.Name("EXTRACT", False),)),
            (ast.Literal(LiteralKind.STRING, part), value),
            False,
        ) if part.isidentifier() and part == part.upper():
            arguments = (f"{part} FROM ", expression(value))
        case ast.FunctionCall(distinct=True):
            arguments = ("DISTINCT", LINE, arguments)
        case _:
            pass
    doc: Doc = (qualified(node.name), enclosed("(", arguments, ")"))
    if node.where:
        doc = (doc, " FILTER ", enclosed("(", ("WHERE ", expression(node.where)), ")"))
    return (doc, " OVER ", _over(node.over)) if node.over else doc


def _over(node: ast.Over) -> Doc:
    parts: list[Doc] = []
    if node.partition:
        parts.append(hanging("PARTITION BY", separated(map(expression, node.partition))))
    if node.order:
        parts.append(queries.order_by(node.order))
    return enclosed("(", separated(parts, LINE), ")")
