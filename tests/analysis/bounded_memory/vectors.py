"""The hundred vectors: queries with their verdicts, what is violated, and how much is kept.

BM-P are queries of the article and of the authors' talk, BM-D others of the same shapes that turn
on one thing each, BM-J self-joins. Where BM-D64 and BM-D65 differ from the printed condition for
MIN and MAX, the printed one lets through queries that reveal any subset of the input.

The verdicts are given with the queries. The violated conditions and the sizes are recorded from
a run of the analysis: they notice a change, and prove nothing. That a synopsis of this size is
enough is what `test_synopsis` is for.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

from cqlc.analysis import bounded_memory
from tests.analysis.bounded_memory.text import Builder


@dataclass(frozen=True)
class Asked:
    """What a query asks for."""

    mode: str
    proj: str = ""
    group: str = ""
    aggs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Expected:
    """The verdict, what is violated, and the number of values kept."""

    verdict: str
    violated: frozenset[str] = frozenset()
    values: int | None = None


@dataclass(frozen=True)
class Vector:
    """A query and its verdict."""

    number: str
    streams: str
    where: str
    asked: Asked
    expected: Expected
    dense: bool = False
    bases: tuple[tuple[str, str], ...] = ()

    def query(self, api: ModuleType = bounded_memory) -> Any:
        """The query, made of the classes of one copy of the package."""
        return Builder(api).query(
            self.streams,
            self.where,
            self.asked.mode,
            self.asked.proj,
            self.asked.group,
            self.asked.aggs,
            "dense" if self.dense else "int",
            dict(self.bases),
        )


def bag(names: str) -> Asked:
    return Asked("bag", names)


def set_(names: str) -> Asked:
    return Asked("set", names)


def agg(group: str, *aggs: str) -> Asked:
    return Asked("agg", group=group, aggs=aggs)


def bounded(values: int) -> Expected:
    return Expected("Bounded", values=values)


def unbounded(*violated: str) -> Expected:
    return Expected("Unbounded", frozenset(violated))


def vector(
    number: str,
    streams: str,
    where: str,
    asked: Asked,
    expected: Expected,
    *,
    dense: bool = False,
    **bases: str,
) -> Vector:
    return Vector(number, streams, where, asked, expected, dense, tuple(bases.items()))


def verify(found: Vector, api: ModuleType = bounded_memory) -> None:
    """That a copy of the package has the verdict right, and the reason."""
    verdict = api.analyse(found.query(api))
    assert type(verdict).__name__ == found.expected.verdict
    if found.expected.values is not None:
        assert verdict.synopsis.values == found.expected.values
    violated = {
        f"{v.condition.name} {','.join(v.attributes)}" for v in getattr(verdict, "violations", ())
    }
    assert violated == found.expected.violated


_ALL = (
    vector("BM-P01", "S(A)", "A>10", bag("A"), bounded(0)),
    vector("BM-P02", "S(A)", "A>10", set_("A"), unbounded("OUTPUT A")),
    vector("BM-P03", "S(A,B,C) T(D,E)", "A=D", bag("A"), unbounded("EQUALITY A,D", "OUTPUT A")),
    vector("BM-P04", "S(A,B,C) T(D,E)", "A=D", set_("A"), unbounded("EQUALITY A,D", "OUTPUT A")),
    vector("BM-P05", "S(A,B,C) T(D,E)", "A=D AND A>10 AND D<20", bag("A"), bounded(36)),
    vector("BM-P06", "S(A,B,C) T(D,E)", "A=D AND A>10 AND D<20", set_("A"), bounded(27)),
    vector("BM-P07", "S(A,B,C) T(D,E)", "A=D AND A>10 AND D<20", bag("A,B"), unbounded("OUTPUT B")),
    vector("BM-P08", "S(A,B,C) T(D,E)", "B<D AND A=10", bag("A"), unbounded("COUNTING B,D")),
    vector("BM-P09", "S(A,B,C) T(D,E)", "B<D AND A=10", set_("A"), bounded(4)),
    vector(
        "BM-P10",
        "S(A,B,C) T(D,E)",
        "B<D AND C<E AND A=10",
        bag("A"),
        unbounded("COUNTING B,D", "COUNTING C,E"),
    ),
    vector(
        "BM-P11",
        "S(A,B,C) T(D,E)",
        "B<D AND C<E AND A=10",
        set_("A"),
        unbounded("ISOLATING B,C", "ISOLATING D,E"),
    ),
    vector(
        "BM-P12",
        "S(A,B,C) T(D,E)",
        "B<D AND C<E AND B<E AND C<D AND A=10",
        bag("A"),
        unbounded("COUNTING B,D", "COUNTING B,E", "COUNTING C,D", "COUNTING C,E"),
    ),
    vector(
        "BM-P13", "S(A,B,C) T(D,E)", "B<D AND C<E AND B<E AND C<D AND A=10", set_("A"), bounded(6)
    ),
    vector("BM-P14", "O(cust,amt)", "amt>5", bag("cust"), bounded(0)),
    vector("BM-P15", "O(cust,amt)", "amt>5", set_("cust"), unbounded("OUTPUT cust")),
    vector(
        "BM-P16", "O(cust,amt)", "amt>5 AND cust>1000 AND cust<9999", set_("cust"), bounded(8998)
    ),
    vector(
        "BM-P17",
        "O(ord) R(rord,rprod)",
        "ord=rord AND rprod>100 AND rprod<199",
        bag("rprod"),
        unbounded("EQUALITY ord,rord"),
    ),
    vector(
        "BM-P18",
        "O(ord) R(rord,rprod)",
        "ord=rord AND rprod>100 AND rprod<199 AND ord>1000 AND ord<1103",
        bag("rprod"),
        bounded(30192),
    ),
    vector(
        "BM-P19",
        "O(amt,prod) I(qty)",
        "amt>qty AND prod>100 AND prod<300",
        bag("prod"),
        unbounded("COUNTING qty,amt"),
    ),
    vector(
        "BM-P20",
        "O(amt,prod) I(qty)",
        "amt>qty AND prod>100 AND prod<300",
        set_("prod"),
        bounded(598),
    ),
    vector("BM-P21", "S(A,B) T(D,E)", "A=D AND A>10 AND A<20", agg("A", "sum(B)"), bounded(63)),
    vector("BM-D01", "S(A,B)", "", bag("A"), bounded(0)),
    vector("BM-D02", "S(A,B)", "", set_("A"), unbounded("OUTPUT A")),
    vector("BM-D03", "S(A,B)", "A>0 AND A<4", set_("A"), bounded(3)),
    vector("BM-D04", "S(A,B)", "A>0 AND A<4", set_("A,B"), unbounded("OUTPUT B")),
    vector("BM-D05", "S(A,B)", "A>B AND B>0 AND A<4", set_("A,B"), bounded(8)),
    vector("BM-D06", "S(A,B)", "A=B AND A>0 AND B<4", set_("A"), bounded(3)),
    vector("BM-D07", "S(A,B)", "A<B AND B<4", set_("A"), unbounded("OUTPUT A")),
    vector("BM-D08", "S(A,B)", "A=7", set_("A"), bounded(1)),
    vector("BM-D09", "S(A,B)", "A<B AND B<A", set_("A,B"), bounded(0)),
    vector("BM-D10", "S(A,B)", "A>3 AND A<4", set_("A"), bounded(0)),
    vector("BM-D11", "S(A,B)", "A>3 AND A<5", set_("A"), unbounded("OUTPUT A"), dense=True),
    vector("BM-D12", "S(A,B)", "A>=3 AND A<=3", set_("A"), bounded(1), dense=True),
    vector("BM-D13", "S(A,B)", "B>5", set_(""), bounded(1)),
    vector("BM-D14", "S(A,B) T(D,E)", "", bag(""), bounded(2)),
    vector("BM-D15", "S(A,B) T(D,E)", "", bag("A"), unbounded("OUTPUT A")),
    vector("BM-D16", "S(A,B) T(D,E)", "A>0 AND A<4 AND D>0", set_("A"), bounded(7)),
    vector("BM-D17", "S(A,B) T(D,E)", "A<0 AND D>0 AND A<D", bag(""), bounded(2)),
    vector("BM-D18", "S(A,B) T(D,E)", "A<5 AND D>4 AND A<D", bag(""), bounded(2)),
    vector(
        "BM-D19",
        "S(A,B) T(D,E)",
        "A<5 AND D>4 AND A<D",
        bag(""),
        unbounded("COUNTING A,D"),
        dense=True,
    ),
    vector("BM-D20", "S(A,B) T(D,E)", "A<5 AND D>4 AND A<D", set_(""), bounded(7), dense=True),
    vector("BM-D21", "S(A,B) T(D,E)", "A=5 AND D>5 AND A<D", bag(""), bounded(2)),
    vector(
        "BM-D22",
        "S(A,B) T(D,E)",
        "A<B AND B<D AND A<D",
        bag(""),
        unbounded("COUNTING A,D", "COUNTING B,D"),
    ),
    vector("BM-D23", "S(A,B) T(D,E)", "A=D", set_(""), unbounded("EQUALITY A,D")),
    vector("BM-D24", "S(A,B) T(D,E)", "A=D AND A>0", set_(""), unbounded("EQUALITY A,D")),
    vector("BM-D25", "S(A,B) T(D,E)", "A=D AND A>0 AND D<4", bag(""), bounded(12)),
    vector(
        "BM-D26",
        "S(A,B) T(D,E)",
        "A=D AND B=E AND A>0 AND A<3 AND B>0 AND B<3",
        bag("A,E"),
        bounded(24),
    ),
    vector(
        "BM-D27",
        "S(A,B) T(D,E)",
        "A=D AND B=E AND A>0 AND A<3",
        set_("A"),
        unbounded("EQUALITY B,E"),
    ),
    vector(
        "BM-D28",
        "S(A,B) T(D,E)",
        "A=D AND A>0 AND D<4",
        bag(""),
        unbounded("EQUALITY A,D"),
        dense=True,
    ),
    vector("BM-D29", "S(A) T(D) U(F)", "A=D AND D=F AND F>0 AND A<4", bag("A"), bounded(18)),
    vector("BM-D30", "S(A,B) T(D,E)", "A<D", bag(""), unbounded("COUNTING A,D")),
    vector("BM-D31", "S(A,B) T(D,E)", "A<D", set_(""), bounded(3)),
    vector("BM-D32", "S(A,B) T(D,E)", "A<=D", set_(""), bounded(3)),
    vector("BM-D33", "S(A,B) T(D,E)", "A<D AND A>0 AND A<4", bag(""), bounded(12)),
    vector(
        "BM-D34",
        "S(A,B) T(D,E)",
        "A<D AND B>E",
        set_(""),
        unbounded("ISOLATING B,A", "ISOLATING D,E"),
    ),
    vector("BM-D35", "S(A,B) T(D,E)", "A<D AND B>D AND A<0 AND B>0", set_(""), bounded(27)),
    vector(
        "BM-D36",
        "S(A,B) T(D,E)",
        "A<D AND B>D",
        set_(""),
        unbounded("ISOLATING B,A", "ISOLATING D"),
    ),
    vector("BM-D37", "S(A,B) T(D,E)", "A<D AND A<E", set_(""), bounded(4)),
    vector("BM-D38", "S(A,B) T(D,E)", "A<D AND B<D", set_(""), bounded(4)),
    vector("BM-D39", "S(A,B) T(D,E)", "A<D AND A=B AND B<E", set_(""), bounded(5)),
    vector(
        "BM-D40",
        "S(A,B) T(D,E)",
        "A<D AND B<E AND A<B AND D<E",
        set_(""),
        unbounded("ISOLATING A,B", "ISOLATING D,E"),
    ),
    vector("BM-D41", "S(A,B) T(D,E)", "A<D AND B<E AND A<B AND D>E", set_(""), bounded(5)),
    vector(
        "BM-D42",
        "S(A,B) T(D,E)",
        "A<D AND B<E AND A>0 AND D>0 AND B<0 AND E<0",
        set_(""),
        unbounded("ISOLATING A,B", "ISOLATING D,E"),
    ),
    vector("BM-D43", "S(A,B) T(D,E)", "A<D AND B<E AND A>0 AND B<0 AND E>0", set_(""), bounded(6)),
    vector("BM-D44", "S(A,B) T(D,E)", "A<D", set_("B"), unbounded("OUTPUT B")),
    vector("BM-D45", "S(A,B) T(D,E)", "A<D AND B>0 AND B<4", set_("B"), bounded(10)),
    vector("BM-D46", "S(A) T(D) U(F)", "A<D AND D<F", set_(""), unbounded("ISOLATING D")),
    vector("BM-D47", "S(A) T(D) U(F)", "A<D AND F<D", set_(""), bounded(4)),
    vector("BM-D48", "S(A) T(D) U(F)", "A<D AND D<F AND D>0 AND D<4", set_(""), bounded(10)),
    vector("BM-D49", "S(A) T(D,E) U(F)", "A<D AND E<F", set_(""), unbounded("ISOLATING D,E")),
    vector(
        "BM-D50",
        "S(A) T(D,E) U(F)",
        "A<D AND E<F AND E>0 AND E<3",
        bag(""),
        unbounded("COUNTING A,D"),
    ),
    vector("BM-D51", "S(A) T(D) U(F)", "A<D", set_(""), bounded(4)),
    vector("BM-D52", "S(A,B)", "A>0 AND A<4", agg("A", "sum(B)", "avg(B)", "max(B)"), bounded(15)),
    vector("BM-D53", "S(A,B)", "A>0", agg("A", "count(*)"), unbounded("GROUP A")),
    vector("BM-D54", "S(A,B)", "", agg("", "count(*)"), bounded(1)),
    vector("BM-D55", "S(A,B)", "", agg("", "countd(A)"), unbounded("VALUES A")),
    vector("BM-D56", "S(A,B)", "A>0 AND A<4", agg("", "countd(A)"), bounded(3)),
    vector("BM-D57", "S(A,B)", "", agg("", "median(A)"), unbounded("VALUES A")),
    vector("BM-D58", "S(A,B)", "A>0 AND A<4", agg("", "median(A)"), bounded(3)),
    vector("BM-D59", "S(A,B)", "", agg("", "min(A)", "max(B)"), bounded(2)),
    vector("BM-D60", "S(A,B) T(D,E)", "A=D AND A>0 AND D<4", agg("A", "sum(E)"), bounded(21)),
    vector(
        "BM-D61", "S(A,B) T(D,E)", "A=D AND A>0 AND D<4", agg("B", "sum(E)"), unbounded("GROUP B")
    ),
    vector("BM-D62", "S(A,B) T(D,E)", "A<D", agg("", "count(*)"), unbounded("COUNTING A,D")),
    vector("BM-D63", "S(A,B) T(D,E)", "A<D", agg("", "min(A)"), bounded(4)),
    vector("BM-D64", "S(A,B) T(D,E)", "A<D", agg("", "max(A)"), unbounded("EXTREME A")),
    vector("BM-D65", "S(A,B) T(D,E)", "A<D", agg("", "max(B)"), unbounded("EXTREME B,A")),
    vector("BM-D66", "S(A,B) T(D,E)", "A<D", agg("", "max(D)"), bounded(4)),
    vector("BM-D67", "S(A,B) T(D,E)", "A<D", agg("", "max(E)"), unbounded("EXTREME E,D")),
    vector("BM-D68", "S(A,B) T(D,E)", "A=D AND A>0 AND D<4", agg("", "max(B)"), bounded(10)),
    vector(
        "BM-D69",
        "S(A,B) T(D,E)",
        "A=D AND A>0 AND D<4",
        agg("", "countd(B)"),
        unbounded("VALUES B"),
    ),
    vector("BM-D70", "S(A,B) T(D,E)", "A=D AND A>0 AND D<4", agg("", "countd(A)"), bounded(9)),
    vector("BM-D71", "S(A,B) T(D,E)", "A=D AND A>0 AND D<4", agg("", "median(D)"), bounded(15)),
    vector("BM-D72", "S(A,B) T(D,E)", "A<D AND B>0 AND B<4", agg("", "countd(B)"), bounded(10)),
    vector(
        "BM-D73",
        "S(A,B) T(D,E)",
        "A<D AND B>0 AND B<4",
        agg("", "median(B)"),
        unbounded("COUNTING A,D"),
    ),
    vector("BM-D74", "S(A,B) T(D,E)", "A<D AND B>0 AND B<4", agg("", "max(B)"), bounded(8)),
    vector("BM-D75", "S(A,B) T(D,E)", "A<D AND D<A", agg("B", "median(B)"), bounded(0)),
    # S twice: whether S has any row at all, and how many pairs of rows agree.
    vector("BM-J1", "S1(A,B) S2(C,D)", "A=C", set_(""), bounded(1), S1="S", S2="S"),
    vector("BM-J2", "S1(A,B) S2(C,D)", "A=C", bag(""), unbounded("EQUALITY A,C"), S1="S", S2="S"),
    # Both tables fold at once or not at all.
    vector(
        "BM-J3",
        "S1(A,C) S2(B,D) T1(E) T2(F)",
        "A=B AND C<E AND D<F",
        set_(""),
        bounded(3),
        S1="S",
        S2="S",
        T1="T",
        T2="T",
    ),
    # No row stands at both occurrences, so that they are as good as two streams.
    vector(
        "BM-J4",
        "S1(A,B) S2(C,D)",
        "A=C AND A<B AND C>D",
        set_(""),
        unbounded("EQUALITY A,C"),
        S1="S",
        S2="S",
    ),
)

VECTORS = {found.number: found for found in _ALL}
