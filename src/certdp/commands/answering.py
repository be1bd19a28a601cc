"""Commands as functions from options to an answer; how the answer is wanted is an option that each of them has.

Options that belong together, or to several commands, are the fields of a class: a command takes one object of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import Parameter, signature
from typing import Annotated, Any, get_origin, get_type_hints

import typer
from attrs import NOTHING, fields, has

from .answer import Answer
from .options import Full, Json, ShowValues
from .output import reporting
from .plain_values import PlainCommand
from .waiting import waiting

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
        command: options to an answer; one that shows its progress itself takes the `Terminal` as `terminal`.
        about_data: whether it reads data, whose refusal may show what was found.
        unless_command: of a group that answers by itself, but where one of its commands is named: what is done then.
    """
    stated = signature(command, eval_str=True)
    forms = {**_FORMS, **(_OF_DATA if about_data else {})}
    more = [Parameter(name, Parameter.KEYWORD_ONLY, default=False, annotation=kind) for name, kind in forms.items()]
    if unless_command is not None:
        more.append(Parameter("context", Parameter.KEYWORD_ONLY, annotation=typer.Context))
    own = [one for name, one in stated.parameters.items() if name != _TERMINAL]
    shown = [*_apart(own), *more]

    def run(
        *, json: bool, full: bool, show_values: bool = False, context: typer.Context | None = None, **options: object
    ) -> None:
        if context is not None and unless_command is not None and context.invoked_subcommand is not None:
            unless_command(context)
            return
        with reporting(json, full=full, show_values=show_values) as output:
            if _TERMINAL in stated.parameters:
                answer = command(**_together(own, options), **{_TERMINAL: output})
            else:
                with waiting(output):
                    answer = command(**_together(own, options))
            output.give(answer)

    run.__signature__ = stated.replace(parameters=shown, return_annotation=None)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in shown}
    run.__name__, run.__doc__, run.__module__ = command.__name__, command.__doc__, command.__module__
    return run


def _parameters(group: Any) -> Iterator[Parameter]:
    """The fields of a class of options, as parameters; other fields are none."""
    kinds = get_type_hints(group, include_extras=True)
    for one in fields(group):
        if has(kinds[one.name]) or get_origin(kinds[one.name]) is Annotated:
            default = Parameter.empty if one.default is NOTHING else one.default
            yield Parameter(one.name, Parameter.KEYWORD_ONLY, default=default, annotation=kinds[one.name])


def _apart(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    """One parameter for each option."""
    for one in parameters:
        if has(one.annotation):
            yield from _apart(_parameters(one.annotation))
        else:
            yield one.replace(kind=Parameter.KEYWORD_ONLY)


def _together(parameters: Iterable[Parameter], options: Mapping[str, object]) -> dict[str, object]:
    """The arguments of a command, or of a class of options, from one value for each option."""
    return {
        one.name: one.annotation(**_together(_parameters(one.annotation), options))
        if has(one.annotation)
        else options[one.name]
        for one in parameters
    }


def application(command: Callable[..., Answer], *, about_data: bool = False) -> typer.Typer:
    """The command as an application of its own, as a group of commands loads it."""
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(cls=PlainCommand)(answering(command, about_data=about_data))
    return alone
