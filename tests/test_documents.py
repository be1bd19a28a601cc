"""What the documents show is what happens: their Python runs and prints what it says, and their commands succeed."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from certdp.commands.app import app
from certdp.commands.plan_files import plan_from_file
from certdp.verification.runner import run

ROOT = Path(__file__).parents[1]
README, PLUGINS = ROOT / "README.md", ROOT / "docs/plugins.md"
COMPOSITION, KEYED = ROOT / "docs/composition.md", ROOT / "docs/keyed_data.md"

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"# → (.+)$", re.MULTILINE)


def blocks(document: Path, language: str) -> list[str]:
    return [found["text"] for found in BLOCK.finditer(document.read_text("utf-8")) if found["language"] == language]


def commands() -> list[list[str]]:
    """The commands of the README, in order."""
    lines = "".join(blocks(README, "console")).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("certdp ")]


@pytest.mark.parametrize("document", [README, PLUGINS, COMPOSITION, KEYED], ids=lambda path: str(path.name))
def test_python_prints_what_the_document_says(document: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "document"}
    for block in blocks(document, "python"):
        exec(compile(block, str(document), "exec"), names)
        assert capsys.readouterr().out.splitlines() == PRINTED.findall(block)


def test_commands_of_the_readme_succeed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert len(commands()) == 8
    for command in commands():
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, (command, result.output)


def test_the_plan_of_the_page_on_composition_is_its_python(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    (text,) = blocks(COMPOSITION, "toml")
    file.write_text(text, "utf-8")
    names: dict[str, Any] = {}
    exec(compile(blocks(COMPOSITION, "python")[0], str(COMPOSITION), "exec"), names)
    assert plan_from_file(file) == names["plan"]


def test_claims_of_the_guide_are_checked() -> None:
    names: dict[str, Any] = {"__name__": "document"}
    (block,) = [text for text in blocks(PLUGINS, "python") if "CLAIMS = " in text]
    exec(compile(block, str(PLUGINS), "exec"), names)
    report = run(names["CLAIMS"], examples=20)
    assert [result.passed for result in report.results] == [True, True]


def test_example_prints_losses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = tmp_path / "data.csv", tmp_path / "out.csv"
    data.write_text("a,b\n0.5,0\n0,0\n3,4\n", "utf-8")
    monkeypatch.setattr("sys.argv", ["losses_per_record.py", str(data), str(out)])
    runpy.run_path(str(ROOT / "examples/losses_per_record.py"), run_name="__main__")
    header, *losses = out.read_text("utf-8").splitlines()
    assert header == "epsilon"
    half, none, clipped = map(float, losses)
    assert 0 < none + half < clipped  # a record of norm 0 moves no sum
    assert none == 0
    assert "largest 2.1008" in capsys.readouterr().out
