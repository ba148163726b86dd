"""`cqlc fmt`: programs in their canonical layout."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cqlc.cli.common import CLEAN, FINDINGS, Output, add_common, print_findings, read_source
from cqlc.diagnostics import has_errors
from cqlc.source import Source
from cqlc.syntax.parser import parse
from cqlc.syntax.printer import format_program


def add(subparsers: Any) -> None:
    """Declares the command."""
    command = subparsers.add_parser("fmt", help="format programs in place, comments kept")
    command.add_argument(
        "files", nargs="+", metavar="FILE", help="a CQL program; - formats standard input to output"
    )
    command.add_argument(
        "--check", action="store_true", help="write nothing; fail if a file is not formatted"
    )
    command.add_argument("--diff", action="store_true", help="write nothing; show the changes")
    add_common(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Formats every file; 1 if one has syntax errors, or differs under --check or --diff."""
    code = CLEAN
    document: list[dict[str, Any]] = []
    for path in arguments.files:
        source = read_source(path)
        findings = parse(source).diagnostics
        if has_errors(findings):
            print_findings(source, findings, output, error=True)
            output.error(f"{source.name}: not formatted, it has syntax errors")
            document.append({"file": source.name, "changed": None})
            code = FINDINGS
            continue
        text = format_program(source)
        changed = text != source.text
        document.append({"file": source.name, "changed": changed})
        if arguments.check or arguments.diff:
            code = FINDINGS if changed else code
        _deliver(arguments, source, text, output)
    if output.json:
        output.document(document)
    return code


def _deliver(arguments: argparse.Namespace, source: Source, text: str, output: Output) -> None:
    """Writes, shows or mentions a formatted text, as the options say."""
    changed = text != source.text
    if arguments.diff:
        if not output.json:
            output.print(_diff(source, text))
    elif arguments.check:
        if changed and not output.json:
            output.print(f"{source.name}: would be reformatted")
    elif source.name == "<stdin>":
        if not output.json:
            output.print(text)
    elif changed:
        Path(source.name).write_text(text, encoding="utf-8")
        output.error(f"{source.name}: formatted")


def _diff(source: Source, text: str) -> str:
    from difflib import unified_diff

    before, after = source.text.splitlines(keepends=True), text.splitlines(keepends=True)
    return "".join(unified_diff(before, after, source.name, f"{source.name} (formatted)"))
