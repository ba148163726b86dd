"""How long reading a program takes: import, check as a command, parse and resolve in process."""

from __future__ import annotations

from cqlc.compiler import compile_program
from cqlc.source import Source
from cqlc.syntax.parser import parse
from tests.bench.figures import ROOT, Section, cpu_seconds, milliseconds, ratio, seconds

EXAMPLE = ROOT / "examples" / "queries" / "quickstart" / "auctions.cql"


def statements(count: int) -> str:
    """A program of `count` statements of the usual kinds."""
    lines = [
        "CREATE STREAM bids (auction BIGINT, bidder BIGINT, price DOUBLE, at TIMESTAMP) "
        "TIMESTAMP BY at;"
    ]
    for i in range(1, count):
        lines.append(
            f"CREATE VIEW v{i} AS SELECT auction, COUNT(*) AS n, MAX(price) AS top "
            f"FROM bids [RANGE {i} MINUTES SLIDE 1 MINUTE] WHERE price > {i} GROUP BY auction;"
            if i % 2
            else f"SELECT ISTREAM(b.auction, b.price) FROM bids [NOW] b, v{i - 1} "
            f"WHERE b.auction = v{i - 1}.auction AND b.price >= v{i - 1}.top;"
        )
    return "\n".join(lines)


def run() -> list[Section]:
    """The figures of the front end."""
    nothing = cpu_seconds("pass")
    imported = cpu_seconds("import cqlc")
    checked = cpu_seconds(
        f"import sys; from cqlc.cli import main; main(['check', {str(EXAMPLE)!r}])"
    )
    text = statements(30)
    parse(Source(text))
    parsing = seconds(lambda: parse(Source(text)))
    resolved = seconds(lambda: compile_program(Source(text)))
    process = [
        ("a Python that does nothing (CPU)", milliseconds(nothing)),
        ("`import cqlc` on top of it (CPU)", milliseconds(imported - nothing)),
        ("`cqlc check` of the quickstart, whole process (CPU)", milliseconds(checked)),
        ("parse 30 statements, in process", milliseconds(parsing)),
        ("parse and resolve 30 statements, in process", milliseconds(resolved)),
    ]
    growth: list[tuple[str, ...]] = []
    base = None
    for count in (10, 100, 1000):
        source = Source(statements(count))
        each = seconds(lambda source=source: compile_program(source), repeat=3) / count
        base = base or each
        growth.append(
            (str(count), milliseconds(each * count), milliseconds(each), ratio(each / base))
        )
    return [
        Section("front-end", "The front end", ("what", "median"), process),
        Section(
            "front-end-growth",
            "Growth with the number of statements",
            ("statements", "parse and resolve", "per statement", "per statement against 10"),
            growth,
            "Linear growth keeps the last column near 1.",
        ),
    ]
