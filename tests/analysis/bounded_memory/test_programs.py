"""Random programs, from their text: pieces partition conditions, witnesses grow, repairs flip."""

from __future__ import annotations

import decimal
import random
from collections import Counter
from itertools import combinations, product
from typing import Any

from cqlc.algebra.plan import Filter, Join, Plan
from cqlc.algebra.schema import Field
from cqlc.algebra.walk import conjuncts, schema_of, subplans
from cqlc.analysis.bounded_memory import Bounded, Unbounded, judge
from cqlc.analysis.bounded_memory.adversary import witness
from cqlc.analysis.bounded_memory.edits import Edit, applied, edited
from cqlc.analysis.bounded_memory.query import Projection, SpjQuery
from cqlc.analysis.bounded_memory.repair import candidates, repairs
from cqlc.analysis.bounded_memory.translate import from_plan
from cqlc.catalog import Catalog
from cqlc.compiler import Compilation, compile_program
from cqlc.datatypes import Decimal
from cqlc.semantics.expressions import evaluator
from tests.analysis.bounded_memory.evaluate import holds
from tests.analysis.bounded_memory.programs import Program
from tests.analysis.bounded_memory.test_plans import seen_by_semantics


def compiled(generator: random.Random) -> Compilation:
    return compile_program(Program(generator).text).require()


def test_pieces_partition_the_condition() -> None:
    """A row satisfies the plan's conditions if and only if exactly one piece holds for it."""
    generator = random.Random(1)
    held = 0
    for _ in range(400):
        compilation = compiled(generator)
        plan = compilation.queries[0].plan
        query = from_plan(plan, compilation.catalog)
        assert isinstance(query, SpjQuery)
        if any(piece.opaque for piece in query.pieces):
            continue
        for _ in range(15):
            row = _row(query, generator)
            if not _declared(compilation, query, row):
                continue
            pieces = sum(_in_piece(query, piece, row) for piece in query.pieces)
            true = all(_true(plan, row))
            assert pieces == true, compilation.source.text
            held += true
    assert held > 300


def _row(query: SpjQuery, generator: random.Random) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, attribute in query.attributes.items():
        if attribute.nullable and generator.random() < 0.2:
            row[name] = None
        elif attribute.sort.name == "text":
            row[name] = generator.choice("abcdefg")
        elif attribute.sort.name == "real":
            row[name] = generator.choice((0.5, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0))
        else:
            scaled = attribute.sort.name.startswith("decimal")
            row[name] = generator.choice((100, 125, 350, 500, 700, 900)) if scaled else None
            if not scaled:
                row[name] = generator.randint(-4, 8)
    return row


def _declared(compilation: Compilation, query: SpjQuery, row: dict[str, Any]) -> bool:
    """Whether a row obeys CHECKs and domains: none is false, and a NULL obeys them all."""
    for use in query.uses:
        table = compilation.catalog.tables[use.base]
        plain = {c.name: row[f"{use.name}.{c.name}"] for c in table.columns}
        values = tuple(plain[c.name] for c in table.columns)
        schema = table.schema[: len(table.columns)]
        if any(evaluator(check, schema, {})(values) is False for check in table.checks):
            return False
        if any(c.domain and plain[c.name] not in (None, *c.domain) for c in table.columns):
            return False
    return True


def _in_piece(query: SpjQuery, piece: Any, row: dict[str, Any]) -> bool:
    """Whether a row is in a piece; bounds of columns that may be NULL hold unless they are."""

    def excused(atom: Any) -> bool:
        name = getattr(atom, "attribute", None)
        return name is not None and name not in piece.present and row[name] is None

    return (
        all(row[name] is None for name in piece.nulls)
        and all(row[name] is not None for name in piece.present)
        and all(excused(atom) or holds(query, atom, row) for atom in piece.atoms)
    )


def _true(plan: Plan, row: dict[str, Any]) -> list[bool]:
    """The truth of every condition in a plan whose columns are those of its tables."""
    found: list[bool] = []
    for node in subplans(plan):
        if isinstance(node, Filter | Join):
            parts = [node.input] if isinstance(node, Filter) else [node.left, node.right]
            schema = tuple(f for part in parts for f in schema_of(part))
            values = tuple(_value(row[f.name], f) for f in schema)
            for part in conjuncts(node.predicate):
                found.append(evaluator(part, schema, {})(values) is True)
    return found


def _value(value: Any, field: Field) -> Any:
    if value is not None and isinstance(field.type, Decimal):
        return decimal.Decimal(value).scaleb(-field.type.scale)
    return value


def test_witnesses_grow_by_the_reference_semantics() -> None:
    generator = random.Random(2)
    grown = 0
    for _ in range(500):
        compilation = compiled(generator)
        plan = compilation.queries[0].plan
        found = judge(plan, compilation.catalog)
        if not isinstance(found, Unbounded):
            continue
        made = witness(found.case, found.violations[0], 2)
        streamed = isinstance(found.case.query.head, Projection)
        for pair in combinations(product((False, True), repeat=2), 2):
            one, other = (
                seen_by_semantics(plan, compilation.catalog, made, bits, pair, streamed)
                for bits in pair
            )
            assert one != other, compilation.source.text
        grown += 1
    assert grown > 150


def test_repairs_flip_the_verdict_as_source_text() -> None:
    """Each repair makes the query bounded when written into the text; no edit of it is spare."""
    generator = random.Random(3)
    repaired = 0
    for _ in range(250):
        compilation = compiled(generator)
        plan = compilation.queries[0].plan
        if not isinstance(judge(plan, compilation.catalog), Unbounded):
            continue
        for repair in repairs(plan, compilation.catalog):
            assert _bounded(compilation, repair.edits), (compilation.source.text, repair)
            for edit in repair.edits:
                rest = tuple(e for e in repair.edits if e != edit)
                assert not _bounded(compilation, rest), (compilation.source.text, repair)
            repaired += 1
    assert repaired > 200


def test_no_smaller_repair_exists() -> None:
    """Against all subsets of all candidates, up to the size of the smallest repair that is told."""
    generator = random.Random(4)
    sizes: Counter[int] = Counter()
    for _ in range(150):
        compilation = compiled(generator)
        plan, catalog = compilation.queries[0].plan, compilation.catalog
        if not isinstance(judge(plan, catalog), Unbounded):
            continue
        told = repairs(plan, catalog)
        pool = _pool(plan, catalog)
        size = min((len(repair.edits) for repair in told), default=3)
        for smaller in range(size):
            for edits in combinations(sorted(pool, key=str), smaller):
                assert not _repaired(plan, catalog, edits), (compilation.source.text, edits)
        sizes[size] += 1
    assert sizes[1] > 20
    assert sizes[2] > 5


def _pool(plan: Plan, catalog: Catalog) -> set[Edit]:
    """All candidates, also those that come up after one edit."""
    pool: set[Edit] = set()
    for edits in ((), *(((e,)) for e in _candidates(plan, catalog, ()))):
        pool |= _candidates(plan, catalog, edits)
    return pool


def _candidates(plan: Plan, catalog: Catalog, edits: tuple[Edit, ...]) -> set[Edit]:
    changed, declared = edited(plan, catalog, edits)
    found = judge(changed, declared)
    if not isinstance(found, Unbounded):
        return set()
    return {
        edit
        for violation in found.violations
        for edit in candidates(changed, declared, found.case, violation)
    }


def _repaired(plan: Plan, catalog: Catalog, edits: tuple[Edit, ...]) -> bool:
    found = judge(*edited(plan, catalog, edits))
    return isinstance(found, Bounded) and not found.empty


def test_one_bound_repairs_a_chain_of_equal_columns() -> None:
    """However many streams: one CHECK bounds them all."""
    count = 12
    streams = "".join(f"CREATE STREAM s{i} (a{i} INT);" for i in range(count))
    tables = ", ".join(f"s{i}" for i in range(count))
    equal = " AND ".join(f"a{i} = a{i + 1}" for i in range(count - 1))
    compilation = compile_program(f"{streams} SELECT ISTREAM(a0) FROM {tables} WHERE {equal};")
    found = repairs(compilation.require().queries[0].plan, compilation.catalog)
    assert next(str(repair) for repair in found) == "declare CHECK (a0 >= 0 AND a0 <= 999) for s0"


def _bounded(compilation: Compilation, edits: Any) -> bool:
    again = compile_program(applied(edits, compilation.source)).require()
    return isinstance(judge(again.queries[0].plan, again.catalog), Bounded)
