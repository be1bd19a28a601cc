"""Epochs of batches, one of which a record enters, against sums that are written out and integrals by quadrature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.verification.checker.approximate import allocation
from certdp.verification.checker.approximate.allocation import Epoch, Law, epoch_of
from certdp.verification.checker.approximate.factors import (
    ALLOCATED,
    GAUSSIAN,
    LAPLACE,
    PURE,
    REMOVE,
    ZERO_CONCENTRATED,
    Batches,
    Change,
    Factor,
)
from certdp.verification.checker.budget import MOST_WORK, Budget
from certdp.verification.checker.intervals import upper_end
from certdp.verification.checker.verdict import Refused

UNIT = 2**allocation._BITS


def epoch(base: str, parameter: Any, number: int, cells: int = 32, budget: Budget | None = None) -> Epoch:
    change = Change(batches=Batches(number=number))
    factor = Factor(ALLOCATED, Fraction(parameter), Fraction(1), together=1, samples=1, change=change, base=base)
    return epoch_of(factor, cells, Budget() if budget is None else budget)


def bound_of(found: Epoch, epsilon: Any, direction: str) -> Any:
    """δ(ε) of the outcomes, with what lies beyond."""
    total = mpmath.mpf(0)
    for mass, loss in found.outcomes:
        weight, ratio = (mpmath.mpf(mass.hi), mpmath.exp(mpmath.mpf(loss.hi)))
        edge = mpmath.exp(epsilon)
        total += weight * max(ratio - edge if direction == REMOVE else 1 - edge * ratio, 0)
    return total + mpmath.mpf((found.over if direction == REMOVE else found.under).hi)


def of_responses(loss: Any, number: int, epsilon: Any, direction: str) -> Any:
    """δ(ε) of one truth among so many answers, by how many of all answers speak for the record."""
    loss, edge = mpmath.mpf(loss), mpmath.exp(epsilon)
    rarely = 1 / (1 + mpmath.exp(loss))
    total = mpmath.mpf(0)
    for j in range(number + 1):
        mass = comb(number, j) * rarely**j * (1 - rarely) ** (number - j)
        ratio = (j * mpmath.exp(loss) + (number - j) * mpmath.exp(-loss)) / number
        total += mass * max(ratio - edge if direction == REMOVE else 1 - edge * ratio, 0)
    return total


def of_two(base: str, shift: Any, epsilon: Any, direction: str) -> Any:
    """δ(ε) of an epoch of two batches, by an integral over the loss in one of the other's in closed form."""
    s, edge = mpmath.mpf(shift), mpmath.exp(epsilon)

    def beyond(k: Any) -> Any:
        """E(L - k)+ of one ratio of normal noise."""
        if k <= 0:
            return 1 - k
        place = mpmath.log(k) / s
        return mpmath.ncdf(s / 2 - place) - k * mpmath.ncdf(-s / 2 - place)

    assert base == GAUSSIAN
    removed: Any = mpmath.quad(
        lambda x: mpmath.npdf(x) * beyond(2 * edge - mpmath.exp(s * x - s * s / 2)) / 2, mpmath.linspace(-14, 18, 33)
    )
    if direction == REMOVE:
        return removed
    inverse = 1 / edge
    above: Any = mpmath.quad(
        lambda x: mpmath.npdf(x) * beyond(2 * inverse - mpmath.exp(s * x - s * s / 2)) / 2,
        mpmath.linspace(-14, 18, 33),
    )
    return edge * (above - 1 + inverse)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(("number", "loss"), [(2, "1"), (3, "1/2"), (5, "2"), (7, "3/10"), (12, "1")])
def test_answers_are_bounded_closely_from_above(number: int, loss: str, direction: str) -> None:
    found = epoch(PURE, loss, number)
    for epsilon in (mpmath.mpf(0), mpmath.mpf(float(Fraction(loss))) / 4, mpmath.mpf(float(Fraction(loss))) / 2):
        with mpmath.workprec(160):
            true = of_responses(
                mpmath.mpf(Fraction(loss).numerator) / Fraction(loss).denominator, number, epsilon, direction
            )
            bound = bound_of(found, epsilon, direction)
        assert true <= bound <= true * mpmath.mpf("1.02") + mpmath.mpf("1e-5")


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("shift", ["1/2", "1", "2"])
def test_normal_noise_in_two_batches_is_bounded_closely_from_above(shift: str, direction: str) -> None:
    found = epoch(GAUSSIAN, shift, 2)
    s = mpmath.mpf(float(Fraction(shift)))
    for epsilon in (mpmath.mpf(0), s / 2, s, 2 * s):
        true = of_two(GAUSSIAN, s, epsilon, direction)
        bound = bound_of(found, epsilon, direction)
        assert true <= bound * (1 + mpmath.mpf("1e-9")), epsilon
        assert bound <= true * mpmath.mpf("1.01") + mpmath.mpf("1e-12")


def test_laplace_noise_loses_less_than_a_pure_loss_of_its_size() -> None:
    of_noise, of_loss = epoch(LAPLACE, "1", 4), epoch(PURE, "1", 4)
    for epsilon in (0.0, 0.1, 0.3, 0.6):
        for direction in ("remove", "add"):
            assert 0 < bound_of(of_noise, epsilon, direction) < bound_of(of_loss, epsilon, direction)


def test_more_cells_tell_more_closely() -> None:
    few, many = (epoch(PURE, "1", 9, cells) for cells in (8, 64))
    true = of_responses(1, 9, mpmath.mpf("0.2"), "add")
    assert true <= bound_of(many, mpmath.mpf("0.2"), "add") < bound_of(few, mpmath.mpf("0.2"), "add")


def small_laws(halvings: int) -> st.SearchStrategy[Law]:
    masses = st.lists(st.integers(0, 2**allocation._BITS), min_size=1, max_size=7)
    beyond = st.integers(0, UNIT)
    return st.builds(Law, st.integers(-9, 9), st.just(halvings), masses, beyond, beyond)


def value(law: Law, function: Callable[[Any], Any], slope: Any = 0, highest: Any = 0) -> Any:
    """E f(S), as the law stands for it."""
    h = mpmath.mpf(law.spacing.numerator) / law.spacing.denominator
    points = sum(mass * function(mpmath.exp(k * h)) for k, mass in enumerate(law.masses, law.first))
    return (points + law.over * slope + law.under * highest) / mpmath.mpf(UNIT)


def of_sum(x: Law, y: Law, function: Callable[[Any], Any], slope: Any = 0, highest: Any = 0) -> Any:
    """E f(S) of a sum, term by term."""
    h = mpmath.mpf(x.spacing.numerator) / x.spacing.denominator

    def inner(point: Any) -> Any:
        return value(y, lambda other: function(point + other), slope, highest)

    total = sum(mass * inner(mpmath.exp(k * h)) for k, mass in enumerate(x.masses, x.first)) / UNIT
    everything = mpmath.mpf(y.total + y.under) / UNIT
    return total + (x.over * slope * mpmath.mpf(y.total) / UNIT + x.under * highest * everything) / UNIT


FUNCTIONS: Mapping[str, tuple[Callable[[Any], Callable[[Any], Any]], int, int]] = {
    "rising": (lambda edge: lambda point: max(point - edge, 0), 1, 0),
    "falling": (lambda edge: lambda point: max(1 - point / edge, 0), 0, 1),
}


@pytest.mark.parametrize("shape", FUNCTIONS)
@given(data=st.data())
def test_sums_are_no_smaller_than_term_by_term(shape: str, data: st.DataObject) -> None:
    made, slope, highest = FUNCTIONS[shape]
    x = data.draw(small_laws(3))
    y = data.draw(st.one_of(st.just(x), small_laws(3)))
    function = made(mpmath.exp(data.draw(st.floats(-1, 2))))
    if not (x.total and y.total):
        return
    with mpmath.workprec(400):
        true = of_sum(x, y, function, slope, highest)
        assert true <= value(allocation._sum(x, y, 8), function, slope, highest)


@pytest.mark.parametrize("kept", [lambda point: 1, lambda point: point])
@given(data=st.data())
def test_sums_keep_mass_and_mean_but_for_roundings(kept: Callable[[Any], Any], data: st.DataObject) -> None:
    x = data.draw(small_laws(3))
    y = data.draw(st.one_of(st.just(x), small_laws(3)))
    found = allocation._sum(x, y, 8) if x.total and y.total else None
    if found is None:
        return
    with mpmath.workprec(400):
        true = of_sum(x, y, kept)
        units = sum(kept(mpmath.exp(k * mpmath.mpf(float(found.spacing)))) for k in range(found.first, found.last + 1))
        assert true <= value(found, kept) <= true * (1 + mpmath.mpf(2) ** -25) + 2 * units / UNIT


@pytest.mark.parametrize("shape", FUNCTIONS)
@given(data=st.data())
def test_what_is_cut_off_or_left_out_counts(shape: str, data: st.DataObject) -> None:
    made, slope, highest = FUNCTIONS[shape]
    law = data.draw(small_laws(4))
    slight = [data.draw(st.integers(0, 2**40)) for _ in range(3)]
    law = law._replace(masses=[*slight, *law.masses, *slight])
    function = made(mpmath.exp(data.draw(st.floats(-2, 2))))
    with mpmath.workprec(400):
        true = value(law, function, slope, highest)
        for smaller in (allocation._trimmed(law, 2), allocation._every_other(law)):
            assert true <= value(smaller, function, slope, highest)


def test_what_lies_beyond_either_term_lies_beyond_the_sum() -> None:
    x, y = Law(0, 3, [UNIT // 2], UNIT // 8, UNIT // 16), Law(1, 3, [UNIT // 4], UNIT // 32, UNIT // 64)
    for one, other in ((x, y), (y, x)):
        found = allocation._sum(one, other, 8)
        assert found.over == UNIT // 32 + UNIT // 64
        assert found.under == UNIT // 64 + UNIT // 128 + UNIT // 1024


def test_the_middle_is_two_thirds_of_the_mass() -> None:
    assert allocation._middle(Law(0, 3, [1, 1, 1, 1, 1, 1], 0, 0)) == 4
    assert allocation._middle(Law(5, 3, [1, 0, 10, 10, 0, 1], 0, 0)) == 1
    assert allocation._middle(Law(5, 3, [1, 1, 100, 1], 0, 0)) == 0


@pytest.mark.parametrize("number", [1, 5])
def test_no_more_than_a_slight_share_is_cut_off(number: int) -> None:
    slight = 2 ** (allocation._BITS - allocation._SLIGHT)
    law = Law(0, 12, [slight // 3] * 40 + [UNIT] + [slight // 4] * 40, 0, 0)
    found = allocation._trimmed(law, number)
    assert slight // 3 <= found.under <= slight
    assert number * slight // 2 <= found.over <= number * slight
    assert found.total == law.total


def test_a_ratio_has_points_as_far_as_it_goes() -> None:
    for base, parameter, far in ((PURE, Fraction(2), Fraction(2)), (GAUSSIAN, Fraction(1), Fraction(21, 2))):
        factor = Factor(base, parameter, Fraction(1), together=1, samples=1)
        law = allocation._of_one(factor, 8)
        assert far < law.last * law.spacing < far + 3 * law.spacing
        assert law.first == -law.last


def test_a_law_is_the_same_on_a_finer_lattice() -> None:
    law = Law(-1, 2, [3, 0, 5], 7, 11)
    finer = law.finer(4)
    assert (finer.first, finer.masses, finer.over, finer.under) == (-4, [3, 0, 0, 0, 0, 0, 0, 0, 5], 7, 11)
    assert finer.last * finer.spacing == law.last * law.spacing


def test_what_an_epoch_takes_is_spent_by_every_check_once() -> None:
    spent = []
    for _ in range(2):
        budget = Budget()
        epoch(PURE, "1", 6, budget=budget)
        spent.append(MOST_WORK - budget.left)
        left = budget.left
        found = epoch(PURE, "1", 6, budget=budget)
        assert len(found.outcomes) * 60_000 <= left - budget.left < spent[-1] / 3
    assert spent[0] == spent[1] > 0
    with pytest.raises(Refused, match="within the work budget"):
        epoch(PURE, "1", 6, budget=Budget(spent[0] - 1))


@pytest.mark.parametrize(
    ("base", "parameter", "number", "cells", "reason"),
    [
        (GAUSSIAN, "1", 4097, 32, "epochs have more than 4096 batches"),
        (PURE, "1", 3, 7, "stated in from 8 to 256 cells"),
        (PURE, "1", 3, 257, "stated in from 8 to 256 cells"),
        (GAUSSIAN, "5", 3, 32, "not known of ratios beyond"),
        (PURE, "49", 3, 32, "not known of ratios beyond"),
        (PURE, Fraction(1, 2**41), 3, 32, "or of next to nothing"),
        (ZERO_CONCENTRATED, "1", 3, 32, "is not known to the checker"),
    ],
)
def test_what_is_not_known_is_refused(base: str, parameter: Any, number: int, cells: int, reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        epoch(base, parameter, number, cells)


@pytest.mark.parametrize("number", [2, 3])
def test_every_way_to_be_in_one_batch_is_met(number: int) -> None:
    """The curve by enumeration of all answers, not by the mean of ratios."""
    loss, edge = mpmath.mpf(1), mpmath.exp(mpmath.mpf("0.1"))
    rarely = 1 / (1 + mpmath.exp(loss))
    without = [1 - rarely, rarely]
    removed = added = mpmath.mpf(0)
    for answers in product((0, 1), repeat=number):
        q = mpmath.fprod(without[a] for a in answers)
        p = mpmath.fsum(q / without[a] * without[1 - a] for a in answers) / number
        removed += max(p - edge * q, 0)
        added += max(q - edge * p, 0)
    found = epoch(PURE, "1", number, 64)
    epsilon = mpmath.mpf("0.1")
    for true, direction in ((removed, "remove"), (added, "add")):
        assert true <= bound_of(found, epsilon, direction) <= true * mpmath.mpf("1.01")


def test_masses_and_their_mean_are_one_but_for_roundings() -> None:
    found = epoch(GAUSSIAN, "1", 4, 16)
    masses = [upper_end(mass) for mass, _ in found.outcomes]
    assert 0 <= sum(masses) - 1 < Fraction(1, 10**6)
    mean = sum(mpmath.mpf(mass.hi) * mpmath.exp(mpmath.mpf(loss.hi)) for mass, loss in found.outcomes)
    assert abs(mean - 1) < mpmath.mpf("1e-6")
