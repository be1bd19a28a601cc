"""The choice of a quantile among public candidates, by permute-and-flip."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.bulk.clusters import Integers
from ..accounting.derivation import Evidence
from ..accounting.errors import InvalidValue
from ..accounting.expressions import W, norm
from ..accounting.sampling.losses import PureLoss
from ..plugins.contract import CONTRACT_VERSION, About, Coins, Real, Release, WeightedSample, named, positive
from ..plugins.contract.parameters import probability

_LARGEST = 2.0**52


@final
@frozen(kw_only=True, field_transformer=named)
class QuantileChoice:
    """The number of a candidate near a quantile of records that are counted at candidates.

    A record is a vector of how many values it has at each candidate, in order. The gap of candidate j is by how much a
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
        """Refuse weighted counts that are no whole numbers below 2^52."""
        counts = self._counts(sample)
        if not np.all((counts >= 0) & (counts == np.rint(counts))) or counts.sum() * self._denominator > _LARGEST:
            raise InvalidValue("sample", "other counts", "whole counts, small enough for their sums to be exact")

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The number of one candidate: a vector of one entry."""
        self.require(sample)
        gaps = self._gaps(self._counts(sample).astype(np.int64))
        different, which = np.unique(gaps, return_inverse=True)
        unit = self._denominator * self.scale.value
        exponents = [Fraction(gap) / unit for gap in (different - different[0]).tolist()]
        return np.array([coins.permute_and_flip(exponents, which)], dtype=np.float64)

    @property
    def _denominator(self) -> int:
        return self.quantile.value.denominator

    def _gaps(self, counts: Integers) -> Integers:
        """The gaps, as whole numbers over the denominator of q."""
        part, rest = self.quantile.value.numerator, self._denominator - self.quantile.value.numerator
        upto = np.cumsum(counts)
        before, after = upto - counts, upto[-1] - upto
        below, above = rest * before - part * (counts + after), part * after - rest * upto
        return np.asarray(np.maximum(0, np.maximum(below, above)))

    @staticmethod
    def _counts(sample: WeightedSample) -> Release:
        return sample.weights @ sample.records
