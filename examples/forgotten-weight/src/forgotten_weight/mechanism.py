"""A weighted sum with Laplace noise that says it costs what the unweighted one does."""

from __future__ import annotations

from typing import ClassVar, final

from attrs import field, frozen

from certdp.plugins.contract import (
    REAL_VALUED_NOISE,
    About,
    Coins,
    Evidence,
    LaplaceLoss,
    Real,
    Release,
    WeightedSample,
    named,
    norm,
    positive,
)


@final
@frozen(kw_only=True, field_transformer=named)
class ForgottenWeight:
    """Σ w·x plus Laplace noise. WRONG: a record of weight w moves the sum by w·‖x‖₁, and its loss says ‖x‖₁.

    Args:
        scale: scale of the noise, in units of the data; above 0.
    """

    about: ClassVar[About] = About(
        name="forgotten-weight",
        version="1",
        contract=1,
        evidence=Evidence.PROVED,
        citation="none: it is wrong on purpose",
        assumptions=(REAL_VALUED_NOISE,),
    )

    scale: Real = field(converter=positive, metadata={"help": "scale of the noise, in units of the data, above 0"})

    @property
    def loss(self) -> LaplaceLoss:
        """‖x‖₁ / scale, where W·‖x‖₁ / scale is due."""
        return LaplaceLoss(norm(1) / self.scale.value)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted sum."""
        return sample.weighted_sum() + coins.laplace(self.scale.value, sample.records.shape[1])
