"""PyTorch is imported by `certdp.dpis.torch` alone."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import importlib.abc, sys
class Refusing(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name="torch")
sys.meta_path.insert(0, Refusing())
"""


def run(statement: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"{WITHOUT}\n{statement}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("module", ["certdp", "certdp.dpis", "certdp.dpis.engine", "certdp.dpis.models"])
def test_nothing_else_imports_it(module: str) -> None:
    assert run(f"import {module}").returncode == 0


@pytest.mark.slow
def test_where_it_is_missing_the_package_says_what_to_install() -> None:
    found = run("import certdp.dpis.torch")
    assert found.returncode == 1
    assert "pip install 'certdp[torch]'" in found.stderr
