"""Losses too large, too small or too many for one accountant are its own matter: each answers or says None."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.accountants import BEST, GAUSSIAN_DP, OPTIMAL, ZERO_CONCENTRATED, WorstPairs
from certdp.accounting.accountants.optimal import optimal_epsilon
from certdp.accounting.accountants.splits import Share
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import GaussianPair, LaplacePair, Pair, RepeatedResponse, SampledGaussian, allocated


def run(pair: Pair) -> WorstPairs:
    return WorstPairs((pair,), (pair,))


def test_an_epsilon_beyond_the_search_is_left_to_the_others() -> None:
    pairs, delta = run(GaussianPair(Enclosure.of(10**12))), Enclosure.of("1e-5")
    assert GAUSSIAN_DP.epsilon(pairs, delta) is None
    found = BEST.epsilon(pairs, delta)
    assert found is not None
    assert 5 * 10**23 < found.upper < 6 * 10**23


def test_responses_that_no_lattice_holds_cost_at_most_their_sum() -> None:
    nothing = Enclosure.of(0)
    shares = [Share(Enclosure.of(10**9), nothing, 1), Share(Enclosure.of("0.5"), nothing, 10)]
    assert optimal_epsilon(shares, Enclosure.of("1e-12")).upper == 10**9 + 5


@pytest.mark.slow
def test_more_releases_than_an_integer_counts() -> None:
    pair = SampledGaussian(Enclosure.of("1e-6"), Enclosure.of("0.001")).repeated(10**12)
    found = OPTIMAL.delta(run(pair), Enclosure.of(1))
    assert found is not None
    assert 0 <= found.upper <= 1


@pytest.mark.parametrize("times", [10**15, 10**20, 10**30])
def test_more_releases_than_binary64_tells_apart(times: int) -> None:
    for pair in (LaplacePair(Enclosure.of("0.5")), LaplacePair(Enclosure.of("1e-8"))):
        found = BEST.delta(run(pair.sampled(Enclosure.of("0.1")).repeated(times)), Enclosure.of(1))
        assert found is not None
        assert 0 < found.upper <= 1


@pytest.mark.parametrize("shift", [10**2, 10**3, 10**5, 10**12])
def test_an_epoch_of_batches_almost_without_noise(shift: int) -> None:
    """What one release loses: beyond the lattice binary64 does not say what batches hide."""
    base = GaussianPair(Enclosure.of(shift))
    pairs, delta = run(allocated(base, 5)), Enclosure.of("1e-5")
    found, alone = (BEST.epsilon(one, delta) for one in (pairs, run(base)))
    assert found is not None
    assert alone is not None
    assert alone.upper - 2 <= found.upper <= alone.upper
    most = BEST.delta(pairs, Enclosure.of(1))
    assert most is not None
    assert 1 - Fraction(1, 10**6) < most.upper <= 1


def test_a_cost_whose_best_order_no_float_holds() -> None:
    pair = RepeatedResponse(Enclosure.of("0.05"), 3).sampled(Enclosure.of("1e-300"))
    found = ZERO_CONCENTRATED.delta(run(pair), Enclosure.of("1e-9"))
    assert found is not None
    assert found.upper < Enclosure.of("1e-300").upper
