"""Plugins of other people: generated ones and the examples, installed into a fresh environment and used there."""

from __future__ import annotations

import json
import math
import os
import site
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from certdp.plugins.registry import Role
from certdp.plugins.scaffold import new_plugin

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob("*/pyproject.toml"))
GENERATED = {"my-sum": Role.MECHANISM, "my-sampler": Role.SAMPLER, "my-claims": Role.CLAIMS}

OF_THE_KIT = {"test_conformance", "test_rejection"}

pytestmark = pytest.mark.xdist_group("distributions")  # one worker builds the environment


@frozen
class Environment:
    """A fresh virtual environment, which sees what this one has installed, and the plugins in it."""

    python: Path
    folder: Path
    distributions: tuple[Path, ...]

    def run(self, *arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, *map(str, arguments)],
            cwd=cwd or self.folder,
            env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )

    def certdp(self, *arguments: object, code: int = 0) -> Any:
        """The JSON that a command prints."""
        done = self.run("-m", "certdp", *arguments, "--json")
        assert done.returncode == code, done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Built without a network: packages that certdp depends on come from the environment of this test."""
    folder = tmp_path_factory.mktemp("distributions")
    distributions = (*(new_plugin(name, role, folder).folder for name, role in GENERATED.items()), *EXAMPLES)
    venv = folder / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    own = subprocess.run([python, "-c", ask], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    ours = "".join(f"import site; site.addsitedir({path!r})\n" for path in site.getsitepackages())
    (Path(own) / "packages_of_the_tests.pth").write_text(ours, "utf-8")
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet")
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--python", python, "install", *offline]
    done = subprocess.run([*pip, *distributions], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return Environment(python, folder, distributions)


@pytest.mark.slow
def test_each_is_found_and_valid(environment: Environment) -> None:
    rows = environment.certdp("plugins")["plugins"]
    found = {(row["role"], row["name"]): row for row in rows if row["distribution"] != "certdp"}
    assert {name for _, name in found} == {folder.name for folder in environment.distributions}
    assert all(row["valid"] and row["distribution"] == row["name"] for row in found.values()), found
    assert {role.word for role in GENERATED.values()} <= {role for role, _ in found}


@pytest.mark.slow
def test_generated_ones_pass_their_tests_and_so_do_the_examples(environment: Environment) -> None:
    """In one process; the conformance kit on the examples, and each in a process of its own, are soundness runs."""
    generated = [folder / "tests" for folder in environment.distributions if folder.name in GENERATED]
    own = [path for folder in EXAMPLES for path in folder.glob("tests/test_*.py") if path.stem not in OF_THE_KIT]
    (environment.folder / "none.ini").write_text("[pytest]\n", "utf-8")
    alone = ("-c", environment.folder / "none.ini", "--rootdir", environment.folder, "--import-mode=importlib")
    done = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", *alone, *generated, *own)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout


@pytest.mark.soundness
@pytest.mark.parametrize("name", [*GENERATED, *(folder.name for folder in EXAMPLES)])
def test_each_passes_its_own_tests_alone(name: str, environment: Environment) -> None:
    (folder,) = (folder for folder in environment.distributions if folder.name == name)
    done = environment.run("-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=folder)
    assert done.returncode == 0, done.stdout


@pytest.mark.soundness
@pytest.mark.parametrize("name", [*GENERATED, *(folder.name for folder in EXAMPLES)])
def test_each_is_typed(name: str, environment: Environment) -> None:
    (folder,) = (folder for folder in environment.distributions if folder.name == name)
    mypy = (sys.executable, "-m", "mypy", "--strict", "--python-executable", environment.python, "src", "tests")
    done = subprocess.run(mypy, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


class TestExamplesOnTheCommandLine:
    SELECTION = ("--mechanism", "permute-and-flip", "--option", "radius=1")
    ALLOCATION = ("--sampler", "power-allocation", "--option", "threshold=2", "--option", "sampler.norm=inf")

    @pytest.mark.slow
    def test_both_in_one_certificate_which_is_checked_where_neither_is_installed(
        self, environment: Environment
    ) -> None:
        """ψ at ‖x‖_∞ = 1: q = √(1/2), ε = 1/(4q); every smaller norm loses less."""
        options = ("--option", "scale=4", "--option", "floor=0.05", "--certificate", "both.json")
        told = environment.certdp("psi", *self.SELECTION, *self.ALLOCATION, *options)
        by_hand = math.log1p(math.sqrt(0.5) * math.expm1(1 / (4 * math.sqrt(0.5))))
        assert told["epsilon"] == pytest.approx([by_hand, by_hand], rel=1e-12)
        plugins = [told[role]["distribution"] for role in ("mechanism", "sampler")]
        assert plugins == ["permute-and-flip", "power-allocation"]
        check: list[str | Path] = [sys.executable, "-m", "certdp", "check", environment.folder / "both.json", "--json"]
        ran = subprocess.run(check, capture_output=True, encoding="utf-8", check=False)
        checked = json.loads(ran.stdout)
        assert (ran.returncode, checked["verdict"]) == (3, "holds assuming the profile")
        assert checked["epsilon"] == told["epsilon"]

    @pytest.mark.slow
    def test_claims(self, environment: Environment) -> None:
        told = environment.certdp("verify", "--only", "permute-and-flip/*", "--examples", 20)
        assert [(result["passed"], result["expectation"]) for result in told["results"]] == [
            (True, "holds"),
            (True, "rejected"),
        ]

    @pytest.mark.slow
    @pytest.mark.parametrize(("epsilon", "code"), [("1", 1), pytest.param("2", 0, marks=pytest.mark.soundness)])
    def test_an_audit_refutes_half_of_what_is_proven_and_not_all_of_it(
        self, epsilon: str, code: int, environment: Environment
    ) -> None:
        """With scale 1/2, one vote costs ε = 2."""
        options = ("--option", "scale=1/2", "--option", "dimension=3", "--trials", 2000, "--seed", 1)
        told = environment.certdp("audit", *self.SELECTION, *options, "--epsilon", epsilon, code=code)
        assert told["refuted"] is bool(code)

    @pytest.mark.slow
    def test_the_wrong_one_is_rejected_for_the_right_reason(self, environment: Environment) -> None:
        """That no other law fails is held by its own test, in the soundness runs."""
        options = ("--option", "scale=1", "--only", "audit", "--trials", 2000)
        told = environment.certdp("plugins", "check", "forgotten-weight", *options, code=1)
        (audit,) = told["laws"]
        assert (audit["law"], audit["verdict"]) == ("audit", "failed")
        assert "of weight 8, second input no record; declared ε = 2" in str(audit["witness"])
