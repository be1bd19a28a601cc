"""How much of a budget a query gets, the noise that it buys, and how wide that noise is."""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import TypeAlias, final

from attrs import frozen

from ..accounting.errors import InvalidValue
from ..accounting.provenance import Public
from ..mechanisms.discrete_laplace import DiscreteLaplace
from ..mechanisms.gaussian_sum import GaussianSum
from ..mechanisms.lattice import noise_unit

_ROOM = 1 - Fraction(1, 2**40)  # so that sums of costs are provably within what they were split from
_FINE = 2**60
_LEAST_EPSILON = Fraction(1, 2**64)
_STANDARD = NormalDist()
_FAR = 8.0


@final
@frozen
class LaplaceNoise:
    """Discrete Laplace noise on the multiples of a unit.

    Attributes:
        scale: of the noise.
        unit: spacing of its values; sums are multiples of it.
    """

    scale: Fraction
    unit: Fraction

    @property
    def mechanism(self) -> DiscreteLaplace:
        """What releases sums with this noise."""
        return DiscreteLaplace(scale=Public(self.scale), granularity=Public(self.unit))

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of one value: unit·√(2r)/(1 − r) with r = e^(−unit/scale)."""
        step = float(self.unit / self.scale)
        return float(self.unit) * math.sqrt(2 * math.exp(-step)) / -math.expm1(-step)

    def half_width(self, confidence: float) -> float:
        """The least multiple t of the unit with |noise| ≤ t at least that often.

        P(|Z| > k) = 2·r^(k + 1)/(1 + r) for k = 0, 1, …
        """
        step = float(self.unit / self.scale)
        steps = (math.log(2 / (1 - confidence)) - math.log1p(math.exp(-step))) / step - 1
        return max(0, math.ceil(steps)) * float(self.unit)

    def half_width_of_sums(self, confidence: float) -> float:
        """A t with |Σ a_j·noise_j| ≤ t·Σ |a_j| at least that often, for independent noises.

        The noise is within a unit of Laplace noise of the same scale, drawn together with it: both P(|Z| ≥ k) and the
        tail of Laplace noise at k units lie between r^(k + 1) and r^(k − 1). Of that the weights' worst case is one.
        """
        return float(self.scale) * -math.log1p(-confidence) + float(self.unit)

    def __str__(self) -> str:
        return f"discrete Laplace noise of scale {float(self.scale):.6g}"


@final
@frozen
class GaussianNoise:
    """Normal noise, correctly rounded to a public grid.

    Attributes:
        scale: standard deviation.
        unit: what sums are multiples of, each row's part by itself; a multiple of the grid's unit, so that the grid
            rounds no sum. Rounded sums would be moved by more than what a row adds.
    """

    scale: Fraction
    unit: Fraction

    def __attrs_post_init__(self) -> None:
        if self.unit % noise_unit(self.scale):
            raise InvalidValue("unit", str(self.unit), f"a multiple of {noise_unit(self.scale)}, the unit of the grid")

    @property
    def mechanism(self) -> GaussianSum:
        """What releases sums with this noise."""
        return GaussianSum(scale=Public(self.scale))

    @property
    def standard_deviation(self) -> float:
        """The standard deviation of one value, but for rounding."""
        return float(self.scale)

    def half_width(self, confidence: float) -> float:
        """A t with |noise| ≤ t at least that often: of normal noise, and half a cell of the grid."""
        return float(self.scale) * _STANDARD.inv_cdf((1 + confidence) / 2) + float(noise_unit(self.scale)) / 2

    def half_width_of_sums(self, confidence: float) -> float:
        """A t with |Σ a_j·noise_j| ≤ t·Σ |a_j| at least that often, for independent noises."""
        return self.half_width(confidence)

    def __str__(self) -> str:
        return f"normal noise of standard deviation {float(self.scale):.6g}"


Noise: TypeAlias = LaplaceNoise | GaussianNoise


@final
@frozen
class PureShare:
    """A share of a budget for pure DP.

    Attributes:
        epsilon: ε, above 0.
    """

    epsilon: Fraction

    def split(self, parts: int) -> PureShare:
        """ε over their number, and a little less.

        Raises:
            InvalidValue: for less than 2^-64, of which noise is beyond what can be drawn and told.
        """
        share = self.epsilon / parts * _ROOM
        if share < _LEAST_EPSILON:
            raise InvalidValue("epsilon", f"a share of ε = {float(share):.3g}", "at least 2^-64 a query")
        return PureShare(share)

    def noise(self, contributions: int, unit: Fraction) -> LaplaceNoise:
        """Laplace noise for sums that one unit of privacy moves by at most so much, in ℓ1: of scale contributions/ε.

        Args:
            contributions: the most that it moves them.
            unit: of the sums.
        """
        return LaplaceNoise(contributions / self.epsilon, unit)

    @property
    def pure(self) -> Fraction:
        """The whole ε of the share."""
        return self.epsilon


@final
@frozen
class GaussianShare:
    """A share of a budget for Gaussian DP.

    Attributes:
        mu: μ, above 0.
    """

    mu: Fraction

    @classmethod
    def of_square(cls, square: Fraction) -> GaussianShare:
        """The share of a μ², rounded down."""
        return cls(Fraction(math.isqrt(math.floor(square * _FINE**2)), _FINE))

    def split(self, parts: int) -> GaussianShare:
        """μ over the root of their number, and a little less: squares add up."""
        return GaussianShare(self.of_square(self.mu**2 / parts).mu * _ROOM)

    def noise(self, contributions: int, unit: Fraction) -> GaussianNoise:
        """Normal noise of standard deviation contributions/μ: no ℓ2 norm exceeds the ℓ1 norm."""
        scale = contributions / self.mu
        grid = noise_unit(scale)
        if grid > 1:
            raise InvalidValue("epsilon", f"a share of μ = {float(self.mu)!r}", f"at least {contributions / 2**30!r}")
        return GaussianNoise(scale, max(unit, grid))

    @property
    def pure(self) -> Fraction:
        """The ε of randomised response that is μ-GDP, log(Φ(μ/2)/Φ(−μ/2)), and a little less: at most 35."""
        half = min(float(self.mu) / 2, _FAR)
        tail = math.erfc(half / math.sqrt(2)) / 2
        return Fraction(math.log1p(-tail) - math.log(tail)) * (1 - Fraction(1, 2**30))


Share: TypeAlias = PureShare | GaussianShare
"""A part of a budget."""
