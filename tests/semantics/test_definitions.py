"""The definitions, one small example each: windows, streams, relations, tables, clocks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from cqlc.algebra.plan import Grid, Istream, Now, Range, Relation, Rows, Scan, Stream, Unbounded
from cqlc.algebra.schema import TIME_FIELD, Field
from cqlc.datatypes import INT
from cqlc.semantics import BEGINNING, Meaning, Timeline, Values
from tests.semantics.seconds import SECOND, changes, elements, meaning, plan_of, relation

S = "CREATE STREAM S (k STRING, v INT);"
TWO = "CREATE STREAM S (k STRING, v INT); CREATE STREAM T (k STRING, w INT);"


def bag(*rows: Sequence[object]) -> Counter[Values]:
    """A bag of rows."""
    return Counter(tuple(row) for row in rows)  # type: ignore[misc]


# ------------------------------------------------------------------------------------- windows


def lives(window: str, *times: int) -> list[tuple[int, int, int]]:
    """(number of the row, first second, first second after) for rows of one partition."""
    rows = [(time, "x", number) for number, time in enumerate(times, 1)]
    log = changes(f"{S} SELECT v FROM S [{window}];", {"S": rows})
    came = {row[0]: time for time, sign, row in log if sign > 0}
    went = {row[0]: time for time, sign, row in log if sign < 0}
    return [(number, came[number], went.get(number, -1)) for number in sorted(came)]  # type: ignore[type-var]


def test_range() -> None:
    assert lives("RANGE 10 SECONDS", 2, 5) == [(1, 2, 12), (2, 5, 15)]


def test_now() -> None:
    assert lives("NOW", 2, 5) == [(1, 2, 3), (2, 5, 6)]


def test_unbounded() -> None:
    assert lives("UNBOUNDED", 2, 5) == [(1, 2, -1), (2, 5, -1)]


def test_slide_shows_a_row_at_the_first_boundary_after_it() -> None:
    """A row on a boundary belongs to the window that begins there."""
    assert lives("RANGE 10 SECONDS SLIDE 5 SECONDS", 4, 5) == [(1, 5, 15), (2, 10, 20)]


def test_tumbling_windows_are_shown_at_their_end() -> None:
    assert lives("RANGE 5 SECONDS SLIDE 5 SECONDS", 0, 4, 5) == [
        (1, 5, 10),
        (2, 5, 10),
        (3, 10, 15),
    ]


def test_slide_larger_than_the_range_leaves_gaps() -> None:
    assert lives("RANGE 2 SECONDS SLIDE 5 SECONDS", 1, 3, 4) == [(2, 5, 10), (3, 5, 10)]


def test_slide_with_an_offset() -> None:
    assert lives("RANGE 5 SECONDS SLIDE 5 SECONDS OFFSET 2 SECONDS", 1, 2) == [
        (1, 2, 7),
        (2, 7, 12),
    ]


def test_rows() -> None:
    assert lives("ROWS 2", 1, 3, 4, 8) == [(1, 1, 4), (2, 3, 8), (3, 4, -1), (4, 8, -1)]


def test_rows_that_come_together_displace_each_other() -> None:
    assert lives("ROWS 1", 1, 3, 3, 3) == [(1, 1, 3), (4, 3, -1)]


def test_rows_at_most_so_old() -> None:
    assert lives("ROWS 2 RANGE 4 SECONDS", 1, 3, 4) == [(1, 1, 4), (2, 3, 7), (3, 4, 8)]


def test_rows_that_slide_move_with_every_second_row() -> None:
    assert lives("ROWS 2 SLIDE 2 ROWS", 1, 3, 4, 8, 9) == [
        (1, 3, 8),
        (2, 3, 8),
        (3, 8, -1),
        (4, 8, -1),
    ]


def test_rows_of_partitions() -> None:
    rows = [(1, "a", 1), (2, "b", 2), (3, "a", 3)]
    program = f"{S} SELECT v FROM S [PARTITION BY k ROWS 1];"
    assert changes(program, {"S": rows})[2:] == [(3, -1, (1,)), (3, 1, (3,))]


def test_ties_of_rows_are_broken_by_arrival() -> None:
    rows = [(1, "a", 9), (1, "a", 1), (1, "a", 5)]
    assert relation(f"{S} SELECT v FROM S [ROWS 2];", {"S": rows}, 1) == bag((1,), (5,))


def test_ties_without_an_order_of_arrival_are_broken_by_the_values() -> None:
    rows = {"S": [(1, "a", 9), (1, "a", 1), (1, "a", 5)]}
    plan = plan_of(f"{S} SELECT v FROM S [ROWS 2];")
    got = meaning(rows, ordered=False).relation(plan, SECOND)  # type: ignore[arg-type]
    assert got == bag((5,), (9,))


def test_a_declared_sequence_breaks_ties() -> None:
    program = """CREATE STREAM S (v INT, n INT, at TIMESTAMP) TIMESTAMP BY at SEQUENCE BY n;
        SELECT v FROM S [ROWS 1];"""
    rows = {"S": [(1, 9, 2, SECOND), (1, 5, 3, SECOND), (1, 7, 1, SECOND)]}
    assert relation(program, rows, 1) == bag((5,))


def test_rows_come_in_the_order_of_their_times() -> None:
    rows = {"S": [(5, "a", 1), (2, "a", 2)]}
    assert relation(f"{S} SELECT v FROM S [ROWS 1];", rows, 9) == bag((1,))


SESSIONS = f"""{S} SELECT ISTREAM(k, COUNT(*) AS n, SESSION_START AS b, SESSION_END AS e)
    FROM S [PARTITION BY k SESSION 5 SECONDS] GROUP BY k, SESSION_START, SESSION_END;"""


def test_a_session_is_shown_once_at_its_end() -> None:
    rows = [(1, "a", 0), (3, "b", 0), (5, "a", 0), (10, "a", 0)]
    assert elements(SESSIONS, {"S": rows}) == [
        (8, ("b", 1, 3 * SECOND, 8 * SECOND)),
        (10, ("a", 2, 1 * SECOND, 10 * SECOND)),
        (15, ("a", 1, 10 * SECOND, 15 * SECOND)),
    ]


def test_internal_rows_combine_while_alive_and_what_they_made_stays() -> None:
    program = f"""{TWO} SELECT v, w FROM S [RANGE 4 SECONDS INTERNAL], T [ROWS 1 INTERNAL]
        WHERE S.k = T.k;"""
    inputs = {"S": [(1, "a", 1), (6, "a", 2)], "T": [(2, "a", 1), (7, "a", 2), (7, "b", 3)]}
    assert changes(program, inputs) == [(2, 1, (1, 1)), (6, 1, (2, 1))]


def test_results_end_with_their_external_windows_only() -> None:
    program = f"""{TWO} SELECT v, w FROM S [RANGE 9 SECONDS], T [RANGE 4 SECONDS INTERNAL]
        WHERE S.k = T.k;"""
    inputs = {"S": [(1, "a", 1), (7, "a", 2)], "T": [(2, "a", 1)]}
    assert changes(program, inputs) == [(2, 1, (1, 1)), (10, -1, (1, 1))]


# ------------------------------------------------------------------------------------- streams


def test_istream_and_dstream_are_what_comes_and_what_goes() -> None:
    rows = {"S": [(1, "a", 1), (3, "a", 2)]}
    came = elements(f"{S} SELECT ISTREAM(v) FROM S [RANGE 2 SECONDS];", rows)
    went = elements(f"{S} SELECT DSTREAM(v) FROM S [RANGE 2 SECONDS];", rows)
    assert (came, went) == ([(1, (1,)), (3, (2,))], [(3, (1,)), (5, (2,))])


def test_an_equal_row_that_comes_as_another_goes_is_nothing_new() -> None:
    rows = {"S": [(1, "a", 7), (3, "a", 7), (5, "a", 7), (5, "a", 7)]}
    came = elements(f"{S} SELECT ISTREAM(v) FROM S [RANGE 2 SECONDS];", rows)
    assert came == [(1, (7,)), (5, (7,))]


RSTREAM_ROWS = {"S": [(1, "a", 1), (4, "a", 2)]}


def test_rstream_without_a_clock_speaks_when_its_relation_changes() -> None:
    said = elements(f"{S} SELECT RSTREAM(v) FROM S [RANGE 5 SECONDS];", RSTREAM_ROWS)
    assert said == [(1, (1,)), (4, (1,)), (4, (2,)), (6, (2,))]


def test_rstream_says_nothing_when_its_relation_stays_the_same() -> None:
    program = f"{S} SELECT RSTREAM(COUNT(*) AS n) FROM S [RANGE 2 SECONDS];"
    assert elements(program, {"S": [(1, "a", 1), (3, "a", 2)]}) == [(1, (1,))]


def test_rstream_on_a_clock_speaks_at_every_tick_of_it() -> None:
    program = f"{S} SELECT RSTREAM(v) EVERY 3 SECONDS FROM S;"
    said = elements(program, RSTREAM_ROWS, horizon=9)
    assert said == [(3, (1,)), (6, (1,)), (6, (2,)), (9, (1,)), (9, (2,))]


def test_rstream_of_a_sliding_window_speaks_at_its_boundaries() -> None:
    program = f"{S} SELECT RSTREAM(v) FROM S [RANGE 6 SECONDS SLIDE 3 SECONDS];"
    said = elements(program, RSTREAM_ROWS)
    assert said == [(3, (1,)), (6, (1,)), (6, (2,)), (9, (2,))]


def test_the_clock_of_rstream_is_a_parameter() -> None:
    plan = plan_of(f"{S} SELECT RSTREAM(v) FROM S [RANGE 2 SECONDS];")
    assert isinstance(plan, Stream)
    said = meaning(RSTREAM_ROWS, clock=Grid(SECOND), horizon=9).stream(plan)
    assert [time // SECOND for time, _ in said] == [1, 2, 4, 5]


def test_elements_carry_their_time() -> None:
    program = f"""{S} CREATE VIEW c AS SELECT ISTREAM(v) FROM S [RANGE 2 SECONDS];
        SELECT v, _time FROM c;"""
    assert relation(program, {"S": [(3, "a", 1)]}, 3) == bag((1, 3 * SECOND))


def test_elements_of_one_instant_keep_the_order_of_arrival() -> None:
    program = f"""{S} CREATE VIEW c AS SELECT ISTREAM(v) FROM S [UNBOUNDED] WHERE v <> 5;
        SELECT v FROM c [ROWS 2];"""
    rows = {"S": [(3, "a", 9), (3, "a", 5), (3, "a", 1), (3, "a", 4)]}
    assert relation(program, rows, 3) == bag((1,), (4,))


def test_constants_have_been_there_since_the_beginning() -> None:
    plan = plan_of("SELECT ISTREAM(1 AS one);")
    assert isinstance(plan, Stream)
    assert Meaning(Timeline()).stream(plan) == [(BEGINNING, (1, BEGINNING))]


def test_clocks_begin_to_tick_with_the_first_input() -> None:
    program = f"{S} SELECT RSTREAM(x) EVERY 2 SECONDS FROM (VALUES (7)) AS c (x), S;"
    assert elements(program, {"S": [(5, "a", 1)]}, horizon=9) == [(6, (7,)), (8, (7,))]


# ----------------------------------------------------------------------------------- relations

SIDES = {"S": [(1, "a", 1), (1, "b", 2), (1, None, 3)], "T": [(1, "a", 7), (1, "c", 8)]}


@pytest.mark.parametrize(
    ("join", "expected"),
    [
        ("JOIN", bag((1, 7))),
        ("LEFT JOIN", bag((1, 7), (2, None), (3, None))),
        ("RIGHT JOIN", bag((1, 7), (None, 8))),
        ("FULL JOIN", bag((1, 7), (2, None), (3, None), (None, 8))),
    ],
)
def test_joins(join: str, expected: Counter[Values]) -> None:
    program = f"{TWO} SELECT v, w FROM S {join} T ON S.k = T.k;"
    assert relation(program, SIDES, 1) == expected


def test_null_is_not_true() -> None:
    assert relation(f"{S} SELECT v FROM S WHERE k <> 'a';", SIDES, 1) == bag((2,))


def test_not_in_with_null_is_never_true() -> None:
    program = f"{TWO} SELECT w FROM T WHERE k NOT IN (SELECT k FROM S);"
    assert relation(program, SIDES, 1) == bag()


def test_aggregates_of_nothing_have_no_row() -> None:
    for list, group in (("COUNT(*)", ""), ("k, COUNT(*)", "GROUP BY k")):
        program = f"{S} SELECT {list} FROM S WHERE v > 100 {group};"
        assert relation(program, SIDES, 1) == bag()


def test_a_scalar_count_of_nothing_is_null() -> None:
    program = f"{TWO} SELECT v, (SELECT COUNT(*) FROM T WHERE T.k = S.k) AS n FROM S;"
    assert relation(program, SIDES, 1) == bag((1, 1), (2, None), (3, None))


def test_null_is_a_group() -> None:
    rows = {"S": [(1, None, 1), (1, None, 2), (1, "a", 3)]}
    program = f"{S} SELECT k, SUM(v) AS s FROM S GROUP BY k;"
    assert relation(program, rows, 1) == bag((None, 3), ("a", 3))


BAGS = {"S": [(1, "a", 0), (1, "a", 0), (1, "a", 0)], "T": [(1, "a", 0), (1, "a", 0)]}


@pytest.mark.parametrize(
    ("operation", "count"),
    [
        ("UNION ALL", 5),
        ("UNION", 1),
        ("EXCEPT ALL", 1),
        ("EXCEPT", 0),
        ("INTERSECT ALL", 2),
        ("INTERSECT", 1),
    ],
)
def test_set_operations_count(operation: str, count: int) -> None:
    program = f"{TWO} SELECT k FROM S {operation} SELECT k FROM T;"
    assert relation(program, BAGS, 1) == Counter({("a",): count} if count else {})


def test_distinct_treats_nulls_as_equal() -> None:
    rows = {"S": [(1, None, 1), (1, None, 2)]}
    assert relation(f"{S} SELECT DISTINCT k FROM S;", rows, 1) == bag((None,))


RANKED = {"S": [(1, "a", 3), (1, "b", 3), (1, "c", 5), (1, "d", None)]}


@pytest.mark.parametrize(
    ("function", "numbers"),
    [("ROW_NUMBER", "2341"), ("RANK", "2241"), ("DENSE_RANK", "2231")],
)
def test_ranks(function: str, numbers: str) -> None:
    program = f"{S} SELECT k, {function}() OVER (ORDER BY v) AS n FROM S;"
    assert relation(program, RANKED, 1) == bag(*zip("abcd", map(int, numbers), strict=True))


def test_order_by_with_limit_holds_the_first_rows_at_every_instant() -> None:
    program = f"{S} SELECT v FROM S [RANGE 3 SECONDS] ORDER BY v DESC LIMIT 1;"
    log = changes(program, {"S": [(1, "a", 5), (2, "a", 9), (3, "a", 7)]})
    assert [(t, row) for t, sign, row in log if sign > 0] == [(1, (5,)), (2, (9,)), (5, (7,))]


# -------------------------------------------------------------------------------------- tables


def test_a_change_of_a_relation_counts_for_rows_that_are_there() -> None:
    program = f"{S} CREATE RELATION R (k STRING); SELECT v FROM S, R WHERE S.k = R.k;"
    log = changes(program, {"S": [(1, "a", 1)]}, {"R": [(3, 1, "a"), (3, 1, "a"), (5, -1, "a")]})
    assert log == [(3, 1, (1,)), (3, 1, (1,)), (5, -1, (1,))]


def test_an_nrr_is_read_as_it_was_just_before_a_rows_time() -> None:
    program = f"{S} CREATE NRR R (k STRING, n INT); SELECT v, n FROM S, R WHERE S.k = R.k;"
    rows = {"S": [(1, "a", 1), (3, "a", 2), (4, "a", 3)]}
    versions = {"R": [(0, 1, "a", 10), (3, -1, "a", 10), (3, 1, "a", 20)]}
    assert relation(program, rows, 9, versions) == bag((1, 10), (2, 10), (3, 20))


def test_an_nrr_may_be_joined_from_outside() -> None:
    program = f"{S} CREATE NRR R (k STRING, n INT); SELECT v, n FROM S LEFT JOIN R ON S.k = R.k;"
    rows = {"S": [(1, "a", 1), (2, "b", 2)]}
    assert relation(program, rows, 9, {"R": [(0, 1, "a", 10)]}) == bag((1, 10), (2, None))


# ---------------------------------------------------------------------------------- evaluation


def test_instants_are_where_a_relation_may_change() -> None:
    plan = plan_of(f"{S} SELECT v FROM S [RANGE 3 SECONDS] WHERE v > 1;")
    found = meaning({"S": [(1, "a", 1), (5, "a", 2)]}).instants(plan)
    assert [time // SECOND for time in found] == [1, 4, 5, 8]


def test_any_order_of_questions_gives_the_same_answers() -> None:
    plan = plan_of(f"{S} SELECT k, SUM(v) AS s FROM S [ROWS 3] GROUP BY k;")
    rows = {"S": [(t, "ab"[t % 2], t) for t in range(12)]}
    one = meaning(rows)
    for at in (11, 2, 7, 7, 3, 0, 11, 5):
        fresh = meaning(rows).relation(plan, at * SECOND)  # type: ignore[arg-type]
        assert one.relation(plan, at * SECOND) == fresh  # type: ignore[arg-type]


def test_times_must_be_multiples_of_the_tick() -> None:
    with pytest.raises(ValueError, match="multiples of the tick"):
        Meaning(Timeline({"S": [(5, (1,))]}), tick=2)


SCAN = Scan("S", (Field("a", INT), TIME_FIELD))


@pytest.mark.parametrize(
    "window", [Now(SCAN), Unbounded(SCAN), Range(SCAN, 4), Range(SCAN, 4, Grid(3)), Rows(SCAN, 2)]
)
def test_the_past_does_not_depend_on_the_future(window: Relation) -> None:
    rows = [(time, (time,)) for time in (1, 2, 2, 5, 6, 9)]
    whole = Meaning(Timeline({"S": rows}))
    for now in range(12):
        past = Meaning(Timeline({"S": [row for row in rows if row[0] <= now]}))
        assert whole.relation(window, now) == past.relation(window, now)
        upto = [e for e in whole.stream(Istream(window)) if e[0] <= now]
        assert upto == [e for e in past.stream(Istream(window)) if e[0] <= now]
