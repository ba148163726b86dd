"""Sums without rounding: numbers as integer limbs that add, subtract and never depend on order.

A number is the sum of limb_k * 2**(32 k + scale). Limbs of many numbers are columns of `int64`
(lanes), so a running sum over any rows, deletions included, is one cumulative sum per lane; about
2**30 rows fit before a lane could overflow, and lanes are brought back to 32 bits whenever they
are stored. A double has at most three limbs; numbers of similar size share four or five lanes.
Rounding happens once, when a sum is read: it is the correctly rounded sum, as Shewchuk's algorithm
behind `math.fsum` gives it (Discrete & Computational Geometry, 1997).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from cqlc.runtime.columns import Ints, decimal_words

Lanes: TypeAlias = dict[int, Ints]
"""Columns of limbs by their place."""
Floats: TypeAlias = npt.NDArray[np.float64]
Objects: TypeAlias = npt.NDArray[np.object_]

DOUBLE_SCALE = -1074
"""The exponent of the smallest double."""
_BITS = 32
_MASK = np.int64((1 << _BITS) - 1)


# ----------------------------------------------------------------------------- into limbs


def split_ints(values: Ints) -> Lanes:
    """64-bit integers as two limbs, of scale 0."""
    return {0: values & _MASK, 1: values >> _BITS}


def split_decimals(values: pa.Array) -> Lanes:
    """The unscaled values of a `decimal128` array without NULLs as four limbs, of scale 0."""
    words = decimal_words(values)
    low, high = words[:, 0], words[:, 1]
    return {0: low & _MASK, 1: (low >> _BITS) & _MASK, 2: high & _MASK, 3: high >> _BITS}


def split_products(*factors: Floats) -> Lanes:
    """Products of one to four finite doubles as limbs, of scale DOUBLE_SCALE * len(factors)."""
    digits, width = (1, 54) if len(factors) == 1 else (2, 27) if len(factors) == 2 else (4, 14)
    coefficients: list[Ints] = []
    exponent = np.zeros(len(factors[0]), np.int64)
    for factor in factors:
        fraction, power = np.frexp(factor)
        whole = np.ldexp(fraction, 53).astype(np.int64)
        exponent += power.astype(np.int64) - 53
        size, sign = np.abs(whole), np.sign(whole)
        parts = [sign * ((size >> (width * i)) & ((1 << width) - 1)) for i in range(digits)]
        coefficients = _convolve(coefficients, parts) if coefficients else parts
    lanes: Lanes = {}
    for degree, coefficient in enumerate(coefficients):
        shift = exponent + (width * degree - DOUBLE_SCALE * len(factors))
        _place(lanes, coefficient, shift)
    return lanes


def _convolve(left: list[Ints], right: list[Ints]) -> list[Ints]:
    zero = np.zeros_like(left[0])
    product = [zero] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] = product[i + j] + a * b
    return product


def _place(lanes: Lanes, whole: Ints, shift: Ints) -> None:
    """Add whole * 2**shift; a negative shift drops bits that are zero."""
    used = whole != 0
    if not bool(used.any()):
        return
    if int(shift.min()) < 0:
        whole = whole >> np.minimum(np.maximum(-shift, 0), 62)
        shift = np.maximum(shift, 0)
    limb, rest = shift >> 5, shift & (_BITS - 1)
    places = limb[used]
    lowest, highest = int(places.min()), int(places.max())
    parts = (
        (whole << rest) & _MASK,
        (whole >> (_BITS - rest)) & _MASK,
        whole >> np.minimum(2 * _BITS - rest, 63),
    )
    for first in range(lowest, highest + 1):
        here = limb == first
        for offset, part in enumerate(parts):
            share = np.where(here, part, 0) if lowest < highest else part
            place = first + offset
            if bool(share.any()):
                lanes[place] = lanes[place] + share if place in lanes else share


# ---------------------------------------------------------------------------- out of limbs


def carried(lanes: Lanes, rows: int) -> tuple[list[Ints], int]:
    """The same numbers with limbs in [0, 2**32), the highest one signed; and the lowest place."""
    if not lanes:
        return [np.zeros(rows, np.int64)], 0
    lowest, highest = min(lanes), max(lanes)
    carry = np.zeros(rows, np.int64)
    limbs: list[Ints] = []
    for place in range(lowest, highest + 1):
        value = lanes[place] + carry if place in lanes else carry
        limbs.append(value & _MASK)
        carry = value >> _BITS
    limbs.append(carry)
    return limbs, lowest


def normal(lanes: Lanes, rows: int) -> Lanes:
    """The same numbers in small limbs, without lanes of zeros."""
    limbs, lowest = carried(lanes, rows)
    return {lowest + i: limb for i, limb in enumerate(limbs) if bool(limb.any())}


def to_doubles(lanes: Lanes, rows: int, scale: int = DOUBLE_SCALE) -> Floats:
    """The numbers, correctly rounded (to nearest, ties to even)."""
    limbs, _ = carried(lanes, rows)
    sign = np.where(limbs[-1] < 0, np.int64(-1), np.int64(1))
    limbs, lowest = carried({k: v * sign for k, v in lanes.items()}, rows)
    zero = np.zeros(rows, np.int64)
    below, beneath = zero, zero  # the two limbs under the one looked at
    first, second, third, top = zero, zero, zero, zero
    sticky = deeper = np.zeros(rows, np.bool_)
    for place, limb in enumerate(limbs):
        used = limb != 0
        first, second, third = (
            np.where(used, new, old)
            for new, old in ((limb, first), (below, second), (beneath, third))
        )
        top = np.where(used, place, top)
        sticky = np.where(used, deeper, sticky)
        deeper = deeper | (beneath != 0)
        below, beneath = limb, below
    exponent = (top + lowest - 1) * _BITS + scale
    return sign * _round((first, second, third), sticky, exponent)


def _round(limbs: tuple[Ints, Ints, Ints], sticky: npt.NDArray[np.bool_], exponent: Ints) -> Floats:
    """(first * 2**32 + second + third / 2**32 + a bit more if sticky) * 2**exponent."""
    first, second, third = (limb.astype(np.uint64) for limb in limbs)
    word = (first << np.uint64(_BITS)) | second
    length = np.frexp(first.astype(np.float64))[1].astype(np.int64)  # first has 1 to 32 bits, or 0
    spare = (_BITS - length).astype(np.uint64)  # free bits above the number
    word = (word << spare) | np.where(spare > 0, third >> (np.uint64(_BITS) - spare), third * 0)
    below = third & ((np.uint64(1) << (np.uint64(_BITS) - spare)) - np.uint64(1))
    sticky = sticky | (below != 0)
    kept, lost = word >> np.uint64(11), word & np.uint64(0x7FF)
    half = np.uint64(0x400)
    odd = (kept & np.uint64(1)) == 1
    up = (lost > half) | ((lost == half) & (sticky | odd))
    whole = (kept + up.astype(np.uint64)).astype(np.float64)
    with np.errstate(over="ignore"):
        return np.ldexp(whole, (exponent + 11 - spare.astype(np.int64)).astype(np.int32))


def to_ints(lanes: Lanes, rows: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """Numbers of scale 0 as 64-bit integers, and where they do not fit."""
    (word,), fits = _words(lanes, rows, 1)
    return word, ~fits


def to_decimals(
    lanes: Lanes, rows: int, kind: pa.DataType, missing: npt.NDArray[np.bool_]
) -> pa.Array:
    """Unscaled numbers as a decimal array; NULL where they are `missing` or have no room."""
    words, fits = _words(lanes, rows, 2)
    low, high = words
    limit = 10**kind.precision
    gone = missing | ~fits
    near = np.flatnonzero(np.abs(high) >= (limit >> 64))
    exact = to_objects({place: lane[near] for place, lane in lanes.items()}, len(near))
    gone[near] |= np.abs(exact) >= limit
    present = pa.array(~gone).buffers()[1]
    body = pa.py_buffer(np.stack([low, high], axis=1).tobytes())
    return pa.Array.from_buffers(kind, rows, [present, body])


def _words(lanes: Lanes, rows: int, count: int) -> tuple[list[Ints], npt.NDArray[np.bool_]]:
    """Numbers of scale 0 as words of 64 bits in two's complement, and where they fit."""
    zero = np.zeros(rows, np.int64)
    places: Lanes = dict.fromkeys(range(2 * count), zero)
    limbs, _ = carried({**places, **lanes}, rows)
    words = [limbs[2 * i] | (limbs[2 * i + 1] << _BITS) for i in range(count)]
    negative = limbs[-1] < 0
    fits = (limbs[-1] == np.where(negative, -1, 0)) & ((words[-1] < 0) == negative)
    for limb in limbs[2 * count : -1]:
        fits &= limb == np.where(negative, _MASK, 0)
    return words, fits


def to_objects(lanes: Lanes, rows: int) -> Objects:
    """The numbers divided by 2**scale, as Python integers."""
    limbs, lowest = carried(lanes, rows)
    total = np.zeros(rows, np.object_)
    for limb in reversed(limbs):
        total = (total << _BITS) + limb.astype(np.object_)
    return total << (_BITS * lowest)
