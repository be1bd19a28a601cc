"""The estimates that lead the search for the best scale; what is proven there is held elsewhere, by the pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from certdp.accounting.accountants.best import BestAccountant
from certdp.accounting.accountants.loss_distribution import LOSS_DISTRIBUTION
from certdp.accounting.accountants.optimal import (
    OPTIMAL,
    OptimalAccountant,
    _about_epsilon,
    _delta_of_equal,
    _more_than,
)
from certdp.accounting.accountants.splits import Share
from certdp.accounting.accountants.worst_pairs import WorstPairs
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import GaussianPair, LaplacePair, RandomisedResponsePair, compose_pairs
from tests.support.cases import draws


def test_estimates_of_binomial_tails_are_those_of_scipy() -> None:
    generator = np.random.default_rng(1)
    for _ in range(draws(2000)):
        times = int(10 ** generator.uniform(0, 7))
        least = int(generator.integers(times))
        near = (least + 1) / (times + 1) + generator.uniform(-4, 4) / times**0.5
        chance = min(max(near if generator.random() < 0.7 else generator.random(), 1e-9), 1 - 1e-9)
        assert _more_than(least, times, chance) == pytest.approx(
            stats.binom.sf(least, times, chance), rel=1e-6, abs=1e-300
        )


@pytest.mark.parametrize("chance", [0.0, 1.0])
def test_what_never_or_always_happens_has_its_probability(chance: float) -> None:
    assert _more_than(0, 1, chance) == _more_than(5, 9, chance) == chance


def test_estimates_of_equal_responses_are_the_sums_over_their_lies() -> None:
    """δ(ε) is the mean of (1 − e^(ε − loss))⁺; the loss with j lies of n is (n − 2j)·ε₀."""
    generator = np.random.default_rng(2)
    for _ in range(draws(300)):
        own, times = float(10 ** generator.uniform(-2, 1)), int(generator.integers(1, 60))
        epsilon = float(generator.uniform(0, 1.1)) * own * times
        lies = np.arange(times + 1)
        chances = stats.binom.pmf(lies, times, 1 / (1 + np.exp(own)))
        excess = -np.expm1(np.minimum(epsilon - (times - 2 * lies) * own, 0.0))
        assert _delta_of_equal(own, times, epsilon) == pytest.approx(float(chances @ excess), rel=1e-6, abs=1e-13)


def test_the_estimate_of_epsilon_inverts_that_of_delta() -> None:
    for own, times, delta in ((0.1, 20, 1e-3), (1.5, 7, 1e-2), (0.3, 100, 0.2)):
        shares = (Share(Enclosure.of(own), Enclosure.of(0), times),)
        found = _about_epsilon(shares, Enclosure.of(delta))
        assert _delta_of_equal(own, times, found) <= delta
        assert _delta_of_equal(own, times, found * (1 - 1e-6)) > delta * (1 - 1e-4)
    assert _about_epsilon((Share(Enclosure.of(1), Enclosure.of(0), 4),), Enclosure.of(1)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("delta", ["1e-9", "1e-4", "0.05"])
def test_what_is_known_sooner_is_not_above_the_bound(delta: str) -> None:
    """Also where the optimal composition of different losses is the bound itself, and is to be asked."""
    generator = np.random.default_rng(3)
    level = Enclosure.of(delta)
    for _ in range(draws(6)):
        pair = compose_pairs(
            kind(Enclosure.of(round(float(10 ** generator.uniform(-2, 0)), 4))).repeated(int(generator.integers(1, 80)))
            for kind in (RandomisedResponsePair, LaplacePair, RandomisedResponsePair)
        )
        pairs = WorstPairs((pair,), (pair,))
        found = OPTIMAL.epsilon(pairs, level)
        assert found is not None
        assert 0 <= OPTIMAL.least_epsilon(pairs, level) <= found.upper
        epsilon = Enclosure.of(found.upper)
        further = OPTIMAL.delta(pairs, epsilon)
        assert further is not None
        assert 0 <= OPTIMAL.least_delta(pairs, epsilon) <= further.upper


def test_a_bound_that_is_known_to_be_larger_is_not_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = compose_pairs([LaplacePair(Enclosure.of("0.1")).repeated(300), RESPONSES, GaussianPair(Enclosure.of("0.3"))])
    pairs, delta = WorstPairs((pair,), (pair,)), Enclosure.of("1e-5")
    best = BestAccountant((OPTIMAL, LOSS_DISTRIBUTION)).epsilon(pairs, delta)
    assert best is not None
    every = [one.epsilon(pairs, delta) for one in (OPTIMAL, LOSS_DISTRIBUTION)]
    assert best.upper == min(one.upper for one in every if one is not None)
    asked: list[str] = []
    monkeypatch.setattr(OptimalAccountant, "epsilon", lambda self, pairs, delta: asked.append("optimal"))
    again = BestAccountant((OPTIMAL, LOSS_DISTRIBUTION)).epsilon(pairs, delta)
    assert again is not None
    assert again.upper == best.upper
    assert not asked
    assert len(again.compared) == 1  # who looks at the comparison asks all
    assert asked == ["optimal"]


RESPONSES = RandomisedResponsePair(Enclosure.of("0.03")).repeated(500)
