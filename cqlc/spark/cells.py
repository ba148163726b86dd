"""Operators that are evaluated afresh in every period of a grid, or at every instant.

Over SLIDE windows of one grid, and over NOW, duplicate elimination, set operations, outer joins,
negation and ranking need no deletions: all rows of a period are there when event time passes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from cqlc.algebra.expr import SortKey
from cqlc.algebra.plan import Except, Intersect, Named, Rank, RankKind
from cqlc.algebra.text import node_text
from cqlc.spark.context import Context
from cqlc.spark.expression import name, string
from cqlc.spark.frame import Branch, Clockwork, Rows
from cqlc.spark.netting import repeated
from cqlc.spark.program import Computed, Concat, Group, Select, Step


def set_operation(ctx: Context, node: Except | Intersect, left: Rows, right: Rows) -> Rows:
    """The bag difference or intersection, by counting each row on both sides."""
    columns = ctx.named(node)
    names = tuple(c.name for c in columns)
    pairs = zip(columns, ctx.named(node.right), strict=True)
    others = tuple(Named(mine.name, other.value) for mine, other in pairs)
    note = node_text(node)
    lefts, grid = ctx.in_cells(left, ctx.output(node.left), columns, note)
    rights, _ = ctx.in_cells(right, ctx.output(node.right), others, note)
    at, one, two = ctx.fresh("_at"), ctx.fresh("_left"), ctx.fresh("_right")

    def tagged(side: Branch, mine: str, other: str) -> Step:
        shown = tuple(Computed(n, name(n)) for n in names)
        begin = Computed(at, side.life.since.sql, event_time=True)
        return Select(side.step, (*shown, begin, Computed(mine, "1"), Computed(other, "0")))

    both = Concat((tagged(lefts, one, two), tagged(rights, two, one)))
    sums = (Computed(one, f"sum({name(one)})"), Computed(two, f"sum({name(two)})"))
    counted = Group(both, (*names, at), sums, note=note)
    match node:
        case Except():
            count = f"greatest({name(one)} - {name(two)}, 0)"
        case Intersect():
            count = f"least({name(one)}, {name(two)})"
    step = repeated(ctx, counted, (*names, at), count)
    return (Branch(step, ctx.columns(node), ctx.cell(at, grid, at), Clockwork(at, 0, grid.period)),)


def rank(ctx: Context, node: Rank, rows: Rows) -> Rows:
    """The rows of a partition, collected, sorted and numbered."""
    note = node_text(node)
    columns = ctx.named(node.input)
    cells, grid = ctx.in_cells(rows, ctx.output(node.input), columns, note)
    at = cells.life.since.column
    all_rows, row = ctx.fresh("_rows"), ctx.fresh("_row")
    keys = [f"{string(f'k{i}')}, {cells.sql(k.value)}" for i, k in enumerate(node.order)]
    values = [f"{string(f'c{i}')}, {name(c.name)}" for i, c in enumerate(columns)]
    member = f"named_struct({', '.join((*keys, *values))})"
    collected = Group(
        cells.step,
        (*node.partition, at),
        (Computed(all_rows, f"collect_list({member})"),),
        note=note,
    )
    ordered = f"array_sort({name(all_rows)}, (a, b) -> {_order(node.order, len(columns))})"
    sorted_rows = Select(collected, (Computed(at, name(at)), Computed(all_rows, ordered)))
    pair = f"named_struct('n', {_number(node, all_rows)}, 'r', r)"
    numbered = f"transform({name(all_rows)}, (r, i) -> {pair})"
    exploded = Select(sorted_rows, (Computed(at, name(at)), Computed(row, f"explode({numbered})")))
    shown = tuple(Computed(c.name, f"{name(row)}.r.c{i}") for i, c in enumerate(columns))
    number = Computed(node.name, f"CAST({name(row)}.n AS BIGINT)")
    step = Select(exploded, (*shown, number, Computed(at, name(at))))
    return (Branch(step, ctx.columns(node), ctx.cell(at, grid, at), Clockwork(at, 0, grid.period)),)


def _order(order: Sequence[SortKey], columns: int) -> str:
    """The comparison of two rows by their sort keys, then by their own values."""
    cases: list[str] = []
    for i, key in enumerate(order):
        first, last = ("-1", "1") if key.nulls_first else ("1", "-1")
        less, more = ("1", "-1") if key.descending else ("-1", "1")
        cases += _compared(f"k{i}", first, last, less, more)
    for i in range(columns):
        cases += _compared(f"c{i}", "-1", "1", "-1", "1")
    return f"CASE {' '.join(cases)} ELSE 0 END"


def _compared(field: str, null: str, known: str, less: str, more: str) -> list[str]:
    a, b = f"a.{field}", f"b.{field}"
    return [
        f"WHEN {a} IS NULL AND {b} IS NOT NULL THEN {null}",
        f"WHEN {a} IS NOT NULL AND {b} IS NULL THEN {known}",
        f"WHEN {a} < {b} THEN {less} WHEN {a} > {b} THEN {more}",
    ]


def _number(node: Rank, rows: str) -> str:
    """The number of the row `r` at place `i` of the sorted rows."""
    if node.kind is RankKind.ROW_NUMBER:
        return "i + 1"
    fields = ", ".join(f"r.k{i}" for i in range(len(node.order)))
    keys = f"transform({name(rows)}, r -> struct({fields}))"
    if node.kind is RankKind.DENSE_RANK:
        keys = f"array_distinct({keys})"
    return f"array_position({keys}, struct({fields}))"
