"""k-constraints on streams and what they save of a join's state (Babu, Srivastava, Widom, 2004)."""

from cqlc.analysis.k_constraints.analysis import (
    PROPOSED,
    Analysis,
    ConstraintRepairs,
    IdleConstraint,
    Idleness,
    analyse,
    effects,
    repairs,
)
from cqlc.analysis.k_constraints.build import join_graph, topological
from cqlc.analysis.k_constraints.effects import (
    Component,
    Evidence,
    Outcome,
    Reason,
    StreamEffect,
)
from cqlc.analysis.k_constraints.model import (
    Clustering,
    JoinedStream,
    JoinGraph,
    KConstraint,
    ManyMany,
    ManyOne,
    Ordering,
    Rids,
)
from cqlc.analysis.k_constraints.quantities import describe, in_rows
from cqlc.analysis.k_constraints.rules import (
    Closer,
    EdgeRules,
    Floor,
    Maintenance,
    Refusal,
    Shape,
    StreamRules,
    maintenance,
    refusal_of,
)
from cqlc.analysis.k_constraints.translate import constraints, from_plan
from cqlc.analysis.k_constraints.words import declaration, explain, findings

__all__ = [
    "PROPOSED",
    "Analysis",
    "Closer",
    "Clustering",
    "Component",
    "ConstraintRepairs",
    "EdgeRules",
    "Evidence",
    "Floor",
    "IdleConstraint",
    "Idleness",
    "JoinGraph",
    "JoinedStream",
    "KConstraint",
    "Maintenance",
    "ManyMany",
    "ManyOne",
    "Ordering",
    "Outcome",
    "Reason",
    "Refusal",
    "Rids",
    "Shape",
    "StreamEffect",
    "StreamRules",
    "analyse",
    "constraints",
    "declaration",
    "describe",
    "effects",
    "explain",
    "findings",
    "from_plan",
    "in_rows",
    "join_graph",
    "maintenance",
    "refusal_of",
    "repairs",
    "topological",
]
