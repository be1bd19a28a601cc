"""The attack on the low bits of noise (Mironov 2012): it names the data behind binary64 noise, and fails on cells."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from certdp.plugins.contract import Coins

Floats: TypeAlias = NDArray[np.float64]

RELEASES = 200_000
SCALE = Fraction(2**30)
NEIGHBOURS = (0, 1)


def in_binary64(total: int, coins: Coins) -> Floats:
    """Releases of a sum with Laplace noise of scale 1, added in binary64."""
    return total + coins.laplace(Fraction(1), RELEASES)


def on_a_grid(total: int, coins: Coins) -> Floats:
    """Releases of a sum with Laplace noise of scale 1, correctly rounded to multiples of 2^-30."""
    return ((total << 30) + coins.laplace_cells(SCALE, RELEASES)) / 2.0**30


def on_a_grid_gaussian(total: int, coins: Coins) -> Floats:
    """The same with Gaussian noise of standard deviation 1."""
    return ((total << 30) + coins.gaussian_cells(SCALE, RELEASES)) / 2.0**30


def identified(outputs: Floats) -> float:
    """The share of outputs that cannot come from a sum of 1: near 0 those are multiples of 2^-53."""
    near = np.abs(outputs) < 0.5
    return float(np.mean(near & (np.mod(outputs * 2.0**53, 1) != 0)))


def last_one(outputs: Floats) -> NDArray[np.int64]:
    """The place of the last binary digit of each output that is not 0, counted from 2^-80 and cut to 100 places."""
    mantissa, exponent = np.frexp(outputs)
    whole = (mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1]
    return np.asarray(np.clip(zeros + exponent - 53 + 80, 0, 99), dtype=np.int64)


def alike(one: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """The p-value of χ² for one law behind two samples."""
    counts = np.array([np.bincount(sample, minlength=100) for sample in (one, other)])
    counts = counts[:, counts.sum(axis=0) >= 50]
    found: Any = stats.chi2_contingency(counts)
    return float(found.pvalue)


def last_digits(outputs: Floats) -> NDArray[np.int64]:
    return np.asarray(outputs * 2.0**30, dtype=np.int64) % 64


def test_the_attack_names_the_data_behind_noise_in_binary64() -> None:
    """The negative control: it must keep seeing what is wrong there."""
    zero, one = (in_binary64(total, Coins.seeded(total)) for total in NEIGHBOURS)
    assert identified(zero) > 0.2
    assert identified(one) == 0
    assert alike(last_one(zero), last_one(one)) < 1e-100


@pytest.mark.parametrize("release", [on_a_grid, on_a_grid_gaussian])
def test_the_attack_learns_nothing_from_noise_on_a_grid(release: Callable[[int, Coins], Floats]) -> None:
    """With fresh coins the digits of right releases would look unlike once in 10^6 runs."""
    zero, one = (release(total, Coins.seeded(10 + total)) for total in NEIGHBOURS)
    assert identified(zero) == identified(one) == 0
    for outputs in (zero, one):
        assert np.array_equal(np.rint(outputs * 2.0**30), outputs * 2.0**30)
    for read in (last_one, last_digits):
        assert alike(read(zero), read(one)) > 1e-6


def test_both_neighbours_reach_the_same_outputs() -> None:
    """Cell by cell on a coarse grid: what one sum can give, the other can, with probabilities e^(1/scale) apart."""
    scale, releases = Fraction(4), 10**6
    seen: list[Any] = []
    for total in NEIGHBOURS:
        cells = total + Coins.seeded(20 + total).laplace_cells(scale, releases)
        seen.append(np.bincount(np.clip(cells, -15, 15) + 15, minlength=31))
    ratio = seen[0] / seen[1]
    slack = 6 * np.sqrt(1 / seen[0] + 1 / seen[1])
    assert np.all(np.abs(np.log(ratio)) <= 1 / float(scale) + slack)
    assert np.max(np.abs(np.log(ratio))) >= 1 / float(scale) - slack.max()
