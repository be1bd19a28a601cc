"""Forgeries about released parameters: what is proven at one value must cover every value that could come out."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import pytest

import certdp
from certdp import (
    Coreset,
    Delta,
    DiscreteGaussian,
    Full,
    GaussianSum,
    LaplaceSum,
    Norm,
    NormBall,
    Poisson,
    PrivacyConstrained,
    Public,
    Released,
    SampledRun,
    check,
)
from certdp.accounting.errors import InvalidValue
from certdp.accounting.sampling.losses import Loss
from certdp.plugins.contract import Mechanism, stated
from certdp.verification.certificates.writing import sealed
from certdp.verification.checker import released as checker
from certdp.verification.checker.released import Worst
from certdp.verification.checker.verdict import Refused
from certdp.verification.mutation.declared import DECLARED

BALL = NormBall(norm=Norm.L1, radius=Public(1))
COST = SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=Full(), domain=BALL).pure()
SCALE = Released(3, COST, within=(2, 8))

PROFILE = certdp.profile_certificate(
    SampledRun(mechanism=LaplaceSum(scale=SCALE), sampler=Poisson(rate=Public("1/2"))).on(BALL)
)
CONSTRAINED = certdp.profile_certificate(
    SampledRun(mechanism=LaplaceSum(scale=Released(3, COST)), sampler=PrivacyConstrained(target=Public(1))).on(BALL)
)
RUN = SampledRun(mechanism=LaplaceSum(scale=SCALE), sampler=Poisson(rate=Public("1/2")), domain=BALL)
COMPOSED = certdp.certificate(RUN, RUN.epsilon(Delta("1e-3"))).content


def altered(content: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    body = json.loads(content)
    del body["digest"]
    change(body)
    return sealed(body)


def states(name: str, value: str | None) -> Callable[[dict[str, Any]], None]:
    """State something else of a released parameter, or nothing."""

    def change(body: dict[str, Any]) -> None:
        body["assumptions"] = [item for item in body["assumptions"] if item["name"] != name]
        if value is not None:
            body["assumptions"].append({"name": name, "value": value})

    return change


@pytest.mark.parametrize("content", [PROFILE, CONSTRAINED, COMPOSED])
def test_what_the_library_writes_is_accepted(content: bytes) -> None:
    verdict = check(content)
    assert verdict.accepted, verdict.reason


def discrete(scale: str | Released[Any], dimension: int | None) -> SampledRun[Any]:
    known = {} if dimension is None else {"dimension": Public(dimension)}
    noise = Public(scale) if isinstance(scale, str) else scale
    ball = NormBall(norm=Norm.L2, radius=Public(1), dimension=dimension)
    return SampledRun(mechanism=DiscreteGaussian(scale=noise, **known), sampler=Full(), domain=ball)


def test_what_is_proven_of_discrete_gaussian_noise_falls_with_its_scale() -> None:
    """The noise itself may lose more with a larger scale; the bound at the lower end covers that all the same."""
    runs = [discrete(scale, 1) for scale in ("0.5", "0.65", "0.8", "1.25", "2")]
    true = [run.delta(2).delta for run in runs]
    assert true[1].lower is not None
    assert true[1].lower > true[0].upper * 1.4
    proven = []
    for run in runs:
        claim = check(certdp.certificate(run, run.delta(2)).content).claim
        assert claim is not None
        assert claim.bound is not None
        proven.append(claim.bound[1])
    assert all(less >= more for less, more in pairwise(proven))
    assert proven[0] >= max(delta.upper for delta in true)
    ranged = discrete(Released(3, COST, within=(2, 8)), None)
    covered = check(certdp.certificate(ranged, ranged.delta(2)).content)
    assert covered.accepted, covered.reason


@pytest.mark.parametrize(("content", "prefix"), [(PROFILE, ""), (COMPOSED, "part 1: ")], ids=["profile", "composed"])
@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (None, "no assumption says which were released"),
        ("any value", "needs a public range"),
        ("within 1 to 8", "not the lower end"),
        ("within 3 to 8", "not the lower end"),
        ("within 8 to 2", "wrong order"),
        ("within 2", "says 'any value', or"),
        ("within 2 to 8 or so", "says 'any value', or"),
        ("within 4/2 to 8", "rational"),
        ("", "says 'any value', or"),
    ],
)
def test_a_proof_at_one_value_covers_no_others(content: bytes, prefix: str, said: str | None, reason: str) -> None:
    verdict = check(altered(content, states(f"{prefix}mechanism.scale was released", said)))
    assert not verdict.accepted
    assert reason in verdict.reason


@pytest.mark.parametrize("name", ["mechanism.colour", "part 2: mechanism.scale", "domain.norm", "sampler", "scale"])
def test_parameters_that_are_not_there_are_refused(name: str) -> None:
    verdict = check(altered(COMPOSED, states(f"{name} was released", "any value")))
    assert "is about no parameter of this certificate" in verdict.reason


@pytest.mark.parametrize("content", [PROFILE, COMPOSED], ids=["profile", "composed"])
@pytest.mark.parametrize(
    ("said", "accepted"), [("any value", False), ("within 1/4 to 1", True), ("within 1 to 2", False)]
)
def test_a_released_radius_is_the_upper_end(content: bytes, said: str, accepted: bool) -> None:
    assert check(altered(content, states("domain.radius was released", said))).accepted is accepted


@pytest.mark.parametrize("said", ["any value", "within 1/4 to 1", "within 1 to 2"])
def test_a_radius_may_be_any_where_weights_hold_every_record_to_the_target(said: str) -> None:
    assert check(altered(CONSTRAINED, states("domain.radius was released", said))).accepted


def test_a_radius_may_be_any_where_every_record_loses_the_same() -> None:
    """Whether rates are rounded or not: what is rounded is no norm."""
    for rate in ("1/2", "1/3"):
        run = SampledRun(mechanism=certdp.Count(scale=Public(1)), sampler=Poisson(rate=Public(rate)))
        counted = certdp.profile_certificate(run.on(BALL))
        assert check(altered(counted, states("domain.radius was released", "any value"))).accepted


def test_a_radius_that_no_loss_looks_at_may_be_anything() -> None:
    run = SampledRun(
        mechanism=GaussianSum(noise_multiplier=Public(1)),
        sampler=Full(),
        domain=NormBall(norm=Norm.L2, radius=Released(5, COST)),
    )
    assert check(certdp.certificate(run, run.epsilon(Delta("1e-3"))).content).accepted


def test_the_rate_of_a_weighted_sample_is_known_from_no_end() -> None:
    body = PROFILE

    def change(content: dict[str, Any]) -> None:
        states("sampler.rate was released", "within 1/4 to 1/2")(content)

    assert check(altered(body, change)).accepted  # unweighted: a higher rate costs more
    weighted = certdp.profile_certificate(
        SampledRun(
            mechanism=LaplaceSum(scale=Public(1)), sampler=Poisson(rate=Public("1/2"), weighted=Public(True))
        ).on(BALL)
    )
    verdict = check(altered(weighted, change))
    assert "is not known to cover others" in verdict.reason


def example_with(name: str, option: str, number: Any) -> Mechanism:
    """The example of a mechanism with an option of that value, without another one that it stands in place of."""
    (example,) = [item.example for item in DECLARED if item.example.about.name == name]
    given = {key: Public(text) for key, text in stated(example).items() if key != option}
    for left_out in (None, *given):
        kept = {key: value for key, value in given.items() if key != left_out}
        with suppress(InvalidValue, TypeError):
            mechanism: Mechanism = type(example)(**kept, **{option: Public(number)})
            return mechanism
    raise AssertionError(f"{name} takes no {option}={number}")


def parameter(loss: Loss) -> Any:
    assert loss.pure is not None or loss.parameter is not None
    return loss.parameter if loss.pure is None else loss.pure.epsilon


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, table in checker._OF_MECHANISMS.items() for option in table]
)
def test_the_end_that_the_checker_takes_for_the_worst_is(name: str, option: str) -> None:
    """The table says which end costs most: so it is of the loss that the plugin declares, at every norm and weight."""
    from certdp.accounting.enclosures import Enclosure
    from certdp.accounting.expressions import W, enclose, variables

    worst = checker._OF_MECHANISMS[name][option]
    whole = option in ("answers", "clusters", "iterations")
    numbers = [1, 2, 7] if whole else [Fraction(k, 2) for k in (1, 2, 3, 5, 8, 40)]
    if option == "noise":
        numbers = [Fraction(k, 10) for k in (1, 3, 5, 9, 10)]
    roots = [parameter(example_with(name, option, number).loss) for number in numbers]
    for size, weight in product(map(Fraction, ("0", "1/3", "1", "9")), map(Fraction, ("1", "5/2", "100"))):
        values = []
        for root in roots:
            at = {v: Enclosure.of(weight if v == W else size, precision=200) for v in variables(root)}
            values.append(enclose(root, at, precision=200))
        for lower, higher in pairwise(values):
            if worst is Worst.LOWEST:
                assert higher.lower <= lower.upper
            elif worst is Worst.HIGHEST:
                assert lower.lower <= higher.upper
            else:
                assert lower.upper == higher.upper


def test_a_coreset_looks_at_its_radius_nowhere() -> None:
    rates = [
        Coreset(m=Public(5), n=Public(100), mean_squared_norm=Public(1), radius=Public(radius)).rate.probability
        for radius in (1, 2, 3)
    ]
    assert rates[0] == rates[1] == rates[2]


@pytest.mark.parametrize(
    ("name", "is_of_one"),
    [
        ("mechanism.scale was released", True),
        ("part 2: domain.radius was released", True),
        ("mechanism.scale", False),
        ("mechanism.scale was released ", False),
        ("released parameter 1: mechanism.scale was released", False),
        ("released parameter 12: part 1: mechanism.scale was released", False),
        ("released parameter 1: mechanism.scale", False),
        ("released parameter 0: mechanism.scale was released", True),
        ("part 1: released parameter 1: mechanism.scale was released", True),
    ],
)
def test_what_a_released_parameters_own_release_rests_on_is_no_parameter_of_the_claim(
    name: str, is_of_one: bool
) -> None:
    assert checker.is_of_release(name) is is_of_one


@pytest.mark.parametrize("worst", [None, Worst.LOWEST, Worst.HIGHEST])
def test_a_range_of_one_value_is_that_value(worst: Worst | None) -> None:
    checker._hold("a scale", "within 3 to 3", "3", worst)
    with pytest.raises(Refused):
        checker._hold("a scale", "within 8 to 8", "3", worst)


@pytest.mark.parametrize(
    ("name", "options", "covered"),
    [
        ("lloyd", {"scale_count": "2", "radius": "3"}, True),
        ("lloyd", {"split": "derived", "radius": "3"}, False),
        ("lloyd", {"radius": "3"}, False),
        ("laplace-sum", {"scale_count": "2", "radius": "3"}, False),
    ],
)
def test_a_radius_may_be_any_only_where_no_scale_follows_from_it(
    name: str, options: dict[str, str], covered: bool
) -> None:
    """Where the noise of counts is derived, it is from the radius: the bound moves with that."""
    part: dict[str, Any] = {"distribution": "certdp", "name": name, "options": options}
    full: dict[str, Any] = {"distribution": "certdp", "name": "full", "options": {}}
    said = [{"name": "mechanism.radius was released", "value": "any value"}]

    def assumed() -> dict[str, str]:
        holders = {"": {"mechanism": part, "sampler": full}}
        return checker.released_assumed(said, holders, domain=None, norms_matter=True, cost=True)

    if covered:
        assert assumed() == {"mechanism.radius was released": "any value"}
    else:
        with pytest.raises(Refused, match="needs a public range"):
            assumed()


def test_a_radius_that_is_nowhere_stated_was_not_released() -> None:
    """A claim without a public domain has no radius: who says that it was released says nothing of the claim."""
    said = [{"name": "domain.radius was released", "value": "any value"}]
    with pytest.raises(Refused, match="is about no parameter of this certificate"):
        checker.released_assumed(said, {}, domain=None, norms_matter=False, cost=False)
