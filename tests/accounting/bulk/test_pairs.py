"""What losses say about many records at once, against the enclosures of one pair at a time."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from numpy.typing import NDArray

from certdp.accounting.accountants import BEST, WorstPairs, renyi_at
from certdp.accounting.bulk.pairs import _ORDERS, _WHOLE_ORDERS, BulkPairs
from certdp.accounting.conversions.renyi_moment import lemma_2_5
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.expressions import ORDER, Expression, W, enclose, norm, variables
from certdp.accounting.pairs import GaussianPair, LaplacePair, Pair, RandomisedResponsePair, RenyiCurve
from certdp.accounting.relations import Direction
from certdp.accounting.sampling.losses import FamilyLoss, GaussianLoss, LaplaceLoss, Loss, PureLoss, RenyiLoss

Floats = NDArray[np.float64]

SHIFTS = np.array([0.0, 1e-6, 0.05, 0.7, 3.0, 0.7])
RATES = np.array([0.5, 0.3, 1.0, 0.01, 0.2, 0.0])


def curve(shift: Enclosure) -> Pair:
    return RenyiCurve(lambda order: shift.square() * (order / 2))


CASES: dict[str, tuple[Loss, Callable[[Enclosure], Pair]]] = {
    "gaussian": (GaussianLoss(norm(2)), GaussianPair),
    "laplace": (LaplaceLoss(norm(2)), LaplacePair),
    "pure": (PureLoss(norm(2)), RandomisedResponsePair),
    "curve": (RenyiLoss(norm(2) * norm(2) * ORDER / 2), curve),
}


def bulk(loss: Loss, shifts: Floats = SHIFTS) -> BulkPairs:
    def read(root: Expression) -> Floats:
        def at(shift: float) -> float:
            return enclose(root, {v: Enclosure.of(shift) for v in variables(root)}, precision=128).upper_float

        return np.array([np.inf if np.isinf(shift) else at(shift) for shift in shifts.tolist()])

    found = loss.bulk_pairs(read)
    assert found is not None
    return found


def pairs(name: str, times: int, steps: int) -> list[Pair]:
    return [
        CASES[name][1](Enclosure.of(s)).repeated(times).sampled(Enclosure.of(q)).repeated(steps)
        for s, q in zip(SHIFTS.tolist(), RATES.tolist(), strict=True)
    ]


def mixed(times: int, steps: int) -> list[Callable[[Fraction], Enclosure]]:
    """What arrays know of curves after sampling above order 256: log(1 − q + q·e^u)/(α − 1) of each release."""

    def law(shift: float, rate: float) -> Callable[[Fraction], Enclosure]:
        moment = Enclosure.of(shift).square() * Fraction(times, 2)
        return lambda a: ((moment * (a * (a - 1))).expm1() * Fraction(rate)).log1p() / (a - 1) * steps

    return [law(shift, rate) for shift, rate in zip(SHIFTS.tolist(), RATES.tolist(), strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("order", ["1.25", "2", "3.5", "8", "300"])
def test_renyi(name: str, times: int, order: str) -> None:
    alpha = Fraction(order)
    found = bulk(CASES[name][0]).repeated(times).renyi(RATES, alpha)
    for value, pair in zip(found.tolist(), pairs(name, times, 1), strict=True):
        truth = renyi_at(alpha)(pair)
        assert truth is not None
        remove = pair.renyi
        assert remove is not None
        assert Fraction(value) >= max(truth.lower, remove(alpha, Direction.REMOVE).lower)
        if alpha <= 256 and (name == "curve" or alpha.denominator == 1):
            # never worse than the enclosure of both directions
            most = truth.upper
            assert Fraction(value) <= most * (1 + Fraction(1, 10**9)) + Fraction(1, 10**280)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
@pytest.mark.parametrize("delta", [1e-9, 1e-2, 0.4])
def test_epsilon_of_one_release_is_exact(name: str, delta: float) -> None:
    found = bulk(CASES[name][0]).epsilon(RATES, 1, delta)
    for value, pair in zip(found.tolist(), pairs(name, 1, 1), strict=True):
        known = BEST.epsilon(WorstPairs((pair,), (pair,)), Enclosure.of(delta))
        assert known is not None
        assert known.bounds.two_sided
        assert known.bounds.enclosure.lower <= Fraction(value)
        assert Fraction(value) <= known.bounds.enclosure.upper * (1 + Fraction(1, 10**9)) + Fraction(1, 10**12)


@pytest.mark.parametrize("name", ["laplace", "pure", "curve"])
@pytest.mark.parametrize(("times", "steps"), [(4, 1), (1, 4)])
@pytest.mark.parametrize("delta", [1e-6, 0.05])
def test_epsilon_of_several_releases_is_the_best_of_some_orders(
    name: str, times: int, steps: int, delta: float
) -> None:
    """Against Lemma 2.5 of DPIS on enclosures, at the same orders, and the pure loss."""
    found = bulk(CASES[name][0]).repeated(times).epsilon(RATES, steps, delta)
    orders = _ORDERS if name == "curve" else tuple(map(Fraction, _WHOLE_ORDERS))
    ways = tuple(Direction) if name == "curve" else (Direction.REMOVE,)
    for value, q, pair, known in zip(
        found.tolist(), RATES.tolist(), pairs(name, times, steps), mixed(times, steps), strict=True
    ):
        law, pure = pair.renyi, pair.pure
        assert law is not None
        if steps * q < delta or not law(Fraction(2), Direction.REMOVE).upper:
            assert value == 0.0
            continue
        taus = [
            known(order) if order > 256 else reduce(Enclosure.maximum, (law(order, way) for way in ways))
            for order in orders
        ]
        bounds = [lemma_2_5(order, tau, Enclosure.of(delta)) for order, tau in zip(orders, taus, strict=True)]
        bounds += [] if pure is None else [pure(Direction.REMOVE)]
        best = min(max(bound.upper, Fraction(0)) for bound in bounds)
        assert Fraction(value) >= best * (1 - Fraction(1, 10**9))
        assert Fraction(value) <= best * (1 + Fraction(1, 10**9)) + Fraction(1, 10**12)


@pytest.mark.parametrize("order", ["1.25", "2", "5.5", "64", "256"])
def test_no_record_loses_more_than_the_supremum(order: str) -> None:
    """That of the pair with the largest shift and rate, both directions, as a run proves it."""
    alpha = Fraction(order)
    generator = np.random.default_rng(7)
    for radius, most, times in ((0.3, 0.01, 1), (2.0, 0.2, 3), (0.02, 0.9, 1)):
        shifts, rates = radius * np.append(generator.random(20), 1.0), most * np.append(generator.random(20), 1.0)
        found = bulk(CASES["curve"][0], shifts).repeated(times).renyi(rates, alpha)
        supremum = renyi_at(alpha)(curve(Enclosure.of(radius)).repeated(times).sampled(Enclosure.of(most)))
        assert supremum is not None
        assert Fraction(float(np.max(found))) <= supremum.upper * (1 + Fraction(1, 10**9))
        assert Fraction(float(found[-1])) >= supremum.upper * (1 - Fraction(1, 10**15))


@pytest.mark.parametrize("delta", [1e-6, 0.05])
def test_epsilon_of_gaussian_releases(delta: float) -> None:
    """On one sample it is exact; on several it is no worse than whole orders and no better than on one."""
    once = bulk(CASES["gaussian"][0]).repeated(4).epsilon(RATES, 1, delta)
    each = bulk(CASES["gaussian"][0]).epsilon(RATES, 4, delta)
    for value, pair in zip(once.tolist(), pairs("gaussian", 4, 1), strict=True):
        known = BEST.epsilon(WorstPairs((pair,), (pair,)), Enclosure.of(delta))
        assert known is not None
        assert known.bounds.enclosure.lower <= Fraction(value)
    for value, pair in zip(each.tolist(), pairs("gaussian", 1, 4), strict=True):
        law = pair.renyi
        assert law is not None
        bounds = [lemma_2_5(Fraction(k), law(Fraction(k), Direction.REMOVE), Enclosure.of(delta)) for k in (3, 6, 12)]
        assert value <= max(0.0, min(bound.upper_float for bound in bounds)) * (1 + 1e-9)


@pytest.mark.parametrize("name", CASES)
def test_targets_without_a_finite_answer(name: str) -> None:
    loss = bulk(CASES[name][0])
    for steps in (1, 3):
        found = loss.epsilon(RATES, steps, 0.0)
        assert found[-1] == 0.0
        pure = name in ("laplace", "pure")
        assert np.all(np.isfinite(found[1:-1])) == pure
        assert np.all(loss.epsilon(RATES, steps, 1.0) == 0.0)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
def test_a_loss_beyond_binary64(name: str) -> None:
    far = bulk(CASES[name][0], np.array([np.inf, np.inf, 1.0]))
    rates = np.array([0.5, 0.0, 0.5])
    for values in (far.renyi(rates, Fraction(4)), far.epsilon(rates, 1, 1e-6), far.epsilon(rates, 3, 1e-6)):
        assert values[:2].tolist() == [np.inf, 0.0]
        assert 0.0 < values[2] < np.inf


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_threads_and_parts_change_nothing(name: str) -> None:
    rng = np.random.default_rng(0)
    shifts, rates = rng.uniform(0, 2, 60), rng.uniform(0, 1, 60)
    whole, part = bulk(CASES[name][0], shifts), bulk(CASES[name][0], shifts[20:30])

    def curve_at(some: BulkPairs, q: Floats, threads: int) -> Floats:
        return some.renyi(q, Fraction(7, 2), threads=threads)

    def epsilon_at_delta(some: BulkPairs, q: Floats, threads: int) -> Floats:
        return some.epsilon(q, 2, 1e-5, threads=threads)

    for ask in (curve_at, epsilon_at_delta):
        assert np.array_equal(ask(whole, rates, 1), ask(whole, rates, 2))
        assert np.array_equal(ask(whole, rates, 1)[20:30], ask(part, rates[20:30], 1))


def test_a_family_has_bounds_where_it_has_a_pure_loss() -> None:
    def read(root: Expression) -> Floats:
        return np.array([0.5])

    assert FamilyLoss(W * norm(1), LaplacePair).bulk_pairs(read) is None
    pure = FamilyLoss(W * norm(1), LaplacePair, PureLoss(W * norm(1))).bulk_pairs(read)
    assert pure is not None
    assert 0.0 < pure.epsilon(np.array([0.5]), 1, 1e-6)[0] < 0.5
