"""The choice of a quantile among public candidates, by permute-and-flip."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.expressions import W, norm
from ..accounting.provenance import Public
from ..accounting.sampling.losses import PureLoss
from ..plugins.contract import (
    CONTRACT_VERSION,
    About,
    Coins,
    Real,
    Release,
    WeightedSample,
    named,
    number,
    positive,
    probability,
)
from .lattice import lattice_sum, require_columns


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class QuantileChoice:
    """The number of a candidate near a quantile of records that are counted at candidates.

    A record is a vector of how many values it has at each candidate, in order; each w·x is cut toward zero to whole
    numbers. With n values in all, B of them before a candidate and E at it, its gap is by how much it misses the rank
    r = q·n + shift: max(0, B − r, r − B − E). Where the shift is negative, the first candidate is never too high
    (without B − r); where it is positive, the last one is never too low. Candidates are looked at in random order, and
    taken with probability e^(−(gap − the least gap)/scale).

    Args:
        quantile: q, in [0, 1].
        scale: of the choice, in values; above 0.
        shift: by how many values the rank is moved; by default 0. Chosen at shifts of both signs, two candidates are
            the ends of an interval that holds the quantile.

    Guarantees:
        PDP profile ε(W, x) = 2·W·max(q, 1 − q)·‖x‖₁/scale under adding or removing one record: a value moves each of
        the three terms, and so every gap, by at most max(q, 1 − q), and permute-and-flip costs no more than the
        exponential mechanism (McKenna, Sheldon 2020, Theorem 1). Gaps are exact, and so are coins.
    """

    about: ClassVar[About] = About(
        name="quantile-choice",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="McKenna, Sheldon 2020, Theorem 1; Smith 2011",
    )

    quantile: Real = field(converter=probability, metadata={"help": "which quantile, in [0, 1]"})
    scale: Real = field(converter=positive, metadata={"help": "scale of the choice, in values"})
    shift: Real = field(
        default=Public(Fraction(0)), converter=number, metadata={"help": "by how many values the rank is moved"}
    )

    @property
    def loss(self) -> PureLoss:
        """ε(W, x) = 2·W·max(q, 1 − q)·‖x‖₁/scale."""
        sensitivity = max(self.quantile.value, 1 - self.quantile.value)
        return PureLoss(W * norm(1) * (2 * sensitivity / self.scale.value))

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples without candidates, and those whose sums leave the range of binary64."""
        require_columns(sample)

    def totals(self, sample: WeightedSample) -> list[int]:
        """How many values each candidate has, as whole numbers: they add up over parts of a sample."""
        return lattice_sum(sample, Fraction(1))

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent choices from exact numbers of values: a matrix with one row per release."""
        gaps, unit = self._gaps(totals)
        different = sorted(set(gaps))
        places = {gap: place for place, gap in enumerate(different)}
        exponents = [(gap - different[0]) * unit / self.scale.value for gap in different]
        which = np.fromiter((places[gap] for gap in gaps), dtype=np.int64, count=len(gaps))
        chosen = [coins.permute_and_flip(exponents, which) for _ in range(count)]
        return np.array(chosen, dtype=np.float64).reshape(count, 1)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The number of one candidate: a vector of one entry."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent choices on one sample: a matrix with one row per release."""
        return self.noisy(self.totals(sample), count, coins)

    def _gaps(self, counts: Sequence[int]) -> tuple[list[int], Fraction]:
        """The gaps, as whole numbers, and their unit."""
        part, shift = self.quantile.value, self.shift.value
        denominator = math.lcm(part.denominator, shift.denominator)
        rank = int((part * sum(counts) + shift) * denominator)
        before, found = 0, []
        for count in counts:
            upto = before + count
            found.append(max(0, before * denominator - rank, rank - upto * denominator))
            before = upto
        if shift < 0:
            found[0] = max(0, rank - counts[0] * denominator)
        elif shift > 0:
            found[-1] = max(0, (before - counts[-1]) * denominator - rank)
        return found, Fraction(1, denominator)
