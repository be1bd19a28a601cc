"""`certdp epsilon`: the smallest proven ε at a δ, of one or many releases."""

from __future__ import annotations

from typing import Annotated

import typer

from ..accounting.units import Delta
from .account import Cost, Request, cost_of
from .answering import application
from .options import (
    Accountant,
    Allow,
    AnyMechanism,
    AnySampler,
    Certificate,
    Options,
    PlanFile,
    Plot,
    Resample,
    Steps,
    ThirdParty,
)


def epsilon(
    mechanism: AnyMechanism = None,
    sampler: AnySampler = None,
    plan: PlanFile = None,
    option: Options = None,
    resample: Resample = None,
    steps: Steps = 1,
    delta: Annotated[str, typer.Option(metavar="D", help="δ in [0, 1]; at 0 the pure ε, where there is one.")] = "0",
    accountant: Accountant = "best",
    plot: Plot = None,
    certificate: Certificate = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
) -> Cost:
    """The smallest proven ε at a δ, of one or many releases."""
    wanted = Delta(delta)
    request = Request(
        plan=plan,
        mechanism=mechanism,
        sampler=sampler,
        options=option or [],
        resample=resample,
        steps=steps,
        accountant=accountant,
        plot=plot,
        third_party=third_party,
        allow=allow,
        certificate=certificate,
    )
    return cost_of(request, lambda run, accountant: run.epsilon(wanted, accountant=accountant), "epsilon")


command = application(epsilon)
