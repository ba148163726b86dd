"""What all commands share: reading programs, printing, options and exit codes."""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cqlc.catalog import EMPTY, Catalog
from cqlc.diagnostics import Diagnostic, Severity
from cqlc.source import Source

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

CLEAN, FINDINGS, MISUSE = 0, 1, 2


class UsageError(Exception):
    """A command that cannot be carried out as given; ends in exit code 2."""


@dataclass(frozen=True, slots=True)
class Output:
    """Where a command prints, and how: text or JSON, with colour or without."""

    format: str
    color: str

    @staticmethod
    def of(arguments: argparse.Namespace) -> Output:
        """The output a command's arguments ask for."""
        return Output(getattr(arguments, "format", "text"), getattr(arguments, "color", "auto"))

    @property
    def json(self) -> bool:
        """Whether JSON is wanted."""
        return self.format == "json"

    def colored(self, error: bool = False) -> bool:
        """Whether to colour: on request, else only on a terminal and without NO_COLOR."""
        if self.color == "auto":
            stream = sys.stderr if error else sys.stdout
            return stream.isatty() and not os.environ.get("NO_COLOR")
        return self.color == "always"

    def console(self, error: bool = False) -> Console:
        """A rich console; made only when colour is wanted, since rich is slow to import."""
        from rich.console import Console

        return Console(force_terminal=True, stderr=error, soft_wrap=True, highlight=False)

    def print(self, text: str) -> None:
        """A line or a text to standard output."""
        sys.stdout.write(text if text.endswith("\n") else text + "\n")

    def error(self, text: str) -> None:
        """A line or a text to standard error."""
        sys.stdout.flush()
        sys.stderr.write(text if text.endswith("\n") else text + "\n")

    def rich(self, renderable: RenderableType, error: bool = False) -> None:
        """Something of rich's, in colour."""
        self.console(error).print(renderable)

    def document(self, data: Any) -> None:
        """A JSON document to standard output."""
        self.print(json.dumps(data, indent=2, ensure_ascii=False, default=str))


def add_common(command: argparse.ArgumentParser) -> None:
    """The options every command has."""
    command.add_argument(
        "--format", choices=("text", "json"), default="text", help="what to print (default: text)"
    )
    command.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="colour the text (default: auto, on a terminal only)",
    )


def add_programs(command: argparse.ArgumentParser, many: bool = True) -> None:
    """The positional program files and the catalog they are compiled with."""
    if many:
        command.add_argument(
            "files", nargs="+", metavar="FILE", help="a CQL program, or - for standard input"
        )
    else:
        command.add_argument("file", metavar="FILE", help="a CQL program, or - for standard input")
    command.add_argument(
        "--catalog",
        metavar="FILE",
        help="more declarations, from a YAML or JSON file",
    )


def read_source(path: str) -> Source:
    """The program in a file, or on standard input for `-`."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except FileNotFoundError:
        raise UsageError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UsageError(f"{path}: is a directory, not a CQL program") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    name = "<stdin>" if path == "-" else path
    try:
        return Source(data.decode("utf-8-sig"), name)
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: not UTF-8 text (byte {error.start} cannot be decoded)") from None


def read_catalog(arguments: argparse.Namespace) -> Catalog:
    """The catalog of `--catalog`, or an empty one."""
    path: str | None = arguments.catalog
    if path is None:
        return EMPTY
    from cqlc.catalog_file import CatalogError, load_catalog

    try:
        return load_catalog(Path(path))
    except CatalogError as error:
        raise UsageError(str(error)) from None


def print_findings(
    source: Source, diagnostics: tuple[Diagnostic, ...], output: Output, error: bool = False
) -> None:
    """Findings as text, to standard output or standard error."""
    from cqlc.render.diagnostic import render_rich, render_text

    for diagnostic in diagnostics:
        if output.colored(error):
            output.rich(render_rich(diagnostic, source), error)
            output.rich("", error)
        else:
            (output.error if error else output.print)(render_text(diagnostic, source) + "\n\n")


def count_findings(diagnostics: tuple[Diagnostic, ...]) -> str:
    """`2 errors, 1 warning`; `no findings` if there are none."""
    counts = [
        (sum(d.severity is severity for d in diagnostics), severity.value) for severity in Severity
    ]
    parts = [f"{n} {word}{'' if n == 1 else 's'}" for n, word in counts if n]
    return ", ".join(parts) or "no findings"
