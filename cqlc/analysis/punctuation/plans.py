"""Safe plans of a join: trees of operators all of whose states are purgeable, and the best one.

Section 5.2 of Li et al. (2006) names the choice and gives no algorithm. Here it is dynamic
programming over the sets of inputs whose punctuation graph is strongly connected: no other set has
a safe plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

from cqlc.analysis.equality import Attribute
from cqlc.analysis.punctuation.graph import Graph, bits, reach, union

EXHAUSTIVE = 7
"""Up to this many inputs all plans are considered; their number grows like the Bell numbers."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """Inputs of the query that are joined below, or a single one."""

    streams: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join(self.streams)


@dataclass(frozen=True, slots=True)
class Operator:
    """A symmetric join of two or more inputs at once."""

    inputs: tuple[JoinPlan, ...]
    key: tuple[Attribute, ...]
    """The attributes of a class that all inputs share, so that rows that meet share a value."""

    def __str__(self) -> str:
        return f"({' '.join(map(str, self.inputs))})"


JoinPlan: TypeAlias = Leaf | Operator


@dataclass(frozen=True, slots=True, order=True)
class _Cost:
    """Operators without a common key run in one task, so few of them; then few operators."""

    keyless: int
    operators: int


_Choice: TypeAlias = tuple[_Cost, tuple[int, ...]]


def purgeable(graph: Graph, blocks: Sequence[int]) -> bool:
    """Whether every input of one operator over `blocks` can be purged (corollary 2)."""
    everything = union(blocks)
    return all(reach(graph, b, blocks).streams == everything for b in blocks if graph.grows(b))


def is_safe(graph: Graph, plan: JoinPlan) -> bool:
    """Whether all operators of a plan are purgeable."""
    match plan:
        case Leaf():
            return True
        case Operator(inputs):
            below = [mask_of(graph, child) for child in inputs]
            return all(is_safe(graph, child) for child in inputs) and purgeable(graph, below)


def mask_of(graph: Graph, plan: JoinPlan) -> int:
    """The inputs of the query below a plan."""
    match plan:
        case Leaf(streams):
            return union(
                1 << i for i, stream in enumerate(graph.query.streams) if stream.name in streams
            )
        case Operator(inputs):
            return union(mask_of(graph, child) for child in inputs)


def best_plan(graph: Graph) -> JoinPlan | None:
    """The safe plan with the fewest keyless operators, then operators; None if there is none.

    Beyond `EXHAUSTIVE` inputs the plan is grown greedily from safe binary joins; what is left is
    one operator, which is purgeable whenever the query is safe.
    """
    if not purgeable(graph, graph.blocks):
        return None
    if len(graph.blocks) == 1:
        return Leaf(graph.names(graph.all))
    if len(graph.blocks) <= EXHAUSTIVE:
        return _tree(graph, graph.all, _exhaustive(graph))
    return _greedy(graph)


def _exhaustive(graph: Graph) -> dict[int, _Choice]:
    """The cheapest operator for every set of blocks that has a safe plan."""
    best: dict[int, _Choice] = {block: (_Cost(0, 0), ()) for block in graph.blocks}
    for chosen in sorted(range(1 << len(graph.blocks)), key=int.bit_count):
        parts = [graph.blocks[i] for i in bits(chosen)]
        if len(parts) < 2 or not purgeable(graph, parts):
            continue
        candidates = [
            (_cost(graph, blocks, best), blocks)
            for blocks in _partitions(tuple(parts))
            if len(blocks) > 1 and all(block in best for block in blocks)
        ]
        for cost, blocks in sorted(candidates):
            if purgeable(graph, blocks):
                best[union(parts)] = (cost, blocks)
                break
    return best


def _cost(graph: Graph, blocks: Sequence[int], best: dict[int, _Choice]) -> _Cost:
    below = [best[block][0] for block in blocks]
    keyless = sum(c.keyless for c in below) + (not _key(graph, blocks))
    return _Cost(keyless, sum(c.operators for c in below) + 1)


def _key(graph: Graph, blocks: Sequence[int]) -> tuple[Attribute, ...]:
    """The attributes of the first class with a member in every block."""
    for number, owners in enumerate(graph.owners):
        if all(owners & block for block in blocks):
            below = union(blocks)
            return tuple(a for i, a in graph.members[number] if below >> i & 1)
    return ()


def _partitions(parts: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All ways to put the parts into blocks, each block as the mask of its parts."""
    if not parts:
        yield ()
        return
    first, *rest = parts
    for blocks in _partitions(tuple(rest)):
        for i in range(len(blocks)):
            yield (*blocks[:i], blocks[i] | first, *blocks[i + 1 :])
        yield (first, *blocks)


def _tree(graph: Graph, mask: int, best: dict[int, _Choice]) -> JoinPlan:
    _, blocks = best[mask]
    if not blocks:
        return Leaf(graph.names(mask))
    inputs = tuple(_tree(graph, block, best) for block in sorted(blocks, key=_lowest))
    return Operator(inputs, _key(graph, blocks))


def _greedy(graph: Graph) -> JoinPlan:
    plans: dict[int, JoinPlan] = {block: Leaf(graph.names(block)) for block in graph.blocks}
    untried = (
        []
        if _key(graph, graph.blocks)
        else [p for p in combinations(graph.blocks, 2) if _joined(graph, *p)]
    )
    while untried:
        left, right = untried.pop()
        if left in plans and right in plans and purgeable(graph, (left, right)):
            inputs = (plans.pop(left), plans.pop(right))
            untried += (
                (left | right, other) for other in plans if _joined(graph, left | right, other)
            )
            plans[left | right] = Operator(inputs, _key(graph, (left, right)))
    blocks = sorted(plans, key=_lowest)
    if len(blocks) == 1:
        return plans[blocks[0]]
    return Operator(tuple(plans[b] for b in blocks), _key(graph, blocks))


def _joined(graph: Graph, left: int, right: int) -> bool:
    return any(owners & left and owners & right for owners in graph.owners)


def _lowest(mask: int) -> int:
    return mask & -mask
