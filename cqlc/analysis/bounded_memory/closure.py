"""What a conjunction of order atoms implies: classes of equal attributes, bounds, the order.

Every constraint between two attributes is `<`, `<=` or `=`, and such constraints are closed under
componentwise minimum and maximum. So giving every class the smallest value its predecessors leave
decides satisfiability, and bounds follow from one pass up and one pass down the order, also when
single attributes have holes in their domains.

Positions: in a discrete sort a value is its own position. In a dense sort constant number p is at
2p, and the gap above it is the one position 2p + 1, with room for any number of values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from cqlc.algebra.expr import Comparison
from cqlc.analysis.bounded_memory.query import Among, Atom, Attribute, Limit, Link, Sort


@dataclass(slots=True)
class Class:
    """Attributes that are equal in every solution, and the positions they can have."""

    members: tuple[str, ...]
    sort: Sort
    low: int | None = None
    high: int | None = None
    holes: set[int] = field(default_factory=set[int])
    values: frozenset[int] | None = None

    @property
    def pinned(self) -> bool:
        """Whether there is one value only."""
        return self.low is not None and self.low == self.high and not self._open(self.low)

    @property
    def finite(self) -> bool:
        """Whether there are finitely many values."""
        if self.sort.dense:
            return self.values is not None or self.pinned
        return self.low is not None and self.high is not None

    def count(self) -> int:
        """The number of values of a finite class."""
        if self.values is not None:
            return sum(1 for v in self.values if self.admits(v))
        if self.pinned or self.low is None or self.high is None:
            return 1
        return self.high - self.low + 1 - sum(1 for h in self.holes if self.low <= h <= self.high)

    def admits(self, position: int) -> bool:
        """Whether a position is within the bounds and no hole."""
        above = self.low is None or self.low <= position
        below = self.high is None or position <= self.high
        return above and below and position not in self.holes

    def at_least(self, position: int | None) -> int | None:
        """The first possible position from `position` on; past every bound if there is none."""
        if position is None:
            return None
        if self.values is not None:
            later = [v for v in self.values if v >= position and v not in self.holes]
            return min(later, default=max(self.values, default=0) + 1)
        while position in self.holes:
            position += 1
        return position

    def at_most(self, position: int | None) -> int | None:
        """The last possible position up to `position`; before every bound if there is none."""
        if position is None:
            return None
        if self.values is not None:
            earlier = [v for v in self.values if v <= position and v not in self.holes]
            return max(earlier, default=min(self.values, default=0) - 1)
        while position in self.holes:
            position -= 1
        return position

    def after(self, position: int | None) -> int | None:
        """The first position above a value at `position`."""
        return None if position is None else position + (not self._open(position))

    def before(self, position: int | None) -> int | None:
        """The last position below a value at `position`."""
        return None if position is None else position - (not self._open(position))

    def _open(self, position: int) -> bool:
        return self.sort.dense and position % 2 != 0


@dataclass(frozen=True)
class Closure:
    """All that follows from a satisfiable conjunction.

    `classes` come in an order in which every class stands before the classes above it;
    `above[i]` has the classes directly above class i, and whether strictly.
    """

    classes: Sequence[Class]
    class_of: Mapping[str, int]
    above: Sequence[Mapping[int, bool]]

    @cached_property
    def _up(self) -> list[int]:
        """For every class, the set of classes it is below or equal to, as bits."""
        up = [0] * len(self.classes)
        for i in reversed(range(len(self.classes))):
            reached = 1 << i
            for j in self.above[i]:
                reached |= up[j]
            up[i] = reached
        return up

    def of(self, attribute: str) -> Class:
        """The class of an attribute."""
        return self.classes[self.class_of[attribute]]

    def bounded(self, attribute: str) -> bool:
        """Whether an attribute has finitely many values in the solutions."""
        return self.of(attribute).finite

    def same(self, left: str, right: str) -> bool:
        """Whether two attributes are in one class."""
        return self.class_of[left] == self.class_of[right]

    def below(self, left: str, right: str) -> bool:
        """Whether `left <= right` follows without the help of a constant."""
        return bool(self._up[self.class_of[left]] >> self.class_of[right] & 1)

    def implies(self, atom: Atom) -> bool:
        """Whether an atom holds in every solution."""
        match atom:
            case Link(left, Comparison.EQ, right):
                return self.same(left, right) or self._equal_constants(left, right)
            case Link(left, Comparison.LE, right):
                return self.below(left, right) or self._apart(left, right, strictly=False)
            case Link(left, _, right):
                return self._strictly_below(left, right) or self._apart(left, right, strictly=True)
            case Limit(attribute, op, point):
                return self._within(self.of(attribute), op, point)
            case Among(attribute, points):
                found = self.of(attribute)
                positions = {position_of(p, found.sort) for p in points}
                return found.finite and all(v in positions for v in _positions(found))

    def _equal_constants(self, left: str, right: str) -> bool:
        a, b = self.of(left), self.of(right)
        return a.pinned and b.pinned and a.low == b.low and a.sort == b.sort

    def _apart(self, left: str, right: str, *, strictly: bool) -> bool:
        high, low = self.of(left).high, self.of(right).low
        if high is None or low is None or self.of(left).sort != self.of(right).sort:
            return False
        if high == low and self.of(left).sort.dense and high % 2:
            return False
        return high < low if strictly else high <= low

    def _strictly_below(self, left: str, right: str) -> bool:
        start, goal = self.class_of[left], self.class_of[right]
        seen = {(start, False)}
        todo = [(start, False)]
        while todo:
            here, strict = todo.pop()
            if here == goal and strict:
                return True
            for there, step in self.above[here].items():
                state = (there, strict or step)
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        return False

    def _within(self, found: Class, op: Comparison, point: int) -> bool:
        position = position_of(point, found.sort)
        match op:
            case Comparison.LT:
                return found.high is not None and found.high < position
            case Comparison.LE:
                return found.high is not None and found.high <= position
            case Comparison.GT:
                return found.low is not None and found.low > position
            case Comparison.GE:
                return found.low is not None and found.low >= position
            case Comparison.NE:
                return not found.admits(position) or (
                    found.values is not None and position not in found.values
                )
            case _:
                return found.pinned and found.low == position


def _positions(found: Class) -> Iterable[int]:
    if found.values is not None:
        return (v for v in found.values if found.admits(v))
    low, high = found.low or 0, found.high or 0
    return (v for v in range(low, high + 1) if v not in found.holes)


def position_of(point: int, sort: Sort) -> int:
    """Where a constant stands."""
    return 2 * point if sort.dense else point


def close(attributes: Mapping[str, Attribute], atoms: Iterable[Atom]) -> Closure | None:
    """The closure of a conjunction, or None if nothing satisfies it."""
    atoms = tuple(atoms)
    links = [atom for atom in atoms if isinstance(atom, Link)]
    groups = _components(attributes, links)
    class_of = {name: i for i, group in enumerate(groups) for name in group}
    above: list[dict[int, bool]] = [{} for _ in groups]
    for link in links:
        low, high, strict = class_of[link.left], class_of[link.right], link.op is Comparison.LT
        if low != high:
            above[low][high] = above[low].get(high, False) or strict
        elif strict:
            return None
    classes = [_unlimited(tuple(group), attributes[group[0]].sort) for group in groups]
    for atom in atoms:
        match atom:
            case Limit(attribute, op, point):
                _limit(classes[class_of[attribute]], op, point)
            case Among(attribute, points):
                found = classes[class_of[attribute]]
                positions = frozenset(position_of(p, found.sort) for p in points)
                found.values = positions if found.values is None else found.values & positions
            case Link():
                pass
    _propagate(classes, above)
    if any(c.low is not None and c.high is not None and c.low > c.high for c in classes):
        return None
    return Closure(classes, class_of, above)


def _unlimited(members: tuple[str, ...], sort: Sort) -> Class:
    if sort.dense:
        return Class(members, sort, -1, 2 * len(sort.points) - 1)
    return Class(members, sort)


def _limit(found: Class, op: Comparison, point: int) -> None:
    position = position_of(point, found.sort)
    match op:
        case Comparison.NE:
            found.holes.add(position)
        case Comparison.LT:
            found.high = _lower(found.high, position - 1)
        case Comparison.LE:
            found.high = _lower(found.high, position)
        case Comparison.GT:
            found.low = _higher(found.low, position + 1)
        case Comparison.GE:
            found.low = _higher(found.low, position)
        case _:
            found.low, found.high = _higher(found.low, position), _lower(found.high, position)


def _lower(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else min(one, other)


def _higher(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else max(one, other)


def _propagate(classes: Sequence[Class], above: Sequence[Mapping[int, bool]]) -> None:
    """Narrows every class to what its neighbours leave."""
    for i, found in enumerate(classes):
        if found.values is not None:
            found.low = _higher(found.low, min(found.values, default=1))
            found.high = _lower(found.high, max(found.values, default=0))
        found.low = found.at_least(found.low)
        for j, strict in above[i].items():
            step = found.after(found.low) if strict else found.low
            classes[j].low = _higher(classes[j].low, step)
    for i in reversed(range(len(classes))):
        found = classes[i]
        for j, strict in above[i].items():
            step = classes[j].before(classes[j].high) if strict else classes[j].high
            found.high = _lower(found.high, step)
        found.high = found.at_most(found.high)


def _components(attributes: Iterable[str], links: Sequence[Link]) -> list[list[str]]:
    """The classes of `<=` in both directions, lower classes first (Kosaraju, without recursion)."""
    after: dict[str, list[str]] = {name: [] for name in attributes}
    before: dict[str, list[str]] = {name: [] for name in after}
    for link in links:
        after[link.left].append(link.right)
        before[link.right].append(link.left)
        if link.op is Comparison.EQ:
            after[link.right].append(link.left)
            before[link.left].append(link.right)
    finished = [name for tree in _forest(after, after) for name in tree]
    return [tree[::-1] for tree in _forest(finished[::-1], before)]


def _forest(roots: Iterable[str], after: Mapping[str, Sequence[str]]) -> Iterator[list[str]]:
    """The trees of a depth-first search, every tree in the order in which its nodes are left."""
    seen: set[str] = set()
    for root in roots:
        if root in seen:
            continue
        seen.add(root)
        left: list[str] = []
        path = [(root, iter(after[root]))]
        while path:
            following = next((n for n in path[-1][1] if n not in seen), None)
            if following is None:
                left.append(path.pop()[0])
            else:
                seen.add(following)
                path.append((following, iter(after[following])))
        yield left
