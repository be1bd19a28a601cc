"""Options that commands of several groups have."""

from __future__ import annotations

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ThirdParty = Annotated[
    bool, typer.Option("--third-party/--no-third-party", help="Admit plugins of other distributions.")
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        "--allow", metavar="DISTRIBUTION", help="Admit this distribution's plugins and no others; repeatable."
    ),
]
