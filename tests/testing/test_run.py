"""Test files: what they may hold, how a failure reads, blessing, JUnit, late rows."""

from __future__ import annotations

import random
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import pytest

import cqlc.testing
from cqlc.semantics import BEGINNING
from cqlc.testing.arrivals import Feed, without_late

EXAMPLES = Path(__file__).parents[2] / "examples" / "tests"

COUNTS = """
    # Counts

    ```cql
    CREATE STREAM bids (auction INT, price INT);
    SELECT auction, COUNT(*) AS n FROM bids [RANGE 10 SECONDS] GROUP BY auction;
    ```

    ## One auction

    Input `bids`:

    | time | auction | price |
    |------|---------|-------|
    | 1    | 7       | 5     |
    | 2    | 7       | 5     |

    Output:

    | time | op | auction | n |
    |------|----|---------|---|
    | 1    | +  | 7       | 1 |
    | 2    | -  | 7       | 1 |
    | 2    | +  | 7       | {two} |
    | 11   | -  | 7       | 2 |
    | 11   | +  | 7       | 1 |
    | 12   | -  | 7       | 1 |
"""


def written(folder: Path, text: str) -> Path:
    """A file with a test."""
    path = folder / "test.md"
    path.write_text(dedent(text).lstrip())
    return path


def report(folder: Path, text: str) -> str:
    """What a run of one file prints."""
    return cqlc.testing.run_paths([written(folder, text)]).text()


@pytest.mark.parametrize("test", cqlc.testing.cases(EXAMPLES), ids=lambda test: test.title)
def test_the_examples_hold(test: cqlc.testing.TestText) -> None:
    cqlc.testing.check(test)


def test_a_test_that_holds(tmp_path: Path) -> None:
    run = cqlc.testing.run_paths([written(tmp_path, COUNTS.format(two=2))])
    assert run.ok
    assert run.text() == "1 passed, 0 failed"


def test_a_failure_shows_the_rows_that_differ(tmp_path: Path) -> None:
    text = report(tmp_path, COUNTS.format(two=3)).replace(str(tmp_path), "")
    assert text == dedent(
        """\
        FAILED /test.md:8 One auction
          Output, line 17:
              time  op  auction  n
            - 2     +   7        3   <- expected, but missing
            + 2     +   7        2   <- not expected
              2     -   7        1
              (4 other rows as expected)

        0 passed, 1 failed"""
    )


def test_blessing_writes_the_answer_and_nothing_else(tmp_path: Path) -> None:
    path = written(tmp_path, COUNTS.format(two=3))
    assert cqlc.testing.run_paths([path], bless=True).ok
    assert path.read_text() == dedent(COUNTS.format(two=2)).lstrip()
    before = path.read_text()
    assert cqlc.testing.run_paths([path], bless=True).ok
    assert path.read_text() == before


def test_blessing_adds_a_table_that_is_missing(tmp_path: Path) -> None:
    text = COUNTS.split("    | time | op")[0]
    path = written(tmp_path, text)
    cqlc.testing.run_paths([path], bless=True)
    assert path.read_text().rstrip() == dedent(COUNTS.format(two=2)).strip()


def test_junit(tmp_path: Path) -> None:
    path = written(tmp_path, COUNTS.format(two=3))
    cqlc.testing.run_paths([path, EXAMPLES / "tables.md"], junit=tmp_path / "junit.xml")
    suites = ElementTree.parse(tmp_path / "junit.xml").getroot()
    counts = [(suite.get("tests"), suite.get("failures")) for suite in suites]
    assert counts == [("1", "1"), ("2", "0")]
    failure = suites.find("testsuite/testcase/failure")
    assert failure is not None
    assert "expected, but missing" in (failure.text or "")


def test_directories_are_searched(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    written(tmp_path / "deep", COUNTS.format(two=2))
    assert len(cqlc.testing.run_paths([tmp_path]).outcomes) == 1


def test_no_tests_are_no_success(tmp_path: Path) -> None:
    assert not cqlc.testing.run_paths([tmp_path]).ok


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Input `bids`", "Input `bid`", "`bid` is not declared"),
        ("Input `bids`", "Input", "Input of what?"),
        ("| 1    | 7       | 5     |", "| 1    | 7       | x     |", "column `price`: `x` is not"),
        ("| 1    | 7       | 5     |", "| soon | 7       | 5     |", "`soon` is not a time"),
        ("| 1    | 7       | 5     |", "| 1    | 7       |", "the row has 2 cells"),
        ("| time | auction | price |", "| time | auction | prise |", "has no column `prise`"),
        ("| time | auction | price |", "| when | auction | price |", "have no time"),
        ("|------|---------|-------|\n", "", "a table needs a header"),
        ("Output:", "Output `alerts`:", "no query is called `alerts`"),
        ("Output:", "Then:", "the test expects nothing"),
        ("| 12   | -  |", "| late | -  |", "the row has no time"),
        ("| 12   | -  | 7       | 1 |", "| 12   | -  | 7       | ? |", "`?` is not a value"),
        ("Output:", "Output at noon:", "`noon` is not a time"),
    ],
)
def test_a_mistake_in_a_test_is_explained(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = dedent(COUNTS.format(two=2)).replace(old, new, 1)
    got = report(tmp_path, text)
    assert "error[CQL5001]" in got
    assert message in got
    assert "help:" in got


def test_other_columns_than_expected_are_named(tmp_path: Path) -> None:
    got = report(tmp_path, COUNTS.format(two=2).replace("op | auction | n", "op | auction | m"))
    assert "the columns of the answer are: time, op, auction, n" in got


def test_mistakes_in_the_program_are_shown_where_they_stand_in_the_file(tmp_path: Path) -> None:
    got = report(tmp_path, COUNTS.format(two=2).replace("GROUP BY auction", "GROUP BY action"))
    assert "test.md:5:" in got


def test_a_stream_has_no_rows_at_a_time(tmp_path: Path) -> None:
    text = COUNTS.format(two=2).replace("SELECT auction, COUNT(*) AS n", "SELECT ISTREAM(auction)")
    text = text.replace(" GROUP BY auction", "").replace("Output:", "Output at 5:")
    assert "the answer is a stream" in report(tmp_path, text)


def test_until_ends_what_would_go_on(tmp_path: Path) -> None:
    text = """
        ```cql
        CREATE STREAM s (v INT);
        SELECT RSTREAM(v) EVERY 5 SECONDS FROM s;
        ```

        Input `s`:

        | time | v |
        |------|---|
        | 1    | 7 |

        Until 10

        Output:

        | time | v |
        |------|---|
        | 5    | 7 |
        | 10   | 7 |
    """
    assert report(tmp_path, text) == "1 passed, 0 failed"


# ------------------------------------------------------------------------------------- lateness


def feed(*batches: tuple[int, ...], moves: tuple[int, ...] = ()) -> Feed:
    """Batches of rows that are only times."""
    rest = (BEGINNING,) * (len(batches) - len(moves))
    return Feed(tuple(tuple((t, (t,)) for t in batch) for batch in batches), (*moves, *rest))


@pytest.mark.parametrize(
    ("rows", "slack", "late"),
    [
        (feed((20, 5)), 0, []),
        (feed((20,), (20, 19)), 0, [19]),
        (feed((20,), (15, 14)), 5, [14]),
        (feed((20,), (14,), (13,)), 5, [14, 13]),
        (feed((20,), (30, 16), (24, 25)), 5, [24]),
        (feed((1,), (8, 9), moves=(9,)), 0, [8]),
        (feed((20,), (), (19,)), 0, [19]),
    ],
)
def test_a_row_is_late_below_the_watermark_of_its_batchs_start(
    rows: Feed, slack: int, late: list[int]
) -> None:
    kept, dropped = without_late(rows, slack)
    assert [time for time, _ in dropped] == late
    assert len(kept) + len(dropped) == sum(map(len, rows.batches))


def test_late_rows_must_be_listed(tmp_path: Path) -> None:
    text = (EXAMPLES / "late_rows.md").read_text().replace("Late `readings`:", "Dropped:")
    assert "1 late row(s) of `readings` were dropped" in report(tmp_path, text)


def test_a_key_of_an_nrr_must_not_come_back(tmp_path: Path) -> None:
    text = (EXAMPLES / "tables.md").read_text()
    row = "| 00:00:06 | -  | A      | Alpha |"
    again = "| 00:00:07 | +  | A      | Other |"
    place = text.rindex(row) + len(row)
    got = report(tmp_path, f"{text[:place]}\n{again}{text[place:]}")
    assert "the key (A) was deleted before" in got


# ------------------------------------------------------------------------------------- from Python


def test_asking_from_python() -> None:
    program = "CREATE STREAM s (v INT); SELECT MAX(v) AS m FROM s [RANGE 5 MICROSECONDS];"
    assert cqlc.testing.ask(program, {"s": [(1, (7,)), (3, (4,))]}) == [
        (1, 1, (7,)),
        (6, -1, (7,)),
        (6, 1, (4,)),
        (8, -1, (4,)),
    ]


def test_check_raises_with_the_difference(tmp_path: Path) -> None:
    (test,) = cqlc.testing.cases(written(tmp_path, COUNTS.format(two=3)))
    with pytest.raises(AssertionError, match="expected, but missing"):
        cqlc.testing.check(test)


def test_an_unknown_engine() -> None:
    with pytest.raises(cqlc.testing.UnknownEngineError, match="there is: reference"):
        cqlc.testing.run_paths([], engine="abacus")


# ----------------------------------------------------------------------------------- robustness

TEXTS = [path.read_text() for path in sorted(EXAMPLES.glob("*.md"))]


@pytest.mark.parametrize("number", range(150))
def test_no_file_however_broken_ends_in_a_traceback(tmp_path: Path, number: int) -> None:
    rng = random.Random(number)
    text = rng.choice(TEXTS)
    for _ in range(rng.randrange(1, 6)):
        start = rng.randrange(len(text))
        end = min(len(text), start + rng.choice((1, 1, 5, 40)))
        new = rng.choice(
            ("", "|", "9999999999999999", "NULL", "\n", "```", "é", "-", text[start:end])
        )
        text = text[:start] + new + text[end:]
    path = tmp_path / "broken.md"
    path.write_text(text)
    cqlc.testing.run_paths([path]).text()
    cqlc.testing.run_paths([path], bless=True).junit()


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe\x00")
    missing = tmp_path / "missing.md"
    got = cqlc.testing.run_paths([tmp_path / "binary.md", missing])
    assert [outcome.ok for outcome in got.outcomes] == [False, False]
    assert got.text().count("the file cannot be read") == 2


def test_a_query_without_an_answer_is_a_failure(tmp_path: Path) -> None:
    text = COUNTS.format(two=2).replace("GROUP BY", "WHERE 'x' RLIKE '[' GROUP BY")
    assert "the query has no answer: '[' is not a regular expression" in report(tmp_path, text)
