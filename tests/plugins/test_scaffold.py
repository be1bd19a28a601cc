"""New plugins: their names, and their files, which appear whole or not at all; test_distributions.py installs some."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path, PurePosixPath

import pytest
from typer.testing import CliRunner

from certdp.accounting.errors import InvalidValue
from certdp.commands.app import app
from certdp.plugins.registry import Role
from certdp.plugins.scaffold import PluginName, new_plugin

KINDS = {role.word: role for role in Role}


def written(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()
    }


@pytest.mark.parametrize("role", Role)
def test_a_package_has_its_names_its_entry_point_and_nothing_left_to_fill_in(role: Role, tmp_path: Path) -> None:
    made = new_plugin("first-try", role, tmp_path)
    files = written(tmp_path / "first-try")
    assert made.folder == tmp_path / "first-try"
    assert [PurePosixPath(path) for path in sorted(files)] == sorted(made.paths)
    assert {"pyproject.toml", "README.md", "src/first_try/__init__.py", "src/first_try/py.typed"} <= set(files)
    assert any(path.startswith("tests/test_") for path in files)
    assert f'[project.entry-points."{role.value}"]\nfirst-try = "first_try.' in files["pyproject.toml"]
    assert not [path for path, text in files.items() if "$" in text or "PACKAGE" in text or "PACKAGE" in path]
    for path, text in files.items():
        if path.endswith(".py"):
            ast.parse(text)


def test_the_contract_that_a_plugin_states_is_a_number_of_its_own(tmp_path: Path) -> None:
    """CONTRACT_VERSION imported from the library would say what is installed, not what the plugin was written for."""
    for role in (Role.MECHANISM, Role.SAMPLER):
        new_plugin(f"a-{role.word}", role, tmp_path)
    sources = [path.read_text("utf-8") for path in tmp_path.rglob("src/*/*.py")]
    assert sum("contract=1," in source for source in sources) == 2
    assert not any("CONTRACT_VERSION" in source for source in sources)


@pytest.mark.parametrize("name", ["ab", "a-plugin-whose-name-has-as-many-words"])
@pytest.mark.parametrize("role", Role)
def test_what_is_written_is_linted_and_formatted(role: Role, name: str, tmp_path: Path) -> None:
    folder = new_plugin(name, role, tmp_path).folder
    for command in (["check", "--select=E,F,I,UP,B,PT,RUF", "--ignore=RUF001,RUF002,RUF003"], ["format", "--check"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", "--line-length=120", "."]
        run = subprocess.run(ruff, cwd=folder, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("name", ["My", "my_sum", "-a", "a--b", "a-", "", "1a", "../a", "ä", " a", 3])
def test_names_of_another_form(name: str) -> None:
    with pytest.raises(InvalidValue, match=r"name: got .*; admissible: lower-case words joined by hyphens"):
        PluginName(name)


@pytest.mark.parametrize(
    ("name", "admissible"),
    [
        ("class", "no other use for"),
        ("true", "no other use for"),  # the class would be True
        ("weighted-sample", "no other use for"),  # the class would be the contract's WeightedSample
        ("random", "random can be imported already"),
        ("tests", "test suites are imported as tests"),
        ("test", "test suites are imported as test"),
        ("conftest", "test suites are imported as conftest"),
        ("certdp", "certdp can be imported already"),
        ("lazy-loader", "lazy_loader can be imported already"),
    ],
)
def test_names_that_are_taken(name: str, admissible: str) -> None:
    with pytest.raises(InvalidValue, match=admissible):
        PluginName(name)


@pytest.mark.parametrize(("role", "name"), [(Role.MECHANISM, "laplace-sum"), (Role.SAMPLER, "poisson")])
def test_names_of_installed_plugins(role: Role, name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=f"{role.word} {name} comes from certdp already"):
        new_plugin(name, role, tmp_path)
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("mine", "utf-8")
    (tmp_path / "a-folder").mkdir()
    (tmp_path / "a-link").symlink_to("nowhere")
    for name in ("a-file", "a-folder", "a-link"):
        with pytest.raises(InvalidValue, match="a folder that does not exist yet"):
            new_plugin(name, Role.SAMPLER, tmp_path)
    assert (tmp_path / "a-file").read_text("utf-8") == "mine"
    assert not list((tmp_path / "a-folder").iterdir())
    assert len(list(tmp_path.iterdir())) == 3


def test_a_failure_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    genuine = Path.write_text

    def full(path: Path, *content: str, **settings: str) -> int:
        if path.name == "README.md":
            raise OSError(28, "No space left on device")
        return genuine(path, *content, **settings)

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InvalidValue, match=r"out: got .*; admissible: a writable folder.*No space left"):
        new_plugin("half-done", Role.CLAIMS, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"out: got .*nowhere; admissible: an existing folder"):
        new_plugin("new-one", Role.SAMPLER, tmp_path / "nowhere")


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
def test_others_may_read_what_they_may_read_elsewhere(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        folder = new_plugin("new-one", Role.SAMPLER, tmp_path).folder
    finally:
        os.umask(mask)
    assert folder.stat().st_mode & 0o777 == 0o755
    assert (folder / "README.md").stat().st_mode & 0o777 == 0o644


class TestCommand:
    def invoke(self, *arguments: object) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["plugins", "new", *map(str, arguments)])
        return result.exit_code, result.output

    @pytest.mark.parametrize("kind", KINDS)
    def test_writes_and_says_what(self, kind: str, tmp_path: Path) -> None:
        code, told = self.invoke("first-try", "--role", kind, "--output", tmp_path, "--json")
        assert code == 0
        answer = json.loads(told)
        assert answer["name"] == "first-try"
        assert answer["role"] == kind
        assert sorted(answer["files"]) == sorted(written(Path(answer["folder"])))

    def test_tells_people_how_to_install_it(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        code, told = self.invoke("first-try", "--role", "sampler")
        assert code == 0
        assert "cd first-try" in told
        assert 'python -m pip install -e ".[test]"' in told

    def test_bad_input(self, tmp_path: Path) -> None:
        code, told = self.invoke("first-try", "--role", "notion", "--output", tmp_path, "--json")
        assert code == 2
        assert json.loads(told)["error"]["admissible"] == "one of: mechanism, sampler, claims"
        code, told = self.invoke("First", "--role", "claims", "--output", tmp_path, "--json")
        assert code == 2
        assert json.loads(told)["error"]["parameter"] == "name"
        assert not list(tmp_path.iterdir())
