"""Two normal distributions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, final

from attrs import frozen

from ..directions import Direction
from ..enclosures import Enclosure
from ..enclosures.arguments import non_negative, order_above_one, whole
from ..enclosures.corners import between_corners
from .pair import DeltaLaw, LossCells, LossTransform, Pair, RenyiLaw, always

if TYPE_CHECKING:
    from ..loss_distribution.cells import Cells
    from ..loss_distribution.transforms import Transform


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
        """By x → shift − x."""
        return True

    @property
    def renyi(self) -> RenyiLaw:
        """τ(α) = α·s²/2 (Gil, Alajaji, Linder 2013)."""
        return self._renyi

    @property
    def zero_concentrated(self) -> Enclosure:
        """ρ = s²/2."""
        return self.shift.square() * Fraction(1, 2)

    @property
    def gaussian(self) -> Enclosure:
        """μ = s."""
        return self.shift

    @property
    def normal_shift(self) -> Enclosure:
        """The shift itself."""
        return self.shift

    @property
    def loss_transform(self) -> LossTransform:
        """In closed form."""
        return self._transform

    @property
    def loss_cells(self) -> LossCells:
        """Normal with the variance s²."""
        return self._cells

    def sampled(self, rate: Enclosure) -> Pair:
        """The sampled Gaussian pair, which has Rényi divergences at every real order."""
        from .sampled_gaussian import SampledGaussian

        return self if always(rate) else SampledGaussian(self.shift, rate)

    def repeated(self, times: int) -> Pair:
        """Independent normal variables add up to one with the shift s·√T."""
        return GaussianPair((self.shift.square() * whole("times", times, 1)).sqrt())

    def _delta(self, epsilon: Enclosure, direction: Direction) -> Enclosure:
        from ..enclosures.normal import normal_cdf

        def at(shift: Enclosure, level: Enclosure) -> Enclosure:
            if shift.upper == 0:
                return shift  # equal laws
            half, ratio = shift * Fraction(1, 2), level / shift
            return normal_cdf(half - ratio) - level.exp() * normal_cdf(-half - ratio)

        return between_corners(at, rising=self.shift, falling=non_negative("epsilon", epsilon)).minimum(1)

    def _transform(self, direction: Direction) -> Transform:
        from ..loss_distribution.transforms import GaussianTransform

        return GaussianTransform(self.shift.square())

    def _cells(self, direction: Direction) -> Cells:
        from ..loss_distribution.families import normal_cells

        return normal_cells(self.shift, direction)

    def _renyi(self, order: Fraction, direction: Direction) -> Enclosure:
        return self.shift.square() * (order_above_one(order) / 2)
