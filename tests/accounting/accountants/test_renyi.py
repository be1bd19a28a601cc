"""The Rényi accountant: each direction at an order of its own, by curves whose conversion a fine grid knows."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import frozen

from certdp.accounting.accountants import renyi
from certdp.accounting.accountants.renyi import RENYI
from certdp.accounting.accountants.worst_pairs import WorstPairs
from certdp.accounting.conversions import delta_at_order, epsilon_at_order
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import OutsideDomain
from certdp.accounting.pairs import GaussianPair, Pair
from certdp.accounting.relations import Direction

DELTA, EPSILON = Fraction(1, 10**5), Fraction(3)
ORDERS = [1 + Fraction(2.0 ** (place / 16)) for place in range(-4 * 16, 8 * 16)]

Curve = Callable[[Any], Any]
At = Callable[[Fraction, Enclosure], Enclosure]


def slow(order: Any) -> Any:
    return order * 5 / 16


def fast(order: Any) -> Any:
    """Best at a smaller order than the others."""
    return order**2 / 32


def low(order: Any) -> Any:
    return order / 8


@frozen(eq=False)
class Curved(Pair):
    """A pair of which nothing is known but its divergences in each direction: from a share of these to these."""

    remove: Curve
    add: Curve
    share: Fraction = Fraction(1)

    @property
    def renyi(self) -> Any:
        def law(order: Fraction, direction: Direction) -> Enclosure:
            top = (self.remove if direction is Direction.REMOVE else self.add)(order)
            return Enclosure.between(self.share * top, top)

        return law


def of(*bounding: Pair) -> WorstPairs:
    return WorstPairs(bounding, ())


def on_a_grid(curve: Curve, at: At) -> tuple[Fraction, Fraction]:
    """The least bound over a grid of orders, and its order."""
    return min((at(order, Enclosure.of(curve(order))).upper, order) for order in ORDERS)


def to_epsilon(order: Fraction, tau: Enclosure) -> Enclosure:
    return epsilon_at_order(order, tau, Enclosure.of(DELTA))


def to_delta(order: Fraction, tau: Enclosure) -> Enclosure:
    return delta_at_order(order, tau, Enclosure.of(EPSILON))


CASES = [(slow, fast), (fast, slow), (slow, low), (low, slow), (fast, low), (low, fast), (slow, slow)]


@pytest.mark.parametrize(("remove", "add"), CASES)
def test_the_worse_direction_is_stated_at_its_own_best_order(remove: Curve, add: Curve) -> None:
    pairs = of(Curved(remove, add))
    for found, at in (
        (RENYI.epsilon(pairs, Enclosure.of(DELTA)), to_epsilon),
        (RENYI.delta(pairs, Enclosure.of(EPSILON)), to_delta),
    ):
        assert found is not None
        best, order = max(on_a_grid(curve, at) for curve in (remove, add))
        assert best * Fraction(99, 100) <= found.upper <= best * (1 + Fraction(1, 10**9))
        assert found.order in found.orders
        assert float(found.order or 0) == pytest.approx(float(order), rel=0.1)
        each = zip(found.orders, (remove, add), strict=True)
        assert found.upper == max(at(one, Enclosure.of(curve(one))).upper for one, curve in each)


def test_a_direction_that_is_no_worse_is_bounded_at_the_order_of_the_other() -> None:
    """Also where it is known no better than to be less than the other one's upper end."""
    for share in (Fraction(1), Fraction(1, 100)):
        found = RENYI.epsilon(of(Curved(slow, low, share)), Enclosure.of(DELTA))
        assert found is not None
        assert found.orders[0] == found.orders[1] == found.order
        found = RENYI.epsilon(of(Curved(low, slow, share)), Enclosure.of(DELTA))
        assert found is not None
        assert found.orders[0] != found.orders[1]
        assert found.order == found.orders[1]


def test_the_wider_of_two_intervals_may_be_the_worse() -> None:
    """Its upper end is the larger one, its lower end the smaller."""
    wide, narrow = Curved(slow, slow, Fraction(1, 100)), Curved(low, low)
    both = Curved(slow, low, Fraction(1, 100))
    for pairs in (of(both), of(wide, narrow), of(narrow, wide)):
        found, alone = (RENYI.epsilon(one, Enclosure.of(DELTA)) for one in (pairs, of(Curved(slow, slow))))
        assert found is not None
        assert alone is not None
        assert found.upper >= alone.upper * (1 - Fraction(1, 10**9))


def test_the_bound_is_the_conversion_at_the_order_to_all_digits() -> None:
    """Not rounded to binary64 on the way."""
    third = Enclosure.of(Fraction(1, 3))
    pair = GaussianPair(third)
    for found, at, asked in (
        (RENYI.epsilon(of(pair), third * Fraction(1, 1000)), epsilon_at_order, third * Fraction(1, 1000)),
        (RENYI.delta(of(pair), third), delta_at_order, third),
    ):
        assert found is not None
        assert found.order is not None
        assert pair.renyi is not None
        assert found.bounds.enclosure == at(found.order, pair.renyi(found.order, Direction.REMOVE), asked)
        assert not found.bounds.two_sided


@pytest.mark.parametrize(
    ("delta", "there_is_one"),
    [
        (Enclosure.of(0), False),
        (Enclosure.between(0, DELTA), False),
        (Enclosure.of(DELTA), True),
        (Enclosure.of(1), True),
    ],
)
def test_no_epsilon_follows_at_a_delta_that_may_be_0(delta: Enclosure, there_is_one: bool) -> None:
    assert (RENYI.epsilon(of(Curved(slow, fast)), delta) is not None) is there_is_one


def test_nothing_follows_where_one_pair_has_no_curve() -> None:
    for pairs in (of(Pair()), of(Pair(), Curved(slow, fast)), of(Curved(slow, fast), Pair())):
        assert RENYI.epsilon(pairs, Enclosure.of(DELTA)) is None
        assert RENYI.delta(pairs, Enclosure.of(EPSILON)) is None


@pytest.mark.parametrize("epsilon", [Enclosure.of(2**40), Enclosure.between(1, 2**40)])
def test_no_moment_is_asked_that_an_enclosure_does_not_hold(
    epsilon: Enclosure, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to (α − 1)ε = 2^60, at the upper end of ε."""
    asked: list[Fraction] = []

    class Stop(Exception):
        pass

    def searching(curve: Callable[[Fraction], Enclosure], _: Enclosure) -> Any:
        for order in (Fraction(3, 2), Fraction(2), 1 + Fraction(2**20)):
            assert curve(order).upper == slow(order)
            asked.append(order)
        for beyond in (Fraction(1, 2**20), Fraction(1), Fraction(2), Fraction(2**20)):
            with pytest.raises(OutsideDomain, match="beyond what an enclosure holds"):
                curve(1 + 2**20 + beyond)
        raise Stop

    monkeypatch.setattr(renyi, "best_order_at_epsilon", searching)
    with pytest.raises(Stop):
        RENYI.delta(of(Curved(slow, slow)), epsilon)
    assert len(asked) == 3


class TestTheSearch:
    """By the estimate of a pair that has one; else by its own law."""

    @staticmethod
    def quick(estimate: Any) -> tuple[Any, list[float], list[Fraction]]:
        told: list[float] = []
        asked: list[Fraction] = []

        class Estimated(Curved):
            @property
            def renyi_estimate(self) -> Any:
                def near(order: float, direction: Direction) -> float:
                    told.append(order)
                    return float(estimate(order))

                return near if estimate else None

        pair = Estimated(slow, fast)

        def law(order: Fraction, direction: Direction) -> Enclosure:
            asked.append(order)
            return Enclosure.of(slow(order))

        return renyi._quick(pair, law), told, asked

    def test_by_the_estimate(self) -> None:
        near, told, asked = self.quick(lambda order: order / 2)
        for order in (Fraction(1) + Fraction(1, 2**40), Fraction(3, 2), Fraction(2), Fraction(40)):
            assert near(order, Direction.ADD).upper == order / 2
        assert len(told) == 4
        assert not asked

    def test_by_the_law(self) -> None:
        near, told, asked = self.quick(None)
        assert near(Fraction(5), Direction.ADD).upper == slow(Fraction(5))
        assert asked == [5]
        assert not told

    def test_no_estimate_is_asked_for_at_1(self) -> None:
        near, told, _ = self.quick(lambda order: order)
        with pytest.raises(OutsideDomain, match="beyond binary64"):
            near(1 + Fraction(1, 2**54), Direction.ADD)
        assert told == []

    @pytest.mark.parametrize("value", [math.inf, math.nan, -math.inf])
    def test_what_is_no_number_is_refused(self, value: float) -> None:
        near, _, _ = self.quick(lambda _: value)
        with pytest.raises(OutsideDomain, match="beyond binary64"):
            near(Fraction(2), Direction.ADD)
