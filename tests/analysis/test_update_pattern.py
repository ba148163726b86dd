"""The annotations of section 2.5 of the thesis's rules, with the corrections E-5 and E-6."""

from __future__ import annotations

import pytest

from cqlc.algebra.expr import AggregateCall, Column, Compare, Comparison, Literal
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Except,
    Filter,
    Grid,
    Intersect,
    Istream,
    Join,
    JoinKind,
    Named,
    NamedAggregate,
    Now,
    NrrJoin,
    Plan,
    Project,
    Range,
    Relation,
    Rename,
    Rows,
    Scan,
    Table,
    Unbounded,
    Union,
)
from cqlc.algebra.schema import TIME_FIELD, Field
from cqlc.algebra.walk import inputs, subplans
from cqlc.analysis.state import Changelog, Eviction, Structure, annotate
from cqlc.analysis.update_pattern import Edge, UpdatePattern, check, update_patterns
from cqlc.catalog import Catalog, ColumnDeclaration, TableDeclaration, TableKind
from cqlc.codes import analysis as codes
from cqlc.datatypes import BIGINT, INT

MON, WKS, WK, STR = UpdatePattern
MINUTE = 60_000_000
SCHEMA = (Field("a", INT), Field("b", INT), TIME_FIELD)
CATALOG = Catalog(
    {
        "M": TableDeclaration(
            TableKind.NRR,
            "M",
            (ColumnDeclaration("a", INT), ColumnDeclaration("m", INT)),
            keys=(("a",),),
        ),
        "Loose": TableDeclaration(TableKind.NRR, "Loose", (ColumnDeclaration("a", INT),)),
        "R": TableDeclaration(
            TableKind.RELATION, "R", (ColumnDeclaration("a", INT),), keys=(("a",),)
        ),
        "Grown": TableDeclaration(
            TableKind.RELATION, "Grown", (ColumnDeclaration("a", INT),), append_only=True
        ),
    }
)


def time_window(alias: str, length: int = MINUTE, *, internal: bool = False) -> Relation:
    return Rename(Range(Scan(alias, SCHEMA), length, internal=internal), alias)


def rows_window(alias: str, rows: int = 10) -> Relation:
    return Rename(Rows(Scan(alias, SCHEMA), rows), alias)


def stream(alias: str) -> Relation:
    return Rename(Unbounded(Scan(alias, SCHEMA)), alias)


def select(relation: Relation, alias: str) -> Filter:
    return Filter(relation, Compare(Comparison.GT, Column(f"{alias}.b", INT), Literal(0, INT)))


def project(relation: Relation, alias: str) -> Project:
    return Project(relation, (Named("a", Column(f"{alias}.a", INT)),))


def equal(left: str, right: str) -> Compare:
    return Compare(Comparison.EQ, Column(f"{left}.a", INT), Column(f"{right}.a", INT))


def join(left: Relation, right: Relation, a: str, b: str, kind: JoinKind = JoinKind.INNER) -> Join:
    return Join(left, right, kind, equal(a, b))


def negation(left: Relation, right: Relation, a: str, b: str) -> Join:
    return join(left, right, a, b, JoinKind.ANTI)


def nrr_join(relation: Relation, alias: str, name: str = "M") -> NrrJoin:
    schema = tuple(Field(c.name, c.type) for c in CATALOG.tables[name].columns)
    return NrrJoin(relation, name, schema, name, JoinKind.INNER, equal(alias, name))


def maximum(relation: Relation, alias: str) -> Aggregate:
    call = AggregateCall("MAX", (Column(f"{alias}.b", INT),), INT)
    return Aggregate(relation, (), (NamedAggregate("m", call),))


W, W1, W2, W3 = (time_window(alias) for alias in ("W", "W1", "W2", "W3"))
TABLE = Rename(Table("R", (Field("a", INT),)), "R")


def labels(plan: Plan) -> dict[str, list[UpdatePattern]]:
    """The output labels of every operator's edge, by the operator's name."""
    patterns = update_patterns(plan, CATALOG)
    found: dict[str, list[UpdatePattern]] = {}
    for node in subplans(plan):
        found.setdefault(type(node).__name__, []).append(patterns[id(node)].output.pattern)
    return found


def output(plan: Plan) -> Edge:
    return update_patterns(plan, CATALOG)[id(plan)].output


def state(plan: Plan) -> Edge:
    return update_patterns(plan, CATALOG)[id(plan)].state


S3_BELOW = join(negation(W1, W3, "W1", "W3"), select(W2, "W2"), "W1", "W2")
S3_ABOVE = negation(join(select(W1, "W1"), select(W2, "W2"), "W1", "W2"), W3, "W1", "W3")

VECTORS: dict[str, tuple[Plan, dict[str, list[UpdatePattern]]]] = {
    "A-1": (select(W, "W"), {"Range": [WKS], "Filter": [WKS]}),
    "A-2": (project(W, "W"), {"Range": [WKS], "Project": [WKS]}),
    "A-3": (Union(W1, W2), {"Range": [WKS, WKS], "Union": [WKS]}),
    "A-4": (join(W1, W2, "W1", "W2"), {"Range": [WKS, WKS], "Join": [WK]}),
    "A-5": (Distinct(W), {"Range": [WKS], "Distinct": [WK]}),
    "A-6": (maximum(W, "W"), {"Range": [WKS], "Aggregate": [STR]}),
    "A-7": (Except(W1, W2), {"Range": [WKS, WKS], "Except": [STR]}),
    "A-8": (select(rows_window("W"), "W"), {"Rows": [STR], "Filter": [STR]}),
    "A-9": (join(W, TABLE, "W", "R"), {"Range": [WKS], "Join": [STR]}),
    "A-10": (nrr_join(stream("S"), "S"), {"Unbounded": [MON], "NrrJoin": [MON]}),
    "A-11": (nrr_join(W, "W"), {"Range": [WKS], "NrrJoin": [WKS]}),
    "A-12": (
        nrr_join(join(W1, W2, "W1", "W2"), "W1"),
        {"Range": [WKS, WKS], "Join": [WK], "NrrJoin": [WK]},
    ),
    "A-14": (S3_ABOVE, {"Range": [WKS] * 3, "Filter": [WKS, WKS], "Join": [WK, STR]}),
    "A-15": (S3_BELOW, {"Range": [WKS] * 3, "Filter": [WKS], "Join": [STR, STR]}),
    "A-16": (
        join(select(W1, "W1"), select(W2, "W2"), "W1", "W2"),
        {"Range": [WKS, WKS], "Filter": [WKS, WKS], "Join": [WK]},
    ),
    "A-17": (Distinct(project(W, "W")), {"Range": [WKS], "Distinct": [WK]}),
    "A-18": (negation(W1, W2, "W1", "W2"), {"Range": [WKS, WKS], "Join": [STR]}),
    "A-19": (maximum(W, "W"), {"Range": [WKS], "Aggregate": [STR]}),
    "A-20": (
        maximum(join(W1, W2, "W1", "W2"), "W1"),
        {"Range": [WKS, WKS], "Join": [WK], "Aggregate": [STR]},
    ),
    "A-21 current maximum": (maximum(stream("S"), "S"), {"Aggregate": [STR]}),
    "A-21 stream of maxima": (
        Unbounded(Istream(maximum(stream("S"), "S"))),
        {"Aggregate": [STR], "Istream": [MON], "Unbounded": [MON, MON]},
    ),
    "A-23": (Distinct(join(W1, W2, "W1", "W2")), {"Join": [WK], "Distinct": [WK]}),
    "A-24": (Distinct(negation(W1, W2, "W1", "W2")), {"Join": [STR], "Distinct": [STR]}),
    "A-25": (
        Union(project(join(W1, W2, "W1", "W2"), "W1"), project(W3, "W3")),
        {"Join": [WK], "Union": [WK]},
    ),
    "A-26": (
        Union(project(negation(W1, W2, "W1", "W2"), "W1"), project(W3, "W3")),
        {"Join": [STR], "Union": [STR]},
    ),
    "A-27": (
        join(rows_window("W1"), W2, "W1", "W2"),
        {"Rows": [STR], "Range": [WKS], "Join": [STR]},
    ),
    "TV-42": (Union(time_window("W1", 10), time_window("W2", 3)), {"Union": [WK]}),
    "TV-43": (
        join(time_window("W1", 10), time_window("W2", 10, internal=True), "W1", "W2"),
        {"Range": [WKS, MON], "Join": [WK]},
    ),
    "intersection of windows": (Intersect(W1, W2), {"Intersect": [WK]}),
    "outer join": (join(W1, W2, "W1", "W2", JoinKind.LEFT), {"Join": [STR]}),
    "streams only": (
        Distinct(join(stream("S"), stream("T"), "S", "T")),
        {"Join": [MON], "Distinct": [MON]},
    ),
    "stream beside window": (Union(stream("S"), W), {"Union": [WK]}),
    "append-only relation": (
        join(stream("S"), Rename(Table("Grown", (Field("a", INT),)), "G"), "S", "G"),
        {"Table": [MON], "Join": [MON]},
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_labels(name: str) -> None:
    plan, expected = VECTORS[name]
    found = labels(plan)
    assert {operator: found[operator] for operator in expected} == expected


def test_lifetimes_of_weakest_edges() -> None:
    assert output(select(W, "W")) == Edge(WKS, MINUTE)
    assert output(Union(W1, W2)) == Edge(WKS, MINUTE)
    assert output(Union(time_window("W1", 10), time_window("W2", 3))).lifetime == 10
    assert output(join(time_window("W1", 10), time_window("W2", 3), "W1", "W2")).lifetime == 3
    assert output(Union(stream("S"), W)).lifetime is None


def test_internal_windows_have_two_annotations() -> None:
    """A-22: three internal windows joined over a stored intermediate result."""
    s1, s2, s3 = (time_window(alias, internal=True) for alias in ("S1", "S2", "S3"))
    inner = join(s1, s2, "S1", "S2")
    plan = join(inner, s3, "S1", "S3")
    patterns = update_patterns(plan, CATALOG)
    assert patterns[id(inner)].state.pattern is WK
    assert patterns[id(plan)].output.pattern is MON
    assert annotate(plan, CATALOG)[id(plan)].buffers[0].structure is Structure.CALENDAR


def test_output_window_over_internal_windows() -> None:
    """A-28: Wstream(*)[ROWS 10] over a window join."""
    inner = join(time_window("S1", internal=True), time_window("S2", internal=True), "S1", "S2")
    plan = Rows(Istream(inner), 10)
    assert state(inner).pattern is WK
    assert output(inner).pattern is MON
    assert output(plan).pattern is STR


def test_nested_output_window() -> None:
    """A-29 and A-30: SUM over the last ten sums of six-second chunks."""
    chunk = Range(Scan("S", SCHEMA), 6_000_000, Grid(6_000_000))
    inner = maximum(Rename(chunk, "S"), "S")
    block = Unbounded(Istream(inner))
    last = Rename(Rows(Istream(inner), 10), "T")
    outer = Aggregate(
        last, (), (NamedAggregate("s", AggregateCall("SUM", (Column("T.m", INT),), BIGINT)),)
    )
    assert output(block).pattern is MON
    assert output(last).pattern is STR
    assert output(outer).pattern is STR


def test_negation_below_an_nrr_join_is_illegal() -> None:
    """A-13 and TV-44; the same query with the negation above is legal."""
    illegal = nrr_join(negation(W1, W2, "W1", "W2"), "W1")
    legal = negation(nrr_join(W1, "W1"), W2, "W1", "W2")
    assert [d.code for d in check(illegal, CATALOG)] == [codes.NRR_JOIN_OVER_STRICT]
    assert check(legal, CATALOG) == ()
    assert output(legal).pattern is STR


def test_nrr_join_over_a_rows_window_is_illegal() -> None:
    """E-11."""
    plan = nrr_join(rows_window("W"), "W")
    assert [d.code for d in check(plan, CATALOG)] == [codes.NRR_JOIN_OVER_STRICT]


def test_nrr_without_key_is_noticed() -> None:
    plan = nrr_join(W, "W", "Loose")
    assert [d.code for d in check(plan, CATALOG)] == [codes.NRR_WITHOUT_KEY]


def test_relation_join_over_strict_input_is_noted() -> None:
    assert [d.code for d in check(join(rows_window("W"), TABLE, "W", "R"), CATALOG)] == [
        codes.RELATION_JOIN_OVER_STRICT
    ]
    assert check(join(W, TABLE, "W", "R"), CATALOG) == ()


def test_pattern_belongs_to_the_plan() -> None:
    """TV-45: an equivalent plan without the negation has a simpler pattern."""
    never = Filter(W2, Literal(False, INT))
    with_negation = negation(W1, never, "W1", "W2")
    assert output(with_negation).pattern is STR
    assert output(W1).pattern is WKS


def test_strict_edges_of_negation_up_and_down() -> None:
    """TV-46: only the edges above the negation carry deletions."""

    def strict(plan: Plan) -> list[str]:
        patterns = update_patterns(plan, CATALOG)
        nodes = [n for n in subplans(plan) if patterns[id(n)].output.pattern is STR]
        return [n.kind.value for n in nodes if isinstance(n, Join)]

    assert strict(S3_ABOVE) == ["ANTI"]
    assert strict(S3_BELOW) == ["ANTI", "INNER"]


@pytest.mark.parametrize("name", VECTORS)
def test_patterns_never_decrease_upwards(name: str) -> None:
    plan, _ = VECTORS[name]
    patterns = update_patterns(plan, CATALOG)
    for node in subplans(plan):
        if isinstance(node, Istream):
            continue
        for child in inputs(node):
            assert patterns[id(node)].output.pattern >= patterns[id(child)].output.pattern


def test_grids_make_strict_operators_weakest() -> None:
    """On a grid a result holds for one period, however long the window is."""
    grid = Grid(10)
    window = Rename(Range(Scan("S", SCHEMA), 60, grid), "S")
    assert output(window) == Edge(WKS, 60, grid)
    assert output(maximum(window, "S")) == Edge(WKS, 10, grid)
    assert output(Rename(Range(Scan("S", SCHEMA), 65, grid), "S")) == Edge(WK, 75, grid)
    other = Rename(Range(Scan("T", SCHEMA), 60, Grid(20)), "T")
    assert output(negation(window, other, "S", "T")).pattern is STR


def test_instants_make_strict_operators_weakest() -> None:
    now = Rename(Now(Scan("S", SCHEMA)), "S")
    assert output(maximum(now, "S")) == Edge(WKS, 1, Grid(1))
    assert output(join(now, W, "S", "W")) == Edge(WKS, 1, Grid(1))
    assert output(negation(now, W, "S", "W")).pattern is STR
    assert update_patterns(now, CATALOG, tick=1000)[id(now)].output == Edge(WKS, 1000, Grid(1000))


def test_state_structures() -> None:
    def buffers(plan: Plan) -> list[tuple[Structure, Eviction]]:
        found = annotate(plan, CATALOG)[id(plan)].buffers
        return [(b.structure, b.eviction) for b in found]

    fifo = (Structure.FIFO, Eviction.AGE)
    calendar = (Structure.CALENDAR, Eviction.EXPIRY)
    assert buffers(join(W1, W2, "W1", "W2")) == [fifo, fifo]
    assert buffers(S3_ABOVE) == [calendar, fifo]
    assert buffers(S3_BELOW)[0] == (Structure.HASH, Eviction.DELETION)
    assert buffers(maximum(W, "W"))[0] == fifo
    assert buffers(maximum(join(W1, W2, "W1", "W2"), "W1"))[0] == calendar
    assert buffers(Distinct(W)) == [calendar, (Structure.HASH, Eviction.EXPIRY)]
    assert buffers(Distinct(negation(W1, W2, "W1", "W2"))) == [
        (Structure.GROUPS, Eviction.DELETION)
    ]
    assert buffers(join(stream("S"), stream("T"), "S", "T"))[0] == (
        Structure.HASH,
        Eviction.NEVER,
    )
    assert buffers(select(W, "W")) == []


def test_changelogs_and_upsert_keys() -> None:
    def log(plan: Plan) -> tuple[Changelog, frozenset[str] | None]:
        found = annotate(plan, CATALOG)[id(plan)]
        return found.changelog, found.key

    grouped = Aggregate(W, (Named("k", Column("W.a", INT)),), maximum(W, "W").aggregates)
    assert log(grouped) == (Changelog.UPSERT, frozenset({"k"}))
    assert log(maximum(W, "W")) == (Changelog.UPSERT, frozenset())
    assert log(Distinct(project(W, "W"))) == (Changelog.EXPIRING, frozenset({"a"}))
    assert log(stream("S")) == (Changelog.APPEND, None)
    assert log(negation(W1, W2, "W1", "W2")) == (Changelog.RETRACT, None)
    assert log(TABLE) == (Changelog.UPSERT, frozenset({"R.a"}))
    assert log(join(W, TABLE, "W", "R")) == (Changelog.RETRACT, None)
