"""What a sample says of all: intervals that hold the share of noticed mutants with at least 95 % confidence.

Mutants are drawn from each module by a digest, without replacement; the statements hold for a draw at random.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

_MISSED = 0.05  # of all such intervals, those that may not hold the share


class Interval(NamedTuple):
    """A confidence interval of a share."""

    lower: float
    upper: float


def of_a_sample(noticed: int, run: int) -> Interval:
    """The interval of Clopper and Pearson for the share of which `noticed` among `run` is a sample."""
    from scipy.special import betaincinv

    lower = float(betaincinv(noticed, run - noticed + 1, _MISSED / 2)) if noticed else 0.0
    upper = float(betaincinv(noticed + 1, run - noticed, 1 - _MISSED / 2)) if noticed < run else 1.0
    return Interval(lower, upper)


class Stratum(NamedTuple):
    """A module: how many mutants it has, how many of them were run, and how many of those were noticed."""

    mutants: int
    run: int
    noticed: int


def of_strata(strata: Iterable[Stratum]) -> tuple[float, Interval]:
    """The share of noticed mutants in all modules together, each sampled apart: its estimate and its interval.

    The interval is Hoeffding's for a sum of bounded variables, which holds for draws without replacement too. Modules
    all of whose mutants were run widen it by nothing.
    """
    known = [stratum for stratum in strata if stratum.run]
    total = sum(stratum.mutants for stratum in known)
    share = sum(s.mutants * s.noticed / s.run for s in known) / total
    squares = sum((s.mutants / total) ** 2 / s.run for s in known if s.run < s.mutants)
    margin = math.sqrt(math.log(2 / _MISSED) / 2 * squares)
    return share, Interval(max(0.0, share - margin), min(1.0, share + margin))
