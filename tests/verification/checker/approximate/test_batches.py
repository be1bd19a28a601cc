"""Batches drawn as a whole: chances against exact binomials, and what is lost against all outcomes of small runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from math import comb, isclose
from typing import Any

import mpmath
import numpy as np
import pytest

from certdp.verification.checker.approximate import batches as module
from certdp.verification.checker.approximate.batches import cases, drawn_for_certain, drawn_together, in_blocks
from certdp.verification.checker.approximate.factors import (
    ALLOCATED,
    DIRECTIONS,
    EXCHANGED,
    GAUSSIAN,
    LAPLACE,
    MIXTURE,
    PURE,
    REMOVE,
    SYMMETRISED,
    TRUNCATED,
    TWO_RECORDS,
    ZERO_CONCENTRATED,
    Batches,
    Change,
    Factor,
)
from certdp.verification.checker.approximate.methods import HockeyStick
from certdp.verification.checker.approximate.moments import Moments
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import Arithmetic, Interval
from certdp.verification.checker.verdict import Refused

LOSS = Fraction(3, 4)
LEVELS = [Fraction(0), Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(1)]


def ends(found: Interval) -> tuple[Any, Any]:
    return mpmath.mp.make_mpf(found.lo), mpmath.mp.make_mpf(found.hi)


def factor(
    rate: Fraction,
    most: int | None,
    size: int | None,
    *,
    kept: bool,
    replaced: bool = False,
    bounded: bool = False,
    family: str = PURE,
    parameter: Fraction = LOSS,
    together: int = 1,
) -> Factor:
    change = Change(1, replaced, Batches(most, size, bounded, kept))
    return drawn_together(Factor(family, parameter, rate, together, 1, change=change))


def delta(of: Factor, epsilon: Fraction, direction: str) -> float:
    method = HockeyStick({"name": "hockey-stick"}, Budget())
    return float(mpmath.mp.make_mpf(method.delta([of], epsilon, direction)))


# Chances.


@pytest.mark.parametrize(("size", "rate"), [(1, "1/3"), (7, "1/2"), (40, "9/10"), (40, "1/100"), (600, "1/100")])
def test_how_often_so_many_are_drawn(size: int, rate: str) -> None:
    q = Fraction(rate)
    for most in {1, 2, size // 2, size - 1, size, size + 1} - {0}:
        truth = sum((comb(size, k) * q**k * (1 - q) ** (size - k) for k in range(most, size + 1)), Fraction(0))
        low, high = ends(module._at_least(size, most, q, Budget()))
        with mpmath.workprec(400):
            exact = mpmath.mpf(truth.numerator) / truth.denominator
            assert low <= exact <= high
            assert high - low <= exact * mpmath.mpf(2) ** -200


def test_chances_that_are_too_much_work_are_refused() -> None:
    with pytest.raises(Refused, match="batches hold more than 131072 records"):
        module._at_least(2**40, 2**17 + 1, Fraction(1, 2), Budget())
    with pytest.raises(Refused, match="work budget"):
        module._at_least(2**40, 2**17, Fraction(1, 2), Budget(10**6))
    with pytest.raises(Refused, match="has more than 50000 terms"):
        module._at_least(10**6, 1, Fraction(1, 2), Budget())
    with pytest.raises(Refused, match="work budget"):
        module._at_least(10**6, 10**5, Fraction(1, 10), Budget(10**6))


def test_a_chance_takes_as_many_terms_as_it_needs() -> None:
    """From 5,000 of 10,000 on they halve at 6,667: as many as that have a price."""
    module._at_least(10**4, 5000, Fraction(1, 2), Budget(5000 * module._PER_RECORD + 1700 * module._PER_TERM))
    with pytest.raises(Refused, match="work budget"):
        module._at_least(10**4, 5000, Fraction(1, 2), Budget(5000 * module._PER_RECORD + 1600 * module._PER_TERM))


def test_no_more_terms_than_have_a_price() -> None:
    assert [len(list(module._growths(size, 10**5, Fraction(1)))) for size in (10**5, 10**5 + 9, 10**6)] == [
        1,
        10,
        50_000,
    ]


def sets_drawn(others: int, rate: Fraction) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    for count in range(others + 1):
        for chosen in combinations(range(others), count):
            yield chosen, rate**count * (1 - rate) ** (others - count)


@pytest.mark.parametrize(("size", "most", "rate"), [(4, 2, "1/3"), (5, 1, "3/4"), (5, 4, "1/2"), (6, 3, "1/10")])
def test_the_chances_of_the_cases_are_those_of_all_samples(size: int, most: int, rate: str) -> None:
    q = Fraction(rate)
    full = sum((chance for chosen, chance in sets_drawn(size - 1, q) if len(chosen) >= most), Fraction(0))
    enters = sum(
        (
            chance * q * Fraction(most, len(chosen) + 1)
            for chosen, chance in sets_drawn(size - 1, q)
            if len(chosen) >= most
        ),
        Fraction(0),
    )
    below, above = cases(factor(q, most, size, kept=False), Budget())
    assert isclose(ends(above.chance)[0], full, rel_tol=1e-15)
    assert isclose(ends(below.chance)[1], 1 - full, rel_tol=1e-15)
    assert below.factor.rate == q
    assert enters / full <= above.factor.rate <= enters / full * (1 + Fraction(1, 2**200))
    assert cases(factor(q, most, size, kept=False, bounded=True), Budget())[1].factor.rate == q


def test_of_which_family_a_case_is() -> None:
    q = Fraction(1, 3)

    def families(*, kept: bool, replaced: bool = False, family: str = GAUSSIAN) -> list[tuple[str, Any, int]]:
        found = cases(factor(q, 2, 4, kept=kept, replaced=replaced, family=family, together=3), Budget())
        return [(case.factor.family, case.factor.parameter / LOSS, case.factor.together) for case in found]

    assert families(kept=False) == [(GAUSSIAN, 1, 3), (GAUSSIAN, 2, 3)]
    assert families(kept=True) == [(GAUSSIAN, 1, 3), (SYMMETRISED, 2, 3)]
    assert families(kept=True, replaced=True) == [(MIXTURE, 1, 3), (SYMMETRISED, 2, 3)]
    assert families(kept=True, replaced=True, family=PURE) == [(EXCHANGED, 3, 1), (SYMMETRISED, 3, 1)]
    assert families(kept=False, family=PURE) == [(PURE, 1, 3), (TWO_RECORDS, 3, 1)]
    assert [case.factor.family for case in cases(factor(q, 4, 4, kept=True), Budget())] == [PURE]
    fixed = factor(q, None, None, kept=True)
    assert cases(fixed, Budget()) == [(Interval(*module._UNIT), fixed)]
    assert (fixed.family, fixed.base) == (SYMMETRISED, TWO_RECORDS)
    assert fixed.parameter == LOSS


def test_an_epoch_of_which_a_record_enters_one_batch_is_one_release_on_it() -> None:
    """Of one batch, and of shuffled ones of a known number of records, it is the release itself, whatever it loses."""
    for family in (GAUSSIAN, LAPLACE, PURE, ZERO_CONCENTRATED):
        stated = Factor(family, LOSS, Fraction(1, 10), 2, 30)
        for number, size in ((1, None), (10, 9)):
            change = Change(1, batches=Batches(size=size, kept=size is not None, number=number))
            found = drawn_together(stated._replace(change=change))
            assert found == stated._replace(rate=Fraction(1), samples=30 // number)
    change = Change(1, batches=Batches(number=10))
    for family in (GAUSSIAN, LAPLACE, PURE):
        stated = Factor(family, LOSS, Fraction(1, 10), 2, 30, change=change)
        allocated = stated._replace(family=ALLOCATED, base=family, rate=Fraction(1), samples=3)
        assert drawn_together(stated) == allocated
        assert drawn_for_certain(allocated).family == family
    with pytest.raises(Refused, match="losses of the family zero-concentrated say about batches"):
        drawn_together(Factor(ZERO_CONCENTRATED, LOSS, Fraction(1, 10), 2, 30, change=change))


@pytest.mark.parametrize(
    ("number", "entered", "blocks"),
    [(11, 3, {4: 2, 3: 1}), (6, 3, {2: 3}), (3, 2, {2: 1, 1: 1}), (4, 4, {1: 4}), (5, 1, {5: 1})],
)
def test_blocks_hold_all_batches_of_an_epoch_one_of_each_is_entered(
    number: int, entered: int, blocks: Mapping[int, int]
) -> None:
    change = Change(1, batches=Batches(number=number, participations=entered))
    stated = Factor(GAUSSIAN, LOSS, Fraction(entered, number), 1, 2 * number)
    found = list(in_blocks(stated, change))
    sizes = [part.batches.number for _, part in found if part.batches is not None]
    assert [part.batches for _, part in found] == [Batches(number=size) for size in sizes]
    drawn = [drawn_together(factor._replace(change=part)) for factor, part in found]
    assert dict(zip(sizes, [factor.samples for factor in drawn], strict=True)) == {
        size: 2 * count for size, count in blocks.items()
    }
    assert [factor.family for factor in drawn] == [GAUSSIAN if size == 1 else ALLOCATED for size in sizes]


def test_what_is_no_epoch_has_no_blocks() -> None:
    stated = factor(Fraction(1, 3), 2, 4, kept=False)
    for change in (Change(), stated.change):
        assert list(in_blocks(stated, change)) == [(stated, change)]


def test_what_is_not_known_is_refused() -> None:
    with pytest.raises(Refused, match="losses of the family zero-concentrated say about batches"):
        factor(Fraction(1, 3), None, None, kept=True, family=ZERO_CONCENTRATED)
    with pytest.raises(Refused, match="have a rate below 1"):
        factor(Fraction(1), 2, 3, kept=True)


def test_what_bounds_every_case() -> None:
    """Of two records that are drawn for certain."""
    for of in (factor(Fraction(1, 3), None, None, kept=True), factor(Fraction(1, 3), 2, 4, kept=False)):
        seen = drawn_for_certain(of)
        assert seen.family == PURE
        assert (seen.parameter, seen.rate) == (2 * LOSS, Fraction(1))
    for family in (GAUSSIAN, LAPLACE):
        noisy_place = factor(Fraction(1, 3), None, None, kept=True, family=family)
        seen = drawn_for_certain(noisy_place)
        assert seen == noisy_place._replace(family=family, parameter=2 * LOSS, rate=Fraction(1))
    plain = Factor(LAPLACE, LOSS, Fraction(1, 3), 1, 1)
    assert drawn_for_certain(plain) == plain


# What is lost, against all samples and outputs of a sum with noise on whole numbers.

Data = tuple[int, ...]


def noisy(total: int) -> np.ndarray[Any, Any]:
    """A sum with geometric noise of both signs: a record moves it by 1 at most, and costs LOSS."""
    share = math.exp(-float(LOSS))
    return (1 - share) / (1 + share) * share ** abs(np.arange(-60, 61) - total)


def fixed_batches(data: Data, most: int, rate: Fraction) -> Mapping[int, Fraction]:
    """The law of the sum over a batch."""
    found: dict[int, Fraction] = {}
    for chosen in combinations(data, most):
        found[sum(chosen)] = found.get(sum(chosen), Fraction(0)) + Fraction(1, comb(len(data), most))
    return found


def cut_down(data: Data, most: int, rate: Fraction) -> Mapping[int, Fraction]:
    found: dict[int, Fraction] = {}
    for places, chance in sets_drawn(len(data), rate):
        kept = list(combinations(places, min(most, len(places))))
        for batch in kept:
            total = sum(data[place] for place in batch)
            found[total] = found.get(total, Fraction(0)) + chance / len(kept)
    return found


def lost(first: Mapping[int, Fraction], second: Mapping[int, Fraction], epsilon: Fraction) -> float:
    """The hockey-stick divergence of the noisy sums."""
    with_record, other = (sum(float(chance) * noisy(total) for total, chance in law.items()) for law in (first, second))
    return float(np.maximum(with_record - math.exp(epsilon) * other, 0).sum())


VALUES = (-1, 0, 1)


@pytest.mark.parametrize("replaced", [True, False])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_two_data_sets_are_told_apart_better_by_batches_of_a_fixed_size(most: int, replaced: bool) -> None:
    size = 4
    of = factor(Fraction(most, size), None, size, kept=True, replaced=replaced)
    bounds = {epsilon: delta(of, epsilon, REMOVE) for epsilon in LEVELS}
    nearest = 0.0
    for others in product(VALUES, repeat=size - 1):
        laws = [fixed_batches((*others, x), most, Fraction(0)) for x in VALUES]
        for first, second in product(range(3), repeat=2):
            if replaced or 1 in (first, second):
                for epsilon, bound in bounds.items():
                    found = lost(laws[first], laws[second], epsilon)
                    assert found <= bound + 1e-12
                    nearest = max(nearest, found / bound) if bound else nearest
    assert nearest > (0.8 if replaced else 0.4)
    single = delta(Factor(PURE, LOSS, Fraction(most, size), 1, 1), LEVELS[0], REMOVE)
    if replaced:
        worst = (
            fixed_batches((-1,) * (size - 1) + (1,), most, Fraction(0)),
            fixed_batches((-1,) * size, most, Fraction(0)),
        )
        assert lost(*worst, LEVELS[0]) > single  # which Poisson's would be


@pytest.mark.parametrize("relation", ["add-remove", "zero-out", "replace"])
@pytest.mark.parametrize(("most", "rate"), [(1, "1/3"), (2, "1/2"), (3, "4/5"), (4, "1/4")])
def test_no_two_data_sets_are_told_apart_better_by_samples_cut_down(most: int, rate: str, relation: str) -> None:
    size, q = 4, Fraction(rate)
    of = factor(q, most, size, kept=relation != "add-remove", replaced=relation == "replace")
    wider = factor(q, most, size + 1, kept=of.change.batches.kept, replaced=of.change.replaced, bounded=True)  # type: ignore[union-attr]
    bounds = {
        (epsilon, direction): (delta(of, epsilon, direction), delta(wider, epsilon, direction) if most <= size else 1.0)
        for epsilon in LEVELS
        for direction in DIRECTIONS
    }
    for others in product(VALUES, repeat=size - 1):
        without = cut_down(others, most, q)
        laws = [cut_down((*others, x), most, q) for x in VALUES]
        pairs = {
            "add-remove": product(laws, [without]),
            "zero-out": product(laws, [laws[1]]),
            "replace": product(laws, repeat=2),
        }[relation]
        for with_record, other in pairs:
            for (epsilon, direction), (bound, for_more) in bounds.items():
                first, second = (with_record, other) if direction == REMOVE else (other, with_record)
                assert lost(first, second, epsilon) <= bound + 1e-12
                assert bound <= for_more + 1e-12


def renyi(first: Mapping[int, Fraction], second: Mapping[int, Fraction], order: Fraction) -> float:
    """(a - 1)·tau(a) of the noisy sums."""
    logs = [np.log(sum(float(chance) * noisy(total) for total, chance in law.items())) for law in (first, second)]
    return float(np.logaddexp.reduce(float(order) * logs[0] + float(1 - order) * logs[1]))


@pytest.mark.parametrize("relation", ["add-remove", "zero-out", "replace"])
@pytest.mark.parametrize(("most", "rate"), [(1, "9/10"), (2, "1/2"), (4, "1/4")])
@pytest.mark.parametrize("order", ["3/2", "4", "30000"])
def test_no_moment_of_samples_cut_down_is_larger(most: int, rate: str, relation: str, order: str) -> None:
    size, q, a = 4, Fraction(rate), Fraction(order)
    of = factor(q, most, size, kept=relation != "add-remove", replaced=relation == "replace")
    for others in product(VALUES, repeat=size - 1):
        laws = [cut_down((*others, x), most, q) for x in VALUES]
        ends_of = {"add-remove": [cut_down(others, most, q)], "zero-out": [laws[1]], "replace": laws}[relation]
        for direction in DIRECTIONS:
            most_told = float(ends(Moments(Arithmetic(128)).total([of], a, direction))[1])
            for pair in product(laws, ends_of):
                first, second = pair if direction == REMOVE else pair[::-1]
                assert renyi(first, second, a) <= most_told * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("order", ["3/2", "4", "30000"])
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_moments_of_two_records_on_a_sample_are_exact(order: str, direction: str) -> None:
    """One has e^e times the mass of neither where the other has e^-e times it, with 1/(1 + e^e); or both have e^-e."""
    loss, q, a = Fraction(3), mpmath.mpf(1) / 4, Fraction(order)
    of = Factor(TWO_RECORDS, loss, Fraction(1, 4), 1, 1)
    with mpmath.workprec(300):
        high, low = mpmath.exp(3), mpmath.exp(-3)
        rare = 1 / (1 + high)
        masses = [(rare * high, rare * low), (rare * low, rare * high), ((1 - 2 * rare) * low,) * 2]
        pairs = [(q * x + (1 - q) * y, y) for x, y in masses]
        power = mpmath.mpf(a.numerator) / a.denominator
        ordered = pairs if direction == REMOVE else [(y, x) for x, y in pairs]
        total = sum(x**power * y ** (1 - power) for x, y in ordered)
        low_end, high_end = ends(Moments(Arithmetic(192)).total([of], a, direction))
        assert low_end <= mpmath.log(total) <= high_end
        assert high_end - low_end <= mpmath.mpf(2) ** -100 * high_end


@pytest.mark.parametrize("family", [TWO_RECORDS, "another"])
def test_a_family_without_moments_of_its_own_is_not_taken_for_another(family: str) -> None:
    with pytest.raises(Refused, match=f"moments of the family {family} are not known to the checker"):
        Moments(Arithmetic(128))._drawn(Factor(family, LOSS, Fraction(1), 1, 1), Fraction(2))


def test_cut_down_to_one_record_a_sample_is_no_poisson_sample() -> None:
    """Two of these data sets are told apart better than Poisson's pair says: the record pushes others out."""
    q, opposite = Fraction(9, 10), (-1, -1, -1)
    laws = cut_down((*opposite, 1), 1, q), cut_down(opposite, 1, q)
    poisson = delta(Factor(PURE, LOSS, q / 4, 1, 1), Fraction(0), REMOVE)
    assert lost(*laws, Fraction(0)) > poisson
    assert lost(*laws, Fraction(0)) <= delta(factor(q, 1, 4, kept=False), Fraction(0), REMOVE)


@pytest.mark.parametrize("rate", ["1/100", "1/4"])
@pytest.mark.parametrize("epsilon", ["0", "1/3", "2"])
def test_normal_noise_on_batches_of_a_fixed_size_is_exact(rate: str, epsilon: str) -> None:
    """All others and the other record are the opposite one: (1 - q)N(-s, 1) + qN(s, 1) against N(-s, 1)."""
    q, s, level = (float(Fraction(text)) for text in (rate, "3/2", epsilon))

    def gap(x: Any) -> Any:
        known = mpmath.npdf(x, -s)
        return (1 - q) * known + q * mpmath.npdf(x, s) - mpmath.exp(level) * known

    crossing = mpmath.log((mpmath.exp(level) - 1 + q) / q) / (2 * s)
    of = factor(Fraction(rate), None, None, kept=True, family=GAUSSIAN, parameter=Fraction(3, 2))
    truth: Any = mpmath.quad(gap, [crossing, crossing + 2, crossing + 6, 20])
    for direction in DIRECTIONS:
        assert isclose(delta(of, Fraction(epsilon), direction), truth, rel_tol=1e-9)


@pytest.mark.parametrize(("family", "samples", "together"), [(PURE, 2, 1), (GAUSSIAN, 3, 1), (LAPLACE, 1, 2)])
def test_several_releases_are_not_one(family: str, samples: int, together: int) -> None:
    """Nor is the remove direction of several that of both orders, which is above it."""
    of = factor(Fraction(1, 3), None, None, kept=True, family=family, together=together)._replace(samples=samples)
    with pytest.raises(Refused, match="this method is for one release"):
        delta(of, Fraction(1, 10), REMOVE)


def test_of_samples_that_are_cut_down_the_family_is_stated() -> None:
    assert factor(Fraction(1, 3), 2, 4, kept=True).family == TRUNCATED
