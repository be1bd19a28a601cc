"""Options that nobody could run, what an author merely says, and noise multipliers without their assumption.

A careful forger states each option among the assumptions and writes the loss and the rate that follow from it. So each
certificate here holds as soon as the table of options is out of the way, and is refused by that table alone.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any, NamedTuple

import pytest

import certdp
from certdp import (
    Coreset,
    Delta,
    DiscreteGaussian,
    Full,
    GaussianSum,
    Importance,
    LaplaceSum,
    Lloyd,
    NormBall,
    Poisson,
    PrivacyConstrained,
    Public,
    PwsKeys,
    RandomisedResponse,
    ResampleEach,
    SampledRun,
)
from certdp.accounting.norms import Norm
from certdp.mechanisms.dpis_step import DpisStep
from certdp.samplers.dpis import Dpis
from certdp.samplers.ppswor import Ppswor
from certdp.verification.certificates.keyed import keyed_certificate
from certdp.verification.checker import Outcome, check, constrained, declared
from certdp.verification.checker.policy import Policy, exit_status
from tests.support.forgeries import Body, body_of, seal

UPPER = 1e6  # a weak claim: what is refused is refused for its options


def ball(norm: Any, radius: Any, dimension: int | None = None) -> NormBall:
    return NormBall(norm=Norm(norm), radius=Public(radius), dimension=dimension)


def profile(mechanism: Any, sampler: Any, domain: NormBall | None) -> Body:
    return body_of(certdp.profile_certificate(SampledRun(mechanism=mechanism, sampler=sampler).on(domain)))


def run(mechanism: Any, sampler: Any, domain: NormBall | None) -> Body:
    released = SampledRun(mechanism=mechanism, sampler=sampler, releases=ResampleEach(1), domain=domain)
    return body_of(certdp.certificate(released, released.epsilon(Delta("1e-5"))).content)


LLOYD: dict[str, Any] = {"clusters": Public(3), "scale_sum": Public(20), "radius": Public(2), "dimension": Public(3)}
CENTRES = Lloyd(**LLOYD, scale_count=Public(5))
LAPLACE = LaplaceSum(scale=Public(3))


def of_lloyd() -> Body:
    return profile(CENTRES, Full(), ball(2, 2, 3))


def of_importance() -> Body:
    return profile(LAPLACE, Importance(rate=Public("0.3"), norm=Public(1), floor=Public(0)), ball(1, 1))


def of_coreset() -> Body:
    sampler = Coreset(m=Public(10), n=Public(1000), mean_squared_norm=Public(1), radius=Public(2))
    return profile(CENTRES, sampler, ball(2, 2, 3))


def of_constrained() -> Body:
    return profile(LAPLACE, PrivacyConstrained(target=Public("1.5"), largest_weight=Public(10)), ball(1, 2))


def of_dpis() -> Body:
    sampler = Dpis(batch=Public(10), norm_sum=Public(100), clip=Public(2))
    return profile(LaplaceSum(scale=Public(30)), sampler, ball(1, 1, 3))


def of_discrete_gaussian() -> Body:
    """Stated by its ρ."""
    body = run(DiscreteGaussian(scale=Public(8)), Full(), ball(2, 1))
    body["parts"][0]["loss"] = {"family": "zero-concentrated", "parameter": None, "relation": "add-remove"}
    body["parts"][0]["cover"]["parameter"] = "1/128"
    follow_loss(body["parts"][0], declared.MECHANISMS["discrete-gaussian"].parameter)
    return body


def of_responses() -> Body:
    """Of two categories: the loss of more is stated with their number, which options then cannot deny."""
    return run(RandomisedResponse(noise=Public("1/2"), categories=Public(2)), Full(), None)


def of_keys() -> Body:
    mechanism = PwsKeys(epsilon=Public("0.5"), delta=Public("1e-3"))
    return body_of(keyed_certificate(mechanism, Ppswor(threshold=Public("0.1"), sizes=Public("1,2,3,5"))))


class Forgery(NamedTuple):
    """A certificate with options that no plugin takes, and what is said of them."""

    genuine: Callable[[], Body]
    role: str
    options: dict[str, str]
    reason: str


FORGERIES = [
    Forgery(of_lloyd, "mechanism", {"scale_sum": "-20"}, "scale_sum of lloyd must be a number above 0"),
    Forgery(of_lloyd, "mechanism", {"iterations": "1/1000"}, "iterations of lloyd must be a whole number"),
    Forgery(of_lloyd, "mechanism", {"iterations": "0"}, "iterations of lloyd must be a whole number"),
    Forgery(of_lloyd, "mechanism", {"clusters": "-7 (proved by nobody)"}, "clusters of lloyd must be"),
    Forgery(of_lloyd, "mechanism", {"clusters": "5/2"}, "clusters of lloyd must be"),
    Forgery(of_lloyd, "mechanism", {"radius": "1999/1000"}, "the option radius is smaller"),
    Forgery(of_lloyd, "mechanism", {"dimension": "4"}, "the option dimension is not the domain's"),
    Forgery(of_importance, "sampler", {"floor": "-1"}, "floor of importance must be a number in"),
    Forgery(of_coreset, "sampler", {"mixing": "2", "mean_squared_norm": "1000"}, "mixing of coreset must be a number"),
    Forgery(of_coreset, "sampler", {"m": "100000"}, "the option m exceeds"),
    Forgery(of_coreset, "sampler", {"radius": "1"}, "the option radius is smaller"),
    Forgery(of_constrained, "sampler", {"digits": "-5"}, "digits of privacy-constrained must be a whole number"),
    Forgery(of_constrained, "sampler", {"digits": "10"}, "digits is of losses that are not proportional"),
    Forgery(of_dpis, "sampler", {"norm_sum": "19"}, "norm_sum is below batch"),
    Forgery(of_discrete_gaussian, "mechanism", {"dimension": "1/2"}, "dimension of discrete-gaussian must be a whole"),
    Forgery(of_discrete_gaussian, "mechanism", {"granularity": "-1"}, "granularity of discrete-gaussian must be"),
    Forgery(of_discrete_gaussian, "mechanism", {"scale": "-8"}, "scale of discrete-gaussian must be a number above 0"),
    Forgery(of_responses, "mechanism", {"categories": "1"}, "categories of randomised-response must be a whole number"),
    Forgery(of_keys, "sampler", {"power": "7"}, "sizes stands in place of a power"),
]


def forged(forgery: Forgery) -> Body:
    """The certificate with these options, all else as follows from them."""
    body = forgery.genuine()
    parts, place = (body["parts"], "part 1: ") if "parts" in body else ([body], "")
    plugin = parts[0][forgery.role]
    plugin["options"].update(forgery.options)
    stated = {item["name"]: item["value"] for item in body["assumptions"]}
    stated |= {f"{place}{forgery.role}.{key}": value for key, value in forgery.options.items()}
    body["assumptions"] = [{"name": name, "value": value} for name, value in stated.items()]
    if plugin["name"] in declared.MECHANISMS:
        follow_loss(parts[0], declared.MECHANISMS[plugin["name"]].parameter)
    if plugin["name"] in declared.SAMPLERS:
        rate, weighted = declared.SAMPLERS[plugin["name"]](plugin["options"])
        parts[0]["inputs"].update(rate=rate, weighted=weighted)
    if body["kind"] == "sampled-pure-profile":
        follow_profile(body)
    return body


def follow_loss(part: Body, parameter: Callable[[Any, Any], Any]) -> None:
    holder, key = (part["loss"], "parameter") if "loss" in part else (part["inputs"], "loss")
    holder[key] = parameter(part["mechanism"]["options"], holder[key])


def follow_profile(body: Body) -> None:
    """ψ of these inputs by Theorem 6, and a supremum that is far above it."""
    inputs = body["inputs"]
    one, eta = ["constant", "1"], inputs["rounding"]

    def rounded(value: Any, of: str) -> Any:
        return ["multiply", value, ["add", one, ["multiply", ["constant", eta], ["rounding", of]]]]

    exact = eta == "0"
    drawn = inputs["rate"] if exact else ["minimum", one, rounded(inputs["rate"], "rate")]
    weight: Any = one
    if inputs["weighted"]:
        weight = ["divide", one, inputs["rate"]]
        weight = weight if exact else ["maximum", one, rounded(weight, "weight")]

    def weighing(tree: Any) -> Any:
        if tree == ["weight"]:
            return weight
        return [weighing(item) for item in tree] if isinstance(tree, list) else tree

    loss, zero = weighing(inputs["loss"]), ["constant", "0"]
    body["claim"]["profile"] = {
        "remove": ["log1p", ["multiply", drawn, ["expm1", loss]]],
        "add": ["subtract", zero, ["log1p", ["multiply", drawn, ["expm1", ["subtract", zero, loss]]]]],
    }
    body["claim"]["supremum"].update(lower=None, maximiser=None, upper=UPPER)


def without_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "hold_options", lambda *arguments: None)
    monkeypatch.setattr(declared, "hold_domain", lambda *arguments: None)
    monkeypatch.setattr(constrained, "_hold_digits", lambda *arguments: None)


@pytest.mark.parametrize("forgery", FORGERIES, ids=lambda forgery: f"{forgery.genuine.__name__}-{forgery.options}")
def test_options_that_nobody_could_run_are_refused(forgery: Forgery, monkeypatch: pytest.MonkeyPatch) -> None:
    content = seal(forged(forgery))
    verdict = check(content)
    assert not verdict.accepted
    assert forgery.reason in verdict.reason
    without_the_table(monkeypatch)
    assert check(content).outcome is Outcome.HOLDS, check(content).reason


@pytest.mark.parametrize(
    "genuine", [*dict.fromkeys(forgery.genuine for forgery in FORGERIES)], ids=lambda genuine: genuine.__name__
)
def test_what_is_altered_holds_as_it_was(genuine: Callable[[], Body]) -> None:
    assert check(seal(genuine())).outcome is Outcome.HOLDS


# An author's word.


def kinds() -> Iterator[Body]:
    yield of_lloyd()
    yield of_constrained()
    yield run(GaussianSum(scale=Public(2)), Poisson(rate=Public("0.1")), ball(2, 1))
    yield of_keys()


@pytest.mark.parametrize(("role", "evidence"), [*product(("mechanism", "sampler"), ("proved", "cited"))])
def test_evidence_is_never_a_proof(role: str, evidence: str) -> None:
    """Whatever an author states: what is not one of certdp's formulas is assumed."""
    for body in kinds():
        holder, place = (body["parts"][0], "part 1: ") if "parts" in body else (body, "")
        (told,) = (
            one for one in body["assumptions"] if one["name"] == f"{place}evidence of {role} {holder[role]['name']}"
        )
        told.update(name=f"{place}evidence of {role} theirs", value=evidence)
        holder[role].update(name="theirs", distribution="acme", evidence=evidence)
        verdict = check(seal(body))
        assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
        assert f"{role} 'theirs' is of distribution 'acme'" in verdict.reason
        assert exit_status(verdict) == 3
        demands = Policy(proved=True).demands(verdict)
        assert exit_status(verdict, demands) == 1


def test_what_a_release_cost_is_not_proven() -> None:
    body = of_lloyd()
    body["inputs"]["released_cost"] = "1/10"
    profile = body["claim"]["profile"]
    body["claim"]["profile"] = {side: ["add", profile[side], ["constant", "1/10"]] for side in profile}
    body["claim"]["supremum"].update(lower=None, maximiser=None, upper=UPPER)
    cost = {"name": "released cost", "value": "1/10"}
    body["assumptions"] += [cost, {"name": "mechanism.clusters was released", "value": "any value"}]
    composed = run(GaussianSum(scale=Public(2)), Full(), ball(2, 1))
    composed["released_cost"] = "1/10"
    composed["claim"]["epsilon"] = str(Fraction(composed["claim"]["epsilon"]) + Fraction(1, 10))
    released = {"name": "part 1: mechanism.scale was released", "value": "within 2 to 3"}
    composed["assumptions"] += [cost, released]
    free = run(GaussianSum(scale=Public(2)), Full(), ball(2, 1))
    free["assumptions"].append(released)
    for costly in (body, composed, free):
        verdict = check(seal(costly))
        assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
        assert verdict.reason.endswith("what releasing constants cost is taken as stated")


# What a noise multiplier assumes.

MULTIPLIER = GaussianSum(noise_multiplier=Public(2))
STEP = DpisStep(noise_multiplier=Public(2), clip=Public(1), size=Public(1000), batch=Public(10))


@pytest.mark.parametrize(
    ("mechanism", "domain"),
    [(MULTIPLIER, None), (MULTIPLIER, ball(2, 1)), (STEP, ball(2, 1))],
    ids=["sum", "ball", "step"],
)
def test_a_noise_multiplier_states_what_it_assumes_of_clipping(mechanism: Any, domain: NormBall | None) -> None:
    body = run(mechanism, Poisson(rate=Public("0.1")), domain)
    clipping = {
        "name": "clipping",
        "value": "every record is clipped to the norm bound to which the noise multiplier is relative",
    }
    assert clipping in body["assumptions"]
    assert check(seal(body)).outcome is Outcome.HOLDS
    others = [item for item in body["assumptions"] if item != clipping]
    for instead in ([], [clipping | {"value": "none"}], [clipping | {"name": "Clipping"}]):
        altered = copy.deepcopy(body) | {"assumptions": [*others, *instead]}
        assert "must state 'clipping' as 'every record" in check(seal(altered)).reason


def test_a_scale_assumes_nothing_of_clipping() -> None:
    body = run(GaussianSum(scale=Public(2)), Full(), ball(2, 1))
    assert "clipping" not in {item["name"] for item in body["assumptions"]}
    assert "clipping" not in str(check(seal(body)))


def test_a_certificate_that_calls_its_own_profile_assumed() -> None:
    for body in kinds():
        body["assumptions"].append({"name": "profile assumed", "value": "of one of certdp's"})
        verdict = check(seal(body))
        assert verdict.outcome is Outcome.HOLDS_ASSUMING_PROFILE, verdict.reason
        assert verdict.reason.endswith("the assumptions say 'profile assumed'")
