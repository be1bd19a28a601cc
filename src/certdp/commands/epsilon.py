"""`certdp epsilon`: the smallest proven ε at a δ, of one or many releases."""

from __future__ import annotations

from typing import Annotated

import typer

from ..accounting.units import Delta
from .account import Cost, Request, cost_of
from .answering import application


def epsilon(
    *,
    delta: Annotated[str, typer.Option(metavar="D", help="δ in [0, 1]; at 0 the pure ε, where there is one.")] = "0",
    request: Request,
) -> Cost:
    """The smallest proven ε at a δ, of one or many releases."""
    wanted = Delta(delta)
    return cost_of(request, lambda run, accountant: run.epsilon(wanted, accountant=accountant), "epsilon")


command = application(epsilon)
