"""`cqlc explain`: the plans of a program."""

from __future__ import annotations

import argparse
from typing import Any

from cqlc.cli.common import (
    CLEAN,
    FINDINGS,
    Output,
    add_common,
    add_programs,
    print_findings,
    read_catalog,
    read_source,
)
from cqlc.compiler import analyse, compile_program


def add(subparsers: Any) -> None:
    """Declares the command."""
    command = subparsers.add_parser("explain", help="show the plans of a program's queries")
    add_programs(command, many=False)
    add_common(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Prints the plan of every query that resolves; findings go to standard error."""
    from cqlc.algebra.json import plan_to_json
    from cqlc.render.plan import explained_json, explained_rich, explained_text

    compilation = compile_program(read_source(arguments.file), read_catalog(arguments))
    print_findings(compilation.source, compilation.diagnostics, output, error=True)
    catalog, verdicts = compilation.catalog, analyse(compilation).verdicts
    if output.json:
        output.document(
            [
                {
                    "query": q.name,
                    "verdict": verdicts[q.name].verdict.value,
                    "plan": plan_to_json(q.plan),
                    "edges": explained_json(q.plan, catalog, verdicts[q.name]),
                }
                for q in compilation.queries
            ]
        )
        return CLEAN if compilation.ok else FINDINGS
    for query in compilation.queries:
        judged = verdicts[query.name]
        output.print(f"{query.name}: {judged.verdict.value}, {judged.deciding.reason}")
        if output.colored():
            output.rich(explained_rich(query.plan, catalog, judged))
        else:
            output.print(explained_text(query.plan, catalog, judged))
        output.print("")
    return CLEAN if compilation.ok else FINDINGS
