"""Options: what has one meaning has one name in every command, every option is explained, and help can be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import typer
from attrs import frozen

from certdp.commands.app import app

SHARED_NAMES = {
    "--anchor": "the head of a ledger's log, kept elsewhere",
    "--data-set": "the data set that a ledger protects",
    "--delta": "the δ of a budget, that goes with a claim, or that is asked about",
    "--epsilon": "the ε of a budget, that is claimed, or that is asked about",
    "--only": "laws by one glob, claims and modules by several",
    "--order": "a Rényi order",
    "--relation": "the neighbouring relation",
    "--repetitions": "how often something is repeated",
    "--request": "the id of a payment",
    "--rows": "the last frequency listed",
    "--size": "expected sizes of samples",
    "--unit": "the unit of privacy",
}
"""Options whose words depend on the command, and the meaning that they share."""


@frozen
class Option:
    """An option of a command."""

    command: str
    words: Any

    @property
    def name(self) -> str:
        return str(max(self.words.opts, key=len))

    @property
    def shape(self) -> tuple[object, ...]:
        """How it is written, but for the letter that stands for its value."""
        return self.words.is_flag, tuple(self.words.secondary_opts)


def commands() -> Iterator[tuple[str, Any]]:
    def within(group: Any, before: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        yield " ".join(before), group
        for name, command in getattr(group, "commands", {}).items():
            yield from within(command, (*before, name))

    return within(typer.main.get_command(app), ("certdp",))


def options() -> list[Option]:
    return [
        Option(name, one) for name, command in commands() for one in command.params if one.param_type_name == "option"
    ]


def arguments() -> list[tuple[str, Any]]:
    return [(name, one) for name, command in commands() for one in command.params if one.param_type_name == "argument"]


def by(key: Callable[[Option], Any]) -> dict[Any, list[Option]]:
    found: dict[Any, list[Option]] = {}
    for option in options():
        found.setdefault(key(option), []).append(option)
    return found


def test_every_option_and_argument_is_explained() -> None:
    assert len(options()) > 150
    assert not [(one.command, one.name) for one in options() if not one.words.help]
    assert not [(name, one.name) for name, one in arguments() if not one.help]


def test_a_name_has_one_meaning() -> None:
    for name, same in by(lambda option: option.name).items():
        assert len({one.shape for one in same}) == 1, name
        if name not in SHARED_NAMES:
            assert len({(one.words.help, one.words.metavar) for one in same}) == 1, name


def test_a_meaning_has_one_name() -> None:
    for help, same in by(lambda option: option.words.help).items():
        assert len({one.name for one in same}) == 1, help


def test_names_that_share_a_meaning_are_needed() -> None:
    named = by(lambda option: option.name)
    for name in SHARED_NAMES:
        assert len({(one.words.help, one.words.metavar) for one in named[name]}) > 1, name


@pytest.mark.parametrize("name", ["--json", "--full"])
def test_every_command_says_how_its_answer_is_wanted(name: str) -> None:
    answering = {command for command, one in commands() if not hasattr(one, "commands") or one.invoke_without_command}
    assert {one.command for one in options() if one.name == name} == answering


@pytest.mark.parametrize(
    ("name", "command"), list(commands()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_help_fits_80_columns_and_cuts_no_name(
    name: str, command: Any, certdp: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = certdp(*name.split()[1:], "--help").out
    assert max(map(len, text.splitlines())) <= 80
    words = text.split()
    for one in command.params:
        if one.param_type_name == "option":
            assert {*one.opts, *one.secondary_opts} <= set(words), one.name
    for listed in getattr(command, "commands", {}):
        assert listed in words
