"""The weighted sum with Laplace noise (IS Section 3.3)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.expressions import W, norm
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.losses import LaplaceLoss
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive
from .lattice import lattice_sum, noise_unit, rounded_sums


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class LaplaceSum:
    """Σ w·x plus independent Laplace noise in each coordinate.

    Args:
        scale: scale of the noise, in units of the data; above 0.

    Guarantees:
        PDP profile ε(W, x) = W·‖x‖₁ / scale under adding or removing one record (IS Section 3.3). Of arithmetic
        nothing is assumed: a release is the real-valued noisy sum of records on a public grid, correctly rounded to it.
        The grid's unit is the power of two of which 2^30 to 2^31 are the scale; records are put on it toward zero, so
        that no norm grows, and rounding is post-processing.
    """

    about: ClassVar[About] = About(
        name="laplace-sum",
        version="2",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Section 3.3; Dwork, McSherry, Nissim, Smith 2006",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    scale: Real = field(converter=positive, metadata={"help": "scale of the Laplace noise, in units of the data"})

    @property
    def loss(self) -> LaplaceLoss:
        """Two Laplace distributions W·‖x‖₁ / scale apart, which is also the pure ε."""
        return LaplaceLoss(W * norm(1) / self.scale.value)

    @property
    def grids(self) -> dict[str, Fraction]:
        """The unit of the public grid of noisy sums."""
        return {"sums": noise_unit(self.scale.value)}

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples whose sums leave the range of binary64, and scales that have no grid."""
        noise_unit(self.scale.value)
        sample.require_summable()

    def totals(self, sample: WeightedSample) -> list[int]:
        """The exact sums, in units of the grid: they add up over parts of a sample."""
        return lattice_sum(sample, noise_unit(self.scale.value))

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent releases from exact sums: a matrix with one row per release."""
        return rounded_sums(totals, self.scale.value, coins.laplace_cells, count)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted sum: a vector with one entry per column."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy weighted sums: a matrix with one row per release."""
        return self.noisy(self.totals(sample), count, coins)
