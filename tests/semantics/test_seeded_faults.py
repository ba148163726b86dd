"""Every fault of the list is caught by the test named beside it."""

from __future__ import annotations

from functools import partial

import pytest

from cqlc.algebra.plan import Grid
from cqlc.semantics import aggregates, expressions, joins, relational, values, windows
from cqlc.semantics.meaning import Meaning
from cqlc.semantics.windows import History
from tests.semantics import test_definitions as definitions
from tests.semantics import test_functions as functions
from tests.semantics import test_thesis_vectors as vectors
from tests.semantics.faults import Fault


def scalar(expression: str) -> partial[None]:
    """The scalar test of one expression."""
    expected = dict(functions.SCALAR_EXAMPLES)[expression]
    return partial(functions.test_scalar, expression, expected)


def aggregate(name: str) -> partial[None]:
    """The first test of an aggregate."""
    example = next(example for example in functions.AGGREGATE_EXAMPLES if example[0] == name)
    return partial(functions.test_aggregate, *example)


FAULTS = [
    # windows and lifetimes
    Fault(
        "a row lives one tick too long",
        windows, "history", "moved(t + length)", "moved(t + length) + setting.tick",
        definitions.test_range,
    ),
    Fault(
        "NOW lasts two ticks",
        windows, "history", "t + setting.tick", "t + 2 * setting.tick",
        definitions.test_now,
    ),
    Fault(
        "a row on a boundary is seen at that boundary",
        Grid, "up",
        "((time - self.offset) // self.period + 1)", "-(-(time - self.offset) // self.period)",
        definitions.test_slide_shows_a_row_at_the_first_boundary_after_it,
    ),
    Fault(
        "the offset of a grid is forgotten",
        Grid, "up", "* self.period + self.offset", "* self.period",
        definitions.test_slide_with_an_offset,
    ),
    Fault(
        "ROWS n holds one row more",
        windows, "_last_rows", "number + window.rows", "number + window.rows + 1",
        definitions.test_rows,
    ),
    Fault(
        "ROWS that slide move too early",
        windows, "_last_rows", "-(-count // window.slide)", "(count // window.slide)",
        definitions.test_rows_that_slide_move_with_every_second_row,
    ),
    Fault(
        "partitions of ROWS are mixed up",
        windows, "_partitions", "partitions[key(values)]", "partitions[()]",
        definitions.test_rows_of_partitions,
    ),
    Fault(
        "ties are broken against the order of arrival",
        Meaning, "_elements_of",
        "sorted(self._timeline.streams.get(name, ()), key=lambda a: a[0])",
        "sorted(reversed(self._timeline.streams.get(name, ())), key=lambda a: a[0])",
        definitions.test_ties_of_rows_are_broken_by_arrival,
    ),
    Fault(
        "rows are ordered by arrival alone",
        Meaning, "_elements_of",
        "sorted(self._timeline.streams.get(name, ()), key=lambda a: a[0])",
        "self._timeline.streams.get(name, ())",
        definitions.test_rows_come_in_the_order_of_their_times,
    ),
    Fault(
        "a gap as long as a session's still joins it",
        windows, "_sessions", "< window.gap", "<= window.gap",
        definitions.test_a_session_is_shown_once_at_its_end,
    ),
    Fault(
        "internal windows take their results back",
        History, "__init__", "self._kept = kept", "self._kept = False",
        definitions.test_results_end_with_their_external_windows_only,
    ),
    Fault(
        "internal windows join rows that were never alive together",
        joins, "_together", "since >= until", "False",
        vectors.test_tv76_internal_windows_join_only_rows_that_were_alive_together,
    ),
    # streams
    Fault(
        "ISTREAM says what goes",
        Meaning, "_elements_of", "minus(after, before)", "minus(before, after)",
        definitions.test_istream_and_dstream_are_what_comes_and_what_goes,
    ),
    Fault(
        "ISTREAM does not net equal rows",
        Meaning, "_elements_of", "minus(after, before)",
        "[row for row in after if not any(row is old for old in before)]",
        definitions.test_an_equal_row_that_comes_as_another_goes_is_nothing_new,
    ),
    Fault(
        "RSTREAM speaks at instants without a change",
        Meaning, "_ticks", "if minus(*two) or minus(*reversed(two))", "if True",
        definitions.test_rstream_says_nothing_when_its_relation_stays_the_same,
    ),
    Fault(
        "RSTREAM on a clock begins one tick of it late",
        Meaning, "_boundaries", "grid.up(start - 1)", "grid.up(start)",
        definitions.test_rstream_of_a_sliding_window_speaks_at_its_boundaries,
    ),
    Fault(
        "restored rows are not held to the boundary",
        Meaning, "_restored", "held[grid.up(now)]", "held[now]",
        vectors.test_tv49_without_restore_a_short_result_is_never_seen,
    ),
    Fault(
        "RSTREAM-RESTORE forgets what lived in between",
        Meaning, "_rstream_restore", "[*rows, *minus(held.get(now, ()), rows)]", "rows",
        vectors.test_tv50_restore_reports_what_lived_between_two_boundaries,
    ),
    # relations
    Fault(
        "bag difference forgets multiplicities",
        relational, "minus", "partners[row.values] -= 1", "pass",
        vectors.test_tv71_bag_difference_counts,
    ),
    Fault(
        "UNION ALL is a set",
        relational, "binary", "[*lefts, *rights]", "_distinct([*lefts, *rights])",
        partial(definitions.test_set_operations_count, "UNION ALL", 5),
    ),
    Fault(
        "INTERSECT ALL counts the left side only",
        relational, "binary", "minus(lefts, minus(lefts, rights))",
        "[row for row in lefts if any(row.values == r.values for r in rights)]",
        partial(definitions.test_set_operations_count, "INTERSECT ALL", 2),
    ),
    Fault(
        "an anti-join is a bag difference",
        relational, "joined", "if not any(True for _ in found)]", "if sum(1 for _ in found) < 2]",
        vectors.test_e3_bag_difference_and_anti_join_are_two_operators,
    ),
    Fault(
        "a left join loses rows without a partner",
        relational, "joined", "or [_padded(row, after=width)]", "",
        partial(definitions.test_joins, "LEFT JOIN", definitions.bag((1, 7), (2, None), (3, None))),
    ),
    Fault(
        "NULL passes a filter",
        relational, "unary", "if holds(row.values) is True", "if holds(row.values) is not False",
        definitions.test_null_is_not_true,
    ),
    Fault(
        "NULL makes no difference in AND",
        expressions, "_connective", "result = None", "pass",
        scalar("NULL AND TRUE"),
    ),
    Fault(
        "NULL is equal to NULL",
        expressions, "_binary", "if x is None:", "if False:",
        definitions.test_null_is_not_true,
    ),
    Fault(
        "integer division rounds down",
        values, "quotient", "else -whole", "else -whole - 1",
        scalar("-7 / 2"),
    ),
    Fault(
        "division by zero is zero",
        expressions, "_arithmetic",
        "None if y == 0 else fit(quotient(x, y, type), type)",
        "0 if y == 0 else fit(quotient(x, y, type), type)",
        scalar("1 / 0"),
    ),
    Fault(
        "FLOAT has double precision",
        values, "fit", "single(float(number))", "float(number)",
        scalar("CAST(0.1e0 AS FLOAT) + CAST(0.2e0 AS FLOAT)"),
    ),
    Fault(
        "aggregates count NULLs",
        aggregates, "aggregator", "if not lenient:", "if False:",
        aggregate("COUNT"),
    ),
    Fault(
        "an aggregate of nothing has a row",
        relational, "_aggregate", "for row in rows:",
        "for row in rows or ([] if keys else [Row((None, None, 0), 0, 0, 1)]):",
        definitions.test_aggregates_of_nothing_have_no_row,
    ),
    Fault(
        "RANK leaves no gaps",
        relational, "_numbers", "rank, dense = number, dense + 1", "rank = dense = dense + 1",
        partial(definitions.test_ranks, "RANK", "2241"),
    ),
    Fault(
        "DISTINCT keeps duplicates",
        relational, "_distinct", "list(first.values())", "list(rows)",
        vectors.test_tv65_distinct_of_a_stream_says_a_value_once,
    ),
    # tables
    Fault(
        "an NRR change is seen by rows of its own tick",
        relational, "as_of_join", "table.at(row.time - 1)", "table.at(row.time)",
        vectors.test_e36_an_nrr_change_is_not_seen_by_a_row_of_the_same_tick,
    ),
    Fault(
        "an NRR is read as it is now",
        relational, "as_of_join", "table.at(row.time - 1)", "table.at(2**62)",
        vectors.test_tv60_an_nrr_changes_nothing_that_was_answered,
    ),
    Fault(
        "a result reads the NRR as of its oldest row",
        joins, "_together", "max(one.time, other.time)", "min(one.time, other.time)",
        vectors.test_tv63_a_result_of_a_join_reads_the_nrr_as_of_its_own_time,
    ),
    Fault(
        "a deletion takes all equal rows of a table",
        windows, "table_history",
        "rows.append(Row(values, BEGINNING, alive[values].popleft(), time))",
        "rows += [Row(values, BEGINNING, t, time) for t in alive.pop(values)]",
        definitions.test_a_change_of_a_relation_counts_for_rows_that_are_there,
    ),
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.about)
def test_a_fault_is_caught(fault: Fault, monkeypatch: pytest.MonkeyPatch) -> None:
    fault.check()
    fault.plant(monkeypatch)
    with pytest.raises(AssertionError):
        fault.check()


def test_the_list_is_long_enough_and_says_each_thing_once() -> None:
    assert len(FAULTS) >= 10
    assert len({fault.about for fault in FAULTS}) == len(FAULTS)
