"""The stored sums of groups: how many rows each has, and the limbs of its additive measures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cqlc.runtime.columns import BEGINNING, Ints, column, concat, ints, where
from cqlc.runtime.exact import Lanes
from cqlc.runtime.groups import Groups
from cqlc.runtime.state import Scope

_ROWS, _LANE, _VALUE = "_rows", "_lane", "_value"
_WIDTH = 1 << 20
"""Lanes of different measures are this far apart."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What the touched groups had before a step; the rows of the others are `resting`."""

    rows: Ints
    lanes: Mapping[int, Lanes]
    resting: pa.Table

    def initial(self, measure: int, place: int) -> Ints:
        """The initial value of one lane of a measure."""
        return self.lanes.get(measure, {}).get(place, np.zeros_like(self.rows))


class TotalsShelf:
    """Totals by group, on a shelf."""

    def __init__(self, state: Scope, keys: pa.Schema) -> None:
        self._keys = keys
        extra = [(_ROWS, pa.int64()), (_LANE, pa.list_(pa.int32())), (_VALUE, pa.list_(pa.int64()))]
        self._schema = pa.schema([*keys, *(pa.field(name, kind) for name, kind in extra)])
        self._shelf = state.shelf("groups", self._schema, keys.names)

    def load(self, groups: Groups) -> Totals:
        """The totals of some groups."""
        held = self._shelf.load([groups.keys], BEGINNING)
        group = groups.find(held)
        known = group >= 0
        rows = np.zeros(groups.count, np.int64)
        rows[group[known]] = ints(held, _ROWS)[known]
        return Totals(
            rows, _unpack(where(held, known), group[known], groups.count), where(held, ~known)
        )

    def store(
        self, groups: Groups, rows: Ints, lanes: Mapping[int, Lanes], resting: pa.Table
    ) -> None:
        """Keep the totals of the groups that still have rows."""
        lane, value = _pack(lanes, groups.count)
        keys = groups.keys if self._keys.names else None
        arrays = [column(keys, name) for name in self._keys.names] if keys is not None else []
        table = pa.Table.from_arrays(
            [*arrays, pa.array(rows, pa.int64()), lane, value], schema=self._schema
        )
        self._shelf.store(concat([resting, where(table, rows > 0)]))


def _unpack(held: pa.Table, group: Ints, groups: int) -> Mapping[int, Lanes]:
    lanes: dict[int, Lanes] = {}
    number = column(held, _LANE)
    flat = number.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    values = column(held, _VALUE).flatten().to_numpy(zero_copy_only=False)
    lengths = number.value_lengths().to_numpy(zero_copy_only=False)
    owner = np.repeat(group, lengths)
    for identity in np.unique(flat).tolist():
        here = flat == identity
        lane = np.zeros(groups, np.int64)
        lane[owner[here]] = values[here]
        measure, place = divmod(identity, _WIDTH)
        lanes.setdefault(measure, {})[place - 1] = lane
    return lanes


def _pack(lanes: Mapping[int, Lanes], groups: int) -> tuple[pa.Array, pa.Array]:
    identities: list[int] = []
    values: list[Ints] = []
    for measure, places in lanes.items():
        for place, lane in places.items():
            identities.append(measure * _WIDTH + place + 1)
            values.append(lane)
    if not identities:
        empty = pa.array(np.zeros(groups + 1), pa.int32())
        return (
            pa.ListArray.from_arrays(empty, pa.array([], pa.int32())),
            pa.ListArray.from_arrays(empty, pa.array([], pa.int64())),
        )
    matrix = np.stack(values, axis=1)
    used = matrix != 0
    offsets = pa.array(np.concatenate([[0], np.cumsum(used.sum(axis=1))]), pa.int32())
    names = np.broadcast_to(np.array(identities, np.int32), matrix.shape)
    return (
        pa.ListArray.from_arrays(offsets, pa.array(names[used], pa.int32())),
        pa.ListArray.from_arrays(offsets, pa.array(matrix[used], pa.int64())),
    )
