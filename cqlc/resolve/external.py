"""Sources and sinks outside of the program."""

from __future__ import annotations

from cqlc.catalog import External
from cqlc.codes import names as codes
from cqlc.resolve.environment import Environment
from cqlc.syntax import ast


def external(written: ast.External, env: Environment) -> External:
    """A source or sink: format and options."""
    seen: dict[str, str] = {}
    for option in written.options:
        if option.key in seen:
            env.findings.report(
                codes.BAD_CLAUSE,
                f"the option {option.key} is there twice",
                option.span,
                "given again",
                help="leave one out",
            )
        seen[option.key] = option.value
    return External(written.format, tuple(seen.items()), span=written.span)
