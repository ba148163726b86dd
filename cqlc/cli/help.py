"""`cqlc help`: the page of an error code, or the list of all codes."""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from importlib import resources
from typing import Any

from cqlc.cli.common import CLEAN, Output, UsageError, add_common
from cqlc.codes import CODES


def add(subparsers: Any) -> None:
    """Declares the command."""
    command = subparsers.add_parser("help", help="explain an error code, e.g. `cqlc help CQL0001`")
    command.add_argument("code", nargs="?", metavar="CODE", help="a code; none lists them all")
    add_common(command)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Prints the page of a code, or all codes with their titles."""
    if arguments.code is None:
        _list(output)
        return CLEAN
    code = CODES.get(arguments.code.upper())
    if code is None:
        near = get_close_matches(str(arguments.code).upper(), list(CODES), n=3, cutoff=0.6)
        hint = f"; close to it: {', '.join(near)}" if near else ""
        raise UsageError(f"no code {arguments.code}{hint} (`cqlc help` lists all)")
    page = (resources.files("cqlc") / "errors" / f"{code.id}.md").read_text("utf-8")
    if output.json:
        output.document({"code": code.id, "title": code.title, "page": page})
    elif output.colored():
        from rich.markdown import Markdown

        output.rich(Markdown(page))
    else:
        output.print(page)
    return CLEAN


def _list(output: Output) -> None:
    if output.json:
        output.document(
            [{"code": c.id, "severity": c.severity, "title": c.title} for c in CODES.values()]
        )
        return
    for code in CODES.values():
        output.print(f"{code.id}  {code.severity.value:<8} {code.title}")
