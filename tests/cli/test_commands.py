"""The commands as a person or a script meets them: output, streams, exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from cqlc.cli import main
from cqlc.codes import CODES

GOOD = """\
CREATE STREAM bids (auction BIGINT, price DOUBLE);
SELECT ISTREAM(auction) FROM bids [RANGE 1 MINUTE] WHERE price > 10;
"""
BAD = """\
CREATE STREAM bids (auction BIGINT, price DOUBLE);
SELECT ISTREAM(auktion) FROM bids [RANGE 1 MINUTE];
SELECT price FORM bids;
SELECT ISTREAM(price) FROM bids;
"""


@pytest.fixture
def program(tmp_path: Path):
    def write(text: str, name: str = "q.cql") -> str:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_a_clean_program_exits_with_0(program, capsys):
    assert main(["check", program(GOOD)]) == 0
    out, err = capsys.readouterr()
    assert "1 query" in out
    assert err == ""


def test_every_mistake_is_reported_in_one_run_and_exits_with_1(program, capsys):
    assert main(["check", program(BAD)]) == 1
    out = capsys.readouterr().out
    assert "auktion" in out
    assert "FORM" in out
    assert "1 query" in out, "the correct statement is still seen"


def test_json_is_one_document_with_places(program, capsys):
    assert main(["check", "--format", "json", program(BAD)]) == 1
    (document,) = json.loads(capsys.readouterr().out)
    assert document["ok"] is False
    lines = {d["primary"]["span"]["start"]["line"] for d in document["diagnostics"]}
    assert {2, 3} <= lines
    assert all(d["code"] in CODES for d in document["diagnostics"])


def test_standard_input(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BAD.encode())))
    assert main(["check", "-"]) == 1
    assert "<stdin>:2:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda tmp: str(tmp / "absent.cql"), "no such file"),
        (lambda tmp: str(tmp), "is a directory"),
        (lambda tmp: _binary(tmp), "not UTF-8"),
    ],
)
def test_unreadable_input_is_misuse(tmp_path, capsys, make, message):
    assert main(["check", make(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def _binary(folder: Path) -> str:
    path = folder / "binary.cql"
    path.write_bytes(b"SELECT \xff\xfe")
    return str(path)


def test_wrong_arguments_are_misuse(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["check", "--no-such-option"])
    assert stop.value.code == 2
    assert "usage:" in capsys.readouterr().err


def test_colour_only_on_request_or_terminal(program, capsys):
    main(["check", program(BAD)])
    assert "\x1b[" not in capsys.readouterr().out
    main(["check", "--color", "always", program(BAD)])
    assert "\x1b[" in capsys.readouterr().out


def test_explain_prints_plans_to_stdout_and_findings_to_stderr(program, capsys):
    assert main(["explain", program(BAD)]) == 1
    out, err = capsys.readouterr()
    assert "Istream" in out
    assert "auktion" in err
    assert "auktion" not in out


def test_explain_json_round_trips(program, capsys):
    from cqlc.algebra.json import plan_from_json
    from cqlc.compiler import compile_program

    assert main(["explain", "--format", "json", program(GOOD)]) == 0
    (document,) = json.loads(capsys.readouterr().out)
    (query,) = compile_program(GOOD).queries
    assert plan_from_json(document["plan"]) == query.plan


def test_fix_applies_what_is_certain(program, capsys):
    path = program("CREATE STREAM s (a INT);\nSELECT ISTREAM(a) FORM s;\n")
    main(["check", "--fix", path])
    assert "FROM s" in Path(path).read_text()


def test_fmt_in_place_is_idempotent_and_keeps_comments(program, capsys):
    path = program("-- why\nselect   istream(a) from s [range 5 min]  -- here\n;")
    assert main(["fmt", "--check", path]) == 1
    assert main(["fmt", path]) == 0
    text = Path(path).read_text()
    assert "-- why" in text
    assert "-- here" in text
    assert "SELECT ISTREAM(a)" in text
    assert main(["fmt", "--check", path]) == 0
    assert Path(path).read_text() == text


def test_fmt_leaves_a_broken_program_alone(program, capsys):
    text = "SELECT FROM WHERE;"
    path = program(text)
    assert main(["fmt", path]) == 1
    assert Path(path).read_text() == text
    assert "not formatted" in capsys.readouterr().err


def test_fmt_diff_writes_nothing(program, capsys):
    text = "select a from s;"
    path = program(text)
    assert main(["fmt", "--diff", path]) == 1
    assert "+SELECT a" in capsys.readouterr().out
    assert Path(path).read_text() == text


def test_help_lists_and_prints_pages(capsys):
    assert main(["help"]) == 0
    listed = capsys.readouterr().out
    assert all(code in listed for code in CODES)
    first = next(iter(CODES))
    assert main(["help", first.lower()]) == 0
    assert first in capsys.readouterr().out


def test_help_of_an_unknown_code_is_misuse(capsys):
    assert main(["help", "CQL9876"]) == 2
    assert "no code" in capsys.readouterr().err


@pytest.mark.parametrize("shell", ["bash", "zsh", "tcsh"])
def test_completion_scripts_name_the_commands(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert "explain" in script


def test_checking_loads_no_heavy_library(program):
    """Start-up stays small: these libraries are for running queries, not for reading them."""
    code = (
        "import sys; from cqlc.cli import main; "
        f"main(['check', {program(GOOD)!r}]); main(['explain', {program(GOOD)!r}]); "
        "print(sorted({'pyspark', 'pandas', 'numpy', 'pyarrow', 'networkx', 'rich'}"
        " & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


def test_test_runs_markdown_tests_and_shows_what_differs(tmp_path, capsys):
    examples = Path(__file__).parent.parent.parent / "examples" / "tests"
    report = tmp_path / "junit.xml"
    assert main(["test", str(examples), "--junit", str(report)]) == 0
    assert "0 failed" in capsys.readouterr().out
    assert "<testsuite " in report.read_text("utf-8")
    for source in examples.glob("*.md"):
        (tmp_path / source.name).write_text(source.read_text("utf-8").replace("| 1 ", "| 7 ", 1))
    assert main(["test", str(tmp_path)]) == 1
    assert "FAILED" in capsys.readouterr().out


def test_check_bounded_fails_on_unbounded_state(program, capsys):
    unbounded = program(
        "CREATE STREAM a (x BIGINT); CREATE STREAM b (x BIGINT);"
        "SELECT ISTREAM(a.x) FROM a, b WHERE a.x = b.x;"
    )
    assert main(["check", unbounded]) == 0
    assert main(["check", "--bounded", unbounded]) == 1
    out = capsys.readouterr().out
    assert "UNBOUNDED" in out
    assert "repair: " in out
    assert main(["check", "--bounded", program(GOOD)]) == 0


def test_check_punctuation_asks_for_schemes(program):
    join = "SELECT ISTREAM(a.x) FROM a, b WHERE a.x = b.x;"
    without = "CREATE STREAM a (x BIGINT); CREATE STREAM b (x BIGINT);"
    declared = without.replace(");", ") PUNCTUATED BY (x);")
    assert main(["check", "--punctuation", program(without + join)]) == 1
    assert main(["check", "--punctuation", program(declared + join)]) == 0
