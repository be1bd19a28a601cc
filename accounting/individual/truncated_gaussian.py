"""What a run loses in terms of a Gaussian one, down to a δ₀: a label for records, and no guarantee of Gaussian DP.

Legend: δ(ε) is the larger of the hockey-stick divergences of the two directions, δ_μ(ε) that of N(μ, 1) and N(0, 1),
x = e^ε. However small the rate q > 0, T steps of the sampled Gaussian are μ-GDP for μ ≥ s·√T alone, because their far
tail is Gaussian. Cut off where δ(ε) has fallen to δ₀, a much smaller μ describes what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist
from typing import final

from attrs import frozen

from ..display import rounded_down, rounded_up
from ..enclosures import Enclosure
from ..enclosures.normal import normal_cdf
from ..errors import InvalidValue, OutsideDomain
from ..exact import Number
from ..pairs.laws import DeltaLaw
from ..pairs.smallest_epsilon import smallest_epsilon
from ..relations import Direction
from ..units import Delta

_CELLS = 64
_BISECTIONS = 50
_LARGEST = 1e6
_FIRST_ROOM, _ROOM_GROWTH, _PROOFS = Fraction(1, 10**9), 8, 12
_PRECISION = 96


@final
@frozen
class TruncatedGaussian:
    """δ(ε) ≤ δ_μ(ε) for 0 ≤ ε < ε₀, and δ(ε) ≤ δ₀ for ε ≥ ε₀, in both directions: less than μ-GDP says.

    It entails δ(ε) ≤ max(δ_μ(ε), δ₀) for every ε ≥ 0 and no more: above ε₀ the run may lose far more than a μ-GDP one,
    and the μ of several runs do not compose. Compose first, truncate last.

    Attributes:
        mu: μ, ≥ 0.
        epsilon: ε₀, ≥ 0.
        delta: δ₀.
    """

    mu: Fraction
    epsilon: Fraction
    delta: Delta

    def __str__(self) -> str:
        return (
            f"as Gaussian as μ = {rounded_up(self.mu, 6)} up to δ₀ = {self.delta} "
            f"(ε < {rounded_down(self.epsilon, 6)}); not a guarantee of Gaussian DP"
        )


def truncated_gaussian(law: DeltaLaw, delta: Delta | Number) -> TruncatedGaussian:
    """A small μ with which δ(ε) is bounded down to δ₀, proven (`docs/soundness_individual.md`, step 8).

    Args:
        law: δ(ε) in each direction; upper ends count.
        delta: δ₀, above 0.

    Raises:
        InvalidValue: for δ₀ = 0, and for a law that is not proven to fall to δ₀.
        OutsideDomain: where no μ up to 10^6 suffices.
    """
    delta = Delta.of(delta)
    if not delta.value:
        raise InvalidValue("delta", delta.value, "δ₀ > 0", "At δ₀ = 0 it is Gaussian DP: ask for the pair's own μ")

    def worse(epsilon: Enclosure) -> Enclosure:
        return law(epsilon, Direction.REMOVE).maximum(law(epsilon, Direction.ADD))

    last = smallest_epsilon(worse, Enclosure.of(delta.value)).upper
    if not last:
        return TruncatedGaussian(Fraction(0), last, delta)
    places = [last * k / _CELLS for k in range(_CELLS)] + [last]
    bounds = [worse(Enclosure.of(place, precision=_PRECISION)).upper for place in places]
    mu = _estimate(places, bounds)
    room = _FIRST_ROOM
    for _ in range(_PROOFS):
        tried = Fraction(float(mu * (1 + room)))
        if _covers(tried, places, bounds):
            return TruncatedGaussian(tried, last, delta)
        room *= _ROOM_GROWTH
    raise OutsideDomain(f"no μ near {float(mu)!r} was proven to bound the law; ask for a larger δ₀")


def _covers(mu: Fraction, places: Sequence[Fraction], bounds: Sequence[Fraction]) -> bool:
    """Whether δ_μ is proven to be above the chords of the bounds between the places."""
    shift = Enclosure.of(mu, precision=_PRECISION)
    return all(
        all(bound <= low.lower for bound, low in zip((first, second), _tangent(shift, left, right), strict=True))
        for (left, right), (first, second) in zip(pairwise(places), pairwise(bounds), strict=True)
    )


def _tangent(mu: Enclosure, left: Fraction, right: Fraction) -> tuple[Enclosure, Enclosure]:
    """P(Y) − x·Q(Y) at both ends, Y being the outputs whose loss exceeds the middle: at most δ_μ at every x."""
    ratio, half = Enclosure.of((left + right) / 2, precision=_PRECISION) / mu, mu / 2
    with_it, without = normal_cdf(half - ratio), normal_cdf(-half - ratio)
    ends = (Enclosure.of(end, precision=_PRECISION).exp() for end in (left, right))
    first, second = (with_it - x * without for x in ends)
    return first, second


def _estimate(places: Sequence[Fraction], bounds: Sequence[Fraction]) -> Fraction:
    """About the least μ that covers, by bisection in floats."""
    from math import exp

    cells = [
        (exp(float(end)), float((left + right) / 2), float(bound))
        for (left, right), both in zip(pairwise(places), pairwise(bounds), strict=True)
        for end, bound in zip((left, right), both, strict=True)
    ]
    normal = NormalDist()

    def covers(mu: float) -> bool:
        return all(
            bound <= normal.cdf(mu / 2 - middle / mu) - x * normal.cdf(-mu / 2 - middle / mu)
            for x, middle, bound in cells
        )

    low, high = 0.0, 1.0
    while not covers(high):
        low, high = high, 2 * high
        if high > _LARGEST:
            raise OutsideDomain("no μ up to 10^6 bounds the law; ask for a larger δ₀")
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if covers(middle) else (middle, high)
    return Fraction(high)
