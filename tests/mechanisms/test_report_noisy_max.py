"""The column with the most votes: its scores, the laws of its choices by other definitions, what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chisquare

from certdp import Coins, Delta, Full, InvalidType, InvalidValue, Norm, NormBall, Public, ResampleEach, SampledRun
from certdp.pairs import PureLoss
from certdp.plugins.contract import W, WeightedSample, norm
from certdp.selection import Noise, ReportNoisyMax

NOISES = [noise.value for noise in Noise]
TIMES = 6000
VOTE = NormBall(norm=Norm.LINF, radius=Public(1))


def choice(**options: Any) -> ReportNoisyMax:
    given: dict[str, Any] = {"scale": 2, **options}
    return ReportNoisyMax(**{name: Public(value) for name, value in given.items()})


def sample(votes: list[list[float]], weights: list[float] | None = None) -> WeightedSample:
    return WeightedSample(np.array(votes), np.ones(len(votes)) if weights is None else np.array(weights))


def in_random_order(scores: list[float], scale: float) -> list[float]:
    """Permute-and-flip, over every order of the columns."""
    found = [0.0] * len(scores)
    for order in permutations(range(len(scores))):
        left = 1 / math.factorial(len(scores))
        for column in order:
            taken = math.exp((scores[column] - max(scores)) / scale)
            found[column] += left * taken
            left *= 1 - taken
    return found


def by_density(scores: list[float], density: Any, below: Any) -> list[float]:
    """The chance that each score with noise is the largest, integrated over that noise."""

    def integrand(noise: float, own: int) -> float:
        others = (below(scores[own] + noise - s) for column, s in enumerate(scores) if column != own)
        return float(density(noise) * math.prod(others))

    return [quad(integrand, -60, 60, args=(own,), points=[0, 5], limit=500)[0] for own in range(len(scores))]


def discrete(scores: list[float], scale: float) -> list[float]:
    """The largest score with discrete Laplace noise, over noise of up to 40 steps in each of three columns."""
    steps = np.arange(-40, 41)
    chances = np.exp(-np.abs(steps) / scale)
    chances /= chances.sum()
    noisy = np.stack(np.meshgrid(*(steps + score for score in scores), indexing="ij"))
    weights = np.einsum("i,j,k->ijk", chances, chances, chances)
    best = noisy == noisy.max(axis=0)
    return [float((weights * one / best.sum(axis=0)).sum()) for one in best]


def laws(scores: list[float], scale: float) -> dict[str, list[float]]:
    return {
        "exponential": in_random_order(scores, scale),
        "gumbel": [math.exp(score / scale) / sum(math.exp(s / scale) for s in scores) for score in scores],
        "laplace": discrete(scores, scale),
    }


@pytest.mark.parametrize("noise", NOISES)
def test_choices_follow_the_law_of_the_noise(noise: str, stream: int) -> None:
    """Two columns with equal scores are equally likely."""
    scores = [3.0, 2.0, 3.0]
    drawn = choice(noise=noise).release_many(sample([scores]), TIMES, Coins.seeded(stream)).astype(int)
    law = np.array(laws(scores, 2)[noise])
    assert drawn.shape == (TIMES, 1)
    assert chisquare(np.bincount(drawn[:, 0], minlength=3), law / law.sum() * TIMES).pvalue > 1e-9


def test_the_names_of_the_noise_are_what_is_added() -> None:
    """Permute-and-flip is the largest with exponential noise, the exponential mechanism that with Gumbel noise."""
    scores = [3.0, 2.0, 0.5]
    exponential = by_density(
        scores, lambda t: math.exp(-t / 2) / 2 * (t >= 0), lambda t: 1 - math.exp(-t / 2) if t > 0 else 0.0
    )
    gumbel = by_density(
        scores, lambda t: math.exp(-t / 2 - math.exp(-t / 2)) / 2, lambda t: math.exp(-math.exp(-t / 2))
    )
    assert exponential == pytest.approx(laws(scores, 2)["exponential"], abs=1e-6)
    assert gumbel == pytest.approx(laws(scores, 2)["gumbel"], abs=1e-6)


def test_scores_are_weighted_votes_on_the_lattice() -> None:
    votes = sample([[1.75, -0.5, 3.0], [0.3, 2.0, -4.0]], [2.0, 1.0])
    assert choice(granularity="1/2").totals(votes) == [7, 4, 12]
    assert choice(granularity="1/2", signed=True).totals(votes) == [7, 2, 4]
    assert choice().totals(votes) == [3, 2, 6]


@pytest.mark.parametrize("noise", NOISES)
def test_the_loss_is_that_of_the_largest_vote(noise: str) -> None:
    assert choice(scale="5/2", noise=noise).loss.pure == PureLoss(W * norm("inf") * Fraction(2, 5))
    assert choice(scale="5/2", noise=noise, signed="true").loss.pure == PureLoss(W * norm("inf") * Fraction(4, 5))


@pytest.mark.slow
def test_many_exponential_mechanisms_lose_less_than_many_of_that_pure_loss() -> None:
    """ε = 1/10 a hundred times at δ = 10^-6: Dong, Durfee, Rogers 2020 against optimal composition."""
    found = {}
    for noise in NOISES:
        mechanism = choice(noise=noise, scale=10)
        run = SampledRun(mechanism=mechanism, sampler=Full(), domain=VOTE, releases=ResampleEach(100))
        found[noise] = run.epsilon(Delta("1e-6")).epsilon.upper
    assert found["gumbel"] < 2.7
    assert found["exponential"] == found["laplace"] > 4.7


@pytest.mark.parametrize("noise", NOISES)
def test_scores_far_apart_leave_no_doubt(noise: str) -> None:
    """Beyond 64 bits, too, and with one column, or none beside the best."""
    coins = Coins.seeded(1)
    large = sample([[0.0, 2.0**60, 1.0]] * 3, [2.0**40] * 3)
    assert choice(noise=noise).release(large, coins).tolist() == [1]
    assert choice(noise=noise).release(sample([[-3.0]]), coins).tolist() == [0]
    assert choice(noise=noise, signed=True).release(sample([[-900.0, -20.0]]), coins).tolist() == [1]


def test_no_records_have_no_votes(stream: int) -> None:
    """Every column is then equally likely."""
    nobody = WeightedSample(np.empty((0, 3)), np.empty(0))
    for noise in NOISES:
        drawn = choice(noise=noise).release_many(nobody, 900, Coins.seeded(stream)).astype(int)
        assert chisquare(np.bincount(drawn[:, 0], minlength=3)).pvalue > 1e-9


def test_what_is_no_noise_is_refused() -> None:
    with pytest.raises(InvalidValue, match="noise: got gaussian; admissible: exponential or gumbel or laplace"):
        choice(noise="gaussian")
    with pytest.raises(InvalidType, match="noise"):
        choice(noise=3)
    with pytest.raises(InvalidType, match="signed"):
        choice(signed="maybe")
    with pytest.raises(InvalidValue, match="records: got no column"):
        choice().require(WeightedSample(np.empty((2, 0)), np.ones(2)))
