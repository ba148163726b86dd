"""Scripts and texts of the Stanford prototype."""

from __future__ import annotations

import pytest

from cqlc.codes import syntax as codes
from cqlc.source import Source
from cqlc.syntax import ast
from cqlc.syntax.parser import parse
from tests.syntax.texts import name, oracle, program

FULL = """
# the tables
table : register stream S (A integer, B char(4));
source : data/S.txt
table : register relation R (A integer)
source : data/R.txt
# a view, its query first
vquery : select A from S [Range 5];
vtable : register stream V (A integer);
vtable : register relation W (A integer)
vquery : V Union V
query : select * from W;
dest : out/W.txt
query : Istream(select * from V);
"""
MODERN = """
CREATE STREAM S (A INTEGER, B CHAR(4)) FROM csv OPTIONS (path 'data/S.txt');
CREATE RELATION R (A INTEGER) FROM csv OPTIONS (path 'data/R.txt');
CREATE STREAM V (A INTEGER) AS SELECT A FROM S [RANGE 5];
CREATE RELATION W (A INTEGER) AS V UNION V;
CREATE SINK "out/W.txt" TO csv OPTIONS (path 'out/W.txt');
INSERT INTO "out/W.txt" SELECT * FROM W;
ISTREAM(SELECT * FROM V);
"""


def test_a_script_means_the_same_as_its_modern_form() -> None:
    assert program(FULL) == program(MODERN)


def test_commands_and_statements_mix() -> None:
    text = "CREATE VIEW v AS SELECT 1;\n  query : SELECT 2;\nSELECT 3;"
    assert program(text) == program("CREATE VIEW v AS SELECT 1; SELECT 2; SELECT 3;")


def test_one_sink_for_queries_with_the_same_destination() -> None:
    statements = program("query : S\ndest : x\nquery : T\ndest : x").statements
    kinds = [type(node) for node in statements]
    assert kinds == [ast.CreateSink, ast.InsertInto, ast.InsertInto]


def test_the_words_of_commands_are_names_elsewhere() -> None:
    (node,) = program("CREATE STREAM s (a STRUCT<\nsource: STRING,\nquery: INT>)").statements
    assert isinstance(node, ast.CreateTable)
    assert node.columns[0].type.field_names == (ast.Name("source"), ast.Name("query"))
    assert program("SELECT source,\nquery\n::INT FROM dest") == program(
        "SELECT source, query::INT FROM dest"
    )


@pytest.mark.parametrize(
    "text",
    [
        "source : x",
        "dest : x",
        "vquery : select 1",
        "vtable : register stream V (A integer)",
        "query : select 1;\nsource : x",
        "table : register stream S (A integer);\ndest : x",
    ],
)
def test_commands_out_of_place(text: str) -> None:
    assert [d.code for d in parse(Source(text)).diagnostics] == [codes.SCRIPT]


def test_a_broken_command_is_reported_and_the_others_are_read() -> None:
    parsed = parse(Source("table : register stream;\nsource : x\nquery : select * from S"))
    assert [d.code for d in parsed.diagnostics] == [codes.UNEXPECTED]
    assert [type(node) for node in parsed.program.statements] == [ast.QueryStatement]


def test_prototype_declarations() -> None:
    (node,) = program("register stream S (A integer, B float, C byte, D char(4));").statements
    assert isinstance(node, ast.CreateTable)
    assert node.kind is ast.TableKind.STREAM
    assert node.name == name("S")
    types = [(str(c.name.text), c.type.name, c.type.parameters) for c in node.columns]
    assert types == [
        ("A", "INTEGER", ()),
        ("B", "FLOAT", ()),
        ("C", "BYTE", ()),
        ("D", "CHAR", (4,)),
    ]


def test_every_text_that_stanfords_stream_has_answered() -> None:
    cases = oracle()
    if not cases:
        pytest.skip("the oracle cases are not at hand")
    texts: set[str] = set()
    for _, case in cases:
        views = case.get("views") or []
        texts |= {*case["declarations"], case["query"]}
        texts |= {text for view in views for text in (view["declaration"], view["query"])}
    for text in texts:
        program(f"{text};")
