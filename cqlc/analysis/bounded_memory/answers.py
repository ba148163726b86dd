"""Output columns, grouping keys and aggregates as the theory sees them."""

from __future__ import annotations

from collections.abc import Iterable

from cqlc.algebra.expr import AggregateCall, Arithmetic, Case, Expr, Literal, Operator, type_of
from cqlc.algebra.text import expr_text
from cqlc.algebra.walk import columns
from cqlc.analysis.bounded_memory.blocks import Builder
from cqlc.analysis.bounded_memory.query import (
    Aggregated,
    AggregateKind,
    Attribute,
    Output,
    Sort,
)
from cqlc.analysis.bounded_memory.read import source
from cqlc.datatypes import BIGINT, BOOLEAN, is_integer

_KINDS = {
    "COUNT": AggregateKind.COUNT,
    "COUNT_IF": AggregateKind.COUNT,
    "SUM": AggregateKind.SUM,
    "AVG": AggregateKind.AVG,
    "MIN": AggregateKind.MIN,
    "MAX": AggregateKind.MAX,
    "BOOL_AND": AggregateKind.MIN,
    "BOOL_OR": AggregateKind.MAX,
    "APPROX_COUNT_DISTINCT": AggregateKind.DIFFERENT,
    "COLLECT_SET": AggregateKind.DIFFERENT,
    "MEDIAN": AggregateKind.MEDIAN,
    **dict.fromkeys(("QUANTILE", "PERCENTILE_DISC", "MODE", "TOP_K"), AggregateKind.QUANTILE),
    **dict.fromkeys(
        ("VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP", "SKEWNESS", "KURTOSIS"),
        AggregateKind.ALGEBRAIC,
    ),
    **dict.fromkeys(("COVAR_POP", "COVAR_SAMP", "CORR"), AggregateKind.ALGEBRAIC),
    **dict.fromkeys(("FIRST", "LAST", "ANY_VALUE", "MIN_BY", "MAX_BY"), AggregateKind.STEPWISE),
    **dict.fromkeys(("BIT_AND", "BIT_OR", "BIT_XOR"), AggregateKind.STEPWISE),
    **dict.fromkeys(("COLLECT_LIST", "STRING_AGG"), AggregateKind.LIST),
}
_SUMS = (AggregateKind.COUNT, AggregateKind.SUM, AggregateKind.AVG, AggregateKind.ALGEBRAIC)
_EXTREMES = {AggregateKind.MIN: AggregateKind.MAX, AggregateKind.MAX: AggregateKind.MIN}
_REMEMBERED = (AggregateKind.DIFFERENT, AggregateKind.MEDIAN, AggregateKind.QUANTILE)


def outputs(values: Iterable[Expr], builder: Builder) -> tuple[Output, ...]:
    """The attributes that output columns or grouping keys show."""
    found: dict[str, Output] = {}
    for value in values:
        for output in _output(value, builder):
            exact = output.exact or found.get(output.attribute, output).exact
            found[output.attribute] = Output(output.attribute, exact, span=output.span)
    return tuple(found.values())


def _output(value: Expr, builder: Builder) -> Iterable[Output]:
    shown = source(value)
    if shown:
        return (Output(shown.column.name, span=value.span),)
    few = _possibilities(value)
    owners = {builder.owner[name] for name in columns(value)}
    if few is not None and len(owners) == 1:
        return (Output(_computed(value, few, owners.pop(), builder), span=value.span),)
    return (Output(name, exact=False, span=value.span) for name in sorted(columns(value)))


def _computed(value: Expr, few: int, use: str, builder: Builder) -> str:
    """A new attribute for a value with few possibilities."""
    name = f"{use}.{expr_text(value)}"
    attribute = Attribute(name, Sort(f"possibilities of {name}"), BIGINT, nullable=True)
    if all(known.name != name for _, known, _ in builder.computed):
        builder.computed.append((use, attribute, few))
    return name


def _possibilities(value: Expr) -> int | None:
    """How many different values, apart from NULL, an expression has at most, if that is plain."""
    match value:
        case _ if type_of(value) == BOOLEAN:
            return 2
        case Arithmetic(Operator.MODULO, _, Literal(int() as by)) if is_integer(value.type) and by:
            return 2 * abs(by) - 1
        case Case(branches, otherwise):
            results = [*(then for _, then in branches), otherwise]
            return len(set(results)) if all(isinstance(r, Literal) for r in results) else None
        case _:
            return None


# -------------------------------------------------------------------------------- aggregates


def aggregated(call: AggregateCall, builder: Builder) -> Aggregated:
    """An aggregate by what it has to keep."""
    kind = _KINDS.get(call.function, AggregateKind.OTHER)
    if call.distinct and kind not in _EXTREMES:
        kind = AggregateKind.DIFFERENT
    found = _of(call, kind, builder)
    return found if call.where is None else _filtered(call, found, builder)


def _of(call: AggregateCall, kind: AggregateKind, builder: Builder) -> Aggregated:
    read = [source(argument) for argument in call.arguments]
    names = tuple(found.column.name for found in read if found)
    everything = tuple(sorted({name for a in call.arguments for name in columns(a)}))
    label = f"{call.function}({', '.join(expr_text(a) for a in call.arguments) or '*'})"
    if call.distinct:
        label = label.replace("(", "(DISTINCT ", 1)
    plain = len(names) == len(call.arguments)
    if not plain or call.function in ("COUNT_IF", "BIT_XOR"):
        alone = len({builder.owner[name] for name in everything}) <= 1
        return _of_computed(call, kind, everything, label, alone=alone)
    shift = read[0] if read else None
    if kind in _EXTREMES and shift and shift.sign < 0:
        kind = _EXTREMES[kind]
    shifted = shift is not None and (shift.sign < 0 or shift.offset != 0)
    exact = not (shifted and kind is AggregateKind.SUM)
    exact = exact and not (call.distinct and call.function == "AVG")
    return Aggregated(kind, names, exact, label, span=call.span)


def _of_computed(
    call: AggregateCall, kind: AggregateKind, names: tuple[str, ...], label: str, *, alone: bool
) -> Aggregated:
    """An aggregate of a computed value: sums of one occurrence's values are kept all the same."""
    if kind in _SUMS:
        return Aggregated(kind, () if alone else names, False, label, span=call.span)
    if kind in _EXTREMES:
        return Aggregated(AggregateKind.STEPWISE, names, False, label, span=call.span)
    return Aggregated(kind, names, False, label, span=call.span)


def _filtered(call: AggregateCall, found: Aggregated, builder: Builder) -> Aggregated:
    """An aggregate with FILTER: over a join, the filter's columns have to be at hand as well."""
    assert call.where is not None
    more = tuple(sorted({*found.attributes, *columns(call.where)}))
    uses = {builder.owner[name] for name in more}
    if found.kind in _REMEMBERED and len(uses) == 1:
        return Aggregated(found.kind, found.attributes, False, found.label, span=call.span)
    kind = AggregateKind.OTHER if found.kind in _REMEMBERED else AggregateKind.STEPWISE
    if found.kind is AggregateKind.LIST:
        kind = AggregateKind.LIST
    return Aggregated(kind, more, False, found.label, span=call.span)
