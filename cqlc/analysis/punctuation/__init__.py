"""Punctuation safety of continuous joins (Li et al., VLDB 2006)."""

from cqlc.analysis.equality import Attribute, Equality
from cqlc.analysis.punctuation.graph import Graph, Reach, Rule, graph_of, reach
from cqlc.analysis.punctuation.model import (
    Bound,
    Closing,
    Fate,
    Grouping,
    JoinQuery,
    JoinStream,
    PunctuationScheme,
)
from cqlc.analysis.punctuation.plans import JoinPlan, Leaf, Operator, best_plan, is_safe, purgeable
from cqlc.analysis.punctuation.repair import candidates, needed_schemes, smallest_additions
from cqlc.analysis.punctuation.retirement import Retirement, is_strict
from cqlc.analysis.punctuation.safety import (
    ChainStep,
    Repair,
    Repairs,
    Safety,
    StreamSafety,
    Supply,
    UselessScheme,
    Verdict,
    check,
    verdict_of,
)
from cqlc.analysis.punctuation.transformed import (
    Round,
    TransformedGraph,
    VirtualEdge,
    transform,
)
from cqlc.analysis.punctuation.translate import from_plan
from cqlc.analysis.punctuation.words import explain, findings

__all__ = [
    "Attribute",
    "Bound",
    "ChainStep",
    "Closing",
    "Equality",
    "Fate",
    "Graph",
    "Grouping",
    "JoinPlan",
    "JoinQuery",
    "JoinStream",
    "Leaf",
    "Operator",
    "PunctuationScheme",
    "Reach",
    "Repair",
    "Repairs",
    "Retirement",
    "Round",
    "Rule",
    "Safety",
    "StreamSafety",
    "Supply",
    "TransformedGraph",
    "UselessScheme",
    "Verdict",
    "VirtualEdge",
    "best_plan",
    "candidates",
    "check",
    "explain",
    "findings",
    "from_plan",
    "graph_of",
    "is_safe",
    "is_strict",
    "needed_schemes",
    "purgeable",
    "reach",
    "smallest_additions",
    "transform",
    "verdict_of",
]
