"""Releases composed by what each keeps, against all outcomes of randomised responses that may tell the data."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import flint
import pytest

from certdp.verification.checker import check
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.envelope import seal
from certdp.verification.checker.intervals import NOTHING as NONE
from certdp.verification.checker.intervals import Arithmetic, at_most
from certdp.verification.checker.keyed.composed import Releases, corner, prove_composed
from certdp.verification.checker.keyed.release import Cost, _optimal_theorem, _theorem_by_frequency
from certdp.verification.checker.keyed.units import Units
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of
from tests.support.keyed_bodies import Body, certificate, rows

OPTIMAL = " and optimal composition (Kairouz, Oh, Viswanath 2015)"
NOTHING = Cost(Fraction(0), Fraction(0))
HAIR = Fraction(1, 2**150)


@pytest.fixture(autouse=True)
def precise() -> Iterator[None]:
    before, flint.ctx.prec = flint.ctx.prec, 400
    yield
    flint.ctx.prec = before


def delta(epsilon: Fraction, releases: int, units: Units) -> Any:
    """Over all outcomes of all releases: what tells, and the truth or a lie that does not."""
    tells, told = Fraction(units.allowance, units.certain), Fraction(units.growth, units.growth + units.certain)
    law = [(tells, Fraction(0)), ((1 - tells) * told, (1 - tells) * (1 - told))]
    law += [(without, with_it) for with_it, without in law]
    factor: Any = arb_of(epsilon).exp()
    total: Any = flint.arb(0)
    for way in product(law, repeat=releases):
        excess = arb_of(prod(p for p, _ in way)) - factor * arb_of(prod(q for _, q in way))
        total += excess.max(flint.arb(0))
    return total


def admitted(epsilon: Fraction, level: Fraction, releases: int, units: Units, cost: Cost = NOTHING) -> bool:
    try:
        prove_composed(Releases(epsilon, level, releases, cost, Budget()), units)
    except Refused:
        return False
    return True


@pytest.mark.parametrize("releases", [1, 2, 3, 5])
@pytest.mark.parametrize("growth", [16, 17, 24, 40])
@pytest.mark.parametrize("allowance", [0, 1, 5, 15])
@pytest.mark.parametrize("epsilon", ["0", "1/7", "1", "5/2", "10"])
def test_what_is_admitted_is_the_sum_over_all_outcomes(
    releases: int, growth: int, allowance: int, epsilon: str
) -> None:
    units, at = Units(4, growth, allowance), Fraction(epsilon)
    exact = Fraction(int((delta(at, releases, units) * 2**200).mid().floor().unique_fmpz()), 2**200)
    for cost in (NOTHING, Cost(Fraction(2, 3), Fraction(1, 64))):
        whole = exact + cost.delta
        for level, true in ((whole + HAIR, True), (whole - HAIR, False)):
            assert admitted(at + cost.epsilon, level, releases, units, cost) is (true and level <= 1)


def test_releases_that_lose_nothing_are_within_a_delta_of_0() -> None:
    assert admitted(Fraction(0), Fraction(0), 3, Units(4, 16, 0))


def test_nothing_is_proven_below_what_released_constants_cost() -> None:
    cost = Cost(Fraction(1, 3), Fraction(0))
    assert admitted(Fraction(1, 3), Fraction(1), 1, Units(4, 17, 1), cost)
    assert not admitted(Fraction(1, 3) - HAIR, Fraction(1), 1, Units(4, 17, 1), cost)


def test_what_released_constants_cost_is_taken_from_the_claim() -> None:
    units, at, cost = Units(4, 24, 1), Fraction(1, 7), Cost(Fraction(2, 3), Fraction(1, 64))
    exact = rounded(delta(at, 2, units).mid(), "floor") + cost.delta
    assert admitted(at + cost.epsilon, exact + HAIR, 2, units, cost)
    assert not admitted(at + cost.epsilon, exact - HAIR, 2, units, cost)


@pytest.mark.parametrize("level", ["1", "9/8"])
def test_delta_is_a_probability(level: str) -> None:
    assert admitted(Fraction(1), Fraction(level), 1, Units(4, 17, 1)) is (level == "1")


def test_a_release_that_may_tell_for_certain_is_bounded_by_1_alone() -> None:
    assert not admitted(Fraction(1), 1 - HAIR, 2, Units(4, 17, 16))


def test_the_work_is_taken_from_the_budget_before_it_is_done() -> None:
    with pytest.raises(Refused, match="work budget"):
        prove_composed(Releases(Fraction(1), Fraction(1), 2**53, NOTHING, Budget()), Units(4, 17, 1))
    for releases, left in ((1, 20_000), (9, 100_000)):
        prove_composed(Releases(Fraction(9), Fraction(1), releases, NOTHING, Budget(left)), Units(4, 17, 1))
        with pytest.raises(Refused, match="work budget"):
            prove_composed(Releases(Fraction(9), Fraction(1), releases, NOTHING, Budget(left - 1)), Units(4, 17, 1))


def apart(epsilon: Fraction, releases: int, before: Fraction, after: Fraction) -> Any:
    """The larger divergence of so many draws with these chances, over all their outcomes."""
    factor: Any = arb_of(epsilon).exp()
    laws = [(1 - before, 1 - after), (before, after)]
    found: list[Any] = []
    for one, other in ((0, 1), (1, 0)):
        total: Any = flint.arb(0)
        for way in product(laws, repeat=releases):
            excess = arb_of(prod(law[one] for law in way)) - factor * arb_of(prod(law[other] for law in way))
            total += excess.max(flint.arb(0))
        found.append(total)
    return found[0].max(found[1])


def rounded(value: Any, way: str) -> Fraction:
    return Fraction(int(getattr(value * 2**200, way)().unique_fmpz()), 2**200)


@pytest.mark.parametrize("releases", [1, 2, 5])
@pytest.mark.parametrize("epsilon", ["0", "1/7", "1"])
def test_rows_are_summed_over_all_outcomes(releases: int, epsilon: str) -> None:
    """All rows of eight units, rising and falling; of one and the same row nothing is told, and nothing summed."""
    at, certain = Fraction(epsilon), 8
    for before, after in product(range(certain + 1), repeat=2):
        exact = rounded(apart(at, releases, Fraction(before, certain), Fraction(after, certain)).mid(), "floor")
        for level, true in ((min(exact + HAIR, Fraction(1)), exact < 1), (exact - HAIR, before == after)):
            claimed = Releases(at, level, releases, NOTHING, Budget())
            assert claimed.rows_within(before, after, certain) is true or exact == 1, (before, after)


@pytest.mark.parametrize("releases", [1, 3])
@pytest.mark.parametrize("epsilon", ["0", "1/3", "3/2"])
def test_rows_that_are_left_out_lose_no_more_than_those_before(releases: int, epsilon: str) -> None:
    at, certain = Fraction(epsilon), 5
    rows = list(product(range(certain + 1), repeat=2))
    losses = {row: apart(at, releases, *(Fraction(units, certain) for units in row)) for row in rows}
    left = 0
    for one, other in product(rows, repeat=2):
        budget = Budget()
        claimed = Releases(at, Fraction(1), releases, NOTHING, budget)
        claimed.rows_within(one[0], one[1], certain)
        paid = budget.left
        claimed.rows_within(other[0], other[1], certain)
        if budget.left == paid and other[0] != other[1]:
            left += 1
            assert not losses[other] > losses[one], (one, other)
    assert left > len(rows)


def test_the_same_rows_again_take_no_work() -> None:
    for before, after in ((1, 3), (5, 2), (0, 4), (6, 8)):
        budget = Budget()
        claimed = Releases(Fraction(0), Fraction(1), 2, NOTHING, budget)
        assert claimed.rows_within(before, after, 8)
        left = budget.left
        assert claimed.rows_within(before, after, 8)
        assert claimed.rows_within(8 - before, 8 - after, 8)
        assert budget.left == left


@pytest.mark.parametrize("releases", [1, 3])
def test_the_corner_of_two_lines_dominates_what_lies_below_them(releases: int) -> None:
    """Every point of a grid below both lines and not too far below the diagonal, at several slopes and levels."""
    arithmetic, certain = Arithmetic(192), 12
    for steep, flat, told in product((Fraction(1), Fraction(5, 4), Fraction(3)), (Fraction(1), Fraction(2)), (0, 1, 3)):
        tells = Fraction(told, certain)
        below = [
            (x, y)
            for x, y in product((Fraction(units, certain) for units in range(certain + 1)), repeat=2)
            if y <= steep * x + tells and 1 - x <= flat * (1 - y) + tells and x <= y + tells
        ]
        chances = corner(*map(arithmetic.rational, (steep, flat)))
        for at in (Fraction(0), Fraction(1, 3), Fraction(1)):
            most = max((apart(at, releases, x, y) for x, y in below), key=float)
            level = rounded(most.mid(), "floor") - HAIR
            claimed = Releases(at, max(level, Fraction(0)), releases, NOTHING, Budget())
            within = claimed.within(*chances, arithmetic.rational(tells))
            assert not within or level < 0, (steep, flat, told, at)


def test_the_corner_lies_on_both_lines() -> None:
    arithmetic = Arithmetic(192)
    steep, flat = Fraction(5, 4), Fraction(3)
    absent, present = corner(arithmetic.rational(steep), arithmetic.rational(flat))
    x = (flat - 1) / (steep * flat - 1)
    for found, true in ((absent, x), (present, steep * x)):
        assert at_most(found.lo, arithmetic.rational(true).hi)
        assert at_most(arithmetic.rational(true).lo, found.hi)
    assert 1 - x == flat * (1 - steep * x)
    one = arithmetic.rational(Fraction(1))
    assert corner(one, arithmetic.rational(flat)) == corner(arithmetic.rational(steep), one) == (NONE, NONE)


def by_frequency(*units: int, releases: int = 3, level: Fraction, epsilon: str = "0") -> Body:
    """In quarters, each at most one apart."""
    body = certificate(rows(*units), epsilon=epsilon, delta=str(level), releases=releases)
    body["theorem"] += " and composition at each frequency (Zhu, Dong, Wang 2022)"
    name = "releases, each on a fresh sample with coins of its own"
    body["assumptions"].append({"name": name, "value": str(releases)})
    return body


def test_a_certificate_by_frequency_is_about_the_worst_row() -> None:
    """Of quarters the first tells most: 1 - (3/4)^3; the next, of 1/4 and 2/4, tells 19/64 at a loss of 0."""
    least = Fraction(37, 64)
    genuine = by_frequency(1, 2, 3, 4, level=least + HAIR)
    assert check(seal(genuine)).accepted
    paid = copy.deepcopy(genuine)
    paid["inputs"]["released_cost"]["delta"] = "1/1024"
    user = copy.deepcopy(genuine)
    user["claim"] |= {"unit": "user", "contributions": 1}
    user["assumptions"].append({"name": "each user contributes at most so many elements in all", "value": "1"})
    for wrong in (
        by_frequency(1, 2, 3, 4, level=least - HAIR),
        by_frequency(1, 2, 3, 4, releases=4, level=least + HAIR),
        by_frequency(1, 3, 4, level=Fraction(1)),
        {**genuine, "theorem": genuine["theorem"] + " and basic composition"},
        {**genuine, "theorem": genuine["theorem"] + " and group privacy"},
        {**genuine, "theorem": genuine["theorem"].replace("Section 4, Lemma 4.1", "Section 5, Theorem 5.1")},
        {**genuine, "inputs": {**genuine["inputs"], "releases": 4}},
        paid,
        user,
    ):
        assert not check(seal(wrong)).accepted
    for body in (paid, user):
        assert "the theorem is" in check(seal(body)).reason


def test_a_released_rate_is_not_what_the_rows_are_about() -> None:
    """Even for a sanitiser of certdp, of which the declared pair holds at every rate."""
    body = by_frequency(1, level=Fraction(1))
    body["sampler"]["options"] = {"threshold": "1/4"}
    body["assumptions"] += [
        {"name": "sampler.threshold", "value": "1/4"},
        {"name": "sampler.threshold was released", "value": "any value"},
    ]
    assert "threshold was released" in check(seal(body)).reason


def test_only_keys_alone_are_composed_at_each_frequency() -> None:
    body = certificate(rows(1))
    assert _theorem_by_frequency(body, NOTHING) is not None
    for reports in ("delays", "rows"):
        assert _theorem_by_frequency(certificate(rows(1), reports=reports), NOTHING) is None


@pytest.mark.parametrize("reports", ["keys", "delays", "rows"])
def test_the_theorem_names_what_is_composed(reports: str) -> None:
    body = certificate(rows(1), reports=reports)
    names = {"keys": "PWS Section 4, Lemma 4.1", "delays": "PWS Section 5, Lemma 5.2"}
    name = names.get(reports, "PWS Section 5, Theorem 5.1")
    assert _optimal_theorem(body, NOTHING) == name + OPTIMAL
    for cost in (Cost(Fraction(1), Fraction(0)), Cost(Fraction(0), Fraction(1))):
        assert _optimal_theorem(body, cost) == name + OPTIMAL + " and basic composition"
    body["claim"]["unit"] = "user"
    assert _optimal_theorem(body, NOTHING) is None


def composed(releases: int = 3, epsilon: str = "0", level: str = "37/64") -> Body:
    """At an allowance of 1/4 and no growth the releases tell with 1 - (3/4)^3, and lose nothing else."""
    body = certificate(rows(1), epsilon=epsilon, delta=level, releases=releases)
    body["theorem"] += OPTIMAL
    name = "releases, each on a fresh sample with coins of its own"
    body["assumptions"].append({"name": name, "value": str(releases)})
    return body


def test_a_certificate_states_the_theorem_that_it_follows_by() -> None:
    body = composed(level=str(Fraction(37, 64) + HAIR))
    assert check(seal(body)).accepted
    for wrong in (
        composed(level=str(Fraction(37, 64) - HAIR)),
        composed(4, level=str(Fraction(37, 64) + HAIR)),
        {**body, "theorem": "PWS Section 4, Lemma 4.1 and basic composition"},
        {**body, "theorem": "PWS Section 4, Lemma 4.1"},
        {**body, "theorem": body["theorem"] + " and basic composition"},
        {**body, "theorem": body["theorem"] + " and group privacy"},
        {**body, "inputs": {**body["inputs"], "releases": 4}},
        {**body, "inputs": {**body["inputs"], "allowance": "2"}},
        {**body, "inputs": {**body["inputs"], "growth": "5"}},
    ):
        assert not check(seal(wrong)).accepted


def test_no_such_proof_is_about_users() -> None:
    body = composed(level="1")
    body["claim"] |= {"unit": "user", "contributions": 1}
    body["assumptions"].append({"name": "each user contributes at most so many elements in all", "value": "1"})
    assert "the theorem is" in check(seal(body)).reason
    body["theorem"] = "PWS Section 4, Lemma 4.1 and basic composition and group privacy"
    assert check(seal(body)).accepted
