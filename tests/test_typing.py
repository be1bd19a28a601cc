"""Misuse is found before it runs: mypy and pyright report exactly the errors marked in typing_cases/.

A line that must not pass ends in `# E: mypy=<code> pyright=<rule>`; every other line must pass both checkers.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests/typing_cases"
CASES = sorted(FOLDER.glob("*.py"))
MARK = re.compile(r"# E: mypy=(?P<mypy>[a-z-]+) pyright=(?P<pyright>[A-Za-z]+)$")


class Finding(NamedTuple):
    """An error that a checker reports, or that a mark demands."""

    file: str
    line: int
    code: str


def marked(file: str, source: str, checker: str) -> list[Finding]:
    """What the marks in `source` demand of `checker`."""
    found = []
    for number, line in enumerate(source.splitlines(), 1):
        if "# E:" in line:
            match = MARK.search(line)
            assert match, f"{file}:{number}: write `# E: mypy=<code> pyright=<rule>`"
            found.append(Finding(file, number, match[checker]))
    return found


def output(*arguments: str) -> str:
    """What a checker prints; findings are no failure of its own, a crash or bad usage is."""
    run = subprocess.run([sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stdout + run.stderr
    return run.stdout


def findings_of_mypy() -> Iterable[Finding]:
    for line in output("mypy", "--strict", "--output=json", *map(str, CASES)).splitlines():
        report = json.loads(line)
        if report["severity"] == "error":
            yield Finding(Path(report["file"]).name, report["line"], report["code"])


def findings_of_pyright() -> Iterable[Finding]:
    result = json.loads(output("pyright", "--outputjson", "--pythonpath", sys.executable, "--project", str(FOLDER)))
    assert result["summary"]["filesAnalyzed"] == len(CASES)
    for report in result["generalDiagnostics"]:
        if report["severity"] == "error":
            line = report["range"]["start"]["line"] + 1
            yield Finding(Path(report["file"]).name, line, report.get("rule", "syntax"))


def differences(demanded: Iterable[Finding], found: Iterable[Finding]) -> list[str]:
    """Errors that were demanded and not reported, or reported and not demanded, in order of place."""
    missing, surplus = list(demanded), []
    for finding in found:
        if finding in missing:
            missing.remove(finding)
        else:
            surplus.append(finding)
    told = [(finding, "missing") for finding in missing] + [(finding, "unmarked") for finding in surplus]
    return [f"{file}:{line}: {what} {code}" for (file, line, code), what in sorted(told)]


@pytest.mark.slow
@pytest.mark.parametrize("checker", [findings_of_mypy, findings_of_pyright])
def test_the_checkers_report_exactly_the_marked_errors(checker: Callable[[], Iterable[Finding]]) -> None:
    name = checker.__name__.removeprefix("findings_of_")
    demanded = [finding for path in CASES for finding in marked(path.name, path.read_text("utf-8"), name)]
    assert demanded
    wrong = differences(demanded, checker())
    assert not wrong, "\n".join(wrong)


def test_marks_are_read_for_each_checker() -> None:
    source = "f(1)\nf(None)  # E: mypy=arg-type pyright=reportArgumentType"
    assert marked("a.py", source, "mypy") == [Finding("a.py", 2, "arg-type")]
    assert marked("a.py", source, "pyright") == [Finding("a.py", 2, "reportArgumentType")]
    with pytest.raises(AssertionError, match=r"a\.py:1"):
        marked("a.py", "f(None)  # E: mypy=arg-type", "mypy")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ([("a.py", 2, "arg-type")], []),
        ([], ["a.py:2: missing arg-type"]),
        ([("a.py", 2, "misc")], ["a.py:2: missing arg-type", "a.py:2: unmarked misc"]),
        ([("a.py", 2, "arg-type"), ("a.py", 2, "arg-type")], ["a.py:2: unmarked arg-type"]),
        ([("a.py", 2, "arg-type"), ("a.py", 1, "misc")], ["a.py:1: unmarked misc"]),
        ([("b.py", 2, "arg-type")], ["a.py:2: missing arg-type", "b.py:2: unmarked arg-type"]),
    ],
)
def test_differences_are_told(found: list[tuple[str, int, str]], expected: list[str]) -> None:
    assert differences([Finding("a.py", 2, "arg-type")], [Finding(*finding) for finding in found]) == expected
