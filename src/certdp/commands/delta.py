"""`certdp delta`: the smallest proven δ at an ε, of one or many releases."""

from __future__ import annotations

from ..accounting import units
from .account import Cost, Request, cost_of
from .answering import application
from .options import (
    Accountant,
    Allow,
    AnyMechanism,
    AnySampler,
    Certificate,
    Epsilon,
    Options,
    PlanFile,
    Plot,
    Resample,
    Steps,
    ThirdParty,
)


def delta(
    epsilon: Epsilon,
    mechanism: AnyMechanism = None,
    sampler: AnySampler = None,
    plan: PlanFile = None,
    option: Options = None,
    resample: Resample = None,
    steps: Steps = 1,
    accountant: Accountant = "best",
    plot: Plot = None,
    certificate: Certificate = None,
    third_party: ThirdParty = True,
    allow: Allow = None,
) -> Cost:
    """The smallest proven δ at an ε, of one or many releases."""
    wanted = units.Epsilon(epsilon)
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
    return cost_of(request, lambda run, accountant: run.delta(wanted, accountant=accountant), "delta")


command = application(delta)
