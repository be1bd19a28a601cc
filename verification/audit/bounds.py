"""What counts of an event on two neighbouring inputs prove about ε: the exact binomial bounds of Clopper and Pearson.

Legend: p₁ and p₂ are the probabilities of an event under two neighbouring inputs. (ε, δ)-DP says p₁ ≤ e^ε·p₂ + δ.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import final

from attrs import frozen

from ...accounting.enclosures import Enclosure, binomial_lower_bound, binomial_upper_bound
from ...accounting.errors import InvalidValue
from ...accounting.exact import Number, exact
from ...accounting.units import Delta, Epsilon

_PRECISION = 64
_FINE = 256


@final
@frozen
class Count:
    """How often an event happened."""

    hits: int
    trials: int

    def __str__(self) -> str:
        return f"{self.hits:,} of {self.trials:,}"


def epsilon_lower_bound(likelier: Count, rarer: Count, delta: Delta, error: Fraction) -> float:
    """The bound on ε from proven binomial bounds on p₁ and p₂, each at half of the error; 0 where none follows.

    Guarantees:
        Where the trials are independent, it exceeds an ε at which the release is (ε, δ)-DP with probability at most
        `error`.
    """
    shares = (Fraction(count.hits, count.trials) for count in (likelier, rarer))
    if next(shares) - delta.value <= next(shares):
        return 0.0  # the bounds lie on either side of the shares, and tell less
    least = binomial_lower_bound(likelier.hits, likelier.trials, error / 2, precision=_PRECISION).lower - delta.value
    most = binomial_upper_bound(rarer.hits, rarer.trials, error / 2, precision=_PRECISION).upper
    if least <= most:
        return 0.0  # ε ≥ 0 holds of every guarantee
    return Enclosure.of(least / most).log().lower_float


def fewest_runs(claimed: Epsilon, delta: Delta, confidence: Number) -> int:
    """How many runs per input it takes at least to refute a claim.

    Guarantees: with fewer, no outcome of an audit refutes it. With so many one does, as far as 256 bits tell.

    The most telling outcome of m tested runs per input is an event that happens in all of them on one input and in none
    on the other. With a = (1 − confidence)/2 and t = a^{1/m}, Clopper and Pearson then bound p₁ ≥ t and p₂ ≤ 1 − t, so
    the claim is refuted exactly if t − δ > e^ε·(1 − t), which is m > log a / log((e^ε + δ)/(1 + e^ε)). Half of the
    runs, rounded up, are tested.

    Raises:
        InvalidValue: for δ ≥ 1, which every release satisfies, and for a confidence outside (0, 1).
    """
    if delta.value >= 1:
        raise InvalidValue(
            "delta", str(delta.value), "a δ below 1", "Every release is (ε, 1)-DP: no audit can refute it"
        )
    error = (1 - checked_confidence(confidence)) / 2
    missing = (1 - delta.value) / (1 + Enclosure.of(claimed.value, precision=_FINE).exp())
    needed = Enclosure.of(error, precision=_FINE).log() / (-missing).log1p()
    return 2 * floor(needed.lower) + 1


def checked_confidence(confidence: Number) -> Fraction:
    """The confidence, exactly.

    Raises:
        InvalidValue: outside (0, 1).
    """
    value = exact(confidence, parameter="confidence")
    if not 0 < value < 1:
        raise InvalidValue("confidence", confidence, "a number between 0 and 1")
    return value
