"""Commands as functions from options to an answer; how the answer is wanted is an option that each of them has."""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter, signature

import typer

from .answer import Answer
from .options import Full, Json, ShowValues
from .output import reporting

_FORMS: dict[str, object] = {"json": Json, "full": Full}
_OF_DATA: dict[str, object] = {"show_values": ShowValues}
_TERMINAL = "terminal"


def answering(
    command: Callable[..., Answer],
    *,
    about_data: bool = False,
    unless_command: Callable[[typer.Context], None] | None = None,
) -> Callable[..., None]:
    """The command that prints its answer: as JSON, for people, or for people in full.

    Args:
        command: options to an answer; one that shows its progress takes the `Terminal` as `terminal`.
        about_data: whether it reads data, whose refusal may show what was found.
        unless_command: of a group that answers by itself, but where one of its commands is named: what is done then.
    """
    stated = signature(command, eval_str=True)
    forms = {**_FORMS, **(_OF_DATA if about_data else {})}
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for name, kind in forms.items()]
    if unless_command is not None:
        more.append(Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context))
    own = [one for name, one in stated.parameters.items() if name != _TERMINAL]

    def run(
        *, json: bool, full: bool, show_values: bool = False, context: typer.Context | None = None, **options: object
    ) -> None:
        if context is not None and unless_command is not None and context.invoked_subcommand is not None:
            unless_command(context)
            return
        with reporting(json, full=full, show_values=show_values) as output:
            given = {_TERMINAL: output} if _TERMINAL in stated.parameters else {}
            output.give(command(**options, **given))

    run.__signature__ = stated.replace(parameters=[*own, *more], return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*own, *more)}
    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    return run


def application(command: Callable[..., Answer], *, about_data: bool = False) -> typer.Typer:
    """The command as an application of its own, as a group of commands loads it."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command()(answering(command, about_data=about_data))
    return alone
