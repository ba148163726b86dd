"""Catalogs from files say the same as CREATE statements."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from cqlc.catalog_file import CatalogError, load_catalog, parse_catalog
from cqlc.resolve import resolve
from cqlc.source import NOWHERE, Source
from cqlc.syntax.parser import parse

FILE = """
streams:
  bids:
    columns:
      auction: {type: BIGINT, in: [1, 2, 3], not_null: true}
      kind: {type: STRING, in: ["it's", b], distinct: 2}
      price: {type: "DECIMAL(10, 2)", check: price > 0}
      done: BOOLEAN
      at: TIMESTAMP
    keys: [[auction, at]]
    checks: [price < 1000 OR price IS NULL]
    timestamp_by: at
    slack: 5 SECONDS
    idle: 1 MINUTE
    sequence_by: auction
    ordered_by: [{column: auction, within: 10 ROWS, name: o}]
    clustered_by: [{column: kind}]
    punctuations: {by: [[auction], [kind, price]], marker: done, lifespan: 1 HOUR}
    rate: 1000 PER SECOND
    source: {format: parquet, options: {path: "data/b'ids", header: true, depth: 3}}
  opened:
    columns: {auction: BIGINT, at: TIMESTAMP}
    timestamp_by: at
    punctuations: {by: [[auction]], from: bids}
relations:
  Category: {columns: {id: INT, "the name": STRING}, keys: [[id]], append_only: true}
nrrs:
  person: {columns: {id: {type: BIGINT, unique: true}, city: STRING}}
sinks:
  alerts: {format: console}
functions:
  twice: {parameters: {x: DOUBLE}, returns: DOUBLE}
  blend: {parameters: {x: DOUBLE}, returns: "STRUCT<a: INT>", aggregate: true}
references:
  - {name: r, parent: bids, parent_columns: [auction], child: opened, child_columns: [auction],
     within: 5 SECONDS}
"""

PROGRAM = """
CREATE STREAM bids (
    auction BIGINT NOT NULL IN (1, 2, 3), kind STRING IN ('it''s', 'b') DISTINCT 2,
    price DECIMAL(10, 2) CHECK (price > 0), done BOOLEAN, at TIMESTAMP, UNIQUE (auction, at),
    CHECK (price < 1000 OR price IS NULL), CONSTRAINT o ORDERED BY auction WITHIN 10 ROWS,
    CLUSTERED BY kind MONITOR
  )
  TIMESTAMP BY at SLACK 5 SECONDS IDLE 1 MINUTE SEQUENCE BY auction
  PUNCTUATED BY (auction), (kind, price) MARKER done LIFESPAN 1 HOUR RATE 1000 PER SECOND
  FROM parquet OPTIONS (path 'data/b''ids', header 'true', depth '3');
CREATE STREAM opened (auction BIGINT, at TIMESTAMP) TIMESTAMP BY at
  PUNCTUATED BY (auction) PUNCTUATIONS FROM bids;
CREATE RELATION Category (id INT, "the name" STRING, KEY (id)) APPEND ONLY;
CREATE NRR person (id BIGINT KEY, city STRING);
CREATE SINK alerts TO console;
CREATE FUNCTION twice(x DOUBLE) RETURNS DOUBLE;
CREATE AGGREGATE FUNCTION blend(x DOUBLE) RETURNS STRUCT<a: INT>;
CREATE CONSTRAINT r REFERENCES opened (auction) FROM bids (auction) WITHIN 5 SECONDS;
"""


def test_a_file_is_the_program_it_stands_for() -> None:
    resolution = resolve(parse(Source(PROGRAM)).program)
    assert resolution.diagnostics == ()
    catalog = parse_catalog(FILE)
    assert catalog == resolution.catalog
    assert catalog.tables["bids"].span == NOWHERE
    assert catalog.tables["bids"].checks[0].span == NOWHERE


def test_yaml_and_json_files(tmp_path: Path) -> None:
    yaml_file, json_file = tmp_path / "c.yaml", tmp_path / "c.json"
    yaml_file.write_text(FILE, "utf-8")
    json_file.write_text(json.dumps(yaml.safe_load(FILE)), "utf-8")
    assert load_catalog(yaml_file) == load_catalog(json_file)


def test_an_empty_file_declares_nothing() -> None:
    assert parse_catalog("").tables == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("streams: {x: {columns: {a: BIGNIT}}}", "streams.x: CQL1010: .*did you mean BIGINT"),
        ("streams: {x: {columns: {a: INT}, timestamp_by: b}}", "streams.x: CQL1002"),
        ("streams: {x: {colums: {a: INT}}}", "streams.x.colums"),
        ("version: 2", "version: "),
        ("- 1", "the file: "),
        ("a: [", "not YAML"),
        ("streams: {x: {columns: {a: INT, b: 'INT CHECK ('}}}", "streams.x: CQL0"),
        ("streams: {x: {columns: {a: {type: 5}}}}", "streams.x.columns.a"),
        ("streams: {x: {columns: {a: INT}}}\nrelations: {x: {columns: {a: INT}}}", "CQL1004"),
        ("sinks: {x: {}}", "sinks.x.format"),
    ],
)
def test_mistakes_name_their_entry(text: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        parse_catalog(text, "c.yaml")


def test_all_mistakes_are_told() -> None:
    with pytest.raises(CatalogError) as caught:
        parse_catalog("streams: {x: {columns: {a: FOO, b: BAR}}, y: {columns: {a: BAZ}}}")
    assert len(str(caught.value).splitlines()) == 3


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "broken.json").write_text("{", "utf-8")
    for name, message in (
        ("missing.yaml", "No such file"),
        (".", "Is a directory"),
        ("binary.yaml", "not a text file"),
        ("broken.json", "not JSON"),
    ):
        with pytest.raises(CatalogError, match=message):
            load_catalog(tmp_path / name)
