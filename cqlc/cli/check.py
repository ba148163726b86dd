"""`cqlc check`: all findings about a program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cqlc.cli.common import (
    CLEAN,
    FINDINGS,
    Output,
    UsageError,
    add_common,
    add_programs,
    count_findings,
    print_findings,
    read_catalog,
    read_source,
)
from cqlc.compiler import Compilation, compile_program


def add(subparsers: Any) -> None:
    """Declares the command."""
    command = subparsers.add_parser("check", help="report every mistake and finding of a program")
    add_programs(command)
    add_common(command)
    command.add_argument("--fix", action="store_true", help="apply the fixes that are certain")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Checks every file; 1 if any has errors."""
    catalog = read_catalog(arguments)
    sources = [read_source(path) for path in arguments.files]
    compilations = [compile_program(source, catalog) for source in sources]
    if arguments.fix:
        compilations = [_fixed(compilation, output) for compilation in compilations]
    if output.json:
        output.document([_document(compilation) for compilation in compilations])
    else:
        for compilation in compilations:
            _report(compilation, output)
    return CLEAN if all(compilation.ok for compilation in compilations) else FINDINGS


def _report(compilation: Compilation, output: Output) -> None:
    print_findings(compilation.source, compilation.diagnostics, output)
    queries = len(compilation.queries)
    output.print(
        f"{compilation.source.name}: {count_findings(compilation.diagnostics)}, "
        f"{queries} {'query' if queries == 1 else 'queries'}"
    )


def _document(compilation: Compilation) -> dict[str, Any]:
    from cqlc.render.diagnostic import render_json

    return {
        "file": compilation.source.name,
        "ok": compilation.ok,
        "diagnostics": [render_json(d, compilation.source) for d in compilation.diagnostics],
        "queries": [query.name for query in compilation.queries],
    }


def _fixed(compilation: Compilation, output: Output) -> Compilation:
    """The program with its certain fixes applied and written back."""
    from cqlc.render.diagnostic import apply_fixes
    from cqlc.source import Source

    source = compilation.source
    text = apply_fixes(source, compilation.diagnostics)
    if text == source.text:
        return compilation
    if source.name == "<stdin>":
        raise UsageError("--fix writes files; standard input has none")
    Path(source.name).write_text(text, encoding="utf-8")
    output.error(f"{source.name}: fixed")
    return compile_program(Source(text, source.name))
