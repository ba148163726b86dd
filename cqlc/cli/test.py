"""`cqlc test`: unit tests of queries, written in Markdown."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from cqlc.cli.common import CLEAN, FINDINGS, Output, UsageError, add_common


def add(subparsers: Any) -> None:
    """Declares the command."""
    command = subparsers.add_parser("test", help="run tests of queries from Markdown files")
    command.add_argument("paths", nargs="+", metavar="PATH", help="a .md file, or a directory")
    command.add_argument(
        "--engine",
        choices=("reference", "spark"),
        default="reference",
        help="what answers the queries (default: reference)",
    )
    command.add_argument("--bless", action="store_true", help="write the answers into the files")
    command.add_argument("--junit", metavar="FILE", help="write a JUnit XML report")
    add_common(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Runs the tests; 1 if one fails or there is none."""
    from cqlc.testing import run_paths

    paths = [Path(path) for path in arguments.paths]
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or directory")
    junit = None if arguments.junit is None else Path(arguments.junit)
    report = run_paths(paths, arguments.engine, bless=arguments.bless, junit=junit)
    if output.json:
        output.document(
            [
                {
                    "file": str(o.path),
                    "line": o.line,
                    "title": o.title,
                    "ok": o.ok,
                    "problems": list(o.problems),
                    "seconds": round(o.seconds, 3),
                }
                for o in report.outcomes
            ]
        )
    else:
        output.print(report.text())
        if not report.outcomes:
            output.error("no tests found: a test is a section with a query and tables")
    return CLEAN if report.ok else FINDINGS
