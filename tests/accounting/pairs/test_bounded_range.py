"""Losses in an interval of a known length: δ and τ as suprema over where it lies, and as those of one pair of laws."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.pairs import DensityPair, Pair, RandomisedResponsePair, bounded_range_pair
from certdp.accounting.relations import Direction

LENGTHS = ["1/100", "1/2", "3", "12"]
ORDERS = [Fraction(11, 10), Fraction(2), Fraction(13, 2), Fraction(60)]
of = Enclosure.of


def delta_of(pair: Pair, level: float, direction: Direction = Direction.REMOVE) -> float:
    assert pair.delta is not None
    return float(pair.delta(of(level), direction).upper)


def tau_of(pair: Pair, order: Fraction) -> float:
    assert pair.renyi is not None
    return float(pair.renyi(order, Direction.ADD).upper)


def of_two_outputs(length: float, greatest: float) -> tuple[np.ndarray, np.ndarray]:
    """Laws of the outputs with the losses t and t − ε."""
    losses = np.array([greatest, greatest - length])
    likely = -math.expm1(losses[1]) / (math.exp(losses[0]) - math.exp(losses[1]))
    second = np.array([likely, 1 - likely])
    return second * np.exp(losses), second


@pytest.mark.parametrize("text", LENGTHS)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_delta_is_the_largest_over_where_the_interval_lies(text: str, share: float) -> None:
    length = float(Fraction(text))
    level = share * length
    laws = (of_two_outputs(length, t) for t in np.linspace(0, length, 20001)[1:-1])
    largest = max(float(np.maximum(p - math.exp(level) * q, 0).sum()) for p, q in laws)
    for direction in Direction:
        assert delta_of(bounded_range_pair(of(text)), level, direction) == pytest.approx(largest, rel=1e-6)


@pytest.mark.parametrize("text", LENGTHS)
def test_delta_and_the_second_bound_of_tau_are_those_of_one_pair_of_laws(text: str) -> None:
    """Losses of density e^((l − ε)/2)/2/(1 − e^−ε) on [−ε, ε] under P, mirrored under Q."""
    length, pair = float(Fraction(text)), bounded_range_pair(of(text))

    def density(loss: float) -> float:
        return math.exp((loss - length) / 2) / 2 / -math.expm1(-length)

    def integral(of_loss: object) -> float:
        return float(quad(of_loss, -length, length, epsabs=0, epsrel=1e-11, limit=200)[0])

    assert integral(density) == pytest.approx(1)
    assert integral(lambda loss: density(loss) * math.exp(-loss)) == pytest.approx(1)
    level = length / 3
    tail = quad(lambda loss: density(loss) * -math.expm1(level - loss), level, length, epsabs=0, epsrel=1e-11)[0]
    assert delta_of(pair, level) == pytest.approx(tail, rel=1e-9)
    for order in ORDERS:
        own = math.log(integral(lambda loss, a=float(order): density(loss) * math.exp((a - 1) * loss)))
        assert tau_of(pair, order) == pytest.approx(min(own / float(order - 1), float(order) * length**2 / 8), rel=1e-7)


@pytest.mark.parametrize("text", LENGTHS)
@pytest.mark.parametrize("order", ORDERS)
def test_tau_bounds_every_place_of_the_interval(text: str, order: Fraction) -> None:
    length, pair = float(Fraction(text)), bounded_range_pair(of(text))
    found = []
    for greatest in np.linspace(0, length, 200)[1:-1]:
        first, second = of_two_outputs(length, greatest)
        logs = float(order) * np.log(first) + (1 - float(order)) * np.log(second)
        found.append((logs.max() + math.log(np.exp(logs - logs.max()).sum())) / float(order - 1))
    assert max(found) <= tau_of(pair, order) * (1 + 1e-9) + 1e-14
    assert pair.zero_concentrated is not None
    assert max(found) <= float(pair.zero_concentrated.upper) * float(order) * (1 + 1e-9) + 1e-14


@pytest.mark.parametrize("text", LENGTHS)
def test_no_law_exceeds_that_of_the_pure_loss(text: str) -> None:
    pair, response = bounded_range_pair(of(text)), RandomisedResponsePair(of(text))
    for level in (0.0, 0.004, 0.3, 2.0, 11.0, 13.0):
        assert delta_of(pair, level) <= delta_of(response, level)
    for order in ORDERS:
        assert tau_of(pair, order) <= tau_of(response, order)
    for mine, theirs in (
        (pair.zero_concentrated, response.zero_concentrated),
        (pair.gaussian, response.gaussian),
        (None if pair.pure is None else pair.pure(Direction.ADD), response.epsilon),
    ):
        assert mine is not None
        assert mine.upper <= theirs.upper


def test_symmetry_is_not_claimed() -> None:
    """τ is below that of the symmetric pair with this δ, so after sampling one direction may not bound both."""
    assert not bounded_range_pair(of(1)).symmetric


def test_longer_intervals_lose_more() -> None:
    wide, narrow = bounded_range_pair(Enclosure.between("1/2", 1)), bounded_range_pair(of(1))
    for level in (0.0, 0.4, 0.7, 0.99):
        assert delta_of(wide, level) == pytest.approx(delta_of(narrow, level))
    for order in ORDERS:
        assert tau_of(wide, order) == pytest.approx(tau_of(narrow, order))
    from_nothing = bounded_range_pair(Enclosure.between(0, 1))
    assert delta_of(from_nothing, 0.5) == pytest.approx(delta_of(narrow, 0.5))
    assert tau_of(from_nothing, Fraction(3)) == pytest.approx(tau_of(narrow, Fraction(3)))


def test_where_it_is_of_no_use_randomised_response_stands_for_it() -> None:
    for text in ("0", "1e-300", "601", "1e9"):
        assert bounded_range_pair(of(text)) == RandomisedResponsePair(of(text))
    for text in ("1e-9", "600"):
        assert isinstance(bounded_range_pair(of(text)), DensityPair)
    assert bounded_range_pair(of(1)) is bounded_range_pair(of(1))


def test_what_is_no_length_is_refused() -> None:
    untyped: Any = 1
    with pytest.raises(InvalidValue, match="epsilon: got"):
        bounded_range_pair(of(-1))
    with pytest.raises(InvalidType, match="epsilon: got"):
        bounded_range_pair(untyped)
