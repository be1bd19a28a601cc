"""Vectors of noise: each gets the cells that its words mean, beside boundaries too, and the law is exact."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from certdp.accounting.draws.laws import LAPLACE
from certdp.accounting.draws.lp_noise import (
    Numbers,
    Proposal,
    exact_lp_cells,
    kernel_cells,
    kernel_states,
    lp_cells,
)
from certdp.accounting.draws.noise import LARGEST_SCALE, noise_cells
from certdp.accounting.draws.source import Seeded
from certdp.accounting.errors import InvalidValue
from certdp.accounting.norms import Norm
from certdp.plugins.contract import Coins
from certdp.verification.oracles import noise as oracle
from tests.support.arb_noise import FURTHER, Handed
from tests.support.cases import draws

FINITE = [Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(20), Fraction(1024)]
ORDERS = [*FINITE, None]
BEYOND = Fraction(FURTHER, 2**64 - 1)


def named(order: Fraction | None) -> str:
    return str(order or "inf")


def norm(order: Fraction | None) -> Norm:
    return Norm("inf" if order is None else order)


def proposal(order: Fraction | None) -> Proposal | None:
    return None if order is None else Proposal(order)


def vectors(order: Fraction | None, size: int, count: int, seed: int) -> tuple[Any, Any]:
    """Words that are accepted, and levels, a row for each vector."""
    source = Seeded(seed)
    words = source.bits(4 * count * size)
    if order is not None:
        words = words[kernel_states(Proposal(order), words, source.bits(len(words))) == 1]
    return words[: count * size].reshape(count, size), source.bits(count * (size + (order is None))).reshape(count, -1)


def true(order: Fraction | None, words: Any, levels: Any) -> list[Fraction]:
    places = [((word >> 1) + BEYOND) / 2**63 for word in words.tolist()]
    return oracle.lp_vector(order, places, [(level + BEYOND) / 2**64 for level in levels.tolist()])


@pytest.mark.parametrize("order", ORDERS, ids=named)
@pytest.mark.parametrize("size", [2, 5, 40])
def test_vectors_beside_boundaries_get_the_cells_of_their_noise(order: Fraction | None, size: int) -> None:
    """The scale puts a coordinate from 2^-58 to 2^-42 of itself away from the end of a cell, on either side."""
    generator, decided = np.random.default_rng(3), 0
    count = max(30, draws(300) // size)
    for words, levels in zip(*vectors(order, size, count, 1), strict=True):
        each = true(order, words, levels)
        cell, place = int(2 ** (36 * generator.random())), int(generator.integers(size))
        away = Fraction(int(generator.choice([-1, 1])), 2 ** int(generator.integers(42, 58)))
        scale = min(max((cell + Fraction(1, 2)) / each[place] * (1 + away), Fraction(1)), Fraction(LARGEST_SCALE))
        signs = [-1 if word & 1 else 1 for word in words.tolist()]
        right = [sign * int(one * scale + Fraction(1, 2)) for one, sign in zip(each, signs, strict=True)]
        drawn = np.zeros((1, size), dtype=np.int64)
        if not kernel_cells(words, levels, proposal(order), scale, drawn):
            decided += 1
            assert drawn[0].tolist() == right
        assert exact_lp_cells(proposal(order), scale, words, levels, Numbers(), Handed([])) == right
    assert 0 < decided < count


@pytest.mark.parametrize("order", [*FINITE, Fraction(2**70), Fraction(10**300 + 1, 7)], ids=named)
def test_lengths_are_kept_by_the_ratio_of_the_densities(order: Fraction) -> None:
    """Levels on both sides of the end of those that keep a length, from one unit away to very many."""
    words = Seeded(4).bits(draws(150)).tolist()
    generator = np.random.default_rng(4)
    for word in words:
        share = oracle.lp_acceptance(order, ((word >> 1) + BEYOND) / 2**63)
        away = int(2 ** (40 * generator.random())) * int(generator.choice([-1, 1]))
        for level in {int(share * 2**64), int(share * 2**64) + away}:
            level = min(max(level, 0), 2**64 - 1)
            right = (level + BEYOND) / 2**64 <= share
            found = kernel_states(Proposal(order), *(np.array([x], dtype=np.uint64) for x in (word, level)))[0]
            assert found in (right, 2)
            if abs(away) > 2**30 and level == int(share * 2**64) + away and order <= 1024:
                assert found == right
            assert accepted(order, word, level) == right


def accepted(order: Fraction, word: int, level: int) -> bool:
    from certdp.accounting.draws.exact import LazyNumber

    source = Handed([])
    return Proposal(order).accepts(LazyNumber(word >> 1, 63, source), LazyNumber(level, 64, source))


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS, ids=named)
@pytest.mark.parametrize("size", [2, 3, 50])
@pytest.mark.parametrize(
    "entries", [pytest.param(2 * 10**5, id="some"), pytest.param(10**7, id="ten million", marks=pytest.mark.soundness)]
)
def test_radius_direction_signs_and_last_digits_have_their_laws(
    order: Fraction | None, size: int, entries: int
) -> None:
    """‖ζ‖_p is Gamma(d) whatever p; |ζ_1/‖ζ‖|^p is Beta(1/p, (d − 1)/p); each fails once in 10^6 for a right law."""
    count, scale = entries // size, Fraction(2**32) / 3
    drawn = lp_cells(norm(order), scale, count, size, Seeded(5))
    vectors_ = drawn / float(scale)
    largest = np.abs(vectors_).max(axis=1)
    if order is None:
        radius = largest
    elif order > 3:  # powers of small ratios leave binary64
        radius = np.linalg.norm(vectors_ / largest[:, np.newaxis], float(order), axis=1) * largest
    else:
        p = float(order)
        radius = largest * np.sum((np.abs(vectors_) / largest[:, np.newaxis]) ** p, axis=1) ** (1 / p)
        share = stats.beta(1 / p, (size - 1) / p).cdf((np.abs(vectors_[:, 0]) / radius) ** p)
        assert stats.kstest(share, "uniform").pvalue > 1e-6
    assert chi_square(stats.gamma(size).cdf(radius))
    inner = np.sum(vectors_[:, 1:], axis=1) > 0  # signs of the others say nothing of the first
    signs: Any = stats.chi2_contingency(np.histogram2d(drawn[:, 0] > 0, inner, bins=2)[0])
    assert signs.pvalue > 1e-6
    digits = np.bincount(((drawn & 63) + 64 * (drawn < 0)).reshape(-1), minlength=128)
    assert stats.chisquare(digits).pvalue > 1e-6


def chi_square(uniform: Any) -> bool:
    return bool(stats.chisquare(np.histogram(uniform, bins=100, range=(0, 1))[0]).pvalue > 1e-6)


@pytest.mark.parametrize("order", [Fraction(2), None], ids=named)
@pytest.mark.parametrize(
    "count", [pytest.param(10**5, id="some"), pytest.param(10**7, id="ten million", marks=pytest.mark.soundness)]
)
def test_coarse_cells_have_their_probabilities(order: Fraction | None, count: int) -> None:
    """χ² over the cells of the plane at 3/2 units a scale: masses by Gauss' rule on each cell, 40 nodes a side."""
    scale, reach = 1.5, 9
    drawn = lp_cells(norm(order), Fraction(3, 2), count, 2, Seeded(6))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    half = np.concatenate([-0.25 + nodes / 4, 0.25 + nodes / 4])  # halves, so that kinks at 0 are at their ends
    both = np.tile(weights / 4, 2)
    cells = np.arange(-reach, reach + 1)
    x = (cells[:, np.newaxis] + half).reshape(-1) / scale
    w = np.tile(both, len(cells)) / scale
    density = np.exp(
        -np.linalg.norm(np.stack(np.meshgrid(x, x, indexing="ij")), np.inf if order is None else 2, axis=0)
    )
    mass = (density * np.outer(w, w)).reshape(len(cells), 80, len(cells), 80).sum(axis=(1, 3))
    mass /= 8 if order is None else 2 * np.pi  # ∫ exp(−‖ζ‖) = d!·volume of the unit ball
    seen = np.histogram2d(drawn[:, 0], drawn[:, 1], bins=np.arange(-reach, reach + 2) - 0.5)[0]
    expected, found = np.append(mass * count, count * (1 - mass.sum())), np.append(seen, count - seen.sum())
    rare = expected <= 20  # these join the rest of the plane
    cell = np.unique(np.where(rare, len(rare), np.arange(len(rare))), return_inverse=True)[1]
    expected, found = np.bincount(cell, expected), np.bincount(cell, found)
    assert stats.chisquare(found, expected * found.sum() / expected.sum()).pvalue > 1e-6


@pytest.mark.parametrize("order", ["1", "2", "inf"])
def test_one_coordinate_and_order_one_are_laplace_noise(order: str) -> None:
    size = 4 if order == "1" else 1
    drawn = lp_cells(Norm(order), Fraction(2**30), 3, size, Seeded(7))
    assert drawn.reshape(-1).tolist() == noise_cells(LAPLACE, Fraction(2**30), 3 * size, Seeded(7)).tolist()
    assert drawn.shape == (3, size)


@pytest.mark.parametrize("order", ["2", "inf", str(2**70)])
def test_as_many_vectors_as_asked_for(order: str) -> None:
    for count, size in ((0, 4), (3, 0), (5, 3), (1, 70_000) if order != str(2**70) else (2, 2)):
        drawn = Coins.seeded(1).lp_cells(Norm(order), Fraction(2), count, size)
        assert drawn.shape == (count, size)
        assert drawn.dtype == np.int64
    again = Coins.seeded(1).lp_cells(Norm(order), Fraction(2), 7, 3)
    assert again.tolist() == Coins.seeded(1).lp_cells(Norm(order), Fraction(2), 7, 3).tolist()


def test_large_orders_look_like_infinity() -> None:
    drawn = lp_cells(Norm(2**70), Fraction(2**30), 300, 3, Seeded(8)) / 2**30
    assert stats.kstest(np.abs(drawn).max(axis=1), stats.gamma(3).cdf).pvalue > 1e-6
    cube = lp_cells(Norm.LINF, Fraction(2**30), 1000, 3, Seeded(9)) / 2**30
    assert stats.kstest(drawn[:, 0], cube[:, 0]).pvalue > 1e-6


@pytest.mark.parametrize("scale", [Fraction(99, 100), LARGEST_SCALE + Fraction(1, 9)])
def test_scales_coarser_or_much_finer_than_the_grid_are_refused(scale: Fraction) -> None:
    with pytest.raises(InvalidValue, match=r"scale: got .*; admissible: a scale from 1 to .* units of the grid"):
        lp_cells(Norm.L2, scale, 1, 2, Handed([]))
