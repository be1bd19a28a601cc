"""Audits of what training releases, on data made to be told apart: the claims hold, the printed ones are refuted.

Every audit compares the data with those without one record, by independent runs of one release. Runs lie side by side:
record (i, r) has its gradient in coordinate r alone, so one sum of the engine is one run in every coordinate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import cast

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from certdp import Delta, Epsilon
from certdp.accounting.bulk.record_rows import Integers
from certdp.accounting.derivation import Assumption
from certdp.accounting.dpis.steps import Step
from certdp.accounting.provenance import Private
from certdp.dpis.gradients import Evaluation, Identity, Weighting
from certdp.dpis.norm_sums import noisy_norm_sum
from certdp.dpis.run_account import EpochNoise
from certdp.dpis.sampling import FloatArray, IntArray, TwoStage, Uniform
from certdp.dpis.step_sums import ImportanceSampling, Sampling, UniformSampling, noisy_sum
from certdp.plugins.contract import Coins
from certdp.verification.audit import Audit, Releases, audit

DELTA = Delta("0.01")
RUNS = 200_000
BATCH, SIZE, MULTIPLIER = 2, 4, 5
LEAST, MOST = Fraction("2.02"), Fraction(SIZE)  # K̃/C at its bounds


class SideBySide:
    """Many runs on the same records: of run r, record i has the gradient `gradients[i]` in coordinate r."""

    error = Fraction(1, 2**40)
    assumptions: tuple[Assumption, ...] = ()
    size: int

    def __init__(self, gradients: list[float], runs: int) -> None:
        self.gradients = np.tile(np.array(gradients), runs)
        self.run = np.repeat(np.arange(runs), len(gradients))
        self.size, self.dimension = len(self.gradients), runs

    def released(self) -> dict[str, FloatArray]:
        return {}

    def identity(self) -> Identity:
        return Identity(model="side by side", optimiser="none", data=Private(str(self.gradients)))

    def evaluate(self, indices: IntArray) -> Evaluation:
        return Evaluation(np.abs(self.gradients[indices]), np.full(len(indices), np.nan))

    def weighted_sum(self, indices: IntArray, weighting: Weighting, unit: float) -> tuple[Integers, Evaluation]:
        found = self.evaluate(indices)
        added = np.trunc(weighting(found.norms) * self.gradients[indices] / unit)  # few of them: binary64 adds exactly
        return np.bincount(self.run[indices], added, self.dimension).astype(np.int64), found

    def step(self, gradient: FloatArray) -> None:
        raise AssertionError

    def state(self) -> dict[str, FloatArray]:
        return {}

    def restore(self, state: Mapping[str, FloatArray]) -> None:
        raise AssertionError


def noise_of(norm_sum: Fraction, multiplier: str = "0.5") -> EpochNoise:
    """An epoch with C = 1."""
    return EpochNoise(
        number=0,
        noise_multiplier=Fraction(multiplier),
        clip=Fraction(1),
        norm_sum=norm_sum,
        batch=Fraction(BATCH),
        size=Fraction(SIZE),
    )


def claimed(rate: float, shift: float, delta: float = float(DELTA.value)) -> Epsilon:
    """The ε at δ of the sampled Gaussian in both directions, by its best events, in floats and rounded up."""

    def least(epsilon: float) -> float:
        found = 0.0
        if math.exp(epsilon) > 1 - rate:  # remove: the mixture is likelier above x
            x = math.log((math.exp(epsilon) - 1 + rate) / rate) / shift + shift / 2
            found = (1 - rate) * norm.sf(x) + rate * norm.sf(x - shift) - math.exp(epsilon) * norm.sf(x)
        if math.exp(-epsilon) > 1 - rate:  # add: the mixture is rarer below x
            x = math.log((math.exp(-epsilon) - 1 + rate) / rate) / shift + shift / 2
            mixed = (1 - rate) * norm.cdf(x) + rate * norm.cdf(x - shift)
            found = max(found, norm.cdf(x) - math.exp(epsilon) * mixed)
        return float(found) - delta

    return Epsilon(0) if least(0.0) <= 0 else Epsilon(cast("float", brentq(least, 0.0, 60.0)) + 1e-9)


def of_step(step: Step) -> Epsilon:
    """What the account claims of a step, at δ."""
    return claimed(float(step.rate), float(step.shift))


def releases(
    sampling: Callable[[], Sampling], stale: list[float], gradients: list[float], noise: EpochNoise, seed: int
) -> Releases:
    """Sums of the engine on records with these stale norms and gradients."""
    coins = Coins.seeded(seed)

    def drawn(count: int) -> FloatArray:
        drawing, records = sampling(), SideBySide(gradients, count)
        drawing.begin(np.tile(np.array(stale), count), noise.clip)
        return noisy_sum(drawing, records, noise, coins)[0]

    return drawn


def importance() -> Sampling:
    return ImportanceSampling(TwoStage(multiplier=MULTIPLIER, floor="0.01", error=SideBySide.error))


def uniform() -> Sampling:
    return UniformSampling(Uniform(error=SideBySide.error))


def audited(sampling: Callable[[], Sampling], stale: float, gradient: float, noise: EpochNoise, seed: int) -> Audit:
    """With the record and without it, beside two others that pull both ways."""
    others, bounds = [0.3, -0.6], [0.3, 0.05]
    return audit(
        releases(sampling, [*bounds, stale], [*others, gradient], noise, 2 * seed),
        releases(sampling, bounds, others, noise, 2 * seed + 1),
        delta=DELTA,
        runs=RUNS,
    )


@pytest.mark.parametrize(
    ("norm_sum", "stale", "gradient"),
    [
        (LEAST, 0.99, 1.0),  # saturated as printed: bĝ/K̃ would be 4.9
        (LEAST, 1e9, 1e9),
        (LEAST, 0.01, 1e9),  # a stale norm, and a gradient that has outgrown it
        (LEAST, 0.99, 0.02),  # a small gradient adds a vector of the same length, seldom
        (MOST, 0.99, -1.0),
    ],
)
def test_sums_of_dpis_keep_their_claim(norm_sum: Fraction, stale: float, gradient: float, stream: int) -> None:
    noise = noise_of(norm_sum)
    found = audited(importance, stale, gradient, noise, seed=10 + stream)
    assert not found.refutes(of_step(noise.step))


def test_the_worst_record_of_dpis_is_nearly_as_bad_as_claimed() -> None:
    """So the audits above could have failed: with no others about, 85 % of the claim is refuted."""
    noise = noise_of(LEAST)
    with_it, without = (releases(importance, [2.0] * n, [3.0] * n, noise, seed=3 + n) for n in (1, 0))
    found = audit(with_it, without, delta=DELTA, runs=RUNS)
    claim = of_step(noise.step)
    assert not found.refutes(claim)
    assert found.refutes(Epsilon(claim.value * Fraction(85, 100)))


def test_sums_of_dp_sgd_keep_their_claim(stream: int) -> None:
    noise = noise_of(MOST)
    assert not audited(uniform, 0.0, 1e9, noise, seed=30 + stream).refutes(of_step(noise.step))


def as_printed(stale: float, gradient: float, noise: EpochNoise, seed: int, *, present: bool) -> Releases:
    """Algorithm 1 as printed: q = min(1, b·k·max(stale, g_L)/K̃), p = min(1, n/ĝ), (b/Ñ)·g/(q·p) added; one record."""
    coins = Coins.seeded(seed)
    bound = MULTIPLIER * max(stale, 0.01)
    first, second = min(1.0, BATCH * bound / float(noise.norm_sum)), min(1.0, abs(gradient) / bound)

    def drawn(count: int) -> FloatArray:
        accepted = coins.bernoulli(np.full(count, first)) & coins.bernoulli(np.full(count, second))
        added = accepted * (BATCH / SIZE * gradient / (first * second)) if present else np.zeros(count)
        return added + coins.gaussian(noise.scale, count)

    return drawn


@pytest.mark.parametrize(
    ("stale", "gradient"),
    [
        (0.99, 1.0),  # erratum DPIS-saturation: q stops at 1, and the weight grows instead
        (0.1, 1.0),  # erratum DPIS-stale: n > ĝ, so that q·p is half of b·n/K̃, and the vector twice as long
    ],
)
def test_sums_as_printed_are_refuted(stale: float, gradient: float) -> None:
    noise = noise_of(LEAST)
    with_it, without = (as_printed(stale, gradient, noise, 50 + n, present=n == 1) for n in (1, 0))
    assert audit(with_it, without, delta=DELTA, runs=RUNS).refutes(of_step(noise.step))


RATE, SCALE = Fraction(1, 4), Fraction(2)  # p_K and σ_K, for C = 1


def norm_sums(norms: list[float], seed: int) -> Releases:
    coins, held = Coins.seeded(seed), np.array(norms)

    def drawn(count: int) -> FloatArray:
        return np.array(
            [noisy_norm_sum(held, bound=Fraction(1), rate=RATE, scale=SCALE, coins=coins) for _ in range(count)]
        )

    return drawn


@pytest.mark.slow
def test_norm_sums_keep_the_corrected_claim_and_refute_equation_19() -> None:
    """Equation 19 takes σ_K for the noise multiplier, though a record moves the sum by C/p_K: here it claims ε = 0."""
    delta = 0.05
    found = audit(norm_sums([7.0, 0.2], 71), norm_sums([0.2], 72), delta=Delta("0.05"), runs=8_000)
    printed, corrected = (claimed(float(RATE), 1 / float(multiplier), delta) for multiplier in (SCALE, SCALE * RATE))
    assert printed.value == 0 < corrected.value
    assert found.refutes(printed)
    assert not found.refutes(corrected)
