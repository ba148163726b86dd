"""The whole pipeline on one screen: text, tree, plans, findings."""

from __future__ import annotations

from dataclasses import dataclass

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
