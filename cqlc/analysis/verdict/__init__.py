"""One verdict per query: how its state behaves, why, and on what evidence."""

from cqlc.analysis.verdict.decide import verdict
from cqlc.analysis.verdict.model import (
    BlockVerdict,
    Estimate,
    Evidence,
    OperatorVerdict,
    QueryVerdict,
    StateVerdict,
)

__all__ = [
    "BlockVerdict",
    "Estimate",
    "Evidence",
    "OperatorVerdict",
    "QueryVerdict",
    "StateVerdict",
    "verdict",
]
