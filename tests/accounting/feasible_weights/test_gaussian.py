"""The seams of weights of Gaussian sums: what is handed on is rounded to the safe side, and for the whole run.

Rounding is compared in rational numbers, over many inputs: each number is on the wrong side half of the time unless it
is moved. The laws themselves are held by `test_gaussian_weights.py` and the claims `constrained/*`.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from certdp.accounting.bulk.amplification import gaussian_delta
from certdp.accounting.bulk.sampled_gaussian import delta_upper, epsilon_upper, renyi_upper
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import CertdpError
from certdp.accounting.exact import Floats
from certdp.accounting.feasible_weights import LARGEST_WEIGHT, ApproximateTarget, RenyiTarget, gaussian_weights
from certdp.accounting.feasible_weights import gaussian as module
from certdp.accounting.feasible_weights.grid import node_below, rounded_up
from certdp.accounting.feasible_weights.reach import REACHES, Reach
from certdp.accounting.notions import Approximate, Renyi
from certdp.accounting.pairs import RandomisedResponsePair
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.releases import Releases, ResampleEach, SampleOnce
from certdp.verification.oracles.runs import delta_of_run, renyi_of_run

RNG = np.random.default_rng(17)
MANY = 400
RATES = RNG.uniform(1e-6, 1, MANY)
SHIFTS = np.exp(RNG.uniform(-8, 1, MANY))
PLANS: list[Releases] = [SampleOnce(1), SampleOnce(2), SampleOnce(7), ResampleEach(1), ResampleEach(3), ResampleEach(5)]
APPROXIMATE = ApproximateTarget(epsilon=Fraction(7, 10), delta=Fraction(1, 1000))
RENYI = RenyiTarget(order=Fraction(37, 10), tau=Fraction(1, 3))


def each(*columns: Floats) -> Any:
    return zip(*(map(Fraction, column.tolist()) for column in columns), strict=True)


def split(plan: Releases) -> tuple[int, int]:
    """Samples, and releases on each."""
    return (1, plan.steps) if isinstance(plan, SampleOnce) else (plan.steps, 1)


@pytest.mark.parametrize("releases", PLANS, ids=str)
def test_the_shift_of_a_run_is_at_least_the_root_of_its_releases_as_large(releases: Releases) -> None:
    _, together = split(releases)
    for shift, moved in each(SHIFTS, module._run_shift(SHIFTS, releases)):
        assert together * shift**2 <= moved**2 <= together * shift**2 * (1 + Fraction(1, 2**49))
    assert module._run_shift(np.zeros(2), releases).tolist() == [0.0, 0.0]


def spied(monkeypatch: pytest.MonkeyPatch, name: str) -> list[tuple[Any, ...]]:
    calls: list[tuple[Any, ...]] = []
    asked = getattr(module, name)

    def spy(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return asked(*arguments, **options)

    monkeypatch.setattr(module, name, spy)
    return calls


@pytest.mark.parametrize("releases", PLANS, ids=str)
def test_a_delta_is_asked_of_the_whole_run_at_an_epsilon_that_is_not_above(
    releases: Releases, monkeypatch: pytest.MonkeyPatch
) -> None:
    samples, together = split(releases)
    calls = spied(monkeypatch, "gaussian_delta" if samples == 1 else "delta_upper")
    found = APPROXIMATE.law(releases, 1)(RATES, SHIFTS)
    ((rate, shift, *rest),) = calls
    level = Fraction(rest[-1])
    assert Fraction(7, 10) * (1 - Fraction(1, 2**52)) <= level <= Fraction(7, 10)
    assert rate.tolist() == RATES.tolist()
    expected = math.sqrt(together) * SHIFTS
    np.testing.assert_allclose(shift, expected, rtol=1e-14)
    assert rest[:-1] == ([] if samples == 1 else [samples])
    for q, bound in each(RATES, found):
        assert bound <= samples * q * (1 + Fraction(1, 2**50))


@pytest.mark.slow
@pytest.mark.parametrize("releases", PLANS, ids=str)
def test_the_bound_of_delta_is_above_what_the_run_loses(releases: Releases) -> None:
    """And, on one sample, no more than that; where the shift is out of reach, a record that is drawn is lost."""
    samples, together = split(releases)
    few = 6 if samples == 1 else 2
    rates, shifts = RATES[:few], np.minimum(SHIFTS[:few], 1.5)
    law = APPROXIMATE.law(releases, 1)
    for (q, s), bound in zip(each(rates, shifts), law(rates, shifts).tolist(), strict=True):
        true = delta_of_run(q, s, samples, together, Fraction(7, 10))
        assert true * (1 - Fraction(1, 2**40)) <= Fraction(bound)
        assert samples > 1 or Fraction(bound) <= true * (1 + Fraction(1, 2**20)) + Fraction(1, 10**15)
    for q, bound in each(RATES, law(RATES, np.full(MANY, np.inf))):
        assert samples * q <= bound <= samples * q * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize("releases", PLANS, ids=str)
def test_a_divergence_is_that_of_all_samples_rounded_up(releases: Releases, monkeypatch: pytest.MonkeyPatch) -> None:
    samples, together = split(releases)
    calls = spied(monkeypatch, "renyi_upper")
    law = RENYI.law(releases, 1)
    found = law(RATES, SHIFTS)
    ((rate, shift, order),) = calls
    assert rate.tolist() == RATES.tolist()
    assert Fraction(37, 10) <= Fraction(order) <= Fraction(37, 10) * (1 + Fraction(1, 2**52))
    np.testing.assert_allclose(shift, math.sqrt(together) * SHIFTS, rtol=1e-14)
    for one, run in each(renyi_upper(RATES, shift, order), found):
        assert samples * one <= run <= samples * one * (1 + Fraction(1, 2**51))
    assert np.isinf(law(np.array([0.5]), np.array([np.inf]))).all()
    for (q, s), bound in zip(each(RATES[:6], SHIFTS[:6]), found[:6].tolist(), strict=True):
        true = renyi_of_run(q, s, samples, together, Fraction(37, 10))
        assert true * (1 - Fraction(1, 10**12)) <= Fraction(bound) <= true * (1 + Fraction(1, 10**9))


def test_limits_are_not_above_the_target() -> None:
    for k in range(1, 60):
        delta = ApproximateTarget(epsilon=Fraction(1), delta=Fraction(1, 3 * k + 1)).limit
        tau = RenyiTarget(order=Fraction(2), tau=Fraction(k, 7)).limit
        for limit, target in ((delta, Fraction(1, 3 * k + 1)), (tau, Fraction(k, 7))):
            assert target * (1 - Fraction(1, 2**52)) <= Fraction(limit) <= target


@pytest.mark.parametrize("releases", PLANS, ids=str)
def test_losses_are_those_of_the_whole_run(releases: Releases) -> None:
    samples, together = split(releases)
    rates, shifts = RATES[:8], np.minimum(SHIFTS[:8], 1.2)
    epsilons = APPROXIMATE.losses(rates, shifts, releases)
    for (q, s), epsilon in zip(each(rates, shifts), epsilons.tolist(), strict=True):
        assert delta_of_run(q, s, samples, together, Fraction(epsilon)) <= APPROXIMATE.delta
        if samples == 1 and epsilon:
            assert delta_of_run(q, s, 1, together, Fraction(epsilon) * Fraction(9999, 10_000)) > APPROXIMATE.delta
    if samples > 1:
        assert epsilons.tolist() == epsilon_upper(rates, shifts, samples, APPROXIMATE.limit)[0].tolist()
    for (q, s), tau in zip(each(rates, shifts), RENYI.losses(rates, shifts, releases).tolist(), strict=True):
        true = renyi_of_run(q, s, samples, together, RENYI.order)
        assert true * (1 - Fraction(1, 10**12)) <= Fraction(tau) <= true * (1 + Fraction(1, 10**9))


def test_what_targets_state() -> None:
    loss, spent = Enclosure.of(Fraction(5, 4)), Enclosure.of(Fraction(1, 8))
    assert APPROXIMATE.stated(loss) == Approximate(loss, Enclosure.of(APPROXIMATE.delta, precision=loss.precision))
    assert RENYI.stated(loss) == Renyi(RENYI.order, loss)
    assert APPROXIMATE.spent(spent) == spent
    assert RENYI.spent(spent) == RandomisedResponsePair(spent).renyi(RENYI.order, Direction.REMOVE)
    assert (APPROXIMATE.loss, RENYI.loss) == (Fraction(7, 10), Fraction(1, 3))
    assert [APPROXIMATE.sharp(plan) for plan in PLANS] == [True, True, True, True, False, False]
    assert not any(RENYI.sharp(plan) for plan in PLANS)
    assert ApproximateTarget(epsilon=Fraction(0), delta=Fraction(1)).limit == 1.0


def test_a_corner_bounds_every_weight_of_its_step() -> None:
    asked: list[tuple[Floats, Floats]] = []

    def law(rate: Floats, shift: Floats) -> Floats:
        asked.append((rate, shift))
        return rate

    low = np.concatenate([[1.0], np.exp(RNG.uniform(0, 30, MANY - 1))])
    high = low * RNG.uniform(1, 3, MANY)
    module._corner(SHIFTS, low, high, law)
    ((rates, shifts),) = asked
    assert rates[0] == 1.0
    assert (rates <= 1).all()
    for rate, shift, unit, least, most in each(rates, shifts, SHIFTS, low, high):
        assert 1 <= rate * least <= 1 + Fraction(1, 2**51)
        assert unit * most <= shift <= unit * most * (1 + Fraction(1, 2**51))
    module._corner(np.array([1e10]), np.array([1e300]), np.array([1e300]), law)
    assert np.isinf(asked[1][1]).all()


def by_shift(_: Floats, shift: Floats) -> Floats:
    """A law that is the shift itself: with weight w a record of unit u loses u·w."""
    return shift


def test_steps_end_just_below_the_first_weight_that_is_infeasible() -> None:
    shift = np.array([0.3, 0.01, 0.5])
    weights = module._stepped(shift, by_shift, 1.0, 1e6, 40)
    for unit, weight in each(shift, weights):
        assert 1 - Fraction(1, 2**38) <= unit * weight <= 1
    assert module._stepped(shift, by_shift, 1.0, 5.0, 40)[1] == 5.0  # the cap
    assert module._stepped(np.array([1.0]), by_shift, 1.0, 5.0, 40)[0] == 1.0


def test_steps_do_not_jump_over_what_is_infeasible() -> None:
    """A law that a record escapes again with a rate below 1/100: only weights before the bump are proven."""

    def law(rate: Floats, shift: Floats) -> Floats:
        return np.asarray(np.minimum(shift, 100 * rate))

    (weight,) = module._stepped(np.array([0.125]), law, 1.0, 1e6, 30)
    assert 8 * (1 - 2.0**-28) <= weight <= 8


@pytest.mark.parametrize("bits", [4, 12, 30])
def test_the_gap_reaches_to_a_weight_that_is_infeasible_for_every_shift_of_the_cell(bits: int) -> None:
    units = rounded_up(np.array([0.3, 0.011, 0.47]), bits)
    below = units - np.exp2(np.floor(np.log2(units)) - bits)  # the node before: all of the cell are above it
    weights = module._stepped(units, by_shift, 1.0, 1e6, 40)
    gap = module._gap(units, weights, by_shift, 1.0, 1e6, bits)
    assert 0 < gap < 2.0 ** (2 - bits) + 2.0**-20
    for least, weight in each(below, weights):
        assert least * weight / (1 - Fraction(gap)) > 1  # infeasible even at the smallest shift of the cell
    assert module._gap(units, np.full(3, 1e6), by_shift, 1.0, 1e6, bits) == 0.0
    assert module._gap(units, weights, lambda rate, shift: 0 * shift, 1.0, 1e6, bits) == math.inf


def test_what_the_gap_asks_is_not_beyond_the_weight_that_it_tells() -> None:
    asked: list[tuple[Floats, Floats]] = []

    def law(rate: Floats, shift: Floats) -> Floats:
        asked.append((rate, shift))
        return np.full(rate.shape, 9.0)

    weights = np.exp(RNG.uniform(0, 20, MANY))
    module._gap(SHIFTS, weights, law, 1.0, 1e300, 52 - 2)
    rates, shifts = asked[0]
    beyond = weights * (1.0 + module._REACHES[0])
    nodes = node_below(SHIFTS, 50)
    for rate, shift, unit, weight in each(rates, shifts, nodes, beyond):
        assert 1 - Fraction(1, 2**51) <= rate * weight <= 1
        assert unit * weight * (1 - Fraction(1, 2**51)) <= shift <= unit * weight


def test_a_bound_a_hair_above_the_limit_refutes_nothing() -> None:
    unit, weight = np.array([0.5]), np.array([2.0])
    hair = 1.0 + 2.0**-25

    def law(rate: Floats, shift: Floats) -> Floats:
        return np.full(rate.shape, hair)

    assert module._gap(unit, weight, law, 1.0, 1e6, 20) == math.inf
    hair = 1.0 + 2.0**-23
    assert module._gap(unit, weight, law, 1.0, 1e6, 20) < 1e-9


def test_no_shift_is_rounded_up_beyond_the_domain() -> None:
    """The largest record of a domain that just meets the target is drawn with weight 1, not refused."""
    one = np.ones(1)
    shift = 0.21
    epsilon = Fraction(1, 2)
    delta = Fraction(float(gaussian_delta(one, np.array([shift]), 0.5)[0]))
    target = ApproximateTarget(epsilon=epsilon, delta=delta)
    with pytest.raises(CertdpError, match=r"0\.21 of record 7"):
        gaussian_weights([0.01, shift], SampleOnce(1), target, grid_bits=4, first=6)
    found = gaussian_weights([0.01, shift], SampleOnce(1), target, grid_bits=4, domain_shift=shift)
    assert found.weight[1] == 1.0
    assert found.weight[0] > 10


@pytest.mark.parametrize("bits", [4, 10])
def test_a_shift_counts_as_the_next_on_the_grid(bits: int) -> None:
    shifts = RNG.uniform(0.01, 0.1, 40)
    coarse = gaussian_weights(shifts, SampleOnce(1), RENYI, grid_bits=bits)
    again = gaussian_weights(rounded_up(shifts, bits), SampleOnce(1), RENYI, grid_bits=bits)
    finer = gaussian_weights(shifts, SampleOnce(1), RENYI, grid_bits=30)
    assert coarse.weight.tolist() == again.weight.tolist()
    assert (coarse.weight <= finer.weight * (1 + 2.0 ** -(bits + 7))).all()
    for shift, node in each(shifts, rounded_up(shifts, bits)):
        assert shift <= node < shift * (1 + Fraction(1, 2**bits))


def test_the_reach_of_a_weight_is_told() -> None:
    found = gaussian_weights([0.0, 1e-3, 0.4], SampleOnce(1), RENYI, largest=3.0)
    assert [REACHES[code] for code in found.reach] == [Reach.CAPPED, Reach.CAPPED, Reach.FIRST_CROSSING]
    free = gaussian_weights([0.0, 0.2], SampleOnce(1), RENYI)
    assert [REACHES[code] for code in free.reach] == [Reach.NEVER_DRAWN, Reach.FIRST_CROSSING]
    hidden = gaussian_weights([1e-12], SampleOnce(1), ApproximateTarget(epsilon=Fraction(1), delta=Fraction(1, 2)))
    assert hidden.weight[0] == LARGEST_WEIGHT  # a record of rate ≤ δ is (0, δ)-private whatever its weight
    assert REACHES[hidden.reach[0]] is Reach.CAPPED


def test_a_delta_of_several_samples_is_that_of_the_best_order() -> None:
    rates, shifts = RATES[:60], SHIFTS[:60]
    for steps in (2, 5):
        found = APPROXIMATE.law(ResampleEach(steps), 1)(rates, shifts)
        best, fewer = (delta_upper(rates, shifts, count, 0.7)[0] for count in (steps, steps - 1))
        np.testing.assert_allclose(found, np.minimum(best, steps * rates), rtol=1e-14)
        assert (found > fewer).any()
