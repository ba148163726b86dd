"""Which rows of two inputs match, and when: equality of keys, a band, and any other condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cqlc.runtime.columns import (
    BEGINNING,
    FOREVER,
    HIDDEN,
    Bools,
    Ints,
    arrange,
    codes,
    column,
    expand,
    first_at_least,
    take,
)
from cqlc.runtime.sides import Side

Residual: TypeAlias = Callable[[pa.Table], pa.Array]
"""A condition on pairs of rows, given as a table of the columns of both; true, false or NULL."""

_PAIRS_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Equality:
    """A pair of columns that must be equal; with `nulls` also NULL equals NULL."""

    left: str
    right: str
    nulls: bool = False


@dataclass(frozen=True, slots=True)
class Band:
    """left + low <= right <= left + high, for columns of integers, times or durations."""

    left: str
    right: str
    low: int
    high: int


@dataclass(frozen=True)
class Condition:
    """When two rows match. Everything but the equalities may be missing, and so may they."""

    equalities: tuple[Equality, ...] = ()
    band: Band | None = None
    residual: Residual | None = None

    @property
    def left_key(self) -> list[str]:
        """The left columns of the equalities."""
        return [equality.left for equality in self.equalities]

    @property
    def right_key(self) -> list[str]:
        """The right columns of the equalities."""
        return [equality.right for equality in self.equalities]

    @property
    def by_key_alone(self) -> bool:
        """Whether rows with equal keys always match."""
        return self.band is None and self.residual is None

    def keys(self, left: pa.Table, right: pa.Table) -> tuple[Ints, Ints, int]:
        """Numbers for the keys of both sides, and how many there are.

        A key with a NULL that equals nothing gets a number the other side never has.
        """
        if not self.equalities:
            return np.zeros(left.num_rows, np.int64), np.zeros(right.num_rows, np.int64), 1
        arrays: list[pa.Array] = []
        lost = np.zeros(left.num_rows + right.num_rows, np.bool_)
        for equality in self.equalities:
            one, other = column(left, equality.left), column(right, equality.right)
            both = pa.concat_arrays([one, other.cast(one.type)])
            arrays.append(both)
            if not equality.nulls and both.null_count:
                lost |= both.is_null().to_numpy(zero_copy_only=False)
        code, size = codes(arrays)
        code[lost] = size
        mine, theirs = code[: left.num_rows], code[left.num_rows :]
        theirs[theirs == size] = size + 1
        return mine, theirs, size + 2


@dataclass(frozen=True, slots=True)
class Pairs:
    """Stays of both sides, by their positions, that overlap and match."""

    left: Ints
    right: Ints


def matches(
    left: Side, right: Side, keys: tuple[Ints, Ints], condition: Condition
) -> Iterator[Pairs]:
    """The pairs of stays that overlap in time and match; `keys` are those of the sides' rows."""
    left_key, right_key = keys[0][left.item], keys[1][right.item]
    order, begin, count = _candidates(left, right, left_key, right_key, condition)
    total = np.cumsum(count)
    cut = 0
    while cut < len(count):
        base = int(total[cut - 1]) if cut else 0
        stop = max(int(np.searchsorted(total, base + _PAIRS_AT_ONCE, side="right")), cut + 1)
        owner, place = expand(begin[cut:stop], count[cut:stop])
        mine, theirs = owner + cut, order[place]
        meet = np.maximum(left.begin[mine], right.begin[theirs])
        part = np.minimum(left.end[mine], right.end[theirs])
        yield _checked(left, right, mine[meet < part], theirs[meet < part], condition)
        cut = stop


def _candidates(
    left: Side, right: Side, left_key: Ints, right_key: Ints, condition: Condition
) -> tuple[Ints, Ints, Ints]:
    """An order of the right stays, and for each left stay a range of it with all its partners.

    Ranges are by key and then by time or by band, whichever leaves fewer candidates.
    """
    first, last = int(right.begin.min(initial=FOREVER)), int(right.begin.max(initial=BEGINNING))
    low = np.full(len(left.begin), first)
    if len(low) and len(right.end) and int(right.end.max()) < FOREVER:
        low = left.begin - int((right.end - right.begin).max()) + 1
    by_time = _ranges(left_key, right_key, low, np.minimum(left.end - 1, last), right.begin)
    band = condition.band
    if band is None:
        return by_time
    place, lowest, highest, known = _band_ranges(left, right, band)
    by_band = _ranges(left_key, right_key, lowest, highest, place)
    by_band[2][~known] = 0
    return min(by_time, by_band, key=lambda ranges: int(ranges[2].sum()))


def _ranges(
    left_key: Ints, right_key: Ints, low: Ints, high: Ints, value: Ints
) -> tuple[Ints, Ints, Ints]:
    """Right stays by (key, value), and for each left stay those with low <= value <= high."""
    order = arrange(right_key, value)
    known = (right_key[order], value[order])
    begin = first_at_least(known, (left_key, low))
    end = first_at_least(known, (left_key, high + 1))
    return order, begin, np.maximum(end - begin, 0)


def _band_ranges(left: Side, right: Side, band: Band) -> tuple[Ints, Ints, Ints, Bools]:
    """Band values of right stays, the range each left stay allows, and where that is known."""
    mine, mine_known = _integers(column(left.rows, band.left))
    theirs, theirs_known = _integers(column(right.rows, band.right))
    value = np.where(theirs_known, theirs, FOREVER)[right.item]
    centre = mine[left.item]
    return value, centre + band.low, centre + band.high, mine_known[left.item]


def _integers(array: pa.Array) -> tuple[Ints, Bools]:
    known = array.is_valid().to_numpy(zero_copy_only=False)
    whole = pc.fill_null(array.cast(pa.int64()), 0).to_numpy(zero_copy_only=False)
    return whole, known


def _checked(left: Side, right: Side, mine: Ints, theirs: Ints, condition: Condition) -> Pairs:
    """The candidates that satisfy the band and the residual condition."""
    band = condition.band
    if band is not None:
        a, a_known = _integers(column(left.rows, band.left))
        b, b_known = _integers(column(right.rows, band.right))
        i, j = left.item[mine], right.item[theirs]
        distance = b[j] - a[i]
        holds = (distance >= band.low) & (distance <= band.high) & a_known[i] & b_known[j]
        mine, theirs = mine[holds], theirs[holds]
    if condition.residual is not None and len(mine):
        table = paired(left.rows, right.rows, left.item[mine], right.item[theirs])
        holds = pc.fill_null(condition.residual(table), False).to_numpy(zero_copy_only=False)
        mine, theirs = mine[holds], theirs[holds]
    return Pairs(mine, theirs)


def paired(left: pa.Table, right: pa.Table, mine: Ints, theirs: Ints) -> pa.Table:
    """The data columns of rows of both sides, next to each other."""
    halves = [
        take(table.select([n for n in table.column_names if n not in HIDDEN]), places)
        for table, places in ((left, mine), (right, theirs))
    ]
    names: Sequence[str] = [*halves[0].column_names, *halves[1].column_names]
    return pa.Table.from_arrays([*halves[0].columns, *halves[1].columns], names=names)
