"""Plans and expressions as text: two spaces of indent, one line per operator, shared parts once.

A subplan that is used more than once is numbered where it first appears (`#1 = Aggregate ...`) and
is only named (`#1`) after that.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Callable, Iterator

from cqlc.algebra.expr import (
    AggregateCall,
    And,
    Arithmetic,
    Call,
    Case,
    Cast,
    Column,
    Compare,
    Expr,
    IsNull,
    Literal,
    Negate,
    Not,
    Operator,
    Or,
    SortKey,
    Value,
)
from cqlc.algebra.plan import (
    Aggregate,
    Clock,
    Distinct,
    Dstream,
    EveryChange,
    Except,
    Filter,
    Grid,
    Intersect,
    Istream,
    IstreamRestore,
    Join,
    Named,
    NamedAggregate,
    Now,
    NrrJoin,
    Plan,
    Project,
    Range,
    Rank,
    Rename,
    Rows,
    Rstream,
    RstreamRestore,
    Scan,
    Session,
    Table,
    Unbounded,
    Union,
    Values,
)
from cqlc.algebra.walk import inputs, subplans
from cqlc.datatypes import DATE, DURATION, TIMESTAMP, DataType

_UNITS = (
    ("DAYS", 86_400_000_000),
    ("HOURS", 3_600_000_000),
    ("MINUTES", 60_000_000),
    ("SECONDS", 1_000_000),
    ("MILLISECONDS", 1_000),
)
_EPOCH = datetime.datetime(1970, 1, 1)


# -------------------------------------------------------------------------------------- plans


def plan_text(plan: Plan, note: Callable[[Plan], str] = lambda _: "") -> str:
    """The plan, one line per operator; `note` may add something at the end of a line."""
    uses = Counter(id(child) for node in subplans(plan) for child in inputs(node))
    numbers: dict[int, int] = {}

    def lines(node: Plan, indent: str) -> Iterator[str]:
        if id(node) in numbers:
            yield f"{indent}#{numbers[id(node)]}"
            return
        label = ""
        if uses[id(node)] > 1 and inputs(node):
            numbers[id(node)] = len(numbers) + 1
            label = f"#{numbers[id(node)]} = "
        yield f"{indent}{label}{node_text(node)}{note(node)}"
        for child in inputs(node):
            yield from lines(child, indent + "  ")

    return "\n".join(lines(plan, ""))


def node_text(plan: Plan) -> str:
    """One operator without its inputs."""
    match plan:
        case Scan(name):
            return f"Scan {name}"
        case Table(name):
            return f"Table {name}"
        case Values(rows):
            shown = ", ".join(f"({', '.join(map(expr_text, row))})" for row in rows)
            return f"Values {shown}" if rows else "Values"
        case Now() | Unbounded() | Istream() | Dstream() | Distinct() | Union():
            return type(plan).__name__
        case Except() | Intersect():
            return type(plan).__name__
        case Rstream(_, clock):
            return f"Rstream {_clock_text(clock)}"
        case IstreamRestore(_, grid) | RstreamRestore(_, _, grid):
            return f"{type(plan).__name__} {_clock_text(grid)}"
        case Range():
            return f"Range {_range_text(plan)}"
        case Rows():
            return f"Rows {_rows_text(plan)}"
        case Session(_, gap, partition):
            by = f" PARTITION BY {', '.join(partition)}" if partition else ""
            return f"Session {duration_text(gap)}{by}"
        case Rename(_, alias):
            return f"Rename {alias}"
        case Filter(_, predicate):
            return f"Filter {expr_text(predicate)}"
        case Project(_, columns):
            return f"Project {', '.join(map(_named_text, columns))}"
        case Join(_, _, kind, predicate):
            return f"Join {kind} ON {expr_text(predicate)}"
        case NrrJoin():
            return f"NrrJoin {plan.kind} {plan.name} AS {plan.alias} ON {expr_text(plan.predicate)}"
        case Aggregate(_, keys, aggregates):
            computed = ", ".join(map(_named_aggregate_text, aggregates))
            by = f" BY {', '.join(map(_named_text, keys))}" if keys else ""
            return f"Aggregate{' ' if computed else ''}{computed}{by}"
        case Rank():
            return _rank_text(plan)


def _clock_text(clock: Clock) -> str:
    match clock:
        case Grid(period, offset):
            start = f" OFFSET {duration_text(offset)}" if offset else ""
            return f"EVERY {duration_text(period)}{start}"
        case EveryChange():
            return "EVERY CHANGE"


def _range_text(window: Range) -> str:
    text = duration_text(window.length)
    if window.slide:
        text += f" SLIDE {_clock_text(window.slide).removeprefix('EVERY ')}"
    return f"{text} INTERNAL" if window.internal else text


def _rows_text(window: Rows) -> str:
    text = str(window.rows)
    if window.partition:
        text += f" PARTITION BY {', '.join(window.partition)}"
    if window.range is not None:
        text += f" RANGE {duration_text(window.range)}"
    if window.slide != 1:
        text += f" SLIDE {window.slide}"
    if window.sequence:
        text += f" SEQUENCE BY {window.sequence}"
    return f"{text} INTERNAL" if window.internal else text


def _rank_text(rank: Rank) -> str:
    parts = f" PARTITION BY {', '.join(rank.partition)}" if rank.partition else ""
    if rank.order:
        parts += f" ORDER BY {', '.join(map(_sort_text, rank.order))}"
    return f"Rank {rank.name} = {rank.kind}{parts}"


def _sort_text(key: SortKey) -> str:
    text = expr_text(key.value) + (" DESC" if key.descending else "")
    if key.nulls_first is key.descending:  # not the default: NULL as the smallest value
        text += " NULLS FIRST" if key.nulls_first else " NULLS LAST"
    return text


def _named_text(column: Named) -> str:
    value = expr_text(column.value)
    return value if value == column.name else f"{column.name} = {value}"


def _named_aggregate_text(column: NamedAggregate) -> str:
    return f"{column.name} = {aggregate_text(column.value)}"


# -------------------------------------------------------------------------------- expressions

_OR, _AND, _NOT, _COMPARE, _ADD, _MULTIPLY, _SIGN, _ATOM = range(8)
_PRECEDENCE = {
    Operator.ADD: _ADD,
    Operator.SUBTRACT: _ADD,
    Operator.MULTIPLY: _MULTIPLY,
    Operator.DIVIDE: _MULTIPLY,
    Operator.MODULO: _MULTIPLY,
}


def expr_text(expr: Expr) -> str:
    """The expression in SQL's notation."""
    return _text(expr, _OR)


def aggregate_text(call: AggregateCall) -> str:
    """The aggregate in SQL's notation."""
    arguments = ", ".join(map(expr_text, call.arguments)) or "*"
    distinct = "DISTINCT " if call.distinct else ""
    where = f" FILTER (WHERE {expr_text(call.where)})" if call.where else ""
    return f"{call.function}({distinct}{arguments}){where}"


def _text(expr: Expr, least: int) -> str:
    """The expression, in parentheses if it binds less tightly than `least`."""
    precedence, text = _parts(expr)
    return text if precedence >= least else f"({text})"


def _parts(expr: Expr) -> tuple[int, str]:
    match expr:
        case Column(name):
            return _ATOM, name
        case Literal(value, type):
            return _ATOM, value_text(value, type)
        case Compare(op, left, right):
            return _COMPARE, f"{_text(left, _ADD)} {op} {_text(right, _ADD)}"
        case And(args):
            return _AND, " AND ".join(_text(arg, _NOT) for arg in args)
        case Or(args):
            return _OR, " OR ".join(_text(arg, _AND) for arg in args)
        case Not(IsNull(arg)):
            return _COMPARE, f"{_text(arg, _ADD)} IS NOT NULL"
        case Not(arg):
            return _NOT, f"NOT {_text(arg, _NOT)}"
        case IsNull(arg):
            return _COMPARE, f"{_text(arg, _ADD)} IS NULL"
        case Arithmetic(op, left, right):
            level = _PRECEDENCE[op]
            return level, f"{_text(left, level)} {op} {_text(right, level + 1)}"
        case Negate(arg):
            return _SIGN, f"-{_text(arg, _ATOM)}"
        case Case(branches, otherwise):
            whens = " ".join(f"WHEN {expr_text(w)} THEN {expr_text(t)}" for w, t in branches)
            return _ATOM, f"CASE {whens} ELSE {expr_text(otherwise)} END"
        case Cast(arg, type):
            return _ATOM, f"CAST({expr_text(arg)} AS {type})"
        case Call(function, args):
            return _ATOM, f"{function}({', '.join(map(expr_text, args))})"


def value_text(value: Value, type: DataType) -> str:
    """A constant in SQL's notation."""
    if value is None:
        return "NULL"
    if type == TIMESTAMP and isinstance(value, int):
        return f"TIMESTAMP '{timestamp_text(value)}'"
    if type == DURATION and isinstance(value, int):
        return duration_text(value)
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case bytes():
            return f"X'{value.hex().upper()}'"
        case tuple():
            return f"[{', '.join(map(str, value))}]"
        case _:
            return f"DATE '{value}'" if type == DATE else str(value)


def timestamp_text(microseconds: int) -> str:
    """A time in UTC; as a number of microseconds where the calendar ends."""
    try:
        time = _EPOCH + datetime.timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} MICROSECONDS"
    return time.isoformat(sep=" ")


def duration_text(microseconds: int) -> str:
    """A length of time in the largest unit that leaves it whole."""
    for name, unit in _UNITS:
        if microseconds and microseconds % unit == 0:
            count = microseconds // unit
            return f"{count} {name.removesuffix('S') if count == 1 else name}"
    return f"{microseconds} MICROSECONDS"
