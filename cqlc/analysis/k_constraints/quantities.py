"""The quantities that sizes are made of, with the names they go by in formulas.

Lengths of time are seconds and rates rows per second, so that their products are rows. A k counted
in rows becomes a time by the rate of the stream that counts.
"""

from __future__ import annotations

from cqlc.analysis.k_constraints.model import (
    Clustering,
    Extent,
    JoinedStream,
    JoinGraph,
    KConstraint,
    Ordering,
    Rids,
)
from cqlc.analysis.k_constraints.rules import Closer
from cqlc.analysis.size import ONE, Number, Quotient, Size, Symbol, plus, times
from cqlc.catalog import Adherence, Monitored, WithinRows, WithinTime

SECOND = 1_000_000


def rate(stream: JoinedStream) -> Size:
    """Rows per second of a stream."""
    return Symbol(f"rate({stream.source})", f"rows of {stream.source} per second", stream.rate)


def multiplicity(graph: JoinGraph, parent: str, child: str) -> Size:
    """How many rows of the parent there are for one of the child, on average."""
    above, below = graph.stream(parent), graph.stream(child)
    value = above.rate / below.rate if above.rate is not None and below.rate else None
    return Symbol(f"multiplicity({parent}, {child})", f"rows of {parent} per row of {child}", value)


def adherence(constraint: KConstraint, within: Adherence) -> Size:
    """The k of a constraint: rows or seconds."""
    name = f"k({describe(constraint)})"
    match within:
        case WithinRows(rows):
            return Symbol(name, f"rows by which {describe(constraint)} may be missed", rows)
        case WithinTime(length):
            meaning = f"seconds by which {describe(constraint)} may be missed"
            return Symbol(name, meaning, length / SECOND)
        case Monitored():
            return Symbol(name, f"an estimate, made while running, for {describe(constraint)}")


def waiting_time(constraint: KConstraint, within: Adherence, counting: JoinedStream) -> Size:
    """How many seconds k lasts: a k of rows takes as long as the stream that is counted."""
    k = adherence(constraint, within)
    return Quotient(k, rate(counting)) if isinstance(within, WithinRows) else k


def in_rows(within: Adherence, rate: float) -> float | None:
    """A k as a number of rows of a stream of this rate; None if it is only estimated."""
    match within:
        case WithinRows(rows):
            return rows
        case WithinTime(length):
            return length / SECOND * rate
        case Monitored():
            return None


def lasting(stream: JoinedStream, window: Extent) -> Size:
    """How many seconds a row stays in a window."""
    match window:
        case WithinRows(rows):
            return Quotient(Number(rows), rate(stream))
        case WithinTime(length):
            return Number(length / SECOND)


def kept_rows(stream: JoinedStream, window: Extent) -> Size:
    """The rows of a window."""
    match window:
        case WithinRows(rows):
            return Number(rows)
        case WithinTime(length):
            return times(rate(stream), Number(length / SECOND))


def open_values(closer: Closer, parent: JoinedStream, child: JoinedStream) -> Size:
    """The child's rows whose values the parents have begun and not finished.

    Of clustered values at most k + 1 are open at a time, each with one row of the child if the
    column alone is its key. Ordered ones are as many rows as the child brings meanwhile.
    """
    k = adherence(closer.constraint, closer.constraint.within)
    rows = isinstance(closer.constraint.within, WithinRows)
    match closer.constraint:
        case Clustering():
            values = plus(k, ONE) if rows else times(rate(parent), k)
            return times(values, _rows_per_value(child, closer.child_column))
        case Ordering():
            return times(rate(child), Quotient(k, rate(parent)) if rows else k)


def _rows_per_value(child: JoinedStream, column: str) -> Size:
    if (column,) in child.keys:
        return ONE
    return Symbol(f"rows per {child.name}.{column}", f"rows of {child.name} with one {column}")


def ahead(leading: str, column: str, trailing: str, other: str) -> Size:
    """How long values of one stream are ahead of those of another, which nothing declares."""
    return Symbol(
        f"lead({leading}.{column}, {trailing}.{other})",
        f"seconds until {trailing}.{other} reaches the values of {leading}.{column}",
    )


def unreferenced(child: str, parent: str) -> Size:
    """The rows of a child that no parent has joined yet, some of which none may ever join."""
    return Symbol(
        f"unreferenced({child}, {parent})", f"rows of {child} that no row of {parent} joins yet"
    )


def describe(constraint: KConstraint) -> str:
    """A constraint in few words."""
    if constraint.label:
        return constraint.label
    if isinstance(constraint, Rids):
        return f"{constraint.parent} → {constraint.child}"
    return f"{constraint.stream}.{constraint.column}"
