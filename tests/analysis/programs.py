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
