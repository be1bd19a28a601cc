"""`certdp plugins check`: a plugin against every law of its kind."""

from __future__ import annotations

from pathlib import Path

from attrs import frozen

from ...accounting.errors import InvalidValue
from ...data import Reading, read_records
from ...data.reading import refuse_without_file
from ...plugins.conformance import Conformance, check
from ...plugins.forks import can_fork
from ...plugins.registry import Registry, Role
from ..advice import about_options, advising
from ..options import key_and_value
from ..output import Output

TIMEOUT = 300.0
"""Seconds that a law may take where nothing else is asked for."""


@frozen(kw_only=True)
class Request:
    """What to check, and with what.

    Attributes:
        name: of the plugin.
        role: mechanism, sampler or claims; None where the name says it.
        options: public constants, each "KEY=VALUE".
        data: a file of records that the mechanism takes; None lets the kit choose.
        reading: how to read it.
        only: a glob on the names of the laws.
        examples: most cases per law.
        seed: of the search.
        audit_trials: releases on either side of an audit.
        timeout: seconds that a law may take; None for the default, or no limit where the system cannot fork.
        third_party: whether plugins of other distributions are admitted.
        allow: distributions that are admitted.
    """

    name: str
    role: str | None
    options: list[str]
    data: Path | None
    reading: Reading
    only: str
    examples: int
    seed: int
    audit_trials: int
    timeout: float | None
    third_party: bool
    allow: list[str] | None


def run(request: Request, output: Output) -> None:
    """Check the plugin, and fail where a law does."""
    if request.data is None:
        refuse_without_file(request.reading)
    with advising(about_options(request.options)):
        found = _checked(request)
    output.show(found.as_json(), lambda console: console.print(str(found), markup=False, soft_wrap=True))
    if not found.passed:
        output.fail()


def _checked(request: Request) -> Conformance:
    timeout = TIMEOUT if request.timeout is None and can_fork() else request.timeout
    return check(
        request.name,
        role=_role(request.role),
        options=_options(request.options) or (),
        records=None if request.data is None else read_records(request.data, request.reading),
        only=request.only,
        examples=request.examples,
        seed=request.seed,
        audit_trials=request.audit_trials,
        timeout=timeout,
        registry=Registry(third_party=request.third_party, allow=request.allow),
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
