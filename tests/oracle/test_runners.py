"""The runners themselves, on small corpora made here."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.oracle import nexmark, stream

CASE: dict[str, Any] = {
    "declarations": [
        "register stream Trade (sym integer, px float)",
        "register relation Listed (sym integer, board integer)",
    ],
    "views": [
        {
            "declaration": "register relation Cur (sym integer, px float)",
            "query": "select sym, Avg(px) from Trade [Range 3] group by sym",
        }
    ],
    "query": "Rstream(select Cur.sym, px, board from Cur, Listed where Cur.sym = Listed.sym)",
    "horizon": 5,
    "inputs": {
        "Trade": [[1, [7, 1.0]], [2, [7, 1.5]], [2, [8, 1.0]], [30, [900, 900.0]]],
        "Listed": [[0, "+", [7, 1]], [4, "-", [7, 1]], [30, "+", [900, 900]]],
    },
    "expected": [
        [1, "+", [7, 1.0, 1], 1],
        [2, "+", [7, 1.25, 1], 1],
        [3, "+", [7, 1.25001, 1], 1],
    ],
}


def judged(folder: Path, case: dict[str, Any]) -> int:
    """The exit code for a corpus of one case."""
    (folder / "case.json").write_text(json.dumps(case))
    return stream.main(["--cases", str(folder)])


def test_a_case_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert judged(tmp_path, CASE) == 0
    assert capsys.readouterr().out == "1 agree, 0 differ\n"


def test_a_disagreement_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = copy.deepcopy(CASE)
    case["expected"][2] = [3, "+", [7, 1.26, 1], 2]
    assert judged(tmp_path, case) == 1
    shown = capsys.readouterr().out
    assert case["query"] in shown
    assert "  instant 3:\n    expected  + (7, 1.26, 1)\n    expected  + (7, 1.26, 1)\n" in shown
    assert "    got       + (7, 1.25, 1)\n" in shown
    assert shown.endswith("0 agree, 1 differ\n")


def test_an_answer_too_much_is_a_disagreement(tmp_path: Path) -> None:
    case = copy.deepcopy(CASE)
    del case["expected"][1]
    assert judged(tmp_path, case) == 1


def test_a_query_that_does_not_compile_is_a_disagreement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judged(tmp_path, {**CASE, "query": "select nothing from Trade"}) == 1
    assert "does not compile: CQL1" in capsys.readouterr().out


@pytest.mark.parametrize("runner", [stream.main, nexmark.main])
def test_an_engine_that_is_not_there(
    runner: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = ["--data", str(tmp_path), "--answers", str(tmp_path)]
    folders = ["--cases", str(tmp_path)] if runner is stream.main else folders
    with pytest.raises(SystemExit) as exit:
        runner([*folders, "--engine", "abacus"])
    assert exit.value.code == 2
    assert "no engine is called abacus" in capsys.readouterr().err


def test_a_directory_without_cases(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        stream.main(["--cases", str(tmp_path)])


@pytest.fixture
def auctions(tmp_path: Path) -> Path:
    """Two bids, and the answer of Nexmark's query 2 to them."""
    time = pa.array([1_436_918_400_000_000, 1_436_918_401_000_000], pa.timestamp("us", "UTC"))
    numbers = {name: [123, 124] for name in ("auction", "bidder", "price")}
    texts = {name: ["x", "y"] for name in ("channel", "url", "extra")}
    pq.write_table(pa.table({**numbers, **texts, "dateTime": time}), tmp_path / "bid.parquet")
    with gzip.open(tmp_path / "q2.csv.gz", "wt") as file:
        file.write("auction,price\n123,123\n")
    return tmp_path


def test_nexmark(auctions: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = ["--data", str(auctions), "--answers", str(auctions)]
    assert nexmark.main(folders) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "1 agree, 0 differ"
    with gzip.open(auctions / "q2.csv.gz", "at") as file:
        file.write("246,1\n")
    assert nexmark.main([*folders, "--queries", "q2"]) == 1
    shown = capsys.readouterr().out
    assert "    expected  ('246', '1')" in shown
    assert shown.endswith("0 agree, 1 differ\n")
