"""Two normal distributions, and the pair of the sampled Gaussian mechanism."""

from __future__ import annotations

from fractions import Fraction
from typing import final

import numpy as np
from attrs import frozen

from ..amplification import delta_after_sampling
from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, order_above_one, probability, whole
from ..enclosures.corners import between_corners
from ..enclosures.normal import normal_cdf
from ..loss_distribution.cells import Cells
from ..loss_distribution.families import normal_cells
from ..loss_distribution.transforms import GaussianTransform, Transform, sampled_gaussian_transform
from ..relations import Direction
from .laws import DeltaLaw, LossCells, LossTransform, RenyiEstimate, RenyiLaw
from .pair import Pair, always, between
from .sampled_gaussian_renyi import sampled_gaussian_renyi, sampled_gaussian_renyi_add

_REACH = 9.0
_MOST_NODES = 100_000
_SERIES = 1e-5  # below, the leading term of the excess is more accurate than its difference


@final
@frozen
class GaussianPair(Pair):
    """P = N(shift, 1), Q = N(0, 1): the same in both directions.

    By rotation it is exact for Gaussian noise of standard deviation σ about two points at ℓ2 distance σ·shift.

    Attributes:
        shift: distance of the centres in standard deviations; at least 0.

    Raises:
        InvalidValue: for a shift that reaches below 0. InvalidType: for anything but an enclosure.
    """

    shift: Enclosure

    def __attrs_post_init__(self) -> None:
        non_negative("shift", self.shift)

    @property
    def delta(self) -> DeltaLaw:
        """δ(ε) = Φ(s/2 − ε/s) − e^ε·Φ(−s/2 − ε/s), s being the shift (Balle, Wang 2018, Theorem 8)."""
        return self._delta

    @property
    def symmetric(self) -> bool:
        """Whether an involution swaps both laws: x → shift − x does."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) = α·s²/2 (Gil, Alajaji, Linder 2013)."""
        return self._renyi

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ of the Gaussian pair with shift s: ρ = s²/2."""
        return self.shift.square() * Fraction(1, 2)

    @property
    def gaussian(self) -> Enclosure:
        """μ of Gaussian DP: μ = s, the shift."""
        return self.shift

    @property
    def normal_shift(self) -> Enclosure:
        """The shift of the pair."""
        return self.shift

    @property
    def loss_transform(self) -> LossTransform:
        """The moments of the privacy loss, in closed form."""
        return self._transform

    @property
    def loss_cells(self) -> LossCells:
        """The privacy loss in cells: it is normal with the variance s²."""
        return self._cells

    def sampled(self, rate: Enclosure) -> Pair:
        """The sampled Gaussian pair, which has Rényi divergences at every real order."""
        return self if always(rate) else SampledGaussian(self.shift, rate)

    def repeated(self, times: int) -> Pair:
        """Independent normal variables add up to one with the shift s·√T."""
        return GaussianPair((self.shift.square() * whole("times", times, 1)).sqrt())

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        def at(shift: Enclosure, level: Enclosure) -> Enclosure:
            if shift.upper == 0:
                return shift  # equal laws
            half, ratio = shift * Fraction(1, 2), level / shift
            return normal_cdf(half - ratio) - level.exp() * normal_cdf(-half - ratio)

        return between_corners(at, rising=self.shift, falling=non_negative("epsilon", epsilon)).minimum(1)

    def _transform(self, direction: Direction) -> Transform:
        return GaussianTransform(self.shift.square())

    def _cells(self, direction: Direction) -> Cells:
        return normal_cells(self.shift, direction)

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        return self.shift.square() * (order_above_one(order) / 2)


@final
@frozen
class SampledGaussian(Pair):
    """P = (1 − q)·N(0, 1) + q·N(shift, 1), Q = N(0, 1); its two directions differ.

    Attributes:
        shift: distance of the centres in standard deviations; at least 0.
        rate: q in [0, 1].

    Raises:
        InvalidValue: outside these ranges. InvalidType: for anything but enclosures.
    """

    shift: Enclosure
    rate: Enclosure

    def __attrs_post_init__(self) -> None:
        non_negative("shift", self.shift)
        probability("rate", self.rate)

    def down_to(self, lower: Pair) -> Pair | None:
        """The pair of shifts and rates from those of another one up to its own; see `Pair.down_to`."""
        match lower:
            case SampledGaussian(shift, rate):
                moved, drawn = between(shift, self.shift), between(rate, self.rate)
                return None if moved is None or drawn is None else SampledGaussian(moved, drawn)
            case _:
                return None

    @property
    def delta(self) -> DeltaLaw:
        """Exact, in both directions, from that of the unsampled pair."""
        return self._delta

    @property
    def renyi(self) -> RenyiLaw:
        """Enclosed from both sides at every real order, in both directions."""
        return self._renyi

    @property
    def renyi_estimate(self) -> RenyiEstimate:
        """A quick estimate of τ(α): the trapezoid rule in binary64."""
        return self._estimate

    @property
    def zero_concentrated(self) -> Enclosure:
        """The ρ of the unsampled pair, s²/2, which dominates this one: far from the truth at small rates."""
        return GaussianPair(self.shift).zero_concentrated

    @property
    def gaussian(self) -> Enclosure:
        """The μ of the unsampled pair, s: no smaller μ holds at any rate above 0."""
        return self.shift

    @property
    def loss_transform(self) -> LossTransform:
        """The moments of the privacy loss, by the trapezoid rule."""
        return self._transform

    @property
    def loss_cells(self) -> LossCells:
        """The privacy loss in cells: those of the unsampled pair, mixed at rate q."""
        return self._cells

    @property
    def directions(self) -> tuple[Direction, ...]:
        """REMOVE alone: the unsampled pair is symmetric."""
        return (Direction.REMOVE,)

    def sampled(self, rate: Enclosure) -> Pair:
        """Return the pair of a sample of the sample: the rates multiply."""
        return self if always(rate) else SampledGaussian(self.shift, self.rate * rate)

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        return delta_after_sampling(GaussianPair(self.shift).delta, self.rate, epsilon, direction)

    def _transform(self, direction: Direction) -> Transform:
        return sampled_gaussian_transform(self.rate, self.shift, direction)

    def _cells(self, direction: Direction) -> Cells:
        return normal_cells(self.shift, direction).sampled(self.rate)

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        law = sampled_gaussian_renyi if direction is Direction.REMOVE else sampled_gaussian_renyi_add
        precision = max(self.shift.precision, self.rate.precision)
        return law(self.rate, self.shift, order_above_one(order), precision=precision)

    def _estimate(self, order: float, direction: Direction) -> float:
        """log E_Q[1 + ((1 + qz)^γ − 1 − γqz)]/(α − 1) with z = P/Q − 1, γ being α for REMOVE and 1 − α for ADD."""
        q, s = self.rate.upper_float, self.shift.upper_float
        if not q or not s:
            return 0.0
        power = order if direction is Direction.REMOVE else 1 - order
        step = min(0.25, 1 / (2 * s))
        first, last = min(power, 0.0) * s - _REACH, max(power, 1.0) * s + _REACH
        if not step or (last - first) / step > _MOST_NODES:  # the laws hardly overlap
            if direction is Direction.ADD:
                return float(-np.log1p(-q))
            return max(float(order * np.log(q) / (order - 1) + order * s * s / 2), 0.0)
        nodes = np.arange(first, last + step, step)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            linear = q * np.expm1(s * nodes - s * s / 2)
            log_sampled = np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, np.log(q) + s * nodes - s * s / 2)
            weight = np.log(step) - nodes * nodes / 2 - np.log(2 * np.pi) / 2
            excess = np.expm1(power * log_sampled) - power * linear
            moderate = np.abs(power * linear) < _SERIES
            excess = np.where(moderate, power * (power - 1) / 2 * linear**2, excess)
            total = float(np.sum(np.exp(weight) * np.maximum(excess, 0)))
            if np.isfinite(total):
                return float(np.log1p(total) / (order - 1))
            return float(np.logaddexp.reduce(weight + power * log_sampled) / (order - 1))
