"""One verdict per query and per stateful operator, from all analyses together.

A plan falls into blocks: the operators between a stream that is made and the streams it reads.
Where every stored row is bounded by a window or a number, that is the verdict. Where rows would
stay for ever, the theory of bounded memory is asked whether they must (Arasu et al.); if they must,
punctuations (Li et al.) and k-constraints (Babu et al.) are asked whether they can be freed.
UNBOUNDED is only said where growth is proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from cqlc.algebra.plan import (
    Aggregate,
    Dstream,
    Istream,
    IstreamRestore,
    Plan,
    Relation,
    Rows,
    Rstream,
    RstreamRestore,
    Scan,
    Session,
    Stream,
)
from cqlc.algebra.text import node_text
from cqlc.algebra.walk import inputs, schema_of, subplans
from cqlc.analysis.bounded_memory import Bounded as BoundedMemory
from cqlc.analysis.bounded_memory import BoundedMemoryVerdict, Unknown
from cqlc.analysis.bounded_memory import Unbounded as UnboundedMemory
from cqlc.analysis.bounded_memory.judge import judge
from cqlc.analysis.size import plus
from cqlc.analysis.state import buffers
from cqlc.analysis.update_pattern import update_patterns
from cqlc.analysis.verdict.estimate import Flow, flows, row_bytes
from cqlc.analysis.verdict.holding import Holding, holdings, is_constant
from cqlc.analysis.verdict.model import (
    BlockVerdict,
    Estimate,
    Evidence,
    OperatorVerdict,
    QueryVerdict,
    StateVerdict,
    worst,
)
from cqlc.analysis.verdict.purge import Purge, purge
from cqlc.catalog import Catalog

_PAPERS = {
    "memory": "Arasu et al. 2004, bounded memory",
    "window": "Golab 2006, section 3.5.2",
}


def verdict(plan: Plan, catalog: Catalog) -> QueryVerdict:
    """The verdict on a query."""
    context = _Context(plan, catalog)
    return QueryVerdict(tuple(context.block(root) for root in _roots(plan)))


def _roots(plan: Plan) -> Iterator[Plan]:
    """The roots of the blocks, bottom up: every stream that is made, and the plan itself."""
    for node in subplans(plan):
        match node:
            case Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
                yield node
            case _:
                if node is plan:
                    yield node


def _members(root: Plan) -> Iterator[Plan]:
    """The operators of the block of `root`, bottom up; streams that are read are not members."""
    seen: set[int] = set()

    def visit(node: Plan) -> Iterator[Plan]:
        for child in inputs(node):
            if id(child) not in seen and not _is_stream(child):
                seen.add(id(child))
                yield from visit(child)
        yield node

    return visit(root)


def _is_stream(plan: Plan) -> bool:
    match plan:
        case Scan() | Istream() | Dstream() | Rstream() | IstreamRestore() | RstreamRestore():
            return True
        case _:
            return False


class _Context:
    """What the verdicts on all blocks of one plan rest on."""

    def __init__(self, plan: Plan, catalog: Catalog) -> None:
        self._catalog = catalog
        self._patterns = update_patterns(plan, catalog)
        self._holdings = holdings(plan, catalog)
        self._flows: Mapping[int, Flow] = flows(plan, catalog)

    def block(self, root: Plan) -> BlockVerdict:
        """The verdict on the block of `root`."""
        stateful = [node for node in _members(root) if self._stored(node)]
        growing = [node for node in stateful if self._grows(node)]
        settled = tuple(self._settled(node) for node in stateful if node not in growing)
        if not growing:
            return self._without_growth(root, settled)
        memory = judge(root, self._catalog)
        if isinstance(memory, BoundedMemory):
            kept = tuple(self._part_of_synopsis(node, memory) for node in growing)
            operators = settled + kept
            found = worst(tuple(o.verdict for o in operators))
            reason = memory.reason if found is StateVerdict.BOUNDED else "windows bound the rest"
            evidence = (Evidence(_PAPERS["memory"], memory.reason),)
            return BlockVerdict(root, found, reason, operators, evidence, memory=memory)
        return self._with_growth(root, settled, growing, memory)

    def _without_growth(self, root: Plan, settled: tuple[OperatorVerdict, ...]) -> BlockVerdict:
        found = worst(tuple(o.verdict for o in settled))
        if not settled:
            return BlockVerdict(root, found, "no rows are kept", ())
        reason = (
            "every row that is kept leaves with its window"
            if found is StateVerdict.WINDOWED
            else "a fixed number of rows is kept"
        )
        return BlockVerdict(root, found, reason, settled)

    def _with_growth(
        self,
        root: Plan,
        settled: tuple[OperatorVerdict, ...],
        growing: list[Plan],
        memory: UnboundedMemory | Unknown,
    ) -> BlockVerdict:
        """The verdict where the whole has no proof of a bound: part by part, then by purging."""
        freed = purge(root, self._catalog)
        judged = tuple(self._growing(node, memory, freed) for node in growing)
        found = worst(tuple(o.verdict for o in (*settled, *judged)))
        deciding = max(judged, key=lambda o: o.verdict.rank)
        evidence = deciding.evidence
        if isinstance(memory, UnboundedMemory):
            evidence += (Evidence(_PAPERS["memory"], memory.violations[0].condition.value),)
        return BlockVerdict(
            root,
            found,
            deciding.reason,
            settled + judged,
            evidence,
            memory=memory if isinstance(memory, UnboundedMemory) else None,
            safety=freed.safety,
            constraints=freed.constraints,
        )

    # ---------------------------------------------------------------------- single operators

    def _stored(self, node: Plan) -> tuple[Plan, ...]:
        """The inputs whose rows an operator keeps; none for those that keep nothing."""
        match node:
            case Rstream(r) if self._holdings[id(r)] is Holding.GROWING:
                return (r,)  # it shows everything again and again
            case RstreamRestore(r) if self._holdings[id(r)] is Holding.GROWING:
                return (r,)
            case Rows() | Session():
                return (node,)
            case _:
                given = tuple(self._patterns[id(child)].state for child in inputs(node))
                return inputs(node) if not _is_stream(node) and buffers(node, given) else ()

    def _grows(self, node: Plan) -> bool:
        if isinstance(node, Aggregate) and self._holdings[id(node)] is Holding.FIXED:
            return False
        return any(self._holdings[id(part)] is Holding.GROWING for part in self._stored(node))

    def _settled(self, node: Plan) -> OperatorVerdict:
        """The verdict on an operator whose rows are bounded by windows or numbers."""
        held = max(self._holdings[id(part)] for part in self._stored(node))
        timed = held is Holding.TIMED
        return self._operator(
            node,
            StateVerdict.WINDOWED if timed else StateVerdict.BOUNDED,
            "rows leave when their window has passed" if timed else _fixed(node),
            (Evidence(_PAPERS["window"], "rows carry their end"),) if timed else (),
        )

    def _part_of_synopsis(self, node: Plan, memory: BoundedMemory) -> OperatorVerdict:
        timed = bool(memory.given) and any(
            self._holdings[id(part)] is Holding.TIMED for part in self._stored(node)
        )
        found = StateVerdict.WINDOWED if timed else StateVerdict.BOUNDED
        evidence = Evidence(_PAPERS["memory"], memory.reason)
        return self._operator(node, found, memory.reason, (evidence,))

    def _growing(self, node: Plan, memory: BoundedMemoryVerdict, freed: Purge) -> OperatorVerdict:
        """The verdict on an operator that would keep rows for ever."""
        if not _is_stream(node) and is_constant(_relation(node), self._catalog):
            return self._operator(node, StateVerdict.BOUNDED, "constant memory is enough", ())
        if freed.evidence:
            reason = freed.reason
            return self._operator(node, StateVerdict.PURGEABLE, reason, freed.evidence)
        match memory:
            case UnboundedMemory(violations=violations):
                first = violations[0]
                reason = f"rows of {first.stream} can never be forgotten: {first.condition.value}"
                return self._operator(node, StateVerdict.UNBOUNDED, reason, ())
            case Unknown(reasons=reasons):
                reason = "; ".join(reasons) or "no proof either way"
                return self._operator(node, StateVerdict.UNKNOWN, reason, ())
            case BoundedMemory():
                return self._part_of_synopsis(node, memory)

    def _operator(
        self, node: Plan, found: StateVerdict, reason: str, evidence: tuple[Evidence, ...]
    ) -> OperatorVerdict:
        judged = OperatorVerdict(node, node_text(node), found, reason, evidence)
        if found is StateVerdict.WINDOWED:
            judged = replace(judged, waits_for=_inputs_of(node))
        if found in (StateVerdict.BOUNDED, StateVerdict.WINDOWED):
            parts = self._stored(node)
            rows = plus(*(self._flows[id(part)].rows for part in parts))
            width = max(row_bytes(schema_of(part)) for part in parts)
            judged = replace(judged, estimate=Estimate(rows, width))
        return judged


def _relation(node: Plan) -> Relation:
    assert not isinstance(node, Stream)
    return node


def _fixed(node: Plan) -> str:
    match node:
        case Rows(rows=rows):
            return f"the last {rows} rows are kept"
        case Aggregate(keys=()):
            return "one row of values is kept"
        case Aggregate():
            return "there are finitely many groups"
        case _:
            return "a fixed number of rows is kept"


def _inputs_of(node: Plan) -> tuple[str, ...]:
    names = (part.name for part in subplans(node) if isinstance(part, Scan))
    return tuple(dict.fromkeys(names))
