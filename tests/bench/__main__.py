"""Runs the sections named, or all, prints them and writes docs/benchmarks.md."""

from __future__ import annotations

import sys

from tests.bench import front_end
from tests.bench.figures import write

SUITES = {"front-end": front_end.run}


def main(names: list[str]) -> int:
    """Runs suites by name; a section's own name stands for its suite."""
    unknown = [n for n in names if not any(n.startswith(suite) for suite in SUITES)]
    if unknown:
        sys.stderr.write(f"no such section: {', '.join(unknown)}; there are {', '.join(SUITES)}\n")
        return 2
    for suite, run in SUITES.items():
        if not names or any(n.startswith(suite) for n in names):
            for section in run():
                write(section)
                print(f"\n{section.title}")
                for row in section.rows:
                    print("  " + " | ".join(row))
    return 0


sys.exit(main(sys.argv[1:]))
