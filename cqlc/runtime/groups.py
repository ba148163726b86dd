"""The groups that a step touches, numbered, and how stored rows find their group again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.columns import Ints, concat, key_codes, take


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups 0, 1, ... by their key; `keys` has one row for each."""

    keys: pa.Table
    names: Sequence[str]

    @property
    def count(self) -> int:
        """How many groups there are."""
        return self.keys.num_rows

    def find(self, table: pa.Table) -> Ints:
        """The group of each row of a table that has the key's columns; -1 if it is none of them."""
        if not self.names:
            return np.zeros(table.num_rows, np.int64)
        both = concat([self.keys, table.select(self.names)])
        code, _ = key_codes(both, self.names)
        code = code[self.count :]
        return np.where(code < self.count, code, -1)


def group_rows(rows: pa.Table, names: Sequence[str]) -> tuple[Groups, Ints]:
    """The groups of some rows, and the group of each."""
    code, count = key_codes(rows, names)
    first = np.zeros(count, np.int64)
    first[code[::-1]] = np.arange(len(code) - 1, -1, -1)
    if not names:
        return Groups(rows.slice(0, count), names), code
    return Groups(take(rows.select(names), first), names), code
