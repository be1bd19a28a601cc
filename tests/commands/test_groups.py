"""Commands are loaded by name: naming one imports its own module, and asking for help or the version none."""

from __future__ import annotations

import json
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

import certdp.commands
from certdp.commands.app import app

LOADED = """
import json, sys
from certdp.commands.app import app
try:
    app(sys.argv[1:])
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def loaded(*words: str) -> set[str]:
    """The modules that a command line imports, in a process of its own."""
    ran = subprocess.run([sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=True)
    return set(json.loads(ran.stderr.splitlines()[-1]))


def listed(group: Any) -> Iterator[tuple[str, Any]]:
    """Every command with its module."""
    for name, one in group.listed.items():
        yield f"{certdp.commands.__name__}.{one.module}", one
        if hasattr(group.commands[name], "listed"):
            yield from listed(group.commands[name])


@pytest.mark.parametrize("words", [("--version",), ("--help",)])
def test_no_command_is_loaded_that_is_not_named(words: tuple[str, ...]) -> None:
    found = loaded(*words)
    assert not {module for module, _ in listed(typer.main.get_command(app))} & found
    assert not {"numpy", "rich", "mpmath", "scipy"} & found


def test_a_command_that_is_named_loads_no_other() -> None:
    found = loaded("dpis", "--help")
    assert "certdp.commands.dpis.train" not in found
    assert not {"certdp.commands.audit", "certdp.commands.verify"} & loaded("check", "--help")


STRANGERS = {"pydantic", "numba", "scipy", "hypothesis", "jinja2", "matplotlib"}
EPSILON = ("epsilon", "--mechanism", "laplace-sum", "--sampler", "full", "--option", "scale=1", "--option", "radius=1")


def test_a_first_answer_loads_nothing_that_it_does_not_need() -> None:
    found = loaded(*EPSILON, "--steps", "1")
    assert "numpy" in found
    assert (
        not (STRANGERS | {"tomllib", "certdp.verification.checker", "certdp.verification.certificates.writing"}) & found
    )


def test_checking_a_certificate_loads_the_checker_and_no_accounting(tmp_path: Path) -> None:
    place = tmp_path / "epsilon.json"
    app([*EPSILON, "--certificate", str(place)], standalone_mode=False)
    found = loaded("check", str(place))
    assert "certdp.verification.checker" in found
    assert not (STRANGERS | {"numpy", "llvmlite"}) & found
    accounting = {name for name in found if name.startswith("certdp.accounting.")}
    assert accounting <= {
        f"certdp.accounting.{name}" for name in ("display", "errors", "private")
    }  # to refuse in words
    assert not any(name.startswith(("certdp.runs", "certdp.plugins", "certdp.mechanisms")) for name in found)


def test_every_command_is_listed_once() -> None:
    """Against another way of counting: what lies in the folder."""
    folder = str(Path(certdp.commands.__file__).parent)
    found = [one.name for one in pkgutil.walk_packages([folder], f"{certdp.commands.__name__}.")]
    having = {name for name in found if hasattr(import_module(name), "command")}
    modules = [module for module, _ in listed(typer.main.get_command(app))]
    assert len(having) > 15
    assert sorted(modules) == sorted(having)


def test_a_summary_is_one_line() -> None:
    for module, one in listed(typer.main.get_command(app)):
        assert 10 < len(one.summary) <= 66, module
        assert one.summary.endswith("."), module
