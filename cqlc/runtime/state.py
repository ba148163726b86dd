"""What one bucket of an operator remembers between steps: calendars, shelves and a frontier."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from cqlc.runtime.blobs import Blobs, Identity, Store
from cqlc.runtime.calendar import Calendar, Span, Use
from cqlc.runtime.columns import BEGINNING, FOREVER
from cqlc.runtime.encode import seal, unseal
from cqlc.runtime.faults import OtherQueryError, StateVersionError
from cqlc.runtime.shelf import Shelf

STATE_VERSION = 1
"""Version of the directories and of what kernels store; a checkpoint of another one is refused."""


class State:
    """Calendars and shelves by name, and the time up to which everything was processed.

    `late` counts, by input, the rows that came after their time. Parts are opened as kernels ask
    for them; those a step does not ask for keep their directory as it was.
    """

    def __init__(self, store: Store, identity: Identity, header: bytes | None = None) -> None:
        self.identity = identity
        self.frontier = BEGINNING
        self.late: dict[str, int] = {}
        self._blobs = Blobs(store, identity)
        self._directories: dict[str, Any] = {}
        self._wakes: dict[str, int] = {}
        self._calendars: dict[str, Calendar] = {}
        self._shelves: dict[str, Shelf] = {}
        if header is not None:
            self._restore(header)

    def _restore(self, header: bytes) -> None:
        name = self.identity.name
        saved = json.loads(bytes(unseal(header, f"state of {name}, header")))
        if saved["version"] != STATE_VERSION:
            raise StateVersionError(
                f"the state of {name} was written in version {saved['version']}, this cqlc reads "
                f"version {STATE_VERSION}; continue with the cqlc that wrote the checkpoint, or "
                "start with a new one"
            )
        if saved["fingerprint"] != self.identity.fingerprint:
            raise OtherQueryError(
                f"the checkpoint holds the state of {saved['operator']}, which differs from {name} "
                "of this query; start a changed query with a new checkpoint"
            )
        self.frontier = saved["frontier"]
        self.late = saved["late"]
        self._directories = saved["parts"]
        self._wakes = saved["wakes"]

    def scope(self, name: str = "") -> Scope:
        """A view in which parts have names of their own."""
        return Scope(self, name)

    def calendar(self, name: str, schema: pa.Schema, use: Use, times: tuple[str, str]) -> Calendar:
        """The calendar of this name."""
        if name not in self._calendars:
            directory = self._directories.get(name, [])
            self._calendars[name] = Calendar(self._blobs, schema, use, times, directory)
        return self._calendars[name]

    def shelf(self, name: str, schema: pa.Schema, key: Sequence[str], due: str | None) -> Shelf:
        """The shelf of this name."""
        if name not in self._shelves:
            directory = self._directories.get(name, (0, []))
            self._shelves[name] = Shelf(self._blobs, schema, key, due, directory)
        return self._shelves[name]

    def remind(self, name: str, time: int) -> None:
        """Ask for a step at `time` even if nothing arrives; replaces what `name` asked before."""
        self._wakes[name] = time

    def note_late(self, side: str, rows: int) -> None:
        """Count rows that were dropped because they came too late."""
        if rows:
            self.late[side] = self.late.get(side, 0) + rows

    @property
    def wake(self) -> int:
        """The earliest time at which something happens without new input."""
        return min(self._wakes.values(), default=FOREVER)

    def save(self, frontier: int) -> bytes:
        """Everything up to `frontier` is done: write what is needed later; the header to keep."""
        self.frontier = frontier
        for name, calendar in self._calendars.items():
            self._directories[name] = calendar.save(frontier)
            self._wakes[name] = calendar.next_event()
        for name, shelf in self._shelves.items():
            self._directories[name] = shelf.save()
            self._wakes[name] = shelf.next_event()
        self._calendars, self._shelves = {}, {}
        saved = {
            "version": STATE_VERSION,
            "operator": self.identity.name,
            "fingerprint": self.identity.fingerprint,
            "frontier": frontier,
            "late": self.late,
            "parts": self._directories,
            "wakes": self._wakes,
        }
        return seal(json.dumps(saved, separators=(",", ":")).encode())


@dataclass(frozen=True, slots=True)
class Scope:
    """A state seen by one kernel of several: the names of its parts get a prefix."""

    state: State
    prefix: str

    def inner(self, name: str) -> Scope:
        """The scope of a part of this kernel."""
        return Scope(self.state, f"{self.prefix}{name}/")

    def calendar(self, name: str, schema: pa.Schema, use: Use, times: tuple[str, str]) -> Calendar:
        """The calendar of this name."""
        return self.state.calendar(self.prefix + name, schema, use, times)

    def shelf(
        self, name: str, schema: pa.Schema, key: Sequence[str], due: str | None = None
    ) -> Shelf:
        """The shelf of this name."""
        return self.state.shelf(self.prefix + name, schema, key, due)

    def remind(self, name: str, time: int) -> None:
        """Ask for a step at `time` even if nothing arrives; replaces what `name` asked before."""
        self.state.remind(self.prefix + name, time)

    def note_late(self, side: str, rows: int) -> None:
        """Count rows that came too late."""
        self.state.note_late(self.prefix + side, rows)


__all__ = ["STATE_VERSION", "Scope", "Span", "State"]
