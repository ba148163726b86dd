"""Bounded memory: can a query be answered in constant memory, and if not, why not and what helps.

Arasu, Babcock, Babu, McAlister, Widom, "Characterizing Memory Requirements for Queries over
Continuous Data Streams", ACM TODS 29(1), 2004.
"""

from cqlc.analysis.bounded_memory.judge import judge
from cqlc.analysis.bounded_memory.verdict import (
    Bounded,
    BoundedMemoryVerdict,
    Unbounded,
    Unknown,
    analyse,
)

__all__ = ["Bounded", "BoundedMemoryVerdict", "Unbounded", "Unknown", "analyse", "judge"]
