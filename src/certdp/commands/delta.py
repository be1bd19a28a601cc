"""`certdp delta`: the smallest proven δ at an ε, of one or many releases."""

from __future__ import annotations

from ..accounting import units
from .account import Cost, Request, cost_of
from .answering import application
from .options import Epsilon


def delta(epsilon: Epsilon, request: Request) -> Cost:
    """The smallest proven δ at an ε, of one or many releases."""
    wanted = units.Epsilon(epsilon)
    return cost_of(request, lambda run, accountant: run.delta(wanted, accountant=accountant), "delta")


command = application(delta)
