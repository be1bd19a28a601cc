"""How many runs it takes to catch a fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import final

from attrs import frozen

from ...plugins.contract import Coins
from ..audit import CONFIDENCE, audit
from .fault import Fault

_LADDER = (*(step * 10**power for power in (2, 3, 4, 5) for step in (1, 2, 5)), 10**6)
_SEEDS = range(5)


@final
@frozen(kw_only=True)
class Caught:
    """How a fault was caught.

    Attributes:
        fault: which.
        runs: on both inputs together, the fewest of those tried with which every seed refuted the claim.
        lower: the least bound on ε among the seeds at that number.
        right: the largest bound on ε that as many runs show of the right form.
    """

    fault: Fault
    runs: int
    lower: float
    right: float


def catch(fault: Fault, *, seeds: Iterable[int] = _SEEDS, ladder: Sequence[int] = _LADDER) -> Caught | None:
    """How few runs catch a fault, with every seed; None where those of the ladder do not.

    Args:
        fault: which.
        seeds: of the coins; each must catch it.
        ladder: numbers of runs to try, on both inputs together, increasing.
    """
    streams = tuple(seeds)
    for runs in ladder:
        found = [_bound(fault, seed, runs, wrong=True) for seed in streams]
        if all(fault.claimed.value < bound for bound in found):
            right = max(_bound(fault, seed, runs, wrong=False) for seed in streams)
            return Caught(fault=fault, runs=runs, lower=min(found), right=right)
    return None


def _bound(fault: Fault, seed: int, runs: int, *, wrong: bool) -> float:
    inputs = (fault.wrong if wrong else fault.right)(Coins.seeded(seed))
    return audit(*inputs, delta=fault.delta, runs=runs // 2, confidence=CONFIDENCE).lower


def table(caught: Iterable[Caught]) -> str:
    """Write the table in Markdown."""
    lines = [
        "| planted fault | what is wrong | claim | caught within | ε shown | the right form |",
        "|---|---|---|---|---|---|",
    ]
    for one in caught:
        fault = one.fault
        claim = f"ε = {float(fault.claimed.value):.4g}" + (f", δ = {fault.delta}" if fault.delta.value else "")
        lines.append(
            f"| `{fault.id}` | {fault.says} | {claim} | {one.runs:,} runs | ≥ {one.lower:.3g} | ≥ {one.right:.3g} |"
        )
    return "\n".join(lines)
