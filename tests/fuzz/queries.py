"""Random queries, each written twice: in CQL, and in DuckDB's SQL over the contents at one instant.

A query is drawn once as a text with three kinds of placeholders, since the two languages agree on
everything else: `«S|RANGE 5 SECONDS»` is a source with its window, `÷` divides integers, and
`¤` follows an aggregation without GROUP BY, which has no row in CQL where its input has none.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

DECLARATIONS = """
CREATE STREAM S (a INT, b INT, c STRING);
CREATE STREAM T (a INT, d INT);
CREATE RELATION R (a INT, e INT);
"""

COLUMNS = {
    "S": (("a", "INT"), ("b", "INT"), ("c", "STRING")),
    "T": (("a", "INT"), ("d", "INT")),
    "R": (("a", "INT"), ("e", "INT")),
}

WINDOWS = (
    "",
    "NOW",
    "RANGE 1 SECOND",
    "RANGE 3 SECONDS",
    "RANGE 7 SECONDS",
    "RANGE 4 SECONDS SLIDE 2 SECONDS",
    "RANGE 2 SECONDS SLIDE 2 SECONDS",
    "RANGE 5 SECONDS SLIDE 3 SECONDS",
    "RANGE 5 SECONDS SLIDE 3 SECONDS OFFSET 1 SECOND",
    "ROWS 1",
    "ROWS 4",
    "ROWS 6 RANGE 4 SECONDS",
    "ROWS 5 SLIDE 3 ROWS",
    "PARTITION BY a ROWS 1",
    "PARTITION BY a ROWS 2",
    "PARTITION BY a SESSION 3 SECONDS",
)

GRIDS = (
    "SLIDE 2 SECONDS",
    "SLIDE 3 SECONDS",
    "SLIDE 3 SECONDS OFFSET 1 SECOND",
)
"""The windows of one query slide together."""

_SOURCE = re.compile(r"«(\w)\|([^»]*)»")


@dataclass(frozen=True)
class Query:
    """A query as a text with placeholders."""

    text: str

    @property
    def cql(self) -> str:
        """The query in CQL."""
        text = _SOURCE.sub(lambda m: f"{m[1]} [{m[2]}]" if m[2] else m[1], self.text)
        return text.replace("÷", "/").replace(" ¤", "")

    def sql(self, contents: Callable[[str, str], str]) -> str:
        """The query in SQL; `contents` names the table that holds what a window holds."""
        text = _SOURCE.sub(lambda m: contents(m[1], m[2]), self.text)
        return text.replace("÷", "//").replace("¤", "HAVING COUNT(*) > 0")


@dataclass(frozen=True)
class Scope:
    """The columns that may be named: of this block, and of the blocks around it."""

    local: tuple[tuple[str, str], ...] = ()
    outer: tuple[tuple[str, str], ...] = ()

    def inside(self) -> Scope:
        """The scope of a subquery, which has no columns of its own yet."""
        return Scope((), self.local + self.outer)

    def of(self, type: str) -> list[str]:
        """The columns of a type; the local ones are drawn more often."""
        here = [name for name, t in self.local if t == type]
        there = [name for name, t in self.outer if t == type]
        return here * 3 + there


@dataclass
class Writer:
    """Draws one query."""

    rng: random.Random
    windows: tuple[str, ...]
    aliases: int = 0

    def choose(self, *options: str) -> str:
        """One of some texts."""
        return self.rng.choice(options)

    def flip(self, percent: int = 50) -> bool:
        """True in so many of a hundred cases."""
        return self.rng.randrange(100) < percent

    def number(self, low: int, high: int) -> int:
        """A number between two."""
        return self.rng.randint(low, high)

    def alias(self) -> str:
        """A name nobody has."""
        self.aliases += 1
        return f"x{self.aliases}"

    # ------------------------------------------------------------------------- expressions

    def integer(self, scope: Scope, depth: int) -> str:
        """An expression of integers."""
        columns = scope.of("INT")
        kind = self.number(0, 9 if depth > 0 else 4)
        if columns and kind <= 3:
            return self.choose(*columns)
        if kind <= 4:
            return self.choose("0", "1", "1", "2", "2", "3", "-1", "CAST(NULL AS INT)")
        left, right = self.integer(scope, depth - 1), self.integer(scope, depth - 1)
        if kind <= 6:
            return f"({left} {self.choose('+', '-', '*', '÷', '%')} {right})"
        if kind == 7:
            return f"COALESCE({left}, {right})"
        if kind == 8:
            condition = self.predicate(scope, depth - 1)
            return f"CASE WHEN {condition} THEN {left} ELSE {right} END"
        return self.scalar_query(scope, depth - 1)

    def scalar_query(self, scope: Scope, depth: int) -> str:
        """A query of one row and column: an aggregate."""
        inner, sources = self.sources(scope.inside(), depth)
        condition = self.predicate(inner, depth)
        return f"(SELECT {self.aggregate(inner)} FROM {sources} WHERE {condition} ¤)"

    def aggregate(self, scope: Scope) -> str:
        """An aggregate with an integer value."""
        function = self.choose("COUNT", "SUM", "MIN", "MAX", "COUNT(DISTINCT", "SUM(DISTINCT", "*")
        argument = self.choose(*Scope(scope.local).of("INT"))
        text = f"{function} {argument})" if "(" in function else f"{function}({argument})"
        text = "COUNT(*)" if function == "*" else text
        if self.flip(20):
            return f"{text} FILTER (WHERE {self.predicate(Scope(scope.local), 0)})"
        return text

    def predicate(self, scope: Scope, depth: int) -> str:
        """A condition; with subqueries where the depth allows."""
        kind = self.number(0, 13 if depth > 0 else 6)
        left = self.integer(scope, min(depth, 1))
        operator = self.choose("=", "<>", "<", "<=", ">", ">=")
        text, texts = self.choose("'p'", "'q'"), scope.of("STRING")
        if kind <= 2:
            return f"{left} {operator} {self.integer(scope, min(depth, 1))}"
        if kind == 3 and texts:
            return f"{self.choose(*texts)} {operator} {text}"
        if kind <= 4:
            return f"{left} IS {self.choose('', 'NOT ')}NULL"
        if kind == 5:
            return f"{left} {self.choose('', 'NOT ')}IN (1, 2, {self.choose('3', 'NULL')})"
        if kind == 6:
            return f"{left} IS {self.choose('', 'NOT ')}DISTINCT FROM {self.integer(scope, 0)}"
        if kind <= 8:
            parts = [self.predicate(scope, depth - 1) for _ in range(2)]
            return f"({parts[0]} {self.choose('AND', 'OR')} {parts[1]})"
        if kind == 9:
            return f"NOT ({self.predicate(scope, depth - 1)})"
        query = self.one_column(scope, depth - 1)
        if kind == 10:
            return f"{self.choose('', 'NOT ')}EXISTS ({query})"
        if kind <= 12:
            return f"{left} {self.choose('', 'NOT ')}IN ({query})"
        return f"{left} {operator} {self.choose('ALL', 'ANY')} ({query})"

    def one_column(self, scope: Scope, depth: int) -> str:
        """A query with one column of integers."""
        inner, sources = self.sources(scope.inside(), depth)
        condition = self.predicate(inner, depth)
        return f"SELECT {self.integer(inner, 0)} FROM {sources} WHERE {condition}"

    # ----------------------------------------------------------------------------- sources

    def source(self, scope: Scope, depth: int) -> tuple[Scope, str]:
        """A windowed stream, the relation or a derived table."""
        alias = self.alias()
        if depth > 0 and self.flip(25):
            text, names = self.block(depth - 1)
            columns = tuple((f"{alias}.{name}", "INT") for name in names)
            return replace(scope, local=scope.local + columns), f"({text}) AS {alias}"
        name = self.choose("S", "S", "T", "R")
        window = "" if name == "R" else self.choose(*self.windows)
        columns = tuple((f"{alias}.{column}", type) for column, type in COLUMNS[name])
        return replace(scope, local=scope.local + columns), f"«{name}|{window}» AS {alias}"

    def sources(self, scope: Scope, depth: int) -> tuple[Scope, str]:
        """A FROM clause of one to three sources; once it is a list, it stays one."""
        scope, text = self.source(scope, depth)
        listed = False
        for _ in range(self.rng.choice((0, 0, 0, 1, 1, 1, 1, 2))):
            joined, other = self.source(scope, depth)
            kind = self.choose(",", "JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI", "ANTI")
            listed = listed or kind == ","
            if listed:
                scope, text = joined, f"{text}, {other}"
                continue
            on = self.join_condition(scope, joined)
            if kind in ("SEMI", "ANTI"):
                text = f"{text} {kind} JOIN {other} ON {on}"
            else:
                scope, text = joined, f"{text} {kind} {other} ON {on}"
        return scope, text

    def join_condition(self, left: Scope, joined: Scope) -> str:
        """A condition for ON: an equality of both sides, something else, or both."""
        other = self.predicate(Scope(joined.local), 0)
        if self.flip(30):
            return other
        new = Scope(joined.local[len(left.local) :])
        equality = f"{self.choose(*Scope(left.local).of('INT'))} = {self.choose(*new.of('INT'))}"
        return f"{equality} AND {other}" if self.flip() else equality

    # ------------------------------------------------------------------------------ blocks

    def block(self, depth: int) -> tuple[str, list[str]]:
        """A SELECT, or a set operation of two, with the names of its columns."""
        names = [f"c{place}" for place in range(1, self.number(1, 3) + 1)]
        text = self.select(depth, names)
        if depth > 0 and self.flip(25):
            operation = self.choose("UNION", "EXCEPT", "INTERSECT")
            text += f" {operation} {self.choose('', 'ALL ')}{self.select(depth - 1, names)}"
        if self.flip(12):
            order = ", ".join(
                f"{name} {self.choose('ASC', 'DESC')} NULLS {self.choose('FIRST', 'LAST')}"
                for name in names
            )
            limit = self.number(0, 4)
            text = f"SELECT * FROM ({text}) AS {self.alias()} ORDER BY {order} LIMIT {limit}"
        return text, names

    def select(self, depth: int, names: list[str]) -> str:
        """One SELECT block."""
        inner, sources = self.sources(Scope(), depth)
        where = f" WHERE {self.predicate(inner, depth)}" if self.flip(60) else ""
        kind = self.number(0, 9)
        if kind <= 5:
            items = [self.integer(inner, depth) for _ in names]
            distinct = "DISTINCT " if self.flip(25) else ""
            return f"SELECT {distinct}{_items(items, names)} FROM {sources}{where}"
        if kind == 6:
            return self.ranked(inner, sources, where, names)
        return self.grouped(inner, sources, where, names)

    def grouped(self, scope: Scope, sources: str, where: str, names: list[str]) -> str:
        """A SELECT with aggregates, with or without keys."""
        keys = sorted({self.choose(*scope.of("INT")) for _ in range(self.number(0, 2))})
        items = [
            self.choose(*keys) if keys and self.flip(40) else self.aggregate(scope) for _ in names
        ]
        if not any("(" in item for item in items):
            items[-1] = self.aggregate(scope)
        text = f"SELECT {_items(items, names)} FROM {sources}{where}"
        if not keys:
            return f"{text} ¤"
        having = f" HAVING {self.measure(scope)} > {self.number(0, 3)}" if self.flip(40) else ""
        return f"{text} GROUP BY {', '.join(keys)}{having}"

    def measure(self, scope: Scope) -> str:
        """An aggregate with a number as its value."""
        if self.flip():
            return self.aggregate(scope)
        function = self.choose("AVG", "MEDIAN", "VAR_POP", "STDDEV_SAMP")
        return f"{function}({self.choose(*Scope(scope.local).of('INT'))})"

    def ranked(self, scope: Scope, sources: str, where: str, names: list[str]) -> str:
        """A SELECT whose last column is a rank; ROW_NUMBER is ordered by all columns."""
        columns = [name for name, _ in scope.local]
        function = self.choose("ROW_NUMBER", "RANK", "DENSE_RANK")
        keys = columns if function == "ROW_NUMBER" else columns[:1]
        order = ", ".join(f"{key} {self.choose('ASC', 'DESC')} NULLS FIRST" for key in keys)
        partition = f"PARTITION BY {self.choose(*scope.of('INT'))} " if self.flip() else ""
        rank = f"{function}() OVER ({partition}ORDER BY {order})"
        items = [self.choose(*scope.of("INT")) for _ in names[:-1]]
        return f"SELECT {_items([*items, rank], names)} FROM {sources}{where}"


def _items(items: list[str], names: list[str]) -> str:
    return ", ".join(f"{item} AS {name}" for item, name in zip(items, names, strict=True))


def random_query(rng: random.Random) -> Query:
    """A query of some depth over the streams and the relation of `DECLARATIONS`."""
    grid = rng.choice(GRIDS)
    windows = tuple(w for w in WINDOWS if "SECONDS SLIDE" not in w or w.endswith(grid))
    text, _ = Writer(rng, windows).block(rng.randint(0, 2))
    return Query(text)
