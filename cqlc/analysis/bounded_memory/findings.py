"""Verdicts in words: what is true, where, and what helps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cqlc.analysis.bounded_memory.criteria import Case, Condition, Violation
from cqlc.analysis.bounded_memory.query import Aggregation, Projection
from cqlc.analysis.bounded_memory.verdict import (
    Bounded,
    BoundedMemoryVerdict,
    Unbounded,
    Unknown,
)
from cqlc.codes import analysis as codes
from cqlc.diagnostics import Code, Diagnostic, Label
from cqlc.source import NOWHERE, Span

LARGE = 1_000_000
"""A synopsis of more values than this is worth a warning."""

_CODES: dict[Condition, Code] = {
    Condition.OUTPUT: codes.UNBOUNDED_OUTPUT,
    Condition.EQUALITY: codes.UNBOUNDED_EQUALITY,
    Condition.COUNTING: codes.UNBOUNDED_COUNTS,
    Condition.ISOLATING: codes.UNBOUNDED_DIRECTIONS,
    Condition.GROUP: codes.UNBOUNDED_GROUPS,
    Condition.VALUES: codes.UNBOUNDED_VALUES,
    Condition.EXTREME: codes.UNBOUNDED_EXTREME,
    Condition.LIST: codes.UNBOUNDED_LIST,
    Condition.OPAQUE: codes.BOUND_UNKNOWN,
}


def findings(verdict: BoundedMemoryVerdict, query: Span) -> tuple[Diagnostic, ...]:
    """What there is to say about a query; violations of one kind at one stream are one finding."""
    match verdict:
        case Bounded(synopsis):
            return _large(synopsis.values, query) if synopsis.values > LARGE else ()
        case Unknown(reasons):
            message = "whether this query needs bounded memory is not known"
            label = Label(query, "; ".join(reasons))
            return (Diagnostic(codes.BOUND_UNKNOWN, message, label),)
        case Unbounded(case, violations):
            return tuple(_finding(case, group, query) for group in _grouped(violations))


def _large(values: int, query: Span) -> tuple[Diagnostic, ...]:
    message = f"the state of this query is bounded by {values:,} values, which is a lot"
    help = "narrow the bounds of its columns, or give its streams windows"
    return (Diagnostic(codes.BOUND_LARGE, message, Label(query, "needs all of them"), help=help),)


def _grouped(violations: Iterable[Violation]) -> Iterator[list[Violation]]:
    groups: dict[tuple[Condition, str, str], list[Violation]] = {}
    for violation in violations:
        label = str(violation.aggregate or "")
        alike = violation.condition in (Condition.OUTPUT, Condition.GROUP)
        key = (violation.condition, violation.stream, label if alike else repr(violation))
        groups.setdefault(key, []).append(violation)
    yield from groups.values()


def _finding(case: Case, group: list[Violation], query: Span) -> Diagnostic:
    first = group[0]
    names = tuple(dict.fromkeys(name for v in group for name in v.attributes))
    span = _place(case, first)
    related = tuple(Label(k.span, f"compares {k}") for k in first.links if k.span != NOWHERE)
    return Diagnostic(
        _CODES[first.condition],
        explained(case, first, names),
        Label(query if span == NOWHERE else span, _open(case, names)),
        tuple(label for label in related if label.span != span),
        help=_help(case, first, names),
    )


def _place(case: Case, violation: Violation) -> Span:
    """The place of a violation: its output column, aggregate, comparison or FROM item."""
    if violation.aggregate and violation.aggregate.span != NOWHERE:
        return violation.aggregate.span
    head = case.query.head
    outputs = head.outputs if isinstance(head, Projection) else head.groups
    if violation.condition in (Condition.OUTPUT, Condition.GROUP):
        return next(o.span for o in outputs if o.attribute == violation.attributes[0])
    spans = [link.span for link in violation.links if link.span != NOWHERE]
    joined = (a.span for a in case.piece.atoms if str(a) == str(next(iter(violation.links), "")))
    return next(iter((*spans, *joined)), NOWHERE)


# ------------------------------------------------------------------------------------ words


def explained(case: Case, violation: Violation, names: tuple[str, ...] = ()) -> str:
    """One sentence on why rows cannot be forgotten."""
    listed = _listed(names or violation.attributes)
    stream = f"`{violation.stream}`"
    links = _listed(str(link) for link in violation.links)
    match violation.condition:
        case Condition.OUTPUT if len(case.query.uses) == 1:
            return f"every different value of {listed} has to be remembered"
        case Condition.OUTPUT:
            return f"rows of {stream} may still find partners, and the answer shows their {listed}"
        case Condition.EQUALITY:
            return f"every value of {listed} may still find an equal partner"
        case Condition.COUNTING:
            told = f" for {violation.aggregate}" if violation.aggregate else ""
            return f"every pair with {links} counts{told}, so all rows have to be kept"
        case Condition.ISOLATING:
            return f"{links} together single out rows of {stream}, so none can stand for others"
        case Condition.GROUP:
            return f"there is a group for every value of {listed}"
        case Condition.VALUES:
            return f"{violation.aggregate} has to know every value of {listed}"
        case Condition.EXTREME:
            compared = links or "the comparisons"
            return f"{violation.aggregate} asks for one end of {listed}, {compared} for another"
        case Condition.LIST:
            return f"{violation.aggregate} has an element for every row"
        case Condition.OPAQUE:
            return f"the join condition on {listed} cannot be read"


def _listed(names: Iterable[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _open(case: Case, names: Iterable[str]) -> str:
    """Which bounds are missing."""
    parts = [
        f"{name} has {_missing(case, name)}" for name in names if name in case.closure.class_of
    ]
    return ", ".join(parts)


def _missing(case: Case, name: str) -> str:
    found = case.closure.of(name)
    if found.sort.dense:
        return "infinitely many values"
    match found.low, found.high:
        case None, None:
            return "no bounds"
        case None, _:
            return "no lower bound"
        case _, None:
            return "no upper bound"
        case _:
            return "bounds"


def _help(case: Case, violation: Violation, names: Iterable[str]) -> str:
    bound = f"bound {_listed(names)} by a CHECK or a filter"
    window = f"give {_listed((violation.stream,))} a window"
    match case.query.head:
        case Projection(distinct=False) if violation.condition is Condition.COUNTING:
            return f"use SELECT DISTINCT if duplicates do not matter, {bound}, or {window}"
        case Projection(distinct=True) if len(case.query.uses) == 1:
            return f"{bound}, {window}, or leave out DISTINCT"
        case Projection() | Aggregation():
            return f"{bound}, or {window}"
