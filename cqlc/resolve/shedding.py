"""The load shedding clause: which rows of a window join to keep on overload."""

from __future__ import annotations

from cqlc.algebra.plan import Range, Rows
from cqlc.codes import windows as codes
from cqlc.resolve.derived import Derived, WindowUse
from cqlc.resolve.findings import Findings
from cqlc.resolve.result import MemorySplit, Shedding, ShedPolicy
from cqlc.resolve.types import count
from cqlc.source import Span
from cqlc.syntax import ast


def shedding(
    written: ast.Shedding | None, windows: list[WindowUse], findings: Findings
) -> Shedding | None:
    """The clause as written; a finding if there is no window join to shed from."""
    if written is None:
        return None
    joined = [use for use in windows if isinstance(use.window, Range | Rows)]
    if len(joined) < 2:
        findings.report(
            codes.SHEDDING_NOT_POSSIBLE,
            "rows can be shed from a join of windows only",
            written.span,
            f"FROM has {len(joined)} stream windows of limited size",
            help="give both joined streams a RANGE or ROWS window",
        )
    keep = count(written.keep, written.span, findings)
    if keep is None:
        return None
    split = MemorySplit(written.split or MemorySplit.FIXED)
    return Shedding(ShedPolicy(written.policy), keep, split)


def refuse_shedding(derived: Derived, span: Span, findings: Findings) -> None:
    """A finding if a query inside another one, or a view, has the clause."""
    if derived.shedding is not None:
        findings.report(
            codes.SHEDDING_NOT_POSSIBLE,
            "only a query of its own can shed rows",
            span,
            "a query inside another one, or a view",
            help="move ON OVERLOAD to the query that uses it",
        )
