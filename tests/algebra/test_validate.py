"""Plans that are wrong, and what is said about them."""

from __future__ import annotations

from typing import Any

import pytest

from cqlc.algebra.expr import (
    AggregateCall,
    And,
    Arithmetic,
    Case,
    Column,
    Compare,
    Comparison,
    Literal,
    Negate,
    Not,
    Operator,
    SortKey,
)
from cqlc.algebra.plan import (
    Aggregate,
    Distinct,
    Filter,
    Istream,
    Join,
    JoinKind,
    Named,
    NamedAggregate,
    Now,
    NrrJoin,
    Project,
    Range,
    Rank,
    RankKind,
    Rename,
    Rows,
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.schema import TIME_FIELD, Field
from cqlc.algebra.validate import problems
from cqlc.datatypes import BIGINT, BOOLEAN, DOUBLE, INT, STRING

STREAM = Scan("S", (Field("a", INT), Field("s", STRING), TIME_FIELD))
TABLE = Table("R", (Field("a", INT), Field("s", STRING)))
A, S = Column("a", INT), Column("s", STRING)
TRUE = Literal(True, BOOLEAN)


def _as(kind: Any, *parts: Any) -> Any:
    """A node whose parts are not what the types ask for."""
    return kind(*parts)


def test_nothing_is_wrong_with_a_right_plan() -> None:
    rows = Filter(
        Rename(Range(STREAM, 5), "x"), Compare(Comparison.EQ, Column("x.a", INT), Literal(1, INT))
    )
    assert problems(Istream(Project(rows, (Named("a", Column("x.a", INT)),)))) == ()


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        (Filter(TABLE, Column("b", INT)), "no condition"),
        (Filter(TABLE, Compare(Comparison.EQ, Column("b", INT), Literal(1, INT))), "no column b"),
        (
            Filter(TABLE, Compare(Comparison.EQ, Column("a", BIGINT), Literal(1, BIGINT))),
            "no column a of",
        ),
        (Filter(TABLE, Compare(Comparison.EQ, A, S)), "compares INT with STRING"),
        (Filter(TABLE, And((TRUE,))), "does not join conditions"),
        (Filter(TABLE, And((TRUE, _as(Negate, S)))), "does not join conditions"),
        (Filter(TABLE, Not(A)), "negates INT"),
        (Project(TABLE, (Named("a", A), Named("a", S))), "two columns a"),
        (
            Project(TABLE, (Named("x", Arithmetic(Operator.ADD, A, S, INT)),)),
            "computes INT of INT, STRING",
        ),
        (Project(TABLE, (Named("x", Negate(S)),)), "has no sign"),
        (Project(TABLE, (Named("x", Case(((TRUE, A),), S, INT)),)), "several types"),
        (Join(TABLE, TABLE, JoinKind.INNER, TRUE), "two columns a"),
        (
            Join(Rename(TABLE, "x"), Rename(TABLE, "y"), JoinKind.SEMI, Column("z", BOOLEAN)),
            "no column z",
        ),
        (NrrJoin(TABLE, "N", (Field("k", INT),), "n", JoinKind.FULL, TRUE), "no full join"),
        (
            Aggregate(
                TABLE, (), (NamedAggregate("m", AggregateCall("MAX", (Column("b", INT),), INT)),)
            ),
            "no column b",
        ),
        (
            Aggregate(
                TABLE, (), (NamedAggregate("n", AggregateCall("COUNT", (), BIGINT, where=A)),)
            ),
            "no condition",
        ),
        (Rank(TABLE, RankKind.RANK, ("b",), (), "n"), "no column b"),
        (
            Rank(TABLE, RankKind.RANK, (), (SortKey(Column("b", INT), False, True),), "n"),
            "no column b",
        ),
        (Union(TABLE, Project(TABLE, (Named("a", A),))), "sides of 2 and 1"),
        (
            Union(TABLE, Project(TABLE, (Named("a", A), Named("b", A)))),
            "s is STRING on the left, INT",
        ),
        (Values(((Literal(1, INT),),), (Field("x", DOUBLE),)), "x is DOUBLE, its value INT"),
        (Values(((Literal(1, INT),),), ()), "a row of 1 values for 0"),
        (Istream(Now(STREAM)), "time"),
        (_as(Istream, STREAM), "a relation is wanted"),
        (_as(Now, TABLE), "a stream is wanted"),
        (_as(Distinct, STREAM), "a relation is wanted"),
        (Unbounded(Scan("S", (Field("a", INT),))), "ends with its time"),
        (Range(STREAM, 0), "length above 0"),
        (Rows(STREAM, 0), "1 row or more"),
        (Rows(STREAM, 1, ("z",)), "no column z"),
        (Rows(STREAM, 1, sequence="z"), "no column z"),
        (Session(STREAM, 1, ("z",)), "no column z"),
    ],
)
def test_problem_is_named(plan: Any, problem: str) -> None:
    assert any(problem in said for said in problems(plan)), problems(plan)
