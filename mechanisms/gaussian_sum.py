"""The weighted sum with Gaussian noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import CLIPPED_RECORDS, Evidence
from ..accounting.errors import InvalidValue, known_keywords
from ..accounting.exact import Number, exact
from ..accounting.expressions import ONE, W, norm
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.losses import GaussianLoss
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Release, WeightedSample, named
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given, require_one
from .lattice import lattice_sum, noise_unit, rounded_sums


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class GaussianSum:
    """Σ w·x plus independent normal noise in each coordinate.

    Args:
        scale: standard deviation of the noise, in units of the data; above 0.
        noise_multiplier: instead of the scale, the scale over the largest weighted shift W·‖x‖₂ that a record of the
            run's public domain can cause; above 0. As that shift is one number for a whole run, it is admissible
            only where the sampler's rate is constant.

    Guarantees:
        The pair N(0, 1), N(shift, 1) with shift W·‖x‖₂ / scale, or 1 / noise_multiplier, dominates adding or
        removing one record: rotating the noise puts the whole shift into one coordinate. Of arithmetic nothing is
        assumed: a release is the real-valued noisy sum of records on a public grid, correctly rounded to it, as that of
        `LaplaceSum`. Assumes with a noise multiplier that every record is clipped to the bound that it is relative to.
        Under replace the two records may differ by twice the shift, which runs account for: the noise multiplier stays
        relative to what one record adds.

    Raises:
        InvalidValue: unless exactly one of the two is given.
    """

    about: ClassVar[About] = About(
        name="gaussian-sum",
        version="2",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Dwork, Roth 2014, Appendix A; Balle, Wang 2018, Theorem 8",
        assumed_with=(("noise_multiplier", CLIPPED_RECORDS),),
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    sums_records: ClassVar[bool] = True

    scale: Choice = field(
        default=NOT_GIVEN,
        converter=positive_if_given,
        metadata={"help": "standard deviation of the noise, in units of the data; or else noise_multiplier"},
    )
    noise_multiplier: Choice = field(
        default=NOT_GIVEN,
        converter=positive_if_given,
        metadata={"help": "scale over the largest weighted shift, where the rate is constant"},
    )

    def __attrs_post_init__(self) -> None:
        require_one(scale=self.scale, noise_multiplier=self.noise_multiplier)

    @property
    def needs_constant_rate(self) -> bool:
        """Whether the loss is one number for all records, which a sampler with a constant rate alone justifies."""
        return self.scale.value is None

    @property
    def loss(self) -> GaussianLoss:
        """Two normal distributions W·‖x‖₂ / scale apart, or 1 / noise_multiplier."""
        if self.noise_multiplier.value is not None:
            return GaussianLoss(ONE / self.noise_multiplier.value)
        return GaussianLoss(W * norm(2) / self._scale())

    def scaled(self, radius: Number, weight: Number) -> GaussianSum:
        """This mechanism with the scale that its noise multiplier means in one run; itself where it has a scale.

        Args:
            radius: public bound on ‖x‖₂ of every record that enters, in units of the data; above 0.
            weight: the weight with which each record enters, as it is applied; at least 1.

        Raises:
            InvalidValue: for a radius or weight outside its range.
        """
        bound, entering = exact(radius, parameter="radius"), exact(weight, parameter="weight")
        if bound <= 0:
            raise InvalidValue("radius", radius, "a number > 0")
        if entering < 1:
            raise InvalidValue("weight", weight, "a number ≥ 1")
        multiplier = self.noise_multiplier
        if multiplier.value is None:
            return self
        return GaussianSum(scale=multiplier.map(lambda number: number and number * bound * entering))

    @property
    def grids(self) -> dict[str, Fraction]:
        """The unit of the public grid of noisy sums."""
        return {"sums": noise_unit(self._scale())}

    def require(self, sample: WeightedSample) -> None:
        """Refuse sums beyond the range of binary64, scales without a grid, and a noise multiplier alone."""
        noise_unit(self._scale())
        sample.require_summable()

    def totals(self, sample: WeightedSample) -> list[int]:
        """The exact sums, in units of the grid: they add up over parts of a sample."""
        return lattice_sum(sample, noise_unit(self._scale()))

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent releases from exact sums: a matrix with one row per release."""
        return rounded_sums(totals, self._scale(), coins.gaussian_cells, count)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted sum: a vector with one entry per column.

        Raises:
            InvalidValue: where only a noise multiplier is known.
        """
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy weighted sums: a matrix with one row per release; raises as `release`."""
        return self.noisy(self.totals(sample), count, coins)

    def _scale(self) -> Fraction:
        if self.scale.value is None:
            raise InvalidValue(
                "scale",
                f"noise_multiplier={self.noise_multiplier.value} alone",
                "a scale in units of the data",
                "Name the run's public radius and weight: mechanism.scaled(radius, weight).release(…)",
            )
        return self.scale.value
