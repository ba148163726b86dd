"""How many rows a state holds, as a formula in adherences, rates and what else it depends on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Number:
    """A known number."""

    value: float


@dataclass(frozen=True, slots=True)
class Symbol:
    """A quantity by name, with what it means and its value if that is declared."""

    name: str
    meaning: str
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of some parts."""

    parts: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """The product of some parts."""

    parts: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """One size divided by another."""

    dividend: Size
    divisor: Size


@dataclass(frozen=True, slots=True)
class Greatest:
    """The greatest of some parts."""

    parts: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Least:
    """The least of some parts."""

    parts: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Unlimited:
    """More than any number."""


Size: TypeAlias = Number | Symbol | Sum | Product | Quotient | Greatest | Least | Unlimited

NONE = Number(0)
ONE = Number(1)
UNLIMITED = Unlimited()


def plus(*parts: Size) -> Size:
    """The sum, without zeros; equal parts count again."""
    flat = (q for p in parts for q in (p.parts if isinstance(p, Sum) else (p,)))
    kept = tuple(p for p in flat if p != NONE)
    if UNLIMITED in kept:
        return UNLIMITED
    return kept[0] if len(kept) == 1 else Sum(kept) if kept else NONE


def times(*parts: Size) -> Size:
    """The product, without ones; zero if a part is."""
    if NONE in parts:
        return NONE
    kept = tuple(p for p in parts if p != ONE)
    if UNLIMITED in kept:
        return UNLIMITED
    return kept[0] if len(kept) == 1 else Product(kept) if kept else ONE


def greatest(*parts: Size) -> Size:
    """The greatest, repeated parts and zeros left out."""
    kept = tuple(dict.fromkeys(p for p in parts if p != NONE))
    if UNLIMITED in kept:
        return UNLIMITED
    return kept[0] if len(kept) == 1 else Greatest(kept) if kept else NONE


def least(*parts: Size) -> Size:
    """The least, repeated and unlimited parts left out."""
    kept = tuple(dict.fromkeys(p for p in parts if p != UNLIMITED))
    if NONE in kept:
        return NONE
    return kept[0] if len(kept) == 1 else Least(kept) if kept else UNLIMITED


def evaluate(size: Size) -> float | None:
    """The number a formula comes to; None if it depends on something that is not declared."""
    match size:
        case Number(value) | Symbol(value=value):
            return value
        case Unlimited():
            return math.inf
        case Quotient(dividend, divisor):
            above, below = evaluate(dividend), evaluate(divisor)
            return above / below if above is not None and below else None
        case Sum(parts) | Product(parts) | Greatest(parts) | Least(parts):
            values = [v for part in parts if (v := evaluate(part)) is not None]
            if isinstance(size, Least):
                return min(values, default=None)  # a bound that is known is a bound
            if len(values) < len(parts):
                return None
            combine = {Sum: sum, Product: math.prod, Greatest: max}[type(size)]
            return combine(values)


def text(size: Size) -> str:
    """The formula as people write it."""
    return _text(size, 0)


def _text(size: Size, level: int) -> str:
    match size:
        case Number(value):
            return f"{value:g}"
        case Symbol(name):
            return name
        case Unlimited():
            return "unlimited"
        case Sum(parts):
            written = " + ".join(_text(p, 1) for p in parts)
            return f"({written})" if level > 0 else written
        case Product(parts):
            written = " × ".join(_text(p, 2) for p in parts)
            return f"({written})" if level > 2 else written
        case Quotient(dividend, divisor):
            written = f"{_text(dividend, 2)} / {_text(divisor, 3)}"
            return f"({written})" if level > 2 else written
        case Greatest(parts):
            return f"max({', '.join(map(text, parts))})"
        case Least(parts):
            return f"min({', '.join(map(text, parts))})"


def symbols(size: Size) -> dict[str, Symbol]:
    """The quantities a formula depends on, by name."""
    match size:
        case Symbol(name):
            return {name: size}
        case Number() | Unlimited():
            return {}
        case Quotient(dividend, divisor):
            return symbols(dividend) | symbols(divisor)
        case Sum(parts) | Product(parts) | Greatest(parts) | Least(parts):
            found: dict[str, Symbol] = {}
            for part in parts:
                found |= symbols(part)
            return found
