"""Options that commands of several groups have, and how KEY=VALUE is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from ..accounting.errors import InvalidValue


def _warned(names: list[str] | None) -> list[str] | None:
    """The names; those that stand for nothing here are told, as an allow-list may be meant for several machines."""
    if names:
        from ..plugins.registry import Registry

        for name in sorted(Registry(allow=names).absent):
            typer.echo(f"warning: --allow {name}: no installed distribution of this name has plugins", err=True)
    return names


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Show what was found where data are refused; for the data's owner.")
]
ThirdParty = Annotated[
    bool, typer.Option("--third-party/--no-third-party", help="Admit plugins of other distributions.")
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow",
        metavar="DISTRIBUTION",
        callback=_warned,
        help="Admit this distribution's plugins and no others; repeatable.",
    ),
]


def key_and_value(text: str, example: str) -> tuple[str, str]:
    """The two sides of KEY=VALUE.

    Raises:
        InvalidValue: where either is missing, with an example.
    """
    key, sign, value = text.partition("=")
    if not sign or not key or not value:
        raise InvalidValue("option", text, "KEY=VALUE", f"Write it like --option {example}")
    return key, value


def refuse_unused(options: Mapping[str, object], where: str, remedy: str = "Leave it out") -> None:
    """Refuse what is stated although nothing comes of it.

    Args:
        options: values by the name of their option; None where it is not stated.
        where: in what kind of request nothing comes of it.
        remedy: what to do.

    Raises:
        InvalidValue: for the first one that is stated.
    """
    for name, value in options.items():
        if value is not None:
            raise InvalidValue(name, str(value), f"nothing, {where}", remedy)
