"""Calibration: the safe end, proven, against closed forms and exhaustive search."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import (
    Count,
    Delta,
    DiscreteGaussian,
    Epsilon,
    Full,
    GaussianSum,
    InvalidValue,
    LaplaceSum,
    Norm,
    NormBall,
    Poisson,
    Public,
    RandomisedResponse,
    ResampleEach,
    SampledRun,
    SampleOnce,
)
from certdp.runs.calibration import Budget, Continuous, Whole, calibrate
from tests.support.cases import examples

SPHERE = NormBall(norm=Norm.L2, radius=Public(1))
CUBE = NormBall(norm=Norm.L1, radius=Public(1))


def test_the_best_value_is_promised_where_the_loss_is_monotone_alone() -> None:
    """Of discrete Gaussian noise a scale far below the gap keeps the budget, though the next one is refuted."""
    line = NormBall(norm=Norm.L2, radius=Public(1), dimension=1)

    def noisy(scale: Fraction) -> SampledRun:
        noise = DiscreteGaussian(scale=Public(scale), dimension=Public(1))
        return SampledRun(mechanism=noise, sampler=Full(), domain=line)

    asked = budget("2", "0.115")
    found = calibrate(noisy, asked, Continuous(near=0.7))
    assert found.refuted
    assert found.gap < 2**-19
    below = noisy(Fraction(1, 2))
    assert below.delta(asked.epsilon).delta.upper <= asked.delta.value
    assert found.value > Fraction(6, 10)
    assert "monotone" in str(type(found).gap.__doc__)
    assert "monotone" in str(calibrate.__doc__)


def budget(epsilon: str, delta: str = "0") -> Budget:
    return Budget(epsilon=Epsilon(epsilon), delta=Delta(delta))


def laplace(scale: Fraction) -> SampledRun:
    return SampledRun(mechanism=LaplaceSum(scale=Public(scale)), sampler=Full(), domain=CUBE)


def gaussian(scale: Fraction) -> SampledRun:
    return SampledRun(mechanism=GaussianSum(scale=Public(scale)), sampler=Full(), domain=SPHERE)


def counts(steps: Fraction) -> SampledRun:
    return SampledRun(mechanism=Count(scale=Public(10)), sampler=Full(), releases=ResampleEach(int(steps)))


@examples(15)
@given(epsilon=st.fractions(Fraction(1, 100), 20, max_denominator=1000))
def test_the_scale_of_laplace_noise_is_the_inverse_of_epsilon(epsilon: Fraction) -> None:
    found = calibrate(laplace, Budget(epsilon=Epsilon(epsilon), delta=Delta(0)), Continuous())
    assert 1 / epsilon <= found.value <= 1 / epsilon * (1 + Fraction(1, 2**20))
    assert found.refused is not None
    assert found.refused < 1 / epsilon
    assert found.refuted or 1 - found.refused * epsilon < Fraction(1, 2**50)  # nearer than a bound in binary64 tells
    assert found.gap <= 2.0**-20


@examples(15)
@given(sigma=st.floats(0.3, 30.0), epsilon=st.floats(0.01, 5.0))
def test_the_scale_of_gaussian_noise_against_its_closed_form(sigma: float, epsilon: float) -> None:
    import mpmath

    with mpmath.workprec(200):
        mu = 1 / mpmath.mpf(sigma)
        first = mpmath.ncdf(mu / 2 - epsilon / mu)
        delta = first - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
    wanted = Budget(epsilon=Epsilon(epsilon), delta=Delta(float(delta)))
    if not float(delta) > 1e-300:
        return
    found = calibrate(gaussian, wanted, Continuous(relative_gap=2.0**-30))
    assert abs(float(found.value) / sigma - 1) <= 2.0**-28
    assert found.refuted or abs(float(found.refused or 0) / sigma - 1) < 2.0**-40  # nearer than binary64 tells
    assert found.answer.delta.upper <= float(delta)


@examples(15)
@given(epsilon=st.fractions(Fraction(1, 5), 50, max_denominator=100))
def test_steps_are_the_most_that_the_budget_allows(epsilon: Fraction) -> None:
    found = calibrate(counts, Budget(epsilon=Epsilon(epsilon), delta=Delta(0)), Whole())
    most = math.floor(epsilon * 10)
    on_the_edge = epsilon * 10 == most  # where only an exact comparison would decide
    assert most - on_the_edge <= found.value <= most
    assert found.refused == found.value + 1
    assert found.refuted or (on_the_edge and found.refused == most)


@pytest.mark.parametrize("resample", [SampleOnce, ResampleEach])
def test_a_rate_ends_at_its_own_limit(resample: type[SampleOnce] | type[ResampleEach]) -> None:
    def run(rate: Fraction) -> SampledRun:
        return SampledRun(mechanism=Count(scale=Public(1)), sampler=Poisson(rate=Public(rate)), releases=resample(2))

    over = Continuous(near=0.01, highest=1.0, more_is_safer=False)
    found = calibrate(run, budget("2"), over)
    assert found.value == 1
    assert found.refused is None
    assert found.gap == 0.0
    found = calibrate(run, budget("1"), over)
    assert found.value < 1
    exact = math.expm1(1) / math.expm1(2) if resample is SampleOnce else math.expm1(0.5) / math.expm1(1)
    assert float(found.value) == pytest.approx(exact, rel=2.0**-19)


def test_what_is_infeasible_says_what_is_not() -> None:
    with pytest.raises(InvalidValue, match=r"budget: got 0\.01-DP; .*the safest value, 1, keeps: it is 0\.1-DP"):
        calibrate(counts, budget("0.01"), Whole())


def test_no_pure_loss_is_no_feasible_value() -> None:
    with pytest.raises(InvalidValue, match="no finite bound follows"):
        calibrate(gaussian, budget("1"), Continuous(highest=16.0))


def test_a_loss_that_does_not_reach_the_budget_ends_the_search() -> None:
    def run(scale: Fraction) -> SampledRun:
        return laplace(scale)

    found = calibrate(run, budget("1"), Continuous(lowest=4.0, near=4.0))
    assert found.value == 4
    assert found.refused is None
    assert not found.refuted


@pytest.mark.slow
def test_the_start_does_not_matter() -> None:
    wanted = budget("1", "1e-6")
    values = {
        round(float(calibrate(gaussian, wanted, Continuous(near=near, relative_gap=2.0**-30)).value), 6)
        for near in (2.0**-60, 0.1, 4.0, 2.0**60)
    }
    assert len(values) == 1


@pytest.mark.parametrize(
    "options",
    [{"near": 0.0}, {"near": math.nan}, {"highest": math.inf}, {"relative_gap": 2.0}, {"near": 3.0, "highest": 2.0}],
)
def test_inadmissible_scales_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidValue):
        Continuous(**options)  # type: ignore[arg-type]


def test_randomised_response_by_its_loss() -> None:
    def run(epsilon: Fraction) -> SampledRun:
        return SampledRun(mechanism=RandomisedResponse(categories=Public(2), epsilon=Public(epsilon)), sampler=Full())

    found = calibrate(run, budget("3/2"), Continuous(more_is_safer=False))
    assert Fraction(3, 2) * (1 - Fraction(1, 2**20)) <= found.value <= Fraction(3, 2)
