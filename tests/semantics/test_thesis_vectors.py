"""The test vectors of Golab's thesis that give an answer, with its errata applied.

TV-n are the vectors' numbers. One tick is one second. Lifetimes are half-open, as in three of the
thesis's four places; a window with SLIDE holds at a boundary b what came in [b - T, b).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest

from cqlc.semantics import Values
from tests.semantics.seconds import Rows, changes, elements, relation

S = "CREATE STREAM S (a INT);"
PAIR = """
CREATE STREAM S1 (id INT, k STRING);
CREATE STREAM S2 (id INT, k STRING);
"""
JOIN = "FROM S1 [RANGE 10 SECONDS{w}], S2 [RANGE 10 SECONDS{w}] WHERE S1.k = S2.k"
TV48 = {
    "S1": [(2, 1, "c"), (9, 2, "a"), (12, 3, "c")],
    "S2": [(3, 1, "c"), (4, 2, "a"), (12, 3, "a")],
}


def values(*rows: Sequence[object]) -> Counter[Values]:
    """A bag of rows."""
    return Counter(tuple(row) for row in rows)  # type: ignore[misc]


# ------------------------------------------------------------------------ windows, lifetimes


def test_tv42_a_union_of_different_windows_is_not_first_in_first_out() -> None:
    program = """CREATE STREAM W1 (v STRING); CREATE STREAM W2 (v STRING);
        SELECT v FROM W1 [RANGE 10 SECONDS] UNION ALL SELECT v FROM W2 [RANGE 3 SECONDS];"""
    log = changes(program, {"W1": [(1, "x")], "W2": [(2, "y")]})
    assert log == [(1, 1, ("x",)), (2, 1, ("y",)), (5, -1, ("y",)), (11, -1, ("x",))]


def test_tv43_one_external_window_ends_results_out_of_order() -> None:
    program = """CREATE STREAM W1 (k STRING); CREATE STREAM W2 (k STRING);
        SELECT W1.k FROM W1 [RANGE 10 SECONDS], W2 [RANGE 10 SECONDS INTERNAL]
        WHERE W1.k = W2.k;"""
    log = changes(program, {"W1": [(1, "x"), (2, "y")], "W2": [(3, "y"), (4, "x")]})
    assert log == [(3, 1, ("y",)), (4, 1, ("x",)), (11, -1, ("x",)), (12, -1, ("y",))]


def test_tv47_the_maximum_of_a_minute() -> None:
    program = f"{S} SELECT MAX(a) FROM S [RANGE 1 MINUTE];"
    log = changes(program, {"S": [(0, 75), (20, 73), (50, 61)]})
    assert log[:3] == [(0, 1, (75,)), (60, -1, (75,)), (60, 1, (73,))]


@pytest.mark.parametrize(
    ("at", "pairs"),
    [(3, "11"), (9, "11 22"), (12, "22 31 23"), (13, "22 23"), (14, "23"), (19, "")],
)
def test_tv48_a_result_dies_with_the_first_of_its_rows(at: int, pairs: str) -> None:
    program = f"{PAIR} SELECT S1.id, S2.id {JOIN.format(w='')};"
    assert relation(program, TV48, at) == values(*(map(int, pair) for pair in pairs.split()))


def test_tv49_without_restore_a_short_result_is_never_seen() -> None:
    slide = JOIN.format(w=" SLIDE 5 SECONDS")
    plain = elements(f"{PAIR} SELECT ISTREAM(S1.id, S2.id) {slide};", TV48)
    restored = elements(f"{PAIR} SELECT ISTREAM-RESTORE(S1.id, S2.id) {slide};", TV48)
    assert plain == [(5, (1, 1)), (10, (2, 2)), (15, (2, 3))]
    assert sorted(restored) == [(5, (1, 1)), (10, (2, 2)), (15, (2, 3)), (15, (3, 1))]


def test_tv50_restore_reports_what_lived_between_two_boundaries() -> None:
    """Lifetimes t1 [5, 15), t2 [12, 25), t3 [13, 18); boundaries at 10, 20, 30."""
    window = "[RANGE 13 SECONDS SLIDE 10 SECONDS]"
    inputs = {
        "S1": [(5, 1, "t1"), (12, 2, "t2"), (13, 3, "t3")],
        "S2": [(2, 1, "t1"), (12, 2, "t2"), (5, 3, "t3")],
    }
    query = f"FROM S1 {window}, S2 {window} WHERE S1.k = S2.k"
    plain = elements(f"{PAIR} SELECT RSTREAM(S1.k) {query};", inputs)
    restored = elements(f"{PAIR} SELECT RSTREAM-RESTORE(S1.k) {query};", inputs)
    assert plain == [(10, ("t1",)), (20, ("t2",))]
    assert sorted(restored) == [(10, ("t1",)), (20, ("t2",)), (20, ("t3",))]


def test_tv51_the_share_that_no_restore_loses() -> None:
    """With windows T = 60 and boundaries 10 apart it is 10 / 120; 10 / 60 is only a bound."""
    rng = random.Random(51)
    inputs: Rows = {
        name: [(t, number, rng.choice("abcde")) for number, t in enumerate(sorted(times))]
        for name in ("S1", "S2")
        for times in ([rng.randrange(3000) for _ in range(600)],)
    }
    window = "[RANGE 60 SECONDS SLIDE 10 SECONDS]"
    query = f"(S1.id, S2.id) FROM S1 {window}, S2 {window} WHERE S1.k = S2.k;"
    kept = len(elements(f"{PAIR} SELECT ISTREAM{query}", inputs))
    all_results = len(elements(f"{PAIR} SELECT ISTREAM-RESTORE{query}", inputs))
    assert abs((all_results - kept) / all_results - 1 / 12) < 0.02


SUMS = {"S": [(n, value) for n, value in enumerate((5, 3, 8, 1, 4, 6, 2), 1)]}


@pytest.mark.parametrize(
    ("window", "sums"),
    [
        ("[ROWS 5]", (5, 8, 16, 17, 21, 22, 21)),
        ("[UNBOUNDED]", (5, 8, 16, 17, 21, 27, 29)),
    ],
)
def test_tv52_four_kinds_of_sums(window: str, sums: tuple[int, ...]) -> None:
    internal = f"{S} SELECT SUM(a) FROM S {window[:-1]} INTERNAL];"
    external = f"{S} SELECT SUM(a) FROM S {window};"
    assert elements(internal, SUMS) == [(at, (value,)) for at, value in enumerate(sums, 1)]
    for at, value in enumerate(sums, 1):
        assert relation(external, SUMS, at) == values((value,))


CHUNKS = {"S": [(6 * n + 1, n + 1) for n in range(12)]}
RUNNING = (1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 65, 75)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT SUM(WSTREAM(SUM(a))[ROWS 10]) FROM S [RANGE 6 SECONDS SLIDE 6 SECONDS]",
        "SELECT SUM(total) FROM (SELECT SUM(a) AS total"
        " FROM S [RANGE 6 SECONDS SLIDE 6 SECONDS INTERNAL]) [ROWS 10]",
    ],
    ids=["L-7", "L-6"],
)
def test_tv53_a_sum_of_the_last_ten_chunk_sums(query: str) -> None:
    for number, value in enumerate(RUNNING, 1):
        assert relation(f"{S} {query};", CHUNKS, 6 * number) == values((value,))


def test_tv54_an_output_window_of_a_join_holds_more_than_the_join() -> None:
    wstream = f"{PAIR} SELECT WSTREAM(S1.id, S2.id)[RANGE 10 SECONDS] {JOIN.format(w='')};"
    plain = f"{PAIR} SELECT S1.id, S2.id {JOIN.format(w='')};"
    assert relation(wstream, TV48, 13) == values((2, 2), (3, 1), (2, 3))
    assert relation(plain, TV48, 13) == values((2, 2), (2, 3))


def test_tv54_an_output_window_equals_the_query_if_all_lifetimes_are_its_length() -> None:
    inputs = {"S": [(1, 5), (4, 6), (4, 7), (13, 5)]}
    wstream = f"{S} SELECT WSTREAM(a)[RANGE 10 SECONDS] FROM S [RANGE 10 SECONDS] WHERE a > 4;"
    plain = f"{S} SELECT a FROM S [RANGE 10 SECONDS] WHERE a > 4;"
    assert changes(wstream, inputs) == changes(plain, inputs)


def test_tv55_an_output_window_may_be_smaller_than_the_input_windows() -> None:
    program = f"""{PAIR} SELECT WSTREAM(S1.id)[RANGE 1 MINUTE]
        FROM S1 [RANGE 5 MINUTES], S2 [RANGE 5 MINUTES] WHERE S1.k = S2.k;"""
    log = changes(program, {"S1": [(0, 1, "x")], "S2": [(100, 1, "x")]})
    assert log == [(100, 1, (1,)), (160, -1, (1,))]


def test_tv58_rows_expire_although_nothing_passes_the_filter_any_more() -> None:
    program = f"{S} SELECT MAX(a) FROM S [RANGE 10 SECONDS] WHERE a > 10;"
    log = changes(program, {"S": [(90, 11), (95, 1), (100, 2)]})
    assert log == [(90, 1, (11,)), (100, -1, (11,))]


def test_tv59_a_filter_commutes_with_range_but_not_with_rows() -> None:
    inputs = {"S": [(1, 1), (2, 2), (3, 3), (4, 4)]}
    after = f"{S} SELECT a FROM S [{{0}}] WHERE a % 2 = 0;"
    before = f"{S} SELECT a FROM (SELECT ISTREAM(a) FROM S WHERE a % 2 = 0) [{{0}}];"
    assert relation(after.format("ROWS 2"), inputs, 4) == values((4,))
    assert relation(before.format("ROWS 2"), inputs, 4) == values((2,), (4,))
    both = (relation(q.format("RANGE 3 SECONDS"), inputs, 4) for q in (after, before))
    assert list(both) == [values((2,), (4,))] * 2


# -------------------------------------------------------------------------- NRRs and relations

QUOTES = {"quotes": [(1, "A"), (4, "A"), (5, "B")]}
NAMES = {"names": [(0, 1, "A", "Alpha"), (2, -1, "A", "Alpha"), (3, 1, "B", "Beta")]}
QUOTE_QUERY = """
CREATE STREAM quotes (symbol STRING);
CREATE {kind} names (symbol STRING, name STRING, KEY (symbol));
SELECT quotes.symbol, name FROM quotes [{window}], names WHERE quotes.symbol = names.symbol;
"""


def test_tv60_an_nrr_changes_nothing_that_was_answered() -> None:
    program = QUOTE_QUERY.format(kind="NRR", window="UNBOUNDED")
    log = changes(program, QUOTES, NAMES)
    assert log == [(1, 1, ("A", "Alpha")), (5, 1, ("B", "Beta"))]


def test_tv61_a_relation_takes_back_what_was_answered() -> None:
    program = QUOTE_QUERY.format(kind="RELATION", window="RANGE 10 SECONDS")
    log = changes(program, QUOTES, NAMES)
    assert log[:3] == [(1, 1, ("A", "Alpha")), (2, -1, ("A", "Alpha")), (5, 1, ("B", "Beta"))]


@pytest.mark.parametrize(("kind", "expected"), [("RELATION", [(6, 1, ("A", "x"))]), ("NRR", [])])
def test_tv62_only_a_relation_meets_earlier_rows(
    kind: str, expected: list[tuple[int, int, Values]]
) -> None:
    program = QUOTE_QUERY.format(kind=kind, window="RANGE 10 SECONDS")
    log = changes(program, {"quotes": [(4, "A")]}, {"names": [(6, 1, "A", "x")]})
    assert log[:1] == expected


def test_tv63_a_result_of_a_join_reads_the_nrr_as_of_its_own_time() -> None:
    declarations = f"{PAIR} CREATE NRR N (k STRING, v STRING, KEY (k));"
    inputs = {"S1": [(1, 1, "x")], "S2": [(5, 1, "x")]}
    versions = {"N": [(0, 1, "x", "old"), (3, -1, "x", "old"), (3, 1, "x", "new")]}
    together = f"{declarations} SELECT v FROM S1, S2, N WHERE S1.k = S2.k AND S1.k = N.k;"
    first = f"""{declarations}
        CREATE VIEW looked AS SELECT ISTREAM(S1.k, v) FROM S1, N WHERE S1.k = N.k;
        SELECT v FROM looked, S2 WHERE looked.k = S2.k;"""
    assert changes(together, inputs, versions) == [(5, 1, ("new",))]
    assert changes(first, inputs, versions) == [(5, 1, ("old",))]


def test_e36_an_nrr_change_is_not_seen_by_a_row_of_the_same_tick() -> None:
    program = QUOTE_QUERY.format(kind="NRR", window="UNBOUNDED")
    tables = {"names": [(0, 1, "A", "old"), (4, -1, "A", "old"), (4, 1, "B", "new")]}
    log = changes(program, {"quotes": [(4, "A"), (4, "B"), (5, "A")]}, tables)
    assert log == [(4, 1, ("A", "old"))]


# ----------------------------------------------------------------------------------- operators

TWO = "CREATE STREAM W1 (v STRING); CREATE STREAM W2 (v STRING);"


def test_tv65_distinct_of_a_stream_says_a_value_once() -> None:
    program = "CREATE STREAM W1 (v STRING); SELECT DISTINCT v FROM W1;"
    assert changes(program, {"W1": [(1, "a"), (2, "b"), (3, "b")]})[-1] == (2, 1, ("b",))


def test_tv66_a_later_row_on_the_right_takes_a_result_back() -> None:
    program = f"{TWO} SELECT v FROM W1 EXCEPT ALL SELECT v FROM W2;"
    log = changes(program, {"W1": [(1, "d")], "W2": [(4, "d")]})
    assert log == [(1, 1, ("d",)), (4, -1, ("d",))]


def test_tv67_tv69_distinct_over_a_window_lasts_as_long_as_any_copy() -> None:
    program = "CREATE STREAM W1 (v STRING); SELECT DISTINCT v FROM W1 [RANGE 10 SECONDS];"
    log = changes(program, {"W1": [(1, "a"), (4, "a"), (5, "b"), (7, "a")]})
    assert log == [(1, 1, ("a",)), (5, 1, ("b",)), (15, -1, ("b",)), (17, -1, ("a",))]


def test_tv68_distinct_over_a_join_keeps_the_latest_expiring_copy() -> None:
    """The copies of a live in [1, 10), [2, 30) and [3, 15)."""
    program = """
        CREATE STREAM L (id INT, v STRING); CREATE STREAM M (id INT);
        SELECT DISTINCT v FROM L [RANGE 28 SECONDS], M [RANGE 28 SECONDS] WHERE L.id = M.id;"""
    inputs = {
        "L": [(1, 1, "a"), (2, 2, "a"), (3, 3, "a")],
        "M": [(-18, 1), (2, 2), (-13, 3)],
    }
    assert changes(program, inputs) == [(1, 1, ("a",)), (30, -1, ("a",))]


BAG = f"{TWO} SELECT v FROM W1 [RANGE 10 SECONDS] EXCEPT ALL SELECT v FROM W2 [RANGE 10 SECONDS];"
ANTI = f"""{TWO} SELECT v FROM W1 [RANGE 10 SECONDS]
    WHERE NOT EXISTS (SELECT * FROM W2 [RANGE 10 SECONDS] WHERE W2.v = W1.v);"""


def test_tv71_bag_difference_counts() -> None:
    inputs = {"W1": [(1, "a"), (2, "a")], "W2": [(3, "a")]}
    counts = [relation(BAG, inputs, at).total() for at in (1, 2, 3, 11, 12)]
    assert counts == [1, 2, 1, 0, 0]
    assert [t for t, sign, _ in changes(BAG, inputs) if sign < 0] == [3, 11]


def test_tv72_a_row_comes_back_only_when_the_left_outnumbers_the_right() -> None:
    log = changes(BAG, {"W2": [(1, "a"), (2, "a")], "W1": [(3, "a")]})
    assert log == [(12, 1, ("a",)), (13, -1, ("a",))]


def test_tv73_an_anti_join_ends_and_brings_back_all_rows_of_a_value() -> None:
    log = changes(ANTI, {"W1": [(1, "a"), (2, "b"), (8, "a")], "W2": [(4, "a")]})
    assert log == [
        (1, 1, ("a",)),
        (2, 1, ("b",)),
        (4, -1, ("a",)),
        (12, -1, ("b",)),
        (14, 1, ("a",)),
        (18, -1, ("a",)),
    ]


def test_e3_bag_difference_and_anti_join_are_two_operators() -> None:
    inputs = {"W1": [(1, "a"), (1, "a"), (1, "a")], "W2": [(1, "a")]}
    assert relation(BAG, inputs, 1) == values(("a",), ("a",))
    assert relation(ANTI, inputs, 1) == values()


def test_tv74_values_of_one_side_only_expire_by_themselves() -> None:
    inputs = {"W1": [(1, "a"), (2, "b")], "W2": [(1, "x"), (3, "y")]}
    for program in (BAG, ANTI):
        gone = [(t, row) for t, sign, row in changes(program, inputs) if sign < 0]
        assert gone == [(11, ("a",)), (12, ("b",))]


def test_tv75_the_maximum_after_dominated_rows() -> None:
    program = f"{S} SELECT MAX(a) FROM S [RANGE 10 SECONDS];"
    log = changes(program, {"S": [(1, 5), (2, 3), (3, 8), (4, 1)]})
    assert [row for _, sign, row in log if sign > 0] == [(5,), (8,), (1,)]


# --------------------------------------------------------------------------------------- joins

THREE = "CREATE STREAM S1 (k STRING); CREATE STREAM S2 (k STRING); CREATE STREAM S3 (k STRING);"


def test_tv76_internal_windows_join_only_rows_that_were_alive_together() -> None:
    window = "[RANGE 10 SECONDS INTERNAL]"
    program = f"""{THREE} SELECT S1.k FROM S1 {window}, S2 {window}, S3 {window}
        WHERE S1.k = S2.k AND S2.k = S3.k;"""
    assert changes(program, {"S1": [(1, "x")], "S2": [(2, "x")], "S3": [(12, "x")]}) == []
    alive = {"S1": [(1, "x")], "S2": [(2, "x")], "S3": [(10, "x")]}
    assert changes(program, alive) == [(10, 1, ("x",))]


def test_tv83_restore_reports_no_combination_that_never_lived() -> None:
    """S1 lives in [2, 10), S2 in [12, 32), S3 in [9, 29): each two meet, all three never do."""
    program = f"""{THREE} SELECT ISTREAM-RESTORE(S1.k)
        FROM S1 [RANGE 8 SECONDS SLIDE 6 SECONDS], S2 [RANGE 20 SECONDS SLIDE 6 SECONDS],
             S3 [RANGE 20 SECONDS SLIDE 6 SECONDS] WHERE S1.k = S2.k AND S2.k = S3.k;"""
    assert elements(program, {"S1": [(2, "x")], "S2": [(12, "x")], "S3": [(9, "x")]}) == []


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("count", [2, 3])
def test_tv84_no_restore_reports_exactly_the_results_that_reach_a_boundary(
    seed: int, count: int
) -> None:
    """By the definition: each combination with its lifetime, from the rows' times alone."""
    rng = random.Random(seed)
    length, slide = rng.choice((6, 10, 15)), rng.choice((2, 3, 5))
    names = [f"S{number}" for number in range(1, count + 1)]
    inputs: Rows = {
        name: [(t, n, rng.choice("ab")) for n, t in enumerate(sorted(rng.sample(range(40), 8)))]
        for name in names
    }
    declarations = "".join(f"CREATE STREAM {name} (id INT, k STRING);" for name in names)
    sources = ", ".join(f"{n} [RANGE {length} SECONDS SLIDE {slide} SECONDS]" for n in names)
    query = f"({', '.join(f'{n}.id' for n in names)}) FROM {sources} WHERE " + " AND ".join(
        f"S1.k = {name}.k" for name in names[1:]
    )
    plain: Counter[tuple[int, Values]] = Counter()
    restored: Counter[tuple[int, Values]] = Counter()
    for combination in product(*inputs.values()):
        if len({row[2] for row in combination}) > 1:
            continue
        start = max(row[0] for row in combination)
        end = min(row[0] for row in combination) + length
        boundary = (start // slide + 1) * slide
        result = boundary, tuple(row[1] for row in combination)
        restored[result] += start < end
        plain[result] += boundary <= end
    assert Counter(elements(f"{declarations} SELECT ISTREAM{query};", inputs)) == +plain
    restore = f"{declarations} SELECT ISTREAM-RESTORE{query};"
    assert Counter(elements(restore, inputs)) == +restored
