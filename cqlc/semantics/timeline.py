"""Finite inputs: what arrived on each stream and how each table changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from cqlc.algebra.expr import Value
from cqlc.semantics.values import FIRST_TIME

Values: TypeAlias = tuple[Value, ...]
Arrival: TypeAlias = tuple[int, Values]
"""A row of a stream with its time."""
TableChange: TypeAlias = tuple[int, int, Values]
"""A time, +1 or -1, and the row a table gains or loses then."""

BEGINNING = FIRST_TIME
"""The first timestamp there is, 0001-01-01: constants have existed since then."""

FOREVER = 2**63 - 1
"""The end of a lifetime that has none."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Rows of streams in the order of their arrival, and changes of relations and NRRs.

    Names that are absent had no rows. A stream's values leave out `_time`. `ordered` says that
    the order of arrival means something: it breaks ties in ROWS windows. Where it does not, as in
    a distributed source, the rows' own values do.
    """

    streams: Mapping[str, Sequence[Arrival]] = field(default_factory=dict[str, Sequence[Arrival]])
    tables: Mapping[str, Sequence[TableChange]] = field(
        default_factory=dict[str, Sequence[TableChange]]
    )
    ordered: bool = True

    @property
    def times(self) -> frozenset[int]:
        """Every time at which anything happened."""
        rows = (time for arrivals in self.streams.values() for time, _ in arrivals)
        changes = (time for table in self.tables.values() for time, _, _ in table)
        return frozenset((*rows, *changes))
