"""Rare large losses composed apart: against quadrature, direct convolution, contours and exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtr

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution import lattice, lattice_plans
from certdp.accounting.loss_distribution.cells import Cells
from certdp.accounting.loss_distribution.inversion import epsilon_by_transforms
from certdp.accounting.loss_distribution.lattice import delta_by_lattice, epsilon_by_lattice
from certdp.accounting.loss_distribution.lattice_sums import Composed, composed
from certdp.accounting.pairs import FinitePair, GaussianPair, LaplacePair, Sampled, SampledGaussian
from certdp.accounting.relations import Direction
from tests.support.cases import examples
from tests.support.loss_cells import cells_of, gap

REMOVE = Direction.REMOVE


def number(value: float | str | Fraction) -> Enclosure:
    return Enclosure.of(value)


def cut(
    parts: list[tuple[Cells, int]], epsilon: float, threshold: float, delta: float, carelessness: float = 1.0
) -> Composed:
    """The composition with the losses above a threshold apart; the more careless, the more terms are left out."""
    merged = lattice._merged(parts)
    shape = lattice_plans.Shape(merged)
    peel = lattice_plans._peel(shape, epsilon, delta * carelessness, threshold)
    assert peel is not None
    return composed(merged, lattice_plans._plan_cut(merged, shape, epsilon, delta, peel, None))


def one_step(rate: mpmath.mpf, shift: mpmath.mpf, epsilon: mpmath.mpf) -> mpmath.mpf:
    """δ(ε) of one sampled Gaussian release, REMOVE."""
    growth = mpmath.exp(epsilon)
    if growth <= 1 - rate:
        return 1 - growth
    x = mpmath.log((growth - 1 + rate) / rate) / shift + shift / 2
    return rate * mpmath.ncdf(shift - x) - (growth - 1 + rate) * mpmath.ncdf(-x)


def two_steps(rate: str, shift: str, epsilon: str) -> mpmath.mpf:
    """δ(ε) of two of them: the loss of one, integrated."""
    q, s, e = (mpmath.mpf(value) for value in (rate, shift, epsilon))

    def weighed(x: mpmath.mpf) -> mpmath.mpf:
        density = (1 - q) * mpmath.npdf(x) + q * mpmath.npdf(x, s)
        return density * one_step(q, s, e - mpmath.log1p(q * mpmath.expm1(s * x - s * s / 2)))

    last = mpmath.log((mpmath.exp(e - mpmath.log1p(-q)) - 1 + q) / q) / s + s / 2
    pieces: list[mpmath.mpf] = [
        *(mpmath.mpf(k) for k in range(-12, int(last) + 1, 2)),
        last,
        last + 1,
        last + 4,
        last + 12,
    ]
    whole = mpmath.quad(weighed, pieces, maxdegree=5)
    return mpmath.mpf(0) + whole


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "shift", "epsilon"), [("1e-4", "1", "0.1"), ("1e-4", "2", "3"), ("1e-2", "0.25", "0.06")]
)
def test_two_releases_against_quadrature(rate: str, shift: str, epsilon: str) -> None:
    with mpmath.workdps(16):
        truth = two_steps(rate, shift, epsilon)
    cells = cells_of(SampledGaussian(number(shift), number(rate)))
    for threshold in (float(epsilon), float(epsilon) / 4):
        found = cut([(cells, 2)], float(epsilon), threshold, float(truth)).delta(float(epsilon), float(epsilon))
        assert found.lower_float <= float(truth) * (1 + 1e-9)
        assert float(truth) * (1 - 1e-9) <= found.upper_float
        assert gap(found) < 0.05


def bracket(rate: float, shift: float, times: int, epsilon: float, spacing: float, top: float) -> tuple[float, float]:
    """δ(ε) from below and above: losses rounded down and up, sums of products of numbers ≥ 0."""
    first = math.floor(math.log1p(-rate) / spacing)
    edges = np.arange(first, math.ceil(top / spacing) + 1) * spacing
    growth = np.maximum(np.expm1(edges) + rate, 0) / rate
    with np.errstate(divide="ignore"):
        x = np.log(growth) / shift + shift / 2
    beyond = (1 - rate) * ndtr(-x) + rate * ndtr(shift - x)
    masses = beyond[:-1] - beyond[1:]

    def power(start: int) -> tuple[float, NDArray[np.float64]]:
        """The losses' sum, from index `start`·times on, and what is not in it."""
        found, at, done = masses, start, 1
        limit = len(masses)
        for bit in bin(times)[3:]:
            found, at, done = np.convolve(found, found), 2 * at, 2 * done
            if bit == "1":
                found, at, done = np.convolve(found, masses), at + start, done + 1
            found = found[: max(limit - at, 1)]
        losses = (at + np.arange(found.size)) * spacing
        return float(np.maximum(-np.expm1(epsilon - losses), 0) @ found), found

    below, _ = power(first)
    above, _ = power(first + 1)
    # what is beyond the top has at most the loss ∞, and one loss at least is beyond top/times
    lost = times * float(np.interp(top / times, edges, beyond))
    return below, above + lost


@pytest.mark.parametrize(
    ("rate", "shift", "epsilon", "spacing", "top"),
    [
        pytest.param("1e-4", "1", 0.13, 1e-4, 1.2, marks=pytest.mark.soundness),
        pytest.param("1e-4", "2", 6.4, 2e-3, 16.0, marks=pytest.mark.slow),
        pytest.param("1e-2", "1", 3.3, 1e-3, 12.0, marks=pytest.mark.slow),
    ],
)
def test_ten_releases_against_direct_convolution(
    rate: str, shift: str, epsilon: float, spacing: float, top: float
) -> None:
    low, high = bracket(float(rate), float(shift), 10, epsilon, spacing, top)
    cells = cells_of(SampledGaussian(number(shift), number(rate)))
    found = cut([(cells, 10)], epsilon, epsilon / 2, low).delta(epsilon, epsilon)
    assert found.lower_float <= high
    assert low <= found.upper_float
    assert gap(found) < 0.05
    assert found.upper_float < 1.3 * low


@pytest.mark.slow
@examples(10)
@given(st.floats(0.05, 3), st.floats(0, 2), st.sampled_from([1e-9, 1e-3, 1.0, 1e4]))
def test_any_cut_of_a_discrete_law_is_exact_but_for_the_rest(threshold: float, epsilon: float, left_out: float) -> None:
    pair = FinitePair(
        (Fraction(890, 1000), Fraction(100, 1000), Fraction(9, 1000), Fraction(1, 1000)),
        (Fraction(9890, 10000), Fraction(100, 10000), Fraction(9, 10000), Fraction(1, 10000)),
    )
    factor = Fraction(epsilon) + 1
    level = Enclosure.of(factor).log()
    four = pair.repeated(4)
    assert isinstance(four, FinitePair)
    truth = four.hockey_stick(factor, REMOVE)
    merged = lattice._merged([(cells_of(pair), 4)])
    shape = lattice_plans.Shape(merged)
    peel = lattice_plans._peel(shape, level.upper_float, left_out, threshold)
    if peel is None:
        return
    plan = lattice_plans._plan_cut(merged, shape, level.upper_float, 1e-9, peel, None)
    found = composed(merged, plan).delta(level.lower_float, level.upper_float)
    assert found.lower <= truth <= found.upper


def test_terms_left_out_are_paid_for_above_and_missed_below() -> None:
    cells = cells_of(GaussianPair(number("0.5")))
    truth = GaussianPair(number("0.5")).repeated(6).delta
    assert truth is not None
    careless = cut([(cells, 6)], 3.0, 0.9, 1e-6, 0.99e11)
    exact = truth(number(3), REMOVE)
    assert exact.upper < careless.rest.upper < 1
    found = careless.delta(3.0, 3.0)
    assert found.lower < exact.lower
    assert exact.upper < found.upper


def test_several_parts_are_peeled_together() -> None:
    parts = [(cells_of(SampledGaussian(number(1), number(rate))), 2) for rate in ("1e-3", "0.002")]
    found = cut(parts, 1.0, 0.5, 1e-13).delta(1.0, 1.0)
    plain = delta_by_lattice(parts, number(1), points=1 << 16)
    assert found.lower <= plain.upper
    assert plain.lower <= found.upper
    assert gap(found) < 0.05
    assert gap(plain) < 0.05


@pytest.mark.slow
def test_contours_agree_with_a_cut() -> None:
    pair = SampledGaussian(number(2), number("0.01"))
    truth = epsilon_by_transforms([(pair.loss_transform(REMOVE), 1000)], number("1e-10"))
    assert truth is not None
    found = epsilon_by_lattice([(cells_of(pair), 1000)], number("1e-10"))
    assert found.lower <= truth.upper
    assert truth.lower <= found.upper
    assert gap(found) < 0.01


@pytest.mark.parametrize(
    ("rate", "shift", "times", "delta"),
    [
        ("1e-4", "1", 10, "1e-15"),
        ("1e-4", "0.25", 10, "1e-15"),
        ("1e-4", "1", 1000, "1e-15"),
        ("1e-3", "1", 100, "1e-12"),
    ],
)
def test_rare_large_losses_have_a_close_epsilon(rate: str, shift: str, times: int, delta: str) -> None:
    cells = cells_of(SampledGaussian(number(shift), number(rate)))
    assert gap(epsilon_by_lattice([(cells, times)], number(delta))) < 0.01


def test_laws_of_sampled_laplace_releases_with_rare_losses() -> None:
    cells = cells_of(Sampled(LaplacePair(number(3)), number("1e-5")))
    one = epsilon_by_lattice([(cells, 3)], number("1e-9"))
    more = epsilon_by_lattice([(cells, 4)], number("1e-9"))
    assert one.lower <= more.upper
    assert gap(more) < 0.05


@pytest.mark.parametrize("threshold", [0.15, 0.3, 0.99])
def test_a_part_without_rare_losses_stays_whole(threshold: float) -> None:
    parts = [(cells_of(SampledGaussian(number(1), number("1e-3"))), 2), (cells_of(LaplacePair(number("0.1"))), 2)]
    found = cut(parts, 1.0, threshold, 1e-11).delta(1.0, 1.0)
    plain = delta_by_lattice(parts, number(1), points=1 << 16)
    assert found.lower <= plain.upper
    assert plain.lower <= found.upper
    assert found.upper > found.lower > 0
