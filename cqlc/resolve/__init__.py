"""From the syntax tree and a catalog to plans: names, types, CQL's defaults, unnesting."""

from cqlc.resolve.program import resolve
from cqlc.resolve.result import (
    MemorySplit,
    Resolution,
    ResolvedQuery,
    Shedding,
    ShedPolicy,
)

__all__ = [
    "MemorySplit",
    "Resolution",
    "ResolvedQuery",
    "ShedPolicy",
    "Shedding",
    "resolve",
]
