"""Claims in each notion: what follows from what, at the boundary, beside laws of the library and exact arithmetic."""

from __future__ import annotations

import copy
import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import libmp

import certdp
from certdp import Full, GaussianSum, LaplaceSum, Norm, NormBall, Public, Released, ResampleEach, SampledRun
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.guarantees import for_groups
from certdp.accounting.notions import APPROXIMATE, Approximate
from certdp.verification.checker import Budget, check
from certdp.verification.checker.approximate.claims import CLAIMS, GROUPS, Composed, _as_rational, _prove_rate, _times
from certdp.verification.checker.approximate.factors import GAUSSIAN, PURE, Factor
from certdp.verification.checker.approximate.notions import price_of_square
from certdp.verification.checker.intervals import upper_end
from certdp.verification.checker.verdict import NotProven, Refused
from tests.support.forgeries import Body, body_of, seal
from tests.verification.checker.test_forgeries import written

BALL = NormBall(norm=Norm.L1, radius=Public(1))
LAPLACE = SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=Full(), releases=ResampleEach(3), domain=BALL)
NORMAL = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(3)), sampler=Full(), releases=ResampleEach(2))


def changed(body: Body, *way: Any) -> Body:
    *keys, last, value = way
    inner: Any = (body := copy.deepcopy(body))
    for key in keys:
        inner = inner[key]
    inner[last] = value
    return body


@given(
    st.fractions(0, 3, max_denominator=100), st.fractions(0, Fraction(1, 100), max_denominator=10**6), st.integers(2, 9)
)
def test_delta_of_a_group_is_a_geometric_sum(epsilon: Fraction, delta: Fraction, size: int) -> None:
    bound = APPROXIMATE.group(Approximate(Enclosure.of(epsilon), Enclosure.of(delta)), size)
    total = upper_end(_times(epsilon, size))
    assert math.isclose(float(total), sum(math.exp(float(epsilon) * step) for step in range(size)), rel_tol=1e-12)
    assert min(delta * total, Fraction(1)) >= bound.delta.lower


def test_a_group_is_of_2_to_2_to_20_records() -> None:
    genuine = body_of(written("Gaussian, groups"))
    for size in (0, 1, -3, 2**20 + 1, "3", None, True):
        assert not check(seal(changed(genuine, "claim", "group", size))).accepted
    for wrong in (0, 2**20 + 1):
        with pytest.raises(certdp.InvalidValue, match="group"):
            certdp.certificate(NORMAL, NORMAL.gaussian(), group=wrong)
    with pytest.raises(certdp.InvalidValue, match="one for a record"):
        certdp.certificate(NORMAL, for_groups(NORMAL.gaussian(), 2))
    rates = body_of(written("risk"))
    rates["claim"]["group"] = 2
    assert "missing or unknown keys" in check(seal(rates)).reason


@pytest.mark.parametrize("order", ["1", "1/2", str(2**41)])
def test_orders_are_above_1(order: str) -> None:
    assert (
        "claim.order must be above 1" in check(seal(changed(body_of(written("renyi")), "claim", "order", order))).reason
    )


def test_orders_of_groups_are_at_least_2() -> None:
    genuine = body_of(written("renyi, groups"))
    assert check(seal(changed(genuine, "claim", "order", "2"))).accepted
    assert "at least 2 for groups" in check(seal(changed(genuine, "claim", "order", "199/100"))).reason


@pytest.mark.parametrize("name", ["renyi", "zero-concentrated", "Gaussian"])
def test_losses_that_add_up_have_no_other_method(name: str) -> None:
    genuine = body_of(written(name))
    methods: tuple[Any, ...] = ({"name": "pure"}, {}, [], "null", 0)
    for method in methods:
        assert "the method must be null" in check(seal({**genuine, "method": method})).reason


@pytest.mark.parametrize("name", ["renyi", "zero-concentrated", "Gaussian"])
def test_the_cost_of_constants_is_one_more_response(name: str) -> None:
    """A cost is proven only within what it adds to the claim: that of randomised response."""
    genuine = body_of(written(name))
    body = changed(genuine, "released_cost", "1/10")
    told = {"released cost": "1/10", "domain.radius was released": "within 1 to 1"}
    body["assumptions"] += [{"name": key, "value": value} for key, value in told.items()]
    number = {"renyi": "tau", "zero-concentrated": "rho", "Gaussian": "mu"}[name]
    assert f"{number} was not proven" in check(seal(body)).reason
    raised = Fraction(body["claim"][number]) + Fraction(3, 10)
    verdict = check(seal(changed(body, "claim", number, str(raised))))
    assert verdict.accepted, verdict.reason


def test_rates_of_runs_with_released_constants_are_those_above_their_cost() -> None:
    body = changed(body_of(written("risk")), "released_cost", "1/10")
    assert "below the cost of the released constants" in check(seal(body)).reason
    cost = certdp.LaplaceSum(scale=Public(10))
    spent = SampledRun(mechanism=cost, sampler=Full(), domain=BALL).pure()
    radius = Released(1, spent, within=(1, 2))
    run = SampledRun(
        mechanism=LaplaceSum(scale=Public(2)), sampler=Full(), domain=NormBall(norm=Norm.L1, radius=radius)
    )
    proven, known = certdp.certificate(run, certdp.risk(run)), certdp.risk(run)
    assert check(proven.content).accepted
    advantage, members, wrong = proven.parameters.values()
    # the library composes the cost with the run, the certificate adds it to the loss
    assert known.advantage.upper <= advantage <= known.advantage.upper * Fraction(11, 10)
    found_at = known.true_positive_rate("1/100")
    assert found_at.upper * (1 - Fraction(1, 2**19)) <= members <= found_at.upper * Fraction(11, 10)
    assert known.bayes_risk("1/2").lower * Fraction(9, 10) <= wrong <= known.bayes_risk("1/2").lower
    stated = body_of(proven.content)
    for rate in stated["claim"]["rates"]:
        assert Fraction(rate["epsilon"]) >= Fraction(stated["released_cost"])
    raised = str(Fraction(stated["released_cost"]) * 2)
    stated["released_cost"] = raised
    for item in stated["assumptions"]:
        item["value"] = raised if item["name"] == "released cost" else item["value"]
    assert not check(seal(stated)).accepted
    found = certdp.certificate(run, run.zero_concentrated())
    assert check(found.content).accepted


def rate(name: str, at: str | None, bound: Fraction, epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    return {"rate": name, "at": at, "bound": str(bound), "epsilon": str(epsilon), "delta": str(delta)}


SMALL = Fraction(1, 10**9)


@given(
    st.fractions(0, 4, max_denominator=20),
    st.fractions(0, 1, max_denominator=1000),
    st.fractions(0, 1, max_denominator=50),
)
def test_true_positives_follow_from_the_smaller_of_two_sides(epsilon: Fraction, delta: Fraction, at: Fraction) -> None:
    growth = math.exp(epsilon)
    known = min(growth * at + delta, 1 - (1 - delta - at) / growth, 1.0)
    least = Fraction(max(known, 0.0))
    if least + SMALL <= 1:
        _prove_rate(rate("true-positive-rate", str(at), least + SMALL, epsilon, delta))
    else:
        _prove_rate(rate("true-positive-rate", str(at), Fraction(1), epsilon, delta))
    if least > SMALL and known < 1:
        with pytest.raises(Refused, match="does not follow"):
            _prove_rate(rate("true-positive-rate", str(at), least - SMALL, epsilon, delta))


@given(st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100), st.fractions(0, 1, max_denominator=1000))
def test_the_bayes_risk_follows_where_epsilon_is_no_larger_than_the_odds(prior: Fraction, delta: Fraction) -> None:
    less = min(prior, 1 - prior)
    odds = Fraction(math.log((1 - less) / less))
    below, above = max(odds - SMALL, Fraction(0)), odds + SMALL
    _prove_rate(rate("bayes-risk", str(prior), less * (1 - delta), below, delta))
    for bound, epsilon in ((less * (1 - delta) + SMALL, below), (less * (1 - delta), above)):
        if bound:
            with pytest.raises(Refused, match="does not follow"):
                _prove_rate(rate("bayes-risk", str(prior), bound, epsilon, delta))


def test_an_advantage_without_epsilon_is_delta_itself() -> None:
    third = Fraction(1, 3)  # no binary number is that, nor any enclosure
    _prove_rate(rate("membership-advantage", None, third, Fraction(0), third))
    for epsilon, delta in ((Fraction(0), third + SMALL), (SMALL, third)):
        with pytest.raises(Refused, match="does not follow"):
            _prove_rate(rate("membership-advantage", None, third, epsilon, delta))


@pytest.mark.parametrize(("kind", "number"), [("composed-zero-concentrated", "rho"), ("composed-gaussian", "mu")])
@pytest.mark.parametrize("family", [GAUSSIAN, PURE])
def test_each_part_of_a_sum_is_paid_for(kind: str, number: str, family: str) -> None:
    part = Factor(family, Fraction(3), Fraction(1), together=1, samples=1)
    paid = []
    for parts in (1, 2, 5):
        budget = Budget()
        before = budget.left
        CLAIMS[kind]({number: "100"}, None, Fraction(0), budget).prove([part] * parts, "add")
        paid.append(before - budget.left)
    assert paid == [paid[0], 2 * paid[0], 5 * paid[0]]
    quantile = price_of_square(part) if number == "mu" else 0
    assert paid[0] > quantile >= 0
    assert paid[0] - quantile >= 100_000  # a square root and a logarithm at 192 bits take less than a millisecond


def corners(epsilon: Fraction, delta: Fraction) -> list[tuple[float, float]]:
    """Of all pairs of errors that (ε, δ) admits, those that no line cuts off: found by meeting the lines in pairs."""
    growth, rest = math.exp(epsilon), float(1 - delta)
    lines = [(1.0, growth, rest), (growth, 1.0, rest), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
    met = []
    for (a, b, c), (d, e, f) in combinations(lines, 2):
        if determinant := a * e - b * d:
            met.append(((c * e - b * f) / determinant, (a * f - c * d) / determinant))
    return [(x, y) for x, y in met if all(a * x + b * y >= c - 1e-12 for a, b, c in lines)]


@given(
    st.fractions(0, 6, max_denominator=50),
    st.fractions(0, 1, max_denominator=1000),
    st.fractions(0, 1, max_denominator=60),
)
def test_rates_follow_at_every_epsilon_as_the_errors_say_that_it_admits(
    epsilon: Fraction, delta: Fraction, prior: Fraction
) -> None:
    known = corners(epsilon, delta)
    advantage = max(1 - x - y for x, y in known)
    risk = min(float(prior) * x + float(1 - prior) * y for x, y in known)
    for name, at, bound in (("membership-advantage", None, advantage), ("bayes-risk", str(prior), risk)):
        towards = 1 if at is None else -1
        weaker, stronger = (Fraction(bound) + side * towards * SMALL for side in (1, -1))
        _prove_rate(rate(name, at, min(max(weaker, Fraction(0)), Fraction(1)), epsilon, delta))
        if 0 <= stronger <= 1:
            with pytest.raises(Refused, match="does not follow"):
                _prove_rate(rate(name, at, stronger, epsilon, delta))


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (rate("membership-advantage", None, Fraction(1, 4), Fraction(0), Fraction(1, 3)), "does not follow"),
        (rate("membership-advantage", None, Fraction(1, 3), Fraction(1, 10**6), Fraction(1, 3)), "does not follow"),
        (rate("membership-advantage", "0", Fraction(1, 2), Fraction(0), Fraction(1, 3)), "at nothing"),
        (rate("true-positive-rate", None, Fraction(1), Fraction(0), Fraction(0)), "at nothing"),
        (rate("bayes-risk", None, Fraction(0), Fraction(0), Fraction(0)), "at nothing"),
        (rate("true-positive-rate", "3/2", Fraction(1), Fraction(0), Fraction(0)), "at a probability"),
        (rate("bayes-risk", "3/2", Fraction(0), Fraction(0), Fraction(0)), "at a probability"),
        (rate("bayes-risk", "1/2", Fraction(0), Fraction(0), Fraction(3, 2)), "are probabilities"),
        (rate("true-positive-rate", "1/2", Fraction(3, 2), Fraction(0), Fraction(0)), "are probabilities"),
        (rate("true-positive-rate", "1/2", Fraction(1), Fraction(2**20 + 1), Fraction(0)), "too large"),
    ],
)
def test_a_rate_that_does_not_follow_is_refused(stated: dict[str, Any], reason: str) -> None:
    with pytest.raises(Refused, match=reason):
        _prove_rate(stated)


@pytest.mark.parametrize("change", ["none", "nine", "methods", "no list", "no claim"])
def test_there_are_from_1_to_8_rates_each_with_a_method(change: str) -> None:
    body = body_of(written("risk"))
    rates, methods = body["claim"]["rates"], body["method"]
    chosen: dict[str, tuple[Any, Any]] = {
        "none": ([], []),
        "nine": ([rates[0]] * 9, [methods[0]] * 9),
        "methods": (rates, methods[:-1]),
        "no list": (rates, methods[0]),
        "no claim": (None, methods),
    }
    body["claim"]["rates"], body["method"] = chosen[change]
    assert not check(seal(body)).accepted
    body["claim"]["rates"], body["method"] = [rates[0]] * 8, [methods[0]] * 8
    assert check(seal(body)).accepted


def test_each_kind_reads_its_own_notion() -> None:
    for kind, claim in CLAIMS.items():
        assert kind == claim.kind
        assert kind.startswith("composed-")
    with pytest.raises(Refused, match="the method must be one of"):
        CLAIMS["composed-approximate"]({"epsilon": "1", "delta": "0"}, None, Fraction(0), Budget())


NUMBERS = {"renyi": "tau", "zero-concentrated": "rho", "Gaussian": "mu"}


@pytest.mark.parametrize("name", ["renyi", "zero-concentrated", "Gaussian"])
def test_a_refusal_tells_what_is_proven_instead(name: str) -> None:
    genuine = body_of(written(name))
    least = Fraction(genuine["claim"][NUMBERS[name]])
    verdict = check(seal(changed(genuine, "claim", NUMBERS[name], str(least / 3))))
    assert verdict.proven is not None
    assert least * (1 - Fraction(1, 10**9)) <= verdict.proven <= least
    told = verdict.proven * (1 + Fraction(1, 2**150))
    assert check(seal(changed(genuine, "claim", NUMBERS[name], str(told)))).proven is None
    assert check(seal(changed(genuine, "claim", NUMBERS[name], str(told)))).accepted
    assert check(seal({**genuine, "method": {}})).proven is None


def test_a_number_of_any_length_is_told_briefly() -> None:
    assert _as_rational(libmp.mpf_shift(libmp.fone, -(2**200))) == Fraction(1, 2**4096)
    assert _as_rational(libmp.mpf_shift(libmp.fone, 2**200)) is None
    assert _as_rational(libmp.finf) is None
    assert _as_rational(libmp.from_float(0.75)) == Fraction(3, 4)


# Each claim by itself, about one factor.

PURE_METHOD = {"name": "pure"}
ALONE = {"name": "hockey-stick"}
OF_ORDER_4 = {"name": "renyi", **{side: {"order": "4", "ratio": None} for side in ("remove", "add")}}
OF_A_FILTER = {"name": "renyi-filter", "order": "4", "ratio": None}
CLOSE = Fraction(1, 10**9)


def response(loss: str) -> Factor:
    return Factor(PURE, Fraction(loss), Fraction(1), together=1, samples=1)


def claimed(kind: str, claim: Body, method: Any = None, cost: Fraction = Fraction(0)) -> Composed:
    return CLAIMS[kind](claim, method, cost, Budget())


@pytest.mark.parametrize(
    ("kind", "number", "of_one"),
    [("composed-zero-concentrated", "rho", Fraction(9, 2)), ("composed-gaussian", "mu", Fraction(3))],
)
@pytest.mark.parametrize("size", [None, 2, 3])
def test_a_sum_of_losses_of_groups_grows_as_its_notion_says(
    kind: str, number: str, of_one: Fraction, size: int | None
) -> None:
    """Of noise at the shift 3: ρ grows as the square of the group's size, μ with the size."""
    least = of_one * (size or 1) ** (2 if number == "rho" else 1)
    group = {} if size is None else {"group": size}
    noise = Factor(GAUSSIAN, Fraction(3), Fraction(1), together=1, samples=1)
    claimed(kind, {number: str(least), **group}).prove([noise], "add")
    with pytest.raises(NotProven):
        claimed(kind, {number: str(least * (1 - CLOSE)), **group}).prove([noise], "add")


@pytest.mark.parametrize(("size", "doublings"), [(None, 0), (2, 1), (3, 2), (4, 2), (5, 3)])
def test_the_order_doubles_and_the_divergence_triples_as_often_as_the_group_does(
    size: int | None, doublings: int
) -> None:
    """Noise at the shift 1 has α/2 at the order α."""
    group = {} if size is None else {"group": size}
    noise = Factor(GAUSSIAN, Fraction(1), Fraction(1), together=1, samples=1)
    least = Fraction(3 * 2**doublings * 3**doublings, 2)
    claimed("composed-renyi", {"order": "3", "tau": str(least * (1 + CLOSE)), **group}).prove([noise], "add")
    with pytest.raises(NotProven):
        claimed("composed-renyi", {"order": "3", "tau": str(least * (1 - CLOSE)), **group}).prove([noise], "add")


def test_the_largest_order_is_admissible() -> None:
    for order, accepted in ((2**40, True), (2**40 + 1, False)):
        try:
            claimed("composed-renyi", {"order": str(order), "tau": "1"})
        except Refused:
            assert not accepted
        else:
            assert accepted


@pytest.mark.parametrize("size", [None, 2, 3])
def test_epsilon_and_delta_of_a_group_are_a_multiple_and_a_geometric_sum(size: int | None) -> None:
    """A response of loss 1/5 has (e^1/5 − e^1/10)/(1 + e^1/5) at 1/10, by its two outcomes."""
    grown, level = math.exp(1 / 5), math.exp(1 / 10)
    delta = (grown - level) / (1 + grown) * sum(level**k for k in range(size or 1))
    group = {} if size is None else {"group": size}
    for factor, holds in ((1 + CLOSE, True), (1 - CLOSE, False)):
        claim: Body = {"epsilon": str(Fraction(size or 1, 10)), "delta": str(Fraction(delta) * factor), **group}
        one = claimed("composed-approximate", claim, ALONE)
        assert one.parameters == (("epsilon", Fraction(claim["epsilon"])), ("delta", Fraction(claim["delta"])))
        if holds:
            one.prove([response("1/5")], "add")
        else:
            with pytest.raises(NotProven):
                one.prove([response("1/5")], "add")


def test_a_refusal_tells_the_delta_that_is_proven_or_one() -> None:
    for method, least, most in ((PURE_METHOD, 1.0, 1.0), (ALONE, 0.2876, 0.2877)):
        with pytest.raises(NotProven) as refused:
            claimed("composed-approximate", {"epsilon": "1/2", "delta": "1/10"}, method).prove([response("1")], "add")
        assert refused.value.proven is not None
        assert least <= refused.value.proven <= most


def test_groups_are_of_at_most_2_to_the_20() -> None:
    for size, admissible in ((1, False), (2, True), (2**20, True), (2**20 + 1, False)):
        if admissible:
            GROUPS(size, "claim.group")
            assert claimed("composed-gaussian", {"mu": "1", "group": size}).group == size
        else:
            with pytest.raises(Refused):
                GROUPS(size, "claim.group")


ADVANTAGE = {"rate": "membership-advantage", "at": None, "bound": "1/2", "epsilon": "1", "delta": "0"}


@pytest.mark.parametrize("loss", ["499/1000", "2/3", "1", "3/2"])
def test_the_cost_of_constants_is_taken_off_the_epsilon_of_each_rate(loss: str) -> None:
    """At a cost of ½ the run itself may lose ½ of 1."""
    one = claimed("composed-risk", {"rates": [ADVANTAGE]}, [PURE_METHOD], Fraction(1, 2))
    if loss == "499/1000":
        one.prove([response(loss)], "add")
    else:
        with pytest.raises(NotProven):
            one.prove([response(loss)], "add")


@pytest.mark.parametrize(
    ("rates", "methods"),
    [([], []), ([ADVANTAGE], (PURE_METHOD,)), ([ADVANTAGE], PURE_METHOD), ([ADVANTAGE] * 9, [PURE_METHOD] * 9)],
)
def test_methods_of_rates_are_a_list_of_1_to_8(rates: list[Any], methods: Any) -> None:
    with pytest.raises(Refused, match="there must be from 1 to 8 rates, and a method for each"):
        claimed("composed-risk", {"rates": rates}, methods)


@pytest.mark.parametrize("methods", [[OF_A_FILTER], [PURE_METHOD, OF_A_FILTER], [OF_A_FILTER, PURE_METHOD]])
def test_no_rate_is_of_a_run_that_is_not_fixed(methods: list[Any]) -> None:
    claimed("composed-risk", {"rates": [ADVANTAGE]}, [OF_ORDER_4])
    with pytest.raises(Refused, match="rates are of runs that are fixed beforehand"):
        claimed("composed-risk", {"rates": [ADVANTAGE] * len(methods)}, methods)


def test_each_rate_is_paid_for() -> None:
    paid = []
    for rates in (1, 2, 8):
        budget = Budget()
        before = budget.left
        CLAIMS["composed-risk"]({"rates": [ADVANTAGE] * rates}, [PURE_METHOD] * rates, Fraction(0), budget)
        paid.append(before - budget.left)
    assert paid == [paid[0], 2 * paid[0], 8 * paid[0]]
    assert paid[0] >= 100_000  # an exponential at 192 bits takes less than a millisecond


def test_bounds_are_told_on_the_safe_side() -> None:
    rates = [
        {**ADVANTAGE, "bound": "2/3"},
        {"rate": "bayes-risk", "at": "1/2", "bound": "1/7", "epsilon": "1", "delta": "0"},
    ]
    told = claimed("composed-risk", {"rates": rates}, [PURE_METHOD] * 2).words
    most, least = (
        word.removeprefix("bayes-risk at least ").split()[-1] for word in told.split(" at prior ")[0].split(", ")
    )
    assert Fraction(2, 3) <= Fraction(most) < Fraction(2, 3) + Fraction(1, 1000)
    assert Fraction(1, 7) >= Fraction(least) > Fraction(1, 7) - Fraction(1, 1000)


def test_rates_follow_at_the_ends_too() -> None:
    """A δ of 1 is a probability; at 2^20 a rate of 1 is no claim; half the chance 1 − δ is exact where ε is 0."""
    _prove_rate(rate("membership-advantage", None, Fraction(1), Fraction(0), Fraction(1)))
    _prove_rate(rate("true-positive-rate", "1/2", Fraction(1), Fraction(2**20), Fraction(0)))
    for delta in (Fraction(1, 3), Fraction(2, 7), Fraction(10, 11)):
        _prove_rate(rate("bayes-risk", "1/2", (1 - delta) / 2, Fraction(0), delta))


def test_numbers_of_4096_bits_are_told() -> None:
    for place in (4095, -4096, -4097):
        assert _as_rational(libmp.mpf_shift(libmp.fone, place)) == Fraction(2) ** place
    assert _as_rational(libmp.mpf_shift(libmp.fone, 4096)) is None
    assert _as_rational(libmp.mpf_shift(libmp.fone, -4098)) == Fraction(1, 2**4096)
