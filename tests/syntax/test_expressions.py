"""Expressions: what each form means as a tree, and how tightly operators bind."""

from __future__ import annotations

import pytest

from cqlc.diagnostics import CompileError
from cqlc.source import Source
from cqlc.syntax import ast
from cqlc.syntax.ast import Binary, Literal, LiteralKind, Logical, Unary
from cqlc.syntax.parser import parse_expression, parse_type
from tests.syntax.texts import EXPRESSIONS, column, integer, lines, name, select, string

A, B, C, D = map(column, "abcd")
ONE = ast.Query(ast.Select((ast.SelectItem(integer(1)),)))


def expression(text: str) -> ast.Expr:
    return parse_expression(Source(text))


@pytest.mark.parametrize("text", lines(EXPRESSIONS))
def test_every_expression_parses_alone_and_in_a_query(text: str) -> None:
    assert select(f"SELECT {text} FROM s").items[0].value == expression(text)
    assert select(f"SELECT x FROM s WHERE {text}").where == expression(text)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a + b * c", Binary("+", A, Binary("*", B, C))),
        ("a - b - c", Binary("-", Binary("-", A, B), C)),
        ("a - (b - c)", Binary("-", A, Binary("-", B, C))),
        ("-a * b", Binary("*", Unary("-", A), B)),
        ("a || b = c", Binary("=", Binary("||", A, B), C)),
        ("a = b AND c OR d", Logical("OR", (Logical("AND", (Binary("=", A, B), C)), D))),
        ("a AND b AND c", Logical("AND", (A, B, C))),
        ("(a AND b) AND c", Logical("AND", (Logical("AND", (A, B)), C))),
        ("NOT a = b", Unary("NOT", Binary("=", A, B))),
        ("NOT a AND b", Logical("AND", (Unary("NOT", A), B))),
        ("a != b", Binary("<>", A, B)),
        ("a == b", Binary("=", A, B)),
        ("a BETWEEN b AND c AND d", Logical("AND", (ast.Between(A, B, C, False), D))),
        ("a NOT LIKE b ESCAPE c", ast.Like("LIKE", A, B, C, True)),
        ("a IS NOT NULL", ast.IsTest(A, "NULL", True)),
        ("a IS NOT DISTINCT FROM b", Binary("IS NOT DISTINCT FROM", A, B)),
        ("a NOT IN (1, b)", ast.InList(A, (integer(1), B), True)),
        ("a IN (SELECT 1)", ast.InQuery(A, ONE, False)),
        ("(a, b) IN (SELECT 1)", ast.InQuery(ast.RowValue((A, B)), ONE, False)),
        ("a <> SOME (SELECT 1)", ast.Quantified("<>", A, "ANY", ONE)),
        ("NOT EXISTS (SELECT 1)", Unary("NOT", ast.Exists(ONE))),
        ("((SELECT 1)) + a", Binary("+", ast.ScalarQuery(ONE), A)),
        ("(a)", A),
        ("a::INT::STRING", ast.CastAs(ast.CastAs(A, ast.TypeName("INT")), ast.TypeName("STRING"))),
        ("a::INT < b", Binary("<", ast.CastAs(A, ast.TypeName("INT")), B)),
        ("CASE WHEN a THEN b ELSE c END", ast.CaseWhen(None, ((A, B),), C)),
        ("CASE a WHEN b THEN c END", ast.CaseWhen(A, ((B, C),), None)),
        ("a[b][1]", ast.Subscript(ast.Subscript(A, B), integer(1))),
        ("f(DISTINCT a)", ast.FunctionCall(name("f"), (A,), distinct=True)),
        ("f(*)", ast.FunctionCall(name("f"), (ast.Star(),))),
        ("f(a.*)", ast.FunctionCall(name("f"), (ast.Star(name("a")),))),
        ("TOP 5 (a)", ast.FunctionCall(name("TOP"), (A, integer(5)))),
        ("EXTRACT(day FROM a)", ast.FunctionCall(name("EXTRACT"), (string("DAY"), A))),
        ("f() FILTER (WHERE a)", ast.FunctionCall(name("f"), (), where=A)),
        (
            "f() OVER (PARTITION BY a ORDER BY b DESC)",
            ast.FunctionCall(
                name("f"), (), over=ast.Over((A,), (ast.SortItem(B, descending=True),))
            ),
        ),
        (
            "f(WSTREAM(a)[RANGE 5 min])",
            ast.FunctionCall(
                name("f"),
                (ast.NestedWstream(A, ast.OutputRange(ast.Duration("5", ast.Unit.MINUTE))),),
            ),
        ),
    ],
)
def test_trees(text: str, tree: ast.Expr) -> None:
    assert expression(text) == tree


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("12", LiteralKind.INTEGER, "12"),
        ("9" * 5000, LiteralKind.INTEGER, "9" * 5000),
        ("1.", LiteralKind.DECIMAL, "1."),
        (".5", LiteralKind.DECIMAL, ".5"),
        ("1e-3", LiteralKind.FLOATING, "1e-3"),
        ("1.5E3", LiteralKind.FLOATING, "1.5E3"),
        ("'it''s'", LiteralKind.STRING, "it's"),
        ("''", LiteralKind.STRING, ""),
        ("tRuE", LiteralKind.BOOLEAN, "TRUE"),
        ("null", LiteralKind.NULL, "NULL"),
        ("timestamp '2020-01-01'", LiteralKind.TIMESTAMP, "2020-01-01"),
        ("Date '2020-01-01'", LiteralKind.DATE, "2020-01-01"),
    ],
)
def test_literals(text: str, kind: LiteralKind, value: str) -> None:
    assert expression(text) == Literal(kind, value)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("us", ast.Unit.MICROSECOND),
        ("microseconds", ast.Unit.MICROSECOND),
        ("ms", ast.Unit.MILLISECOND),
        ("Milliseconds", ast.Unit.MILLISECOND),
        ("s", ast.Unit.SECOND),
        ("sec", ast.Unit.SECOND),
        ("Second", ast.Unit.SECOND),
        ("min", ast.Unit.MINUTE),
        ("MINUTES", ast.Unit.MINUTE),
        ("hour", ast.Unit.HOUR),
        ("days", ast.Unit.DAY),
        ("weeks", ast.Unit.WEEK),
    ],
)
def test_units(text: str, unit: ast.Unit) -> None:
    assert expression(f"5 {text}") == ast.DurationLiteral(ast.Duration("5", unit))
    assert expression(f"5{text}") == ast.DurationLiteral(ast.Duration("5", unit))


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("int", ast.TypeName("INT")),
        ("DECIMAL(10, 2)", ast.TypeName("DECIMAL", (10, 2))),
        ("array<char(4)>", ast.TypeName("ARRAY", arguments=(ast.TypeName("CHAR", (4,)),))),
        (
            "STRUCT<a: INT, b STRING>",
            ast.TypeName(
                "STRUCT",
                arguments=(ast.TypeName("INT"), ast.TypeName("STRING")),
                field_names=(ast.Name("a"), ast.Name("b")),
            ),
        ),
    ],
)
def test_types(text: str, tree: ast.TypeName) -> None:
    assert parse_type(Source(text)) == tree


@pytest.mark.parametrize("text", ["", "a +", "a b", "a; b", "'x", "SELECT 1", "x" * 600_000])
def test_a_text_that_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(CompileError) as caught:
        expression(text)
    assert caught.value.diagnostics[0].code.id.startswith("CQL0")


@pytest.mark.parametrize(
    "text", ["", "INT INT", "DECIMAL(1.5)", f"CHAR({'9' * 5000})", "ARRAY<a: INT>", "STRUCT<INT>"]
)
def test_a_text_that_is_no_type_is_refused(text: str) -> None:
    with pytest.raises(CompileError):
        parse_type(Source(text))


def test_spans_cover_the_text_of_a_node() -> None:
    text = "SELECT f(a + 1, (b)) AS x FROM s"
    item = select(text).items[0]
    assert isinstance(item.value, ast.FunctionCall)
    first, second = item.value.arguments
    cut = Source(text).slice
    assert cut(item.span) == "f(a + 1, (b)) AS x"
    assert cut(item.value.span) == "f(a + 1, (b))"
    assert cut(first.span) == "a + 1"
    assert cut(second.span) == "(b)"
