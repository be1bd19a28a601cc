"""Weights of the Gaussian sum against Arb: every weight below is feasible, and one a little beyond is not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from certdp.accounting.errors import CertdpError
from certdp.accounting.feasible_weights import (
    LARGEST_WEIGHT,
    ApproximateTarget,
    GaussianTarget,
    RenyiTarget,
    gaussian_weights,
)
from certdp.accounting.feasible_weights.gaussian import _reciprocals_below
from certdp.accounting.sampling.releases import Releases, ResampleEach, SampleOnce

DELTA = ApproximateTarget(epsilon=Fraction(1), delta=Fraction(1, 10**5))
RENYI = RenyiTarget(order=Fraction(5), tau=Fraction(2))
SHIFTS = np.array([1e-6, 1e-3, 0.01, 0.03, 0.05, 0.1, 0.15, 0.2, 0.25])


@pytest.fixture(autouse=True)
def _precision() -> None:
    ctx.prec = 200


def survival(x: Any) -> Any:
    return (x / arb(2).sqrt()).erfc() / 2


def delta(epsilon: Any, rate: Any, shift: Any) -> Any:
    """The larger of both directions, each from its own threshold on the likelihood ratio."""
    if rate <= 0:
        return arb(0)
    level = (1 + epsilon.expm1() / rate).log()
    remove = rate * (survival(level / shift - shift / 2) - level.exp() * survival(level / shift + shift / 2))
    rest = ((-epsilon).exp() - 1 + rate) / rate  # Q > e^ε M where the ratio P/Q is below this
    if not rest > 0:
        return remove
    edge = rest.log() / shift + shift / 2
    add = survival(-edge) - epsilon.exp() * ((1 - rate) * survival(-edge) + rate * survival(shift - edge))
    return remove if remove > add else add


def renyi(order: int, rate: Any, shift: Any) -> Any:
    """By the binomial sum (Mironov, Talwar, Zhang 2019)."""
    total = arb(0)
    for k in range(order + 1):
        total += comb(order, k) * (1 - rate) ** (order - k) * rate**k * (shift**2 * k * (k - 1) / 2).exp()
    return total.log() / (order - 1)


def delta_of_run(weight: float, shift: float, together: int) -> Any:
    return delta(arb(1), 1 / arb(weight), arb(shift) * arb(weight) * arb(together).sqrt())


def renyi_of_run(weight: float, shift: float, together: int, samples: int) -> Any:
    return samples * renyi(5, 1 / arb(weight), arb(shift) * arb(weight) * arb(together).sqrt())


CASES: dict[str, tuple[Releases, GaussianTarget, Callable[[float, float], Any], str]] = {
    "delta": (SampleOnce(1), DELTA, lambda w, u: delta_of_run(w, u, 1), "1e-5"),
    "delta, resampled once": (ResampleEach(1), DELTA, lambda w, u: delta_of_run(w, u, 1), "1e-5"),
    "delta, two on one sample": (SampleOnce(2), DELTA, lambda w, u: delta_of_run(w, u, 2), "1e-5"),
    "renyi": (SampleOnce(1), RENYI, lambda w, u: renyi_of_run(w, u, 1, 1), "2"),
    "renyi, three on one sample": (SampleOnce(3), RENYI, lambda w, u: renyi_of_run(w, u, 3, 1), "2"),
    "renyi, three samples": (ResampleEach(3), RENYI, lambda w, u: renyi_of_run(w, u, 1, 3), "2"),
}


@pytest.mark.parametrize("name", CASES)
def test_every_weight_below_is_feasible_and_none_far_beyond(name: str) -> None:
    releases, target, law, limit = CASES[name]
    shifts = SHIFTS[: 6 if releases.steps > 1 else None]
    found = gaussian_weights(shifts, releases, target, grid_bits=20)
    assert found.gap < 1e-5
    for u, w, q in zip(shifts.tolist(), found.weight.tolist(), found.probability.tolist(), strict=True):
        assert Fraction(q) * Fraction(w) <= 1
        assert 1 <= w <= LARGEST_WEIGHT
        for k in range(61):
            assert law(w ** (k / 60), u) <= arb(limit) * (1 + arb(2) ** -40), (u, k)
        if w < LARGEST_WEIGHT:
            assert law(w * (1 + 1.1 * found.gap), u) > arb(limit), u


def test_approximate_targets_through_renyi_for_fresh_samples() -> None:
    shifts = np.array([0.02, 0.1, 0.2])
    target = ApproximateTarget(epsilon=Fraction(3), delta=Fraction(1, 10**5))
    found = gaussian_weights(shifts, ResampleEach(4), target, grid_bits=8)
    assert np.all(np.diff(found.weight) < 0)
    assert found.gap < 0.02
    for u, w in zip(shifts.tolist(), found.weight.tolist(), strict=True):  # one release of four loses less
        assert delta(arb(3), 1 / arb(w), arb(u) * arb(w)) < arb("1e-5")


def test_a_weight_depends_on_its_own_record_alone() -> None:
    rng = np.random.default_rng(1)
    shifts = np.exp(rng.uniform(-6, -1.6, 300))
    whole = gaussian_weights(shifts, SampleOnce(1), DELTA)
    for index in range(0, 300, 23):
        alone = gaussian_weights(shifts[index : index + 1], SampleOnce(1), DELTA)
        assert alone.weight[0] == whole.weight[index]
        assert alone.probability[0] == whole.probability[index]
    backwards = gaussian_weights(shifts[::-1], SampleOnce(1), DELTA, threads=2)
    assert backwards.weight[::-1].tobytes() == whole.weight.tobytes()


def test_finer_grids_do_not_lower_a_weight_by_more_than_the_step() -> None:
    shifts = np.array([0.0123, 0.0999, 0.2001])
    coarse = gaussian_weights(shifts, SampleOnce(1), DELTA, grid_bits=6)
    fine = gaussian_weights(shifts, SampleOnce(1), DELTA, grid_bits=30)
    assert np.all(coarse.weight <= fine.weight * (1 + 1e-4))
    assert np.all(coarse.weight >= fine.weight * (1 - coarse.gap))
    assert fine.gap < 1e-7 < coarse.gap


def test_no_shift_is_never_drawn_or_has_the_cap() -> None:
    free = gaussian_weights([0.0, 0.1], SampleOnce(1), DELTA)
    assert free.weight[0] == math.inf
    assert free.probability[0] == 0.0
    capped = gaussian_weights([0.0, 0.01, 0.2], SampleOnce(1), DELTA, largest=4.0)
    assert capped.weight[:2].tolist() == [4.0, 4.0]
    assert capped.probability[:2].tolist() == [0.25, 0.25]
    assert capped.weight[2] < 4.0
    assert gaussian_weights([], SampleOnce(1), DELTA).weight.size == 0


def test_reciprocals_are_never_above() -> None:
    weights = np.exp2(np.random.default_rng(2).uniform(0, 1022, 2000))
    weights[:500] = np.random.default_rng(3).uniform(1, 100, 500)
    weights[500:510] = 2.0 ** np.arange(10) * 100
    rates = _reciprocals_below(weights)
    for w, q in zip(weights.tolist(), rates.tolist(), strict=True):
        assert Fraction(w) * Fraction(q) <= 1
        assert q == 1 / w or Fraction(w) * Fraction(1 / w) > 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_weights([0.1, 5.0], SampleOnce(1), DELTA), "5.0 of record 1"),
        (lambda: gaussian_weights([-0.1], SampleOnce(1), DELTA), "unit_shift: got another value at index 0"),
        (lambda: gaussian_weights([math.nan], SampleOnce(1), DELTA), "unit_shift: got another value at index 0"),
        (lambda: gaussian_weights([[0.1]], SampleOnce(1), DELTA), "shape"),
        (lambda: gaussian_weights([0.1], SampleOnce(1), DELTA, grid_bits=3), "4 to 52"),
        (lambda: gaussian_weights([0.1], SampleOnce(1), DELTA, largest=0.5), "0.5"),
        (lambda: gaussian_weights([0.1], 3, DELTA), "SampleOnce"),  # type: ignore[arg-type]
        (lambda: ApproximateTarget(epsilon=Fraction(1), delta=Fraction(0)), "0 < δ"),
        (lambda: ApproximateTarget(epsilon=Fraction(-1), delta=Fraction(1, 9)), "ε ≥ 0"),
        (lambda: ApproximateTarget(epsilon=1.0, delta=Fraction(1, 9)), "Fraction"),  # type: ignore[arg-type]
        (lambda: RenyiTarget(order=Fraction(1), tau=Fraction(1)), "α > 1"),
        (lambda: RenyiTarget(order=Fraction(2), tau=Fraction(0)), "τ > 0"),
    ],
)
def test_refusals(call: Callable[[], object], message: str) -> None:
    with pytest.raises(CertdpError) as caught:
        call()
    assert message in str(caught.value)
