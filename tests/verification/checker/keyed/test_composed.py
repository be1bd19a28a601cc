"""Releases composed by what each keeps, against all outcomes of randomised responses that may tell the data."""

from __future__ import annotations

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
from certdp.verification.checker.keyed.composed import prove_composed
from certdp.verification.checker.keyed.release import Cost, _optimal_theorem
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
        prove_composed(epsilon, level, releases, units, cost, Budget())
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


@pytest.mark.parametrize("level", ["1", "9/8"])
def test_delta_is_a_probability(level: str) -> None:
    assert admitted(Fraction(1), Fraction(level), 1, Units(4, 17, 1)) is (level == "1")


def test_a_release_that_may_tell_for_certain_is_bounded_by_1_alone() -> None:
    assert not admitted(Fraction(1), 1 - HAIR, 2, Units(4, 17, 16))


def test_the_work_is_taken_from_the_budget_before_it_is_done() -> None:
    with pytest.raises(Refused, match="work budget"):
        prove_composed(Fraction(1), Fraction(1), 2**53, Units(4, 17, 1), NOTHING, Budget())
    for releases, left in ((1, 50_000), (9, 250_000)):
        prove_composed(Fraction(9), Fraction(1), releases, Units(4, 17, 1), NOTHING, Budget(left))
        with pytest.raises(Refused, match="work budget"):
            prove_composed(Fraction(9), Fraction(1), releases, Units(4, 17, 1), NOTHING, Budget(left - 1))


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
