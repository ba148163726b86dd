"""The command line: arguments, files, exit codes; no logic of its own.

Exit codes: 0 clean, 1 findings, 2 misuse (wrong arguments, unreadable files, internal errors).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from cqlc.cli import check, completion, explain, fmt, help, test
from cqlc.cli.common import FINDINGS, MISUSE, Output, UsageError

COMMANDS = (check, explain, test, fmt, help, completion)
"""Each module has `add(subparsers)` and a `run(arguments, output) -> exit code` set there."""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = argparse.ArgumentParser(
        prog="cqlc",
        description="A compiler for continuous queries: CQL in, proofs about state and exact "
        "PySpark streaming plans out.",
        epilog="Exit codes: 0 clean, 1 findings, 2 misuse. `cqlc help CQL0001` explains a code.",
    )
    top.add_argument("--version", action="version", version=f"cqlc {_version()}")
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add(subparsers)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command and returns its exit code."""
    parsed = parser().parse_args(arguments)
    output = Output.of(parsed)
    try:
        return parsed.run(parsed, output)
    except UsageError as error:
        output.error(f"cqlc: {error}")
        return MISUSE
    except BrokenPipeError:
        # The reader (head, less) has gone: nobody is left to tell.
        sys.stderr.close()
        return FINDINGS
    except KeyboardInterrupt:
        output.error("cqlc: interrupted")
        return 130


def entry() -> None:
    """The installed `cqlc` script."""
    sys.exit(main())


def _version() -> str:
    from importlib.metadata import version

    return version("cqlc")
