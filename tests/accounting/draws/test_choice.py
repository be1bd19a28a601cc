"""One of finitely many outputs: the word's own, beside the ends of shares too, and in the right shares."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.draws.choice import accepted, choose, exact_choice
from certdp.accounting.draws.source import Seeded
from certdp.accounting.errors import InvalidValue
from certdp.plugins.contract import Coins
from certdp.verification.oracles.noise import exponential_shares
from tests.support.arb_noise import FURTHER, Handed
from tests.support.cases import examples

EXPONENTS = st.lists(
    st.fractions(-40, 40, max_denominator=20) | st.sampled_from([Fraction(10**5), Fraction(200)]),
    min_size=2,
    max_size=6,
)


@examples(200)
@given(exponents=EXPONENTS, places=st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3)), min_size=1, max_size=5))
def test_words_beside_the_ends_of_shares_mean_the_output_that_they_lie_in(
    exponents: list[Fraction], places: list[tuple[int, int]]
) -> None:
    ends = exponential_shares(exponents)
    words = [int(ends[place % len(ends)] * 2**64) + away for place, away in places]
    words = [min(max(word, 0), 2**64 - 1) for word in words] + [0, 2**64 - 1]
    numbers = [(word + Fraction(FURTHER, 2**64 - 1)) / 2**64 for word in words]
    right = [sum(number > end for end in ends) for number in numbers]
    assert choose(exponents, len(words), Handed(words)).tolist() == right
    least = min(exponents)
    above = [exponent - least for exponent in exponents]
    assert [exact_choice(above, word, Handed([])) for word in words] == right


@pytest.mark.parametrize(
    "size", [pytest.param(10**6, id="a million"), pytest.param(10**7, id="ten million", marks=pytest.mark.soundness)]
)
def test_every_output_has_its_probability(size: int) -> None:
    """χ²; for a right law it fails once in 10^6 runs."""
    exponents = [Fraction(k * k, 7) for k in range(-4, 6)]
    drawn = choose(exponents, size, Seeded(1))
    masses = np.exp([-float(exponent) for exponent in exponents])
    expected = masses / masses.sum() * size
    assert stats.chisquare(np.bincount(drawn, minlength=len(masses)), expected).pvalue > 1e-6


def test_outputs_that_are_next_to_impossible_are_not_drawn_and_cost_nothing() -> None:
    drawn = Coins.seeded(2).exponential_choice([Fraction(10**9), Fraction(0), Fraction(10**30)], 1000)
    assert (drawn == 1).all()
    assert Coins.seeded(2).exponential_choice([Fraction(5)], 3).tolist() == [0, 0, 0]


def test_no_outputs_are_refused() -> None:
    with pytest.raises(InvalidValue, match=r"exponents: got none; admissible: at least one output"):
        choose([], 1, Handed([]))


@pytest.mark.parametrize("exponent", [Fraction(1, 10**159), Fraction(1, 2**64), Fraction(1, 2**200), Fraction(10**9)])
def test_coins_are_as_good_as_sure_where_the_exponent_is_next_to_nothing(exponent: Fraction) -> None:
    """Whatever the word: the end of a share that is 1 but for rounding is no word."""
    words = [0, 1, 2**63, 2**64 - 2, 2**64 - 1]
    share = exponential_shares([Fraction(0), exponent])[0]
    told = accepted([Fraction(0), exponent], np.array([1] * len(words)), Handed(words))
    ratio = (1 - share) / share  # e^-exponent, to the oracle's digits
    assert told.tolist() == [Fraction(word, 2**64) + Fraction(FURTHER, 2**64 - 1) / 2**64 < ratio for word in words]
