"""What certdp says that it runs on: classifiers, bounds of the dependencies and the rows that run the tests agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
HOOKS: dict[str, Any] = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
SYSTEMS = {"ubuntu": "POSIX :: Linux", "windows": "Microsoft :: Windows", "macos": "MacOS"}
PINNED = ("numpy", "numba", "scipy")


def rows() -> list[dict[str, Any]]:
    """The rows of the matrix, its product written out."""
    matrix = WORKFLOW["jobs"]["tests"]["strategy"]["matrix"]
    product = [
        {"os": system, "python": python, "dependencies": end}
        for system in matrix["os"]
        for python in matrix["python"]
        for end in matrix["dependencies"]
    ]
    return [*product, *matrix["include"]]


def classified(start: str) -> set[str]:
    return {text.removeprefix(start) for text in PROJECT["classifiers"] if text.startswith(start)}


def lower_bounds() -> dict[str, str]:
    found = (re.match(r"([a-z-]+)>=([\d.]+)", text) for text in PROJECT["dependencies"])
    return {match[1]: match[2] for match in found if match}


def test_each_python_is_classified_and_tested_on_both_processors() -> None:
    minors = {text for text in classified("Programming Language :: Python :: ") if re.fullmatch(r"3\.\d+", text)}
    assert minors == {"3.11", "3.12", "3.13", "3.14"}
    assert PROJECT["requires-python"] == f">={min(minors, key=lambda text: int(text[2:]))}"
    for processor in ("ubuntu-24.04", "ubuntu-24.04-arm"):
        tested = {row["python"] for row in rows() if row["os"] == processor and row["dependencies"] == "latest"}
        assert tested == minors, processor


def test_each_system_that_must_pass_is_classified_and_no_other() -> None:
    must_pass = {SYSTEMS[row["os"].partition("-")[0]] for row in rows() if not row.get("experimental")}
    assert classified("Operating System :: ") == must_pass
    assert any(row["os"].startswith("windows") for row in rows())


def test_the_least_dependencies_are_those_of_the_project() -> None:
    least = [row for row in rows() if row["dependencies"] == "least"]
    assert {row["os"] for row in least} == {"ubuntu-24.04", "ubuntu-24.04-arm"}
    expected = " ".join(f"{name}=={lower_bounds()[name]}.*" for name in PINNED)
    assert {row["pins"] for row in least} == {expected}
    assert {row["python"] for row in least} == {PROJECT["requires-python"].removeprefix(">=")}
    assert not [row for row in rows() if row["dependencies"] == "latest" and "pins" in row]


@pytest.mark.parametrize("job", WORKFLOW["jobs"])
def test_each_target_of_make_is_there(job: str) -> None:
    steps = [step["run"] for step in WORKFLOW["jobs"][job]["steps"] if "run" in step]
    targets = {step.removeprefix("make ") for step in steps if step.startswith("make ")}
    (phony,) = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert targets <= set(phony.split())


def test_the_hooks_use_the_tools_of_the_checks() -> None:
    hooks = [hook for repo in HOOKS["repos"] for hook in repo["hooks"]]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for hook in hooks:
        words = hook["entry"].split()
        assert words[:2] == [".venv/bin/python", "-m"], hook["id"]
        assert f"-m {words[2]}" in makefile
        assert all((ROOT / word).is_file() for word in words if word.startswith("tests/"))
