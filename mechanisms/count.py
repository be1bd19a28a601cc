"""The weighted count with Laplace noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.expressions import W
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.losses import LaplaceLoss
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive
from .lattice import lattice_sum, noise_unit, rounded_sums


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class Count:
    """Σ w plus Laplace noise: an estimate of the number of records.

    Args:
        scale: scale of the noise, in records; above 0.

    Guarantees:
        PDP profile ε(W, x) = W / scale under adding or removing one record (IS Appendix D.4, weighted count).
        Of arithmetic nothing is assumed: a release is the real-valued noisy sum of weights on a public grid, correctly
        rounded to it, as that of `LaplaceSum`.
    """

    about: ClassVar[About] = About(
        name="count",
        version="2",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Appendix D.4; Dwork, McSherry, Nissim, Smith 2006",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    scale: Real = field(converter=positive, metadata={"help": "scale of the Laplace noise, in records"})

    @property
    def loss(self) -> LaplaceLoss:
        """Two Laplace distributions W / scale apart, which is also the pure ε."""
        return LaplaceLoss(W / self.scale.value)

    @property
    def grids(self) -> dict[str, Fraction]:
        """The unit of the public grid of noisy counts."""
        return {"counts": noise_unit(self.scale.value)}

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples whose sums leave the range of binary64, and scales that have no grid."""
        noise_unit(self.scale.value)
        sample.require_countable()

    def totals(self, sample: WeightedSample) -> list[int]:
        """The exact sums, in units of the grid: they add up over parts of a sample."""
        ones = WeightedSample(np.ones((len(sample), 1)), sample.weights)
        return lattice_sum(ones, noise_unit(self.scale.value))

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent releases from exact sums: a matrix with one row per release."""
        return rounded_sums(totals, self.scale.value, coins.laplace_cells, count)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted count: a vector of one entry."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy weighted counts: a matrix with one row per release."""
        return self.noisy(self.totals(sample), count, coins)
