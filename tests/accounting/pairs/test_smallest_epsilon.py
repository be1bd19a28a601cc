"""The inversion of laws δ(ε): proven ends for smooth laws, laws with jumps, and laws known roughly."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.conversions import delta_of_mu, epsilon_of_mu, smallest_epsilon
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.pairs import LaplacePair
from certdp.accounting.relations import Direction

TIGHT = Fraction(1, 10**12)
FINEST = Fraction(1, 2**60)


def falling(epsilon: Enclosure) -> Enclosure:
    return (-epsilon).exp()


@given(epsilon=st.fractions(0, 500, max_denominator=100) | st.integers(0, 80).map(lambda bits: Fraction(1, 2**bits)))
def test_both_ends_are_proven(epsilon: Fraction) -> None:
    asked: list[Enclosure] = []

    def law(at: Enclosure) -> Enclosure:
        asked.append(at)
        return falling(at)

    delta = falling(Enclosure.of(epsilon))
    found = smallest_epsilon(law, delta)
    assert found.contains(epsilon)
    assert falling(Enclosure.of(found.upper)).upper <= delta.lower
    assert found.lower == 0 or falling(Enclosure.of(found.lower)).lower > delta.upper
    assert found.width <= max(found.upper * TIGHT, FINEST)
    assert len(asked) <= 40
    assert all(at.is_point for at in asked)


@pytest.mark.slow
@given(mu=st.fractions(Fraction(1, 100), 8, max_denominator=100), digits=st.integers(1, 60))
def test_normal_laws_against_arb(mu: Fraction, digits: int) -> None:
    delta = Fraction(1, 10**digits)
    found = epsilon_of_mu(Enclosure.of(mu), Enclosure.of(delta))
    before, flint.ctx.prec = flint.ctx.prec, 600
    try:
        shift = flint.arb(mu.numerator) / mu.denominator

        def leak(epsilon: Fraction) -> flint.arb:
            level = flint.arb(epsilon.numerator) / epsilon.denominator
            cdf = [
                (-(x / flint.arb(2).sqrt())).erfc() / 2 for x in (shift / 2 - level / shift, -shift / 2 - level / shift)
            ]
            return cdf[0] - level.exp() * cdf[1]

        target = flint.arb(delta.numerator) / delta.denominator
        assert not leak(found.upper) > target
        assert found.lower == 0 or not leak(found.lower) < target
        direct = delta_of_mu(Enclosure.of(mu), Enclosure.of(found.upper))
        assert not leak(found.upper) > flint.arb(direct.upper.numerator) / direct.upper.denominator
        assert not leak(found.upper) < flint.arb(direct.lower.numerator) / direct.lower.denominator
    finally:
        flint.ctx.prec = before
    assert found.width <= max(found.upper * TIGHT, FINEST)


@pytest.mark.parametrize(("mu", "delta"), [("1e-10", "1e-12"), ("1000", "1e-5"), ("100", "0.5"), ("0.1", "1e-300")])
def test_extreme_normal_laws(mu: str, delta: str) -> None:
    found = epsilon_of_mu(Enclosure.of(mu), Enclosure.of(delta))
    assert delta_of_mu(Enclosure.of(mu), Enclosure.of(found.upper)).upper <= Fraction(delta)
    assert delta_of_mu(Enclosure.of(mu), Enclosure.of(found.lower)).lower >= Fraction(delta)
    assert found.width <= found.upper * TIGHT


@pytest.mark.parametrize(("delta", "epsilon"), [(0, 2), ("0.25", None), (1, 0)])
def test_a_law_that_reaches_0(delta: int | str, epsilon: int | None) -> None:
    law = LaplacePair(Enclosure.of(2)).delta
    found = smallest_epsilon(lambda at: law(at, Direction.ADD), Enclosure.of(delta))
    if epsilon is not None:
        assert found.contains(epsilon)
    assert law(Enclosure.of(found.upper), Direction.ADD).upper <= Fraction(delta)
    assert found.width <= max(found.upper * TIGHT, FINEST)


@pytest.mark.parametrize(("delta", "epsilon"), [("0.25", 3), ("0.3", 3), ("0.5", 0), ("0.1", 7), ("0.7", 0)])
def test_steps_are_found_and_the_safe_side_of_equality_taken(delta: str, epsilon: int) -> None:
    def law(at: Enclosure) -> Enclosure:
        return Enclosure.of("0.5" if at.upper < 3 else "0.25" if at.upper < 7 else 0)

    found = smallest_epsilon(law, Enclosure.of(delta))
    assert found.contains(epsilon)
    assert law(Enclosure.of(found.upper)).upper <= Fraction(delta)
    assert found.width <= max(found.upper * TIGHT, FINEST)


def test_a_law_known_roughly() -> None:
    rough = Enclosure.between("0.1", "0.3")
    found = smallest_epsilon(lambda at: falling(at) * rough, Enclosure.of("0.2"))
    assert found.lower == 0
    assert Fraction("0.405465") < found.upper < Fraction("0.405466")  # log(1.5)
    apart = smallest_epsilon(lambda at: falling(at) * rough, Enclosure.of("0.05"))
    assert apart.contains(Enclosure.of(2).log().hull(Enclosure.of(6).log()))
    assert apart.upper <= 3


def test_uncertain_arguments_are_covered() -> None:
    found = epsilon_of_mu(Enclosure.between("0.9", "1"), Enclosure.between("1e-6", "1e-5"))
    for mu in ("0.9", "1"):
        for delta in ("1e-6", "1e-5"):
            assert epsilon_of_mu(Enclosure.of(mu), Enclosure.of(delta)).upper <= found.upper * (1 + TIGHT)


def test_a_delta_that_is_never_reached() -> None:
    with pytest.raises(InvalidValue, match="choose a larger δ"):
        smallest_epsilon(falling, Enclosure.of(0))
    with pytest.raises(InvalidValue, match="choose a larger δ"):
        epsilon_of_mu(Enclosure.of(1), Enclosure.of(0))
    with pytest.raises(InvalidValue, match="delta"):
        smallest_epsilon(falling, Enclosure.of(-1))


def test_every_delta_of_a_range_is_covered() -> None:
    """Where δ is known roughly, each end goes with the δ that is worst for it."""
    found = smallest_epsilon(falling, Enclosure.between("0.2", "0.3"))
    assert found.contains(Enclosure.of(5).log().hull((Enclosure.of(10) / 3).log()))
    assert found.width <= Fraction("0.40546511")  # log(1.5)


@pytest.mark.parametrize("rough", [Fraction(1, 3), Fraction(1, 10**6)])
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(9, 10)])
def test_the_upper_end_is_proven_where_the_law_is_known_roughly_at_0(rough: Fraction, share: Fraction) -> None:
    """At 0 nothing is proven, neither that it is above δ nor that it is not."""

    def law(at: Enclosure) -> Enclosure:
        exact = falling(at)
        return exact.hull(exact * (1 - rough))

    delta = Enclosure.of(1 - rough * share)
    found = smallest_epsilon(law, delta)
    assert found.lower == 0
    assert law(Enclosure.of(found.upper)).upper <= delta.lower
    assert law(Enclosure.of(found.upper * (1 - TIGHT))).upper > delta.lower


def test_a_delta_that_reaches_below_0_is_refused() -> None:
    with pytest.raises(InvalidValue, match=r"delta: got .*; admissible: an enclosure of a number ≥ 0"):
        smallest_epsilon(falling, Enclosure.between(Fraction(-1, 2), Fraction(1, 2)))
