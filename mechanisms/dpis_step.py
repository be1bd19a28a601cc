"""The noisy mean gradient of one step of DPIS (DPIS Equation 7 and Algorithm 1, line 26 corrected)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.bulk import arrays as bulk
from ..accounting.derivation import CLIPPED_RECORDS, Evidence
from ..accounting.errors import known_keywords
from ..accounting.exact import Floats
from ..accounting.expressions import ONE, W, minimum, norm
from ..accounting.norms import Norm
from ..accounting.sampling.losses import GaussianLoss
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive
from ..plugins.contract.optional import NOT_GIVEN, Choice, positive_if_given
from .lattice import lattice_sum, noise_unit, rounded_sums


@final
@known_keywords
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
        adding or removing one record that is drawn. Of arithmetic nothing is assumed: norms are rounded up and factors
        down, and a release is the real-valued noisy sum of records on a public grid, correctly rounded to it, as that
        of `GaussianSum`. Assumes records clipped as stated.
    """

    about: ClassVar[About] = About(
        name="dpis-step",
        version="2",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="DPIS, Lemma 3.1 (errata DPIS-line26, DPIS-proof); Mironov, Talwar, Zhang 2019, Theorem 5",
        assumptions=(CLIPPED_RECORDS,),
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

    @property
    def grids(self) -> dict[str, Fraction]:
        """The unit of the public grid of noisy sums."""
        return {"sums": noise_unit(self._scale)}

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples whose sums leave the range of binary64, and scales that have no grid."""
        noise_unit(self._scale)
        sample.require_summable()

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy mean gradient: a vector with one entry per column."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy mean gradients: a matrix with one row per release."""
        norms = bulk.norms(sample.records, Norm.L2)  # rounded up
        directed = norms > 0
        known = np.where(directed, norms, 1.0)
        if self.norm_sum.value is None:
            shares = np.minimum(1.0, _step_down(_down(self.clip.value) / known))
            factors = _step_down(_step_down(sample.weights * _down(self.batch.value / self.size.value)) * shares)
        else:
            factors = _step_down(_down(self.norm_sum.value / self.size.value) / known)
        added = _step_down(np.where(directed, factors, 0.0)[:, np.newaxis] * sample.records)
        scaled = WeightedSample(added, np.ones(len(sample)))
        totals = lattice_sum(scaled, noise_unit(self._scale))
        return rounded_sums(totals, self._scale, coins.gaussian_cells, count) / float(self.batch.value)

    @property
    def _scale(self) -> Fraction:
        return self.noise_multiplier.value * self.clip.value


def _down(value: Fraction) -> float:
    """The largest binary64 number that is at most `value` ≥ 0."""
    nearest = float(value)
    return nearest if nearest <= value else float(np.nextafter(nearest, 0.0))


def _step_down(values: Floats) -> Floats:
    """The next binary64 numbers towards 0: at most what `values` were rounded from."""
    return np.nextafter(values, 0.0)
