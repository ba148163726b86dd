"""Verdicts as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cqlc.analysis.size import evaluate, symbols, text
from cqlc.analysis.verdict import Estimate, OperatorVerdict, QueryVerdict
from cqlc.render.diagnostic import span_json
from cqlc.source import Source


def verdict_text(name: str, verdict: QueryVerdict) -> str:
    """A query's verdict, then one line per stateful operator with what it holds."""
    deciding = verdict.deciding
    lines = [f"{name}: {verdict.verdict.value}, {deciding.reason}"]
    for operator in verdict.operators:
        lines += (f"  {line}" for line in _operator_lines(operator))
    if deciding.memory is not None and (kept := _synopsis(verdict)):
        lines += (f"  keeps {line}" for line in kept)
    return "\n".join(lines)


def verdict_json(name: str, verdict: QueryVerdict, source: Source) -> dict[str, Any]:
    """A query's verdict as JSON data."""
    return {
        "query": name,
        "verdict": verdict.verdict.value,
        "reason": verdict.deciding.reason,
        "keeps": _synopsis(verdict),
        "evidence": [
            {"rule": e.rule, "text": e.text, **span_json(e.span, source)}
            for e in verdict.deciding.evidence
        ],
        "operators": [_operator_json(operator, source) for operator in verdict.operators],
    }


def _operator_lines(operator: OperatorVerdict) -> Iterator[str]:
    yield f"{operator.what}"
    yield f"  {operator.verdict.value}: {operator.reason}"
    for evidence in operator.evidence:
        yield f"  by {evidence.rule}: {evidence.text}"
    if operator.estimate:
        yield f"  holds at most {_estimate_text(operator.estimate)}"
    if operator.waits_for:
        yield f"  shrinks when the watermarks of {', '.join(operator.waits_for)} pass"


def _estimate_text(estimate: Estimate) -> str:
    rows = evaluate(estimate.rows)
    formula = text(estimate.rows)
    if rows is None:
        return f"{formula} rows of about {estimate.row_bytes} bytes"
    known = "" if formula == _count(rows) else f"{formula} = "
    return f"{known}{_count(rows)} rows, about {_bytes(rows * estimate.row_bytes)}"


def _count(rows: float) -> str:
    return f"{rows:,.0f}"


def _bytes(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError


def _synopsis(verdict: QueryVerdict) -> list[str]:
    """What a bounded query keeps, in words."""
    from cqlc.analysis.bounded_memory import Bounded

    memory = verdict.deciding.memory
    if not isinstance(memory, Bounded):
        return []
    kept = [f"{s.stream}: {s.keeps} ({s.values} values)" for s in memory.synopsis.streams]
    kept += [f"of the answer: {a.keeps} ({a.values} values)" for a in memory.synopsis.answer]
    return kept


def _operator_json(operator: OperatorVerdict, source: Source) -> dict[str, Any]:
    estimate = operator.estimate
    rows = None if estimate is None else evaluate(estimate.rows)
    return {
        "operator": operator.what,
        "verdict": operator.verdict.value,
        "reason": operator.reason,
        "evidence": [{"rule": e.rule, "text": e.text} for e in operator.evidence],
        "rows": None
        if estimate is None
        else {
            "formula": text(estimate.rows),
            "estimate": rows,
            "bytes": None if rows is None else rows * estimate.row_bytes,
            "symbols": {s.name: s.meaning for s in symbols(estimate.rows).values()},
        },
        "watermarks": list(operator.waits_for),
        **span_json(operator.operator.span, source),
    }
