"""Claims are searched for a witness; the first will do, but where a test is about the smallest."""

from __future__ import annotations

from certdp.plugins.contract import Claim
from certdp.verification.running import examination
from certdp.verification.running.results import Result


def check(claim: Claim, examples: int, seed: int, *, smallest: bool = False) -> Result:
    """What is found of a claim on so many cases, with the first witness or the smallest."""
    return examination.check(claim, examples, seed, shrink=smallest)
