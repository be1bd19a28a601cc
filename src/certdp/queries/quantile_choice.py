"""The choice of a quantile among public candidates, by permute-and-flip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.expressions import W, norm
from ..accounting.sampling.losses import PureLoss
from ..mechanisms.lattice import lattice_sum
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive
from ..plugins.contract.parameters import probability


@final
@frozen(kw_only=True, field_transformer=named)
class QuantileChoice:
    """The number of a candidate near a quantile of records that are counted at candidates.

    A record is a vector of how many values it has at each candidate, in order; each w·x is cut toward zero to whole
    numbers. The gap of candidate j is by how much a
    quantile misses it: max(0, (1 − q)·B − q·(E + A), q·A − (1 − q)·(B + E)) for B values before it, E at it and A after
    it. Candidates are looked at in random order, and taken with probability e^(−(gap − the least gap)/scale).

    Args:
        quantile: q, in [0, 1].
        scale: of the choice, in values; above 0.

    Guarantees:
        PDP profile ε(W, x) = 2·W·max(q, 1 − q)·‖x‖₁/scale under adding or removing one record: a value moves each of
        the three terms, and so every gap, by at most max(q, 1 − q), and permute-and-flip costs no more than the
        exponential mechanism (McKenna, Sheldon 2020, Theorem 1). Gaps are whole numbers over q's denominator, and coins
        are exact.
    """

    about: ClassVar[About] = About(
        name="quantile-choice",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="McKenna, Sheldon 2020, Theorem 1; Smith 2011",
    )

    quantile: Real = field(converter=probability)
    scale: Real = field(converter=positive)

    @property
    def loss(self) -> PureLoss:
        """ε(W, x) = 2·W·max(q, 1 − q)·‖x‖₁/scale."""
        return PureLoss(W * norm(1) * (2 * self._sensitivity / self.scale.value))

    @property
    def _sensitivity(self) -> Fraction:
        return max(self.quantile.value, 1 - self.quantile.value)

    def reach(self, candidates: int, confidence: float) -> float:
        """By how many values the chosen candidate misses the quantile at most, beyond the best one, that often.

        Each candidate whose gap is so much above the least is taken with probability at most e^(−reach/scale).
        """
        return float(self.scale.value) * math.log(candidates / (1 - confidence))

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples whose sums leave the range of binary64."""
        sample.require_summable()

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The number of one candidate: a vector of one entry."""
        gaps = self._gaps(lattice_sum(sample, Fraction(1)))
        different = sorted(set(gaps))
        places = {gap: place for place, gap in enumerate(different)}
        unit = self.quantile.value.denominator * self.scale.value
        exponents = [(gap - different[0]) / unit for gap in different]
        which = np.fromiter((places[gap] for gap in gaps), dtype=np.int64, count=len(gaps))
        return np.array([coins.permute_and_flip(exponents, which)], dtype=np.float64)

    def _gaps(self, counts: Sequence[int]) -> list[int]:
        """The gaps, as whole numbers over the denominator of q."""
        part, rest = self.quantile.value.numerator, (1 - self.quantile.value) * self.quantile.value.denominator
        total, before, found = sum(counts), 0, []
        for count in counts:
            upto = before + count
            found.append(max(0, int(rest) * before - part * (total - before), part * (total - upto) - int(rest) * upto))
            before = upto
        return found
