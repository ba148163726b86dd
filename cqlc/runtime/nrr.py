"""The join with a non-retroactive relation: each row sees the table as of just before its time.

Golab's ⋈NRR (section 3.3.1): rows are not stored once they were looked up, changes of the table
trigger nothing, and a change at a row's very instant is not seen by it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.calendar import Span
from cqlc.runtime.columns import HIDDEN, Ints, concat, ints, nulls, take
from cqlc.runtime.join import JoinKind
from cqlc.runtime.kernel import Form, Port, receive
from cqlc.runtime.matching import Condition, matches, paired
from cqlc.runtime.sides import Side, SideState
from cqlc.runtime.state import Scope


@dataclass(frozen=True)
class NrrJoin:
    """Rows of `left` (a stream, or lifetimes) beside the rows `right` had just before their time.

    There is no FULL join: a table's rows have no time of their own. `as_of` names the column with
    a row's time, which is not after the time its form orders it by; the answer has the form and
    the times of `left`.
    """

    left: Port
    right: Port
    kind: JoinKind
    condition: Condition
    as_of: str

    @property
    def ports(self) -> Mapping[str, Port]:
        """The rows and the changes of the table."""
        return {"left": self.left, "right": self.right}

    @property
    def output(self) -> Form:
        """The form of the left input."""
        return self.left.form

    def step(self, state: Scope, arrived: Mapping[str, pa.Table], span: Span) -> pa.Table:
        """The rows whose own time is in the span, looked up."""
        rows = receive(state, "left", self.left, arrived["left"], span, self.as_of)
        key = self.condition.right_key
        table = SideState(state, "right", self.right, key, arrived["right"], span)
        if rows.num_rows == 0 and table.quiet:
            return self._answer([], rows)
        right = table.read(lambda: rows.select(self.condition.left_key))
        time = ints(rows, self.as_of)
        item = np.arange(len(time), dtype=np.int64)
        before = Side(rows, item, time - 1, time, np.ones_like(time), distinct=True)
        left_key, right_key, _ = self.condition.keys(rows, right.rows)
        met = np.zeros(len(time), np.bool_)
        pairs: list[pa.Table] = []
        for found in matches(before, right, (left_key, right_key), self.condition):
            met[found.left] = True
            copies = right.count[found.right]
            mine = np.repeat(found.left, copies)
            theirs = np.repeat(right.item[found.right], copies)
            pairs.append(self._beside(rows, right.rows, mine, theirs))
        match self.kind:
            case JoinKind.SEMI:
                return take(rows, np.flatnonzero(met))
            case JoinKind.ANTI:
                return take(rows, np.flatnonzero(~met))
            case JoinKind.LEFT:
                return self._answer(pairs, take(rows, np.flatnonzero(~met)))
            case JoinKind.INNER | JoinKind.FULL:
                return self._answer(pairs, rows.slice(0, 0))

    def _beside(self, left: pa.Table, right: pa.Table, mine: Ints, theirs: Ints) -> pa.Table:
        pairs = paired(left, right, mine, theirs)
        for name in left.column_names:
            if name in HIDDEN:
                pairs = pairs.append_column(name, take(left.select([name]), mine).column(0))
        return pairs

    def _answer(self, pairs: list[pa.Table], alone: pa.Table) -> pa.Table:
        """Pairs, and rows alone with NULLs beside them."""
        if self.kind in (JoinKind.SEMI, JoinKind.ANTI):
            return alone
        data = pa.schema([f for f in self.right.schema if f.name not in HIDDEN])
        none = nulls(data, alone.num_rows)
        item = np.arange(alone.num_rows, dtype=np.int64)
        return concat([*pairs, self._beside(alone, none, item, item)])
