"""Symmetrised pairs: curves, composition against exact tables, and the maximum of two compositions as a control."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import (
    DensityPair,
    DiscreteLaplacePair,
    FinitePair,
    GaussianPair,
    LaplacePair,
    Pair,
    RandomisedResponsePair,
    Sampled,
    SampledGaussian,
    Symmetrised,
    symmetrised,
)
from certdp.accounting.relations import Direction
from tests.support.cases import examples
from tests.support.loss_cells import gap

REMOVE, ADD = Direction
ONE = Enclosure.of(1)
BASES: tuple[Pair, ...] = (
    SampledGaussian(Enclosure.of(2), Enclosure.of("0.01")),
    Sampled(LaplacePair(ONE), Enclosure.of("0.3")),
    Sampled(RandomisedResponsePair(ONE), Enclosure.of("0.3")),
    Sampled(DiscreteLaplacePair(ONE, Enclosure.of(2)), Enclosure.of("0.2")),
)
bases = pytest.mark.parametrize("base", BASES, ids=lambda base: type(getattr(base, "base", base)).__name__)


def hockey_stick(pair: FinitePair, factor: Fraction) -> Fraction:
    return sum((max(p - factor * q, Fraction(0)) for p, q in zip(pair.present, pair.absent, strict=True)), Fraction(0))


def law(pair: Pair, epsilon: str, direction: Direction) -> Enclosure:
    assert pair.delta is not None
    return pair.delta(Enclosure.of(epsilon), direction)


@bases
def test_both_directions_have_the_curve_of_remove(base: Pair) -> None:
    pair = symmetrised(base)
    assert pair.symmetric
    for epsilon in ("0", "0.1", "1"):
        assert law(pair, epsilon, REMOVE) == law(pair, epsilon, ADD) == law(base, epsilon, REMOVE)
    delta = Enclosure.of("1e-4")
    assert pair.smallest_epsilon(delta, ADD) == base.smallest_epsilon(delta, REMOVE)


def test_a_normal_pair_twice_as_far_has_half_its_squared_shift_as_rho() -> None:
    rho = symmetrised(SampledGaussian(Enclosure.of(2), Enclosure.of("0.01"))).zero_concentrated
    assert rho is not None
    assert rho.contains(2)
    assert rho.width < Fraction(1, 2**90)


@bases
def test_every_notion_bounds_both_directions_of_what_is_sampled(base: Pair) -> None:
    """The pair dominates the sampled one, in both directions, so that each divergence of it is at least as large."""
    pair = symmetrised(base)
    assert pair.renyi is not None
    assert base.renyi is not None
    for direction in Direction:
        for order in (Fraction(3, 2), Fraction(8)):
            assert pair.renyi(order, direction).upper >= base.renyi(order, direction).lower
    if base.pure is not None:
        assert pair.pure is not None
        assert pair.pure(ADD) == base.pure(REMOVE)


@examples(40)
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 7), st.integers(1, 4))
def test_a_symmetrised_table_has_the_curve_of_remove_and_its_mirror(a: int, b: int, q: int, t: int) -> None:
    symmetric = FinitePair(
        (Fraction(a, a + b + 1), Fraction(b, a + b + 1), Fraction(1, a + b + 1)),
        (Fraction(b, a + b + 1), Fraction(a, a + b + 1), Fraction(1, a + b + 1)),
    )
    base = symmetric.sampled(Enclosure.of(Fraction(q, 8)))
    pair = symmetrised(base)
    assert isinstance(base, FinitePair)
    assert isinstance(pair, FinitePair)
    factor = 1 + Fraction(t, 8)
    assert hockey_stick(pair, factor) == hockey_stick(base, factor)
    assert hockey_stick(pair, 1 / factor) == 1 - 1 / factor + hockey_stick(base, factor) / factor
    swapped = FinitePair(pair.absent, pair.present)
    assert hockey_stick(swapped, factor) == hockey_stick(pair, factor)


@pytest.mark.parametrize("steps", [2, 7])
def test_composition_agrees_with_exact_tables(steps: int) -> None:
    """Randomised response, sampled: the law in cells against the table that the lattice does not know of."""
    third, rate = Fraction(1, 3), Fraction(1, 4)
    table = FinitePair((1 - third, third), (third, 1 - third)).sampled(Enclosure.of(rate))
    exact = symmetrised(table).repeated(steps)
    response = RandomisedResponsePair(Enclosure.of(2).log())
    found = Symmetrised(Sampled(response, Enclosure.of(rate))).repeated(steps)
    for epsilon in ("0.05", "0.3"):
        truth, bound = law(exact, epsilon, REMOVE), law(found, epsilon, REMOVE)
        assert truth.upper <= bound.upper <= truth.upper * Fraction(101, 100) + Fraction(1, 10**12)


def test_its_composition_exceeds_the_maximum_of_the_two_orders_composed_apart() -> None:
    """The control: an adaptive run may change the order at each step."""
    base = SampledGaussian(Enclosure.of(2), Enclosure.of("0.01"))
    delta = Enclosure.of("1e-5")
    found = Symmetrised(base).repeated(1000).smallest_epsilon(delta, REMOVE)
    apart = [base.repeated(1000).smallest_epsilon(delta, direction) for direction in Direction]
    assert found is not None
    assert all(one is not None and one.upper < found.upper for one in apart)
    assert 14.81 < found.upper < 14.83


def test_one_step_is_known_from_both_sides() -> None:
    found = Symmetrised(BASES[0]).smallest_epsilon(Enclosure.of("1e-5"), REMOVE)
    assert found is not None
    assert gap(found) < 1e-12


def test_other_pairs_are_refused() -> None:
    with pytest.raises(InvalidValue, match="base"):
        Symmetrised(DensityPair(mu=ONE))
    with pytest.raises(InvalidValue, match="base"):
        Symmetrised(GaussianPair(ONE).repeated(2))
    with pytest.raises(InvalidType, match="base"):
        Symmetrised(1)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="pair"):
        symmetrised(FinitePair((Fraction(9, 10), Fraction(1, 10)), (Fraction(8, 10), Fraction(2, 10))))
