"""`cqlc completion`: a completion script for a shell."""

from __future__ import annotations

import argparse
from typing import Any

from cqlc.cli.common import CLEAN, Output

SHELLS = ("bash", "zsh", "tcsh")


def add(subparsers: Any) -> None:
    """Declares the command."""
    command = subparsers.add_parser(
        "completion",
        help="print a completion script for a shell",
        epilog='For bash: eval "$(cqlc completion bash)". For zsh: cqlc completion zsh > '
        "a file named _cqlc in a directory of $fpath.",
    )
    command.add_argument("shell", choices=SHELLS)
    command.set_defaults(run=run)


def run(arguments: argparse.Namespace, output: Output) -> int:
    """Prints the script."""
    import shtab

    from cqlc.cli import parser

    output.print(shtab.complete(parser(), arguments.shell))
    return CLEAN
