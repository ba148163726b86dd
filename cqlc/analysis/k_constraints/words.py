"""The effect of k-constraints in words: findings for the user, and the effects line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cqlc.algebra.schema import TIME
from cqlc.analysis.k_constraints.analysis import Analysis, Idleness
from cqlc.analysis.k_constraints.effects import Component, Outcome, StreamEffect
from cqlc.analysis.k_constraints.model import (
    Clustering,
    KConstraint,
    Ordering,
    Rids,
    is_declared,
)
from cqlc.analysis.k_constraints.quantities import describe
from cqlc.analysis.k_constraints.rules import Refusal
from cqlc.analysis.size import evaluate, symbols, text
from cqlc.catalog import Adherence, Monitored, WithinRows, WithinTime
from cqlc.codes import analysis as codes
from cqlc.diagnostics import Diagnostic, Label
from cqlc.source import NOWHERE, Span

_UNITS = ((3_600_000_000, "HOURS"), (60_000_000, "MINUTES"), (1_000_000, "SECONDS"))

_OUTCOMES = {
    Outcome.EMPTY: "always empty",
    Outcome.NOT_STORED: "not stored",
    Outcome.LIMITED: "rows leave after k",
    Outcome.CLOSING: "rows leave once values have passed them",
    Outcome.WINDOWED: "rows leave with their window",
    Outcome.DANGLING: "rows leave once they were referenced",
    Outcome.KEPT: "rows stay for ever",
}


def findings(analysis: Analysis, query: Span) -> tuple[Diagnostic, ...]:
    """What there is to say about the constraints of a join; `query` is the place of the join.

    Only where constraints were declared: a join without any is no news.
    """
    if not any(map(_written, analysis.graph.constraints)):
        return ()
    return (*_refused(analysis, query), *_idle(analysis, query), *_kept(analysis, query))


def _written(constraint: KConstraint) -> bool:
    return not (isinstance(constraint, Ordering) and constraint.column == TIME)


def _refused(analysis: Analysis, query: Span) -> Iterator[Diagnostic]:
    if analysis.refusal is Refusal.MANY_MANY:
        for loose in analysis.graph.loose:
            yield Diagnostic(
                codes.MANY_MANY_JOIN,
                f"constraints cannot help: `{loose.left}` = `{loose.right}` joins many with many",
                Label(query, "a row may meet any number of rows on either side"),
                help=f"if the values of `{loose.left}` or of `{loose.right}` are different in all "
                "rows, declare the column UNIQUE",
            )
    elif analysis.refusal is Refusal.CYCLIC:
        edges = ", ".join(f"{e.parent} → {e.child}" for e in analysis.graph.edges)
        yield Diagnostic(
            codes.CYCLIC_JOINS,
            f"the references of this join form a cycle: {edges}",
            Label(query, "constraints are not used here; rows stay as long as their windows"),
            help="punctuations work for any join; or leave out one of the equalities",
        )


def _idle(analysis: Analysis, query: Span) -> Iterator[Diagnostic]:
    for found in analysis.idle:
        if found.why in (Idleness.NOT_JOINED, Idleness.NOT_DECISIVE):
            declared = found.constraint.span
            yield Diagnostic(
                codes.IDLE_CONSTRAINT,
                f"the constraint {declaration(found.constraint)} saves nothing here",
                Label(query, found.why.value),
                () if declared == NOWHERE else (Label(declared, "declared here"),),
                help=_advice(analysis),
            )


def _kept(analysis: Analysis, query: Span) -> Iterator[Diagnostic]:
    """What stays in spite of the constraints, for a join they could apply to."""
    if analysis.refusal is not None or any(i.why is Idleness.MONITORED for i in analysis.idle):
        return
    dangling = [s.stream for s in analysis.streams if s.outcome is Outcome.DANGLING]
    kept = [s.stream for s in analysis.streams if s.outcome is Outcome.KEPT]
    if kept:
        yield Diagnostic(
            codes.CONSTRAINTS_TOO_FEW,
            f"rows of {_quoted(kept)} stay for ever in spite of the constraints",
            Label(query, "; ".join(_kept_text(analysis.stream(name)) for name in kept)),
            help=_advice(analysis),
        )
    elif dangling:
        yield Diagnostic(
            codes.DANGLING_CHILDREN,
            f"rows of {_quoted(dangling)} that are never referenced stay for ever",
            Label(query, "clustering tells when a value is over only if it has come"),
            help=_advice(analysis),
        )


def _kept_text(effect: StreamEffect) -> str:
    parts = [n for n, c in named_components(effect) if c.outcome is Outcome.KEPT]
    return f"{effect.stream}: {' and '.join(parts)}"


def _advice(analysis: Analysis) -> str:
    """The smallest repairs as advice."""
    if analysis.outcome <= Outcome.WINDOWED:
        return "nothing is missing: all state is freed without it"
    options = [", ".join(map(declaration, option)) for option in analysis.repairs.options]
    if options:
        return f"with {options[0]} all state could be freed, for a k that holds"
    return "give the streams windows, or punctuations"


def declaration(constraint: KConstraint) -> str:
    """A constraint as it is declared."""
    within = _within(constraint.within)
    match constraint:
        case Rids():
            child = f"{constraint.child} ({', '.join(below for _, below in constraint.columns)})"
            parent = f"{constraint.parent} ({', '.join(above for above, _ in constraint.columns)})"
            return f"REFERENCES {child} FROM {parent} {within}"
        case Clustering():
            return f"CLUSTERED BY {constraint.column} {within} on {constraint.stream}"
        case Ordering():
            return f"ORDERED BY {constraint.column} {within} on {constraint.stream}"


def _within(within: Adherence) -> str:
    match within:
        case WithinRows(rows):
            return f"WITHIN {rows} ROWS"
        case WithinTime(length):
            for unit, name in _UNITS:
                if length and length % unit == 0:
                    return f"WITHIN {length // unit} {name}"
            return f"WITHIN {length} MICROSECONDS"
        case Monitored():
            return "MONITOR"


# ----------------------------------------------------------------------------------- effects


def explain(analysis: Analysis) -> tuple[str, ...]:
    """The components of every stream: what becomes of their rows, how many, and why."""
    if analysis.refusal is not None:
        return (f"constraints are not used: {analysis.refusal.value}",)
    lines: list[str] = []
    for effect in analysis.streams:
        lines += (
            f"{effect.stream}, {name}: {component_text(part)}"
            for name, part in named_components(effect)
        )
    monitored = [c for c in analysis.graph.constraints if not is_declared(c)]
    lines += (f"{describe(c)}: k is estimated while running" for c in monitored)
    return tuple(lines)


def named_components(effect: StreamEffect) -> tuple[tuple[str, Component], ...]:
    """The components by what is in them."""
    return (
        ("complete rows", effect.yes),
        ("failed rows", effect.no),
        ("waiting rows", effect.unknown),
    )


def component_text(part: Component) -> str:
    """What becomes of the rows of a component, how many there are, and why."""
    told = _OUTCOMES[part.outcome]
    if Outcome.NOT_STORED < part.outcome < Outcome.KEPT:
        number = evaluate(part.size)
        known = f" = {number:,.0f}" if number is not None else ""
        told += f", at most {text(part.size)}{known} rows"
        values = [
            f"{s.name} = {s.value:g}" for s in symbols(part.size).values() if s.value is not None
        ]
        told += f" with {', '.join(values)}" if values and number is not None else ""
    reasons = dict.fromkeys(e.reason.value for e in part.evidence)
    return f"{told}; {'; '.join(reasons)}"


def _quoted(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)
