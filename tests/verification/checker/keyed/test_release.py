"""What a keyed release states about itself: options, budgets, how its table ends, and what it assumes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import ceil
from typing import Any

import flint
import pytest

from certdp import Public
from certdp.accounting.keyed.reporting.budget import DyadicBudget
from certdp.accounting.units import Delta, Epsilon
from certdp.mechanisms.pws_keys import PwsKeys
from certdp.samplers.every_key import EveryKey as EveryKeySampler
from certdp.verification.certificates.keyed import keyed_certificate
from certdp.verification.checker import check
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.envelope import seal
from certdp.verification.checker.intervals import Arithmetic
from certdp.verification.checker.keyed.rates import EveryKey, ListedRates, Rates
from certdp.verification.checker.keyed.release import (
    Cost,
    _check_options,
    _hold_budget,
    _hold_end,
    _prove_budget,
    _theorem,
)
from certdp.verification.checker.keyed.units import Units
from certdp.verification.checker.verdict import Refused
from tests.support.arb_numbers import arb_of
from tests.support.forgeries import body_of
from tests.support.keyed_bodies import Body, certificate, rows

FINE = Arithmetic(96)


def refused(hold: Callable[..., object], *arguments: Any) -> bool:
    try:
        hold(*arguments)
    except Refused:
        return True
    return False


@pytest.mark.parametrize("path", [("claim", "contributions"), ("claim", "largest_frequency"), ("inputs", "releases")])
def test_counts_are_from_1_to_2_to_the_53(path: tuple[str, str]) -> None:
    for count, admitted in ((0, False), (1, True), (2**53, True), (2**53 + 1, False)):
        body = certificate(rows(1))
        body[path[0]][path[1]] = count
        assert (f"certificate.{'.'.join(path)} must" in check(seal(body)).reason) is not admitted


@pytest.mark.parametrize("bits", [0, -1, 1101, True, "2", 2.0])
def test_bits_that_are_none(bits: Any) -> None:
    assert "bits" in check(seal(certificate(rows(1), bits=bits))).reason


def test_a_table_that_covers_no_frequency_proves_nothing() -> None:
    body = certificate({"segments": [], "then": "absent"})
    for largest in (0, None, 1):
        body["claim"]["largest_frequency"] = largest
        assert not check(seal(body)).accepted


@pytest.mark.parametrize(
    ("reports", "name"),
    [
        ("keys", "PWS Section 4, Lemma 4.1"),
        ("delays", "PWS Section 5, Lemma 5.2"),
        ("rows", "PWS Section 5, Theorem 5.1"),
    ],
)
def test_the_theorem_is_named_with_all_that_is_composed(reports: str, name: str) -> None:
    for releases, unit, epsilon, delta in product((1, 2, 3), ("element", "user"), ("0", "1/9"), ("0", "1/8")):
        body = certificate(rows(1), reports=reports, releases=releases)
        body["claim"]["unit"] = unit
        several = releases > 1 or epsilon != "0" or delta != "0"
        expected = (
            name + (" and basic composition" if several else "") + (" and group privacy" if unit == "user" else "")
        )
        assert _theorem(body, Cost(Fraction(epsilon), Fraction(delta))) == expected


# Options of plugins that nobody knows: what they share a name with is held against the inputs all the same.

BY_POWER = {"name": "pps", "threshold": "1/9", "power": "2"}
BY_SIZES = {"name": "pps", "threshold": "1/9", "sizes": ["1", "2"]}
LISTED = {"name": "listed-rates", "rates": ["1/4", "1/2"]}
SAID: list[tuple[str, Body, Body, str]] = [
    ("sampler", {"threshold": "1/9"}, BY_POWER, ""),
    ("sampler", {"threshold": "1/8"}, BY_POWER, "threshold"),
    ("sampler", {"power": "2"}, BY_POWER, ""),
    ("sampler", {"power": "1"}, BY_POWER, "power"),
    ("sampler", {"power": "1"}, BY_SIZES, ""),  # the scheme says nothing of a power
    ("sampler", {"sizes": "1,2"}, BY_SIZES, ""),
    ("sampler", {"sizes": "1,3"}, BY_SIZES, "sizes"),
    ("sampler", {"sizes": "1,2"}, BY_POWER, "sizes"),
    ("sampler", {"rates": "1/4,1/2"}, LISTED, ""),
    ("sampler", {"rates": "1/4"}, LISTED, "rates"),
    ("sampler", {"rates": "1/4,1/2"}, BY_SIZES, "rates"),
    ("sampler", {"threshold": "1/8"}, LISTED, ""),
    ("sampler", {}, BY_POWER, ""),
    ("mechanism", {}, LISTED, ""),
    ("mechanism", {"subdivision": "0"}, LISTED, ""),
    ("mechanism", {"subdivision": "1"}, LISTED, "subdivision"),
    ("mechanism", {"epsilon": "1"}, LISTED, ""),
    ("mechanism", {"epsilon": "1/10"}, LISTED, "growth"),
    ("mechanism", {"epsilon": "-1"}, LISTED, "growth"),
    ("mechanism", {"delta": "1/4"}, LISTED, ""),
    ("mechanism", {"delta": "1/2"}, LISTED, ""),
    ("mechanism", {"delta": "24/100"}, LISTED, "delta"),
    ("mechanism", {"delta": "6/25"}, LISTED, "allowance"),
    ("mechanism", {"epsilon": "1", "delta": "1/5"}, LISTED, "allowance"),
]


@pytest.mark.parametrize(("role", "options", "scheme", "wrong"), SAID)
def test_what_options_say_is_what_the_inputs_say(role: str, options: Body, scheme: Body, wrong: str) -> None:
    """In quarters, at a growth of 5/4 and an allowance of one."""
    body = certificate(rows(1), scheme=scheme, growth="5")
    body[role]["options"] = options
    units = Units(2, 5, 1)
    if wrong:
        with pytest.raises(Refused, match=wrong):
            _check_options(body, units)
    else:
        assert _check_options(body, units) is False


DELTAS = ["1", "1/2", "1/4", "1/3", "3/10", "2/3", "99/100", "1/1000", "3/1000", "1/1024", "1/1025", "1/1023"]


@pytest.mark.parametrize("subdivision", [0, 1, 4])
@pytest.mark.parametrize("delta", DELTAS)
def test_units_are_those_of_the_budget_that_a_sanitiser_makes(delta: str, subdivision: int) -> None:
    """And no others: not a unit finer or coarser, not one of allowance or growth more or less."""
    for epsilon in ("0", "1/1000", "1/2", "3", "30", "45", "100", "1000", "9" * 690):
        made = DyadicBudget(epsilon=Epsilon(epsilon), delta=Delta(delta), subdivision=subdivision)
        units = Units(made.bits, made.growth, made.allowance)
        chosen = subdivision, Fraction(epsilon), Fraction(delta)
        _hold_budget(units, *chosen)
        others = [units._replace(bits=units.bits + more) for more in (-1, 1)]
        others += [units._replace(allowance=units.allowance + more) for more in (-1 << subdivision, 1 << subdivision)]
        others += [units._replace(allowance=units.allowance - 1)]
        if units.growth > units.certain:
            others += [units._replace(growth=units.growth - 1), units._replace(growth=units.certain)]
        for other in others:
            assert refused(_hold_budget, other, *chosen), (other, units)


def test_growth_of_certainty_is_enough_whatever_epsilon_is() -> None:
    """From one unit everything may follow: no sanitiser goes beyond."""
    made = DyadicBudget(epsilon=Epsilon(45), delta=Delta("1/2"))
    assert made.growth == made.certain**2
    body = certificate(rows(1))
    body["mechanism"]["options"] = {"epsilon": "45"}
    assert _check_options(body, Units(made.bits, made.growth, 1)) is False


# What the claim takes in.


def budget_of(epsilon: Fraction, delta: Fraction, contributions: int | None, releases: int) -> Body:
    body = certificate(rows(1), epsilon=str(epsilon), delta=str(delta), releases=releases)
    body["claim"]["contributions"] = contributions
    return body


@pytest.mark.parametrize("contributions", [None, 1, 2, 5])
@pytest.mark.parametrize("releases", [1, 2, 4])
@pytest.mark.parametrize("cost", ["0", "1/3"])
def test_epsilon_is_of_all_releases_and_steps_and_of_what_was_paid_before(
    contributions: int | None, releases: int, cost: str
) -> None:
    """The logarithm of the growth itself, which is rational where it is 0 alone."""
    spent = Cost(Fraction(cost), Fraction(0))
    for growth in (4, 5, 10, 11, 16):
        exact: Any = arb_of(Fraction(growth, 4)).log() * 2**40
        below, enough = (Fraction(int(end.unique_fmpz()), 2**40) for end in (exact.floor(), exact.ceil()))
        below = below if growth > 4 else Fraction(-1, 2**99)
        for one, admitted in ((enough, True), (below, False)):
            epsilon = (contributions or 1) * (releases * one + Fraction(cost))
            body = budget_of(epsilon, Fraction(1), contributions, releases)
            assert refused(_prove_budget, body, Units(2, growth, 0), spent) is not admitted


@pytest.mark.parametrize("contributions", [None, 1, 2, 3, 6])
@pytest.mark.parametrize("releases", [1, 2, 3])
@pytest.mark.parametrize("paid", ["0", "1/1024"])
@pytest.mark.parametrize("growth", [4, 5])
def test_delta_is_of_all_releases_and_steps_exactly(
    contributions: int | None, releases: int, paid: str, growth: int
) -> None:
    """A binary number, which is admitted itself, and not a little less of it."""
    units, spent = Units(20, growth << 18, 3), Cost(Fraction(0), Fraction(paid))
    one = releases * Fraction(3, 2**20) + Fraction(paid)
    delta = one * sum(Fraction(growth, 4) ** (releases * k) for k in range(contributions or 1))
    for less, admitted in ((Fraction(0), True), (Fraction(1, 2**999), False)):
        body = budget_of(Fraction(99), delta - less, contributions, releases)
        assert refused(_prove_budget, body, units, spent) is not admitted


def test_a_step_multiplies_delta_by_what_was_paid_before_too() -> None:
    """By e^c, for c of released constants."""
    before, flint.ctx.prec = flint.ctx.prec, 200
    try:
        factor = arb_of(Fraction(5, 4)) * arb_of(Fraction(1, 3)).exp()
        exact: Any = arb_of(Fraction(3, 2**20)) * (1 + factor + factor**2) * 2**120
        whole = int(exact.floor().unique_fmpz())
    finally:
        flint.ctx.prec = before
    units, spent = Units(20, 5 << 18, 3), Cost(Fraction(1, 3), Fraction(0))
    for units_of_delta, admitted in ((whole, False), (whole + 1, True)):
        body = budget_of(Fraction(99), Fraction(units_of_delta, 2**120), 3, 1)
        assert refused(_prove_budget, body, units, spent) is not admitted


def test_delta_is_a_probability() -> None:
    for delta, admitted in (("1", True), ("1000001/1000000", False), ("2", False)):
        body = budget_of(Fraction(99), Fraction(delta), None, 1)
        assert refused(_prove_budget, body, Units(2, 4, 1), Cost(Fraction(0), Fraction(0))) is not admitted


@pytest.mark.parametrize("subdivision", [0, 1])
def test_keys_alone_have_no_tokens(subdivision: int) -> None:
    verdict = check(seal(certificate(rows(1), subdivision=subdivision)))
    assert verdict.accepted is not bool(subdivision)
    assert not subdivision or "keys alone have none" in verdict.reason


def test_delays_are_of_keys_that_are_not_sampled() -> None:
    delays = {"columns": [{"width": "1", "units": ["1", "1", "1", "1"]}]}
    always = {"name": "pps", "threshold": "9", "power": "0"}
    for scheme, reason in ((None, ""), (LISTED, "not sampled"), (always, "not sampled")):
        body = certificate(delays, reports="delays", scheme=scheme)
        body["theorem"] = "PWS Section 5, Lemma 5.2"
        verdict = check(seal(body))
        assert verdict.accepted is (not reason), verdict
        assert reason in verdict.reason


# How a table goes on.

RATES = ["1/9", "1/4", "1/3", "1/3", "1"]


def tables() -> list[tuple[str, Body, int, int]]:
    """Kind, table, its last frequency, and what it lists there."""
    found: list[tuple[str, Body, int, int]] = []
    for then in ("constant", "absent", "kept"):
        for last in range(7):
            for reported in (0, 1, 3, 4, 13, 14, 16):
                listed = ["9"] * (last - 1) + [str(reported)] * (last > 0)
                found.append(("keys", {"segments": [{"reported": listed}], "then": then}, last, reported * (last > 0)))
                if last > 1:
                    segments = [{"kept_through": last - 1}, {"reported": [str(reported)]}]
                    found.append(("keys", {"segments": segments, "then": then}, last, reported))
                    segments = [{"reported": ["5", "6"]}, {"reported": ["9"] * (last - 2) + [str(reported)]}]
                    found.append(("keys", {"segments": segments, "then": then}, last + 1, reported))
            if last:
                segments = [{"reported": ["16"]}, {"kept_through": last}]
                found.append(("keys", {"segments": segments, "then": then}, last, 0))
            found.append(("rows", {"kept": ["16"] * last, "then": then}, last, 0))
    return found


@pytest.mark.parametrize("largest", [None, 1, 2, 3, 5, 6])
@pytest.mark.parametrize("every", [False, True])
def test_a_table_goes_on_as_the_largest_frequency_says(largest: int | None, every: bool) -> None:
    """Constant from it on; or, without one, where all that is ever kept is reported."""
    rates: Rates = EveryKey(FINE, Budget()) if every else ListedRates(RATES, FINE, Budget())
    units, options = Units(4, 16, 2), {} if largest is None else {"largest": str(largest)}
    for kind, table, last, reported in tables():
        end = largest if largest is not None else 2**53 if every else len(RATES)
        rate = Fraction(1) if every or end > len(RATES) else Fraction(RATES[end - 1])
        admitted = (every or end <= len(RATES)) and (
            (last == end or (last < end and reported + 2 >= ceil(rate * 16)))
            if table["then"] == "constant"
            else largest is None
        )
        inputs = {"reports": kind, "table": table}
        assert refused(_hold_end, options, inputs, rates, units) is not admitted, (table, options)


def test_a_largest_frequency_is_one_that_has_a_rate() -> None:
    for rates, end in ((ListedRates(RATES, FINE, Budget()), 5), (EveryKey(FINE, Budget()), 2**53)):
        for largest in (1, end, end + 1, 10 * end):
            inputs = {"reports": "delays", "table": {}}
            stated = {"largest": str(largest)}
            assert refused(_hold_end, stated, inputs, rates, Units(4, 16, 2)) is (largest > end)


# What is assumed.


def put_option(body: Body, role: str, key: str, value: str) -> None:
    body[role]["options"][key] = value
    body["assumptions"].append({"name": f"{role}.{key}", "value": value})


def test_an_option_of_a_mechanism_that_nobody_knows_assumes_nothing_of_frequencies() -> None:
    body = certificate(rows(1))
    put_option(body, "mechanism", "largest", "3")
    verdict = check(seal(body))
    assert verdict.accepted, verdict


@pytest.mark.parametrize(("epsilon", "delta"), [("1/9", "0"), ("0", "1/8"), ("1/9", "1/8")])
def test_what_releases_cost_is_told_with_what_was_released(epsilon: str, delta: str) -> None:
    body = certificate(rows(1), epsilon="1", delta="1", released_cost={"epsilon": epsilon, "delta": delta})
    body["theorem"] += " and basic composition"
    put_option(body, "mechanism", "scale", "2")
    costs = [("released cost", epsilon), ("released delta", delta)]
    body["assumptions"] += [{"name": name, "value": cost} for name, cost in costs if cost != "0"]
    assert "no assumption says which were released" in check(seal(body)).reason
    body["assumptions"].append({"name": "mechanism.scale was released", "value": "within 2 to 2"})
    assert check(seal(body)).accepted
    for name, cost in costs:
        if cost != "0":
            less = copy.deepcopy(body)
            less["assumptions"] = [item for item in body["assumptions"] if item["name"] != name]
            assert f"must state {name!a}" in check(seal(less)).reason


@pytest.mark.parametrize("releases", [1, 2, 3])
@pytest.mark.parametrize("contributions", [None, 1, 2])
def test_whom_and_how_many_releases_the_verdict_is_about(releases: int, contributions: int | None) -> None:
    body = certificate(rows(1), epsilon="0", delta="1", bits=4, growth="16", allowance="1", releases=releases)
    if releases > 1:
        body["theorem"] += " and basic composition"
        body["assumptions"].append(
            {"name": "releases, each on a fresh sample with coins of its own", "value": str(releases)}
        )
    if contributions is not None:
        body["claim"] |= {"unit": "user", "contributions": contributions}
        body["theorem"] += " and group privacy"
        body["assumptions"].append(
            {"name": "each user contributes at most so many elements in all", "value": str(contributions)}
        )
    verdict = check(seal(body))
    assert verdict.accepted, verdict
    often = "one release costs" if releases == 1 else f"{releases} releases, each on a fresh sample, cost at most"
    assert often in verdict.reason
    assert "for keys of every frequency" in verdict.reason
    assert verdict.claim is not None
    whom = {None: "per element ", 1: "per user with at most 1 element ", 2: "per user with at most 2 elements "}
    assert whom[contributions] in verdict.claim.guarantee
    last = body["assumptions"].pop()
    assert len(body["assumptions"]) < 4 or last["name"] in check(seal(body)).reason
    if contributions is not None:
        body["claim"]["contributions"] = None
        assert "contributions belong" in check(seal(body)).reason


def test_units_of_another_budget_are_no_units_of_a_sanitiser_of_certdp() -> None:
    """Else one that reports nothing at an allowance of 0 would certify (0, 0) for one that reports."""
    body = body_of(keyed_certificate(PwsKeys(epsilon=Public("1/2"), delta=Public("1/1000")), EveryKeySampler()))
    assert check(seal(body)).accepted
    body["inputs"] |= {"bits": 2, "growth": "4", "allowance": "0"}
    body["inputs"]["table"] = {"segments": [{"reported": ["0"]}], "then": "absent"}
    body["claim"] |= {"epsilon": "0", "delta": "0", "largest_frequency": 1}
    body["assumptions"].append({"name": "largest frequency", "value": "1"})
    assert "not those of the mechanism's option delta" in check(seal(body)).reason
