"""Laws of losses cut in cells: against Arb, against exact δ laws, and what merging may do."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from certdp.accounting._kernels import lattice as kernels
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.loss_distribution.cells import Lattice
from certdp.accounting.loss_distribution.lattice_sums import _lower_masses, _upper_masses
from certdp.accounting.pairs import (
    DensityPair,
    DiscreteGaussianPair,
    DiscreteLaplacePair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    PublicChance,
    RandomisedResponsePair,
    Sampled,
    SampledGaussian,
    Symmetrised,
)
from certdp.accounting.relations import Direction
from tests.support.cases import examples
from tests.support.loss_cells import cells_of

Floats = NDArray[np.float64]
UNIT = 2.0**-53
BITS = 200
REMOVE, ADD = Direction.REMOVE, Direction.ADD


def number(value: float | str) -> Enclosure:
    return Enclosure.of(value)


PAIRS: tuple[Pair, ...] = (
    GaussianPair(number("0.1")),
    GaussianPair(number(1)),
    GaussianPair(number(6)),
    SampledGaussian(number(1), number("0.01")),
    SampledGaussian(number("0.3"), number("0.9")),
    SampledGaussian(number(8), number("1e-6")),
    LaplacePair(number(1)),
    LaplacePair(number(0)),
    Sampled(LaplacePair(number("0.7")), number("0.2")),
    RandomisedResponsePair(number("0.3")),
    Sampled(RandomisedResponsePair(number(2)), number("0.01")),
    DiscreteLaplacePair(number("0.25"), number(4)),
    Sampled(DiscreteLaplacePair(number(1), number(2)), number("0.5")),
    DiscreteGaussianPair(Fraction(4), number(2)),
    Sampled(DiscreteGaussianPair(Fraction(9, 2), number(3)), number("0.1")),
    FinitePair((Fraction(1, 2), Fraction(1, 2), Fraction(0)), (Fraction(1, 4), Fraction(0), Fraction(3, 4))),
    Sampled(FinitePair((Fraction(1, 3), Fraction(2, 3)), (Fraction(3, 4), Fraction(1, 4))), number("0.25")),
    DensityPair(delta_law=GaussianPair(number("0.5")).delta),
    Symmetrised(SampledGaussian(number(2), number("0.01"))),
    Symmetrised(SampledGaussian(number("0.2"), number(1))),
    Symmetrised(Sampled(LaplacePair(number("0.7")), number("0.2"))),
    Symmetrised(Sampled(DiscreteLaplacePair(number(1), number(2)), number("0.5"))),
    PublicChance(
        ((number("0.25"), SampledGaussian(number(1), number("0.1"))), (number("0.75"), LaplacePair(number(1))))
    ),
    PublicChance(
        (
            (number("0.875"), SampledGaussian(number(1), number("0.01"))),
            (number("0.125"), Symmetrised(SampledGaussian(number(2), number("0.01")))),
        )
    ),
    PublicChance(
        (
            (number("0.5"), FinitePair((Fraction(1, 2), Fraction(1, 2)), (Fraction(0), Fraction(1)))),
            (number("0.5"), RandomisedResponsePair(number(1))),
        )
    ),
)


def exact_delta(pair: Pair, epsilon: Fraction, direction: Direction) -> Enclosure:
    """δ at any real ε: at −ε it is 1 − e^(−ε)·(1 − δ(ε) of the other direction)."""
    law = pair.delta
    assert law is not None
    if epsilon >= 0:
        return law(Enclosure.of(epsilon), direction)
    other = ADD if direction is REMOVE else REMOVE
    return 1 - Enclosure.of(epsilon).exp() * (1 - law(Enclosure.of(-epsilon), other))


def lattice_delta(masses: Floats, infinite: float, lattice: Lattice, epsilon: Fraction) -> Enclosure:
    """δ of masses on a lattice, as an enclosure."""
    total = Enclosure.of(infinite)
    for i in np.flatnonzero(masses).tolist():
        loss = Fraction(lattice.offset) + Fraction(lattice.spacing) * (lattice.first + i)
        if loss > epsilon:
            total = total - Enclosure.of(epsilon - loss).expm1() * Fraction(float(masses[i]))
    return total


def lattices(spacing: float, reach: float, offset: float = 0.0) -> Lattice:
    return Lattice(offset, spacing, -math.ceil(reach / spacing), 2 * math.ceil(reach / spacing) + 1)


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{type(pair).__name__}-{PAIRS.index(pair)}")
@pytest.mark.parametrize(
    "lattice",
    [lattices(0.05, 3.0), lattices(0.3, 6.0, 0.02), lattices(0.0009765625, 0.05)],
    ids=["h=.05", "h=.3", "fine"],
)
def test_one_law_lies_above_and_one_below(pair: Pair, direction: Direction, lattice: Lattice) -> None:
    cells = cells_of(pair, direction)
    upper = _upper_masses(cells.above, lattice)
    lower = None if cells.below is None else _lower_masses(cells.below, lattice)
    raised = Fraction(lattice.spacing) / 2**36
    for epsilon in (Fraction(-1, 3), Fraction(0), Fraction(1, 64), Fraction(1, 5), Fraction(1), Fraction(5, 2)):
        truth = exact_delta(pair, epsilon, direction)
        assert lattice_delta(*upper, lattice, epsilon).upper >= truth.lower
        if lower is not None:
            assert lattice_delta(*lower, lattice, epsilon + raised).lower <= truth.upper


@pytest.mark.parametrize("shift", [1e-6, 0.3, 1.0, 7.5])
@pytest.mark.parametrize("width", [1e-7, 0.003, 0.4])
def test_normal_masses_are_within_their_units_of_arb(shift: float, width: float) -> None:
    starts = (-9.0, -2.5, 0.5 * shift, shift + 3.0, shift + 12.0)
    x = np.array([start + width * k for start in starts for k in range(3)])
    p_left, q_left, p_right, q_right, units = (np.empty(x.size + 1) for _ in range(5))
    kernels.gaussian_cells(x, shift, True, True, p_left, q_left, p_right, q_right, units)
    before, ctx.prec = ctx.prec, 600
    try:
        s = arb(shift)

        def below(at: float, centre: arb) -> arb:
            return ((centre - arb(at)) / arb(2).sqrt()).erfc() / 2

        for k in range(1, x.size):
            a, b = float(x[k - 1]), float(x[k])
            p, q = (below(b, centre) - below(a, centre) for centre in (s, arb(0)))
            loss_a, loss_b = ((s * (arb(at) - s / 2)).exp() for at in (a, b))
            right_q = (p - q * loss_a) / (loss_b - loss_a)
            left_q = q - right_q
            for found, true in (
                (q_right[k], right_q),
                (q_left[k], left_q),
                (p_right[k], right_q * loss_b),
                (p_left[k], left_q * loss_a),
            ):
                assert abs(arb(float(found)) / true - 1) < float(units[k]) * UNIT, k
    finally:
        ctx.prec = before


def test_laplace_masses_are_within_their_units_of_arb() -> None:
    shift, losses = 1.25, np.array([-1.249999, -1.0, -0.999999, 0.1, 1.2])
    p_left, q_left, p_right, q_right, units = (np.empty(losses.size + 1) for _ in range(5))
    kernels.laplace_cells(losses, shift, p_left, q_left, p_right, q_right, units)
    ends = [-shift, *losses.tolist(), shift]
    before, ctx.prec = ctx.prec, BITS
    try:
        for k, (a, b) in enumerate(pairwise(ends)):
            p = (((arb(b) - arb(shift)) / 2).exp() - ((arb(a) - arb(shift)) / 2).exp()) / 2
            q = ((-(arb(a) + arb(shift)) / 2).exp() - (-(arb(b) + arb(shift)) / 2).exp()) / 2
            assert abs((arb(p_left[k]) + arb(p_right[k])) / p - 1) < 2 * units[k] * UNIT
            assert abs((arb(q_left[k]) + arb(q_right[k])) / q - 1) < 2 * units[k] * UNIT
            assert abs(arb(p_left[k]) / arb(q_left[k]) / arb(a).exp() - 1) < 2 * units[k] * UNIT
            assert abs(arb(p_right[k]) / arb(q_right[k]) / arb(b).exp() - 1) < 2 * units[k] * UNIT
    finally:
        ctx.prec = before


@examples(60)
@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from([0.0, 1e-17, 1e-9, 1.0])), min_size=3, max_size=12
    ),
    st.sampled_from([2.0**-20, 0.01, 0.75]),
)
@example([(0.0, 1.0, 1.0), (1e-17, 1.0, 1.0), (1.0, 1e-17, 1.0), (0.5, 0.0, 1.0)], 0.01)
def test_merged_outcomes_are_no_more_likely_than_their_loss_says(
    cells: list[tuple[float, float, float]], spacing: float
) -> None:
    """At each point what is merged has P ≥ e^loss·Q, and all that is kept was there."""
    left, right = (np.array([0.0, *(cell[side] * cell[2] for cell in cells)]) for side in range(2))
    keep, masses = np.empty(left.size), np.empty(left.size - 1)
    kernels.dominated(left, right, np.full(left.size, 50.0), spacing, keep, masses)
    assert np.all((keep >= 0) & (keep <= 1))
    growth = Enclosure.of(spacing).exp()
    exact = [[Fraction(float(value)) for value in values] for values in (left, right, keep)]
    for i in range(masses.size):
        kept = exact[2][i + 1] * exact[1][i + 1]
        moved = (1 - exact[2][i]) * exact[0][i] if i else Fraction(0)
        assert kept >= (growth * moved).lower
        there = exact[2][i + 1] * (exact[0][i + 1] + exact[1][i + 1])
        there += (1 - exact[2][i]) * (exact[0][i] + exact[1][i]) if i else Fraction(0)
        assert Fraction(float(masses[i])) <= there


def test_rates_and_shifts_outside_the_range_are_bounded_from_both_sides() -> None:
    lattice = lattices(0.1, 2.0)
    for pair in (
        GaussianPair(number("1e-30")),
        GaussianPair(number(10**7)),
        SampledGaussian(number(1), number("1e-300")),
    ):
        cells = cells_of(pair, REMOVE)
        truth = exact_delta(pair, Fraction(1, 8), REMOVE)
        assert lattice_delta(*_upper_masses(cells.above, lattice), lattice, Fraction(1, 8)).upper >= truth.lower
        assert cells.below is not None
        assert lattice_delta(*_lower_masses(cells.below, lattice), lattice, Fraction(1, 8)).lower <= truth.upper
