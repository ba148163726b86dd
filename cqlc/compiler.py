"""The whole pipeline on one screen: text, tree, plans, findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cqlc.algebra.plan import Plan
from cqlc.analysis import update_pattern
from cqlc.analysis.bounded_memory.findings import findings
from cqlc.analysis.bounded_memory.repair import Repair, repairs
from cqlc.analysis.verdict import QueryVerdict, StateVerdict, verdict
from cqlc.analysis.verdict.purge import scheme_edits
from cqlc.catalog import EMPTY, Catalog
from cqlc.diagnostics import CompileError, Diagnostic, has_errors, in_order
from cqlc.resolve import Resolution, ResolvedQuery, resolve
from cqlc.source import Source
from cqlc.syntax import ast
from cqlc.syntax.parser import parse


@dataclass(frozen=True, slots=True)
class Compilation:
    """A program with everything the stages made of it."""

    source: Source
    tree: ast.Program
    resolution: Resolution
    diagnostics: tuple[Diagnostic, ...]

    @property
    def queries(self) -> tuple[ResolvedQuery, ...]:
        """The queries that resolved."""
        return self.resolution.queries

    @property
    def catalog(self) -> Catalog:
        """The catalog with the program's own declarations."""
        return self.resolution.catalog

    @property
    def ok(self) -> bool:
        """Whether the program has no errors."""
        return not has_errors(self.diagnostics)

    def require(self) -> Compilation:
        """This compilation, if it has no errors; otherwise they are raised, all of them."""
        if not self.ok:
            raise CompileError(self.source, self.diagnostics)
        return self


def compile_program(source: Source | str, catalog: Catalog = EMPTY) -> Compilation:
    """Runs every stage over a program. Mistakes are findings of the result, never exceptions."""
    if isinstance(source, str):
        source = Source(source)
    parsed = parse(source)
    resolution = resolve(parsed.program, catalog)
    diagnostics = in_order((*parsed.diagnostics, *resolution.diagnostics))
    return Compilation(source, parsed.program, resolution, diagnostics)


@dataclass(frozen=True, slots=True)
class Analysed:
    """What is proved about a compilation's queries, by name, and the findings of the proofs.

    `repairs` are the smallest changes that bound the state of an UNBOUNDED query, each checked by
    asking for the verdict again.
    """

    verdicts: Mapping[str, QueryVerdict]
    repairs: Mapping[str, tuple[Repair, ...]]
    diagnostics: tuple[Diagnostic, ...]


def analyse(compilation: Compilation) -> Analysed:
    """The verdict on every query that resolved."""
    verdicts: dict[str, QueryVerdict] = {}
    repaired: dict[str, tuple[Repair, ...]] = {}
    found: list[Diagnostic] = []
    for query in compilation.queries:
        judged = verdict(query.plan, compilation.catalog)
        verdicts[query.name] = judged
        found += update_pattern.check(query.plan, compilation.catalog)
        for block in judged.blocks:
            if block.verdict is StateVerdict.UNBOUNDED and block.memory is not None:
                found += findings(block.memory, query.span)
        if judged.verdict is StateVerdict.UNBOUNDED:
            catalog, safeties = compilation.catalog, [b.safety for b in judged.blocks if b.safety]
            more = [edit for safety in safeties for edit in scheme_edits(safety, catalog)]
            repaired[query.name] = repairs(query.plan, catalog, more=more, is_fixed=_is_bounded)
    return Analysed(verdicts, repaired, in_order(found))


def _is_bounded(plan: Plan, catalog: Catalog) -> bool:
    return verdict(plan, catalog).verdict.bounded
