"""The smallest changes that make an unbounded query bounded, each one checked by asking again."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cqlc.algebra import plan as p
from cqlc.algebra.expr import And, Column, Compare, Comparison, Expr, Literal, Or, Value
from cqlc.algebra.text import expr_text
from cqlc.algebra.walk import subplans
from cqlc.analysis.bounded_memory.closure import Class
from cqlc.analysis.bounded_memory.criteria import Case, Violation
from cqlc.analysis.bounded_memory.edits import (
    AddDistinct,
    AddWindow,
    Declare,
    DropDistinct,
    Edit,
    edited,
    selected,
)
from cqlc.analysis.bounded_memory.judge import judge
from cqlc.analysis.bounded_memory.query import Projection
from cqlc.analysis.bounded_memory.values import decode
from cqlc.analysis.bounded_memory.verdict import Bounded, Unbounded, Unknown
from cqlc.catalog import Catalog, TableDeclaration
from cqlc.datatypes import STRING, Decimal, is_integer

MOST = 6
"""How many repairs of one kind are told, and how many equal columns are tried."""

LARGEST = 6
"""Repairs of more edits than this are not looked for."""

_BUDGET = 300
"""How many edited programs are judged at most for repairs of one kind."""

_WIDTH = 999
_WORDS = ("a", "b", "c")


@dataclass(frozen=True, slots=True)
class Repair:
    """Edits that together make the query bounded; none of them can be left out."""

    edits: tuple[Edit, ...]

    def __str__(self) -> str:
        return ", and ".join(map(str, self.edits))


IsFixed = Callable[[p.Plan, Catalog], bool]
"""Whether a program is good enough, by whatever standard: bounded, or purgeable."""


def repairs(
    plan: p.Plan,
    catalog: Catalog,
    *,
    more: Sequence[Edit] = (),
    is_fixed: IsFixed | None = None,
) -> tuple[Repair, ...]:
    """The smallest sets of edits that make a query bounded, smallest first.

    Among CHECKs only, among windows only, and among everything, so that there is a choice. `more`
    are candidates of other analyses, and `is_fixed` is their judgement of an edited program.
    """
    search = _Search(plan, catalog, tuple(more), is_fixed)
    families = ((Declare,), (AddWindow,), (Declare, AddWindow, AddDistinct, DropDistinct))
    found = {edits for family in families for edits in search.smallest(family)}
    minimal = [e for e in found if not any(other < e for other in found)]
    kept = [e for e in minimal if not any(_weaker(other, e) for other in minimal)]
    shown = (Repair(tuple(sorted(edits, key=str))) for edits in kept)
    return tuple(sorted(shown, key=lambda repair: (len(repair.edits), str(repair))))


def _weaker(one: frozenset[Edit], other: frozenset[Edit]) -> bool:
    """Whether the first asks for one side of a bound where the second asks for both."""
    less, more = one - other, other - one
    return len(less) == len(more) == 1 and any(
        isinstance(a, Declare) and isinstance(b, Declare) and a.clause in _sides(b)
        for a in less
        for b in more
    )


def _sides(both: Declare) -> tuple[str, ...]:
    inner = both.clause.removeprefix("CHECK (").removesuffix(")")
    return tuple(f"CHECK ({side})" for side in inner.split(" AND ")) if " AND " in inner else ()


class _Search:
    """Asks for verdicts on edited programs, and which edits concern what is still wrong."""

    def __init__(
        self, plan: p.Plan, catalog: Catalog, more: tuple[Edit, ...], is_fixed: IsFixed | None
    ) -> None:
        self.plan = plan
        self.catalog = catalog
        self.more = more
        self.is_fixed = is_fixed
        self.seen: dict[Edit, None] = {}
        """All candidates so far: what is left to try where an edit leads nowhere."""

    def smallest(self, family: tuple[type[Edit], ...]) -> tuple[frozenset[Edit], ...]:
        """The smallest sets among the edits of some kinds, level by level.

        Whatever repairs a program with some edits has to remove each violation that is left, so it
        is enough to go on with the edits that may remove one of them.
        """
        level: dict[frozenset[Edit], None] = {frozenset(): None}
        budget = _BUDGET
        for _ in range(LARGEST + 1):
            found: list[frozenset[Edit]] = []
            following: dict[frozenset[Edit], None] = {}
            for chosen in level:
                if budget == 0 or len(found) == MOST:
                    return tuple(found)
                budget -= 1
                wrong = [_among(options, family, chosen) for options in self._wrong(chosen)]
                if not wrong:
                    found.append(chosen)
                else:
                    following |= {chosen | {edit}: None for edit in min(wrong, key=len)}
            if found:
                return tuple(found)
            level = following
        return ()

    def _wrong(self, chosen: frozenset[Edit]) -> Iterator[tuple[Edit, ...]]:
        plan, catalog = edited(self.plan, self.catalog, sorted(chosen, key=str))
        if self.is_fixed and self.is_fixed(plan, catalog):
            return
        match judge(plan, catalog):
            case Bounded(empty=False):
                return
            case Unbounded(case, violations):
                for violation in violations:
                    options = (*candidates(plan, catalog, case, violation), *self.more)
                    self.seen |= dict.fromkeys(options)
                    yield options
            case Bounded() | Unknown():
                yield tuple(self.seen)


def _among(
    options: Iterable[Edit], family: tuple[type[Edit], ...], chosen: frozenset[Edit]
) -> tuple[Edit, ...]:
    return tuple(e for e in options if isinstance(e, family) and e not in chosen)


# ------------------------------------------------------------------------------- candidates


def candidates(
    plan: p.Plan, catalog: Catalog, case: Case, violation: Violation
) -> tuple[Edit, ...]:
    """The edits that may remove one violation: CHECKs, windows, DISTINCT."""
    head = case.query.head
    distinct: list[Edit] = []
    if isinstance(head, Projection):
        span = selected(plan)
        distinct = [DropDistinct(span) if head.distinct else AddDistinct(span)]
    return (*_checks(catalog, case, violation), *_windows(plan, case, violation), *distinct)


def _windows(plan: p.Plan, case: Case, violation: Violation) -> Iterator[Edit]:
    use = next(u for u in case.query.uses if u.name == violation.stream)
    for node in subplans(plan):
        match node:
            case p.Unbounded(p.Scan(name) as scan) if name == use.base and node.span == use.span:
                yield AddWindow(name, scan.span, node.span)
            case _:
                pass


def _checks(catalog: Catalog, case: Case, violation: Violation) -> Iterator[Edit]:
    """Bounds for the columns of the violation, and for those they are compared with."""
    named = {*violation.attributes, *(n for k in violation.links for n in (k.left, k.right))}
    for name in _compared(case, named):
        use = case.query.owner.get(name)
        table = catalog.tables.get(use.base) if use else None
        column = name.removeprefix(f"{use.name}.") if use else ""
        if table and use and not use.stored and any(c.name == column for c in table.columns):
            for check in _bounds(case, name, table, column):
                clause = f"CHECK ({expr_text(check)})"
                yield Declare(table.name, clause, _adder(check), table.span)


def _adder(check: Expr) -> Callable[[TableDeclaration], TableDeclaration]:
    return lambda table: replace(table, checks=(*table.checks, check))


def _compared(case: Case, names: Iterable[str]) -> list[str]:
    """Attributes that are equal to, below or above some given ones, those first."""
    closure = case.closure
    order = dict.fromkeys(n for n in names if n in closure.class_of)
    for name in list(order):
        for i, found in enumerate(closure.classes):
            member = found.members[0]
            if (
                i == closure.class_of[name]
                or closure.below(member, name)
                or closure.below(name, member)
            ):
                order |= dict.fromkeys(found.members[:MOST])
    return [name for name in order if not case.bounded(name)]


def _bounds(case: Case, name: str, table: TableDeclaration, column: str) -> Iterator[Expr]:
    """CHECKs that add the bounds an attribute does not have yet."""
    type = table.column(column).type
    here = Column(column, type)
    found = case.closure.of(name)
    if type == STRING:
        words = tuple(Compare(Comparison.EQ, here, Literal(w, STRING)) for w in _WORDS)
        yield Or(words)
    elif is_integer(type) or isinstance(type, Decimal):
        low, high = _range(found)
        attribute = case.query.attributes[name]
        lower = Compare(Comparison.GE, here, Literal(_number(decode(attribute, low, 1)), type))
        upper = Compare(Comparison.LE, here, Literal(_number(decode(attribute, high, 1)), type))
        if found.low is None:
            yield lower
        if found.high is None:
            yield upper
        if found.low is None and found.high is None:
            yield And((lower, upper))


def _range(found: Class) -> tuple[int, int]:
    if found.low is not None:
        return found.low, found.low + _WIDTH
    if found.high is not None:
        return found.high - _WIDTH, found.high
    return 0, _WIDTH


def _number(value: Value) -> Value:
    return value if isinstance(value, int | decimal.Decimal) else 0
