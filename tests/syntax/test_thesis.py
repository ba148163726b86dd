"""The query texts of Golab's thesis, and windows as (kind, length, slide, internal)."""

from __future__ import annotations

import pytest

from cqlc.syntax import ast
from cqlc.syntax.ast import Duration, Unit
from tests.syntax.texts import program, select

LENGTH = "[RANGE 2 hour]"
TEXTS = f"""
SELECT MAX(a) FROM S
SELECT MAX(a) FROM S [RANGE 1 min]
SELECT MAX(a) FROM S [RANGE 1 min], T [RANGE 1 min] WHERE S.b = T.b
SELECT Rstream(*) FROM S1 [RANGE 1 min], S2 [RANGE 1 min] WHERE S1.a = S2.a
SELECT Wstream(*)[ROWS 10] FROM Stream1[RANGE 1 min] S1, Stream2[RANGE 1 min] S2 WHERE S1.a = S2.a
SELECT SUM(a) FROM (SELECT SUM(a) FROM Stream1[RANGE 6 sec SLIDE 6 sec INTERNAL]) [ROWS 10]
SELECT SUM(Wstream(SUM(a))[ROWS 10]) FROM Stream1[RANGE 6 sec SLIDE 6 sec]
SELECT Rstream-restore(*) FROM Stream1[RANGE 1 min SLIDE 10 sec], Stream2[RANGE 1 min SLIDE 10 sec]
SELECT Rstream(*) FROM S1, S2 WHERE S1.a = S2.a AND NOT EXISTS (SELECT Rstream(*) FROM S3)
SELECT Rstream(*) FROM Link1 {LENGTH}, Link2 {LENGTH} WHERE Link1.protocol = 'ftp'
SELECT Rstream(DISTINCT source_IP_address) FROM Link1 {LENGTH}
SELECT Rstream(*) FROM Link1 {LENGTH} WHERE NOT EXISTS (SELECT Rstream(*) FROM Link2 {LENGTH})
SELECT MEDIAN(length) FROM S [WINDOW 10 min SLIDE 2 min]
SELECT MEDIAN(length) FROM S [WINDOW 14 min SLIDE 3 min]
SELECT SUM(length) FROM S WHERE protocol='TCP' OR protocol='UDP'
SELECT MAX(length) FROM S WHERE protocol='TCP' OR user='U'
"""
PAIRS = [(10, 2), (5, 2), (6, 2), (15, 3), (12, 3), (20, 5), (30, 5)]
SECOND, MINUTE = Unit.SECOND, Unit.MINUTE


@pytest.mark.parametrize("text", TEXTS.strip().split("\n"))
def test_texts_parse(text: str) -> None:
    assert program(text)


@pytest.mark.parametrize(("window", "slide"), PAIRS)
def test_shared_aggregates_parse(window: int, slide: int) -> None:
    (source,) = select(f"SELECT MAX(a) FROM S [WINDOW {window} min SLIDE {slide} min]").sources
    assert isinstance(source, ast.TableReference)
    assert source.window == ast.RangeWindow(
        Duration(str(window), MINUTE), Duration(str(slide), MINUTE)
    )


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("[RANGE 1 min INTERNAL]", ast.RangeWindow(Duration("1", MINUTE), internal=True)),
        (
            "[RANGE 1 min SLIDE 10 sec]",
            ast.RangeWindow(Duration("1", MINUTE), Duration("10", SECOND)),
        ),
        (
            "[RANGE 6 sec SLIDE 6 sec INTERNAL]",
            ast.RangeWindow(Duration("6", SECOND), Duration("6", SECOND), internal=True),
        ),
        ("[ROWS 10]", ast.RowsWindow("10")),
        (
            "[WINDOW 10 min SLIDE 2 min]",
            ast.RangeWindow(Duration("10", MINUTE), Duration("2", MINUTE)),
        ),
    ],
)
def test_windows_have_kind_length_slide_and_scope(text: str, window: ast.Window) -> None:
    (source,) = select(f"SELECT * FROM S {text}").sources
    assert isinstance(source, ast.TableReference)
    assert source.window == window


def test_nested_wstream() -> None:
    (item,) = select("SELECT SUM(Wstream(SUM(a))[ROWS 10]) FROM S").items
    match item.value:
        case ast.FunctionCall(_, (ast.NestedWstream(ast.FunctionCall(), ast.OutputRows("10")),)):
            pass
        case other:
            raise AssertionError(other)
