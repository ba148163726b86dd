"""Where the resolver's findings go."""

from __future__ import annotations

from cqlc.diagnostics import Code, Diagnostic, Fix, Label, Severity
from cqlc.source import Span


class Findings:
    """Collects findings, and counts what keeps plans from being made."""

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.failures = 0
        """Errors so far, and uses of what failed before: a statement that adds some has no plan."""

    def report(
        self,
        code: Code,
        message: str,
        span: Span,
        label: str = "",
        *,
        help: str = "",
        related: tuple[Label, ...] = (),
        fix: Fix | None = None,
    ) -> None:
        """Adds a finding."""
        found = Diagnostic(code, message, Label(span, label), related, help, fix)
        self.diagnostics.append(found)
        if code.severity is Severity.ERROR:
            self.failures += 1

    def depend_on_failure(self) -> None:
        """Something that failed before is used; it was reported there."""
        self.failures += 1
