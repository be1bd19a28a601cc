"""A built-in mechanism is added to a copy of the repository by the checklist of CONTRIBUTING.md and nothing else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from .test_built_ins import PLACES

ROOT = Path(__file__).parents[1]
FOLDERS = ("accounting", "docs", "mechanisms", "plugins", "samplers", "src", "tests", "verification")

NAMES = (("LaplaceSum", "SecondSum"), ("laplace-sum", "second-sum"), ("laplace_sum", "second_sum"))

REPEATED = {  # lines about one mechanism, after each of which the same is said of the new one
    "pyproject.toml": ('laplace-sum = "',),
    "verification/claims/mechanisms.py": ("from ...mechanisms.laplace_sum import",),
    "verification/mutation/declared.py": (
        "from ...mechanisms.laplace_sum import",
        "    DeclaredFormula(example=LaplaceSum(",
    ),
    "verification/checker/options.py": ('    "laplace-sum": ',),
    "verification/checker/declared.py": ('    "laplace-sum": ',),
    "verification/checker/released.py": ('    "laplace-sum": ',),
    "src/certdp/__init__.pyi": ("from .mechanisms.laplace_sum import", '    "LaplaceSum",'),
    "tests/mechanisms/test_many_releases.py": ("    LaplaceSum,", "    LaplaceSum("),
    "tests/test_audits.py": ("    LaplaceSum,", '    "laplace-sum": '),
    "tests/verification/checker/test_forgeries.py": ("    LaplaceSum,", "LAPLACE = LaplaceSum("),
    "docs/plugins.md": ("| `laplace-sum` | ",),
    "docs/reference/mechanisms.md": ("::: certdp.LaplaceSum",),
}
CASES = "for mechanism, loss in ((m := LaplaceSum(scale=scale), m.loss), "
INSERTED = {  # what has words of its own
    "verification/claims/mechanisms.py": (CASES, "(t := SecondSum(scale=scale), t.loss), "),
    "tests/verification/checker/test_forgeries.py": (
        "\nCORPUS",
        '    "second, poisson": profile(SECOND, TENTH, ball(1)),\n',
    ),
    "CHANGELOG.md": ("### Added\n", "\n- `second-sum`: a sum with Laplace noise.\n"),
}


def renamed(text: str) -> str:
    for old, new in NAMES:
        text = text.replace(old, new)
    return text


class Copy:
    """A copy of what is installed, with metadata of its own, in which commands run."""

    def __init__(self, top: Path) -> None:
        self.top = top
        for folder in FOLDERS:
            ignored = shutil.ignore_patterns("__pycache__", "figures", "answers")
            shutil.copytree(ROOT / folder, top / folder, symlinks=True, ignore=ignored)
        for file in (*ROOT.glob("*.md"), ROOT / "conftest.py", ROOT / "pyproject.toml"):
            shutil.copy(file, top / file.name)

    def repeat(self, file: str, start: str) -> None:
        """Say of the new mechanism what the only line that begins so says of the old one."""
        lines = (self.top / file).read_text("utf-8").splitlines(keepends=True)
        (place,) = (number for number, line in enumerate(lines) if line.startswith(start))
        added = renamed(lines[place]).replace("LAPLACE", "SECOND")
        (self.top / file).write_text("".join([*lines[: place + 1], added, *lines[place + 1 :]]), "utf-8")

    def insert(self, file: str, before: str, added: str) -> None:
        """Put words behind the first of these; behind the whole line where they begin one."""
        text = (self.top / file).read_text("utf-8")
        end = text.index(before) + len(before)
        end = text.index("\n", end) + 1 if before.startswith("\n") else end
        (self.top / file).write_text(text[:end] + added + text[end:], "utf-8")

    def install(self) -> None:
        """Write the metadata that installing it anew would write."""
        project = tomllib.loads((self.top / "pyproject.toml").read_text("utf-8"))["project"]
        groups = [
            f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
            for group, points in project["entry-points"].items()
        ]
        metadata = self.top / "src/certdp-0.1.0.dist-info"
        metadata.mkdir(exist_ok=True)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: certdp\nVersion: 0.1.0\n", "utf-8")
        (metadata / "entry_points.txt").write_text("\n".join(groups), "utf-8")

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run Python in the copy, which it imports certdp from."""
        environment = {**os.environ, "PYTHONPATH": str(self.top / "src"), "COLUMNS": "500"}
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.top, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_a_mechanism_is_added_by_the_checklist_alone(tmp_path: Path) -> None:
    copy, certificate = Copy(tmp_path / "copy"), str(tmp_path / "second.json")
    (copy.top / "mechanisms/second_sum.py").write_text(renamed((ROOT / "mechanisms/laplace_sum.py").read_text("utf-8")))
    for start in REPEATED["pyproject.toml"]:
        copy.repeat("pyproject.toml", start)
    copy.install()

    # So far commands take it and prove nothing to others: the checker does not know it. All other places are named.
    options = [word for option in ("scale=1", "rate=1/2", "radius=1") for word in ("--option", option)]
    psi = ["-m", "certdp", "psi", "--mechanism", "second-sum", "--sampler", "poisson", *options]
    assert copy.run(*psi).returncode == 0
    refused = copy.run(*psi, "--certificate", certificate)
    assert refused.returncode == 2
    assert "certdp has no mechanism 'second-sum'" in refused.stderr
    judged = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_built_ins.py")
    lacking = copy.run(*judged).stdout
    for place in PLACES:
        assert "mechanism" not in place.kinds or f"- {place.file}: add" in lacking, place.file

    own = (ROOT / "tests/mechanisms/test_laplace_sum.py").read_text("utf-8")
    (copy.top / "tests/mechanisms/test_second_sum.py").write_text(renamed(own), "utf-8")
    for file, starts in REPEATED.items():
        for start in starts if file != "pyproject.toml" else ():
            copy.repeat(file, start)
    for file, (before, added) in INSERTED.items():
        copy.insert(file, before, added)
    recorded = copy.run("tests/test_compatibility.py")
    assert recorded.returncode == 0, recorded.stderr

    complete = copy.run(*judged, "tests/mechanisms/test_second_sum.py")
    assert complete.returncode == 0, complete.stdout
    proven = copy.run(*psi, "--certificate", certificate)
    assert proven.returncode == 0, proven.stderr
    for command in (("check", certificate), ("verify", "--only", "mechanisms/laplace-noise")):
        found = copy.run("-m", "certdp", *command)
        assert found.returncode == 0, found.stdout + found.stderr


def test_every_file_that_is_touched_is_in_the_checklist() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    steps = page.partition("## A new built-in mechanism\n")[2].partition("\n## ")[0]
    assert {*REPEATED, *INSERTED} <= set(re.findall(r"`([\w/.]+\.(?:pyi?|md|toml))`", steps))
