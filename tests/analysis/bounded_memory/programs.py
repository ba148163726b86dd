"""Random programs as text: declared streams with all sorts of columns, and a query over them."""

from __future__ import annotations

import random

_TYPES = ("INT", "INT", "INT", "BIGINT", "STRING", "DOUBLE", "TINYINT", "DECIMAL(6,2)")
_CONSTANTS = {
    "STRING": ("'b'", "'d'", "'f'"),
    "DOUBLE": ("1.5", "2.5", "4.0"),
    "DECIMAL(6,2)": ("1.25", "3.50", "7.00"),
}


class Program:
    """A random program; `text` is all of it, the query last."""

    def __init__(self, generator: random.Random) -> None:
        self.generator = generator
        count = generator.choice((1, 2, 2, 2, 3))
        self.columns = {
            f"s{i}": {f"c{i}{j}": generator.choice(_TYPES) for j in range(generator.randint(1, 3))}
            for i in range(count)
        }
        declarations = [self._stream(name) for name in self.columns]
        self.text = "\n".join((*declarations, self._query()))

    def _stream(self, name: str) -> str:
        parts = [f"{c} {type}{self._constraint(c, type)}" for c, type in self.columns[name].items()]
        return f"CREATE STREAM {name} ({', '.join(parts)});"

    def _constraint(self, column: str, type: str) -> str:
        chosen = self.generator.random()
        if chosen < 0.3:
            return " NOT NULL"
        if chosen < 0.45 and type not in _CONSTANTS:
            return f" CHECK ({column} >= {self.generator.randint(-3, 3)})"
        if chosen < 0.55 and type == "STRING":
            return " IN ('a', 'c', 'e')"
        return ""

    def _query(self) -> str:
        conditions = [self._condition() for _ in range(self.generator.randint(0, 4))]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        tables = ", ".join(self.columns)
        columns = [c for s in self.columns.values() for c in s]
        shown = [c for c in columns if self.generator.random() < 0.3]
        if self.generator.random() < 0.3:
            groups = shown[:1]
            calls = ", ".join((*groups, f"{self._aggregate(columns)} AS agg"))
            grouped = f" GROUP BY {groups[0]}" if groups else ""
            return f"SELECT {calls} FROM {tables}{where}{grouped};"
        listed = ", ".join(shown) or "1 AS one"
        distinct = self.generator.choice(("", "DISTINCT "))
        return f"SELECT {distinct}ISTREAM({listed}) FROM {tables}{where};"

    def _aggregate(self, columns: list[str]) -> str:
        numbers = [c for c in columns if self._type(c) != "STRING"]
        if not numbers or self.generator.random() < 0.25:
            return "COUNT(*)"
        column = self.generator.choice(numbers)
        function = self.generator.choice(("SUM", "AVG", "MIN", "MAX", "MEDIAN", "COUNT DISTINCT"))
        if function == "COUNT DISTINCT":
            return f"COUNT(DISTINCT {column})"
        return f"{function}({column})"

    def _type(self, column: str) -> str:
        return next(s[column] for s in self.columns.values() if column in s)

    def _condition(self, depth: int = 0) -> str:
        chosen = self.generator.random()
        if depth < 2 and chosen < 0.15:
            return f"({self._condition(depth + 1)} OR {self._condition(depth + 1)})"
        if depth < 2 and chosen < 0.2:
            return f"NOT ({self._condition(depth + 1)})"
        return self._comparison()

    def _comparison(self) -> str:
        every = [c for s in self.columns.values() for c in s]
        column = self.generator.choice(every)
        alike = [c for c in every if c != column and self._type(c) == self._type(column)]
        constants = _CONSTANTS.get(self._type(column), ("1", "4", "6"))
        op = self.generator.choice(("<", "<=", "=", ">", ">=", "<", ">", "<>"))
        chosen = self.generator.random()
        if alike and chosen < 0.55:
            return f"{column} {op} {self.generator.choice(alike)}"
        if chosen < 0.62:
            return f"{column} IS {self.generator.choice(('', 'NOT '))}NULL"
        if chosen < 0.72:
            return f"{column} IN ({', '.join(constants[:2])})"
        if chosen < 0.78:
            return f"{column} BETWEEN {constants[0]} AND {constants[2]}"
        return f"{column} {op} {self.generator.choice(constants)}"
