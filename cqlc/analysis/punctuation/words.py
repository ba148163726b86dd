"""Punctuation safety in words: findings for the user, and the proof line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cqlc.analysis.punctuation.model import Closing, Fate, PunctuationScheme
from cqlc.analysis.punctuation.plans import JoinPlan, Leaf, Operator
from cqlc.analysis.punctuation.retirement import Retirement
from cqlc.analysis.punctuation.safety import (
    ChainStep,
    Safety,
    StreamSafety,
    UselessScheme,
    Verdict,
)
from cqlc.codes import analysis as codes
from cqlc.diagnostics import Diagnostic, Label
from cqlc.source import NOWHERE, Span

_CLOSED_BY = {
    Closing.PUNCTUATION: "punctuations on {scheme}",
    Closing.WATERMARK: "the watermark of `{source}`",
    Closing.ORDER: "the order of {scheme}",
    Closing.KEY: "the key {scheme}",
    Closing.CLUSTER: "the clustering of {scheme}",
}


def findings(safety: Safety, query: Span) -> tuple[Diagnostic, ...]:
    """What there is to say about the safety of a join; `query` is its place if it has no other."""
    place = query if safety.query.span == NOWHERE else safety.query.span
    unused = dict.fromkeys(u for part in safety.joins() for u in part.useless)
    useless = (_useless(u, place) for u in unused if u.scheme not in safety.used)
    return (*_of_joins(safety, query), *useless)


def _of_joins(safety: Safety, query: Span) -> Iterator[Diagnostic]:
    for part in reversed(tuple(safety.joins())):
        place = query if part.query.span == NOWHERE else part.query.span
        yield from _unsafe(part, place, repair_text(safety))
        yield from _dangling(part, place)
        if safety.verdict is not Verdict.UNSAFE:
            yield from (_lasting(r, place) for r in part.retirements if _piles_up(r))
            yield from _in_one_task(part, place)


def _unsafe(safety: Safety, place: Span, help: str) -> Iterator[Diagnostic]:
    stuck = [s for s in safety.streams if s.verdict is Verdict.UNSAFE]
    if not stuck:
        return
    missing = tuple(dict.fromkeys(name for s in stuck for name in s.missing))
    yield Diagnostic(
        codes.UNSAFE_JOIN,
        f"{_and(_state(s, safety) for s in stuck)} can never be purged",
        Label(place, f"new rows of {_quoted(missing)} can always match what is stored"),
        tuple(_places(safety, missing)),
        help=help,
    )


def _places(safety: Safety, names: tuple[str, ...]) -> Iterator[Label]:
    for stream in safety.query.streams:
        if stream.name in names and stream.span != NOWHERE:
            own = [s for s in safety.query.schemes if s.source == stream.source and s.columns]
            sent = [s for s in own if s.closing is Closing.PUNCTUATION]
            told = f"punctuated by {_and(_columns(s) for s in sent)}" if sent else "not punctuated"
            yield Label(stream.span, told)


def repair_text(safety: Safety) -> str:
    """The smallest repairs as advice."""
    options = [_and(map(_declared, option.schemes)) for option in safety.repairs.options]
    if not options:
        return (
            "no punctuation can help: some streams are not joined with the others; join them, or "
            "give them windows"
        )
    best = "the fewest schemes that help" if safety.repairs.smallest else "schemes that help"
    others = f"; or {'; or '.join(options[1:3])}" if len(options) > 1 else ""
    return f"{best}: {options[0]}{others}; or give the streams windows"


def _declared(scheme: PunctuationScheme) -> str:
    return f"PUNCTUATED BY {_columns(scheme)} on `{scheme.source}`"


def _dangling(safety: Safety, place: Span) -> Iterator[Diagnostic]:
    waiting = [s for s in safety.streams if s.verdict is Verdict.SAFE_IF_REFERENCED]
    if not waiting:
        return
    steps = [step for s in waiting for step in s.chain if step.scheme.closing.needs_arrival]
    schemes = tuple(dict.fromkeys(step.scheme for step in steps))
    yield Diagnostic(
        codes.DANGLING_ROWS,
        f"{_and(_state(s, safety) for s in waiting)} stay if their values never arrive on "
        f"{_quoted(dict.fromkeys(s.source for s in schemes))}",
        Label(place, f"freed by {_and(map(closed_by, schemes))}, which closes values that arrive"),
        help=f"declare {_and(map(_declared, schemes))}, so that values that never come can be "
        "closed too",
    )


def _useless(found: UselessScheme, place: Span) -> Diagnostic:
    scheme, unjoined = found.scheme, found.unjoined
    why = (
        f"{_quoted(unjoined)} {'is' if len(unjoined) == 1 else 'are'} not joined with anything"
        if unjoined
        else "other schemes close the same rows"
    )
    return Diagnostic(
        codes.USELESS_SCHEME,
        f"punctuations on {scheme} free no row of this query",
        Label(place, why),
        _declaration(scheme),
        help="they need not be sent for this query; other queries may use them",
    )


def _piles_up(retirement: Retirement) -> bool:
    return retirement.needs_lifespan and retirement.scheme.closing is Closing.PUNCTUATION


def _lasting(retirement: Retirement, place: Span) -> Diagnostic:
    scheme = retirement.scheme
    wanted = _and(f"`{options[0]}`" for options in retirement.missing)
    return Diagnostic(
        codes.LASTING_PUNCTUATIONS,
        f"punctuations on {scheme} are never obsolete and pile up",
        Label(place, f"they would be only if {wanted} could be closed as well"),
        _declaration(scheme),
        help="give the scheme a LIFESPAN, after which a punctuation is forgotten",
    )


def _declaration(scheme: PunctuationScheme) -> tuple[Label, ...]:
    return () if scheme.span == NOWHERE else (Label(scheme.span, "declared here"),)


def _in_one_task(safety: Safety, place: Span) -> Iterator[Diagnostic]:
    for operator in _keyless(safety.plan):
        names = [name for child in operator.inputs for name in _leaves(child)]
        yield Diagnostic(
            codes.KEYLESS_JOIN,
            f"{_quoted(names)} have to be joined at once, and have no column in common",
            Label(place, "no plan of smaller joins can purge its state; this one runs in one task"),
            help="punctuations in both directions of a join let it be taken apart",
        )


def _keyless(plan: JoinPlan | None) -> Iterator[Operator]:
    if isinstance(plan, Operator):
        if not plan.key:
            yield plan
        for child in plan.inputs:
            yield from _keyless(child)


def _leaves(plan: JoinPlan) -> Iterator[str]:
    match plan:
        case Leaf(streams):
            yield from streams
        case Operator(inputs):
            for child in inputs:
                yield from _leaves(child)


# ------------------------------------------------------------------------------------- proof


def explain(safety: Safety) -> tuple[str, ...]:
    """The proof: how every state is freed, the groups that free each other, the plan."""
    lines = [line for part in safety.below for line in explain(part)]
    lines += (f"{_state(s, safety)}: {_freed(s, safety)}" for s in safety.streams)
    if len(safety.graph.blocks) > 1:
        lines += _merging(safety)
    if safety.plan is not None and not isinstance(safety.plan, Leaf):
        lines.append(f"plan: {safety.plan}")
    return tuple(lines)


def _freed(stream: StreamSafety, safety: Safety) -> str:
    steps = [step_text(step) for step in stream.chain]
    if stream.verdict is Verdict.UNSAFE:
        reached = f" after {', then '.join(steps)}" if steps else ""
        return f"never freed; nothing closes {_quoted(stream.missing)}{reached}"
    fates = {s.name: s.fate for s in safety.query.streams}
    if stream.chain and fates[stream.chain[-1].stream] is Fate.EXPIRES:
        steps.append(f"the rows of `{stream.chain[-1].stream}` they met expire")
    if not steps:
        return "leave with their window" if stream.streams[0] in fates else "never wait"
    return f"freed by {', then '.join(steps)}"


def step_text(step: ChainStep) -> str:
    """One link of a chain: what closes which values."""
    given = [str(s.attribute) for s in step.supplies if s.attribute is not None]
    values = f" for their {_and(given)}" if given else ""
    return f"{closed_by(step.scheme)}{values}" if step.scheme.columns else "constants"


def closed_by(scheme: PunctuationScheme) -> str:
    """What closes the values of a scheme."""
    return _CLOSED_BY[scheme.closing].format(scheme=scheme, source=scheme.source)


def _merging(safety: Safety) -> Iterator[str]:
    """The transformed punctuation graph, round by round."""
    graph, merged = safety.graph, safety.transformed
    after = [r.nodes for r in merged.rounds[1:]] + [merged.nodes]
    for before, nodes in zip(merged.rounds, after, strict=False):
        new = [n for n in nodes if n not in before.nodes]
        yield f"free each other: {_and(_set(graph.names(n)) for n in new)}"
    if len(merged.nodes) > 1:
        yield f"left apart: {_and(_set(graph.names(n)) for n in merged.nodes)}"


def _state(stream: StreamSafety, safety: Safety) -> str:
    names = {s.name for s in safety.query.streams}
    if stream.streams[0] not in names:
        return stream.streams[0]
    return f"rows of {_quoted(stream.streams)}"


def _set(names: Iterable[str]) -> str:
    return "{" + ", ".join(names) + "}"


def _columns(scheme: PunctuationScheme) -> str:
    return f"({', '.join(scheme.columns)})"


def _quoted(names: Iterable[str]) -> str:
    return _and(f"`{name}`" for name in names)


def _and(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
