"""The weighted sum on a lattice with exact discrete Laplace noise."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.expressions import W, norm
from ..accounting.provenance import Public
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.losses import DiscreteLaplaceLoss
from ..plugins.contract import (
    CONTRACT_VERSION,
    About,
    Coins,
    Real,
    Release,
    WeightedSample,
    Worst,
    named,
    positive,
    worst_at,
)
from .lattice import granularity, lattice_sum, noisy_sums


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class DiscreteLaplace:
    """Σ of w·x put on the lattice granularity·ℤ, plus independent discrete Laplace noise in each coordinate.

    Args:
        scale: scale of the noise, in units of the data; above 0.
        granularity: spacing of the lattice, in units of the data; by default 1. Each coordinate of each w·x is moved
            toward zero to a multiple of it.

    Guarantees:
        Adding or removing one record moves the sum by a lattice vector whose ℓ1 norm is at most that of w·x: by whole
        steps of one granularity, each of which changes no probability by more than e^(granularity / scale). The pair
        of discrete Laplace distributions that many steps apart dominates it in any dimension, and so does the PDP
        profile ε(W, x) = W·‖x‖₁ / scale. Of several scales the least costs most: the law of a larger one is that of a
        smaller one with independent noise on top, as (1 − bz)/(1 − az) has no negative coefficient for b ≤ a. Sum and
        noise are exact, so no real-valued noise is assumed; rounding the
        result is post-processing.
    """

    about: ClassVar[About] = About(
        name="discrete-laplace",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Ghosh, Roughgarden, Sundararajan 2012; Canonne, Kamath, Steinke 2020, Algorithm 2",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    scale: Real = field(
        converter=positive,
        metadata={"help": "scale of the noise, in units of the data"} | worst_at(Worst.LOWEST),
    )
    granularity: Real = field(
        default=Public(Fraction(1)),
        converter=granularity,
        metadata={"help": "spacing of the lattice, in units of the data"},
    )

    @property
    def loss(self) -> DiscreteLaplaceLoss:
        """Two discrete Laplace distributions ⌊W·‖x‖₁ / granularity⌋ steps apart; ε(W, x) = W·‖x‖₁ / scale follows."""
        spacing = self.granularity.value
        return DiscreteLaplaceLoss(W * norm(1) / spacing, spacing / self.scale.value)

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples whose sums leave the range of binary64."""
        sample.require_summable()

    def totals(self, sample: WeightedSample) -> list[int]:
        """The exact sums, in units of the lattice: they add up over parts of a sample."""
        return lattice_sum(sample, self.granularity.value)

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent releases from exact sums: a matrix with one row per release."""
        spacing = self.granularity.value
        noise = coins.discrete_laplace(self.scale.value / spacing, count * len(totals))
        return noisy_sums(totals, noise, spacing, count)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted sum: a vector with one lattice point per column."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy weighted sums: a matrix with one row per release."""
        return self.noisy(self.totals(sample), count, coins)
