"""Draws: exact Bernoulli probabilities bit by bit, Laplace noise, and where the bits come from."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.plugins.contract import Coins
from tests.support.cases import examples


class Chosen:
    """A source that hands out the words it was given, in order."""

    private = False

    def __init__(self, *words: int) -> None:
        self.words = list(words)

    def bits(self, count: int) -> Any:
        handed, self.words = self.words[:count], self.words[count:]
        assert len(handed) == count, "more words were asked for than the test expects"
        return np.array(handed, dtype=np.uint64)


def expansion(q: float, words: int) -> int:
    """The first 64·words binary digits of q, as a whole number."""
    return math.floor(Fraction(q) * (1 << 64 * words))


PROBABILITIES = st.floats(0, 1) | st.sampled_from(
    [0.0, 1.0, 0.5, 5e-324, 2.0**-64, 2.0**-65, 2.0**-128, 1 - 2.0**-53, 2.0**-1022, 1 / 3]
)


@pytest.mark.slow
@examples(300)
@given(q=PROBABILITIES, above=st.integers(-1, 1), tail=st.lists(st.integers(0, 2**64 - 1), min_size=20, max_size=20))
@example(0.5, 0, [0] * 20)
@example(5e-324, 0, [0] * 20)
def test_a_uniform_number_below_q_is_drawn_and_no_other(q: float, above: int, tail: list[int]) -> None:
    """The words spell a number next to q: equal in the first words, or one unit to its side."""
    words = 17
    digits = expansion(q, words) + above
    if not 0 <= digits < 2 ** (64 * words):
        return
    spelled = [digits >> (64 * k) & (2**64 - 1) for k in reversed(range(words))] + tail
    drawn = Coins(Chosen(*spelled)).bernoulli(np.array([q]))[0]
    uniform = Fraction(digits, 2 ** (64 * words))  # its further digits add less than one unit
    assert drawn == (uniform < Fraction(q))


@given(q=st.lists(st.sampled_from([0.0, 1.0]), max_size=9))
def test_certain_outcomes_use_no_bits(q: list[float]) -> None:
    assert Coins(Chosen()).bernoulli(np.array(q)).tolist() == [x == 1 for x in q]


def test_ties_are_decided_by_the_next_word_of_the_same_record() -> None:
    q = np.array([2.0**-65, 0.25, 2.0**-65, 2.0**-65])
    # first words: a tie, a miss, a tie, a miss; second words belong to records 0 and 2
    drawn = Coins(Chosen(0, 2**62, 0, 1, 2**63 - 1, 2**63)).bernoulli(q)
    assert drawn.tolist() == [True, False, False, False]


@pytest.mark.parametrize("shape", [(), (0,), (3, 2), (2, 0)])
def test_shapes_are_kept(shape: tuple[int, ...]) -> None:
    drawn = Coins.seeded(1).bernoulli(np.full(shape, 0.5))
    assert drawn.shape == shape
    assert drawn.dtype == np.bool_


def test_memory_order_changes_no_draw() -> None:
    q = np.random.default_rng(0).random((50, 40))
    plain = Coins.seeded(4).bernoulli(q)
    assert np.array_equal(Coins.seeded(4).bernoulli(np.asfortranarray(q)), plain)
    assert 0 < plain.mean() < 1


@pytest.mark.parametrize("q", [1e-4, 0.1, 0.5, 0.75, 1 - 1e-4])
def test_frequencies_lie_within_exact_binomial_bounds(q: float) -> None:
    size = 200_000
    count = int(Coins.seeded(11).bernoulli(np.full(size, q)).sum())
    low, high = stats.binom.ppf([1e-7, 1 - 1e-7], size, q)
    assert low <= count <= high


@pytest.mark.parametrize("q", [[0.5, np.nan], [-1e-300], [1.0000000000000002], [np.inf]])
def test_what_is_no_probability_is_refused(q: list[float]) -> None:
    with pytest.raises(InvalidValue, match=r"probabilities: got .*; admissible: probabilities in \[0, 1\]"):
        Coins.seeded(0).bernoulli(np.array(q))


def test_the_input_is_left_alone() -> None:
    q = np.array([2.0**-70, 0.5])
    Coins.seeded(0).bernoulli(q)
    assert q.tolist() == [2.0**-70, 0.5]


@pytest.mark.parametrize("scale", [1e-3, 1.0, 160.0])
def test_laplace_noise_has_the_laplace_distribution(scale: float) -> None:
    noise = Coins.seeded(7).laplace(Fraction(scale), 100_000)
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > 1e-4
    assert stats.kstest(np.abs(noise), stats.expon(scale=scale).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 0.02


def test_laplace_noise_from_chosen_words() -> None:
    half, top = 2**63, 2**63
    noise = Coins(Chosen(half, 0, 2**64 - 1, top, 0, 0)).laplace(Fraction(2), 3)
    assert noise[0] == pytest.approx(2 * math.log(2))
    assert noise[1] == pytest.approx(-2 * 54 * math.log(2))  # the smallest uniform number is 2^-54
    assert noise[2] == 0
    assert np.isfinite(noise).all()


def test_a_scale_that_binary64_rounds_is_rounded_up() -> None:
    for scale in (Fraction(1, 10), Fraction(1, 3), Fraction(10**30, 7)):
        magnitude = abs(Coins(Chosen(2**63, 0)).laplace(scale, 1)[0])
        used = np.nextafter(float(scale), np.inf) if Fraction(float(scale)) < scale else float(scale)
        assert Fraction(float(used)) >= scale
        assert magnitude == -np.log(np.float64(0.5)) * used


def test_the_operating_system_is_private_and_never_repeats() -> None:
    one, other = Coins(), Coins()
    assert one.private
    assert not np.array_equal(one.source.bits(4), other.source.bits(4))
    assert not np.array_equal(one.laplace(Fraction(1), 4), one.laplace(Fraction(1), 4))
    assert one.source.bits(5).shape == (5,)


def test_seeded_coins_repeat_and_say_that_they_are_not_private() -> None:
    assert not Coins.seeded(3).private
    assert np.array_equal(Coins.seeded(3).source.bits(9), Coins.seeded(3).source.bits(9))
    assert not np.array_equal(Coins.seeded(3).source.bits(9), Coins.seeded(4).source.bits(9))
    coins = Coins.seeded(3)
    assert not np.array_equal(coins.laplace(Fraction(1), 5), coins.laplace(Fraction(1), 5))


@pytest.mark.parametrize(
    ("seed", "error"), [(-1, InvalidValue), (1.5, InvalidType), (True, InvalidType), ("1", InvalidType)]
)
def test_seeds_are_whole_numbers(seed: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"seed: got .*; admissible: a whole number ≥ 0"):
        Coins.seeded(seed)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 160.0])
def test_gaussian_noise_has_the_normal_distribution(scale: float) -> None:
    noise = Coins.seeded(8).gaussian(Fraction(scale), 100_001)
    assert noise.shape == (100_001,)
    assert stats.kstest(noise, stats.norm(scale=scale).cdf).pvalue > 1e-4
    assert stats.kstest(noise**2, stats.chi2(1, scale=scale**2).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(noise[:50_000], noise[50_001:])[0, 1]) < 0.02  # the two halves share their radii
    assert abs(np.corrcoef(noise[:50_000] ** 2, noise[50_001:] ** 2)[0, 1]) < 0.02
    assert abs(np.corrcoef(noise[:-1], noise[1:])[0, 1]) < 0.02


def test_gaussian_noise_from_chosen_words() -> None:
    assert np.abs(Coins(Chosen(0, 0)).gaussian(Fraction(1), 1)) == pytest.approx(math.sqrt(108 * math.log(2)))
    assert Coins(Chosen(0, 0)).gaussian(Fraction(1), 1)[0] < 8.66
    pair = Coins(Chosen(2**63, 2**62)).gaussian(Fraction(2), 2)
    assert pair == pytest.approx([0, 2 * math.sqrt(2 * math.log(2))], abs=1e-12)
    assert Coins(Chosen()).gaussian(Fraction(1), 0).shape == (0,)


@pytest.mark.parametrize(
    "shape", [Fraction(1), Fraction(3, 2), Fraction(7, 3), Fraction(2), Fraction(40), Fraction(10**6)]
)
def test_gamma_noise_has_the_gamma_distribution(shape: Fraction) -> None:
    drawn = Coins.seeded(12).gamma(shape, Fraction(5, 2), 60_000)
    assert stats.kstest(drawn, stats.gamma(float(shape), scale=2.5).cdf).pvalue > 1e-4
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.02


def test_signs_and_uniform_numbers() -> None:
    coins = Coins(Chosen(0, 2**63, 2**64 - 1))
    assert coins.signs(3).tolist() == [-1, 1, 1]
    assert Coins(Chosen(0, 2**63, 2**64 - 1)).uniform(3).tolist() == [2.0**-54, 0.5, 1]
    assert stats.kstest(Coins.seeded(2).uniform(50_000), "uniform").pvalue > 1e-4


@pytest.mark.parametrize("ratio", [Fraction(1, 3), Fraction(1, 10**4), Fraction(10**40 - 10**38, 10**40)])
def test_rational_coins_lie_within_exact_binomial_bounds(ratio: Fraction) -> None:
    size = 50_000
    drawn = Coins.seeded(13).exactly(ratio, size)
    assert drawn.dtype == np.bool_
    low, high = stats.binom.ppf([1e-7, 1 - 1e-7], size, float(ratio))
    assert low <= drawn.sum() <= high


def test_certain_rational_coins() -> None:
    assert Coins.seeded(1).exactly(Fraction(0), 100).tolist() == [False] * 100
    assert Coins.seeded(1).exactly(Fraction(1), 100).tolist() == [True] * 100


@pytest.mark.parametrize("exponent", [Fraction(1, 7), Fraction(1), Fraction(17, 5)])
def test_coins_of_an_exponential_lie_within_exact_binomial_bounds(exponent: Fraction) -> None:
    size = 30_000
    drawn = Coins.seeded(15).bernoulli_exp(exponent, size)
    assert drawn.dtype == np.bool_
    low, high = stats.binom.ppf([1e-7, 1 - 1e-7], size, math.exp(-exponent))
    assert low <= drawn.sum() <= high


def test_certain_and_hopeless_coins_of_an_exponential() -> None:
    assert Coins.seeded(1).bernoulli_exp(Fraction(0), 100).all()
    assert not Coins.seeded(1).bernoulli_exp(Fraction(10**6), 100).any()


def test_integers_are_uniform() -> None:
    drawn = Coins.seeded(14).integers(7, 20_000)
    assert stats.chisquare(np.bincount(drawn, minlength=7)).pvalue > 1e-4
    assert Coins.seeded(14).integers(1, 4) == [0] * 4


@pytest.mark.parametrize("scale", [Fraction(0), Fraction(-1)])
def test_scales_are_positive(scale: Fraction) -> None:
    coins = Coins.seeded(0)
    for noise in (coins.laplace, coins.gaussian, coins.discrete_laplace, coins.discrete_gaussian):
        with pytest.raises(InvalidValue, match=r"scale: got .*; admissible: a scale > 0"):
            noise(scale, 1)
    with pytest.raises(InvalidValue, match="a scale > 0"):
        coins.gamma(Fraction(1), scale, 1)


def test_scales_beyond_binary64_are_refused_where_noise_is_a_float() -> None:
    for noise in (Coins.seeded(0).laplace, Coins.seeded(0).gaussian):
        with pytest.raises(InvalidValue, match="a scale within the range of binary64"):
            noise(Fraction(2**1024), 1)
    assert len(Coins.seeded(0).discrete_laplace(Fraction(2**1024), 2)) == 2


def test_what_has_no_law_is_refused() -> None:
    coins = Coins.seeded(0)
    with pytest.raises(InvalidValue, match=r"ratio: got .*; admissible: a probability in \[0, 1\]"):
        coins.exactly(Fraction(4, 3), 1)
    with pytest.raises(InvalidValue, match=r"exponent: got .*; admissible: a number ≥ 0"):
        coins.bernoulli_exp(Fraction(-1, 3), 1)
    with pytest.raises(InvalidValue, match="bound: got 0; admissible: a whole number ≥ 1"):
        coins.integers(0, 1)
    with pytest.raises(InvalidValue, match=r"shape: got .*; admissible: a shape ≥ 1"):
        coins.gamma(Fraction(1, 2), Fraction(1), 1)
