"""The audit passes right mechanisms, and catches wrong ones."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.provenance import Public
from certdp.accounting.units import Delta, Epsilon
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.plugins.contract import Coins, WeightedSample
from certdp.verification.audit import Audit, Count, Event, Releases, Statistic, audit, epsilon_lower_bound, repeated
from tests.support.cases import examples

Floats = NDArray[np.float64]
ONE = Epsilon(1)


def laplace_sums(scale: float, shift: float, seed: int) -> Releases:
    """Runs of the library's mechanism: independent columns of one release are independent runs."""
    mechanism, coins = LaplaceSum(scale=Public(scale)), Coins.seeded(seed)

    def releases(count: int) -> Floats:
        sample = WeightedSample(np.full((1, count), shift), np.ones(1))
        return mechanism.release(sample, coins)

    return releases


def neighbouring(scale: float, seed: int) -> tuple[Releases, Releases]:
    """On a data set with a record 1, and on one without it."""
    return laplace_sums(scale, 1.0, 2 * seed), laplace_sums(scale, 0.0, 2 * seed + 1)


def test_the_laplace_sum_keeps_its_epsilon(stream: int) -> None:
    """No seed refutes it; most come near 0.94, what the best event gives with no luck either way."""
    found = [audit(*neighbouring(1, 8 * stream + seed), runs=60_000) for seed in range(8)]
    assert not any(one.refutes(ONE) for one in found)
    assert statistics.median(one.lower for one in found) > 0.85


@pytest.mark.parametrize("seed", range(4))
def test_a_scale_off_by_1_2_is_caught(seed: int) -> None:
    found = audit(*neighbouring(1 / 1.2, seed), runs=60_000)
    assert found.refutes(ONE)
    assert found.lower < 1.2


def planar(radius: Callable[[np.random.Generator, int], Floats], centre: tuple[float, float], seed: int) -> Releases:
    """Noise in the plane with a uniform direction, around a centre."""
    generator = np.random.default_rng(seed)

    def releases(count: int) -> Floats:
        angle = generator.uniform(0, 2 * np.pi, count)
        noise = radius(generator, count)[:, np.newaxis] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        shifted: Floats = np.asarray(centre) + noise
        return shifted

    return releases


def exponential_radius(generator: np.random.Generator, count: int) -> Floats:
    return generator.exponential(1.0, count)


def gamma_radius(generator: np.random.Generator, count: int) -> Floats:
    return generator.gamma(2.0, 1.0, count)


def shifted(radius: Callable[[np.random.Generator, int], Floats], seed: int) -> tuple[Releases, Releases]:
    return planar(radius, (3.0, 4.1), 2 * seed), planar(radius, (3.0, 4.0), 2 * seed + 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_radius_that_is_exponential_in_the_plane_is_caught(seed: int) -> None:
    """IS-noise: at shift 0.1β the release should cost 0.1; near the centre it costs far more."""
    found = audit(*shifted(exponential_radius, seed), runs=100_000)
    assert found.lower > 0.8
    assert found.refutes(Epsilon("0.1"))
    assert "distance" in found.event.statistic.name


@pytest.mark.parametrize("seed", range(3))
def test_the_right_radius_passes(seed: int) -> None:
    found = audit(*shifted(gamma_radius, seed), runs=100_000)
    assert not found.refutes(Epsilon("0.1"))


def responses(flip: float, answer: bool, seed: int) -> Releases:
    generator = np.random.default_rng(seed)
    return lambda count: (generator.random(count) < (1 - flip if answer else flip)).astype(np.float64)


def test_randomised_response_both_ways() -> None:
    """A discrete output; the larger ratio is log 3, on either input."""
    for first, second in ((True, False), (False, True)):
        found = audit(responses(0.25, first, 1), responses(0.25, second, 2), runs=100_000)
        assert 1.05 < found.lower < np.log(3)


def leaking(present: bool, seed: int) -> Releases:
    """Tells one run in fifty of a present record: (0, 0.02)-DP, and no finite ε at δ = 0."""
    generator = np.random.default_rng(seed)
    return lambda count: (generator.random(count) < 0.02 * present).astype(np.float64)


@pytest.mark.parametrize("order", [1, -1])
def test_delta_is_taken_off(order: int) -> None:
    inputs = (leaking(True, 1), leaking(False, 2))[::order]
    found = audit(*inputs, runs=40_000)
    assert found.lower > 3
    assert found.first_is_likelier is (order == 1)
    allowed = audit(*inputs, runs=40_000, delta=Delta("0.02"))
    assert allowed.lower == 0
    assert not allowed.refutes(Epsilon(0))
    assert audit(*inputs, runs=40_000, delta=Delta("0.01")).refutes(ONE)


def test_equal_inputs_show_nothing() -> None:
    found = audit(laplace_sums(1, 0.0, 1), laplace_sums(1, 0.0, 2), runs=20_000)
    assert found.lower == 0


def test_a_statistic_of_the_caller() -> None:
    """Only the parity of the output differs; a caller who knows where to look finds it."""

    def often_even(chance: float, seed: int) -> Releases:
        generator = np.random.default_rng(seed)
        return lambda count: (2 * generator.integers(0, 5000, count) + (generator.random(count) > chance)).astype(float)

    parity = Statistic("parity", lambda outputs: outputs[:, 0] % 2)
    inputs = often_even(0.5, 1), often_even(0.75, 2)
    found = audit(*inputs, statistics=[parity], runs=50_000)
    assert found.event == Event(parity, 0.0, True)
    assert 0.6 < found.lower < np.log(2)
    assert audit(*inputs, runs=50_000).lower < found.lower - 0.2  # thresholds of the output itself see little


def test_noise_in_binary64_is_told_by_its_low_order_bits() -> None:
    """What the assumption "real-valued noise" leaves out (Mironov 2012), and correctly rounded sums do not show."""
    fine = Statistic("finer than 2^-53", lambda outputs: (outputs[:, 0] * 2.0**53 % 1 != 0).astype(np.float64))

    def in_binary64(total: float, seed: int) -> Releases:
        coins = Coins.seeded(seed)
        return lambda count: total + coins.laplace(Fraction(1), count)

    assert audit(in_binary64(1.0, 0), in_binary64(0.0, 1), statistics=[fine], runs=20_000).refutes(Epsilon(3))
    assert audit(*neighbouring(1, 0), statistics=[fine], runs=20_000).lower == 0


def test_the_runs_that_choose_are_not_the_runs_that_test() -> None:
    """With many useless statistics some event looks telling by chance; it does not survive the other half."""
    generator = np.random.default_rng(5)

    def noise(count: int) -> Floats:
        return generator.random((count, 200))

    columns = [Statistic(f"column {i}", partial(np.take, indices=i, axis=1)) for i in range(200)]
    found = audit(noise, noise, statistics=columns, runs=400, confidence="0.5")
    assert found.likelier.trials == found.rarer.trials == 200
    assert found.lower < 0.3


def test_a_mechanism_run_after_run() -> None:
    sample = WeightedSample(np.ones((1, 2)), np.ones(1))
    releases = repeated(LaplaceSum(scale=Public(1)), sample, Coins.seeded(1))
    outputs = releases(50)
    assert outputs.shape == (50, 2)
    assert len(np.unique(outputs)) == 100


def test_how_it_prints() -> None:
    statistic = Statistic("entry 0", lambda outputs: outputs[:, 0])
    found = Audit(
        lower=1.16492,
        delta=Delta("1e-6"),
        confidence=Fraction(999, 1000),
        event=Event(statistic, 0.123456, True),
        likelier=Count(5000, 10000),
        rarer=Count(1500, 10000),
        first_is_likelier=False,
    )
    assert str(found) == (
        "ε ≥ 1.1649 at δ = 1e-06, confidence 0.999: entry 0 > 0.1235 in 5,000 of 10,000 runs on the second input, "
        "1,500 of 10,000 on the first"
    )


@given(st.integers(0, 1000), st.integers(0, 1000), st.sampled_from(["0", "0.01", "0.2"]))
@examples(40)
def test_the_bound_is_that_of_the_exact_quantiles(likelier: int, rarer: int, delta: str) -> None:
    """Clopper and Pearson's bounds from scipy's beta quantiles, each at 0.0005."""
    found = epsilon_lower_bound(Count(likelier, 1000), Count(rarer, 1000), Delta(delta), Fraction(1, 1000))
    least = beta.ppf(0.0005, likelier, 1001 - likelier) if likelier else 0.0
    most = beta.isf(0.0005, rarer + 1, 1000 - rarer) if rarer < 1000 else 1.0
    ratio = (least - float(Fraction(delta))) / most
    assert found == pytest.approx(np.log(ratio) if ratio > 1 else 0.0, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("confidence", [0, 1, "1.5", -0.5])
def test_inadmissible_confidences(confidence: Any) -> None:
    with pytest.raises(InvalidValue, match="confidence"):
        audit(laplace_sums(1, 0.0, 1), laplace_sums(1, 0.0, 2), runs=100, confidence=confidence)


@pytest.mark.parametrize(("runs", "error"), [(19, InvalidValue), (100.0, InvalidType), (True, InvalidType)])
def test_inadmissible_runs(runs: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="runs"):
        audit(laplace_sums(1, 0.0, 1), laplace_sums(1, 0.0, 2), runs=runs)


@pytest.mark.parametrize("shape", [(99,), (100, 2, 2), ()])
def test_outputs_of_the_wrong_shape(shape: tuple[int, ...]) -> None:
    right = laplace_sums(1, 0.0, 1)
    with pytest.raises(InvalidValue, match="second"):
        audit(right, lambda count: np.zeros(shape), runs=200)


def test_statistics_that_are_none_or_no_numbers() -> None:
    inputs = laplace_sums(1, 0.0, 1), laplace_sums(1, 0.0, 2)
    with pytest.raises(InvalidValue, match="at least one statistic"):
        audit(*inputs, statistics=[], runs=100)
    with pytest.raises(InvalidValue, match="one number per output"):
        audit(*inputs, statistics=[Statistic("all", lambda outputs: outputs)], runs=100)
    with pytest.raises(InvalidValue, match="NaN"):
        audit(*inputs, statistics=[Statistic("nan", lambda outputs: outputs[:, 0] * np.nan)], runs=100)
