"""The first columns whose votes reach a threshold, both with noise: the sparse vector technique."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, islice, repeat
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.exact import Number
from ..accounting.expressions import W, norm
from ..accounting.provenance import Declared, Public, declared_number
from ..accounting.sampling.losses import PureLoss
from ..plugins.contract import (
    CONTRACT_VERSION,
    About,
    Coins,
    Real,
    Release,
    WeightedSample,
    flag,
    named,
    number,
    positive,
)
from .lattice import granularity, require_columns, vote_sums

_MOST = 2**20


def _answers(value: Declared[Number]) -> Real:
    return declared_number(
        value,
        lambda number: number.denominator == 1 and 1 <= number <= _MOST,
        f"a whole number from 1 to {_MOST}",
        parameter="answers",
    )


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class AboveThreshold:
    """The numbers of the first columns whose weighted votes, with noise, reach a noisy threshold.

    A record has a vote for each column, in order. The score of a column is the sum of its votes w·x, each of which is
    moved to the lattice, toward zero. Columns are looked at in order, each with noise of its own beside one noisy
    threshold, until so many have reached it; what is told is which, and the number of columns in place of each answer
    that there is not. How many columns are looked at costs nothing.

    Args:
        threshold: in units of the votes.
        threshold_scale: scale β₁ of the discrete Laplace noise of the threshold, in units of the votes; above 0.
        scale: scale β of that of each score; above 0.
        answers: c, how many columns may be told, a whole number from 1 to 2^20; by default 1.
        granularity: spacing of the lattice; by default 1.
        signed: whether votes may be negative, which doubles what answers lose; by default a negative one counts as 0.

    Guarantees:
        PDP profile ε(W, x) = W·‖x‖_∞·(1/β₁ + c/β) under adding or removing one record, with 2c in place of c where
        votes are signed (Dwork, Roth 2014, Theorem 3.23; Lyu, Su, Li 2017, Algorithm 1). A record moves scores by d_i,
        |d_i| ≤ m = w·‖x‖_∞. Let the noise of the threshold be m larger, at the factor e^(m/β₁): a score that did not
        reach the threshold does not reach that one, and the noise with which one does that did is larger by m − d_i,
        at the factor e^(m/β) where d_i ≥ 0 and e^(2m/β) in general, for each of c columns. Where all d_i ≤ 0, as when
        a record is taken away whose votes count from 0 on, the threshold's noise stays, and that of an answer is larger
        by −d_i. Steps, scores and draws are exact, so noise of whole steps moves by whole steps.

    Raises:
        InvalidValue: from `require`, for records without a column.
    """

    about: ClassVar[About] = About(
        name="above-threshold",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="Dwork, Roth 2014, Section 3.6; Lyu, Su, Li 2017",
    )

    threshold: Real = field(converter=number, metadata={"help": "what scores are to reach, in units of the votes"})
    threshold_scale: Real = field(
        converter=positive, metadata={"help": "scale of the threshold's noise, in units of the votes"}
    )
    scale: Real = field(converter=positive, metadata={"help": "scale of the noise of scores, in units of the votes"})
    answers: Real = field(
        default=Public(Fraction(1)), converter=_answers, metadata={"help": "how many columns may be told"}
    )
    granularity: Real = field(
        default=Public(Fraction(1)), converter=granularity, metadata={"help": "spacing of the lattice of votes"}
    )
    signed: Declared[bool] = field(
        default=Public(False), converter=flag, metadata={"help": "whether votes may be negative"}
    )

    @property
    def loss(self) -> PureLoss:
        """ε(W, x) = W·‖x‖_∞·(1/β₁ + c/β), or with 2c."""
        told = (1 + self.signed.value) * self.answers.value
        return PureLoss(W * norm("inf") * (1 / self.threshold_scale.value + told / self.scale.value))

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples without columns, and those whose sums leave the range of binary64."""
        require_columns(sample)

    def totals(self, sample: WeightedSample) -> list[int]:
        """The scores, in steps of the lattice: they add up over parts of a sample."""
        return vote_sums(sample, self.granularity.value, signed=self.signed.value)

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent releases from exact scores: a matrix with one row of answers per release."""
        spacing, answers, columns = self.granularity.value, int(self.answers.value), len(totals)
        least = math.ceil(self.threshold.value / spacing)
        thresholds = coins.discrete_laplace(self.threshold_scale.value / spacing, count)
        noise = coins.discrete_laplace(self.scale.value / spacing, count * columns)
        told = np.empty((count, answers))
        for row, above in enumerate(thresholds):
            noisy = zip(totals, islice(noise, row * columns, (row + 1) * columns), strict=True)
            reached = (column for column, (score, extra) in enumerate(noisy) if score + extra >= least + above)
            told[row] = [*islice(chain(reached, repeat(columns)), answers)]
        return told

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The numbers of columns, counted from 0: a vector with one entry per answer."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent releases on one sample: a matrix with one row per release."""
        return self.noisy(self.totals(sample), count, coins)
