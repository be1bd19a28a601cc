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
