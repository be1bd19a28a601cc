"""Exact draws: their laws from the tree of all decisions, against closed forms, and in many seeded draws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import count as counting
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from certdp.accounting.draws.source import Seeded
from certdp.plugins.contract import Coins
from certdp.plugins.contract.exact_draws import ExactDraws
from tests.support.cases import examples

TOP = 2**64
REACH = 160


class Words:
    """A source that hands out the words it was given, and no more."""

    private = False

    def __init__(self, *words: int) -> None:
        self.words = list(words)

    def bits(self, count: int) -> Any:
        assert self.words, "more words were asked for than the test expects"
        handed, self.words = self.words[:count], self.words[count:]
        return np.array(handed, dtype=np.uint64)


Decide = Callable[[Sequence[float]], int]
"""Chooses one of some chances."""


class _Open(Exception):
    def __init__(self, chances: Sequence[float]) -> None:
        super().__init__()
        self.chances = chances


class _Restart(Exception):
    """A rejection: the passes are independent, so the law of the first accepted one is that of them all."""


def law(draw: Callable[[Decide], Any], smallest: float) -> dict[Any, float]:
    """The law of a draw from all branches of its decisions of at least the `smallest` chance, given no restart."""
    masses: dict[Any, float] = {}
    branches: list[tuple[tuple[int, ...], float]] = [((), 1.0)]
    while branches:
        script, chance = branches.pop()
        steps = iter(script)

        def decide(chances: Sequence[float], steps: Iterator[int] = steps) -> int:
            for choice in steps:
                return choice
            raise _Open(chances)

        try:
            outcome = draw(decide)
        except _Open as branch:
            parts = [((*script, choice), chance * part) for choice, part in enumerate(branch.chances)]
            branches += [part for part in parts if part[1] >= smallest]
        except _Restart:
            pass
        else:
            masses[outcome] = masses.get(outcome, 0.0) + chance
    accepted = math.fsum(masses.values())
    return {outcome: mass / accepted for outcome, mass in masses.items()}


def once(function: Callable[..., Any]) -> Callable[..., Any]:
    calls = counting()

    def called(*arguments: Any) -> Any:
        if next(calls):
            raise _Restart
        return function(*arguments)

    return called


def coin_exp(decide: Decide) -> Callable[[int, int], bool]:
    return lambda p, q: bool(decide([-math.expm1(-p / q), math.exp(-p / q)]))


def laplace_law(scale: Fraction, z: int) -> float:
    ratio = math.exp(-1 / scale)
    return (1 - ratio) / (1 + ratio) * math.exp(-abs(z) / scale)


@cache
def laplace_table(scale: Fraction) -> Sequence[float]:
    return [laplace_law(scale, z) for z in range(-REACH, REACH + 1)]


@cache
def gaussian_total(scale: Fraction) -> float:
    reach = int(12 * scale) + 12
    return math.fsum(math.exp(-k * k / (2 * scale * scale)) for k in range(-reach, reach + 1))


def gaussian_law(scale: Fraction, z: int) -> float:
    return math.exp(-z * z / (2 * scale * scale)) / gaussian_total(scale)


@pytest.mark.parametrize("gamma", [Fraction(0), Fraction(1, 3), Fraction(1), Fraction(9, 4), Fraction(5)])
def test_the_coin_of_chance_exp_minus_gamma(gamma: Fraction) -> None:
    def draw(decide: Decide) -> bool:
        draws: Any = ExactDraws(Words(), 1)
        draws.bernoulli = lambda p, q: bool(decide([1 - p / q, p / q]))
        return bool(draws.bernoulli_exp(*gamma.as_integer_ratio()))

    assert law(draw, 1e-11).get(True, 0) == pytest.approx(math.exp(-gamma), abs=1e-8)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(2, 3), Fraction(3), Fraction(7, 2)])
def test_the_law_of_the_discrete_laplace(scale: Fraction) -> None:
    def draw(decide: Decide) -> int:
        draws: Any = ExactDraws(Words(), 1)
        draws.below = once(lambda bound: decide([1 / bound] * bound))
        draws._bits = lambda length: decide([0.5**length] * 2**length)
        draws.bernoulli_exp = draws._bernoulli_exp_within_one = coin_exp(decide)
        return int(draws.discrete_laplace(scale))

    masses = law(draw, 1e-14)
    for z in range(-40, 41):
        assert masses.get(z, 0) == pytest.approx(laplace_law(scale, z), abs=1e-12)


@pytest.mark.parametrize("scale", [Fraction(1, 10), Fraction(1), Fraction(5, 3), Fraction(4)])
def test_the_law_of_the_discrete_gaussian(scale: Fraction) -> None:
    def draw(decide: Decide) -> int:
        def laplace(wide: Fraction) -> int:
            return decide(laplace_table(wide)) - REACH

        draws: Any = ExactDraws(Words(), 1)
        draws.discrete_laplace = once(laplace)
        draws.bernoulli_exp = coin_exp(decide)
        return int(draws.discrete_gaussian(scale))

    masses = law(draw, 1e-20)
    for z in range(-60, 61):
        assert masses.get(z, 0) == pytest.approx(gaussian_law(scale, z), abs=1e-12)


@examples(200)
@given(
    ratio=st.fractions(0, 1) | st.builds(Fraction, st.integers(0, 2**90), st.just(2**90)),
    beside=st.integers(-1, 1),
    tail=st.integers(0, TOP - 1),
)
def test_a_uniform_number_below_the_ratio_is_drawn_and_no_other(ratio: Fraction, beside: int, tail: int) -> None:
    """Words that spell a number next to the ratio: equal to its first 192 digits, or one unit to their side."""
    digits = math.floor(ratio * TOP**3) + beside
    if not 0 <= digits < TOP**3:
        return
    words = [digits // TOP**2, digits // TOP % TOP, digits % TOP, tail, tail, tail]
    uniform = Fraction(sum(word * TOP ** (5 - place) for place, word in enumerate(words)), TOP**6)
    if uniform <= ratio < uniform + Fraction(1, TOP**6):
        return  # six words do not decide
    assert ExactDraws(Words(*words), 1).bernoulli(*ratio.as_integer_ratio()) == (uniform < ratio)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 8])
def test_integers_below_a_bound_are_the_first_bits_that_fit(bound: int) -> None:
    length = (bound - 1).bit_length()
    for first in range(2**length):
        words = [first << 64 - length, 0] if length else []
        drawn = ExactDraws(Words(*words), 1).below(bound)
        assert drawn == (first if first < bound else 0)


def test_long_integers_take_their_bits_from_several_words() -> None:
    assert ExactDraws(Words(1, 2**63), 2).below(2**65) == 3
    assert ExactDraws(Words(TOP - 1, 0, 5, 7), 4).below(2**127 + 1) == (5 << 64) + 7
    drawn = Coins.seeded(5).integers(3 * 10**30, 2000)
    assert stats.kstest(np.array([z / (3 * 10**30) for z in drawn]), "uniform").pvalue > 1e-3


def chi_square(drawn: list[int], chance: Callable[[int], float]) -> float:
    """The p-value of draws against a law on the integers; the rare tails are one cell each."""
    edge = next(z for z in counting(1) if len(drawn) * chance(z) < 10)
    seen = Counter(max(-edge, min(edge, z)) for z in drawn)
    cells = range(-edge, edge + 1)
    inner = [chance(z) for z in cells if abs(z) < edge]
    tail = (1 - math.fsum(inner)) / 2
    expected = np.array([tail, *inner, tail]) * len(drawn)
    return float(stats.chisquare([seen[z] for z in cells], expected).pvalue)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(7, 3), Fraction(40)])
def test_many_draws_have_their_laws(scale: Fraction, stream: int) -> None:
    coins = Coins.seeded(100 + stream)
    assert chi_square(coins.discrete_laplace(scale, 15_000), lambda z: laplace_law(scale, z)) > 1e-4
    assert chi_square(coins.discrete_gaussian(scale, 15_000), lambda z: gaussian_law(scale, z)) > 1e-4


@pytest.mark.parametrize("scale", [Fraction(10**30, 7), Fraction(1000, 3), Fraction(10**300)])
def test_wide_draws_look_continuous(scale: Fraction) -> None:
    coins = Coins.seeded(3)
    laplace = np.array([float(z / scale) for z in coins.discrete_laplace(scale, 5000)])
    assert stats.kstest(laplace, stats.laplace.cdf).pvalue > 1e-3
    gaussian = np.array([float(z / scale) for z in coins.discrete_gaussian(scale, 5000)])
    assert stats.kstest(gaussian, stats.norm.cdf).pvalue > 1e-3
    assert gaussian.std() == pytest.approx(1, abs=0.04)


def test_narrow_noise_is_almost_always_zero() -> None:
    coins = Coins.seeded(1)
    assert coins.discrete_laplace(Fraction(1, 10**300), 50) == [0] * 50
    assert coins.discrete_gaussian(Fraction(1, 10**300), 50) == [0] * 50


def test_the_block_changes_no_draw() -> None:
    one, other = ExactDraws(Seeded(4), 1), ExactDraws(Seeded(4), 1000)
    scale = Fraction(22, 7)
    assert [one.discrete_gaussian(scale) for _ in range(200)] == [other.discrete_gaussian(scale) for _ in range(200)]
