"""Concrete solutions of a conjunction, with chosen attributes in chosen places."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cqlc.analysis.bounded_memory.closure import Class, Closure
from cqlc.analysis.bounded_memory.values import coordinate


@dataclass(frozen=True, slots=True)
class Interval:
    """Coordinates from `low` to `high`, either of which may be missing."""

    low: int | None = None
    high: int | None = None


def solve(closure: Closure, wanted: Mapping[int, Interval], grain: int) -> list[int] | None:
    """A coordinate for every class, within the `wanted` intervals; None if there is none.

    Every class takes the lowest place its predecessors leave. Classes without any lower bound have
    none among their predecessors either; they come last and go below what is above them.
    """
    intervals = [
        _narrowed(_interval(found, grain), wanted.get(i)) for i, found in enumerate(closure.classes)
    ]
    lows = [interval.low for interval in intervals]
    for i, found in enumerate(closure.classes):
        low = _up(found, lows[i], grain)
        lows[i] = low
        for j, strict in closure.above[i].items():
            if low is not None:
                here = lows[j]
                lows[j] = low + strict if here is None else max(here, low + strict)
    values = [0] * len(lows)
    for i in reversed(range(len(lows))):
        low = lows[i]
        caps = [values[j] - strict for j, strict in closure.above[i].items()]
        high = intervals[i].high
        cap = min(caps if high is None else (*caps, high), default=None)
        values[i] = _down(closure.classes[i], cap or 0) if low is None else low
        if cap is not None and values[i] > cap:
            return None
    return values


def _interval(found: Class, grain: int) -> Interval:
    low, high = found.low, found.high
    if not found.sort.dense or low is None or high is None:
        return Interval(low, high)
    return Interval(
        low * grain if low % 2 == 0 else (low - 1) * grain + 1,
        high * grain if high % 2 == 0 else (high + 1) * grain - 1,
    )


def _narrowed(one: Interval, other: Interval | None) -> Interval:
    if other is None:
        return one
    lows = [low for low in (one.low, other.low) if low is not None]
    highs = [high for high in (one.high, other.high) if high is not None]
    return Interval(max(lows, default=None), min(highs, default=None))


def _up(found: Class, low: int | None, grain: int) -> int | None:
    if low is None:
        return None
    holes = {coordinate(h, found.sort, grain) for h in found.holes}
    if found.values is not None:
        values = (coordinate(v, found.sort, grain) for v in found.values)
        allowed = [v for v in values if v >= low and v not in holes]
        return min(allowed, default=low)
    while low in holes:
        low += 1
    return low


def _down(found: Class, high: int) -> int:
    while high in found.holes:
        high -= 1
    return high
