"""The weighted sum on a lattice with exact discrete Gaussian noise."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.expressions import ORDER, W, norm
from ..accounting.losses import RenyiLoss
from ..accounting.provenance import Public
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive
from .lattice import granularity, lattice_sum, on_lattice


@final
@frozen(kw_only=True, field_transformer=named)
class DiscreteGaussian:
    """Σ of w·x put on the lattice granularity·ℤ, plus independent discrete Gaussian noise in each coordinate.

    Args:
        scale: σ of the noise, in units of the data; above 0. Its standard deviation is at most σ.
        granularity: spacing of the lattice, in units of the data; by default 1. Each coordinate of each w·x is moved
            toward zero to a multiple of it.

    Guarantees:
        Rényi profile τ(α; W, x) = α(W·‖x‖₂ / scale)²/2 under adding or removing one record, in any dimension: the
        record moves the sum by a lattice vector whose ℓ2 norm is at most that of w·x, each coordinate costs at most
        what normal noise costs (Canonne, Kamath, Steinke 2020, Proposition 5), and costs add up over coordinates. Sum
        and noise are exact, so no real-valued noise is assumed; rounding the result is post-processing.
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

    @property
    def loss(self) -> RenyiLoss:
        """τ(α; W, x) = α(W·‖x‖₂ / scale)²/2."""
        return RenyiLoss(ORDER * (W * norm(2) / self.scale.value) ** 2 / 2)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted sum: a vector with one lattice point per column."""
        spacing = self.granularity.value
        totals = lattice_sum(sample, spacing)
        noise = coins.discrete_gaussian(self.scale.value / spacing, len(totals))
        return on_lattice((total + extra for total, extra in zip(totals, noise, strict=True)), spacing)
