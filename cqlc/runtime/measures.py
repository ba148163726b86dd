"""The aggregate functions a columnar aggregation can compute, and what each is made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cqlc.runtime.columns import Bools, column


class Family(Enum):
    """What a function is computed from, which decides the state it needs."""

    ADDITIVE = auto()
    """Sums that grow and shrink: one row of limbs per group."""
    EXTREME = auto()
    """The least or greatest row: those not outlived by a better one."""
    HOLISTIC = auto()
    """All rows, as a bag of argument values."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One aggregate: `function` of the registry over columns, giving the column `name`.

    `constant` is the share of QUANTILE and PERCENTILE_DISC, the k of TOP_K, the separator of
    STRING_AGG. `where` names a boolean column that says which rows count. `order` names the
    column of times for the functions that depend on the order of rows.
    """

    name: str
    function: str
    type: pa.DataType
    arguments: tuple[str, ...] = ()
    distinct: bool = False
    where: str | None = None
    order: str | None = None
    constant: float | int | str | None = None

    @property
    def family(self) -> Family:
        """What it is computed from."""
        return FAMILIES[self.function]

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns whose values decide it."""
        return self.arguments if self.order is None else (*self.arguments, self.order)

    def counts(self, rows: pa.Table) -> Bools:
        """Which rows count: those its filter admits, without NULL where that matters."""
        mask = np.ones(rows.num_rows, np.bool_)
        if self.where is not None:
            admitted = pc.fill_null(column(rows, self.where), False)
            mask &= admitted.to_numpy(zero_copy_only=False)
        for name in self.arguments[_LENIENT.get(self.function, 0) :]:
            array = column(rows, name)
            if array.null_count:
                mask &= array.is_valid().to_numpy(zero_copy_only=False)
        return mask


_LENIENT = {"FIRST": 1, "LAST": 1, "ANY_VALUE": 1, "MIN_BY": 1, "MAX_BY": 1}
"""How many leading arguments may be NULL."""

_ADDITIVE = (
    "COUNT",
    "COUNT_IF",
    "SUM",
    "AVG",
    "VAR_POP",
    "VAR_SAMP",
    "STDDEV_POP",
    "STDDEV_SAMP",
    "SKEWNESS",
    "KURTOSIS",
    "COVAR_POP",
    "COVAR_SAMP",
    "CORR",
    "BOOL_AND",
    "BOOL_OR",
    "BIT_AND",
    "BIT_OR",
    "BIT_XOR",
)
_EXTREME = ("MIN", "MAX", "MIN_BY", "MAX_BY", "FIRST", "LAST", "ANY_VALUE")
_HOLISTIC = (
    "MEDIAN",
    "QUANTILE",
    "PERCENTILE_DISC",
    "MODE",
    "TOP_K",
    "COLLECT_LIST",
    "COLLECT_SET",
    "STRING_AGG",
)

FAMILIES: dict[str, Family] = {
    **dict.fromkeys(_ADDITIVE, Family.ADDITIVE),
    **dict.fromkeys(_EXTREME, Family.EXTREME),
    **dict.fromkeys(_HOLISTIC, Family.HOLISTIC),
}
"""The functions by what they are computed from. All of the registry are here but
APPROX_COUNT_DISTINCT, which is exact in cqlc: COUNT of distinct values."""
