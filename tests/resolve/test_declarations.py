"""CREATE statements and what the catalog then holds."""

from __future__ import annotations

import pytest

from cqlc.algebra.text import expr_text
from cqlc.catalog import (
    Clustered,
    EventTime,
    External,
    Monitored,
    Ordered,
    References,
    Scheme,
    TableKind,
    WithinRows,
    WithinTime,
)
from cqlc.datatypes import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TINYINT,
    Array,
    Decimal,
    Struct,
)
from cqlc.resolve import Resolution, resolve
from cqlc.source import Source
from cqlc.syntax.parser import parse
from tests.resolve.programs import codes, resolved


def _declared(text: str) -> Resolution:
    resolution = resolved(text, prelude="")
    assert resolution.diagnostics == ()
    return resolution


def test_types() -> None:
    text = """CREATE STREAM X (a BOOLEAN, b TINYINT, c SMALLINT, d INTEGER, e BIGINT, f REAL,
        g DOUBLE, h DECIMAL(10, 2), i NUMERIC, j CHAR(5), k BYTE, l VARCHAR(9), m DATE,
        n TIMESTAMP, o ARRAY<STRUCT<x: INT, y: ARRAY<STRING>>>, p DURATION, q DECIMAL(7));"""
    table = _declared(text).catalog.tables["X"]
    nested = Array(Struct((("x", INT), ("y", Array(STRING)))))
    expected = [BOOLEAN, TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, Decimal(10, 2)]
    expected += [Decimal(10, 0), STRING, STRING, STRING, DATE, TIMESTAMP, nested, DURATION]
    assert [c.type for c in table.columns] == [*expected, Decimal(7, 0)]


def test_a_stream_with_everything() -> None:
    table = _declared(
        """
        CREATE STREAM marks (id BIGINT, seq INT);
        CREATE STREAM bids (
            id BIGINT NOT NULL UNIQUE, price DOUBLE CHECK (price > 0 AND price <= 1000) DISTINCT 50,
            kind STRING IN ('a', 'b', 'a'), seq INT, closed BOOLEAN, at TIMESTAMP,
            UNIQUE (kind, seq), CHECK (seq BETWEEN 1 AND 9 OR seq IS NULL),
            CONSTRAINT o1 ORDERED BY seq WITHIN 5 ROWS
          )
          TIMESTAMP BY at SLACK 1.5 SECONDS IDLE 1 MINUTE
          SEQUENCE BY seq
          PUNCTUATED BY (id), (kind, seq) MARKER closed LIFESPAN 1 HOUR
          CLUSTERED BY id WITHIN 2 SECONDS
          RATE 120 PER MINUTE
          FROM kafka OPTIONS (subscribe 'bids', 'kafka.bootstrap.servers' 'h:1');
        """
    ).catalog.tables["bids"]
    price = table.column("price")
    assert table.keys == (("id",), ("kind", "seq"))
    assert not table.column("id").nullable
    assert not table.column("at").nullable
    assert price.distinct == 50
    assert table.column("kind").domain == ("a", "b")
    assert [expr_text(check) for check in table.checks] == [
        "price > 0.0",
        "price <= 1000.0",
        "seq >= 1 AND seq <= 9 OR seq IS NULL",
    ]
    assert table.event_time == EventTime("at", 1_500_000, 60_000_000)
    assert table.sequence == "seq"
    hour = 3_600_000_000
    assert table.schemes == (Scheme(("id",), hour), Scheme(("kind", "seq"), hour))
    assert table.marker == "closed"
    assert table.ordered == (Ordered("seq", WithinRows(5), "o1"),)
    assert table.clustered == (Clustered("id", WithinTime(2_000_000)),)
    assert table.rate == 2.0
    options = (("subscribe", "bids"), ("kafka.bootstrap.servers", "h:1"))
    assert table.source == External("kafka", options)
    assert table.schema[-1].name == "_time"


def test_constraints_between_tables_in_any_order() -> None:
    catalog = _declared(
        """
        CREATE CONSTRAINT r REFERENCES one (id) FROM many (ref) WITHIN 5 SECONDS;
        CREATE STREAM many (
          ref INT, n INT, REFERENCES one (id) FROM (n) MONITOR
        ) PUNCTUATED BY (ref) PUNCTUATIONS FROM closed;
        CREATE CONSTRAINT c CLUSTERED BY ref WITHIN 0 ROWS ON many;
        CREATE CONSTRAINT m ORDERED BY id WITHIN 3 ROWS MONITOR ON one;
        CREATE STREAM one (id BIGINT);
        CREATE STREAM closed (ref INT);
        """
    ).catalog
    assert catalog.references == (
        References("many", ("n",), "one", ("id",), Monitored()),
        References("many", ("ref",), "one", ("id",), WithinTime(5_000_000), "r"),
    )
    assert catalog.tables["many"].clustered == (Clustered("ref", WithinRows(0), "c"),)
    assert catalog.tables["many"].punctuations_from == "closed"
    assert catalog.tables["one"].ordered == (Ordered("id", Monitored(), "m"),)


def test_tables_sinks_and_functions() -> None:
    catalog = _declared(
        """
        REGISTER RELATION r (a INTEGER, KEY (a)) APPEND ONLY;
        CREATE NRR n (a INT PRIMARY KEY) FROM csv OPTIONS (path 'x', header TRUE);
        CREATE SINK out TO console;
        CREATE FUNCTION f(x DOUBLE, y STRING) RETURNS STRUCT<a: INT>;
        CREATE AGGREGATE FUNCTION g() RETURNS INT;
        """
    ).catalog
    assert catalog.tables["r"].append_only
    assert catalog.tables["r"].kind is TableKind.RELATION
    assert catalog.tables["r"].keys == (("a",),)
    assert catalog.tables["n"].kind is TableKind.NRR
    assert catalog.tables["n"].source == External("csv", (("path", "x"), ("header", "true")))
    assert catalog.sinks["out"].target == External("console")
    assert catalog.functions["f"].parameters == (("x", DOUBLE), ("y", STRING))
    assert catalog.functions["g"].aggregate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CREATE STREAM X (a INT, b BAD, c WORSE);", ["CQL1010", "CQL1010"]),
        ("CREATE STREAM X FROM parquet;", ["CQL1028"]),
        ("CREATE STREAM X (a INT) TIMESTAMP BY b;", ["CQL1002"]),
        ("CREATE STREAM X (a TIMESTAMP) TIMESTAMP BY a TIMESTAMP BY a;", ["CQL1028"]),
        ("CREATE RELATION X (a INT) SEQUENCE BY a;", ["CQL1028"]),
        ("CREATE NRR X (a INT) PUNCTUATED BY (a);", ["CQL1028"]),
        ("CREATE RELATION X (a INT) ORDERED BY a WITHIN 1 ROWS;", ["CQL1028"]),
        ("CREATE STREAM X (a INT) PUNCTUATED BY (a, a);", ["CQL1005"]),
        ("CREATE STREAM X (a ARRAY<INT>) SEQUENCE BY a;", ["CQL1029"]),
        ("CREATE STREAM X (a INT IN (1, 'x'));", ["CQL1027"]),
        ("CREATE STREAM X (a INT CHECK (b > 1));", ["CQL1002"]),
        ("CREATE STREAM X (a INT CHECK (a > (SELECT 1)));", ["CQL1021"]),
        ("CREATE STREAM X (a INT, CHECK (a = 1 AND a = 2));", []),
        ("CREATE STREAM X (_time TIMESTAMP);", ["CQL1025"]),
        ("CREATE STREAM X (a INT) RATE 0 PER SECOND;", ["CQL1012"]),
        ("CREATE STREAM X (a INT, KEY (b));", ["CQL1002"]),
        ("CREATE CONSTRAINT c ORDERED BY a WITHIN 1 ROWS;", ["CQL1029"]),
        ("CREATE CONSTRAINT c ORDERED BY a WITHIN 1 ROWS ON Nope;", ["CQL1001"]),
        ("CREATE CONSTRAINT c REFERENCES S (a) FROM T (e) WITHIN 1 ROWS;", ["CQL1029"]),
        ("CREATE CONSTRAINT c REFERENCES S (a, b) FROM T (a) WITHIN 1 ROWS;", ["CQL1029"]),
        ("CREATE CONSTRAINT c REFERENCES N (k) FROM T (a) WITHIN 1 ROWS;", ["CQL1029"]),
        ("CREATE FUNCTION upper(x STRING) RETURNS STRING;", ["CQL1004"]),
        ("CREATE FUNCTION twice(x STRING) RETURNS STRING;", ["CQL1004"]),
        ("CREATE SINK Out TO console;", ["CQL1004"]),
        ("CREATE VIEW S AS SELECT a FROM T;", ["CQL1004"]),
        ("CREATE NRR V (a INT) AS SELECT a FROM S;", ["CQL1028"]),
        ("CREATE STREAM V (a INT NOT NULL) AS SELECT a FROM S;", ["CQL1028"]),
        ("CREATE STREAM V (a INT, b INT) AS SELECT a FROM S;", ["CQL1023"]),
        ("CREATE STREAM V (a STRING) AS SELECT a FROM S;", ["CQL1016"]),
        ("CREATE VIEW V (x, X) AS SELECT a, b FROM S;", ["CQL1005"]),
        ("CREATE SINK x TO csv OPTIONS (path 'a', path 'b');", ["CQL1028"]),
    ],
)
def test_declarations_that_cannot_be(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_names_of_queries() -> None:
    resolution = _declared(
        """
        CREATE STREAM s (a INT); CREATE SINK o TO console; CREATE VIEW v AS SELECT a FROM s;
        SELECT a FROM s; INSERT INTO O SELECT a FROM s; v; INSERT INTO o SELECT a FROM s;
        SELECT a FROM v;
        """
    )
    assert [(q.name, q.sink) for q in resolution.queries] == [
        ("query1", None),
        ("o", "o"),
        ("v", None),
        ("o_1", "o"),
        ("query2", None),
    ]
    assert resolution.queries[2].plan is resolution.views["v"]


def test_a_catalog_from_before_is_extended() -> None:
    first = _declared("CREATE STREAM s (a INT);").catalog
    parsed = parse(Source("CREATE STREAM S (b INT); CREATE RELATION r (c INT); SELECT a FROM s;"))
    second = resolve(parsed.program, first)
    assert [d.code.id for d in second.diagnostics] == ["CQL1004"]
    assert sorted(second.catalog.tables) == ["r", "s"]
    assert first.tables.keys() == {"s"}
    assert len(second.queries) == 1


def test_views_in_any_order_are_shared() -> None:
    resolution = _declared(
        """
        SELECT x.n FROM w AS x, w AS y;
        CREATE VIEW w (n) AS SELECT m FROM v;
        CREATE VIEW v (m) AS SELECT COUNT(*) FROM s;
        CREATE STREAM s (a INT);
        """
    )
    from cqlc.algebra.walk import subplans

    nodes = list(subplans(resolution.queries[0].plan))
    assert sum(node is resolution.views["w"] for node in nodes) == 1
    assert sum(type(node).__name__ == "Scan" for node in nodes) == 1
