"""Joins with known answers: examples of Li et al. (2006), corrected where misprinted, and others.

Numbers follow the list of examples this project was specified with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

from cqlc.analysis import punctuation
from cqlc.analysis.punctuation import JoinPlan, JoinQuery, Safety
from tests.analysis.punctuation.brute_force import Tree, text, trees
from tests.analysis.punctuation.queries import query

TRIANGLE = "S1.B=S2.B S2.C=S3.C S3.A=S1.A"
CHAIN = "S1.B=S2.B S2.C=S3.C"
THREE = "S1 S2 S3"
FOUR = "S1 S2 S3 S4"
AUCTION = "item.itemid=bid.itemid"
STAR = "F.A=D1.A F.B=D2.B F.C=D3.C"
SHARED = "S1.K=S2.K S2.K=S3.K S3.K=S4.K"
RING = "S1.A=S2.A S2.B=S3.B S3.C=S4.C S4.D=S1.D"
BRIDGED = "S1.A=S2.A S3.B=S4.B S3.C=S1.C S3.D=S2.D S1.E=S4.E"
NESTED = "S1.A=S2.A S3.P=S1.P S3.Q=S2.Q S4.Y=S2.Y S4.Z=S3.Z S1.X=S3.U S4.W=S1.X"
SNOWFLAKE = "F.A=D1.A D1.C=E1.C F.B=D2.B"


@dataclass(frozen=True)
class Vector:
    """A join and what is known about it; what is None is not checked."""

    streams: str
    predicates: str
    schemes: str
    purgeable: str
    plans: tuple[int, int] | None = None
    trees: tuple[str, ...] | None = None
    nodes: str | None = None
    """The nodes left in the transformed graph."""
    rounds: int | None = None
    edges: str | None = None
    """The edges of the punctuation graph, as `S>T`."""
    reach: tuple[str, ...] = ()
    fewest: int | None = None
    """The size of the smallest set of schemes that keeps the join safe."""
    ways: int | None = None
    useless: str | None = None
    missing: tuple[str, ...] = ()
    repair: str | None = None
    """The smallest repairs, alternatives separated by `|`."""
    strict: bool | None = None
    plan: str | None = None

    def query(self, api: ModuleType = punctuation) -> JoinQuery:
        """The join."""
        return query(self.streams, self.predicates, self.schemes, api)


VECTORS: dict[str, Vector] = {
    "PS-1": Vector(
        "item bid", AUCTION, "bid{itemid}", "item", missing=("bid: item",), repair="item(itemid)"
    ),
    "PS-2": Vector(
        "item bid", AUCTION, "bid{itemid} item{itemid}", "item bid", (1, 1), strict=True
    ),
    "PS-3": Vector(
        "item bid", AUCTION, "bid{bidderid} item{itemid}", "bid", useless="bid(bidderid)"
    ),
    "PS-5": Vector(
        THREE,
        TRIANGLE,
        "S1{B} S2{C} S3{A}",
        THREE,
        (1, 4),
        ("(S1 S2 S3)",),
        edges="S2>S1 S3>S2 S1>S3",
        rounds=1,
        strict=False,
        plan="(S1 S2 S3)",
    ),
    "PS-6": Vector(THREE, TRIANGLE, "S1{B} S2{C} S3{C}", "S2 S3", reach=("S1: S1",)),
    "PS-7": Vector(
        THREE, TRIANGLE, "S1{B} S2{B} S3{A,C}", "S1 S2", nodes="S1+S2 S3", reach=("S3: S3",)
    ),
    "PS-8": Vector(
        THREE,
        TRIANGLE,
        "S1{B} S1{A} S2{B} S3{A,C}",
        THREE,
        (2, 4),
        ("(S1 S2 S3)", "((S1 S2) S3)"),
        edges="S1>S2 S2>S1 S3>S1",
        rounds=2,
        fewest=4,
        strict=False,
        plan="((S1 S2) S3)",
    ),
    "PS-9": Vector(
        THREE,
        TRIANGLE,
        "S1{B} S2{C} S2{B} S3{A,C}",
        THREE,
        (2, 4),
        ("(S1 S2 S3)", "((S1 S2) S3)"),
    ),
    "PS-10": Vector(THREE, CHAIN, "S2{B} S3{C}", "S1"),
    "PS-12": Vector(THREE, TRIANGLE, "S2{B} S2{C} S3{A} S3{C}", "S1"),
    "PS-13": Vector("S1 S2", "S1.A=S2.A S1.B=S2.B", "S1{A,B} S2{A,B}", "S1 S2", rounds=1),
    "PS-14": Vector("S1 S2", "S1.A=S2.A S1.B=S2.B", "S1{B} S2{A}", "S1 S2"),
    "PS-15": Vector("S1 S2", "S1.A=S2.A", "S1{A} S2{A,C}", "S2", useless="S2(A, C)"),
    "PS-16": Vector(
        THREE,
        "S1.A=S2.A S2.A=S3.A S2.C=S3.C",
        "S3{A} S2{C} S1{A}",
        THREE,
        (3, 4),
        ("(S1 S2 S3)", "((S1 S3) S2)", "(S1 (S2 S3))"),
    ),
    "PS-17": Vector(
        THREE,
        CHAIN,
        "S1{B} S2{B} S2{C} S3{C}",
        THREE,
        (3, 4),
        ("(S1 S2 S3)", "((S1 S2) S3)", "(S1 (S2 S3))"),
        fewest=4,
        strict=True,
    ),
    "PS-18": Vector(
        THREE, CHAIN, "S1{B} S2{B} S3{C}", "S1 S2", missing=("S3: S1 S2",), repair="S2(C)"
    ),
    "PS-19": Vector(THREE, CHAIN, "S1{B} S2{B,C} S3{C}", "S2"),
    "PS-20": Vector(
        "F D1 D2 D3",
        STAR,
        "F{A} F{B} F{C} D1{A} D2{B} D3{C}",
        "F D1 D2 D3",
        (13, 26),
        fewest=6,
    ),
    "PS-21": Vector("F D1 D2 D3", STAR, "F{A,B,C} D1{A} D2{B} D3{C}", "F"),
    "PS-22": Vector(
        FOUR,
        SHARED,
        "S1{K} S2{K} S3{K} S4{K}",
        FOUR,
        (26, 26),
        fewest=4,
        strict=True,
        plan="(S1 S2 S3 S4)",
    ),
    "PS-23": Vector(FOUR, SHARED, "S1{K}", ""),
    "PS-24": Vector(THREE, "S1.K=S2.K S2.K=S3.K", "S1{K} S2{K}", "S3", nodes="S1+S2 S3"),
    "PS-25": Vector(FOUR, RING, "S2{A} S3{B} S4{C} S1{D}", FOUR, (1, 26), ("(S1 S2 S3 S4)",)),
    "PS-26": Vector(
        FOUR,
        RING,
        "S2{A} S3{B} S4{C} S1{D} S1{A} S2{B} S3{C} S4{D}",
        FOUR,
        (19, 26),
        fewest=4,
        ways=2,
        strict=True,
    ),
    "PS-27": Vector(
        FOUR,
        RING,
        "S2{A} S3{B} S4{C}",
        "S1",
        reach=("S2: S2 S3 S4", "S3: S3 S4", "S4: S4"),
    ),
    "PS-28": Vector(
        FOUR,
        BRIDGED,
        "S1{A} S2{A} S3{B} S4{B} S3{C,D} S1{E}",
        FOUR,
        (4, 26),
        ("(S1 S2 S3 S4)", "((S1 S2) S3 S4)", "((S3 S4) S1 S2)", "((S1 S2) (S3 S4))"),
        rounds=2,
        fewest=5,
        ways=1,
    ),
    "PS-29": Vector(FOUR, BRIDGED, "S1{A} S2{A} S3{B} S4{B} S3{C,D}", "S1 S2"),
    "PS-30": Vector(
        FOUR,
        NESTED,
        "S1{A} S2{A} S3{P,Q} S1{X} S4{Y,Z}",
        FOUR,
        (4, 26),
        ("(S1 S2 S3 S4)", "((S1 S2) S3 S4)", "((S1 S2 S3) S4)", "(((S1 S2) S3) S4)"),
        rounds=3,
    ),
    "PS-31 composite": Vector(
        FOUR,
        "S3.A=S1.A S3.A=S4.A S3.C=S2.C",
        "S3{A,C} S1{A} S4{A} S2{C}",
        "S3",
        nodes="S1+S4 S2 S3",
        reach=("S1: S1 S4",),
    ),
    "PS-31 simple": Vector(
        FOUR,
        "S3.A=S1.A S3.A=S4.A S3.C=S2.C",
        "S3{A} S3{C} S1{A} S4{A} S2{C}",
        FOUR,
        (16, 26),
        fewest=5,
    ),
    "PS-32": Vector("S1 S2", "S1.A=S2.A S1.B=S2.A", "S1{A,B} S2{A}", "S1 S2", rounds=1),
    "PS-34": Vector("S1 S2", "S1.A=S2.A", "", "", repair="S1(A) S2(A)"),
    "PS-35": Vector("S1", "", "", "S1", plan="S1"),
    "PS-36": Vector(
        THREE, TRIANGLE, "S1{B} S2{C} S3{A} S3{A,C}", THREE, (1, 4), useless="S3(A, C)"
    ),
    "PS-37": Vector(
        FOUR,
        "S1.A=S2.A S3.B=S4.B",
        "S1{A} S2{A} S3{B} S4{B}",
        "",
        nodes="S1+S2 S3+S4",
        repair="",
    ),
    "PS-38 one": Vector("e1:E e2:E", "e1.A=e2.B", "E{A}", "e2", repair="E(B)"),
    "PS-38 both": Vector("e1:E e2:E", "e1.A=e2.B", "E{A} E{B}", "e1 e2"),
    "PS-39 simple": Vector(
        "F D1 E1 D2",
        SNOWFLAKE,
        "F{A} F{B} D1{A} D1{C} E1{C} D2{B}",
        "F D1 E1 D2",
        (11, 26),
        fewest=6,
    ),
    "PS-39 composite": Vector(
        "F D1 E1 D2", SNOWFLAKE, "F{A,B} D1{A} D1{C} E1{C} D2{B}", "F", nodes="D1+E1 D2 F"
    ),
    "expiring input": Vector("S W~ Y", "S.A=W.A S.B=Y.B", "", "W", repair="S(B) W(A)"),
    "two inputs, one scheme": Vector(
        "e1:E e2:E X",
        "e1.A=X.K e1.C=X.K e2.B=X.L e2.C=X.L",
        "X{K} X{L}",
        "",
        repair="E(C)",
    ),
    "PS-40": Vector(THREE, TRIANGLE, "S1{A} S2{B} S3{C}", THREE, (1, 4)),
}


def verify(vector: Vector, api: ModuleType = punctuation) -> None:
    """Compares everything known about a join with what the analysis says."""
    asked = vector.query(api)
    found: Safety = api.check(asked)
    names = {s.name for s in asked.streams}
    assert names - set(found.stuck) == set(vector.purgeable.split())
    safe = names == set(vector.purgeable.split())
    assert found.verdict is (api.Verdict.SAFE if safe else api.Verdict.UNSAFE)
    assert (len(found.transformed.nodes) == 1) is safe
    assert (found.plan is not None) is safe
    for check in _CHECKS:
        check(vector, found, api)


def _check_plans(vector: Vector, found: Safety, api: ModuleType) -> None:
    everything = trees(tuple(s.name for s in found.query.streams))
    safe = [t for t in everything if api.is_safe(found.graph, plan(t, found, api))]
    if vector.plans is not None:
        assert (len(safe), len(everything)) == vector.plans
    if vector.trees is not None:
        assert {text(t) for t in safe} == {_sorted(t) for t in vector.trees}
    if vector.plan is not None:
        assert str(found.plan) == vector.plan
    if found.plan is not None:
        assert api.is_safe(found.graph, found.plan)


def _check_transformed(vector: Vector, found: Safety, api: ModuleType) -> None:
    graph, merged = found.graph, found.transformed
    if vector.nodes is not None:
        assert {"+".join(sorted(graph.names(n))) for n in merged.nodes} == set(vector.nodes.split())
    if vector.rounds is not None:
        assert len(merged.rounds) == vector.rounds
    if vector.edges is not None:
        first = merged.rounds[0]
        edges = {
            f"{''.join(graph.names(first.nodes[e.origin]))}>"
            f"{''.join(graph.names(first.nodes[e.target]))}"
            for e in first.edges
        }
        assert edges == set(vector.edges.split())


def _check_reach(vector: Vector, found: Safety, api: ModuleType) -> None:
    graph = found.graph
    index = {s.name: 1 << i for i, s in enumerate(found.query.streams)}
    for line in vector.reach:
        start, _, reached = line.partition(": ")
        assert set(graph.names(api.reach(graph, index[start], graph.blocks).streams)) == set(
            reached.split()
        )
    stuck = {s.streams[0]: s.missing for s in found.streams if s.missing}
    for line in vector.missing:
        start, _, missing = line.partition(": ")
        assert set(stuck[start]) == set(missing.split())


def _check_schemes(vector: Vector, found: Safety, api: ModuleType) -> None:
    if vector.useless is not None:
        assert [str(u.scheme) for u in found.useless] == [vector.useless]
    if vector.fewest is not None:
        fewest = api.needed_schemes(found.query)
        assert {len(s) for s in fewest.sets} == {vector.fewest}
        assert fewest.smallest
        assert len(found.needed) == vector.fewest
        if vector.ways is not None:
            assert len(fewest.sets) == vector.ways
    if vector.repair is not None:
        options = {" ".join(map(str, o.schemes)) for o in found.repairs.options}
        assert options == set(filter(None, vector.repair.split("|")))
        assert found.repairs.smallest
    if vector.strict is not None:
        assert api.is_strict(found.retirements) is vector.strict


_CHECKS: tuple[Callable[[Vector, Safety, ModuleType], None], ...] = (
    _check_plans,
    _check_transformed,
    _check_reach,
    _check_schemes,
)


def plan(tree: Tree, found: Safety, api: ModuleType = punctuation) -> JoinPlan:
    """A tree as a plan of the checker."""
    if isinstance(tree, str):
        return api.Leaf((tree,))
    return api.Operator(tuple(plan(child, found, api) for child in tree), ())


def _sorted(written: str) -> str:
    tree: Tree = _parsed(written.replace("(", " ( ").replace(")", " ) ").split())
    return text(tree)


def _parsed(tokens: list[str]) -> Tree:
    token = tokens.pop(0)
    if token != "(":
        return token
    children: list[Tree] = []
    while tokens[0] != ")":
        children.append(_parsed(tokens))
    tokens.pop(0)
    return tuple(children)
