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
from cqlc.compiler import compile_program


def add(subparsers: Any) -> None:
    """Declares the command."""
    command = subparsers.add_parser("explain", help="show the plans of a program's queries")
    add_programs(command, many=False)
    add_common(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Prints the plan of every query that resolves; findings go to standard error."""
    from cqlc.algebra.json import plan_to_json
    from cqlc.algebra.text import plan_text

    compilation = compile_program(read_source(arguments.file), read_catalog(arguments))
    print_findings(compilation.source, compilation.diagnostics, output, error=True)
    if output.json:
        output.document(
            [{"query": q.name, "plan": plan_to_json(q.plan)} for q in compilation.queries]
        )
    else:
        for query in compilation.queries:
            output.print(f"{query.name}\n{plan_text(query.plan)}\n")
    return CLEAN if compilation.ok else FINDINGS
