"""Aggregates as Spark SQL: what is kept for a pane, how panes merge, and the value of both.

A window that slides is cut into panes that all its positions share (Li et al., "No pane, no gain",
SIGMOD Record 2005): partial aggregates of a pane are computed once and merged for every position.
Distributive and algebraic aggregates keep a few numbers per pane, holistic ones keep the values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from cqlc.algebra.expr import AggregateCall, Expr, type_of
from cqlc.datatypes import BIGINT, DataType
from cqlc.functions import AGGREGATES
from cqlc.spark.expression import filled, sql_type

Text: TypeAlias = Callable[[str], str]
"""SQL made from SQL."""


@dataclass(frozen=True, slots=True)
class Partial:
    """Something kept for a group: as SQL of its rows, and of the column of its panes' parts.

    `of_panes` is None where panes cannot be merged.
    """

    of_rows: str
    of_panes: Text | None


@dataclass(frozen=True, slots=True)
class Recipe:
    """How an aggregate is computed: its partials, and its value from the columns of these.

    `direct` is Spark's own aggregate, which is used where no panes are merged.
    """

    partials: tuple[Partial, ...]
    value: Callable[[Sequence[str]], str]
    direct: str | None = None

    @property
    def merges(self) -> bool:
        """Whether panes can be merged."""
        return all(partial.of_panes is not None for partial in self.partials)


def recipe(call: AggregateCall, text: Callable[[Expr], str], time: str) -> Recipe | None:
    """The recipe of an aggregate; None if Spark has none.

    `text` gives expressions as SQL, `time` is the time of a row.
    """
    known = AGGREGATES.get(call.function)
    if known is None:
        return None
    arguments = [text(argument) for argument in call.arguments]
    where = f" FILTER (WHERE {text(call.where)})" if call.where is not None else ""
    types = [type_of(argument) for argument in call.arguments]
    parts = _Call(arguments, types, call.type, where, time)
    if call.distinct and call.function not in _DUPLICATES_DO_NOT_MATTER:
        return _distinct(call.function, parts)
    native = filled(known.spark, arguments, sql_type(call.type)) + where if known.spark else None
    build = _RECIPES.get(call.function)
    if build is not None:
        made = build(parts)
        return replace(made, direct=native) if call.function in _NATIVE else made
    return Recipe((Partial(native, None),), _itself) if native else None


def youngest(time: str) -> Recipe:
    """The latest time of a group's rows."""
    return Recipe((Partial(f"max({time})", lambda c: f"max({c})"),), _itself)


@dataclass(frozen=True, slots=True)
class _Call:
    """The parts of an aggregate call as SQL."""

    arguments: list[str]
    types: list[DataType]
    type: DataType
    where: str
    time: str

    @property
    def all(self) -> str:
        return ", ".join(self.arguments)

    @property
    def first(self) -> str:
        return self.arguments[0]


def _itself(columns: Sequence[str]) -> str:
    return columns[0]


def _only(text: Text) -> Callable[[Sequence[str]], str]:
    """A value made of one partial."""
    return lambda columns: text(columns[0])


def _flattened(column: str) -> str:
    return f"flatten(collect_list({column}))"


# --------------------------------------------------------------- distributive and algebraic


def _folded(function: str) -> Callable[[_Call], Recipe]:
    """An aggregate that is its own merge: the largest of the panes' largest, and so on."""

    def build(call: _Call) -> Recipe:
        partial = Partial(f"{function}({call.all}){call.where}", lambda c: f"{function}({c})")
        return Recipe((partial,), _itself)

    return build


def _counted(function: str) -> Callable[[_Call], Recipe]:
    def build(call: _Call) -> Recipe:
        partial = Partial(f"{function}({call.all or '1'}){call.where}", lambda c: f"sum({c})")
        return Recipe((partial,), _itself)

    return build


def _sum(call: _Call) -> Recipe:
    if call.types[0] != BIGINT:
        return _folded("sum")(call)
    # A sum that leaves BIGINT is NULL, also if it does so in one of the panes.
    total = f"try_sum({call.first}){call.where}"
    lost = f"count({call.first}){call.where} > 0 AND {total} IS NULL"
    kept = (
        Partial(total, lambda c: f"try_sum({c})"),
        Partial(lost, lambda c: f"bool_or({c})"),
    )
    return Recipe(kept, lambda c: f"if({c[1]}, CAST(NULL AS BIGINT), {c[0]})", direct=total)


def _average(call: _Call) -> Recipe:
    total = Partial(f"sum({call.first}){call.where}", lambda c: f"sum({c})")
    count = Partial(f"count({call.first}){call.where}", lambda c: f"sum({c})")
    return Recipe((total, count), lambda c: f"{c[0]} / nullif({c[1]}, 0)")


def _spread(value: Callable[[str, str], str]) -> Callable[[_Call], Recipe]:
    """Variances from the panes' counts, means and variances (Chan, Golub, LeVeque 1983).

    `value` makes the result of the sum of squared distances and the count.
    """

    def build(call: _Call) -> Recipe:
        x = call.first
        kept = (
            f"array(named_struct('n', CAST(count({x}){call.where} AS DOUBLE), "
            f"'mean', avg({x}){call.where}, 'var', var_pop({x}){call.where}))"
        )

        def of(column: str) -> str:
            panes = f"filter({column}, p -> p.n > 0)"
            n = f"aggregate({panes}, 0D, (a, p) -> a + p.n)"
            mean = f"(aggregate({panes}, 0D, (a, p) -> a + p.n * p.mean) / {n})"
            far = f"p.n * (p.var + (p.mean - {mean}) * (p.mean - {mean}))"
            m2 = f"aggregate({panes}, 0D, (a, p) -> a + {far})"
            return f"if({n} > 0D, {value(m2, n)}, CAST(NULL AS DOUBLE))"

        return Recipe((Partial(kept, _flattened),), _only(of))

    return build


def _sample_variance(m2: str, n: str) -> str:
    return f"if({n} > 1D, {m2} / ({n} - 1D), CAST(NULL AS DOUBLE))"


def _earliest(function: str) -> Callable[[_Call], Recipe]:
    """The value of the first or last row by time, then by value."""

    def build(call: _Call) -> Recipe:
        row = f"named_struct('t', {call.time}, 'x', {call.first})"
        kept = Partial(f"{function}({row}){call.where}", lambda c: f"{function}({c})")
        return Recipe((kept,), _only(lambda c: f"{c}.x"))

    return build


def _extreme_by(function: str) -> Callable[[_Call], Recipe]:
    def build(call: _Call) -> Recipe:
        value, key = call.arguments
        row = f"if({key} IS NULL, NULL, named_struct('y', {key}, 'x', {value}))"
        kept = Partial(f"{function}({row}){call.where}", lambda c: f"{function}({c})")
        return Recipe((kept,), _only(lambda c: f"{c}.x"))

    return build


# ----------------------------------------------------------------------------------- holistic


def _values(value: Callable[[str, _Call], str]) -> Callable[[_Call], Recipe]:
    """All values are kept; `value` makes the result of their array."""

    def build(call: _Call) -> Recipe:
        kept = Partial(f"collect_list({call.first}){call.where}", _flattened)
        return Recipe((kept,), _only(lambda c: value(c, call)))

    return build


def _quantile(values: str, share: str) -> str:
    ordered = f"sort_array({values})"
    place = f"({share} * (size({values}) - 1))"
    low = f"{ordered}[CAST(floor({place}) AS INT)]"
    high = f"{ordered}[CAST(ceil({place}) AS INT)]"
    between = f"{low} + ({high} - {low}) * ({place} - floor({place}))"
    return f"if(size({values}) = 0, CAST(NULL AS DOUBLE), {between})"


def _discrete_quantile(values: str, call: _Call) -> str:
    place = f"CAST(greatest(ceil({call.arguments[1]} * size({values})) - 1, 0) AS INT)"
    nothing = f"CAST(NULL AS {sql_type(call.type)})"
    return f"if(size({values}) = 0, {nothing}, sort_array({values})[{place}])"


def _by_count(values: str) -> str:
    """The different values with their counts, the most frequent first, then the smallest."""
    count = f"size(filter({values}, x -> x = v))"
    counts = f"transform(array_distinct({values}), v -> named_struct('item', v, 'n', {count}))"
    order = "CASE WHEN a.n <> b.n THEN b.n - a.n WHEN a.item < b.item THEN -1 ELSE 1 END"
    return f"array_sort({counts}, (a, b) -> {order})"


def _top(values: str, call: _Call) -> str:
    most = f"slice({_by_count(values)}, 1, greatest({call.arguments[1]}, 0))"
    return f"CAST({most} AS {sql_type(call.type)})"


def _in_order(call: _Call) -> Partial:
    row = f"named_struct('t', {call.time}, 'x', {call.first})"
    kept = f"collect_list(if({call.first} IS NULL, NULL, {row})){call.where}"
    return Partial(kept, _flattened)


def _listed(column: str) -> str:
    """The values by time and then ascending."""
    return f"transform(array_sort({column}), r -> r.x)"


def _joined(call: _Call) -> Recipe:
    separator = call.arguments[1] if len(call.arguments) > 1 else "''"

    def of(column: str) -> str:
        joined = f"array_join({_listed(column)}, {separator})"
        return f"if(size({column}) = 0, CAST(NULL AS STRING), {joined})"

    return Recipe((_in_order(call),), _only(of))


def _set(value: Text) -> Callable[[_Call], Recipe]:
    """The different values are kept; `value` makes the result of their set."""

    def build(call: _Call) -> Recipe:
        kept = Partial(
            f"collect_set({call.first}){call.where}", lambda c: f"array_distinct({_flattened(c)})"
        )
        return Recipe((kept,), _only(value))

    return build


def _distinct(function: str, call: _Call) -> Recipe | None:
    """An aggregate of different values."""
    if len(call.arguments) > 1:
        known = " AND ".join(f"({a}) IS NOT NULL" for a in call.arguments)
        call = replace(call, arguments=[f"if({known}, struct({call.all}), NULL)"])
    match function:
        case "COUNT" | "APPROX_COUNT_DISTINCT":
            return _set(_size)(call)
        case "COLLECT_SET":
            return _set(lambda c: f"sort_array({c})")(call)
        case "SUM":
            type = sql_type(call.type)
            added = f"CAST(if(a IS NULL, x, try_add(a, x)) AS {type})"
            return _set(lambda c: f"aggregate({c}, CAST(NULL AS {type}), (a, x) -> {added})")(call)
        case "AVG":
            total = "0D, (a, x) -> a + x"
            return _set(lambda c: f"aggregate({c}, {total}) / nullif(size({c}), 0)")(call)
        case _:
            return None


def _size(column: str) -> str:
    return f"CAST(size({column}) AS BIGINT)"


_RECIPES: dict[str, Callable[[_Call], Recipe]] = {
    "COUNT": _counted("count"),
    "COUNT_IF": _counted("count_if"),
    "SUM": _sum,
    "AVG": _average,
    "MIN": _folded("min"),
    "MAX": _folded("max"),
    "BOOL_AND": _folded("bool_and"),
    "BOOL_OR": _folded("bool_or"),
    "BIT_AND": _folded("bit_and"),
    "BIT_OR": _folded("bit_or"),
    "BIT_XOR": _folded("bit_xor"),
    "VAR_POP": _spread(lambda m2, n: f"{m2} / {n}"),
    "VAR_SAMP": _spread(_sample_variance),
    "STDDEV_POP": _spread(lambda m2, n: f"sqrt({m2} / {n})"),
    "STDDEV_SAMP": _spread(lambda m2, n: f"sqrt({_sample_variance(m2, n)})"),
    "FIRST": _earliest("min"),
    "ANY_VALUE": _earliest("min"),
    "LAST": _earliest("max"),
    "MIN_BY": _extreme_by("min"),
    "MAX_BY": _extreme_by("max"),
    "MEDIAN": _values(lambda values, _: _quantile(values, "0.5D")),
    "QUANTILE": _values(lambda values, call: _quantile(values, call.arguments[1])),
    "PERCENTILE_DISC": _values(_discrete_quantile),
    "MODE": _values(lambda values, _: f"{_by_count(values)}[0].item"),
    "TOP_K": _values(_top),
    "COLLECT_LIST": lambda call: Recipe((_in_order(call),), _only(_listed)),
    "COLLECT_SET": _set(lambda c: f"sort_array({c})"),
    "APPROX_COUNT_DISTINCT": _set(_size),
    "STRING_AGG": _joined,
}

_NATIVE = frozenset(
    ("AVG", "VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP", "MEDIAN", "QUANTILE", "MODE")
)
"""The functions whose recipe is for panes only: Spark's own says the same of all rows at once."""

_DUPLICATES_DO_NOT_MATTER = frozenset(
    ("MIN", "MAX", "MIN_BY", "MAX_BY", "BOOL_AND", "BOOL_OR", "BIT_AND", "BIT_OR")
)
