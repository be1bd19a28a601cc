"""The commands as they are put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import typer

from certdp.commands.app import app


def commands() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every command by its words."""

    def within(group: Any, words: tuple[str, ...]) -> Iterator[tuple[str, Callable[..., Any]]]:
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from within(command, (*words, name))
            else:
                yield " ".join((*words, name)), command.callback

    return within(typer.main.get_command(app), ())
