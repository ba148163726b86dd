"""Changes to a program that may make a query bounded, as edits of plans, catalogs and texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from cqlc.algebra.plan import (
    Distinct,
    Dstream,
    Istream,
    Plan,
    Project,
    Range,
    Relation,
    Rstream,
    Scan,
    Stream,
    Unbounded,
)
from cqlc.algebra.walk import inputs, map_inputs
from cqlc.catalog import Catalog, TableDeclaration
from cqlc.diagnostics import Fix
from cqlc.source import NOWHERE, Source, Span

_HOUR = 3_600_000_000
_WINDOW = "[RANGE 1 HOUR]"


@dataclass(frozen=True, slots=True)
class Declare:
    """One more clause in the declaration of a table."""

    table: str
    clause: str
    change: Callable[[TableDeclaration], TableDeclaration] = field(compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def __str__(self) -> str:
        return f"declare {self.clause} for {self.table}"


@dataclass(frozen=True, slots=True)
class AddWindow:
    """A time window over a stream in the FROM clause that has none, or an unbounded one.

    `window` is the place of the unbounded one; without one, it is that of the FROM item.
    """

    stream: str
    scan: Span
    window: Span = field(compare=False)

    def __str__(self) -> str:
        return f"give {self.stream} a window, such as {_WINDOW}"


@dataclass(frozen=True, slots=True)
class AddDistinct:
    """DISTINCT at the top of the query."""

    select: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return "use SELECT DISTINCT"


@dataclass(frozen=True, slots=True)
class DropDistinct:
    """No DISTINCT at the top of the query."""

    select: Span = field(default=NOWHERE, compare=False)

    def __str__(self) -> str:
        return "leave out DISTINCT"


Edit: TypeAlias = Declare | AddWindow | AddDistinct | DropDistinct


def edited(plan: Plan, catalog: Catalog, edits: Iterable[Edit]) -> tuple[Plan, Catalog]:
    """The plan and the catalog after some edits."""
    for edit in edits:
        match edit:
            case Declare(table, _, change):
                catalog = catalog.with_table(change(catalog.tables[table]))
            case AddWindow():
                plan = _with_window(plan, edit)
            case AddDistinct():
                plan = _at_answer(plan, lambda r: Distinct(r, span=r.span))
            case DropDistinct():
                plan = _at_answer(plan, lambda r: r.input if isinstance(r, Distinct) else r)
    return plan, catalog


def _with_window(plan: Plan, edit: AddWindow) -> Plan:
    """The plan with a window in place of the unbounded one at a place of the text."""
    done: dict[int, Plan] = {}

    def visit(node: Plan) -> Plan:
        if id(node) not in done:
            done[id(node)] = change(node)
        return done[id(node)]

    def change(node: Plan) -> Plan:
        match node:
            case Unbounded(Scan(name) as scan) if (name, scan.span) == (edit.stream, edit.scan):
                return Range(scan, _HOUR, span=node.span)
            case _:
                return map_inputs(node, stream, relation)

    def stream(node: Stream) -> Stream:
        image = visit(node)
        assert not isinstance(image, Relation)
        return image

    def relation(node: Relation) -> Relation:
        image = visit(node)
        assert isinstance(image, Relation)
        return image

    return visit(plan)


def _at_answer(plan: Plan, change: Callable[[Relation], Relation]) -> Plan:
    """The plan with the relation that is the answer changed."""
    match plan:
        case Istream(relation) | Dstream(relation) | Rstream(relation):
            return replace(plan, input=change(relation))
        case _ if isinstance(plan, Relation):
            return change(plan)
        case _:
            return plan


# --------------------------------------------------------------------------------- as text


def fixes(edits: Iterable[Edit], source: Source) -> tuple[Fix, ...]:
    """The edits of the text, in its order; those that concern no place in it are left out."""
    found = [fix for edit in edits if (fix := _fix(edit, source))]
    return tuple(sorted(found, key=lambda fix: fix.span))


def applied(edits: Iterable[Edit], source: Source) -> Source:
    """The text with some edits made."""
    text = source.text
    for fix in reversed(fixes(edits, source)):
        text = text[: fix.span.start] + fix.replacement + text[fix.span.end :]
    return Source(text, source.name)


def _fix(edit: Edit, source: Source) -> Fix | None:
    match edit:
        case Declare(_, clause, span=span):
            return _inserted(edit, span.end, f" {clause}") if span != NOWHERE else None
        case AddWindow(scan=scan, window=window):
            if scan == NOWHERE:
                return None
            if window.start >= scan.end:
                return Fix(str(edit), window, _WINDOW)
            return _inserted(edit, scan.end, f" {_WINDOW}")
        case AddDistinct(select):
            return _inserted(edit, select.start + len("SELECT"), " DISTINCT")
        case DropDistinct(select):
            return _without_distinct(edit, select, source)


def _inserted(edit: Edit, offset: int, text: str) -> Fix:
    return Fix(str(edit), Span(offset, offset), text)


def _without_distinct(edit: DropDistinct, select: Span, source: Source) -> Fix | None:
    word = re.compile(r"DISTINCT\s+", re.IGNORECASE).search(source.text, max(select.start, 0))
    return Fix(str(edit), Span(*word.span()), "") if word else None


def selected(plan: Plan) -> Span:
    """The place of the query's own SELECT."""
    while not isinstance(plan, Project) and inputs(plan):
        plan = inputs(plan)[0]
    return plan.span if isinstance(plan, Project) else NOWHERE
