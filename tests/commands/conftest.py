"""Running the command line in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import frozen
from typer.testing import CliRunner

from certdp.commands.app import app

BASE = (
    *("psi", "--mechanism", "laplace-sum", "--sampler", "importance"),
    *("--option", "scale=1.5", "--option", "rate=0.3", "--option", "floor=0.01"),
)


@frozen
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: object) -> Ran:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception  # a traceback is never an answer
    return Ran(result.exit_code, result.stdout, result.stderr)


def refused(*arguments: object) -> dict[str, str]:
    """The error of a command that must end with exit code 2: the same in text and in JSON."""
    for_people, for_programs = run(*arguments), run(*arguments, "--json")
    assert (for_people.code, for_programs.code) == (2, 2), for_people
    assert (for_people.out, for_programs.err) == ("", "")
    error: dict[str, str] = for_programs.json["error"]
    assert list(error) == ["parameter", "value", "admissible", "remedy"]
    for name, part in error.items():
        assert part, name
        assert part in for_people.err
    assert for_people.err.startswith(f"error: {error['parameter']}: got {error['value']}; admissible: ")
    assert "Traceback" not in for_people.err
    return error


@pytest.fixture(scope="session")
def certdp() -> Callable[..., Ran]:
    """Run a command."""
    return run


@pytest.fixture(scope="session")
def refusal() -> Callable[..., dict[str, str]]:
    """Run a command that must be refused."""
    return refused


@pytest.fixture(scope="session")
def base() -> tuple[str, ...]:
    """A psi command that works."""
    return BASE


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A small npy file of records."""
    path = tmp_path / "records.npy"
    np.save(path, np.random.default_rng(7).normal(size=(60, 4)))
    return path
