"""The weighted sum on a lattice with exact discrete Gaussian noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.expressions import W, norm
from ..accounting.pairs import GREATEST_VARIANCE, LEAST_VARIANCE
from ..accounting.provenance import Public
from ..accounting.sampling.losses import DiscreteGaussianLoss, DiscreteGaussianVectorLoss, Loss, ZeroConcentratedLoss
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given
from .lattice import granularity, lattice_sum, noisy_sums


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class DiscreteGaussian:
    """Σ of w·x put on the lattice granularity·ℤ, plus independent discrete Gaussian noise in each coordinate.

    Args:
        scale: σ of the noise, in units of the data; above 0. Its standard deviation is at most σ.
        granularity: spacing of the lattice, in units of the data; by default 1. Each coordinate of each w·x is moved
            toward zero to a multiple of it.
        dimension: number of columns of the data, a whole number ≥ 1, where it is known: the loss then says more.

    Guarantees:
        Rényi profile ρ(W, x) = (W·‖x‖₂ / scale)²/2 under adding or removing one record, in any dimension: the
        record moves the sum by a lattice vector whose ℓ2 norm is at most that of w·x, each coordinate costs at most
        what normal noise costs (Canonne, Kamath, Steinke 2020, Proposition 5), and costs add up over coordinates. With
        dimension 1, the pair of discrete Gaussian distributions ⌊W·‖x‖₂ / granularity⌋ steps apart; with another,
        (ε, δ) by comparison with rounded normal noise, where the lattice is fine. Sum and noise are exact, so no
        real-valued noise is assumed; rounding the result is post-processing.

    Raises:
        InvalidValue: for a dimension that is no whole number ≥ 1, and for dimension 1 with a scale whose square is
            not within 2^-32 to 2^128 squared granularities.
    """

    about: ClassVar[About] = About(
        name="discrete-gaussian",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Canonne, Kamath, Steinke 2020, Proposition 5 and Algorithm 3",
    )

    scale: Real = field(converter=positive, metadata={"help": "sigma of the noise, in units of the data"})
    granularity: Real = field(
        default=Public(Fraction(1)),
        converter=granularity,
        metadata={"help": "spacing of the lattice, in units of the data"},
    )
    dimension: Choice = field(
        default=NOT_GIVEN,
        converter=positive_if_given,
        metadata={"help": "number of columns of the data, where it is known: the loss then says more"},
    )

    def __attrs_post_init__(self) -> None:
        if self.dimension.value is not None and self.dimension.value.denominator != 1:
            raise InvalidValue("dimension", str(self.dimension.value), "a whole number ≥ 1")
        try:
            _ = self.loss
        except InvalidValue as error:  # of the pair, in its own terms
            raise InvalidValue(
                "scale",
                str(self.scale.value),
                f"for dimension 1 and granularity {self.granularity.value}: a squared ratio to it that is "
                f"{error.admissible}",
                "Leave the dimension out: the loss that then follows holds for every scale",
            ) from None

    @property
    def loss(self) -> Loss:
        """ρ(W, x) = (W·‖x‖₂ / scale)²/2, or for one column two discrete Gaussian distributions."""
        dimension, spacing = self.dimension.value, self.granularity.value
        variance = (self.scale.value / spacing) ** 2
        if dimension == 1:
            return DiscreteGaussianLoss(W * norm(2) / spacing, variance)
        known = isinstance(variance, Fraction)  # not where the scale is any of a released range
        if known and LEAST_VARIANCE <= variance <= GREATEST_VARIANCE:
            number = None if dimension is None else int(dimension)
            return DiscreteGaussianVectorLoss(W * norm(2) / spacing, variance, number)
        return ZeroConcentratedLoss((W * norm(2) / self.scale.value) ** 2 / 2, symmetric=True)  # by reflection

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples with another number of columns than the dimension, and sums beyond binary64."""
        sample.require_summable()
        columns = sample.records.shape[1]
        if self.dimension.value not in (None, columns):
            raise InvalidValue(
                "dimension", str(self.dimension.value), f"{columns}, the number of columns of the records"
            )

    def totals(self, sample: WeightedSample) -> list[int]:
        """The exact sums, in units of the lattice: they add up over parts of a sample."""
        return lattice_sum(sample, self.granularity.value)

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent releases from exact sums: a matrix with one row per release."""
        spacing = self.granularity.value
        noise = coins.discrete_gaussian(self.scale.value / spacing, count * len(totals))
        return noisy_sums(totals, noise, spacing, count)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted sum: a vector with one lattice point per column.

        Raises:
            InvalidValue: for another number of columns than the dimension.
        """
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy weighted sums: a matrix with one row per release; raises as `release`."""
        self.require(sample)
        return self.noisy(self.totals(sample), count, coins)
