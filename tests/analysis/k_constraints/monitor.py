"""Estimating k while running: section 7 of Babu, Srivastava, Widom (2004)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Sequence


def estimates(distances: Iterable[float], window: int) -> Iterator[float]:
    """The k in use after every arrival: infinite until `window` distances in a row are known.

    A greater distance than k ends its use at once; a smaller maximum over the window replaces it.
    """
    k = math.inf
    recent: deque[float] = deque(maxlen=window)
    for distance in distances:
        if distance > k:
            k = math.inf
            recent.clear()
        else:
            recent.append(distance)
            if len(recent) == window:
                k = min(k, max(recent))
        yield k


def order_distances(values: Sequence[int]) -> list[int]:
    """How far back the first greater value lies, for every arrival; 0 if there is none."""
    found: list[int] = []
    for i, value in enumerate(values):
        greater = [j for j in range(i) if values[j] > value]
        found.append(i - greater[0] if greater else 0)
    return found


def cluster_distances(values: Sequence[int]) -> list[int]:
    """The rows with other values since the first of a value, at every arrival."""
    return [
        sum(v != value for v in values[values.index(value) : i]) for i, value in enumerate(values)
    ]
