"""Where answers go: to people or as JSON; errors with their exit codes."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import NoReturn

import typer
from attrs import frozen
from rich.console import Console

from ..accounting.errors import CertdpError, InvalidValue
from ..accounting.private import InvalidData
from .answer import Answer
from .digits import Numbers
from .page import Page

FAILED, BAD_INPUT = 1, 2

_OF_THE_DOMAIN = ("radius", "dimension")
"""What the library takes in a NormBall, and commands in options."""


@frozen
class Terminal:
    """The output of a command: where its answer goes.

    Attributes:
        as_json: whether JSON is wanted.
        page: the terminal, for people.
    """

    as_json: bool
    page: Page

    def give(self, answer: Answer) -> None:
        """Print an answer in the wanted form, and end with its exit code where that is not 0."""
        if self.as_json:
            console = self.page.console
            plain = not _knows_all(console.encoding)
            text = json.dumps(answer.as_json(), indent=2, ensure_ascii=plain, allow_nan=False)
            typer.echo(text, file=console.file)
        else:
            answer.show(self.page)
        if answer.exit_code:
            raise typer.Exit(answer.exit_code)


def _knows_all(encoding: str) -> bool:
    """Whether every character has a code: what replaces one that has none is not JSON."""
    return codecs.lookup(encoding).name.startswith("utf")


def _complete(error: CertdpError) -> InvalidValue:
    """The error with all of its parts: parameter, value, what is admissible, what to do."""
    from ..plugins.registry import PluginError

    match error:
        case InvalidValue():
            remedy = error.remedy or "Change it to what is admissible"
            value = "nothing" if error.value is None else error.formatted_value
            if value == "nothing" and error.parameter in _OF_THE_DOMAIN:
                remedy = f"{remedy}: --option {error.parameter}=…"
            return InvalidValue(error.parameter, value, error.admissible, remedy)
        case PluginError():
            value = f"{error.listing.name} of distribution {error.listing.distribution}"
            return InvalidValue(error.listing.role.word, value, "a plugin that can be used", error.reason)
    return InvalidValue("profile", type(error).__name__, "a profile that can be evaluated and proven", str(error))


def _parts(error: InvalidValue) -> dict[str, str]:
    """The parts of an error; of one about data without what was found."""
    return {
        "parameter": error.parameter,
        "value": error.formatted_value,
        "admissible": error.admissible,
        "remedy": error.remedy,
    }


@contextmanager
def reporting(as_json: bool, *, full: bool = False, show_values: bool = False) -> Iterator[Terminal]:
    """Run a command; an error that certdp raises on purpose ends it with exit code 2.

    An error about the data tells what was found where `show_values` asks for it, for the data's owner.

    What else prints meanwhile, such as a plugin, prints to stderr: stdout has the result alone.
    """
    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False, file=sys.stdout)
    try:
        with redirect_stdout(sys.stderr):
            yield Terminal(as_json, Page(console, Numbers(full)))
    except CertdpError as problem:
        refuse(problem, as_json, show_values=show_values)


def refuse(problem: CertdpError, as_json: bool, *, show_values: bool = False) -> NoReturn:
    """Tell an error in the wanted form, and end with the exit code of bad input."""
    from ..verification.reports.foreign_words import harmless

    error = _complete(problem)
    found = problem.formatted_finding if isinstance(problem, InvalidData) and show_values else None
    if as_json:
        parts = _parts(error) | ({} if found is None else {"private_found": found})
        typer.echo(json.dumps({"error": parts}, indent=2, ensure_ascii=False))
    else:
        typer.echo(f"error: {harmless(str(error))}", err=True)
        if found is not None:
            typer.echo(f"found, for the data's owner: {harmless(found)}", err=True)
    raise typer.Exit(BAD_INPUT) from None
