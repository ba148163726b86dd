"""Comparing two bags of rows, with a tolerance for floating-point numbers."""

from __future__ import annotations

import math
from collections import Counter

from cqlc.semantics import Values


def difference(
    expected: Counter[Values], got: Counter[Values], tolerance: float = 0.0
) -> tuple[list[Values], list[Values]]:
    """What is missing from `got`, and what it has too much; both empty if the bags agree."""
    missing = list((expected - got).elements())
    surplus = list((got - expected).elements())
    for row in list(missing):
        partner = next((other for other in surplus if _close(row, other, tolerance)), None)
        if partner is not None:
            missing.remove(row)
            surplus.remove(partner)
    return missing, surplus


def _close(row: Values, other: Values, tolerance: float) -> bool:
    return len(row) == len(other) and all(
        a == b
        or (isinstance(a, float) and isinstance(b, float) and math.isclose(a, b, rel_tol=tolerance))
        for a, b in zip(row, other, strict=True)
    )
