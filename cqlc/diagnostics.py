"""Findings about a program, as data: codes, places, help and fixes.

A code is declared once in `cqlc.codes`, with a title and a severity, and has one page in
`docs/errors/`. Prose is written where the facts are known; drawing happens in `cqlc.render`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from cqlc.source import NOWHERE, Source, Span


class Severity(StrEnum):
    """How bad a finding is; only errors stop a compilation."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Code:
    """The name of one kind of finding."""

    id: str
    title: str
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True)
class Label:
    """What is true at one place of the text."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Fix:
    """An edit known to be right: replace the text under `span` by `replacement`."""

    title: str
    span: Span
    replacement: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: what is wrong, what is true at the place, and a way out."""

    code: Code
    message: str
    primary: Label
    related: tuple[Label, ...] = ()
    help: str = ""
    fix: Fix | None = None

    @property
    def severity(self) -> Severity:
        """The severity of the code."""
        return self.code.severity


class CompileError(Exception):
    """A program that does not compile, with everything found wrong in it."""

    def __init__(self, source: Source, diagnostics: Iterable[Diagnostic]) -> None:
        self.source = source
        self.diagnostics = in_order(diagnostics)
        super().__init__("\n".join(f"{d.code.id}: {d.message}" for d in self.diagnostics))


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The distinct findings, in the order of their places; those without a place come last."""
    unique = dict.fromkeys(diagnostics)
    return tuple(sorted(unique, key=lambda d: (d.primary.span == NOWHERE, d.primary.span)))


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any finding is an error."""
    return any(d.severity is Severity.ERROR for d in diagnostics)
