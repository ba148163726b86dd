"""The five verdicts on a query's state, and what each comes with."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from cqlc.algebra.plan import Plan
from cqlc.analysis.bounded_memory import Bounded, Unbounded
from cqlc.analysis.k_constraints import Analysis
from cqlc.analysis.punctuation import Safety
from cqlc.analysis.size import Size
from cqlc.source import NOWHERE, Span


class StateVerdict(StrEnum):
    """How state behaves, from best to worst."""

    BOUNDED = "BOUNDED"
    """Constant memory, whatever arrives."""
    WINDOWED = "WINDOWED"
    """At most rate times window; every row leaves with time."""
    PURGEABLE = "PURGEABLE"
    """Punctuations or constraints free every row."""
    UNKNOWN = "UNKNOWN"
    """Neither a bound nor growth could be proved."""
    UNBOUNDED = "UNBOUNDED"
    """There is an input that makes state grow for ever."""

    @property
    def rank(self) -> int:
        """The place in the order from best to worst."""
        return list(StateVerdict).index(self)

    @property
    def bounded(self) -> bool:
        """Whether `cqlc check --bounded` lets it pass."""
        return self.rank <= StateVerdict.PURGEABLE.rank


def worst(verdicts: tuple[StateVerdict, ...]) -> StateVerdict:
    """The worst of some verdicts; BOUNDED if there are none."""
    return max(verdicts, key=lambda verdict: verdict.rank, default=StateVerdict.BOUNDED)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A rule that was applied and, if it rests on a declaration, the place of that."""

    rule: str
    text: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Estimate:
    """How much an operator holds, as formulas in the declared rates and counts."""

    rows: Size
    row_bytes: int


@dataclass(frozen=True, slots=True)
class OperatorVerdict:
    """The verdict on the state of one operator, in the user's names."""

    operator: Plan
    what: str
    verdict: StateVerdict
    reason: str
    evidence: tuple[Evidence, ...] = ()
    estimate: Estimate | None = None
    waits_for: tuple[str, ...] = ()
    """The inputs whose watermarks have to pass a row's end before it can leave."""


@dataclass(frozen=True, slots=True)
class BlockVerdict:
    """The verdict on one block: the operators between a stream and the streams it reads.

    `memory`, `safety` and `constraints` are what the three theories said, where they were asked.
    """

    root: Plan
    verdict: StateVerdict
    reason: str
    operators: tuple[OperatorVerdict, ...]
    evidence: tuple[Evidence, ...] = ()
    memory: Bounded | Unbounded | None = None
    safety: Safety | None = None
    constraints: Analysis | None = None


@dataclass(frozen=True, slots=True)
class QueryVerdict:
    """The verdict on a query: that of its worst block."""

    blocks: tuple[BlockVerdict, ...]

    @property
    def verdict(self) -> StateVerdict:
        """The worst verdict of any block."""
        return worst(tuple(block.verdict for block in self.blocks))

    @property
    def deciding(self) -> BlockVerdict:
        """The block that decides."""
        return max(self.blocks, key=lambda block: block.verdict.rank)

    @property
    def operators(self) -> tuple[OperatorVerdict, ...]:
        """Every stateful operator, bottom up."""
        return tuple(operator for block in self.blocks for operator in block.operators)
