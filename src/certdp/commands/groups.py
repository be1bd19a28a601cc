"""Groups of commands: each command lies in a module of its own, which is imported when the command is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, ClassVar

import typer
from attrs import frozen
from typer.core import TyperGroup

from .plain_values import TakesPlainValues
from .usage import refusing_usage


@frozen
class Listed:
    """A command that is not loaded yet.

    Attributes:
        module: where it lies below `certdp.commands`; its application bears the name `command`.
        summary: one line of what it does.
    """

    module: str
    summary: str

    def load(self) -> Any:
        """Import the command and return it."""
        return typer.main.get_command(import_module(f"{__package__}.{self.module}").command)


class Commands(TakesPlainValues, TyperGroup):
    """A group of commands; a command line that it cannot read is refused in words, or as JSON where JSON is wanted."""

    listed: ClassVar[Mapping[str, Listed]] = {}
    """The commands by name, as `--help` lists them."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Loaded(self.listed)

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> Any:
        """Read the words before the command."""
        words = list(args)
        with refusing_usage(words):
            context = super().make_context(info_name, args, *rest, **extra)
        context.meta[__name__] = words
        return context

    def invoke(self, ctx: Any) -> Any:
        """Read the words of the command, and run it."""
        with refusing_usage(ctx.meta[__name__]):
            return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, loading none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.summary) for name, one in self.listed.items()])


class _Loaded(MutableMapping[str, Any]):
    """Commands by name, each loaded when it is first looked at."""

    def __init__(self, listed: Mapping[str, Listed]) -> None:
        self._listed = listed
        self._known: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = self._listed[name].load()
            self._known[name].name, self._known[name].short_help = name, self._listed[name].summary
        return self._known[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self._known[name] = command

    def __delitem__(self, name: str) -> None:
        del self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys([*self._listed, *self._known]))

    def __len__(self) -> int:
        return len(list(iter(self)))


def _no_options() -> None:
    """Do nothing: the group takes no options."""


def group(
    listed: Mapping[str, Listed], *, help: str, callback: Callable[..., None] = _no_options, **settings: Any
) -> typer.Typer:
    """An application of several commands.

    Args:
        listed: the commands by name.
        help: what they have in common.
        callback: takes the options before the name of a command.
        settings: of `typer.Typer`; by default a group without further words shows its help.
    """
    kind = type("Commands", (Commands,), {"listed": listed})
    plain: dict[str, Any] = {"add_completion": False, "pretty_exceptions_enable": False, "rich_markup_mode": None}
    application = typer.Typer(cls=kind, help=help, **{"no_args_is_help": True, **plain, **settings})
    application.callback()(callback)
    return application
