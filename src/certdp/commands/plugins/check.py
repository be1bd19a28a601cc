"""`certdp plugins check`: a plugin against every law of its kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer
from attrs import frozen

from ...accounting.errors import InvalidValue
from ...data import Reading, read_records
from ...data.reading import refuse_without_file
from ...plugins.conformance import Conformance
from ...plugins.conformance import check as conformance
from ...plugins.forks import can_fork
from ...plugins.registry import Role
from ..advice import about_options, advising
from ..answer import Answer
from ..answering import application
from ..options import AnyData, Array, Examples, Options, Seed, Timeout, Trials, key_and_value
from ..options import Role as RoleOption
from ..output import FAILED
from ..page import Page
from ..requests import Admission

TIMEOUT = 300.0
"""Seconds that a law may take where nothing else is asked for."""


@frozen
class Conforming(Answer):
    """What became of every law.

    Attributes:
        found: by law.
    """

    found: Conformance

    def as_json(self) -> Mapping[str, object]:
        """Return the answer for programs, in JSON's types."""
        return self.found.as_json()

    def show(self, page: Page) -> None:
        """Show the answer on the page, for people."""
        page.copy(str(self.found))

    @property
    def exit_code(self) -> int:
        """1 where a law fails."""
        return 0 if self.found.passed else FAILED


def check(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The plugin, as `certdp plugins` lists it.")],
    role: RoleOption = None,
    option: Options = None,
    data: AnyData = None,
    array: Array = None,
    only: Annotated[str, typer.Option(metavar="GLOB", help="Laws to check, by name.")] = "*",
    examples: Examples = 25,
    seed: Seed = 0,
    trials: Trials = 20_000,
    timeout: Timeout = None,
    *,
    admission: Admission,
) -> Conforming:
    """Check a plugin against every law of its kind: passed, failed with the smallest witness, or why not applicable.

    Constants that are not stated are chosen; a law takes at most 300 seconds where nothing else is asked for.
    """
    reading = Reading(array=array)
    if data is None:
        refuse_without_file(reading)
    stated = option or []
    with advising(about_options(stated)):
        return Conforming(
            conformance(
                name,
                role=_role(role),
                options=_options(stated) or (),
                records=None if data is None else read_records(data, reading),
                only=only,
                examples=examples,
                seed=seed,
                audit_trials=trials,
                timeout=TIMEOUT if timeout is None and can_fork() else timeout,
                registry=admission.registry,
            )
        )


def _role(word: str | None) -> Role | None:
    if word is None:
        return None
    roles = {role.word: role for role in Role}
    if word not in roles:
        raise InvalidValue("role", word, f"one of {', '.join(roles)}", "Leave it out where the name says it")
    return roles[word]


def _options(given: list[str]) -> dict[str, str]:
    read: dict[str, str] = {}
    for text in given:
        key, value = key_and_value(text, "scale=1")
        if key in read:
            raise InvalidValue("option", text, f"one value for {key}", "Give it once")
        read[key] = value
    return read


command = application(check, about_data=True)
