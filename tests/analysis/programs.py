"""Programs for the analyses of joins: streams with few columns, declared as a test wants them."""

from __future__ import annotations

from cqlc.algebra.plan import Plan
from cqlc.catalog import Catalog
from cqlc.compiler import compile_program


def program(query: str, *, tables: str = "", **clauses: str) -> tuple[Plan, Catalog]:
    """The plan of a query over streams `a`, `b`, `c` of columns k, l, v and the time `at`.

    A clause is what follows TIMESTAMP BY in a stream's declaration; `a_key="k"` makes k unique.
    """
    declared: list[str] = []
    for name in "abc":
        columns = "k BIGINT, l INT, v DOUBLE, ok BOOLEAN NOT NULL, at TIMESTAMP"
        if f"{name}_key" in clauses:
            columns += f", UNIQUE ({clauses[f'{name}_key']})"
        declared.append(
            f"CREATE STREAM {name} ({columns}) TIMESTAMP BY at {clauses.get(name, '')};"
        )
    compiled = compile_program("\n".join([*declared, tables, query])).require()
    return compiled.queries[-1].plan, compiled.catalog


def large_program(streams: int, predicates: int) -> str:
    """A program with one chain of joins, each on many columns, for measuring."""
    pairs = streams - 1
    columns = ", ".join(f"c{j} BIGINT" for j in range(-(-predicates // pairs) + 1))
    declared = "\n".join(
        f"CREATE STREAM s{i} ({columns}, at TIMESTAMP, UNIQUE (c0)) "
        "TIMESTAMP BY at PUNCTUATED BY (c0);"
        for i in range(streams)
    )
    conditions: list[str] = []
    for number in range(predicates):
        column, i = divmod(number, pairs)
        conditions.append(f"s{i}.c{column + 1} = s{i + 1}.c{column + 1 if column else 0}")
    names = ", ".join(f"s{i}" for i in range(streams))
    return f"{declared}\nSELECT ISTREAM(s0.c0) FROM {names} WHERE {' AND '.join(conditions)};"
