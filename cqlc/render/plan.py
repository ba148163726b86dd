"""Plans as text with what is known about every edge: update pattern, lifetime, state, verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cqlc.algebra.plan import Plan
from cqlc.algebra.text import duration_text, node_text, plan_text
from cqlc.algebra.walk import subplans
from cqlc.analysis.state import Annotation, annotate
from cqlc.analysis.update_pattern import Edge, UpdatePattern
from cqlc.analysis.verdict import OperatorVerdict, QueryVerdict
from cqlc.catalog import Catalog

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {
    "MONOTONIC": "green",
    "WEAKEST": "cyan",
    "WEAK": "yellow",
    "STRICT": "red",
    "BOUNDED": "bold green",
    "WINDOWED": "bold green",
    "PURGEABLE": "bold green",
    "UNKNOWN": "bold yellow",
    "UNBOUNDED": "bold red",
}


def explained_text(plan: Plan, catalog: Catalog, verdict: QueryVerdict) -> str:
    """The plan, one line per operator, each with the pattern of its edge and its state."""
    known = annotate(plan, catalog)
    judged = {id(operator.operator): operator for operator in verdict.operators}
    return plan_text(plan, lambda node: _note(known[id(node)], judged.get(id(node))))


def explained_rich(plan: Plan, catalog: Catalog, verdict: QueryVerdict) -> Text:
    """The same characters as `explained_text`, with patterns and verdicts coloured."""
    from rich.text import Text

    text = Text(explained_text(plan, catalog, verdict))
    for word, style in _STYLES.items():
        text.highlight_regex(rf"\b{word}\b", style)
    return text


def explained_json(plan: Plan, catalog: Catalog, verdict: QueryVerdict) -> list[dict[str, Any]]:
    """What is known about every edge, in the order of `subplans`, bottom up."""
    known = annotate(plan, catalog)
    judged = {id(operator.operator): operator for operator in verdict.operators}
    return [_edge_json(node, known, judged.get(id(node))) for node in subplans(plan)]


def _edge_json(
    node: Plan, known: Mapping[int, Annotation], judged: OperatorVerdict | None
) -> dict[str, Any]:
    annotation = known[id(node)]
    return {
        "operator": node_text(node),
        "pattern": annotation.patterns.output.pattern.name,
        "state_pattern": annotation.patterns.state.pattern.name,
        "lifetime": annotation.patterns.output.lifetime,
        "changelog": annotation.changelog.name,
        "key": None if annotation.key is None else sorted(annotation.key),
        "verdict": None if judged is None else judged.verdict.value,
        "state": [
            {"holds": b.holds, "structure": b.structure.value, "eviction": b.eviction.value}
            for b in annotation.buffers
        ],
    }


def _note(annotation: Annotation, judged: OperatorVerdict | None) -> str:
    output, state = annotation.patterns.output, annotation.patterns.state
    parts = [_edge_text(output)]
    if state.pattern is not output.pattern:
        parts.append(f"state {_edge_text(state)}")
    if judged is not None:
        parts.append(judged.verdict.value)
    parts += dict.fromkeys(buffer.structure.value for buffer in annotation.buffers)
    return "  -- " + ", ".join(parts)


def _edge_text(edge: Edge) -> str:
    match edge.pattern, edge.lifetime:
        case UpdatePattern.MONOTONIC, _:
            return edge.pattern.name
        case UpdatePattern.WEAKEST, int(lifetime):
            return f"{edge.pattern.name} {duration_text(lifetime)}"
        case _, int(lifetime):
            return f"{edge.pattern.name} up to {duration_text(lifetime)}"
        case _:
            return edge.pattern.name
