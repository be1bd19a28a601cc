"""The weighted sum with Laplace noise (IS Section 3.3)."""

from __future__ import annotations

from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import REAL_VALUED_NOISE, Evidence
from ..accounting.expressions import W, norm
from ..accounting.sampling.losses import LaplaceLoss
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive


@final
@frozen(kw_only=True, field_transformer=named)
class LaplaceSum:
    """Σ w·x plus independent Laplace noise in each coordinate.

    Args:
        scale: scale of the noise, in units of the data; above 0.

    Guarantees:
        PDP profile ε(W, x) = W·‖x‖₁ / scale under adding or removing one record (IS Section 3.3). Assumes
        real-valued noise: a release draws it in binary64.
    """

    about: ClassVar[About] = About(
        name="laplace-sum",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Section 3.3; Dwork, McSherry, Nissim, Smith 2006",
        assumptions=(REAL_VALUED_NOISE,),
    )

    scale: Real = field(converter=positive, metadata={"help": "scale of the Laplace noise, in units of the data"})

    @property
    def loss(self) -> LaplaceLoss:
        """Two Laplace distributions W·‖x‖₁ / scale apart, which is also the pure ε."""
        return LaplaceLoss(W * norm(1) / self.scale.value)

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples whose sums leave the range of binary64."""
        sample.require_summable()

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted sum: a vector with one entry per column."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy weighted sums: a matrix with one row per release."""
        total = sample.weighted_sum()
        return np.asarray(total + coins.laplace(self.scale.value, count * len(total)).reshape(count, len(total)))
