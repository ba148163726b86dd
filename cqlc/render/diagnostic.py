"""Findings as plain text, as rich text and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cqlc.diagnostics import Diagnostic, Fix, Label, Severity
from cqlc.source import NOWHERE, Source, Span

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow", Severity.NOTE: "bold cyan"}
_WIDEST = 160
"""Longer source lines are cut around the place, so that a message never scrolls away."""


def render_text(diagnostic: Diagnostic, source: Source) -> str:
    """A finding as plain text."""
    return "".join(text for text, _ in _pieces(diagnostic, source)).rstrip("\n")


def render_rich(diagnostic: Diagnostic, source: Source) -> Text:
    """A finding as rich text: the same characters as `render_text`, with styles."""
    from rich.text import Text

    text = Text()
    for piece, style in _pieces(diagnostic, source):
        text.append(piece, style)
    text.rstrip()
    return text


def render_json(diagnostic: Diagnostic, source: Source) -> dict[str, Any]:
    """A finding as JSON data."""
    return {
        "code": diagnostic.code.id,
        "severity": diagnostic.severity.value,
        "title": diagnostic.code.title,
        "message": diagnostic.message,
        "primary": _label_json(diagnostic.primary, source),
        "related": [_label_json(label, source) for label in diagnostic.related],
        "help": diagnostic.help or None,
        "fix": _fix_json(diagnostic.fix, source),
    }


def apply_fixes(source: Source, diagnostics: Iterable[Diagnostic]) -> str:
    """The text with every fix applied that does not overlap an earlier one."""
    text, limit = source.text, len(source.text) + 1
    fixes = sorted({d.fix for d in diagnostics if d.fix}, key=lambda f: f.span, reverse=True)
    for fix in fixes:
        if fix.span.end <= limit:
            text = text[: fix.span.start] + fix.replacement + text[fix.span.end :]
            limit = fix.span.start
    return text


def _pieces(diagnostic: Diagnostic, source: Source) -> Iterable[tuple[str, str]]:
    """The text of a finding in pieces, each with its style."""
    strong = _STYLES[diagnostic.severity]
    yield f"{diagnostic.severity.value}[{diagnostic.code.id}]", strong
    yield f": {diagnostic.message}\n", "bold"
    labels = [diagnostic.primary, *diagnostic.related]
    margin = _margin(labels, source)
    for index, label in enumerate(labels):
        if label.span == NOWHERE:
            if label.text:
                yield f"{margin}= {label.text}\n", ""
            continue
        yield from _place(label, source, margin, "^" if index == 0 else "-", index == 0, strong)
    if diagnostic.help:
        yield f"{margin}= help: ", "bold green"
        yield diagnostic.help.replace("\n", f"\n{margin}        ") + "\n", ""
    if diagnostic.fix:
        yield f"{margin}= fix: ", "bold green"
        yield _fix_text(diagnostic.fix) + "\n", ""


def _margin(labels: list[Label], source: Source) -> str:
    lines = [source.position(label.span.start).line for label in labels if label.span != NOWHERE]
    return " " * (len(str(max(lines, default=1))) + 1)


def _place(
    label: Label, source: Source, margin: str, mark: str, primary: bool, strong: str
) -> Iterable[tuple[str, str]]:
    """The line a label points at, underlined."""
    at = source.position(label.span.start)
    arrow = "-->" if primary else ":::"
    yield f"{margin[:-1]}{arrow} {source.name}:{at.line}:{at.column}\n", "blue"
    line, column, width = _excerpt(label.span, source)
    yield f"{margin}|\n", "blue"
    yield f"{str(at.line).rjust(len(margin) - 1)} | ", "blue"
    yield line + "\n", ""
    yield f"{margin}| ", "blue"
    underline = " " * column + mark * width
    yield f"{underline}{' ' + label.text if label.text else ''}\n", strong if primary else "blue"


def _excerpt(span: Span, source: Source) -> tuple[str, int, int]:
    """The line of a span as shown, the column of the span in it and its width."""
    at = source.position(span.start)
    line = source.line(at.line)
    start = at.column - 1
    width = max(1, min(span.end - span.start, len(line) - start))
    if len(line) > _WIDEST:
        cut = max(0, start - _WIDEST // 2)
        line, start = line[cut : cut + _WIDEST], start - cut
        width = max(1, min(width, _WIDEST - start))
    visible = "".join(char if char.isprintable() else " " for char in line)
    return visible, start, width


def _fix_text(fix: Fix) -> str:
    return f"{fix.title}: `{fix.replacement}`" if fix.replacement else fix.title


def _label_json(label: Label, source: Source) -> dict[str, Any] | None:
    return {"text": label.text, **span_json(label.span, source)}


def _fix_json(fix: Fix | None, source: Source) -> dict[str, Any] | None:
    if fix is None:
        return None
    return {
        "title": fix.title,
        "replacement": fix.replacement,
        **span_json(fix.span, source),
    }


def span_json(span: Span, source: Source) -> dict[str, Any]:
    """A place as JSON data, under the key `span`."""
    if span == NOWHERE:
        return {"span": None}
    start, end = source.position(span.start), source.position(span.end)
    return {
        "span": {
            "start": {"offset": span.start, "line": start.line, "column": start.column},
            "end": {"offset": span.end, "line": end.line, "column": end.column},
        }
    }
