"""The outcome of a run, for people and as JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from cqlc.testing.run import Outcome


@dataclass(frozen=True, slots=True)
class Report:
    """The outcomes of all tests of a run."""

    outcomes: tuple[Outcome, ...]

    @property
    def ok(self) -> bool:
        """Whether every test passed, and there was one."""
        return bool(self.outcomes) and all(outcome.ok for outcome in self.outcomes)

    def text(self) -> str:
        """Every failure, and how many tests passed."""
        failed = [outcome for outcome in self.outcomes if not outcome.ok]
        parts = [_shown(outcome) for outcome in failed]
        passed = len(self.outcomes) - len(failed)
        parts.append(f"{passed} passed, {len(failed)} failed")
        return "\n\n".join(parts)

    def junit(self) -> str:
        """The run as JUnit XML: a suite for every file."""
        root = ElementTree.Element("testsuites")
        for path in dict.fromkeys(outcome.path for outcome in self.outcomes):
            mine = [outcome for outcome in self.outcomes if outcome.path == path]
            _add_suite(root, path, mine)
        ElementTree.indent(root)
        return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _shown(outcome: Outcome) -> str:
    lines = (f"  {line}" for line in outcome.problems)
    return "\n".join([f"FAILED {outcome.path}:{outcome.line} {outcome.title}", *lines])


def _add_suite(root: ElementTree.Element, path: Path, outcomes: Sequence[Outcome]) -> None:
    failures = sum(not outcome.ok for outcome in outcomes)
    suite = ElementTree.SubElement(
        root,
        "testsuite",
        name=str(path),
        tests=str(len(outcomes)),
        failures=str(failures),
        time=f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    )
    for outcome in outcomes:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=path.stem,
            name=outcome.title,
            file=str(path),
            line=str(outcome.line),
            time=f"{outcome.seconds:.3f}",
        )
        if not outcome.ok:
            failure = ElementTree.SubElement(case, "failure", message=outcome.problems[0])
            failure.text = "\n".join(outcome.problems)
