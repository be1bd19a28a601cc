"""Optimal composition against sums over every number of lies, and the estimates that lead its search for a scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.accountants import ADVANCED, Finding
from certdp.accounting.accountants.basic import EACH_RELEASE
from certdp.accounting.accountants.best import BestAccountant
from certdp.accounting.accountants.loss_distribution import LOSS_DISTRIBUTION
from certdp.accounting.accountants.optimal import (
    OPTIMAL,
    OptimalAccountant,
    _about_epsilon,
    _delta_of_equal,
    _more_than,
    optimal_epsilon,
)
from certdp.accounting.accountants.splits import Share
from certdp.accounting.accountants.worst_pairs import WorstPairs
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import Composed, GaussianPair, LaplacePair, Pair, RandomisedResponsePair, compose_pairs
from tests.support.arb_numbers import arb_of, fraction_of
from tests.support.cases import draws, examples

Kinds = Sequence[tuple[Fraction, int]]
KINDS = st.lists(
    st.tuples(st.builds(Fraction, st.integers(9, 24), st.just(8)), st.integers(1, 9)), min_size=1, max_size=2
)
WIDTH = Fraction(1, 2**10)


@pytest.fixture(autouse=True, scope="module")
def _precise_arb() -> Iterator[None]:
    before, flint.ctx.prec = flint.ctx.prec, 300
    yield
    flint.ctx.prec = before


def uncertain(kinds: Kinds) -> Pair:
    """Responses each of which tells the truth at most so many times as often as a lie; or hardly less."""
    losses = [(Enclosure.of(factor).log(), times) for factor, times in kinds]
    pairs = [RandomisedResponsePair((loss - WIDTH).maximum(0).hull(loss)).repeated(times) for loss, times in losses]
    return compose_pairs(pairs)


def exact_delta(kinds: Kinds, epsilon: Fraction) -> tuple[Fraction, Fraction]:
    """δ(ε) from both sides: the mean of (1 − e^(ε − loss))⁺ over how many of each kind lie."""
    level, total = arb_of(epsilon).exp(), arb_of(Fraction(0))
    for lies in product(*(range(times + 1) for _, times in kinds)):
        here = there = Fraction(1)
        for (factor, times), lie in zip(kinds, lies, strict=True):
            ways = comb(times, lie) / (1 + factor) ** times
            here, there = here * ways * factor ** (times - lie), there * ways * factor**lie
        total += (arb_of(here) - level * arb_of(there)).max(arb_of(Fraction(0)))
    middle, radius = fraction_of(total.mid()), fraction_of(total.rad())
    return middle - radius, middle + radius


def known(finding: Finding | None) -> Finding:
    assert finding is not None
    assert finding.accountant == OPTIMAL
    return finding


@examples(20)
@given(KINDS, st.sampled_from(["1e-9", "1e-4", "0.02"]))
def test_epsilon_suffices_at_the_least_delta_and_the_largest_losses(kinds: Kinds, level: str) -> None:
    delta = Fraction(level)
    pair = uncertain(kinds)
    found = known(OPTIMAL.epsilon(WorstPairs((pair,), ()), Enclosure.between(delta, 2 * delta)))
    assert not found.bounds.two_sided
    least, _ = exact_delta(kinds, found.upper)
    assert least <= delta
    if found.theorems[0] == EACH_RELEASE:
        _, before = exact_delta(kinds, max(found.upper * Fraction(99, 100), Fraction(0)))
        assert before >= delta * (1 - WIDTH)
    advanced = ADVANCED.epsilon(WorstPairs((pair,), ()), Enclosure.between(delta, 2 * delta))
    assert advanced is not None
    assert found.upper <= advanced.upper
    assert (found.theorems == advanced.theorems) == (found.upper == advanced.upper)


@examples(20)
@given(KINDS, st.builds(Fraction, st.integers(0, 40), st.just(16)))
def test_delta_suffices_at_the_least_epsilon_and_the_largest_losses(kinds: Kinds, level: Fraction) -> None:
    pair = uncertain(kinds)
    epsilon = Enclosure.between(level, level + 1)
    found = known(OPTIMAL.delta(WorstPairs((pair,), ()), epsilon))
    least, most = exact_delta(kinds, level)
    assert least <= found.upper <= most * Fraction(101, 100) + WIDTH**4
    advanced = ADVANCED.delta(WorstPairs((pair,), ()), epsilon)
    assert advanced is not None
    assert found.upper <= advanced.upper


def test_the_worst_run_counts_and_its_theorem_is_named() -> None:
    equal = compose_pairs([RandomisedResponsePair(Enclosure.of("0.1")).repeated(50)])
    different = Composed((equal, RandomisedResponsePair(Enclosure.of("0.2")).repeated(30)))
    delta, epsilon = Enclosure.of("1e-5"), Enclosure.of(1)
    alone = [known(OPTIMAL.epsilon(WorstPairs((pair,), ()), delta)) for pair in (equal, different)]
    both = known(OPTIMAL.epsilon(WorstPairs((equal, different), ()), delta))
    assert alone[0].upper < alone[1].upper == both.upper
    assert [str(found.theorems[1].statement) for found in (*alone, both)] == [
        "Theorem 3.3",
        "Theorem 1.5",
        "Theorem 1.5",
    ]
    alone = [known(OPTIMAL.delta(WorstPairs((pair,), ()), epsilon)) for pair in (equal, different)]
    assert alone[0].upper < alone[1].upper == known(OPTIMAL.delta(WorstPairs((different, equal), ()), epsilon)).upper


def test_where_nothing_is_lost_or_nothing_known() -> None:
    nothing, silent = RandomisedResponsePair(Enclosure.of(0)), Pair()
    delta, epsilon = Enclosure.of("1e-5"), Enclosure.of("0.5")
    assert known(OPTIMAL.epsilon(WorstPairs((nothing,), ()), delta)).upper == 0
    assert known(OPTIMAL.delta(WorstPairs((nothing,), ()), epsilon)).upper == 0
    for pairs in (WorstPairs((silent,), ()), WorstPairs((nothing, silent), ())):
        assert OPTIMAL.epsilon(pairs, delta) is None
        assert OPTIMAL.delta(pairs, epsilon) is None
    some = WorstPairs((RandomisedResponsePair(Enclosure.of(1)),), ())
    assert known(OPTIMAL.epsilon(some, Enclosure.between(0, "0.1"))).upper == 1
    assert known(OPTIMAL.delta(some, Enclosure.of(1))).upper == 0
    assert OPTIMAL.epsilon(WorstPairs((GaussianPair(Enclosure.of(1)),), ()), Enclosure.of(0)) is None


def test_losses_beyond_what_can_be_composed_are_added() -> None:
    shares = (Share(Enclosure.of(2**40), Enclosure.of(0), 3), Share(Enclosure.of(2**39), Enclosure.of(0), 2))
    assert optimal_epsilon(shares, Enclosure.of("1e-5")).upper <= 2**42


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
