"""Columns of streams and relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from cqlc.datatypes import TIMESTAMP, DataType

TIME = "_time"
"""The hidden column that carries a stream element's time."""


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, type, whether it may be NULL, and whether `*` leaves it out."""

    name: str
    type: DataType
    nullable: bool = True
    hidden: bool = False


Schema: TypeAlias = tuple[Field, ...]

TIME_FIELD = Field(TIME, TIMESTAMP, nullable=False, hidden=True)
