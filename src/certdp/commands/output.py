"""What commands print: for people or as JSON; errors with their exit codes."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from attrs import frozen
from rich.console import Console

from ..accounting.errors import CertdpError, InvalidValue

FAILED, BAD_INPUT = 1, 2


@frozen
class Output:
    """Where a command's results go.

    Attributes:
        as_json: whether JSON is wanted.
        console: the terminal, for people.
    """

    as_json: bool
    console: Console

    def show(self, data: dict[str, Any], for_people: Callable[[Console], None]) -> None:
        """Print the result in the wanted form."""
        if self.as_json:
            typer.echo(json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False))
        else:
            for_people(self.console)

    def fail(self) -> NoReturn:
        """End with the exit code of a claim or certificate that fails."""
        raise typer.Exit(FAILED)


def _error(error: CertdpError) -> dict[str, str]:
    if isinstance(error, InvalidValue):
        return {
            "parameter": error.parameter,
            "value": error.shown_value,
            "admissible": error.admissible,
            "remedy": error.remedy,
        }
    return {"parameter": type(error).__name__, "value": "", "admissible": "", "remedy": str(error)}


@contextmanager
def reporting(as_json: bool) -> Iterator[Output]:
    """Run a command; an error that certdp raises on purpose ends it with exit code 2."""
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    try:
        yield Output(as_json, console)
    except CertdpError as error:
        if as_json:
            typer.echo(json.dumps({"error": _error(error)}, indent=2, ensure_ascii=False))
        else:
            typer.echo(f"error: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from None
