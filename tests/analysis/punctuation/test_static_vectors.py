"""The static examples, PS-1 to PS-42."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cqlc.analysis.punctuation import (
    Attribute,
    Equality,
    PunctuationScheme,
    Verdict,
    check,
    graph_of,
    verdict_of,
)
from tests.analysis.punctuation.queries import query
from tests.analysis.punctuation.vectors import THREE, VECTORS, verify


@pytest.mark.parametrize("number", VECTORS)
def test_vector(number: str) -> None:
    verify(VECTORS[number])


def test_ps_2_a_key_closes_values_that_arrive() -> None:
    asked = query("item bid", "item.itemid=bid.itemid", "bid{itemid} K:item{itemid}")
    found = check(asked)
    assert found.verdict is Verdict.SAFE_IF_REFERENCED
    assert {s.streams: s.verdict for s in found.streams} == {
        ("item",): Verdict.SAFE,
        ("bid",): Verdict.SAFE_IF_REFERENCED,
    }
    assert [str(s) for s in found.needed] == ["bid(itemid)"]


def test_ps_8_hyperedge_needs_both_inputs() -> None:
    graph = graph_of(VECTORS["PS-8"].query())
    rule = next(r for r in graph.rules if len(r.scheme.columns) == 2)
    assert graph.names(1 << rule.target) == ("S3",)
    others = [set(graph.names(need)) - {"S3"} for need in rule.needs]
    assert others == [{"S1"}, {"S2"}]


def test_ps_16_chain_goes_through_the_implied_equality() -> None:
    found = check(VECTORS["PS-16"].query())
    chain = next(s.chain for s in found.streams if s.streams == ("S1",))
    steps = [(step.stream, str(step.scheme), step.supplies[0].attribute) for step in chain]
    assert steps == [
        ("S3", "S3(A)", Attribute("S1", "A")),
        ("S2", "S2(C)", Attribute("S3", "C")),
    ]


def test_ps_28_the_scheme_that_is_not_needed() -> None:
    found = check(VECTORS["PS-28"].query())
    left_out = set(found.query.schemes) - set(found.needed)
    assert [str(s) for s in left_out] == ["S3(B)"]


@pytest.mark.parametrize("number", VECTORS)
def test_ps_41_adding_a_scheme_frees_no_fewer_inputs(number: str) -> None:
    asked = VECTORS[number].query()
    before = set(check(asked).stuck)
    for equality in asked.predicates:
        source = next(s.source for s in asked.streams if s.name == equality.left.stream)
        assert source is not None
        added = PunctuationScheme(source, (equality.left.column,))
        assert set(check(replace(asked, schemes=(*asked.schemes, added))).stuck) <= before


@pytest.mark.parametrize("number", VECTORS)
def test_ps_41_an_implied_predicate_changes_nothing(number: str) -> None:
    asked = VECTORS[number].query()
    graph = graph_of(asked)
    implied = tuple(
        Equality(a, b)
        for members in graph.members
        for (_, a) in members
        for (_, b) in members
        if a != b
    )
    closed = check(replace(asked, predicates=implied[::-1]))
    assert set(closed.stuck) == set(check(asked).stuck)


@pytest.mark.parametrize("number", VECTORS)
def test_ps_41_names_do_not_matter(number: str) -> None:
    vector = VECTORS[number]
    table = str.maketrans("SFDEABC", "TGHIXYZ")
    renamed = query(
        vector.streams.translate(table).upper(),
        vector.predicates.translate(table).upper(),
        vector.schemes.translate(table).upper(),
    )
    stuck = {name.translate(table).upper() for name in check(vector.query()).stuck}
    assert set(check(renamed).stuck) == stuck


def test_a_time_window_frees_what_reaches_it() -> None:
    """Rows of S end with the rows of W they can still meet, whatever else they would need."""
    asked = query("S W~ Y", "S.A=W.A W.B=Y.B", "W{A}")
    assert check(asked).stuck == ("Y",)
    assert check(query("S W~ Y", "S.A=W.A W.B=Y.B", "")).stuck == ("S", "Y")


def test_a_row_window_needs_no_purging_and_frees_nothing() -> None:
    assert check(query("S W#", "S.A=W.A", "")).stuck == ("S",)
    assert check(query("S W#", "S.A=W.A", "W{A}")).verdict is Verdict.SAFE


def test_a_constant_relation_is_closed() -> None:
    assert check(query("S V!", "S.A=V.A", "")).verdict is Verdict.SAFE


def test_a_watermark_closes_what_is_bounded_by_it() -> None:
    from cqlc.analysis.punctuation import Bound

    band = (
        Bound(Attribute("T", "ts"), Attribute("S", "ts")),
        Bound(Attribute("S", "ts"), Attribute("T", "ts")),
    )
    asked = replace(query("S T", "S.A=T.A", "W:S{ts} W:T{ts}"), bounds=band)
    assert check(asked).verdict is Verdict.SAFE
    assert check(replace(asked, bounds=band[:1])).stuck == ("T",)
    punctuated = replace(query("S T", "S.A=T.A", "S{ts} T{ts}"), bounds=band)
    assert check(punctuated).stuck == ("S", "T"), "a punctuation closes one value, not a range"


def test_known_values_need_no_partner() -> None:
    asked = query("S T", "S.A=T.A", "S{A,C} T{A}")
    assert check(asked).stuck == ("T",)
    assert verdict_of(replace(asked, finite=frozenset({Attribute("S", "C")}))) is Verdict.SAFE


def test_a_question_with_predicates_left_out_proves_no_danger() -> None:
    unsafe = VECTORS["PS-34"].query()
    assert check(unsafe).proved
    assert not check(replace(unsafe, complete=False)).proved
    assert check(replace(VECTORS["PS-5"].query(), complete=False)).proved


def test_grouped_inputs_do_not_help_each_other() -> None:
    """((S1 S2) S3) of PS-16: S2's row must be freed through S3 alone."""
    grouped = replace(VECTORS["PS-16"].query(), bundles=(frozenset({"S1", "S2"}),))
    assert check(grouped).verdict is Verdict.SAFE
    ringed = query(THREE, "S1.B=S2.B S2.C=S3.C S3.A=S1.A", "S1{B} S2{B} S3{A}")
    assert check(replace(ringed, bundles=(frozenset({"S1", "S2"}),))).stuck == ("S3",)
