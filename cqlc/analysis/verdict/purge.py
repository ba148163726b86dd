"""Whether declared punctuations or k-constraints free the rows a block would keep for ever."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cqlc.algebra.plan import Plan
from cqlc.analysis.bounded_memory.edits import Declare, Edit
from cqlc.analysis.k_constraints import Analysis, JoinGraph, Outcome, analyse
from cqlc.analysis.k_constraints.translate import from_plan as join_graph
from cqlc.analysis.punctuation import JoinQuery, PunctuationScheme, Safety, check
from cqlc.analysis.punctuation import Verdict as SafetyVerdict
from cqlc.analysis.punctuation.translate import from_plan as join_query
from cqlc.analysis.verdict.model import Evidence
from cqlc.catalog import Catalog, Scheme, TableDeclaration


@dataclass(frozen=True, slots=True)
class Purge:
    """What the two theories say; rows can be freed if there is evidence."""

    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    safety: Safety | None = None
    constraints: Analysis | None = None


def purge(root: Plan, catalog: Catalog) -> Purge:
    """The purging of a block's join, if it is one that the theories read."""
    joined, graph = join_query(root, catalog), join_graph(root, catalog)
    safety = check(joined) if isinstance(joined, JoinQuery) else None
    constraints = analyse(graph) if isinstance(graph, JoinGraph) else None
    if safety is not None and safety.verdict is SafetyVerdict.SAFE:
        return Purge("punctuations free every row", _schemes(safety), safety, constraints)
    if constraints is not None and constraints.outcome <= Outcome.WINDOWED:
        return Purge("constraints free every row", _constraints(constraints), safety, constraints)
    return Purge("", (), safety, constraints)


def scheme_edits(safety: Safety, catalog: Catalog) -> tuple[Edit, ...]:
    """The declarations of punctuation schemes that could make a join safe."""
    schemes = {scheme for option in safety.repairs.options for scheme in option.schemes}
    return tuple(_declared(scheme, catalog) for scheme in sorted(schemes, key=str))


def _declared(scheme: PunctuationScheme, catalog: Catalog) -> Declare:
    added = Scheme(scheme.columns)
    clause = f"PUNCTUATED BY ({', '.join(scheme.columns)})"
    place = catalog.tables[scheme.source].span

    def change(table: TableDeclaration) -> TableDeclaration:
        return replace(table, schemes=(*table.schemes, added))

    return Declare(scheme.source, clause, change, place)


def _schemes(safety: Safety) -> tuple[Evidence, ...]:
    return tuple(
        Evidence("Li et al. 2006, punctuation safety", f"scheme {scheme}", scheme.span)
        for scheme in safety.used
    )


def _constraints(analysis: Analysis) -> tuple[Evidence, ...]:
    found = {
        (e.reason.value, e.constraint)
        for stream in analysis.streams
        for component in stream.components
        for e in component.evidence
        if e.constraint is not None
    }
    return tuple(
        Evidence(
            "Babu et al. 2004, k-constraints", f"{constraint.label}: {reason}", constraint.span
        )
        for reason, constraint in sorted(found, key=lambda pair: (pair[0], pair[1].label))
    )
