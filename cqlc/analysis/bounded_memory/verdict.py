"""Whether a query can be answered in constant memory, whatever arrives.

BOUNDED and UNBOUNDED are proved. Where the theory stops (self-joins without duplicates, comparisons
it does not read, inputs that are less free than it assumes) a failed proof of BOUNDED is UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cqlc.algebra.expr import Comparison
from cqlc.analysis.bounded_memory.adversary import fills_memory, respects_keys
from cqlc.analysis.bounded_memory.aggregates import aggregation_violations
from cqlc.analysis.bounded_memory.closure import Class, Closure, close
from cqlc.analysis.bounded_memory.criteria import (
    Case,
    Condition,
    Violation,
    projection_violations,
)
from cqlc.analysis.bounded_memory.fold import apart, fold, repeated, separate
from cqlc.analysis.bounded_memory.query import (
    AggregateKind,
    Aggregation,
    Conjunction,
    Limit,
    NotApplicable,
    Opaque,
    Projection,
    SpjQuery,
)
from cqlc.analysis.bounded_memory.synopsis import NOTHING, Synopsis, synopsis

_MOST_PIECES = 256


@dataclass(frozen=True, slots=True)
class Bounded:
    """Constant memory is enough; the synopsis says for what.

    `given` says what else has to be kept: windows, relations. An `empty` query has no results.
    """

    synopsis: Synopsis
    reason: str
    given: tuple[str, ...] = ()
    empty: bool = False


@dataclass(frozen=True, slots=True)
class Unbounded:
    """Memory grows with the input, by the first violation at the latest."""

    case: Case
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class Unknown:
    """Neither could be proved. The violations, if any, are what a proof of a bound failed on."""

    reasons: tuple[str, ...]
    violations: tuple[Violation, ...] = ()


BoundedMemoryVerdict: TypeAlias = Bounded | Unbounded | Unknown


def analyse(query: SpjQuery | NotApplicable) -> BoundedMemoryVerdict:
    """The verdict on a query."""
    if isinstance(query, NotApplicable):
        return Unknown((query.reason,))
    cases = _cases(query)
    if cases is None:
        return Unknown(("the conditions fall into too many cases to look at",))
    if not cases:
        return Bounded(NOTHING, "no rows satisfy the conditions", empty=True)
    cases = _with_finite_streams(cases)
    cases = [_folded(case) for case in cases]
    found = [(case, _violations(case)) for case in cases]
    failed = [(case, violations) for case, violations in found if violations]
    if not failed:
        stored = (f"{u.name}: {u.stored}" for u in cases[0].query.uses if u.stored)
        given = (*stored, *(f"{name}: the NRR" for name in query.given))
        return Bounded(synopsis(cases), _reason(cases[0].query), given)
    return _refused(query, cases, failed)


def _violations(case: Case) -> tuple[Violation, ...]:
    match case.query.head:
        case Projection(outputs, distinct):
            return projection_violations(case, outputs, distinct=distinct)
        case Aggregation() as head:
            return aggregation_violations(case, head)


def _reason(query: SpjQuery) -> str:
    match query.head:
        case Projection(distinct=False) if len(query.uses) == 1:
            return "every row is answered by itself"
        case Projection(distinct=True) if len(query.uses) == 1:
            return "the answer has finitely many different rows"
        case Aggregation() if len(query.uses) == 1:
            return "there are finitely many groups, each with a fixed number of values"
        case _:
            return "finitely many kinds of rows can be told apart by what follows"


# --------------------------------------------------------------------------------- cases


def _cases(query: SpjQuery) -> list[Case] | None:
    """The pieces something satisfies, with what they imply; None if there are too many."""
    cases: list[Case] = []
    todo = list(reversed(query.pieces))
    while todo:
        piece = todo.pop()
        closure = close(query.attributes, piece.atoms)
        if closure is None:
            continue
        finite = _compared(closure)
        if finite is None:
            cases.append(Case(query, piece, closure))
        else:
            todo += (_pinned(piece, finite, position) for position in _values(finite))
        if len(cases) + len(todo) > _MOST_PIECES:
            return None
    return cases


def _compared(closure: Closure) -> Class | None:
    """An attribute of a dense order that has finitely many values and is compared by order.

    It gets its values one by one. In a discrete order that is not needed: there all comparisons
    with finitely many values happen far from the regions without bound.
    """
    above = {j for i in closure.above for j in i}
    for i, found in enumerate(closure.classes):
        several = found.values is not None and not found.pinned
        if found.sort.dense and several and (closure.above[i] or i in above):
            return found
    return None


def _values(found: Class) -> list[int]:
    return sorted(p for p in found.values or () if found.admits(p))


def _pinned(piece: Conjunction, found: Class, position: int) -> Conjunction:
    pin = Limit(found.members[0], Comparison.EQ, position // 2)
    return replace(piece, atoms=(*piece.atoms, pin))


def _with_finite_streams(cases: Sequence[Case]) -> list[Case]:
    """The cases, with streams whose key has finitely many values as stored: so have their rows."""
    query = cases[0].query
    uses = tuple(
        replace(use, stored="the rows its key allows")
        if not use.stored and any(_finite(cases, key) for key in use.keys)
        else use
        for use in query.uses
    )
    if uses == query.uses:
        return list(cases)
    changed = replace(query, uses=uses)
    return [replace(case, query=changed) for case in cases]


def _finite(cases: Iterable[Case], key: Iterable[str]) -> bool:
    names = tuple(key)
    return all(case.bounded(name) for case in cases for name in names)


# ---------------------------------------------------------------------------- self-joins


def _folded(case: Case) -> Case:
    """The case without the occurrences an answer without duplicates can do without."""
    head = case.query.head
    if not isinstance(head, Projection) or not head.distinct or not repeated(case.query):
        return case
    return fold(case, head)


def _proved(case: Case, violation: Violation) -> bool:
    """Whether a violation proves growth although tables occur more than once.

    With duplicates the article's theorem covers self-joins. Without, it does if no row can stand
    at two occurrences; but groups without end are an answer without end in any case.
    """
    if not violation.exact:
        return False
    if not repeated(case.query) or apart(case):
        return True
    match case.query.head:
        case Projection(distinct=distinct):
            return not distinct
        case Aggregation(aggregates=aggregates):
            counting = any(a.kind is AggregateKind.COUNT for a in aggregates)
            joins = violation.condition in (Condition.COUNTING, Condition.EQUALITY)
            return violation.condition is Condition.GROUP or (joins and counting)


# ------------------------------------------------------------------------------- refusals


def _refused(
    query: SpjQuery, cases: Sequence[Case], failed: Sequence[tuple[Case, tuple[Violation, ...]]]
) -> Unbounded | Unknown:
    """UNBOUNDED if a case proves it, otherwise UNKNOWN with what stands in the way."""
    everything = tuple(dict.fromkeys(v for _, violations in failed for v in violations))
    reasons = list(query.caveats)
    for case, violations in failed:
        proved = tuple(v for v in violations if _proved(case, v))
        if not proved:
            reasons += _unproved(case, violations)
        elif case.piece.opaque:
            reasons += (_unread(condition) for condition in case.piece.opaque)
        elif not all(separate(case, other) for other in cases if other is not case):
            reasons.append("the alternatives of the condition overlap across streams")
        elif _mixed(query):
            reasons.append("one table is used both with all its rows and with a window")
        elif not query.caveats:
            proved = tuple(sorted(proved, key=_directness))
            stopped = _stopped(case, proved[0])
            if not stopped:
                return Unbounded(case, proved)
            reasons.append(stopped)
    return Unknown(tuple(dict.fromkeys(reasons)), everything)


def _stopped(case: Case, violation: Violation) -> str:
    """Why the adversary's input is not one, if it is not: the theorems assume free input."""
    if not respects_keys(case, violation):
        return "the declared keys may keep the rows apart that would fill the memory"
    if repeated(case.query) and not fills_memory(case, violation):
        return "no input was found that fills the memory of this self-join"
    return ""


def _unproved(case: Case, violations: Iterable[Violation]) -> Iterable[str]:
    if repeated(case.query) and any(v.exact for v in violations):
        yield "for self-joins without duplicates no exact condition is known"
    for violation in violations:
        if not violation.exact:
            yield _inexact(violation)


def _unread(condition: Opaque) -> str:
    names = " and ".join(sorted(condition.attributes)) or "constants"
    return f"the condition on {names} is not a comparison of columns or constants"


def _inexact(violation: Violation) -> str:
    names = " and ".join(violation.attributes)
    match violation.condition:
        case Condition.OPAQUE:
            return _unread(Opaque(frozenset(violation.attributes)))
        case Condition.OUTPUT | Condition.GROUP:
            return f"what is computed from {names} may have finitely many values"
        case _:
            return f"no exact condition is known for {violation.aggregate or names}"


def _directness(violation: Violation) -> int:
    """A rank: first what shows in the answer by itself, last what shows through an aggregate."""
    order = (
        *(Condition.OUTPUT, Condition.GROUP, Condition.EQUALITY, Condition.ISOLATING),
        *(Condition.EXTREME, Condition.VALUES, Condition.COUNTING, Condition.LIST),
    )
    return order.index(violation.condition)


def _mixed(query: SpjQuery) -> bool:
    return any(len({bool(u.stored) for u in uses}) > 1 for uses in repeated(query))
