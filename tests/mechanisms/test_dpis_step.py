"""The plugins `dpis` and `dpis-step`: together the numbers of `Step`, per record and at the worst."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from typer.testing import CliRunner

from certdp import Epsilon, Norm, NormBall, Order, ResampleEach, SampledRun
from certdp.accounting.dpis.steps import Step
from certdp.accounting.errors import InvalidValue
from certdp.accounting.expressions import W, evaluate, norm
from certdp.accounting.provenance import Public
from certdp.commands.app import app
from certdp.mechanisms.dpis_step import DpisStep
from certdp.plugins.contract import Coins, WeightedSample
from certdp.samplers.dpis import Dpis
from certdp.samplers.poisson import Poisson
from tests.support.cases import examples

STEP = Step(batch=2, clip=1, noise_multiplier="1.1", size=100, norm_sum=20)


def sampler_of(step: Step) -> Dpis:
    return Dpis(batch=Public(step.batch), norm_sum=Public(step.norm_sum), clip=Public(step.clip))


def mechanism_of(step: Step, **more: Public[Any]) -> DpisStep:
    return DpisStep(
        noise_multiplier=Public(step.noise_multiplier),
        clip=Public(step.clip),
        size=Public(step.size),
        batch=Public(step.batch),
        **more,
    )


def run_of(step: Step, *, direct: bool, steps: int = 1) -> SampledRun:
    more = {"norm_sum": Public(step.norm_sum)} if direct else {}
    return SampledRun(
        mechanism=mechanism_of(step, **more),
        sampler=sampler_of(step),
        domain=NormBall(norm=Norm.L2, radius=Public(step.clip)),
        releases=ResampleEach(steps),
    )


def steps() -> st.SearchStrategy[Step]:
    def build(batch: int, more: int, clip: Fraction, noise: Fraction, share: Fraction) -> Step:
        size = batch + more
        norm_sum = (batch + share * more) * clip
        return Step(batch=batch, clip=clip, noise_multiplier=noise, size=size, norm_sum=norm_sum)

    return st.builds(
        build,
        st.integers(1, 50),
        st.integers(1, 5000),
        st.fractions(Fraction(1, 10), 10, max_denominator=10),
        st.fractions(Fraction(1, 2), 8, max_denominator=10),
        st.fractions(0, 1, max_denominator=50),
    )


@pytest.mark.slow
@examples(6)
@given(steps(), st.booleans(), st.sampled_from([Fraction(5, 2), Fraction(4)]))
def test_together_they_cost_what_a_step_costs(step: Step, direct: bool, order: Fraction) -> None:
    known = step.renyi(Order(order))
    found = run_of(step, direct=direct).renyi(Order(order)).bound.tau
    assert found.upper >= known.lower  # the probabilities drawn are rounded
    assert found.upper <= known.upper * (1 + Fraction(1, 2**30)) + Fraction(1, 10**12)


@examples(25)
@given(steps(), st.booleans(), st.fractions(0, 3, max_denominator=20))
def test_each_record_has_its_own_rate_and_the_common_shift(step: Step, direct: bool, share: Fraction) -> None:
    length = share * step.clip
    assume(length > 0)
    rate = sampler_of(step).rate.probability
    drawn = evaluate(rate, {norm(2): float(length)})
    assert float(drawn) == pytest.approx(float(step.record_rate(length)))
    mechanism = mechanism_of(step, **({"norm_sum": Public(step.norm_sum)} if direct else {}))
    shift = evaluate(mechanism.loss.shift, {W: 1 / float(drawn), norm(2): float(length)})
    assert float(shift) == pytest.approx(float(step.shift))


def test_the_delta_of_a_step_is_that_of_the_mixture_by_its_crossing_point() -> None:
    """δ(ε) = ∫ (M − e^ε·Q)₊, which is positive beyond the point where M = e^ε·Q."""
    answer = run_of(STEP, direct=True).delta(Epsilon("0.1"))
    rate, shift = float(STEP.rate), float(STEP.shift)
    left_over = np.expm1(0.1) + rate
    crossing = np.log(left_over / rate) / shift + shift / 2
    exact = rate * stats.norm.sf(crossing - shift) - left_over * stats.norm.sf(crossing)
    assert answer.delta.upper == pytest.approx(exact, rel=1e-9)


def test_with_weights_on_poisson_sampling_it_is_dp_sgd() -> None:
    mechanism = mechanism_of(STEP)
    uniform = Poisson(rate=Public(STEP.batch / STEP.size), weighted=Public(True))
    domain = NormBall(norm=Norm.L2, radius=Public(STEP.clip))
    found = SampledRun(mechanism=mechanism, sampler=uniform, domain=domain).renyi(Order(3)).bound.tau
    full = Step(batch=2, clip=1, noise_multiplier="1.1", size=100, norm_sum=100).renyi(Order(3))
    assert float(found.upper) == pytest.approx(full.upper_float, rel=1e-9)


@pytest.mark.parametrize("direct", [False, True])
def test_a_release_adds_vectors_of_one_length_over_the_batch(direct: bool) -> None:
    gradients = np.array([[0.3, 0.4], [30.0, -40.0], [0.0, 0.0]])
    drawn = np.array([0.05, 0.1, 1.0])
    mechanism = mechanism_of(STEP, **({"norm_sum": Public(STEP.norm_sum)} if direct else {}))
    sample = WeightedSample(records=gradients, weights=1 / drawn)
    noise = mechanism_of(STEP).release(WeightedSample(records=gradients[2:], weights=[1.0]), Coins.seeded(5))
    released = mechanism.release(sample, Coins.seeded(5)) - noise
    length = float(STEP.norm_sum / STEP.size)
    assert released * float(STEP.batch) == pytest.approx(length * (np.array([0.6, 0.8]) + np.array([0.6, -0.8])))


def test_a_norm_sum_below_the_batch_is_refused() -> None:
    with pytest.raises(InvalidValue, match="norm_sum"):
        Dpis(batch=Public(2), norm_sum=Public("1.99"), clip=Public(1))


OPTIONS = {
    "mechanism.batch": 2,
    "sampler.batch": 2,
    "mechanism.clip": 1,
    "sampler.clip": 1,
    "sampler.norm_sum": 20,
    "noise_multiplier": "1.1",
    "size": 100,
    "radius": 1,
}


def invoked(command: str, *more: object) -> Any:
    options = [part for key, value in OPTIONS.items() for part in ("--option", f"{key}={value}")]
    arguments = [command, "--mechanism", "dpis-step", "--sampler", "dpis", *options, *map(str, more), "--json"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.slow
def test_a_profile_in_the_gradient_norm_says_what_records_with_small_gradients_lose(tmp_path: Path) -> None:
    """τ at order 4 of gradients of length 0.1, ½, 5 and 0; the last two are clipped, and never drawn."""
    gradients = tmp_path / "gradients.npy"
    np.save(gradients, np.array([[0.1, 0.0], [0.3, 0.4], [3.0, 4.0], [0.0, 0.0]]))
    found = invoked("psi", "--order", 4, "--data", gradients)
    assert found["tau"][1] == pytest.approx(STEP.renyi(Order(4)).upper_float, rel=1e-9)
    quantiles = found["private"]["quantiles"]
    expected = sorted(STEP.record_renyi(length, Order(4)).upper_float for length in ("0.1", "0.5", 5, 0))
    assert quantiles["0.95"] == pytest.approx(expected[-1], rel=1e-9)
    assert quantiles["0.5"] in (pytest.approx(expected[1], rel=1e-9), pytest.approx(expected[2], rel=1e-9))
    assert found["private"]["expected_sample_size"][1] == pytest.approx(2 * 1.6 / 20)


@pytest.mark.slow
def test_the_cost_of_many_steps_has_a_certificate_that_the_checker_accepts(tmp_path: Path) -> None:
    certificate = tmp_path / "steps.json"
    found = invoked("epsilon", "--delta", "1e-5", "--steps", 50, "--resample", "each", "--certificate", certificate)
    result = CliRunner().invoke(app, ["check", str(certificate), "--json"])
    assert result.exit_code == 0, result.output
    assert json.loads(certificate.read_text("utf-8"))["kind"]
    assert found["epsilon"][1] > 0


def test_a_scale_without_a_grid_is_refused_before_any_noise() -> None:
    sample = WeightedSample(np.ones((2, 1)), np.ones(2))
    for scale, fits in ((1, True), (Fraction(1, 2**600), False), (2**600, False)):
        step = DpisStep(noise_multiplier=Public(1), clip=Public(scale), size=Public(10), batch=Public(2))
        if fits:
            step.require(sample)
            continue
        with pytest.raises(InvalidValue, match="scale"):
            step.require(sample)
