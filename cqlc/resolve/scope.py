"""Which columns a name may mean, in a query and the queries around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from cqlc.algebra.expr import Column, Expr
from cqlc.resolve.lookup import Fresh, same_name
from cqlc.source import NOWHERE, Span
from cqlc.syntax import ast


@dataclass(frozen=True, slots=True)
class ScopeColumn:
    """A column as queries call it, and its value in the plan.

    `nickname` is the name an unnamed result also answers to: SUM(a) to `a`, as in Golab's thesis.
    """

    name: str
    value: Expr
    hidden: bool = False
    nickname: str | None = None


@dataclass(frozen=True, slots=True)
class ScopeItem:
    """A FROM item: its alias, the name of what it stands for, and its columns.

    What stands for something broken is `open`: any column may be in it.
    """

    alias: str
    table: str
    columns: tuple[ScopeColumn, ...]
    open: bool = False
    span: Span = NOWHERE


@dataclass(frozen=True, slots=True)
class MergedColumn:
    """The one column that USING made of two; `item` is the left one's."""

    column: ScopeColumn
    item: ScopeItem
    replaced: frozenset[str]
    """The names, in the plan, of the columns that it stands for."""


@dataclass(frozen=True, slots=True)
class Found:
    """A column, and the parts of the name after it: fields of a struct."""

    column: ScopeColumn
    item: ScopeItem | None
    fields: tuple[ast.Name, ...]


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A name that several FROM items have."""

    items: tuple[ScopeItem, ...]


@dataclass(frozen=True, slots=True)
class Anything:
    """A name that may belong to something broken."""


@dataclass(frozen=True, slots=True)
class Missing:
    """A name that nothing here has; `item` is the FROM item that its first part names."""

    item: ScopeItem | None


Lookup: TypeAlias = Found | Ambiguous | Anything | Missing


@dataclass(slots=True)
class Scope:
    """The FROM items of a query, inside those of the queries around it.

    `aliases` gives plans their unique names. `siblings` are FROM items that stand beside a
    subquery in FROM, which does not see them.
    """

    items: list[ScopeItem] = field(default_factory=list[ScopeItem])
    merged: list[MergedColumn] = field(default_factory=list[MergedColumn])
    parent: Scope | None = None
    aliases: Fresh = field(default_factory=Fresh)
    siblings: list[ScopeItem] = field(default_factory=list[ScopeItem])

    @staticmethod
    def inside(parent: Scope | None) -> Scope:
        """An empty scope inside another one."""
        return Scope(parent=parent, aliases=Fresh(parent.aliases if parent else None))

    def find(self, name: ast.QualifiedName) -> Lookup:
        """What a name means here or, if nothing has it here, further out."""
        scope: Scope | None = self
        missing = Missing(None)
        while scope is not None:
            found = scope._find_here(name.parts)
            if not isinstance(found, Missing):
                return found
            if found.item is not None:
                return found
            scope = scope.parent
        return missing

    def _find_here(self, parts: Sequence[ast.Name]) -> Lookup:
        item, rest = self.item(parts)
        if item is not None and rest:
            if column := _column(item, rest[0]):
                return Found(column, item, tuple(rest[1:]))
            if item.open:
                return Anything()
        unqualified = self._unqualified(parts)
        return Missing(item) if unqualified is None else unqualified

    def item(self, parts: Sequence[ast.Name]) -> tuple[ScopeItem | None, Sequence[ast.Name]]:
        """The FROM item that the first parts of a name mean, and the other parts."""
        for item in self.items:
            if same_name(parts[0], item.alias):
                return item, parts[1:]
        if len(parts) > 1:
            whole = ".".join(part.text for part in parts[:-1])
            for item in self.items:
                named_so = item.table.lower().endswith("." + item.alias.lower())
                if named_so and whole.lower() == item.table.lower():
                    return item, parts[-1:]
        return None, parts

    def _unqualified(self, parts: Sequence[ast.Name]) -> Lookup | None:
        first, fields = parts[0], tuple(parts[1:])
        found = [(m.item, m.column) for m in self.merged if same_name(first, m.column.name)]
        found += [
            (item, column)
            for item in self.items
            if (column := _column(item, first)) and not self._is_merged(column)
        ]
        if len(found) > 1:
            return Ambiguous(tuple(item for item, _ in found))
        if found:
            item, column = found[0]
            return Found(column, item, fields)
        return Anything() if any(item.open for item in self.items) else None

    def _is_merged(self, column: ScopeColumn) -> bool:
        value = column.value
        return isinstance(value, Column) and any(value.name in m.replaced for m in self.merged)

    def star(self, item: ScopeItem | None = None) -> Iterator[tuple[ScopeItem, ScopeColumn]]:
        """The columns that `*` means, or `alias.*`; those that USING merged come first, once."""
        if item is None:
            yield from ((m.item, m.column) for m in self.merged)
        for one in self.items if item is None else (item,):
            for column in one.columns:
                if not column.hidden and (item is not None or not self._is_merged(column)):
                    yield one, column

    def unseen(self, name: ast.Name) -> bool:
        """Whether a name is that of a FROM item beside a subquery around here."""
        scope: Scope | None = self
        while scope is not None:
            if any(same_name(name, item.alias) for item in scope.siblings):
                return True
            scope = scope.parent
        return False

    def columns(self) -> Iterator[tuple[ScopeItem, ScopeColumn]]:
        """Every column in sight, from the inside out."""
        scope: Scope | None = self
        while scope is not None:
            for item in scope.items:
                for column in item.columns:
                    yield item, column
            scope = scope.parent


def _column(item: ScopeItem, name: ast.Name) -> ScopeColumn | None:
    named = [column for column in item.columns if same_name(name, column.name)]
    if named:
        return next((column for column in named if column.name == name.text), named[0])
    for column in item.columns:
        if column.nickname and same_name(name, column.nickname):
            return column
    return None
