"""Certificates of Gaussian sums within a target at a δ or an order: true ones hold, at the boundary and no farther."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import certdp
from certdp import (
    GaussianSum,
    InvalidValue,
    Norm,
    NormBall,
    PrivacyConstrained,
    Public,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
)
from certdp.verification.checker import check
from tests.support.forgeries import Body, body_of, seal
from tests.verification.checker.test_forgeries import written

NOISE = GaussianSum(scale=Public(40))
BALL = NormBall(norm=Norm.L2, radius=Public(3))


def solved(releases: Any = None, domain: NormBall | None = BALL, **target: Any) -> SampledRun:
    sampler = PrivacyConstrained(**{name: Public(value) for name, value in target.items()})
    return SampledRun(mechanism=NOISE, sampler=sampler, releases=releases or ResampleEach(1), domain=domain)


def changed(body: Body, way: str, value: Any) -> Body:
    *keys, last = way.split(".")
    inner: Any = (body := copy.deepcopy(body))
    for key in keys:
        inner = inner[key]
    inner[last] = value
    return body


@pytest.mark.parametrize("releases", [ResampleEach(1), SampleOnce(4), ResampleEach(4)])
@pytest.mark.parametrize(
    "target",
    [{"target": 1, "delta": "1e-5"}, {"target": "1/2", "order": "9/2"}, {"target": 1, "delta": "1e-5", "digits": 20}],
    ids=str,
)
def test_a_target_is_certified_as_it_is_stated(releases: Any, target: dict[str, Any]) -> None:
    run = solved(releases, **target)
    verdict = check(certdp.profile_certificate(run))
    assert verdict.outcome.value == "holds", verdict.reason
    assert verdict.claim is not None
    claimed = dict(verdict.claim.parameters)
    assert claimed.get("epsilon", claimed.get("tau")) == Fraction(target["target"])
    assert ("delta" in claimed) == ("delta" in target)
    if releases.steps > 1:
        way = "on one sample" if isinstance(releases, SampleOnce) else "each on a fresh sample"
        assert any(name == "releases" and value.endswith(way) for name, value in verdict.claim.assumptions)


@pytest.mark.parametrize("name", ["constrained, delta", "constrained, order"])
def test_a_target_that_a_record_exceeds_at_weight_1_is_refused(name: str) -> None:
    """The shift is that of a larger radius, or of more releases: the normal law says from where on it is too much."""
    genuine = body_of(written(name))
    most = Fraction(genuine["inputs"]["largest_shift"])
    least = largest_shift(genuine)
    for factor, accepted in ((1 - 1e-9, True), (1 + 1e-9, False)):
        body = changed(genuine, "inputs.largest_shift", str(Fraction(least * factor)))
        assert least > most
        assert check(seal(body)).accepted is accepted
    below = check(seal(changed(genuine, "inputs.largest_shift", str(most * (1 - Fraction(1, 2**50))))))
    assert "moved by more than is stated" in below.reason


def largest_shift(body: Body) -> float:
    """The largest shift of one release that keeps the claim, by bisection in floats."""
    claim = {key: float(Fraction(value)) for key, value in body["claim"].items() if key in KEYS}
    if "tau" in claim:
        return math.sqrt(2 * claim["tau"] / claim["order"])
    low, high = 0.0, 10.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if normal(middle, claim["epsilon"]) <= claim["delta"] else (low, middle)
    return low


KEYS = ("epsilon", "delta", "tau", "order")


def normal(shift: float, epsilon: float) -> float:
    def below(x: float) -> float:
        return math.erfc(-x / math.sqrt(2)) / 2

    return below(shift / 2 - epsilon / shift) - math.exp(epsilon) * below(-shift / 2 - epsilon / shift)


@given(st.integers(1, 12), st.booleans())
def test_several_releases_are_one_with_a_larger_shift(number: int, fresh: bool) -> None:
    genuine = body_of(written("constrained, order"))
    order, tau = (Fraction(genuine["claim"][key]) for key in ("order", "tau"))
    body = changed(genuine, "inputs.samples" if fresh else "inputs.releases_on_a_sample", number)
    if number > 1:
        way = f"{number}, each on a fresh sample" if fresh else f"{number} on one sample"
        body["assumptions"].append({"name": "releases", "value": way})
    square = Fraction(body["inputs"]["largest_shift"]) ** 2 * number
    assert check(seal(body)).accepted is (order * square / 2 <= tau)


FORGERIES: dict[str, tuple[str, Any, str]] = {
    "a smaller target": ("claim.epsilon", "1/2", "not the sampler's option"),
    "a smaller delta": ("claim.delta", "1/1000000", "not the sampler's option"),
    "a delta beyond 1": ("claim.delta", "2", "no probability"),
    "another notion": ("claim.notion", "renyi", "claim.notion"),
    "the pure theorem": ("theorem", "IS Problem 7 and Theorem 6", "the theorem of this kind"),
    "a shift without weight": ("inputs.shift", ["divide", ["norm", "2"], ["constant", "40"]], "not that of mechanism"),
    "half the shift": (
        "inputs.shift",
        ["divide", ["multiply", ["weight"], ["norm", "2"]], ["constant", "80"]],
        "not that of mechanism",
    ),
    "no cap": ("inputs.largest_weight", None, "the largest weight is not"),
    "a cap below 1": ("inputs.largest_weight", "1/2", "must be a binary64 number"),
    "two samples untold": ("inputs.samples", 2, "the assumptions must state 'releases'"),
    "no sample": ("inputs.samples", 0, "inputs.samples"),
    "no release": ("inputs.releases_on_a_sample", 0, "inputs.releases_on_a_sample"),
    "too many samples": ("inputs.samples", 2**53 + 1, "inputs.samples"),
    "too many releases": ("inputs.releases_on_a_sample", 2**53 + 1, "inputs.releases_on_a_sample"),
    "no domain": ("claim.domain", None, "claim.domain"),
    "an owner": ("audience", "owner", "audience"),
    "replaced records": ("claim.relation", "replace", "claim.relation"),
    "a group": ("claim.group", 2, "unknown keys"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused(name: str) -> None:
    way, value, reason = FORGERIES[name]
    verdict = check(seal(changed(body_of(written("constrained, delta")), way, value)))
    assert not verdict.accepted
    assert reason in verdict.reason, verdict.reason


def test_a_shift_of_another_author_is_taken_as_stated_and_proven() -> None:
    body = body_of(written("constrained, order"))
    body["mechanism"] |= {"name": "theirs", "distribution": "acme"}
    body["assumptions"][0]["name"] = "evidence of mechanism theirs"
    verdict = check(seal(body))
    assert verdict.outcome.value == "holds assuming the profile"
    for shift, reason in (
        (["subtract", ["norm", "1"], ["weight"]], "could not be proven to be at least 0"),
        (["multiply", ["rounding", "rate"], ["norm", "1"]], "norms and the weight alone"),
        (["multiply", ["order"], ["norm", "1"]], "norms and the weight alone"),
        (["divide", ["norm", "1"], ["subtract", ["weight"], ["constant", "1"]]], "defined everywhere"),
    ):
        assert reason in check(seal(changed(body, "inputs.shift", shift))).reason


def test_what_was_released_is_no_part_of_it() -> None:
    body = body_of(written("constrained, order"))
    body["assumptions"].append({"name": "mechanism.scale was released", "value": "within 40 to 50"})
    assert "is about no parameter of this certificate" in check(seal(body)).reason
    cost = SampledRun(
        mechanism=certdp.LaplaceSum(scale=Public(10)),
        sampler=certdp.Full(),
        domain=NormBall(norm=Norm.L1, radius=Public(1)),
    ).pure()
    sampler = PrivacyConstrained(target=Public(1), delta=Public("1e-5"))
    scale = Released(40, cost, within=(40, 50))
    run = SampledRun(mechanism=GaussianSum(scale=scale), sampler=sampler, domain=BALL)
    with pytest.raises(InvalidValue, match="weights within a target beside these"):
        certdp.profile_certificate(run)


def test_without_a_domain_there_is_no_certificate() -> None:
    with pytest.raises(InvalidValue, match="every record of which is within the target"):
        certdp.profile_certificate(solved(domain=None, target=1, delta="1e-5"))
