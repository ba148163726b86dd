"""`cqlc check`: all findings about a program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cqlc.analysis.punctuation import Verdict
from cqlc.analysis.verdict import QueryVerdict, StateVerdict
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
from cqlc.compiler import Analysed, Compilation, analyse, compile_program
from cqlc.diagnostics import has_errors, in_order

_MOST_REPAIRS = 3
"""How many repairs of a query the text shows, the smallest ones; JSON has all."""


def add(subparsers: Any) -> None:
    """Declares the command."""
    command = subparsers.add_parser("check", help="report every mistake and finding of a program")
    add_programs(command)
    add_common(command)
    command.add_argument(
        "--bounded",
        action="store_true",
        help="fail unless the state of every query is BOUNDED, WINDOWED or PURGEABLE",
    )
    command.add_argument(
        "--punctuation",
        action="store_true",
        help="fail unless punctuations can free every stored row of every join",
    )
    command.add_argument("--fix", action="store_true", help="apply the fixes that are certain")
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Checks every file; 1 if any has errors."""
    catalog = read_catalog(arguments)
    sources = [read_source(path) for path in arguments.files]
    compilations = [compile_program(source, catalog) for source in sources]
    if arguments.fix:
        compilations = [_fixed(compilation, output) for compilation in compilations]
    analysed = [analyse(compilation) for compilation in compilations]
    pairs = list(zip(compilations, analysed, strict=True))
    if output.json:
        output.document([_document(*pair) for pair in pairs])
    else:
        for pair in pairs:
            _report(*pair, output)
    return CLEAN if all(_passes(*pair, arguments) for pair in pairs) else FINDINGS


def _passes(compilation: Compilation, proved: Analysed, arguments: argparse.Namespace) -> bool:
    """Whether a program is as good as the options ask."""
    verdicts = proved.verdicts.values()
    if not compilation.ok or has_errors(proved.diagnostics):
        return False
    if arguments.bounded and not all(v.verdict.bounded for v in verdicts):
        return False
    return not arguments.punctuation or all(_is_safe(v) for v in verdicts)


def _is_safe(judged: QueryVerdict) -> bool:
    """Whether every block either keeps nothing for ever or is freed by punctuations."""
    return all(
        block.verdict.rank <= StateVerdict.WINDOWED.rank
        or (block.safety is not None and block.safety.verdict is Verdict.SAFE)
        for block in judged.blocks
    )


def _report(compilation: Compilation, proved: Analysed, output: Output) -> None:
    from cqlc.render.verdict import verdict_text

    findings = in_order((*compilation.diagnostics, *proved.diagnostics))
    print_findings(compilation.source, findings, output)
    for name, judged in proved.verdicts.items():
        output.print(verdict_text(name, judged))
        for repair in proved.repairs.get(name, ())[:_MOST_REPAIRS]:
            output.print(f"  repair: {repair}")
    queries = len(compilation.queries)
    output.print(
        f"{compilation.source.name}: {count_findings(findings)}, "
        f"{queries} {'query' if queries == 1 else 'queries'}"
    )


def _document(compilation: Compilation, proved: Analysed) -> dict[str, Any]:
    from cqlc.render.diagnostic import render_json
    from cqlc.render.verdict import verdict_json

    source = compilation.source
    findings = in_order((*compilation.diagnostics, *proved.diagnostics))
    return {
        "file": source.name,
        "ok": compilation.ok,
        "diagnostics": [render_json(d, source) for d in findings],
        "queries": [
            verdict_json(name, judged, source)
            | {"repairs": [str(repair) for repair in proved.repairs.get(name, ())]}
            for name, judged in proved.verdicts.items()
        ],
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
