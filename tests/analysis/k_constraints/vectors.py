"""Runs of the execution model with known states: examples of the paper, and others.

Numbers follow the list of examples this project was specified with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import ModuleType

from cqlc.analysis import k_constraints
from tests.analysis.k_constraints.graphs import graph
from tests.analysis.k_constraints.simulator import KMon, Row, Values

FORK = ("S1 S2(A) S3(B)", "S1.A=S2.A S1.B=S3.B")
"""S1(A,B) joins S2(A,C) and S3(B,D), with the filter D < 8."""
TWO_ROOTS = ("S1 S2 S3(A)", "S1.A=S3.A S2.A=S3.A")
CHAIN = ("S1 S2(B) S3(C)", "S1.B=S2.B S2.C=S3.C")

COLUMNS = {
    "fork": {"S1": "A B", "S2": "A C", "S3": "B D"},
    "chain": {"S1": "A B", "S2": "B C", "S3": "C D"},
    "pair": {"S1": "A", "S2": "A D"},
    "keys": {"S1": "A", "S3": "A"},
    "roots": {"S1": "A x", "S2": "A y", "S3": "A D"},
    "diamond": {"S1": "A B", "S2": "A D", "S3": "B E", "S4": "D E"},
    "both": {"S1": "A B", "S2": "A", "S3": "B"},
    "apart": {"S1": "A B", "S2": "B", "S3": "A", "S4": "B"},
    "packets": {"C": "pid", "B": "pid", "O": "pid"},
}

PRE = "S2 6 20; S2 4 15; S3 5 3; S3 7 9; S3 10 12; "


@dataclass(frozen=True)
class Run:
    """Arrivals, and what is known of results and states at the end; states not named are empty."""

    streams: str
    joins: str
    columns: str
    constraints: str
    arrivals: str
    results: Sequence[str] = ()
    yes: dict[str, str] = field(default_factory=dict)
    no: dict[str, str] = field(default_factory=dict)
    unknown: dict[str, str] = field(default_factory=dict)
    filters: dict[str, Callable[[Values], bool]] = field(default_factory=dict)

    def play(self, api: ModuleType = k_constraints, upto: int | None = None) -> KMon:
        """The machine after the arrivals, or after the first `upto` of them."""
        filtered = " ".join(self.filters)
        shape = graph(self.streams, self.joins, self.constraints, api, filtered)
        machine = KMon(api.maintenance(shape), self.filters)
        for arrival in self.arrivals.split(";")[:upto]:
            stream, *values = arrival.split()
            columns = COLUMNS[self.columns][stream].split()
            machine.arrive(stream, dict(zip(columns, map(int, values), strict=True)))
        return machine


def shown(rows: Sequence[Row]) -> str:
    """Stored rows as `6,20 4,15`, sorted."""
    return " ".join(sorted(",".join(map(str, row.values.values())) for row in rows))


def verify(run: Run, api: ModuleType = k_constraints) -> None:
    """Compares results and states with what is known."""
    machine = run.play(api)
    found = [
        " ".join(f"{n}:{shown([r])}" for n, r in sorted(result.items()))
        for result in machine.results
    ]
    assert sorted(found) == sorted(run.results)
    for name in machine.yes:
        assert shown(machine.yes[name]) == _sorted(run.yes.get(name, "")), f"{name}.Yes"
        assert shown(machine.no[name]) == _sorted(run.no.get(name, "")), f"{name}.No"
        assert shown(machine.unknown[name]) == _sorted(run.unknown.get(name, "")), f"{name}.Unknown"


def _sorted(text: str) -> str:
    return " ".join(sorted(text.split()))


def _below_8(values: Values) -> bool:
    return values["D"] < 8


def _above_10(values: Values) -> bool:
    return values["D"] > 10


FILTER = {"S3": _below_8}


def fork(constraints: str, arrivals: str, **known: object) -> Run:
    return Run(*FORK, "fork", constraints, PRE + arrivals, filters=FILTER, **known)  # type: ignore[arg-type]


S2_BOTH = {"S2": "6,20 4,15", "S3": "5,3"}
S3_FAILED = {"S3": "7,9 10,12"}

RUNS: dict[str, Run] = {
    "KC-1": fork(
        "", "S1 6 5; S1 8 10", results=["S1:6,5 S2:6,20 S3:5,3"], yes=S2_BOTH, no=S3_FAILED
    ),
    "KC-2": Run(
        *CHAIN,
        "chain",
        "",
        "S2 2 4; S1 1 2; S3 4 12",
        ["S1:1,2 S2:2,4 S3:4,12"],
        yes={"S2": "2,4", "S3": "4,12"},
        filters={"S3": _above_10},
    ),
    "KC-3 waits": fork("RIDS(1):S1>S3.B", "S1 4 10", yes=S2_BOTH, unknown={"S1": "4,10"}),
    "KC-3": fork(
        "RIDS(1):S1>S3.B",
        "S1 4 10; S3 99 1",
        yes={"S2": "6,20 4,15", "S3": "5,3 99,1"},
    ),
    "KC-4": fork("RIDS(0):S1>S3.B", "S1 4 10", yes=S2_BOTH),
    "KC-5": fork(
        "CA(1):S1.B",
        "S1 6 5; S1 8 8; S1 4 5; S1 11 10",
        results=["S1:6,5 S2:6,20 S3:5,3", "S1:4,5 S2:4,15 S3:5,3"],
        yes={"S2": "6,20 4,15"},
        no=S3_FAILED,
        unknown={"S1": "8,8"},
    ),
    "KC-5 third": fork(
        "CA(1):S1.B",
        "S1 6 5; S1 8 8; S1 4 5",
        results=["S1:6,5 S2:6,20 S3:5,3", "S1:4,5 S2:4,15 S3:5,3"],
        yes=S2_BOTH,
        no=S3_FAILED,
        unknown={"S1": "8,8"},
    ),
    "KC-6": Run(
        *FORK,
        "fork",
        "OA(2):S3.B",
        "S2 6 20; S2 4 15; S3 7 9; S3 5 3; S3 10 12; S1 6 4; S1 6 8",
        yes=S2_BOTH,
        unknown={"S1": "6,8"},
        filters=FILTER,
    ),
    "KC-8 CA": fork(
        "CA(0):S1.A",
        "S1 4 5; S1 6 8; S1 3 13",
        results=["S1:4,5 S2:4,15 S3:5,3"],
        yes={"S2": "6,20", "S3": "5,3"},
        no=S3_FAILED,
        unknown={"S1": "6,8 3,13"},
    ),
    "KC-8 OAC": fork(
        "OA(0):S3.B",
        "S1 4 5; S1 6 8; S1 3 13",
        results=["S1:4,5 S2:4,15 S3:5,3"],
        yes=S2_BOTH,
        unknown={"S1": "3,13"},
    ),
    "KC-8 both": fork(
        "CA(0):S1.A OA(0):S3.B",
        "S1 4 5; S1 6 8; S1 3 13",
        results=["S1:4,5 S2:4,15 S3:5,3"],
        yes={"S3": "5,3"},
        unknown={"S1": "3,13"},
    ),
    "KC-9 CA": fork(
        "CA(0):S1.B",
        "S1 6 10; S1 4 10; S1 8 8",
        yes=S2_BOTH,
        no={"S3": "7,9"},
        unknown={"S1": "8,8"},
    ),
    "KC-9 with RIDS": fork(
        "CA(0):S1.B RIDS(3):S1>S3.B",
        "S1 6 10; S1 4 10; S1 8 8; S3 70 1; S3 71 1",
        yes={"S2": "6,20 4,15", "S3": "5,3 70,1 71,1"},
        unknown={"S1": "6,10 4,10 8,8"},
    ),
    "KC-9 with RIDS, later": fork(
        "CA(0):S1.B RIDS(3):S1>S3.B",
        "S1 6 10; S1 4 10; S1 8 8; S3 70 1; S3 71 1; S3 72 1",
        yes={"S2": "6,20 4,15", "S3": "5,3 70,1 71,1 72,1"},
    ),
    "KC-10": Run(
        "S1 S2(A) S3(B) S4(D)(E)",
        "S1.A=S2.A S1.B=S3.B S2.D=S4.D S3.E=S4.E",
        "diamond",
        "",
        "S4 5 50; S4 6 60; S2 3 5; S3 4 60; S1 3 4",
        yes={"S2": "3,5", "S3": "4,60", "S4": "5,50 6,60"},
    ),
    "KC-13": Run(
        "S1 S2(A)",
        "S1.A=S2.A",
        "pair",
        "",
        "S1 1; S2 1 5; S1 1; S2 2 20; S1 2; S1 3",
        ["S1:2 S2:2,20"],
        yes={"S2": "2,20"},
        no={"S2": "1,5"},
        unknown={"S1": "3"},
        filters={"S2": _above_10},
    ),
    "KC-15": Run(
        "S1 S2(A) S3(B)",
        "S1.A=S2.A S1.B=S3.B",
        "both",
        "RIDS(2):S1>S2.A",
        "S1 1 1; S2 9; S3 1; S2 8",
        yes={"S2": "9 8", "S3": "1"},
    ),
    "KC-16": Run(
        *CHAIN,
        "chain",
        "RIDS(1):S2>S3.C",
        "S2 2 4; S1 1 2; S3 5 0",
        yes={"S3": "5,0"},
        no={"S2": "2,4"},
    ),
    "KC-17 right": Run(
        "S1 S3(A)",
        "S1.A=S3.A",
        "keys",
        "RIDS(2):S1>S3.A",
        "S1 7; S3 1; S3 7",
        ["S1:7 S3:7"],
        yes={"S3": "1 7"},
    ),
    "KC-17 too small": Run(
        "S1 S3(A)", "S1.A=S3.A", "keys", "RIDS(1):S1>S3.A", "S1 7; S3 1; S3 7", yes={"S3": "1 7"}
    ),
    "KC-19 CA": Run(
        "S1 S3(A)",
        "S1.A=S3.A",
        "keys",
        "CA(0):S1.A",
        "S3 3; S3 4; S3 5; S1 4; S1 4; S1 5",
        ["S1:4 S3:4", "S1:4 S3:4", "S1:5 S3:5"],
        yes={"S3": "3 5"},
    ),
    "KC-19 OAP": Run(
        "S1 S3(A)",
        "S1.A=S3.A",
        "keys",
        "OA(0):S1.A",
        "S3 3; S3 4; S3 5; S1 4; S1 4; S1 5",
        ["S1:4 S3:4", "S1:4 S3:4", "S1:5 S3:5"],
        yes={"S3": "5"},
    ),
    "KC-20": Run(
        *TWO_ROOTS,
        "roots",
        "",
        "S1 1 1; S1 1 2; S3 1 0; S2 1 1; S2 1 2; S2 1 3",
        [f"S1:1,{a} S2:1,{b} S3:1,0" for a in (1, 2) for b in (1, 2, 3)],
        yes={"S1": "1,1 1,2", "S2": "1,1 1,2 1,3", "S3": "1,0"},
    ),
    "KC-21 first": Run(
        *TWO_ROOTS,
        "roots",
        "OA(1):S1.A OA(1):S2.A",
        "S3 1 0; S3 2 0; S3 3 9; S3 4 0; S1 2 0; S2 2 0; S1 3 0; S1 4 0",
        ["S1:2,0 S2:2,0 S3:2,0"],
        yes={"S1": "2,0 4,0", "S2": "2,0", "S3": "1,0 2,0 4,0"},
        no={"S3": "3,9"},
        filters=FILTER,
    ),
    "KC-21": Run(
        *TWO_ROOTS,
        "roots",
        "OA(1):S1.A OA(1):S2.A",
        "S3 1 0; S3 2 0; S3 3 9; S3 4 0; S1 2 0; S2 2 0; S1 3 0; S1 4 0; S2 4 0; S2 4 0",
        ["S1:2,0 S2:2,0 S3:2,0", "S1:4,0 S2:4,0 S3:4,0", "S1:4,0 S2:4,0 S3:4,0"],
        yes={"S1": "4,0", "S2": "4,0 4,0", "S3": "4,0"},
        no={"S3": "3,9"},
        filters=FILTER,
    ),
    "a root that is no parent": Run(
        "S1 S2 S3(A) S4(B)",
        "S1.A=S3.A S1.B=S4.B S2.B=S4.B",
        "apart",
        "OA(0):S1.A",
        "S3 1; S4 5; S1 1 5; S1 2 9; S2 5",
        ["S1:1,5 S2:5 S3:1 S4:5"],
        yes={"S1": "1,5", "S2": "5", "S3": "1", "S4": "5"},
        unknown={"S1": "2,9"},
    ),
    "children in order": Run(
        "S1 S3(A)",
        "S1.A=S3.A",
        "keys",
        "OA(0):S3.A",
        "S3 1; S3 2; S1 2; S1 1",
        ["S1:2 S3:2", "S1:1 S3:1"],
        yes={"S3": "1 2"},
    ),
    "KC-26": Run(
        "C B(pid) O(pid)",
        "C.pid=B.pid B.pid=O.pid",
        "packets",
        "RIDS(1):C>B.pid RIDS(1):B>O.pid",
        "C 1; B 1; O 1; C 2; B 3; O 9; B 4; O 8",
        ["B:1 C:1 O:1"],
        yes={"B": "1", "O": "1 9 8"},
    ),
}
