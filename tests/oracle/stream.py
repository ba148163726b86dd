"""The STREAM corpus: answers that Stanford's prototype computed.

`python -m tests.oracle.stream --cases DIR --engine reference|spark` judges every case of a
directory. An instant is one second; RSTREAM repeats its relation at every instant.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cqlc.algebra.plan import Grid
from cqlc.compiler import compile_program
from cqlc.diagnostics import CompileError
from cqlc.semantics import Change, Timeline, Values
from cqlc.source import Source
from cqlc.testing.engine import Engine, Question, UnknownEngineError, engine_called
from tests.oracle.comparing import difference

SECOND = 1_000_000
TOLERANCE = 2e-5


@dataclass(frozen=True)
class Case:
    """A program, its inputs and the answer, by instant."""

    name: str
    program: str
    timeline: Timeline
    horizon: int
    expected: dict[int, tuple[Counter[Values], Counter[Values]]]
    """For every instant the bags of rows that come and go."""


def load(path: Path) -> Case:
    """The case in a JSON file."""
    case = json.loads(path.read_text())
    views = [f"{view['declaration']} AS {view['query']}" for view in case.get("views", ())]
    program = ";\n".join([*case["declarations"], *views, case["query"]]) + ";"
    streams: dict[str, list[tuple[int, Values]]] = {}
    tables: dict[str, list[tuple[int, int, Values]]] = {}
    for name, rows in case["inputs"].items():
        if f"register relation {name} ".lower() in program.lower():
            tables[name] = [(t * SECOND, 1 if s == "+" else -1, tuple(v)) for t, s, v in rows]
        else:
            streams[name] = [(t * SECOND, tuple(v)) for t, v in rows]
    changes = (
        (time * SECOND, 1 if sign == "+" else -1, tuple(values))
        for time, sign, values, count in case["expected"]
        for _ in range(count)
    )
    timeline = Timeline(streams, tables)
    return Case(path.stem, program, timeline, case["horizon"] * SECOND, _by_instant(changes))


def _by_instant(
    changes: Iterable[Change],
) -> dict[int, tuple[Counter[Values], Counter[Values]]]:
    instants: dict[int, tuple[Counter[Values], Counter[Values]]] = defaultdict(
        lambda: (Counter(), Counter())
    )
    for time, sign, values in changes:
        instants[time][sign < 0][values] += 1
    return instants


def disagreements(case: Case, engine: Engine) -> list[str]:
    """What the engine answers differently, in words."""
    compilation = compile_program(Source(case.program, case.name))
    try:
        query = compilation.require().queries[-1]
    except CompileError as error:
        return [f"  does not compile: {error}"]
    question = Question(
        compilation, query, case.timeline, SECOND, Grid(SECOND), horizon=case.horizon
    )
    got = _by_instant(engine.changes(question))
    problems: list[str] = []
    for time in sorted({*case.expected, *got}):
        for sign, expected, found in zip("+-", case.expected[time], got[time], strict=True):
            missing, surplus = difference(expected, found, TOLERANCE)
            if missing or surplus:
                problems += [
                    f"  instant {time // SECOND}:",
                    *(f"    expected  {sign} {row}" for row in missing),
                    *(f"    got       {sign} {row}" for row in surplus),
                ]
    return problems


def main(arguments: list[str] | None = None) -> int:
    """Judges a directory; 1 if anything differs."""
    parser = argparse.ArgumentParser(prog="tests.oracle.stream", description=__doc__)
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--engine", default="reference")
    options = parser.parse_args(arguments)
    try:
        engine = engine_called(options.engine)
    except UnknownEngineError as error:
        parser.error(str(error))
    paths = sorted(options.cases.glob("*.json"))
    if not paths:
        parser.error(f"no cases (*.json) in {options.cases}")
    differing = 0
    for path in paths:
        case = load(path)
        problems = disagreements(case, engine)
        if problems:
            differing += 1
            program = "\n".join(f"    {line}" for line in case.program.splitlines())
            print(f"{case.name}:\n{program}", *problems, "", sep="\n")
    print(f"{len(paths) - differing} agree, {differing} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
