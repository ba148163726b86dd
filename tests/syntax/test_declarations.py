"""Declarations: constraints, clauses in any order, views, sinks, functions."""

from __future__ import annotations

from itertools import permutations

import pytest

from cqlc.syntax import ast
from cqlc.syntax.ast import Bound, Duration, Unit
from tests.syntax.texts import DECLARATIONS, column, integer, lines, name, query, statement, string

SECONDS = Duration("5", Unit.SECOND)
INT = ast.TypeName("INT")


def table(text: str) -> ast.CreateTable:
    node = statement(text)
    assert isinstance(node, ast.CreateTable)
    return node


def clause(text: str) -> ast.Clause:
    (node,) = table(f"CREATE STREAM s (a INT) {text}").clauses
    return node


@pytest.mark.parametrize("text", lines(DECLARATIONS))
def test_every_declaration_parses(text: str) -> None:
    assert statement(f"{text};")


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("NOT NULL", ast.NotNull()),
        ("CHECK (a > 0)", ast.Check(ast.Binary(">", column("a"), integer(0)))),
        ("IN ('x', 'y')", ast.Domain((string("x"), string("y")))),
        ("DISTINCT 50", ast.DistinctCount("50")),
        ("KEY", ast.UniqueColumn()),
        ("PRIMARY KEY", ast.UniqueColumn()),
        ("UNIQUE", ast.UniqueColumn()),
    ],
)
def test_column_constraints(text: str, constraint: ast.ColumnConstraint) -> None:
    (defined,) = table(f"CREATE STREAM s (a INT {text})").columns
    assert defined == ast.ColumnDefinition(ast.Name("a"), INT, (constraint,))
    (defined,) = table(f"CREATE STREAM s (a INT NOT NULL {text})").columns
    assert defined.constraints == (ast.NotNull(), constraint)


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("KEY (a, b)", ast.KeyConstraint((ast.Name("a"), ast.Name("b")))),
        ("PRIMARY KEY (a)", ast.KeyConstraint((ast.Name("a"),))),
        ("UNIQUE (a)", ast.KeyConstraint((ast.Name("a"),))),
        ("CHECK (a = 1)", ast.CheckConstraint(ast.Binary("=", column("a"), integer(1)))),
        ("ORDERED BY a WITHIN 5 ROWS", ast.OrderedConstraint(None, ast.Name("a"), Bound("5"))),
    ],
)
def test_table_constraints_stand_among_the_columns_or_behind(
    text: str, constraint: ast.TableConstraint
) -> None:
    assert table(f"CREATE STREAM s (a INT, {text})").constraints == (constraint,)
    behind = table(f"CREATE STREAM s (a INT) {text}")
    assert (*behind.constraints, *behind.clauses) == (constraint,)


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("WITHIN 5 ROWS", Bound("5")),
        ("WITHIN 5 SECONDS", Bound(duration=SECONDS)),
        ("WITHIN 5", Bound(duration=Duration("5", None))),
        ("WITHIN 5 ROWS MONITOR", Bound("5", monitor=True)),
        ("WITHIN 5 SECONDS MONITOR", Bound(duration=SECONDS, monitor=True)),
        ("MONITOR", Bound(monitor=True)),
    ],
)
def test_adherence(text: str, bound: Bound) -> None:
    a = ast.Name("a")
    assert clause(f"ORDERED BY a {text}") == ast.OrderedConstraint(None, a, bound)
    assert clause(f"CONSTRAINT c CLUSTERED BY a {text}") == ast.ClusteredConstraint(
        ast.Name("c"), a, bound
    )
    references = ast.ReferencesConstraint(None, name("t"), (ast.Name("x"),), None, (a,), bound)
    assert clause(f"REFERENCES t (x) FROM (a) {text}") == references


def test_constraints_as_statements() -> None:
    ordered = ast.OrderedConstraint(ast.Name("c"), ast.Name("a"), Bound("5"))
    assert statement("CREATE CONSTRAINT c ORDERED BY a WITHIN 5 ROWS ON s") == (
        ast.CreateConstraint(ordered, name("s"))
    )
    references = ast.ReferencesConstraint(
        ast.Name("c"), name("t"), (ast.Name("x"),), name("s"), (ast.Name("a"),), Bound(monitor=True)
    )
    assert statement("CONSTRAINT c REFERENCES t (x) FROM s (a) MONITOR") == (
        ast.CreateConstraint(references)
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("TIMESTAMP BY at", ast.TimestampBy(ast.Name("at"))),
        ("TIMESTAMP BY at SLACK 5 SECONDS", ast.TimestampBy(ast.Name("at"), SECONDS)),
        ("TIMESTAMP BY at IDLE 5 SECONDS", ast.TimestampBy(ast.Name("at"), None, SECONDS)),
        ("SEQUENCE BY a", ast.SequenceBy(ast.Name("a"))),
        ("PUNCTUATIONS FROM p.q", ast.PunctuationsFrom(name("p.q"))),
        ("RATE 10 PER MINUTE", ast.Rate("10", Unit.MINUTE)),
        ("APPEND ONLY", ast.AppendOnly()),
        ("FROM rate", ast.FromExternal(ast.External("rate"))),
        (
            "FROM 'a b' OPTIONS (x.y 'z', 'p' = 5, q true, r -1.5)",
            ast.FromExternal(
                ast.External(
                    "a b",
                    (
                        ast.Option("x.y", "z"),
                        ast.Option("p", "5"),
                        ast.Option("q", "true"),
                        ast.Option("r", "-1.5"),
                    ),
                )
            ),
        ),
        (
            "PUNCTUATED BY (a), (a, b) MARKER m LIFESPAN 5 SECONDS",
            ast.PunctuatedBy(
                ((ast.Name("a"),), (ast.Name("a"), ast.Name("b"))), ast.Name("m"), SECONDS
            ),
        ),
    ],
)
def test_clauses(text: str, tree: ast.Clause) -> None:
    assert clause(text) == tree


def test_clauses_stand_in_any_order() -> None:
    clauses = ("TIMESTAMP BY a SLACK 5 SECONDS", "FROM csv", "RATE 1 PER HOUR", "APPEND ONLY")
    for order in permutations(clauses):
        written = table(f"CREATE STREAM s (a INT) {' '.join(order)}").clauses
        assert written == tuple(map(clause, order))


def test_views_with_a_declared_sort() -> None:
    node = table("REGISTER RELATION v (a integer) AS SELECT a FROM s")
    assert node.kind is ast.TableKind.RELATION
    assert node.columns == (ast.ColumnDefinition(ast.Name("a"), ast.TypeName("INTEGER")),)
    assert node.query == query("SELECT a FROM s")


def test_functions_and_sinks() -> None:
    x = (ast.Name("x"), ast.TypeName("DOUBLE"))
    assert statement("CREATE FUNCTION f(x DOUBLE) RETURNS INT") == (
        ast.CreateFunction(name("f"), (x,), INT)
    )
    assert statement("CREATE AGGREGATE FUNCTION f() RETURNS INT") == (
        ast.CreateFunction(name("f"), (), INT, aggregate=True)
    )
    target = ast.External("parquet", (ast.Option("path", "x"),))
    assert statement("CREATE SINK a.b TO parquet OPTIONS (path 'x')") == (
        ast.CreateSink(name("a.b"), target)
    )
    assert statement("INSERT INTO a SELECT 1") == ast.InsertInto(name("a"), query("SELECT 1"))
