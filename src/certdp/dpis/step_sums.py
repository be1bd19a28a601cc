"""The sum of one step: what records are drawn and what each adds, in DPIS and in DP-SGD, and the noise of both.

Why bounds that a record's own coins have moved leak nothing: what an observer has seen of a run fixes the parameters,
hence the vector that a record adds to the next sum. Whether it was proposed before, and so what ĝ is now, the observer
can only guess; given all that was seen, the record is in the next sum with the mean, over what ĝ may be, of
probabilities that are each at most b·C/K̃. So each step is a sampled Gaussian of at most that rate, given the past.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Protocol, final

import numpy as np
from attrs import define, field, frozen

from ..accounting.bulk.record_rows import Integers
from ..accounting.errors import InvalidValue
from ..plugins.contract import Coins
from .gradients import Evaluation, RecordGradients
from .run_account import EpochNoise
from .sampling import FloatArray, TwoStage, Uniform


@final
@frozen(kw_only=True)
class StepFigures:
    """What one step did: for the data's owner, not for publication.

    Attributes:
        proposed: how many records were drawn in stage one; in DP-SGD, drawn.
        accepted: how many of them stayed; in DP-SGD all.
        expected_proposed: the expected number of the first.
        expected_accepted: that of the second, given the first.
        dropped: how many of those drawn in stage one had a norm that is NaN or infinite, be it by overflow of squares
            (`sampling`). Records that no step draws are not among them.
        loss: an estimate of the mean loss of all records, from those evaluated by the inverse of their probabilities;
            NaN where there are none.
        stale_bias: an estimate of the share of Σ min(n, C) that is lost where norms n have outgrown ĝ (erratum
            DPIS-stale); 0 in DP-SGD, NaN where it is unknown.
    """

    proposed: int
    accepted: int
    expected_proposed: float
    expected_accepted: float
    dropped: int
    loss: float
    stale_bias: float


@final
@frozen(eq=False)
class StepSum:
    """A sum before its noise, and what it was made of. Private.

    Attributes:
        total: the sum of what the accepted records add, in units of the step's grid.
        figures: about them.
    """

    total: Integers
    figures: StepFigures


class Sampling(Protocol):
    """How the records of a step are drawn, within one epoch."""

    bounds: FloatArray
    """What is remembered of each record between steps; empty where nothing is."""

    def begin(self, norms: FloatArray, clip: Fraction) -> None:
        """Begin an epoch, knowing the norms of all records; empty in a run that sums no norms."""
        ...

    def sum(self, records: RecordGradients, noise: EpochNoise, coins: Coins) -> StepSum:
        """Draw, and add up.

        Guarantees:
            A record is in the sum with probability at most b·C/K̃, given all earlier sums, and adds a vector of length
            at most K̃/Ñ, within the assumptions of `sampling` and `gradients`.
        """
        ...


def _no_bounds() -> FloatArray:
    return np.empty(0)


@final
@define(eq=False)
class _SecondStage:
    """Stage two as a weighting: coins decide by its norm whether a record is added, and at which length.

    A model may ask in parts. Each record has one coin: with two it would enter at more than its rate. A model that asks
    in another order pairs norms with the ĝ of others, which biases the sum; no rate rises above that of stage one.

    Attributes:
        two_stage: the sampler.
        noise: of the epoch.
        bounds: ĝ of the records of stage one.
        coins: of the step.
        asked: how many records have had their coin.
        accepted: how many of them stayed.
        expected: the expected number of these.
    """

    two_stage: TwoStage
    noise: EpochNoise
    bounds: FloatArray
    coins: Coins
    asked: int = 0
    accepted: int = 0
    expected: float = 0.0

    def __call__(self, norms: FloatArray) -> FloatArray:
        """Return weights that bring the gradients accepted to the length K̃/Ñ, and 0 for the others."""
        bounds = self.bounds[self.asked : self.asked + len(norms)]
        self.asked += len(norms)
        if len(bounds) != len(norms):
            raise self._incomplete()
        drawn = self.two_stage.accept(norms, bounds, coins=self.coins)
        self.accepted += len(drawn.indices)
        self.expected += drawn.expected.reveal()
        weights = np.zeros(len(norms))
        weights[drawn.indices] = self.two_stage.weights(norms[drawn.indices], self.noise.length)
        return weights

    def require_complete(self) -> None:
        """Raises InvalidValue where the model left out a record: it would not be known whether it was added."""
        if self.asked != len(self.bounds):
            raise self._incomplete()

    def _incomplete(self) -> InvalidValue:
        found = f"a weighted_sum of {len(self.bounds)} records that asks for {self.asked} weights"
        return InvalidValue("records", found, "one weight for each record, in their order", "Mend weighted_sum")


@final
@define(eq=False)
class ImportanceSampling:
    """DPIS: two stages, the bounds ĝ renewed from the norms of whatever was proposed.

    Attributes:
        two_stage: the sampler.
        bounds: ĝ of every record.
    """

    two_stage: TwoStage
    bounds: FloatArray = field(factory=_no_bounds)

    def begin(self, norms: FloatArray, clip: Fraction) -> None:
        """ĝ from the norms at the beginning of the epoch."""
        self.bounds = self.two_stage.bounds(norms, clip)

    def sum(self, records: RecordGradients, noise: EpochNoise, coins: Coins) -> StepSum:
        """Propose, evaluate, accept, add vectors of length K̃/Ñ: one pass, in which norms decide who is added."""
        two = self.two_stage
        first = two.propose(self.bounds, norm_sum=noise.norm_sum, batch=noise.batch, coins=coins)
        bounds, rates = self.bounds[first.indices], first.rates[first.indices]
        second = _SecondStage(two, noise, bounds, coins)
        total, found = records.weighted_sum(first.indices, second, float(noise.unit))
        second.require_complete()
        self.bounds[first.indices] = two.bounds(found.norms, noise.clip)
        figures = StepFigures(
            proposed=len(first.indices),
            accepted=second.accepted,
            expected_proposed=first.expected.reveal(),
            expected_accepted=second.expected,
            dropped=_dropped(found),
            loss=_mean_loss(found.losses, rates),
            stale_bias=_stale_bias(found.norms, bounds, rates, float(noise.clip)),
        )
        return StepSum(total, figures)


@final
@define(eq=False)
class UniformSampling:
    """DP-SGD: every record with probability b/Ñ, gradients clipped to C.

    Attributes:
        uniform: the sampler.
        bounds: empty.
    """

    uniform: Uniform
    bounds: FloatArray = field(factory=_no_bounds)

    def begin(self, norms: FloatArray, clip: Fraction) -> None:
        """Begin an epoch; uniform sampling needs nothing from the norms."""

    def sum(self, records: RecordGradients, noise: EpochNoise, coins: Coins) -> StepSum:
        """Draw a sample, clip its gradients, and add them up with noise."""
        drawn = self.uniform.draw(records.size, rate=noise.rate, coins=coins)
        weighting = partial(self.uniform.weights, clip=noise.clip)
        total, found = records.weighted_sum(drawn.indices, weighting, float(noise.unit))
        figures = StepFigures(
            proposed=len(drawn.indices),
            accepted=len(drawn.indices),
            expected_proposed=drawn.expected.reveal(),
            expected_accepted=float(len(drawn.indices)),
            dropped=_dropped(found),
            loss=_mean_loss(found.losses, drawn.rates[drawn.indices]),
            stale_bias=0.0,
        )
        return StepSum(total, figures)


def noisy_sum(
    sampling: Sampling, records: RecordGradients, noise: EpochNoise, coins: Coins
) -> tuple[FloatArray, StepFigures]:
    """The sum of one step with its noise N(0, σ_G²C²·I), which may be released once it is paid; and private figures.

    The sum is of whole units of a public grid and the noise is correctly rounded to it, so that what is released is
    the real-valued noisy sum, rounded: post-processing, as it is that sums are exact modulo 2^64 alone.
    """
    drawn = sampling.sum(records, noise, coins)
    cells = drawn.total + coins.gaussian_cells(noise.scale / noise.unit, records.dimension)
    return np.asarray(cells * float(noise.unit), dtype=np.float64), drawn.figures


def _dropped(found: Evaluation) -> int:
    return int(np.count_nonzero(~np.isfinite(found.norms)))


def _mean_loss(losses: FloatArray, rates: FloatArray) -> float:
    usable = np.isfinite(losses)
    return float(np.average(losses[usable], weights=1 / rates[usable])) if usable.any() else float("nan")


def _stale_bias(norms: FloatArray, bounds: FloatArray, rates: FloatArray, clip: float) -> float:
    """Σ (min(n, C) − min(n, ĝ)) over Σ min(n, C), each sum over all records estimated by inverse probabilities."""
    usable = np.isfinite(norms)
    norms, bounds, rates = norms[usable], bounds[usable], rates[usable]
    clipped = np.minimum(norms, clip)
    whole = float(np.sum(clipped / rates))
    return float(np.sum((clipped - np.minimum(clipped, bounds)) / rates)) / whole if whole > 0 else float("nan")
