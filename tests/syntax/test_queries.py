"""Queries: both spellings of the stream operators, windows, FROM items, set operations."""

from __future__ import annotations

import pytest

from cqlc.syntax import ast
from cqlc.syntax.ast import Duration, StreamOperator, ToStream, Unit
from tests.syntax.texts import (
    QUERIES,
    WINDOWS,
    column,
    integer,
    lines,
    name,
    program,
    query,
    select,
)

MINUTE = Duration("1", Unit.MINUTE)


@pytest.mark.parametrize("text", lines(QUERIES))
def test_every_query_parses(text: str) -> None:
    assert len(program(f"{text};").statements) == 1


def window(text: str) -> ast.Window | None:
    (source,) = select(f"SELECT * FROM s {text}").sources
    assert isinstance(source, ast.TableReference)
    return source.window


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("[Now]", ast.NowWindow()),
        ("[Range 5]", ast.RangeWindow(Duration("5", None))),
        ("[Range Unbounded]", ast.UnboundedWindow()),
        ("[UNBOUNDED INTERNAL]", ast.UnboundedWindow(internal=True)),
        ("[Range 1 Minute]", ast.RangeWindow(MINUTE)),
        ("[RANGE 1 min EXTERNAL]", ast.RangeWindow(MINUTE)),
        (
            "[RANGE 1 MIN SLIDE 2 SEC OFFSET 3 MS INTERNAL]",
            ast.RangeWindow(
                MINUTE, Duration("2", Unit.SECOND), Duration("3", Unit.MILLISECOND), True
            ),
        ),
        ("[ROWS 10]", ast.RowsWindow("10")),
        ("[ROWS 10 SLIDE 2]", ast.RowsWindow("10", slide="2")),
        (
            "[PARTITION BY T.Vid, b ROWS 1 RANGE 1 MINUTE SLIDE 2 ROWS INTERNAL]",
            ast.RowsWindow("1", (name("T.Vid"), name("b")), MINUTE, "2", True),
        ),
        ("[SESSION 1 MINUTE]", ast.SessionWindow(MINUTE)),
        ("[PARTITION BY x SESSION 1 MINUTE]", ast.SessionWindow(MINUTE, (name("x"),))),
    ],
)
def test_windows(text: str, tree: ast.Window) -> None:
    assert window(text) == tree


@pytest.mark.parametrize("text", lines(WINDOWS))
def test_a_window_stands_before_or_behind_the_alias(text: str) -> None:
    forms = (f"s {text} AS m", f"s AS m {text}", f"s {text} m", f"s m {text}", f"(s {text}) m")
    trees = {select(f"SELECT * FROM {form}").sources for form in forms}
    assert len(trees) == 1
    ((source,),) = trees
    assert isinstance(source, ast.TableReference)
    assert source.alias == ast.Name("m")
    assert source.window == window(text)


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("ISTREAM", ToStream(StreamOperator.ISTREAM)),
        ("Dstream", ToStream(StreamOperator.DSTREAM)),
        ("RSTREAM-RESTORE", ToStream(StreamOperator.RSTREAM, restore=True)),
        ("Rstream-restore", ToStream(StreamOperator.RSTREAM, restore=True)),
        ("ISTREAM RESTORE", ToStream(StreamOperator.ISTREAM, restore=True)),
        ("ISTREAM_RESTORE", ToStream(StreamOperator.ISTREAM, restore=True)),
        ("WSTREAM-RESTORE", ToStream(StreamOperator.WSTREAM, restore=True)),
    ],
)
def test_operators_around_the_query_and_around_the_list(text: str, tree: ToStream) -> None:
    inner = query("SELECT a, b FROM s")
    assert query(f"{text}(SELECT a, b FROM s)").body == ast.StreamOf(tree, inner)
    written = select(f"SELECT {text}(a, b) FROM s")
    assert written.to_stream == tree
    assert written.items == select("SELECT a, b FROM s").items


def test_every_and_output_windows() -> None:
    every = ToStream(StreamOperator.RSTREAM, every=MINUTE)
    assert select("SELECT RSTREAM(a) EVERY 1 MINUTE FROM s").to_stream == every
    around = query("RSTREAM(SELECT a FROM s) EVERY 1 MINUTE").body
    assert isinstance(around, ast.StreamOf)
    assert around.operator == every
    rows = ToStream(StreamOperator.WSTREAM, window=ast.OutputRows("10"))
    assert select("SELECT WSTREAM(*)[ROWS 10] FROM s").to_stream == rows
    around = query("WSTREAM(SELECT a FROM s)[RANGE 1 MINUTE]").body
    assert isinstance(around, ast.StreamOf)
    assert around.operator.window == ast.OutputRange(MINUTE)


def test_distinct_inside_and_outside_is_the_same() -> None:
    assert select("SELECT DISTINCT ISTREAM(a) FROM s") == select(
        "SELECT ISTREAM(DISTINCT a) FROM s"
    )


def test_intersect_binds_tighter_and_set_operations_group_to_the_left() -> None:
    s, t, u, v = (ast.NamedOperand(name(n)) for n in "STUV")
    first = ast.SetOperation("UNION", True, s, ast.SetOperation("INTERSECT", False, t, u))
    assert query("S UNION ALL T INTERSECT U MINUS V").body == ast.SetOperation(
        "EXCEPT", False, first, v
    )


def test_parentheses_make_a_query_again() -> None:
    nested = query("(SELECT 1 LIMIT 1) UNION S").body
    assert isinstance(nested, ast.SetOperation)
    assert nested.left == query("SELECT 1 LIMIT 1")
    assert query("((SELECT 1))") == ast.Query(query("SELECT 1"))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("JOIN", "INNER"),
        ("INNER JOIN", "INNER"),
        ("LEFT JOIN", "LEFT"),
        ("LEFT OUTER JOIN", "LEFT"),
        ("RIGHT OUTER JOIN", "RIGHT"),
        ("FULL JOIN", "FULL"),
        ("SEMI JOIN", "SEMI"),
        ("LEFT SEMI JOIN", "SEMI"),
        ("LEFT ANTI JOIN", "ANTI"),
    ],
)
def test_joins(text: str, kind: str) -> None:
    (joined,) = select(f"SELECT * FROM a {text} b ON p").sources
    left, right = (ast.TableReference(name(n)) for n in "ab")
    assert joined == ast.JoinClause(left, kind, right, column("p"))
    (joined,) = select(f"SELECT * FROM a {text} b USING (x)").sources
    assert joined == ast.JoinClause(left, kind, right, using=(ast.Name("x"),))


def test_joins_group_to_the_left_unless_in_parentheses() -> None:
    a, b, c = (ast.TableReference(name(n)) for n in "abc")
    p, q = column("p"), column("q")
    (left,) = select("SELECT * FROM a JOIN b ON p JOIN c ON q").sources
    assert left == ast.JoinClause(ast.JoinClause(a, "INNER", b, p), "INNER", c, q)
    (right,) = select("SELECT * FROM a JOIN (b CROSS JOIN c) ON q").sources
    assert right == ast.JoinClause(a, "INNER", ast.JoinClause(b, "CROSS", c), q)


def test_subqueries_in_from() -> None:
    (source,) = select("SELECT * FROM (SELECT 1) [NOW] AS x (a, b)").sources
    columns = (ast.Name("a"), ast.Name("b"))
    assert source == ast.Subquery(query("SELECT 1"), ast.NowWindow(), ast.Name("x"), columns)


def test_order_limit_and_offset_in_either_order() -> None:
    first = query("SELECT a FROM s ORDER BY a LIMIT 5 OFFSET 2")
    assert first == query("SELECT a FROM s ORDER BY a OFFSET 2 LIMIT 5")
    assert (first.limit, first.offset) == ("5", "2")


def test_shedding() -> None:
    text = "SELECT * FROM a JOIN b ON p ON OVERLOAD SHED BY PROB KEEP 10 ROWS SPLIT FIXED"
    assert select(text).shedding == ast.Shedding("PROB", "10", "FIXED")
    assert select("SELECT * FROM a JOIN b ON overload = 3").shedding is None


def test_values() -> None:
    assert query("VALUES (1), (2)").body == ast.ValuesClause(((integer(1),), (integer(2),)))
