"""Discrete noise in bulk: each word gets its number, beside tails too, and the law is that of the masses."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats

from certdp.accounting.draws import discrete
from certdp.accounting.draws.discrete import (
    TABLED,
    DiscreteGaussian,
    DiscreteLaplace,
    discrete_gaussian,
    discrete_laplace,
)
from certdp.accounting.draws.exact import LazyNumber
from certdp.accounting.draws.noise import LARGEST_SCALE
from certdp.accounting.draws.source import Seeded
from certdp.accounting.errors import InvalidValue
from certdp.plugins.contract import Coins
from certdp.verification.oracles.noise import discrete_tail, rounded_normal_kept
from tests.support.arb_noise import FURTHER, Handed
from tests.support.arb_numbers import arb_of
from tests.support.cases import draws

BEYOND = Fraction(FURTHER, 2**64 - 1)
BOTH = pytest.mark.parametrize("gaussian", [False, True], ids=["laplace", "gaussian"])
DRAW = {False: discrete_laplace, True: discrete_gaussian}


def number(gaussian: bool, scale: Fraction, word: int, about: int) -> int:
    """The k with T_k > p ≥ T_(k + 1), with the sign, searched from `about`."""
    p = ((word >> 1) + BEYOND) / 2**63
    k = max(about, 0)
    while k and discrete_tail(gaussian, scale, k) <= p:
        k -= 1
    while discrete_tail(gaussian, scale, k + 1) > p:
        k += 1
    return -k if word & 1 else k


@BOTH
@pytest.mark.parametrize("scale", [Fraction(1, 9), Fraction(2, 3), Fraction(1), Fraction(13, 4)], ids=str)
def test_words_beside_tails_get_their_number(gaussian: bool, scale: Fraction) -> None:
    generator, words, right = np.random.default_rng(1), [], []
    for k in range(1, 12):
        at = int(discrete_tail(gaussian, scale, k) * 2**63)
        for away in (-1, 0, 1, -int(2 ** (40 * generator.random())), int(2 ** (40 * generator.random()))):
            if 0 < at + away < 2**63:
                words.append(at + away << 1 | int(generator.integers(0, 2)))
                right.append(number(gaussian, scale, words[-1], k))
    padding = [2**63 + 2**61] * (1000 - len(words))
    drawn = DRAW[gaussian](scale, 1000, Handed(words + padding))
    assert drawn is not None
    assert drawn[: len(words)].tolist() == right


@BOTH
@pytest.mark.parametrize("scale", [Fraction(1, 9), Fraction(1, 2), Fraction(1), Fraction(13, 4), Fraction(70)], ids=str)
def test_tails_are_listed_to_the_first_of_one_unit_and_as_narrow_as_whole_units_are(
    gaussian: bool, scale: Fraction
) -> None:
    law = (DiscreteGaussian if gaussian else DiscreteLaplace)(scale)
    for bits in (20, 63, 64, 200):
        ends = law.tails(bits)
        assert all(high - low == 1 for low, high in ends)
        assert [high <= 1 for _, high in ends] == [False] * (len(ends) - 1) + [True]
    assert len(law.tails(64)) / 2 <= law.entries <= 2 * len(law.tails(64))


@pytest.mark.parametrize("seed", range(20))
def test_sums_of_rounded_masses_enclose_the_tails(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """With 4 bits more than are asked for, what each rounding loses is seen."""
    monkeypatch.setattr(discrete, "_MARGIN", 4)
    stream = random.Random(seed)
    scale = Fraction(stream.randint(1, 100), stream.randint(3, 60))
    with mpmath.workprec(160):
        exponent = mpmath.mpf(scale.denominator) ** 2 / (2 * mpmath.mpf(scale.numerator) ** 2)
        masses = [mpmath.exp(-exponent * k * k) for k in range(60 + int(20 * scale))]
        every = masses[0] + 2 * mpmath.fsum(masses[1:])
        for bits in range(4 + 2 * int(scale).bit_length(), 24):
            ends = DiscreteGaussian(scale).tails(bits)
            for k, (low, high) in enumerate(ends, 1):
                assert low <= 2**bits * 2 * mpmath.fsum(masses[k:]) / every <= high


@pytest.mark.parametrize("scale", [Fraction(100), Fraction(1000), Fraction(2**20, 3)], ids=str)
def test_words_of_large_laplace_scales_get_their_number(scale: Fraction) -> None:
    """T_k = 2·q^k/(1 + q) here; the test above has it summed."""
    import flint

    def tail(k: int) -> Fraction:
        with flint.ctx.workprec(400):
            ratio = (-1 / arb_of(scale)).exp()
            found = (2 * ratio**k / (1 + ratio) * flint.arb(2) ** 63).mid().fmpq()
            return Fraction(int(found.p), int(found.q))

    generator, words, right = np.random.default_rng(2), [], []
    for _ in range(draws(300)):
        k = int(1 + generator.random() * 20 * scale)
        away = int(generator.choice([-1, 1])) * int(2 ** (30 * generator.random()))
        v = int(tail(k)) + away
        if 0 < v < 2**63:
            words.append(v << 1 | 1)
            low = k - 2
            while tail(low + 1) > v + BEYOND:
                low += 1
            while low and tail(low) <= v + BEYOND:
                low -= 1
            right.append(-low)
    drawn = discrete_laplace(scale, len(words), Handed(words))
    assert drawn is not None
    assert drawn.tolist() == right


@BOTH
@pytest.mark.parametrize(
    "scale",
    [Fraction(1, 3), Fraction(1), Fraction(5, 2), Fraction(60), Fraction(1000), TABLED + Fraction(1, 2)],
    ids=str,
)
@pytest.mark.parametrize(
    "size", [pytest.param(10**6, id="a million"), pytest.param(10**7, id="ten million", marks=pytest.mark.soundness)]
)
def test_every_number_has_its_probability(gaussian: bool, scale: Fraction, size: int) -> None:
    """χ² over single numbers with their signs; a right law would fail once in 10^6 runs."""
    drawn = DRAW[gaussian](scale, size, Seeded(3))
    assert drawn is not None
    far = np.arange(int(60 * scale) + 60) / float(scale)
    mass = np.exp(-(far**2) / 2 if gaussian else -far)
    mass /= mass[0] + 2 * mass[1:].sum()
    last = int(np.count_nonzero(mass * size > 20)) - 1
    expected = np.concatenate([mass[last:0:-1], mass[: last + 1]]) * size
    seen = np.bincount(np.clip(drawn, -last - 1, last + 1) + last + 1, minlength=2 * last + 3)
    rest = size - expected.sum()
    expected, seen = np.append(expected, rest), np.append(seen[1:-1], seen[0] + seen[-1])
    if rest < 5:
        expected, seen = np.append(expected[:-2], expected[-2:].sum()), np.append(seen[:-2], seen[-2:].sum())
    assert stats.chisquare(seen, expected).pvalue > 1e-6


@pytest.mark.parametrize("scale", [TABLED + Fraction(1, 3), Fraction(10**6)], ids=str)
@pytest.mark.parametrize("share", [0, 1, -3, 8])
def test_the_share_that_is_kept_is_enclosed(scale: Fraction, share: int) -> None:
    y = int(share * scale)
    found, true = DiscreteGaussian(scale).kept(y, 100), rounded_normal_kept(scale, y)
    assert found.lower - Fraction(1, 2**60) <= true <= found.upper + Fraction(1, 2**60)
    assert found.width < Fraction(1, 2**90)
    level = int((1 - true) * 2**64)
    for away in (-(2**20), 2**20):
        assert discrete._accepts(DiscreteGaussian(scale), y, LazyNumber(level + away, 64, Handed([]))) == (away > 0)


@BOTH
def test_few_large_and_small_draws(gaussian: bool) -> None:
    coins = Coins.seeded(1)
    draw: Any = coins.discrete_gaussian_cells if gaussian else coins.discrete_laplace_cells
    for scale in (Fraction(1, 10**6), Fraction(1, 50), Fraction(900), Fraction(2**31), Fraction(LARGEST_SCALE)):
        for size in (0, 1, 5, 40_000):
            drawn = draw(scale, size)
            assert drawn.shape == (size,)
            assert drawn.dtype == np.int64
    with pytest.raises(InvalidValue, match=r"scale: got .*; admissible: a scale of at most"):
        draw(LARGEST_SCALE + Fraction(1, 3), 1)
    with pytest.raises(InvalidValue, match=r"scale: got .*; admissible: a scale > 0"):
        draw(Fraction(0), 1)
