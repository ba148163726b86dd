"""The grammar file: packaged, without conflicts, and every rule with what it builds."""

from __future__ import annotations

import logging
import os
import stat
import subprocess
import sys
from pathlib import Path

import lark
import pytest
from lark.lexer import Lexer

from cqlc.syntax import tables as module
from cqlc.syntax.builder import actions
from tests.syntax.texts import ROOT

GRAMMAR = ROOT / "grammar" / "cql.lark"


class NoLexer(Lexer):
    """Tokens come from elsewhere."""

    def __init__(self, _: object) -> None:
        pass

    def lex(self, *_: object) -> object:
        return iter(())


@pytest.fixture(scope="module")
def grammar() -> tuple[lark.Lark, list[str]]:
    """The grammar and what Lark has to say about it."""
    messages: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    level = lark.logger.level
    lark.logger.addHandler(handler)
    lark.logger.setLevel(logging.DEBUG)
    try:
        made = lark.Lark(
            GRAMMAR.read_text(encoding="utf-8"),
            parser="lalr",
            lexer=NoLexer,
            start=["statement", "expression", "type_name"],
            keep_all_tokens=True,
            debug=True,
        )
    finally:
        lark.logger.removeHandler(handler)
        lark.logger.setLevel(level)
    return made, messages


def test_the_package_holds_the_grammar() -> None:
    inside = ROOT / "cqlc" / "syntax" / "cql.lark"
    assert inside.is_symlink()
    assert inside.resolve() == GRAMMAR


def test_no_conflict_is_left_to_chance(grammar: tuple[lark.Lark, list[str]]) -> None:
    _, messages = grammar
    assert not [message for message in messages if "conflict" in message.lower()]


def test_every_rule_builds_something(grammar: tuple[lark.Lark, list[str]]) -> None:
    made, _ = grammar
    named = {str(rule.alias or rule.origin.name) for rule in made.rules}
    inlined = {name for name in named if name.startswith("_")}
    # Rules of one symbol hand on what the symbol built.
    passed = {
        str(rule.origin.name)
        for rule in made.rules
        if rule.options.expand1 and len(rule.expansion) == 1 and not rule.alias
    }
    assert named - inlined - passed <= actions().keys()


def test_lark_is_imported_only_to_parse() -> None:
    script = (
        "import sys, cqlc.syntax.parser, cqlc.syntax.printer;"
        "assert not {'lark', 'pyspark', 'pandas', 'numpy'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_the_tables_are_kept_and_a_spoilt_file_does_no_harm(tmp_path: Path) -> None:
    script = "from cqlc.syntax.parser import *; assert not parse(Source('SELECT 1')).diagnostics"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT, env=environment)
        (kept,) = (tmp_path / "cqlc").iterdir()
        assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
        kept.write_bytes(kept.read_bytes()[:100])


def test_the_tables_are_not_kept_where_others_can_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert module._cache_file() is not None
    (tmp_path / "cqlc").chmod(0o777)
    assert module._cache_file() is None
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert module._cache_file() is None
