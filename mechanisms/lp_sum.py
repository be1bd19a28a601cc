"""The weighted sum with noise of density ∝ exp(−‖ζ‖_p/β) (IS Appendix D.4)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.exact import Floats
from ..accounting.expressions import norm
from ..accounting.norms import Norm
from ..accounting.provenance import Declared, Public
from ..accounting.relations import ADD_REMOVE, REPLACE, ZERO_OUT
from ..accounting.sampling.losses import PureLoss
from ..plugins.contract import (
    CONTRACT_VERSION,
    About,
    Coins,
    Real,
    Release,
    WeightedSample,
    named,
    norm_order,
    positive,
)
from .exponential import Normaliser, exponential_loss
from .lattice import lattice_sum, noise_unit, rounded_sums

_SHARP = Fraction(2**64)  # from this order on, (1 − 2^-53)^p underflows to 0 as for every larger one


def lp_noise(order: Norm, scale: Fraction, shape: tuple[int, int], coins: Coins) -> Floats:
    """Independent vectors of density ∝ exp(−‖ζ‖_p/scale), one in each row, in binary64.

    For finite p it is a radius of law Gamma(size, scale) times a direction from the cone measure: t/‖t‖_p for
    independent t_j of density ∝ exp(−|t_j|^p) (Schechtman, Zinn 1990). As the density of ‖ζ‖ is ∝ r^(size − 1)e^(−r),
    an exponential radius would be wrong for size ≥ 2. Each |t_j| is U·G^(1/p) with U uniform and G of law
    Gamma(1 + 1/p): its density at t is ∫_{t^p}^∞ g^(1/p)·e^(−g)·g^(−1/p) dg = e^(−t^p).
    For p = ∞ it is Gamma(size + 1, scale) times a uniform point of the cube: the density at ζ is
    ∫_{‖ζ‖}^∞ r^size·e^(−r)·r^(−size) dr = e^(−‖ζ‖).

    Args:
        order: p.
        scale: above 0; rounded up to binary64.
        shape: how many vectors, and the size of each; at least 0.
        coins: the randomness. A guarantee that rests on the noise assumes real-valued noise.
    """
    count, size = shape
    if not count * size:
        return np.empty(shape)
    points = (coins.signs(count * size) * coins.uniform(count * size)).reshape(shape)
    if order.order is None:
        return points * coins.gamma(Fraction(size + 1), scale, count)[:, np.newaxis]
    power = float(min(order.order, _SHARP))
    lengths = coins.gamma(1 + order.reciprocal, Fraction(1), count * size).reshape(shape)
    points *= lengths ** float(order.reciprocal)
    # the powers of numbers in [0, 1], one of them 1, neither overflow nor vanish
    points /= np.abs(points).max(axis=1, keepdims=True)
    points /= np.sum(np.abs(points) ** power, axis=1, keepdims=True) ** (1 / power)
    return points * coins.gamma(Fraction(size), scale, count)[:, np.newaxis]


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class LpSum:
    """Σ w·x plus a noise vector whose density falls off exponentially in its ℓ_p norm.

    Args:
        scale: β, in units of the data; above 0.
        norm: p, a number ≥ 1 or inf; by default 2. With p = 1 it is the Laplace sum, whose loss says more.

    Guarantees:
        PDP profile ε(W, x) = W·‖x‖_p / scale under adding or removing one record: an exponential mechanism over the
        metric ‖y − y'‖_p, which is translation-invariant. Of arithmetic nothing is assumed: a release is the
        real-valued noisy sum of records on a public grid, correctly rounded to it, as that of `LaplaceSum`.
    """

    about: ClassVar[About] = About(
        name="lp-sum",
        version="2",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="IS, Appendix D.4; Hardt, Talwar 2010",
        relations=(ADD_REMOVE, REPLACE, ZERO_OUT),
    )

    scale: Real = field(converter=positive, metadata={"help": "scale of the noise, in units of the data"})
    norm: Declared[Norm] = field(
        default=Public(Norm.L2), converter=norm_order, metadata={"help": "which norm: a number ≥ 1, or inf"}
    )

    @property
    def loss(self) -> PureLoss:
        """The pure loss: ε(W, x) = W·‖x‖_p / scale."""
        return exponential_loss(norm(self.norm.value), self.scale.value, Normaliser.CONSTANT)

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

        def noise(scale: Fraction, _: int) -> NDArray[np.int64]:
            return coins.lp_cells(self.norm.value, scale, count, len(totals)).reshape(-1)

        return rounded_sums(totals, self.scale.value, noise, count)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The noisy weighted sum: a vector with one entry per column."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent noisy weighted sums: a matrix with one row per release."""
        return self.noisy(self.totals(sample), count, coins)
