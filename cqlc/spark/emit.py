"""Programs as PySpark source: one function per operator, then how to run it.

The source stands alone: besides PySpark it needs nothing, and only public API is used, so it runs
on Spark Connect too. SQL inside it is made of quoted names and literals only.
"""

from __future__ import annotations

import json
import keyword
import re
from collections import Counter
from collections.abc import Iterator
from importlib import resources

from cqlc.algebra.text import duration_text
from cqlc.catalog import TableDeclaration
from cqlc.spark.expression import name as quoted
from cqlc.spark.expression import sql_type, string
from cqlc.spark.program import (
    Computed,
    Concat,
    Constants,
    Deduplicate,
    Group,
    Match,
    ReadStream,
    ReadTable,
    Select,
    SessionWindow,
    SparkProgram,
    Step,
    TimeWindow,
    Watermark,
    Where,
    event_times,
    step_inputs,
    steps,
)

_INDENT = "    "
_WIDTH = 96


def emit(program: SparkProgram) -> str:
    """The source of a program."""
    names = _function_names(program)
    made = [_function(program, s, names) for s in steps(program.result) if id(s) in names]
    imports, harness = _harness()
    whole = (*made, _query(program, names), f"{_RULE}\n\n{harness}", _program(program), _MAIN)
    blocks = "\n\n\n".join(block.strip("\n") for block in whole)
    return f"{_header(program)}\n\n{imports.strip()}\n\n\n{blocks}\n"


# ---------------------------------------------------------------------------------- functions


def _function_names(program: SparkProgram) -> dict[int, str]:
    """The steps that become functions, and what these are called.

    A step is the last of its function if others read it by a join or a union, or twice, or if it
    is the answer. Its function does everything up to the functions before it.
    """
    uses = Counter(id(i) for step in steps(program.result) for i in step_inputs(step))
    joined = {
        id(i)
        for step in steps(program.result)
        if isinstance(step, Match | Concat)
        for i in step_inputs(step)
    }
    taken = {"query", "main", "start", "finish", "write", "claim", "configure", "plain"}
    names: dict[int, str] = {}
    for step in steps(program.result):
        last = step is program.result or id(step) in joined or uses[id(step)] > 1
        if last:
            names[id(step)] = _fresh(_wanted(step, names), taken)
    return names


def _wanted(step: Step, names: dict[int, str]) -> str:
    """A name that says what a function does: the table it reads, or its most telling step."""
    parts: list[str] = []
    node = step
    while True:
        if (word := _word(node)) and word not in parts:
            parts.insert(0, word)
        inputs = step_inputs(node)
        if len(inputs) != 1:
            break
        node = inputs[0]
        if id(node) in names:
            parts.insert(0, names[id(node)])
            break
    return "_".join(parts) or "rows"


def _word(step: Step) -> str:
    match step:
        case ReadStream(table) | ReadTable(table):
            return table
        case Group():
            return "grouped"
        case Match():
            return "joined"
        case Concat():
            return "together"
        case Constants():
            return "constants"
        case Select() | Where() | Watermark() | Deduplicate():
            return ""


def _fresh(wanted: str, taken: set[str]) -> str:
    base = re.sub(r"\W+", "_", wanted).strip("_").lower() or "rows"
    if base[0].isdigit() or keyword.iskeyword(base):
        base = f"rows_{base}"
    found, number = base, 1
    while found in taken:
        number += 1
        found = f"{base}_{number}"
    taken.add(found)
    return found


def _parts(step: Step, names: dict[int, str]) -> list[Step]:
    """The steps whose functions' rows a function takes, in order."""
    found: list[Step] = []
    for part in step_inputs(step):
        found += [part] if id(part) in names else _parts(part, names)
    return found


def _parameters(step: Step, names: dict[int, str]) -> list[str]:
    """What a function calls the rows it takes; the same rows again have another name."""
    taken: set[str] = set()
    return [_fresh(names[id(part)], taken) for part in _parts(step, names)]


def _reads_inputs(step: Step, names: dict[int, str]) -> bool:
    if isinstance(step, ReadStream | ReadTable | Constants | Watermark):
        return True
    return any(_reads_inputs(p, names) for p in step_inputs(step) if id(p) not in names)


def _function(program: SparkProgram, step: Step, names: dict[int, str]) -> str:
    given = _parameters(step, names)
    parameters = [f"{parameter}: DataFrame" for parameter in given]
    if _reads_inputs(step, names):
        parameters.insert(0, "inputs: Inputs")
    head = f"def {names[id(step)]}({', '.join(parameters)}) -> DataFrame:"
    body = list(_statements(program, step, names, iter(given)))
    return "\n".join((head, *(f"{_INDENT}{line}" for line in body), f"{_INDENT}return rows"))


def _statements(
    program: SparkProgram, step: Step, names: dict[int, str], given: Iterator[str]
) -> Iterator[str]:
    """The lines that make `rows` the rows of a step, from the parameters `given`."""
    sources: list[str] = []
    notes: set[str] = set()
    for part in step_inputs(step):
        if id(part) in names:
            sources.append(next(given))
        else:
            yield from _statements(program, part, names, given)
            notes.add(part.note)
            sources.append("rows")
    if step.note and step.note not in notes:
        yield from (f"# {line}" for line in step.note.splitlines())
    yield from f"rows = {_expression(program, step, sources)}".splitlines()


def _expression(program: SparkProgram, step: Step, sources: list[str]) -> str:
    """A step as a PySpark expression over the variables its inputs are in."""
    match step:
        case ReadStream(table):
            return _read_stream(_declaration(program, table))
        case ReadTable(table):
            columns = [_converted(n, t) for n, t in _typed(_declaration(program, table))]
            return _call(f"inputs.table({_text(table)}).selectExpr", columns)
        case Constants():
            return f"inputs.spark.sql({_text(_constants(step))})"
        case Select():
            return _select(step, sources[0])
        case Where(_, condition):
            return _call(f"{sources[0]}.where", [_text(condition)])
        case Concat():
            return sources[0] + "".join(f".unionByName({other})" for other in sources[1:])
        case Watermark(_, column, delay):
            behind = f"{-(-delay // 1000)} milliseconds"
            return f"inputs.watermark({sources[0]}, {_text(column)}, {_text(behind)})"
        case Group():
            return _group(step, sources[0])
        case Deduplicate(_, keys):
            return _call(f"{sources[0]}.dropDuplicates", ["[" + ", ".join(map(_text, keys)) + "]"])
        case Match(_, _, how, condition):
            on = f"F.expr({_text(condition)})"
            return _call(f"{sources[0]}.join", [sources[1], on, _text(how.value)])


def _select(step: Select, source: str) -> str:
    marked = event_times(step.input)
    plain = all(not c.event_time and c.sql not in map(quoted, marked) for c in step.columns)
    if plain:
        return _call(f"{source}.selectExpr", [_text(_as(c)) for c in step.columns])
    columns: list[str] = []
    for c in step.columns:
        if c.event_time:
            columns.append(f"event_time({_text(c.sql)}, {_text(c.name)})")
        elif c.sql in map(quoted, marked):
            columns.append(f"plain({_text(c.sql)}, {_text(c.name)})")
        else:
            columns.append(f"F.expr({_text(_as(c))})")
    return _call(f"{source}.select", columns)


def _group(step: Group, source: str) -> str:
    keys = [_text(quoted(key)) for key in step.keys]
    match step.window:
        case TimeWindow(column, length, slide, start, window):
            sizes = [_text(duration_text(n)) for n in (length, slide, start)]
            sizes = sizes[: 3 if start else 2 if slide != length else 1]
            called = f"F.window({', '.join((_text(quoted(column)), *sizes))})"
            keys.insert(0, f"{called}.alias({_text(window)})")
        case SessionWindow(column, gap, window):
            called = f"F.session_window({_text(quoted(column))}, {_text(duration_text(gap))})"
            keys.insert(0, f"{called}.alias({_text(window)})")
        case None:
            pass
    aggregates = [f"F.expr({_text(a.sql)}).alias({_text(a.name)})" for a in step.aggregates]
    grouped = _call(f"{source}.groupBy", keys)
    return _call(f"{grouped}.agg", aggregates or ['F.count("*").alias("_count")'])


def _constants(step: Constants) -> str:
    columns = ", ".join(map(quoted, step.columns))
    if step.rows:
        rows = ", ".join(f"({', '.join(row)})" for row in step.rows)
        return f"SELECT * FROM VALUES {rows} AS t({columns})"
    typed = zip(step.columns, step.types, strict=True)
    nothing = ", ".join(f"CAST(NULL AS {type}) AS {quoted(c)}" for c, type in typed)
    return f"SELECT {nothing} WHERE FALSE"


# -------------------------------------------------------------------------------------- tables


def _declaration(program: SparkProgram, table: str) -> TableDeclaration:
    return next(t for t in (*program.streams, *program.tables) if t.name == table)


def _typed(table: TableDeclaration) -> list[tuple[str, str]]:
    return [(c.name, sql_type(c.type)) for c in table.columns]


def _converted(column: str, type: str) -> str:
    return _text(f"CAST({quoted(column)} AS {type}) AS {quoted(column)}")


def _read_stream(table: TableDeclaration) -> str:
    """The declared columns and `_time`, which must not be NULL."""
    columns = [_converted(n, t) for n, t in _typed(table)]
    if table.event_time is None:
        return _call(
            f"inputs.arrivals({_text(table.name)}).selectExpr", [*columns, _text("`_time`")]
        )
    column = table.event_time.column
    time = f"CAST({quoted(column)} AS TIMESTAMP)"
    if table.column(column).nullable:
        reason = string(f"a row of {table.name} has no event time: {column} is NULL")
        time = f"ifnull({time}, CAST(raise_error({reason}) AS TIMESTAMP))"
    columns.append(_text(f"{time} AS `_time`"))
    return _call(f"inputs.stream({_text(table.name)}).selectExpr", columns)


def _source(table: TableDeclaration) -> str:
    schema = ", ".join(f"{quoted(n)} {t}" for n, t in _typed(table))
    if table.source is None:
        return f"Source({_text(schema)})"
    options = ", ".join(f"{_text(k)}: {_text(v)}" for k, v in table.source.options)
    return f"Source({_text(schema)}, {_text(table.source.format)}, {{{options}}})"


# --------------------------------------------------------------------------------------- whole


def _header(program: SparkProgram) -> str:
    text = program.text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    return f'''"""{_title(program)}

{text}

Made by cqlc. To run it:

    spark-submit {program.name}.py --checkpoint DIR [--bind NAME=FORMAT:PATH] [--sink FORMAT:PATH]
"""'''


def _title(program: SparkProgram) -> str:
    return f"The continuous query {program.name}, for Spark Structured Streaming."


_RULE = f"# {'-' * 96}\n# How it is run: the same for every query."
_MAIN = 'if __name__ == "__main__":\n    main(PROGRAM)'


def _query(program: SparkProgram, names: dict[int, str]) -> str:
    """The function that puts the others together.

    Rows that are used twice are made twice: Spark gives chained stateful operators of a shared
    DataFrame no event time in its second use, so that they never give a result.
    """
    called = _called(program.result, names, 1)
    head = 'def query(inputs: Inputs) -> DataFrame:\n    """The whole query."""'
    return f"{head}\n{_INDENT}return {called}"


def _called(step: Step, names: dict[int, str], depth: int) -> str:
    given = [_called(part, names, depth + 1) for part in _parts(step, names)]
    if _reads_inputs(step, names):
        given.insert(0, "inputs")
    line = f"{names[id(step)]}({', '.join(given)})"
    if len(line) + len(_INDENT) * depth <= _WIDTH and "\n" not in line:
        return line
    inner = "".join(f"{_INDENT * (depth + 1)}{argument},\n" for argument in given)
    return f"{names[id(step)]}(\n{inner}{_INDENT * depth})"


def _program(program: SparkProgram) -> str:
    tables = [f"{_text(t.name)}: {_source(t)}" for t in (*program.streams, *program.tables)]
    fields = [
        f"name={_text(program.name)}",
        f"text={_text(program.text.strip())}",
        "sources={\n" + "".join(f"{_INDENT * 2}{t},\n" for t in tables) + f"{_INDENT}}}",
        "query=query",
        f"delivery={_text(program.delivery.value)}",
        f"key=({''.join(f'{_text(k)}, ' for k in program.key or ())})",
    ]
    return "PROGRAM = Program(\n" + "".join(f"{_INDENT}{f},\n" for f in fields) + ")"


def _harness() -> tuple[str, str]:
    """The imports and the rest of the part that all programs share."""
    source = resources.files("cqlc.spark").joinpath("harness.py").read_text("utf-8")
    head, rest = source.split("SETTINGS = ", 1)
    imports = head.split("from __future__", 1)[1]
    return f"from __future__{imports}", f"SETTINGS = {rest}"


# --------------------------------------------------------------------------------------- text


def _as(column: Computed) -> str:
    own = quoted(column.name)
    return own if column.sql == own else f"{column.sql} AS {own}"


def _text(text: str) -> str:
    """A string as Python source, in double quotes."""
    shown = json.dumps(text, ensure_ascii=False)
    return shown.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _call(function: str, arguments: list[str]) -> str:
    """A call on one line if it fits, else with one argument on each."""
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= _WIDTH and "\n" not in line:
        return line
    return function + "(\n" + "".join(f"{_INDENT}{a},\n" for a in arguments) + ")"
