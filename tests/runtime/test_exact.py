"""Sums without rounding, and order statistics of bags that change."""

from __future__ import annotations

import decimal
import math
import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

from cqlc.runtime.columns import arrange, first_at_least, ordered_dense
from cqlc.runtime.exact import (
    Lanes,
    normal,
    split_decimals,
    split_ints,
    split_products,
    to_decimals,
    to_doubles,
    to_ints,
    to_objects,
)
from cqlc.runtime.selection import Changing, greatest_cover

EXTREME = [5e-324, -5e-324, 1e-310, 2.2250738585072014e-308, 1.0, -1.0, 1e16, 1e308, -1e308, 0.0]


def running(lanes: Lanes) -> Lanes:
    return {place: np.cumsum(lane) for place, lane in lanes.items()}


def rounded(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def numbers(rng: np.random.Generator, kind: str, count: int) -> np.ndarray:
    match kind:
        case "any size":
            return rng.normal(size=count) * 10.0 ** rng.integers(-300, 300, count)
        case "extreme":
            return rng.choice(EXTREME, count)
        case "money":
            return np.round(rng.normal(size=count) * 1000, 2)
        case _:
            return rng.normal(size=count)


@pytest.mark.parametrize("kind", ["any size", "extreme", "money", "normal"])
def test_running_sums_of_doubles_are_correctly_rounded(kind: str):
    rng = np.random.default_rng(len(kind))
    for _ in range(60):
        given = numbers(rng, kind, int(rng.integers(1, 40)))
        sums = running(split_products(given))
        got = to_doubles(sums, len(given))
        exact = np.cumsum([Fraction(x) for x in given])
        assert got.tolist() == [rounded(x) for x in exact]
        assert to_doubles(normal(sums, len(given)), len(given)).tolist() == got.tolist()
        assert [Fraction(int(x), 2**1074) for x in to_objects(sums, len(given))] == list(exact)


@pytest.mark.parametrize("factors", [2, 3, 4])
def test_products_are_exact(factors: int):
    rng = np.random.default_rng(factors)
    given = [numbers(rng, kind, 50) for kind in ("money", "normal", "money", "normal")[:factors]]
    products = to_objects(split_products(*given), 50)
    for place in range(50):
        want = math.prod(Fraction(column[place]) for column in given)
        assert Fraction(int(products[place]), 2 ** (1074 * factors)) == want


def test_sums_of_integers_know_when_they_do_not_fit():
    rng = random.Random(1)
    for _ in range(40):
        given = [rng.randint(-(2**63), 2**63 - 1) for _ in range(rng.randint(1, 30))]
        lanes = running(split_ints(np.array(given, np.int64)))
        for form in (lanes, normal(lanes, len(given))):
            sums, lost = to_ints(form, len(given))
            total = 0
            for place, number in enumerate(given):
                total += number
                fits = -(2**63) <= total < 2**63
                assert lost[place] == (not fits)
                assert not fits or sums[place] == total


def test_sums_of_decimals():
    rng = random.Random(2)
    kind = pa.decimal128(38, 4)
    for _ in range(40):
        count = rng.randint(1, 20)
        given = [decimal.Decimal(rng.randint(-(10**38) + 1, 10**38 - 1)).scaleb(-4)
                 for _ in range(count)]  # fmt: skip
        array = pa.array([decimal.Decimal(0), *given], kind).slice(1)
        none = np.zeros(count, np.bool_)
        got = to_decimals(running(split_decimals(array)), count, kind, none).to_pylist()
        with decimal.localcontext() as context:
            context.prec = 60
            total = decimal.Decimal(0)
            for place, number in enumerate(given):
                total += number
                assert got[place] == (total if abs(total) < decimal.Decimal(10) ** 34 else None)


@pytest.mark.parametrize("seed", range(60))
def test_order_statistics(seed: int):
    """k-th smallest, how many are at most, and the greatest over each point, by brute force."""
    rng = np.random.default_rng(seed)
    points = int(rng.integers(1, 25))
    group = np.sort(rng.integers(0, 4, points))
    ranges: list[tuple[int, int, int, int]] = []
    for _ in range(int(rng.integers(1, 30))):
        begin = int(rng.integers(0, points))
        last = int(np.flatnonzero(group == group[begin])[-1]) + 1
        ranges.append((begin, int(rng.integers(begin, last + 1)), int(rng.integers(0, 9)), last))
    changes = [(b, v, 1) for b, _, v, _ in ranges] + [(e, v, -1) for _, e, v, n in ranges if e < n]
    point, value, count = (np.array(column, np.int64) for column in zip(*changes, strict=True))
    changing = Changing(group, point, value, count)
    sizes = changing.sizes()
    for place in range(points):
        bag = sorted(v for b, e, v, _ in ranges if b <= place < e)
        assert sizes[place] == len(bag)
        at = np.full(len(bag), place)
        assert changing.kth(at, np.arange(len(bag))).tolist() == bag
        limits = np.arange(10)
        counts = [sum(v <= limit for v in bag) for limit in limits]
        assert changing.at_most(np.full(10, place), limits).tolist() == counts
    begin, end, value, _ = (np.array(column, np.int64) for column in zip(*ranges, strict=True))
    want = [
        max((v for b, e, v, _ in ranges if b <= place < e), default=-1) for place in range(points)
    ]
    assert greatest_cover(begin, end, value, points).tolist() == want


@pytest.mark.parametrize("seed", range(20))
def test_sorting_and_searching(seed: int):
    rng = np.random.default_rng(seed)
    width = rng.choice([3, 1000, 2**62])
    keys = tuple(rng.integers(-width, width, 50) for _ in range(int(rng.integers(1, 4))))
    order = arrange(*keys)
    want = sorted(range(50), key=lambda i: (*(key[i] for key in keys), i))
    assert order.tolist() == want
    known = tuple(key[order] for key in keys)
    asked = tuple(rng.integers(-width, width, 30) for _ in keys)
    rows = list(zip(*known, strict=True))
    found = [sum(row < one for row in rows) for one in zip(*asked, strict=True)]
    assert first_at_least(known, asked).tolist() == found
    number, size = ordered_dense(keys[0])
    assert size == len(set(keys[0].tolist()))
    assert [sorted(set(keys[0].tolist()))[i] for i in number] == keys[0].tolist()
