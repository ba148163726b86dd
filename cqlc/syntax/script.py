"""The line-oriented scripts of the Stanford prototype, as statements.

`table :` declares a table and `source :` names its data; `vtable :` declares a view and `vquery :`,
before or after it, is its query; `query :` is a query and `dest :` names where its answer goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Diagnostic, Label
from cqlc.source import Span
from cqlc.syntax import ast
from cqlc.syntax.scanner import Chunk

_FILE_FORMAT = "csv"
"""The prototype's files hold one row per line, values separated by commas."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A statement with the chunk it was read from; None if it could not be read or is a path."""

    chunk: Chunk
    statement: ast.Statement | None

    @property
    def path(self) -> str:
        """The path after `source :` or `dest :`."""
        return self.chunk.tokens[0].text


def combine(entries: Sequence[Entry], problems: list[Diagnostic]) -> Iterator[ast.Statement]:
    """The statements of a program, commands that belong together taken together."""
    sinks: set[str] = set()
    index = 0
    while index < len(entries):
        entry = entries[index]
        other = entries[index + 1] if index + 1 < len(entries) else None
        match entry.chunk.command, other and other.chunk.command:
            case ("table", "source") if other:
                yield from _table(entry, other)
            case ("vtable", "vquery") if other:
                yield from _view(entry, other)
            case ("vquery", "vtable") if other:
                yield from _view(other, entry)
            case ("query", "dest") if other:
                yield from _query(entry, other, sinks)
            case (None | "table" | "query", _):
                other = None
                if entry.statement:
                    yield entry.statement
            case (str() as command, _):
                other = None
                problems.append(_misplaced(command, entry.chunk))
        index += 2 if other else 1


def _table(table: Entry, source: Entry) -> Iterator[ast.Statement]:
    if isinstance(table.statement, ast.CreateTable):
        clause = ast.FromExternal(_file(source), span=_span(source))
        clauses = (*table.statement.clauses, clause)
        yield replace(table.statement, clauses=clauses, span=_covering(table, source))


def _view(table: Entry, query: Entry) -> Iterator[ast.Statement]:
    match table.statement, query.statement:
        case ast.CreateTable() as declared, ast.QueryStatement(body):
            yield replace(declared, query=body, span=_covering(table, query))
        case _:
            pass


def _query(query: Entry, dest: Entry, sinks: set[str]) -> Iterator[ast.Statement]:
    if not isinstance(query.statement, ast.QueryStatement):
        return
    span = _covering(query, dest)
    place = Span(span.start, span.start)
    name = ast.QualifiedName((ast.Name(dest.path, quoted=True, span=place),), span=place)
    if dest.path not in sinks:
        sinks.add(dest.path)
        yield ast.CreateSink(name, _file(dest), span=place)
    yield ast.InsertInto(name, query.statement.query, span=span)


def _file(entry: Entry) -> ast.External:
    span = _span(entry)
    return ast.External(_FILE_FORMAT, (ast.Option("path", entry.path, span=span),), span=span)


def _span(entry: Entry) -> Span:
    return Span(entry.chunk.start, entry.chunk.tokens[-1].end)


def _covering(one: Entry, other: Entry) -> Span:
    return _span(one).to(_span(other))


_PARTNERS = {
    "source": "`source :` follows a `table :`",
    "dest": "`dest :` follows a `query :`",
    "vquery": "`vquery :` stands beside the `vtable :` that declares its columns",
    "vtable": "`vtable :` stands beside the `vquery :` that defines it",
}


def _misplaced(command: str, chunk: Chunk) -> Diagnostic:
    return Diagnostic(
        codes.SCRIPT,
        f"`{command} :` belongs to nothing here",
        Label(Span(chunk.start, chunk.start + len(command)), "no partner beside it"),
        help=_PARTNERS[command],
    )
