"""Two normal laws, whole and sampled: each law is around its number for all parameters within their enclosures."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.pairs import GaussianPair, SampledGaussian
from certdp.accounting.pairs.loss_distribution import composed_delta
from certdp.accounting.relations import Direction
from tests.support.arb_numbers import arb_of, fraction_of
from tests.support.cases import examples

TINY = Fraction(1, 2**70)
SIXTEENTHS = st.builds(Fraction, st.integers(1, 64), st.just(16))
RATES = st.builds(Fraction, st.integers(1, 31), st.just(32))
WIDTHS = st.sampled_from([Fraction(0), Fraction(1, 64)])
DIRECTIONS = st.sampled_from(Direction)


@pytest.fixture(autouse=True, scope="module")
def _precise_arb() -> Iterator[None]:
    before, flint.ctx.prec = flint.ctx.prec, 300
    yield
    flint.ctx.prec = before


def normal(x: flint.arb) -> flint.arb:
    return (-x / flint.arb(2).sqrt()).erfc() / 2


def exact_delta(shift: Fraction, rate: Fraction, epsilon: Fraction, direction: Direction) -> Fraction:
    """P − e^ε·Q, or Q − e^ε·P, beyond the place where the ratio (1 − q) + q·e^(sx − s²/2) is e^ε, or e^−ε."""
    s, q, level = arb_of(shift), arb_of(rate), arb_of(epsilon).exp()
    removes = direction is Direction.REMOVE
    odds = (level if removes else 1 / level) - 1 + q
    if not odds > 0:
        return Fraction(0)
    place = ((odds / q).log() + s * s / 2) / s
    here, there = (normal(-place), normal(s - place)) if removes else (normal(place), normal(place - s))
    mixture = (1 - q) * here + q * there
    return max(fraction_of((mixture - level * here if removes else here - level * mixture).mid()), Fraction(0))


def around(found: Enclosure, ends: list[Fraction]) -> bool:
    """Whether an enclosure is around the numbers of an interval, and hardly wider."""
    least, most = min(ends), max(ends)
    return least - TINY <= found.lower <= least + TINY and most - TINY <= found.upper <= most + TINY


@given(SIXTEENTHS, WIDTHS, SIXTEENTHS, WIDTHS, DIRECTIONS)
def test_delta_of_two_normal_laws(
    shift: Fraction, wider: Fraction, epsilon: Fraction, longer: Fraction, direction: Direction
) -> None:
    pair, level = GaussianPair(Enclosure.between(shift, shift + wider)), Enclosure.between(epsilon, epsilon + longer)
    corners = (shift, epsilon + longer), (shift + wider, epsilon)
    ends = [exact_delta(s, Fraction(1), e, direction) for s, e in corners]
    assert around(pair.delta(level, direction), ends)


@given(SIXTEENTHS, WIDTHS, RATES, WIDTHS, SIXTEENTHS, DIRECTIONS)
def test_delta_of_a_sampled_normal_law(
    shift: Fraction, wider: Fraction, rate: Fraction, oftener: Fraction, epsilon: Fraction, direction: Direction
) -> None:
    sampled = GaussianPair(Enclosure.between(shift, shift + wider)).sampled(Enclosure.between(rate, rate + oftener))
    assert isinstance(sampled, SampledGaussian)
    ends = [exact_delta(s, q, epsilon, direction) for s, q in ((shift, rate), (shift + wider, rate + oftener))]
    assert around(sampled.delta(Enclosure.of(epsilon), direction), ends)


@examples(4)
@given(SIXTEENTHS, WIDTHS, st.sampled_from([Fraction(1, 8), Fraction(1)]), DIRECTIONS)
def test_delta_follows_from_the_distribution_of_the_loss(
    shift: Fraction, wider: Fraction, rate: Fraction, direction: Direction
) -> None:
    pair = GaussianPair(Enclosure.between(shift, shift + wider)).sampled(Enclosure.of(rate))
    found = composed_delta([(pair, 1)], Enclosure.of(Fraction(1, 16)), direction)
    ends = [exact_delta(s, rate, Fraction(1, 16), direction) for s in (shift, shift + wider)]
    assert found.lower - TINY <= min(ends)
    assert max(ends) - TINY <= found.upper <= max(ends) * Fraction(11, 10) + TINY


@given(SIXTEENTHS, WIDTHS, SIXTEENTHS, st.integers(1, 9), DIRECTIONS)
def test_costs_of_two_normal_laws(
    shift: Fraction, wider: Fraction, above_one: Fraction, times: int, direction: Direction
) -> None:
    pair, order = GaussianPair(Enclosure.between(shift, shift + wider)), 1 + above_one
    ends = [shift, shift + wider]
    assert around(pair.renyi(order, direction), [order * s * s / 2 for s in ends])
    assert around(pair.zero_concentrated, [s * s / 2 for s in ends])
    assert pair.gaussian == pair.normal_shift == pair.shift
    together = pair.repeated(times).gaussian
    assert together is not None
    assert around(together.square(), [times * s * s for s in ends])
    assert pair.symmetric
    assert pair.sampled(Enclosure.of(1)) == pair


@given(SIXTEENTHS, RATES, RATES, DIRECTIONS)
def test_costs_of_a_sampled_normal_law(shift: Fraction, rate: Fraction, again: Fraction, direction: Direction) -> None:
    sampled = SampledGaussian(Enclosure.of(shift), Enclosure.of(rate))
    assert around(sampled.zero_concentrated, [shift * shift / 2])
    assert sampled.gaussian == Enclosure.of(shift)
    twice = sampled.sampled(Enclosure.of(again))
    assert isinstance(twice, SampledGaussian)
    assert around(twice.rate, [rate * again])
    assert twice.shift == sampled.shift
    assert sampled.sampled(Enclosure.of(1)) == sampled
    assert sampled.directions == (Direction.REMOVE,)
    larger = [exact_delta(shift, rate, Fraction(1, 4), each) for each in Direction]
    assert max(larger) == exact_delta(shift, rate, Fraction(1, 4), Direction.REMOVE)
    nodes = np.linspace(-12, 16, 28_001) if shift <= 2 else np.linspace(-12, 24, 36_001)
    law = np.exp(-nodes * nodes / 2) / np.sqrt(2 * np.pi)
    ratio = 1 - float(rate) + float(rate) * np.exp(float(shift) * nodes - float(shift) ** 2 / 2)
    power = Fraction(5, 2)
    moment = float(np.sum(law * ratio ** float(power if direction is Direction.REMOVE else 1 - power)) * 1e-3)
    assert sampled.renyi(power, direction).upper_float == pytest.approx(np.log(moment) / 1.5, rel=1e-6)


def test_parameters_outside_their_ranges_are_refused() -> None:
    below, above = Enclosure.between(-1, 1), Enclosure.between("0.5", 2)
    for refused in (lambda: GaussianPair(below), lambda: SampledGaussian(below, Enclosure.of("0.5"))):
        with pytest.raises(InvalidValue, match="shift"):
            refused()
    for rate in (below, above):
        with pytest.raises(InvalidValue, match="rate"):
            SampledGaussian(Enclosure.of(1), rate)
    pair = GaussianPair(Enclosure.of(1))
    with pytest.raises(InvalidValue, match="epsilon"):
        pair.delta(below, Direction.REMOVE)
    with pytest.raises(InvalidValue, match="times"):
        pair.repeated(0)
    for refusing in (pair, SampledGaussian(Enclosure.of(1), Enclosure.of("0.5"))):
        with pytest.raises(InvalidValue, match="order"):
            refusing.renyi(Fraction(1), Direction.REMOVE)
    assert GaussianPair(Enclosure.of(0)).delta(Enclosure.of(0), Direction.ADD).upper == 0
