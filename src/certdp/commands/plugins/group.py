"""The sub-application `certdp plugins`: what is installed; what its commands do lies in `plugins_*`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..options import Allow, Json, ShowValues, ThirdParty

plugins = typer.Typer(
    name="plugins",
    help="What is installed, from which distribution, and whether it is valid.",
    invoke_without_command=True,
)


@plugins.callback()
def listing(
    context: typer.Context,
    list_only: Annotated[
        bool, typer.Option("--list-only", help="Read metadata alone; import and validate nothing.")
    ] = False,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
) -> None:
    """What is installed, from which distribution, and whether it is valid."""
    if context.invoked_subcommand is not None:
        _refuse_options_of_the_listing(context, context.invoked_subcommand, as_json=json)
        return
    from ..output import reporting
    from .list import run

    with reporting(json) as output:
        run(list_only, third_party, allow, output)


def _refuse_options_of_the_listing(context: typer.Context, command: str, *, as_json: bool) -> None:
    """An option before the name of a command would have no effect there."""
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if source is not None and source.name == "COMMANDLINE":
            from ...accounting.errors import InvalidValue
            from ..output import refuse

            refused = context.params[str(parameter.name)] is False
            option = (parameter.secondary_opts if refused else parameter.opts)[0]
            refuse(
                InvalidValue(option.lstrip("-"), option, f"nothing, before {command}", f"Write it after {command}"),
                as_json=as_json,
            )


@plugins.command()
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the plugin, its distribution and its folder.")],
    kind: Annotated[str, typer.Option(metavar="mechanism|sampler|claims", help="What it is.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where its folder appears.")] = Path(),
    json: Json = False,
) -> None:
    """Write a package with a new plugin: one formula, its entry point, and tests that call the conformance kit."""
    from ..output import reporting
    from .new import run

    with reporting(json) as output:
        run(name, kind, out, output)


@plugins.command()
def check(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The plugin, as `certdp plugins` lists it.")],
    role: Annotated[
        str | None, typer.Option(metavar="mechanism|sampler|claims", help="Which one, where several have the name.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="A public constant to check it with, else some are chosen; repeatable."),
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Records that the mechanism takes, where it does not take any.")
    ] = None,
    array: Annotated[
        str | None, typer.Option(metavar="NAME", help="Array in an npz file; else X, or the only matrix.")
    ] = None,
    only: Annotated[str, typer.Option(metavar="GLOB", help="Laws to check, by name.")] = "*",
    examples: Annotated[int, typer.Option(min=1, help="Most cases per law.")] = 25,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the search and of all coins.")] = 0,
    audit_trials: Annotated[
        int, typer.Option(min=20, metavar="N", help="Releases on either side of an audit.")
    ] = 20_000,
    timeout: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds that one law may take; by default 300.")
    ] = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
    json: Json = False,
    show_values: ShowValues = False,
) -> None:
    """Check a plugin against every law of its kind: passed, failed with the smallest witness, or why not applicable."""
    from ...data import Reading
    from ..output import reporting
    from .check import Request, run

    with reporting(json, show_values) as output:
        run(
            Request(
                name=name,
                role=role,
                options=option or [],
                data=data,
                reading=Reading(array=array),
                only=only,
                examples=examples,
                seed=seed,
                audit_trials=audit_trials,
                timeout=timeout,
                third_party=third_party,
                allow=allow,
            ),
            output,
        )
