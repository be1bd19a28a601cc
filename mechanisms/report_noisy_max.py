"""The column with the most votes, by noise that is added to each column's votes: permute-and-flip and its relatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from ..accounting.derivation import Evidence
from ..accounting.errors import known_keywords
from ..accounting.expressions import Expression, W, norm
from ..accounting.pairs import bounded_range_pair
from ..accounting.provenance import Declared, Public, declared
from ..accounting.sampling.losses import FamilyLoss, PureLoss
from ..plugins.contract import (
    CONTRACT_VERSION,
    About,
    Coins,
    Real,
    Release,
    WeightedSample,
    flag,
    named,
    positive,
)
from ..plugins.contract.parameters import member
from .lattice import granularity, require_columns, vote_sums


class Noise(StrEnum):
    """What is added to each score before the largest is told; the value is the name in certificates."""

    EXPONENTIAL = "exponential"
    """Exponential noise of scale β: permute-and-flip, whose score is on average at least that of Gumbel noise."""
    GUMBEL = "gumbel"
    """Gumbel noise of scale β: the exponential mechanism, column j with probability ∝ e^(s_j/β)."""
    LAPLACE = "laplace"
    """Discrete Laplace noise of scale β on the lattice; of several largest sums each is equally likely to be told."""

    @classmethod
    def named(cls, name: str) -> Noise:
        """The noise of this name, or the noise itself.

        Raises:
            InvalidValue: for an unknown name. InvalidType: for other types than text.
        """
        return member(cls, name, "noise")

    def loss(self, epsilon: Expression) -> PureLoss | FamilyLoss:
        """What a choice with the pure loss ε loses: with Gumbel noise its losses lie in an interval of length ε."""
        pure = PureLoss(epsilon)
        return FamilyLoss(epsilon, bounded_range_pair, pure) if self is Noise.GUMBEL else pure

    def chosen(self, scores: Sequence[int], unit: Fraction, count: int, coins: Coins) -> Sequence[int]:
        """Independent choices of `count` columns, where a step of a score is `unit` scales of the noise."""
        best = max(scores)
        gaps = [best - score for score in scores]
        match self:
            case Noise.EXPONENTIAL:
                different = sorted(set(gaps))
                places = {gap: place for place, gap in enumerate(different)}
                which = np.fromiter((places[gap] for gap in gaps), dtype=np.int64, count=len(gaps))
                exponents = [gap * unit for gap in different]
                return [coins.permute_and_flip(exponents, which) for _ in range(count)]
            case Noise.GUMBEL:
                return [int(column) for column in coins.exponential_choice([gap * unit for gap in gaps], count)]
            case Noise.LAPLACE:
                return list(_largest(scores, coins.discrete_laplace(1 / unit, count * len(scores)), coins))


def _largest(scores: Sequence[int], noise: Sequence[int], coins: Coins) -> Iterator[int]:
    """The column of the largest noisy score for each draw of noise, a uniform one of several."""
    for start in range(0, len(noise), len(scores)):
        noisy = [score + noise[start + column] for column, score in enumerate(scores)]
        best = max(noisy)
        tied = [column for column, score in enumerate(noisy) if score == best]
        yield tied[coins.integers(len(tied), 1)[0]]


def _noise(value: Declared[str]) -> Declared[Noise]:
    return declared(value, Noise.named, parameter="noise")


@final
@known_keywords
@frozen(kw_only=True, field_transformer=named)
class ReportNoisyMax:
    """The number of the column whose weighted votes, with noise, are the most.

    A record has a vote for each column, in order. The score of a column is the sum of its votes w·x, each of which is
    moved to the lattice, toward zero.

    Args:
        scale: β, of the noise, in units of the votes; above 0.
        noise: exponential (permute-and-flip), gumbel (the exponential mechanism) or laplace; by default exponential.
        granularity: spacing of the lattice; by default 1.
        signed: whether votes may be negative, which doubles the loss; by default a negative one counts as 0.

    Guarantees:
        PDP profile ε(W, x) = W·‖x‖_∞/scale under adding or removing one record, twice that where votes are signed.
        Given the noise of the others, column j is told where its own noise is at least some r, the largest other noisy
        score less s_j. Adding a record raises each score by d_i, 0 ≤ d_i ≤ w·‖x‖_∞, and so moves r by at most
        w·‖x‖_∞ either way, signed votes by up to twice that. The tail of exponential and discrete Laplace noise
        changes by at most the factor e^(m/β) over a length of m, for whole steps of the lattice in the discrete case
        (McKenna, Sheldon 2020, Theorem 1; Ding et al. 2021; Dwork, Roth 2014, Claim 3.9). One of several largest
        sums is told as the first in an order of columns drawn apart from the data would be: given that order, r is a
        step more where a column before j has the largest other sum. With Gumbel noise e^(s_j/β) and the sum of such
        terms change by factors between 1 and e^(w·‖x‖_∞/β), in one direction; for signed votes each by a factor of at
        most e^(w·‖x‖_∞/β) either way (McSherry, Talwar 2007, Theorem 6). The losses of all columns then lie in an
        interval of length ε, and compose accordingly (`bounded_range_pair`); those of other noise do not. Scores and
        draws are exact.

    Raises:
        InvalidValue: from `require`, for records without a column.
    """

    about: ClassVar[About] = About(
        name="report-noisy-max",
        version="1",
        contract=CONTRACT_VERSION,
        evidence=Evidence.PROVED,
        citation="McKenna, Sheldon 2020; Ding et al. 2021; McSherry, Talwar 2007; Dwork, Roth 2014, Section 3.3",
    )

    scale: Real = field(converter=positive, metadata={"help": "scale of the noise, in units of the votes"})
    noise: Declared[Noise] = field(
        default=Public(Noise.EXPONENTIAL), converter=_noise, metadata={"help": "exponential, gumbel or laplace"}
    )
    granularity: Real = field(
        default=Public(Fraction(1)), converter=granularity, metadata={"help": "spacing of the lattice of votes"}
    )
    signed: Declared[bool] = field(
        default=Public(False), converter=flag, metadata={"help": "whether votes may be negative"}
    )

    @property
    def loss(self) -> PureLoss | FamilyLoss:
        """ε(W, x) = W·‖x‖_∞/scale, or twice that; with Gumbel noise of losses in such an interval."""
        return self.noise.value.loss(W * norm("inf") * ((1 + self.signed.value) / self.scale.value))

    def require(self, sample: WeightedSample) -> None:
        """Refuse samples without columns, and those whose sums leave the range of binary64."""
        require_columns(sample)

    def totals(self, sample: WeightedSample) -> list[int]:
        """The scores, in steps of the lattice: they add up over parts of a sample."""
        return vote_sums(sample, self.granularity.value, signed=self.signed.value)

    def noisy(self, totals: Sequence[int], count: int, coins: Coins) -> Release:
        """Independent choices from exact scores: a matrix with one row per release."""
        chosen = self.noise.value.chosen(totals, self.granularity.value / self.scale.value, count, coins)
        return np.asarray(chosen, dtype=np.float64).reshape(count, 1)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The number of one column, counted from 0: a vector of one entry."""
        return self.release_many(sample, 1, coins).reshape(-1)

    def release_many(self, sample: WeightedSample, count: int, coins: Coins) -> Release:
        """Independent choices on one sample: a matrix with one row per release."""
        return self.noisy(self.totals(sample), count, coins)
