"""Whatever is written, the resolver answers with findings or plans, never with an exception."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cqlc.algebra.text import plan_text
from cqlc.algebra.validate import problems
from cqlc.diagnostics import has_errors
from cqlc.resolve import Resolution, resolve
from cqlc.source import Source
from cqlc.syntax.parser import parse
from tests.resolve.programs import PRELUDE, example_programs


def _any(text: str) -> Resolution:
    """Resolves what can be parsed of a text; plans of programs without errors must be right."""
    parsed = parse(Source(text))
    resolution = resolve(parsed.program)
    if not has_errors(resolution.diagnostics):
        for query in resolution.queries:
            assert problems(query.plan) == ()
            plan_text(query.plan)
    return resolution


# ------------------------------------------------------------------------------ random expressions

_LEAVES = st.sampled_from(
    [
        *("a", "b", "c", "at", "S._time", "d", "T.e", "tags", "who", "who.age", "id", "nope"),
        *("1", "0", "-1", "2.50", "1e300", "99999999999999999999", "'x'", "'2024-01-01'", "NULL"),
        *("TRUE", "FALSE", "5 MINUTES", "DATE '2024-02-29'", "TIMESTAMP '2024-01-01 10:00:00'"),
        *("COUNT(*)", "SUM(a)", "MAX(c)", "TOP 3 (a)", "ROW_NUMBER() OVER (ORDER BY a)"),
        *("(SELECT MAX(k) FROM R)", "(SELECT v FROM R WHERE k = a)", "(1, 2)", "*"),
    ]
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.sampled_from(
        ["+", "-", "*", "/", "%", "||", "=", "<>", "<", ">=", "AND", "OR", "IS DISTINCT FROM"]
    )
    call = st.sampled_from(
        ["UPPER", "ABS", "COALESCE", "SIZE", "YEAR", "SUM", "IF", "twice", "blend", "NULLIF"]
    )
    return st.one_of(
        st.tuples(inner, binary, inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(call, st.lists(inner, max_size=3)).map(lambda p: f"{p[0]}({', '.join(p[1])})"),
        st.tuples(inner, inner, inner).map(
            lambda p: f"CASE WHEN {p[0]} THEN {p[1]} ELSE {p[2]} END"
        ),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} BETWEEN {p[1]} AND {p[2]})"),
        st.tuples(inner, st.sampled_from(["INT", "STRING", "DECIMAL(9, 2)", "ARRAY<INT>"])).map(
            lambda p: f"CAST({p[0]} AS {p[1]})"
        ),
        inner.map(lambda e: f"({e} IN (SELECT k FROM R))"),
        inner.map(lambda e: f"NOT ({e} >= ALL (SELECT d FROM T WHERE T.a = S.a))"),
        inner.map(lambda e: f"EXISTS (SELECT {e} FROM T WHERE T.a < S.b)"),
        inner.map(lambda e: f"({e} IS NULL)"),
        inner.map(lambda e: f"(- {e})"),
        inner.map(lambda e: f"({e})[0]"),
    )


_EXPRESSIONS = st.recursive(_LEAVES, _grown, max_leaves=8)


@settings(max_examples=400, deadline=None, derandomize=True, database=None)
@given(
    _EXPRESSIONS,
    st.sampled_from(
        [
            "SELECT {} FROM S, P",
            "SELECT a FROM S, P WHERE {}",
            "SELECT a, {} AS x FROM S [ROWS 5] GROUP BY a",
            "SELECT a FROM S, P GROUP BY a HAVING {}",
            "SELECT a FROM S JOIN T ON {}",
            "SELECT S.a FROM S LEFT JOIN T ON S.a = T.a AND {}",
            "SELECT ISTREAM(a) FROM S ORDER BY {} LIMIT 3",
            "SELECT COUNT({}) FILTER (WHERE {}) FROM S GROUP BY {}",
        ]
    ),
)
def test_random_expressions(expression: str, context: str) -> None:
    _any(f"{PRELUDE}{context.replace('{}', expression)};")


# ------------------------------------------------------------------------------------------- depth


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT {'(' * 90}a{')' * 90} FROM S;",
        f"SELECT {'a + ' * 5000}a FROM S;",
        f"SELECT {'NOT ' * 5000}TRUE FROM S;",
        f"SELECT a FROM S WHERE {' AND '.join(['a = 1'] * 5000)};",
        f"SELECT a FROM S WHERE a IN ({', '.join(map(str, range(5000)))});",
        f"SELECT {', '.join(f'a AS x{i}' for i in range(3000))} FROM S;",
        "SELECT 1 FROM " + ", ".join(f"S AS s{i}" for i in range(600)) + ";",
        " UNION ALL ".join(["SELECT a FROM S"] * 600) + ";",
        f"{'SELECT a FROM (' * 33}SELECT a FROM S{')' * 33};",
        "SELECT a FROM S WHERE " + "EXISTS (SELECT 1 FROM T WHERE " * 25 + "TRUE" + ")" * 25 + ";",
        "SELECT a FROM S WHERE "
        + "".join(
            f"b > (SELECT MAX(a + S{i}.b) FROM S AS S{i + 1} WHERE " for i in range(12)
        ).replace("S0.b", "S.b")
        + "TRUE"
        + ")" * 12
        + ";",
        f"SELECT {'9' * 5000} FROM S;",
        f"SELECT 1e{'9' * 5000}, .{'0' * 5000}1 FROM S;",
        f"SELECT a FROM S [RANGE {'9' * 5000} DAYS];",
        f"SELECT a FROM S [ROWS {'9' * 5000}];",
        f"SELECT a FROM S LIMIT {'9' * 5000};",
        "SELECT a FROM S [RANGE 1e999999999999 SECONDS];",
        'SELECT "\0".a, "a.b" FROM S AS "\0", T AS "a.b";',
        'SELECT a AS "S.a", b AS "S.b" FROM S WHERE a IN (SELECT k AS "S.a" FROM R WHERE k = S.b);',
        'CREATE STREAM "x.y" ("a.b" INT); SELECT "a.b" FROM "x.y" WHERE "a.b" = 1;',
        'CREATE STREAM Q ("a" INT, "A" INT); SELECT "a", "A", a FROM Q;',
    ],
)
def test_much_and_odd(text: str) -> None:
    _any(PRELUDE + text)


def test_views_on_views_are_iterated_not_recursed() -> None:
    views = (f"CREATE VIEW V{i} AS SELECT a FROM V{i + 1};" for i in range(2000))
    resolution = _any(f"{PRELUDE}{''.join(views)} CREATE VIEW V2000 AS SELECT a FROM S;")
    assert [d.code.id for d in resolution.diagnostics] == ["CQL1031"]


def test_long_cycles() -> None:
    views = (f"CREATE VIEW V{i} AS SELECT a FROM V{(i + 1) % 500};" for i in range(500))
    resolution = _any(PRELUDE + "".join(views))
    assert [d.code.id for d in resolution.diagnostics] == ["CQL1007"]


# --------------------------------------------------------------------------------------- mutations


def test_mutated_examples() -> None:
    """Tokens lost, doubled, swapped and mixed with those of other programs."""
    rng = random.Random(7)
    texts = [text.split(" ") for _, text in example_programs()]
    words = [word for text in texts for word in text]
    for _ in range(400):
        text = list(rng.choice(texts))
        for _ in range(rng.choice((1, 1, 2, 4))):
            place = rng.randrange(len(text))
            match rng.randrange(4):
                case 0:
                    text[place] = rng.choice(words)
                case 1:
                    text.insert(place, rng.choice(words))
                case 2:
                    del text[place]
                    text = text or [""]
                case _:
                    other = rng.randrange(len(text))
                    text[place], text[other] = text[other], text[place]
        _any(" ".join(text))
