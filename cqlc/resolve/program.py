"""Programs: their declarations, views and queries, in any order."""

from __future__ import annotations

from cqlc.catalog import EMPTY, Catalog
from cqlc.resolve.result import Resolution
from cqlc.syntax import ast


def resolve(program: ast.Program, catalog: Catalog = EMPTY) -> Resolution:
    """Plans of a program's queries, with everything found wrong in it."""
    return Resolution(catalog, {}, (), ())
