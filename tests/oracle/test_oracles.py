"""The corpora, where they are: every case of STREAM, and the Nexmark queries that are quick."""

from __future__ import annotations

from pathlib import Path

import pytest

from cqlc.testing.engine import Reference
from tests.oracle import nexmark, stream

SHARED = Path(__file__).parents[3] / "shared" / "oracle"
CASES = sorted((SHARED / "stream").glob("*.json"))
ANSWERED = nexmark.answered(SHARED / "nexmark" / "answers")

needs_corpora = pytest.mark.skipif(not CASES, reason=f"the corpora are not in {SHARED.name}/")


@needs_corpora
def test_every_case_of_stream_agrees() -> None:
    engine = Reference()
    differing = {
        path.stem: problems
        for path in CASES
        if (problems := stream.disagreements(stream.load(path), engine))
    }
    assert not differing, "\n".join(line for lines in differing.values() for line in lines)


@needs_corpora
@pytest.mark.parametrize("name", ANSWERED or ["none"])
def test_nexmark_agrees(name: str) -> None:
    folder = SHARED / "nexmark"
    problems = nexmark.judge(name, folder / "data", folder / "answers", Reference())
    assert not problems, "\n".join(problems)
