"""The bounds under the truncated Gaussian label: the worse direction, tangents below δ_μ, and about the least μ."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue, OutsideDomain
from certdp.accounting.individual import truncated_gaussian as module
from certdp.accounting.individual.truncated_gaussian import TruncatedGaussian, truncated_gaussian
from certdp.accounting.pairs.gaussian import SampledGaussian
from certdp.accounting.pairs.laws import DeltaLaw
from certdp.accounting.relations import Direction
from certdp.accounting.units import Delta
from certdp.verification.oracles.divergences import gaussian_delta
from tests.support.cases import examples

PAIR = SampledGaussian(Enclosure.of(1), Enclosure.of(Fraction(1, 50)))
DELTA = Delta("1e-4")
BITS = 96
ROUNDING = Fraction(1, 2**80)
PLACES = [Fraction(k, 16) for k in range(17)]


def one_sided(law: DeltaLaw, lossy: Direction) -> DeltaLaw:
    """A law that loses in one direction alone what the other one loses in its own remove direction."""

    def of(epsilon: Enclosure, direction: Direction) -> Enclosure:
        return law(epsilon, Direction.REMOVE) if direction is lossy else Enclosure.of(0)

    return of


@pytest.mark.parametrize("lossy", Direction)
def test_whichever_direction_loses_is_labelled(lossy: Direction) -> None:
    label = truncated_gaussian(one_sided(PAIR.delta, lossy), DELTA)
    assert label == truncated_gaussian(PAIR.delta, DELTA)  # remove dominates
    assert label.mu > 0
    assert label.epsilon > 0
    assert PAIR.delta(Enclosure.of(label.epsilon), Direction.REMOVE).upper <= DELTA.value
    assert PAIR.delta(Enclosure.of(label.epsilon * (1 - Fraction(1, 2**20))), Direction.REMOVE).lower > DELTA.value


def test_the_upper_ends_of_a_law_count() -> None:
    """A law that is known within a factor of two is labelled as if it were the larger."""

    def vague(epsilon: Enclosure, direction: Direction) -> Enclosure:
        upper = PAIR.delta(epsilon, direction).upper
        return Enclosure.between(upper / 2, upper, precision=epsilon.precision)

    found, sure = truncated_gaussian(vague, DELTA), truncated_gaussian(PAIR.delta, DELTA)
    assert PAIR.delta(Enclosure.of(found.epsilon), Direction.REMOVE).upper <= DELTA.value
    assert found.mu >= sure.mu * (1 - Fraction(1, 10**4))


@examples(60)
@given(
    st.integers(1, 300).map(lambda k: Fraction(k, 100)),
    st.fractions(0, 3, max_denominator=50),
    st.fractions(0, 1, max_denominator=20),
)
def test_a_tangent_lies_below_the_curve_and_touches_it(mu: Fraction, left: Fraction, width: Fraction) -> None:
    right = left + width
    ends = module._tangent(Enclosure.of(mu, precision=BITS), left, right)
    for end, tangent in zip((left, right), ends, strict=True):
        assert tangent.lower <= gaussian_delta(mu, end)
    middle = (left + right) / 2
    for tangent in module._tangent(Enclosure.of(mu, precision=BITS), middle, middle):
        assert abs(gaussian_delta(mu, middle) - tangent.upper) < ROUNDING


@examples(25)
@given(st.integers(20, 200).map(lambda k: Fraction(k, 100)), st.integers(0, 16), st.sampled_from([0, 1]))
def test_a_single_bound_above_the_curve_is_not_covered(mu: Fraction, place: int, side: int) -> None:
    """Bounds far below are covered; with one of them at the curve, the chord to it is not below the tangent."""
    low = [gaussian_delta(mu, end) / 4 for end in PLACES]
    assert module._covers(mu, PLACES, low)
    wrong = [*low[:place], gaussian_delta(mu, PLACES[place]) * (1 + side), *low[place + 1 :]]
    assert not module._covers(mu, PLACES, wrong)


def test_what_is_covered_bounds_the_chords_in_between() -> None:
    bounds = [PAIR.delta(Enclosure.of(end), Direction.REMOVE).upper for end in PLACES]
    mu = module._estimate(PLACES, bounds)
    assert module._covers(mu * (1 + Fraction(1, 10**8)), PLACES, bounds)
    assert not module._covers(mu * (1 - Fraction(1, 10**6)), PLACES, bounds)
    for (left, right), (first, second) in zip(pairwise(PLACES), pairwise(bounds), strict=True):
        for share in (Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(9, 10), Fraction(1)):
            chord = first + (second - first) * share
            assert chord <= gaussian_delta(mu * (1 + Fraction(1, 10**8)), left + (right - left) * share)


def test_mu_is_about_the_least_that_is_proven() -> None:
    label = truncated_gaussian(PAIR.delta, DELTA)
    places = [label.epsilon * k / 64 for k in range(64)] + [label.epsilon]
    bounds = [PAIR.delta(Enclosure.of(end, precision=BITS), Direction.REMOVE).upper for end in places]
    assert module._covers(label.mu, places, bounds)
    assert not module._covers(label.mu * (1 - Fraction(1, 10**6)), places, bounds)


def test_a_law_that_no_mu_bounds_is_refused() -> None:
    def certain(epsilon: Enclosure, direction: Direction) -> Enclosure:
        return Enclosure.of(1 if epsilon.upper < 2 else 0)

    with pytest.raises(OutsideDomain, match="larger δ₀"):
        truncated_gaussian(certain, DELTA)
    with pytest.raises(InvalidValue):
        truncated_gaussian(lambda epsilon, direction: Enclosure.of(Fraction(1, 2)), DELTA)


def test_a_law_that_is_within_the_cut_at_once_has_no_shift() -> None:
    nothing = truncated_gaussian(lambda epsilon, direction: Enclosure.of(DELTA.value / 2), DELTA)
    assert nothing == TruncatedGaussian(Fraction(0), Fraction(0), DELTA)
