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
from certdp import Full, LaplaceSum, Norm, NormBall, Poisson, Public, Released, SampledRun
from certdp.verification.certificates.writing import sealed
from certdp.verification.checker import check
from certdp.verification.checker.budget import Budget
from certdp.verification.checker.intervals import ZERO, Arithmetic, Interval, exact
from certdp.verification.checker.profile import _compose, _exactly_drawn, _measure
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
    assert "lower end of the supremum is above" in check(altered(content, cost, math.nextafter(cost, 1))).reason


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
