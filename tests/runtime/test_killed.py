"""A query that is killed in the middle of its batches answers as if it had not been."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.runtime import replay

pytest.importorskip("pyspark")
from cqlc.runtime.harness import Operator
from tests.runtime.streaming import START, Source, changes, drain, lifetimes, session
from tests.runtime.test_harness import (
    AGGREGATE,
    ANSWER,
    COLUMNS,
    KINDS,
    SECOND,
    batches,
    windowed,
)

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
LENGTH = 5 * SECOND
OPERATOR = Operator("sums per key", AGGREGATE, {"input": ["k", "d"]}, buckets=3)


def run_query(spark: Any, base: Path) -> None:
    source = Source(base / "s", COLUMNS)

    def build():
        rows = lifetimes(source.read(spark), *KINDS, length=LENGTH)
        return OPERATOR.apply({"input": rows}, ANSWER)

    drain(build, base)


def batches_in(folder: Path) -> int:
    return len([entry for entry in folder.glob("*") if entry.name.isdigit()])


def kill_in_mid_batch(base: Path, done: int) -> None:
    """Start the query elsewhere, and kill it while a batch is under way after `done` are done."""
    command = [sys.executable, "-m", "tests.runtime.test_killed", str(base)]
    with subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as query:
        offsets, commits = base / "checkpoint/offsets", base / "checkpoint/commits"
        while query.poll() is None:
            if batches_in(commits) >= done and batches_in(offsets) > batches_in(commits):
                os.killpg(query.pid, signal.SIGKILL)
                return
            time.sleep(0.02)


def test_killed_and_started_again(spark: Any, tmp_path: Path):
    source = Source(tmp_path / "s", COLUMNS)
    files = batches(random.Random(7), 8, 4 * SECOND)
    for number, rows in enumerate(files):
        source.write(str(number), rows)
    for done in (1, 3, 5):
        kill_in_mid_batch(tmp_path, done)
    assert batches_in(tmp_path / "checkpoint/commits") < len(files), "killed too late"
    run_query(spark, tmp_path)
    source.finish(START + 60 * SECOND)
    run_query(spark, tmp_path)
    everything = windowed([row for rows in files for row in rows], LENGTH)
    end = START + 100 * SECOND
    want = replay.run(AGGREGATE, {"input": everything}, random.Random(2), end=end).changes()
    assert changes(spark, tmp_path) == want


if __name__ == "__main__":
    run_query(session(), Path(sys.argv[1]))
