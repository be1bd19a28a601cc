"""Public strata in the checker: each is covered and composed by itself, and what they do not cover is refused."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
import pytest

import certdp
from certdp import Delta, GaussianSum, Norm, NormBall, Public, ResampleEach, SampledRun
from certdp.accounting.relations import REPLACE, ZERO_OUT
from certdp.sampling import NormStrata, Strata, StratifiedRun
from certdp.verification.checker import check
from certdp.verification.checker.approximate.strata import Layer, hold_strata, layers, strata_assumed
from certdp.verification.checker.domain import Domain
from certdp.verification.checker.verdict import Refused
from tests.support.forgeries import Body, body_of, seal

BALL = NormBall(norm=Norm.L2, radius=Public(1))
DOMAIN = Domain("2", Fraction(1), None)
CLAIM = {"relation": "add-remove", "unit": "record"}


def stratum(label: str, rate: str = "1/2", largest: str | None = None) -> dict[str, Any]:
    return {
        "label": label,
        "largest": largest,
        "rate": ["constant", rate],
        "rounding": "0",
        "cover": {"parameter": "1", "rate": rate},
    }


def part(
    *strata: Mapping[str, Any], weighted: bool = False, mechanism_name: str = "gaussian-sum", **options: str
) -> dict[str, Any]:
    mechanism = {"name": mechanism_name, "options": options or {"scale": "1"}}
    return {"mechanism": mechanism, "weighted": weighted, "strata": list(strata)}


def test_a_part_without_strata_is_one_layer() -> None:
    stated = {"rate": 1, "steps": 3}
    assert list(layers(stated, "parts[0]", DOMAIN)) == [Layer(stated, "parts[0]", DOMAIN)]
    assert strata_assumed(stated, "part 1: ") == {}
    hold_strata(stated, "parts[0]", DOMAIN, CLAIM)


def test_each_stratum_is_a_layer_in_a_ball_of_its_own() -> None:
    stated = part(stratum("a", "1/2", "1/4"), stratum("b", "1/3", "3"), stratum("c", "1/5"))
    stated["steps"] = 7
    found = list(layers(stated, "parts[4]", DOMAIN))
    assert [layer.where for layer in found] == [f"parts[4].strata[{number}]" for number in range(3)]
    assert [layer.domain for layer in found] == [DOMAIN._replace(radius=Fraction(1, 4)), DOMAIN, DOMAIN]
    for layer, one in zip(found, stated["strata"], strict=True):
        assert {key: layer.part[key] for key in ("rate", "rounding", "cover")} == {
            key: one[key] for key in ("rate", "rounding", "cover")
        }
        assert layer.part["steps"] == 7
    assert [layer.domain for layer in layers(stated, "", None)] == [None] * 3
    assert list(strata_assumed(stated, "part 3: ")) == ["part 3: strata"]


BY_NORM = (stratum("a", largest="1/4"), stratum("b", largest="1/2"), stratum("c"))
ADMITTED: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "labels": (part(stratum("a"), stratum("b", "1/3")), CLAIM),
    "labels, replaced": (part(stratum("a"), stratum("b")), CLAIM | {"relation": "replace"}),
    "one": (part(stratum("a")), CLAIM),
    "64": (part(*(stratum(str(number)) for number in range(64))), CLAIM),
    "a norm": (part(*BY_NORM), CLAIM),
    "a norm, zeroed out": (part(*BY_NORM), CLAIM | {"relation": "zero-out"}),
    "elements": (part(*BY_NORM), CLAIM | {"unit": "element"}),
    "several weights": (part(stratum("a"), stratum("b", "1/3"), weighted=True), CLAIM),
    "one weight, a multiplier": (part(stratum("a"), stratum("b"), weighted=True, noise_multiplier="1"), CLAIM),
    "a multiplier of what clips by itself": (
        part(stratum("a"), stratum("b", "1/3"), weighted=True, mechanism_name="dpis-step", noise_multiplier="1"),
        CLAIM,
    ),
    "no weights, a multiplier": (part(stratum("a"), stratum("b", "1/3"), noise_multiplier="1"), CLAIM),
}
REFUSED: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "none": (part(), CLAIM, "must be from 1 to 64"),
    "65": (part(*(stratum(str(number)) for number in range(65))), CLAIM, "must be from 1 to 64"),
    "no label": (part(stratum("")), CLAIM, "a label of its own"),
    "a label of several": (part(stratum("a"), stratum("")), CLAIM, "a label of its own"),
    "a label twice": (part(stratum("a"), stratum("b"), stratum("a", "1/3")), CLAIM, "a label of its own"),
    "a last bound": (part(stratum("a", largest="1/4"), stratum("b", largest="1/2")), CLAIM, "but for the last"),
    "a bound alone": (part(stratum("a", largest="1/4")), CLAIM, "but for the last"),
    "no bound in between": (part(stratum("a"), stratum("b", largest="1/2"), stratum("c")), CLAIM, "but for the last"),
    "bounds that fall": (part(BY_NORM[1], BY_NORM[0], BY_NORM[2]), CLAIM, "in the order of their largest norms"),
    "bounds that stay": (
        part(BY_NORM[0], stratum("d", largest="1/4"), BY_NORM[2]),
        CLAIM,
        "in the order of their largest norms",
    ),
    "beyond the domain": (part(stratum("a", largest="1"), stratum("b")), CLAIM, "no record of the domain"),
    "replaced": (part(*BY_NORM), CLAIM | {"relation": "replace"}, "is in another stratum"),
    "users": (part(stratum("a")), CLAIM | {"unit": "user"}, "records of one user"),
    "a multiplier": (
        part(stratum("a"), stratum("b", "1/3"), weighted=True, noise_multiplier="1"),
        CLAIM,
        "one number for all strata",
    ),
}


@pytest.mark.parametrize("name", ADMITTED)
def test_strata_are_admitted(name: str) -> None:
    stated, claim = ADMITTED[name]
    hold_strata(stated, "parts[0]", DOMAIN, claim)
    hold_strata(stated, "parts[0]", None, claim)


@pytest.mark.parametrize("name", REFUSED)
def test_strata_are_refused(name: str) -> None:
    stated, claim, reason = REFUSED[name]
    with pytest.raises(Refused, match=reason):
        hold_strata(stated, "parts[0]", DOMAIN, claim)


def test_without_a_domain_no_bound_lies_beyond_it() -> None:
    hold_strata(part(stratum("a", largest="100"), stratum("b")), "parts[0]", None, CLAIM)


LABELLED = StratifiedRun(
    mechanism=GaussianSum(scale=Public(4)),
    sampler=Strata(rates=Public("a:1/8,b:1/2,never:0"), weighted=Public(True)),
    domain=BALL,
)
BY_BOUND = StratifiedRun(
    mechanism=GaussianSum(scale=Public(4)),
    sampler=NormStrata(bounds=Public("1/2"), rates=Public("1/2,1/4")),
    domain=BALL,
)
RUNS = {
    "weighted": LABELLED,
    "weighted, replaced": StratifiedRun(
        mechanism=LABELLED.mechanism, sampler=LABELLED.sampler, domain=BALL, relation=REPLACE
    ),
    "by a norm": BY_BOUND,
    "by a norm, zeroed out": StratifiedRun(
        mechanism=BY_BOUND.mechanism, sampler=BY_BOUND.sampler, domain=BALL, relation=ZERO_OUT
    ),
    "several releases": StratifiedRun(
        mechanism=LABELLED.mechanism, sampler=BY_BOUND.sampler, domain=BALL, releases=ResampleEach(5)
    ),
}


@cache
def certified(name: str) -> Body:
    run = RUNS[name]
    return body_of(certdp.certificate(run, run.epsilon(Delta("1e-6"))).content)


@pytest.mark.parametrize("name", RUNS)
def test_the_worst_stratum_counts_and_no_other(name: str) -> None:
    run: Any = RUNS[name]
    each = [
        certdp.certificate(run.of(label), run.of(label).epsilon(Delta("1e-6"))).epsilon
        for label, one in run.runs.items()
        if one.sampler.rate.probability.value
    ]
    assert len(each) > 1
    assert min(each) < max(each) * Fraction(99, 100)
    assert abs(Fraction(certified(name)["claim"]["epsilon"]) / max(each) - 1) < Fraction(1, 10**6)


def number(text: str) -> Any:
    with mpmath.workdps(40):
        return mpmath.mpf(Fraction(text).numerator) / Fraction(text).denominator


def hockey_stick(shift: Any, rate: Any, epsilon: Any) -> Any:
    """δ of one release of normal noise on a sample, in the direction that tells most, by its closed form in mpmath."""
    with mpmath.workdps(40):
        growth = mpmath.exp(epsilon)

        def drawn(log_ratio: Any) -> Any:
            above, below = (mpmath.ncdf(-log_ratio / shift + side * shift / 2) for side in (1, -1))
            return above - mpmath.exp(log_ratio) * below

        remove = rate * drawn(mpmath.log((growth - 1 + rate) / rate))
        inside = 1 - (1 - rate) * growth
        add = 0 if inside <= 0 else inside * drawn(mpmath.log(rate * growth / inside))
        return max(remove, add)


@pytest.mark.parametrize("name", ["weighted", "by a norm"])
def test_delta_is_the_largest_closed_form_of_a_stratum(name: str) -> None:
    """The least δ that the checker proves, against the closed form of every stratum."""
    genuine = certified(name)
    shifts_and_rates = {"weighted": [("2", "1/8"), ("1/2", "1/2")], "by a norm": [("1/8", "1/2"), ("1/4", "1/4")]}[name]
    epsilon = number(genuine["claim"]["epsilon"])
    each = [hockey_stick(number(shift), number(rate), epsilon) for shift, rate in shifts_and_rates]
    for beside, accepted in ((1e-9, True), (-1e-9, False)):
        body = copy.deepcopy(genuine)
        body["claim"]["delta"] = str(Fraction(mpmath.nstr(max(each) * (1 + beside), 30)))
        assert check(seal(body)).accepted is accepted


def test_a_plan_has_its_record_in_the_worst_stratum() -> None:
    run = StratifiedRun(mechanism=GaussianSum(scale=Public(4)), sampler=BY_BOUND.sampler, domain=BALL)
    one = SampledRun(mechanism=GaussianSum(scale=Public(8)), sampler=certdp.Full(), domain=BALL)
    plan = certdp.Plan([run, one])
    answer = plan.epsilon(Delta("1e-6"))
    found = certdp.certificate(plan, answer)
    assert answer.epsilon.upper <= found.epsilon <= answer.epsilon.upper * (1 + 1e-5)
    assert "and the worst of the public strata" in check(found.content).reason
