"""Permute-and-flip: the column with the most votes, or one that has nearly as many.

Legend: s_j is the score of column j, s* the largest of them, β the scale, w and x weight and votes of a record.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
from attrs import field, frozen

from certdp.mechanisms.lattice import granularity, lattice_sum
from certdp.plugins.contract import (
    About,
    Coins,
    Evidence,
    InvalidValue,
    Public,
    PureLoss,
    Real,
    Release,
    W,
    WeightedSample,
    named,
    norm,
    positive,
)


@final
@frozen(kw_only=True, field_transformer=named)
class PermuteAndFlip:
    """The number of a column, drawn so that columns with more votes are likelier.

    A record gives each column a vote: its entry there, or 0 where the entry is negative. The score of a column is the
    sum of its weighted votes. Columns are looked at in random order, and column j is told with probability
    e^−(s* − s_j)/β; otherwise the next one is looked at. A column with the largest score is always told when met.

    Args:
        scale: β, in units of the votes; above 0.
        granularity: spacing of the lattice that each weighted vote is moved to, toward zero; by default 1.

    Guarantees:
        PDP profile ε(W, x) = W·‖x‖_∞ / scale under adding or removing one record. The law is that of the largest
        s_j + e_j with independent exponential e_j of scale β (Ding et al. 2021). Given the noise of the others, column
        j is told where e_j ≥ r = max_i≠j (s_i + e_i) − s_j, with probability min(1, e^−r/β). Adding a record raises
        each score by d_i with 0 ≤ d_i ≤ w·‖x‖_∞, so it moves r by at most w·‖x‖_∞ either way. Votes of both signs
        would move it by up to twice that, hence the cut at 0. Scores and draws are exact: no real-valued noise is
        assumed.

    Raises:
        InvalidValue: from `release`, for records without a column.
    """

    about: ClassVar[About] = About(
        name="permute-and-flip",
        version="1",
        contract=1,
        evidence=Evidence.PROVED,
        citation="McKenna, Sheldon 2020; Ding et al. 2021",
    )

    scale: Real = field(converter=positive, metadata={"help": "scale β, in units of the votes, above 0"})
    granularity: Real = field(
        default=Public(Fraction(1)), converter=granularity, metadata={"help": "spacing of the lattice of votes"}
    )

    @property
    def loss(self) -> PureLoss:
        """ε(W, x) = W·‖x‖_∞ / scale."""
        return PureLoss(W * norm("inf") / self.scale.value)

    def release(self, sample: WeightedSample, coins: Coins) -> Release:
        """The number of a column, counted from 0, as the one entry of a vector."""
        spacing = self.granularity.value
        votes = WeightedSample(np.maximum(sample.records, 0.0), sample.weights)
        scores = lattice_sum(votes, spacing)
        if not scores:
            raise InvalidValue("records", "no columns", "at least one column", "Give each record a vote for something")
        best, unit = max(scores), spacing / self.scale.value
        told = next(
            column
            for column in _shuffled(len(scores), coins)
            if coins.bernoulli_exp((best - scores[column]) * unit, 1)[0]
        )
        return np.asarray([told], dtype=np.float64)


def _shuffled(count: int, coins: Coins) -> Iterator[int]:
    """The numbers below `count` in an order drawn uniformly, one after the other."""
    left = list(range(count))
    while left:
        yield left.pop(coins.integers(len(left), 1)[0])
