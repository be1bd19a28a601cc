"""The group `certdp plugins`: what is installed, and the commands for who writes a plugin."""

from __future__ import annotations

import typer

from ..answering import answering
from ..groups import Listed, group
from .list import installed

_COMMANDS = {
    "show": Listed("plugins.show", "What a mechanism or a sampler is, and its options."),
    "new": Listed("plugins.new", "Write a package with a new plugin, and its tests."),
    "check": Listed("plugins.check", "Check a plugin against every law of its kind."),
}


def _refuse_options_of_the_listing(context: typer.Context) -> None:
    """An option before the name of a command would have no effect there."""
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "COMMANDLINE":
            from ...accounting.errors import InvalidValue
            from ..output import refuse

            refused = context.params[str(parameter.name)] is False
            option = (parameter.secondary_opts if refused else parameter.opts)[0]
            name = context.invoked_subcommand
            refuse(
                InvalidValue(option.lstrip("-"), option, f"nothing, before {name}", f"Write it after {name}"),
                as_json=bool(context.params["json"]),
            )


command = group(
    _COMMANDS,
    help="What is installed, from which distribution, and whether it is valid.",
    callback=answering(installed, unless_command=_refuse_options_of_the_listing),
    invoke_without_command=True,
    no_args_is_help=False,
)
