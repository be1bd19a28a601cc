"""The noisy mean gradient of one step of DPIS (DPIS Equation 7 and Algorithm 1, line 26 corrected)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import CLIPPED_RECORDS, REAL_VALUED_NOISE, Evidence
from ..accounting.expressions import ONE, W, minimum, norm
from ..accounting.sampling.losses import GaussianLoss
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given


@final
@frozen(kw_only=True, field_transformer=named)
class DpisStep:
    """(1/b)·(Σ (b/Ñ)·w·x̄ + N(0, σ_G²C²)), for gradients x clipped to x̄, and w = 1/q(x).

    On the sampler `dpis` a drawn record adds (b/Ñ)·x̄/q(x) = (K̃/Ñ)·x/‖x‖ to the sum; with `norm_sum` that vector is
    added for any weight (errata DPIS-saturation, DPIS-stale). On `poisson` with rate b/N and weighted=true, it is
    DP-SGD.

    Args:
        noise_multiplier: σ_G, the standard deviation of the noise over C; above 0.
        clip: C, the bound to which gradients are clipped; above 0.
        size: Ñ, the public or released number of records; above 0.
        batch: b, the expected batch size; above 0.
        norm_sum: K̃, where each drawn record adds a vector of length K̃/Ñ, whatever its weight; above 0.

    Guarantees:
        The pair N(0, 1), N(s, 1) with s = W·(b/Ñ)·min(‖x‖₂, C)/(σ_G·C), or K̃/(Ñ·σ_G·C) with `norm_sum`, dominates
        adding or removing one record that is drawn. Assumes real-valued noise, and records clipped as stated.
    """

    about: ClassVar[About] = About(
        name="dpis-step",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="DPIS, Lemma 3.1 (errata DPIS-line26, DPIS-proof); Mironov, Talwar, Zhang 2019, Theorem 5",
        assumptions=(REAL_VALUED_NOISE, CLIPPED_RECORDS),
    )

    noise_multiplier: Real = field(converter=positive, metadata={"help": "standard deviation of the noise over clip"})
    clip: Real = field(converter=positive, metadata={"help": "bound C to which gradients are clipped, above 0"})
    size: Real = field(converter=positive, metadata={"help": "public or released number Ñ of records, above 0"})
    batch: Real = field(converter=positive, metadata={"help": "expected batch size b, above 0"})
    norm_sum: Choice = field(
        default=NOT_GIVEN,
        converter=positive_if_given,
        metadata={"help": "K̃, where drawn records add vectors of length K̃/Ñ whatever their weight"},
    )

    @property
    def loss(self) -> GaussianLoss:
        """Two normal distributions as far apart as a drawn record moves the sum, over σ_G·C."""
        spread = self.size.value * self._scale
        if self.norm_sum.value is not None:
            return GaussianLoss(ONE * (self.norm_sum.value / spread))
        return GaussianLoss(W * minimum(self.clip.value, norm(2)) * (self.batch.value / spread))

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy mean gradient: a vector with one entry per column."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy mean gradients: a matrix with one row per release."""
        size, batch, clip = (float(known.value) for known in (self.size, self.batch, self.clip))
        norms = np.linalg.norm(sample.records, axis=1)
        if self.norm_sum.value is None:
            factors = sample.weights * (batch / size) * np.minimum(1.0, clip / np.maximum(norms, clip))
        else:
            length = float(self.norm_sum.value) / size
            factors = np.where(norms > 0, length / np.where(norms > 0, norms, 1.0), 0.0)
        total = factors @ sample.records
        return np.asarray((total + coins.gaussian(self._scale, count * len(total)).reshape(count, len(total))) / batch)

    @property
    def _scale(self) -> Fraction:
        return self.noise_multiplier.value * self.clip.value
