"""Pure profiles at the ends of what is admitted: rates that are drawn exactly, and records that are never drawn."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import certdp
from certdp import Count, Full, LaplaceSum, Norm, NormBall, Poisson, Public, Released, SampledRun
from certdp.verification.certificates.writing import sealed
from certdp.verification.checker import check
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.domain import Domain
from certdp.verification.checker.expressions import Pool
from certdp.verification.checker.intervals import ZERO, Arithmetic, Interval, exact
from certdp.verification.checker.profile import (
    Profile,
    _check_premises,
    _check_supremum,
    _compose,
    _exactly_drawn,
    _measure,
    realised,
)
from certdp.verification.checker.verdict import Refused
from tests.support.cases import examples

BALL = NormBall(norm=Norm.L1, radius=Public(1))
COST = SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Full(), domain=BALL).pure()  # ε = 1/2
PAID = Released(3, COST, within=(2, 8))

POWERS = st.integers(-1080, 3).map(lambda power: Fraction(2) ** power)
RATES = st.one_of(POWERS, st.floats(0, 1).map(Fraction), st.fractions(-1, 3), st.sampled_from([Fraction(10**400)]))


def in_binary64(number: Fraction) -> bool:
    """Whether it is a whole number of at most 53 bits times a power of two that binary64 reaches, below 2^1023."""
    if not number:
        return True
    odd, power = abs(number.numerator), -number.denominator.bit_length() + 1
    if number.denominator & (number.denominator - 1):
        return False
    spare = (odd & -odd).bit_length() - 1
    return (odd >> spare).bit_length() <= 53 and power + spare >= -1074 and number < 2**1023


@examples(300)
@given(rate=RATES, weighted=st.booleans())
@example(rate=Fraction(0), weighted=True)
@example(rate=Fraction(1), weighted=True)
@example(rate=Fraction(2), weighted=False)
@example(rate=Fraction(-1), weighted=False)
@example(rate=Fraction(3, 4), weighted=True)
@example(rate=Fraction(3, 4), weighted=False)
@example(rate=Fraction(1, 3), weighted=False)
@example(rate=Fraction(1, 2**1022), weighted=True)
@example(rate=Fraction(1, 2**1023), weighted=True)
@example(rate=Fraction(1, 2**1074), weighted=True)
@example(rate=Fraction(1, 2**1075), weighted=False)
def test_a_constant_is_drawn_exactly_where_binary64_holds_it_and_its_weight(rate: Fraction, weighted: bool) -> None:
    held = 0 <= rate <= 1 and in_binary64(rate) and (not weighted or not rate or in_binary64(1 / rate))
    assert _exactly_drawn({"rate": ["constant", str(rate)], "weighted": weighted}) is held


def test_no_other_rate_is_known_to_be_drawn_exactly() -> None:
    for rate in (["norm", "1"], ["multiply", ["constant", "1"], ["constant", "1/2"]], ["constant", 1], "1/2"):
        assert not _exactly_drawn({"rate": rate, "weighted": False})


def altered(content: bytes, upper: float, lower: float | None) -> bytes:
    body: dict[str, Any] = json.loads(content)
    del body["digest"]
    body["claim"]["supremum"] |= {"upper": upper, "lower": lower}
    if lower is None:
        body["claim"]["supremum"]["maximiser"] = None
    return sealed(body)


@pytest.mark.parametrize(("scale", "cost"), [(Public(3), 0.0), (PAID, 0.5)], ids=["nothing", "a release"])
def test_where_no_record_is_drawn_the_supremum_is_what_was_paid_before(scale: Any, cost: float) -> None:
    """Both ends of it may be that number itself, and no upper end is below it."""
    run = SampledRun(mechanism=LaplaceSum(scale=scale), sampler=Poisson(rate=Public(0)))
    content = certdp.profile_certificate(run.on(BALL))
    for lower in (None, cost):
        assert check(altered(content, cost, lower)).accepted
    below = math.nextafter(cost, -1)
    assert not check(altered(content, below, None)).accepted
    assert "not reached at the maximiser" in check(altered(content, cost, math.nextafter(cost, 1))).reason


@pytest.mark.parametrize(("power", "never"), [(-960, False), (-961, True), (-1000, True)])
def test_a_record_whose_rate_is_at_most_2_to_the_minus_961_is_never_drawn(power: int, never: bool) -> None:
    """So it loses nothing, whatever its norm; any other loses as much as the profile says."""
    run = SampledRun(mechanism=LaplaceSum(scale=Public(3)), sampler=Poisson(rate=Public(Fraction(2) ** power)))
    body = json.loads(certdp.profile_certificate(run.on(BALL)))
    one = Interval(exact(1.0), exact(1.0))
    found = _measure(_compose(body, Budget()))({"norm(1)": one}, Arithmetic(96))
    assert (found.psi == ZERO) is never
    assert found.drawn == Interval(exact(2.0**power), exact(2.0**power))


def test_an_expression_uses_norms_and_the_weight_alone() -> None:
    """Of a rate the norms, of a loss the weight too."""
    run = SampledRun(mechanism=LaplaceSum(scale=Public(3)), sampler=Poisson(rate=Public("1/2")))
    genuine = json.loads(certdp.profile_certificate(run.on(BALL)))
    for key, name in (("rate", ["weight"]), ("rate", ["rounding", "rate"]), ("loss", ["rounding", "weight"])):
        body = {key: value for key, value in genuine.items() if key != "digest"}
        body["inputs"] = body["inputs"] | {key: name}
        with pytest.raises(Refused, match="the rate may use norms alone, the loss norms and the weight"):
            _compose(body, Budget())


FINE = Arithmetic(128)
FOURTH, NORM_1, NORM_2, NORM_3 = ["constant", "1/4"], ["norm", "1"], ["norm", "2"], ["norm", "3"]


@pytest.mark.parametrize(
    ("rate", "rounding", "reason"),
    [
        (FOURTH, "0", ""),
        (FOURTH, "1/9007199254740992", ""),
        (["constant", "1/3"], "0", "below what drawing"),
        (NORM_1, "0", "below what drawing"),
        (NORM_1, str(Fraction(4, 2**53) - Fraction(1, 2**99)), "below what drawing"),
        (NORM_1, str(Fraction(4, 2**53)), ""),
        (NORM_1, str(Fraction(5, 2**53)), ""),
        (NORM_1, str(1 - Fraction(1, 2**99)), ""),
        (NORM_1, "1", "must be below 1"),
        (NORM_1, "3/2", "must be below 1"),
        (FOURTH, "1", "must be below 1"),
    ],
)
def test_a_rounding_is_one_that_drawing_needs_and_below_1(rate: Any, rounding: str, reason: str) -> None:
    pool = Pool(Budget())
    inputs = {"rate": rate, "rounding": rounding, "weighted": False}
    if not reason:
        drawn, weight = realised(pool, pool.parse(rate, "rate"), inputs)
        assert weight == pool.constant(1)
        assert (drawn == pool.parse(rate, "rate")) is (rounding == "0")
        return
    with pytest.raises(Refused, match=reason):
        realised(pool, pool.parse(rate, "rate"), inputs)


def made_of(loss: Any, rate: Any = FOURTH) -> Profile:
    """A profile that is its own loss."""
    pool = Pool(Budget())
    root = pool.parse(loss, "loss")
    return Profile(pool, root, pool.parse(rate, "rate"), root, root)


@pytest.mark.parametrize(
    ("loss", "rate", "weighted", "reason"),
    [
        (NORM_1, NORM_1, True, ""),
        (["subtract", ["constant", "2"], ["weight"]], FOURTH, False, ""),
        (["subtract", ["constant", "2"], ["weight"]], FOURTH, True, "at least 0"),
        (["subtract", ["constant", "1/2"], ["weight"]], FOURTH, False, "at least 0"),
        (["subtract", NORM_1, ["constant", "1/9"]], FOURTH, False, "at least 0"),
        (["log", NORM_1], FOURTH, False, "defined everywhere"),
        (NORM_1, ["multiply", ["constant", "2"], NORM_1], False, "rate could not be proven to lie within"),
        (NORM_1, ["subtract", NORM_1, ["constant", "1/9"]], False, "rate could not be proven to lie within"),
    ],
)
def test_a_loss_is_not_negative_and_a_rate_is_a_probability(loss: Any, rate: Any, weighted: bool, reason: str) -> None:
    """At every record of the domain, and at every weight from 1 on where records are weighted."""
    profile, domain = made_of(loss, rate), Domain("1", Fraction(1), None)
    if not reason:
        _check_premises(profile, domain, [], weighted, FINE)
        return
    with pytest.raises(Refused, match=reason):
        _check_premises(profile, domain, [], weighted, FINE)


UP = math.nextafter(2.0, 3.0)
DOWN = math.nextafter(2.0, 0.0)


@pytest.mark.parametrize(
    ("loss", "lower", "upper", "maximiser", "reason"),
    [
        (NORM_1, None, 2.0, None, ""),
        (NORM_1, None, DOWN, None, "exceeds the claimed upper end"),
        (NORM_1, 2.0, 2.0, {"norm(1)": "2"}, ""),
        (NORM_1, 1.0, 2.0, {"norm(1)": "1"}, ""),
        (NORM_1, UP, 3.0, {"norm(1)": "2"}, "not reached"),
        (NORM_1, 2.0, DOWN, {"norm(1)": "2"}, "exceeds the claimed upper end"),
        (NORM_1, 2.0, 2.0, {"norm(1)": "3"}, "leaves the range"),
        (NORM_1, 2.0, 2.0, None, "needs the maximiser"),
        (NORM_1, None, 2.0, {"norm(1)": "2"}, "maximiser is of nothing else"),
        (NORM_1, 2.0, 2.0, {}, r"lacks norm\(1\)"),
        (NORM_1, 2.0, 2.0, {"rounding(rate)": "1"}, r"lacks norm\(1\)"),
        (["constant", "1"], 1.0, 1.0, {}, ""),
        (["constant", "1"], 1.0, DOWN / 2, {}, "exceeds the claimed upper end"),
        (NORM_2, 2.0, 2.0, {"norm(2)": "2"}, ""),
        (["add", NORM_1, NORM_2], 4.0, 4.0, {"norm(1)": "2", "ratio(2)": "1"}, ""),
        (["add", NORM_2, NORM_3], 2.0, 4.0, {"norm(1)": "2", "ratio(2)": "1", "ratio(3)": "1"}, "not provable"),
        (["add", NORM_2, NORM_3], None, 4.0, None, ""),
        (["add", NORM_2, NORM_3], None, math.nextafter(4.0, 0.0), None, "exceeds the claimed upper end"),
    ],
)
def test_both_ends_of_a_supremum_are_proven(
    loss: Any, lower: float | None, upper: float, maximiser: dict[str, str] | None, reason: str
) -> None:
    """Over the records of l1 norm at most 2, where other norms are at most that too."""
    profile, domain = made_of(loss), Domain("1", Fraction(2), 4)
    others = domain.others(profile.pool.variables(profile.remove))
    claim = {"lower": lower, "upper": upper, "maximiser": maximiser}
    if not reason:
        _check_supremum(profile, domain, others, claim, FINE)
        return
    with pytest.raises(Refused, match=reason):
        _check_supremum(profile, domain, others, claim, FINE)


def stated(mechanism: Any, sampler: Any, domain: NormBall | None) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(
        certdp.profile_certificate(SampledRun(mechanism=mechanism, sampler=sampler).on(domain))
    )
    del body["digest"]
    return body


def test_a_rate_is_that_of_the_sampler_named() -> None:
    """Else the rate 1/2 would be proven of a sampler that draws every record."""
    body = stated(LaplaceSum(scale=Public(3)), Poisson(rate=Public("1/2")), BALL)
    assert check(sealed(body)).accepted
    body["sampler"]["options"]["rate"] = "1"
    body["assumptions"] = [
        {"name": item["name"], "value": "1"} if item["name"] == "sampler.rate" else item for item in body["assumptions"]
    ]
    assert "rate and weighted are not those of sampler poisson" in check(sealed(body)).reason


def test_a_released_radius_is_the_largest_where_the_loss_depends_on_norms() -> None:
    """And may be any where it does not, as of a count."""
    for mechanism, moves in ((LaplaceSum(scale=Public(3)), True), (Count(scale=Public(3)), False)):
        for sampler in (Full(), Poisson(rate=Public("1/3"))):
            body = stated(mechanism, sampler, BALL)
            for said, covered in (("within 1/2 to 1", True), ("within 1/2 to 8", not moves)):
                released = {"name": "domain.radius was released", "value": said}
                verdict = check(sealed(body | {"assumptions": [*body["assumptions"], released]}))
                assert verdict.accepted is covered, verdict


def test_a_supremum_is_told_where_there_is_a_domain() -> None:
    for domain in (None, BALL):
        verdict = check(sealed(stated(LaplaceSum(scale=Public(3)), Full(), domain)))
        assert verdict.accepted
        assert ("its supremum over the domain is proven" in verdict.reason) is (domain is not None)
