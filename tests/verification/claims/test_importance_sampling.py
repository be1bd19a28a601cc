"""The claims of IS hold, and each of them finds a witness against a wrong closed form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.amplification import psi, psi_add
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import OutsideDomain
from certdp.accounting.expressions import (
    ONE,
    Constant,
    Expression,
    W,
    derivative,
    enclose,
    exp,
    log1p,
    minimum,
    norm,
    rounding,
    sqrt,
)
from certdp.accounting.sampling import theorem_6 as importance_sampling
from certdp.accounting.sampling.rate import SamplingRate
from certdp.accounting.sampling.theorem_6 import Realised, add_direction, realised, remove_direction
from certdp.plugins.contract import Expectation
from certdp.verification.claims import importance_sampling as claims
from certdp.verification.claims.exact_logarithms import exponential, logarithm
from certdp.verification.oracles import profiles as oracles
from certdp.verification.oracles.working_precision import fraction
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


Direction = Callable[[Expression, Expression], Expression]

WRONG_DIRECTIONS: dict[str, tuple[Direction, Direction]] = {
    "q squared": (lambda loss, q: remove_direction(loss, q * q), lambda loss, q: add_direction(loss, q * q)),
    "no -1": (lambda loss, q: log1p(q * exp(loss)), add_direction),
    "directions swapped": (add_direction, remove_direction),
    "q missing": (lambda loss, q: loss, lambda loss, q: loss),
    "one direction for both": (remove_direction, remove_direction),
}


@pytest.mark.parametrize("wrong", WRONG_DIRECTIONS)
def test_theorem_6_is_told_from_a_wrong_direction(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    remove, add = WRONG_DIRECTIONS[wrong]
    monkeypatch.setattr(importance_sampling, "remove_direction", remove)
    monkeypatch.setattr(importance_sampling, "add_direction", add)
    assert check(BY_ID["is/theorem-6"], 400, 0).outcome is Outcome.FAILS


def at_weight_one(rate: SamplingRate) -> Realised:
    return Realised(realised(rate).probability, ONE)


def at_twice_the_weight(rate: SamplingRate) -> Realised:
    used = realised(rate)
    return Realised(used.probability, 2 * used.weight)


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("is/theorem-6", at_weight_one),
        ("is/theorem-6", at_twice_the_weight),
        ("is/theorem-6-bound", at_weight_one),
        ("is/theorem-6-realised", at_weight_one),
        ("is/theorem-6-realised", at_twice_the_weight),
    ],
)
def test_the_loss_is_taken_at_the_weight_in_use(
    claim: str, wrong: Callable[[SamplingRate], Realised], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importance_sampling, "realised", wrong)
    assert check(BY_ID[claim], 400, 0).outcome is Outcome.FAILS


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["q squared", "directions swapped"])
def test_the_bound_is_told_from_a_wrong_one(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    remove, add = WRONG_DIRECTIONS[wrong]
    monkeypatch.setattr(importance_sampling, "remove_direction", remove)
    monkeypatch.setattr(importance_sampling, "add_direction", add)
    assert check(BY_ID["is/theorem-6-bound"], 400, 0).outcome is Outcome.FAILS


def test_a_wrong_interval_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "psi", psi_add)
    assert check(BY_ID["is/theorem-6"], 400, 0).outcome is Outcome.FAILS
    monkeypatch.setattr(claims, "psi", psi)
    monkeypatch.setattr(claims, "psi_add", lambda epsilon, q: psi_add(epsilon, q).hull(psi(epsilon, q)))
    assert check(BY_ID["is/theorem-6"], 400, 0).outcome is Outcome.FAILS


def test_the_realised_claim_needs_the_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    def declared_only(rate: SamplingRate) -> Realised:
        return Realised(rate.probability, 1 / rate.probability)

    monkeypatch.setattr(importance_sampling, "realised", declared_only)
    assert check(BY_ID["is/theorem-6-realised"], 400, 0).outcome is Outcome.FAILS


def test_the_realised_claim_needs_the_weights_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    def half(rate: SamplingRate) -> Realised:
        drawn = minimum(1, rate.probability * (1 + rate.rounding * rounding("rate")))
        return Realised(drawn, 1 / rate.probability)

    monkeypatch.setattr(importance_sampling, "realised", half)
    assert check(BY_ID["is/theorem-6-realised"], 400, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize(
    "wrong",
    [
        lambda epsilon, q: psi(epsilon, q * q),
        lambda epsilon, q: (q * epsilon.exp()).log1p(),
        lambda epsilon, q: q * epsilon,
        psi_add,
    ],
)
def test_proposition_3_is_told_from_a_wrong_form(
    wrong: Callable[[Enclosure, Enclosure], Enclosure], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "proposition_3", wrong)
    assert check(BY_ID["is/proposition-3"], 400, 0).outcome is Outcome.FAILS


def right_bound(epsilon: Expression, rate: Fraction) -> Expression:
    return remove_direction(epsilon, Constant(rate))


def test_the_printed_proof_is_rejected_with_a_small_witness() -> None:
    control = BY_ID["is/theorem-6-proof-printed"]
    assert control.expectation is Expectation.REJECTED
    assert control.erratum == "IS-T6-proof"
    result = check(control, 150, 0)
    # with q = 1 the printed bound is e; log 3 is the smallest loss per weight log(1 + a), a whole, above 1
    assert result.witness == {"family": "linear", "slope": 2, "power": 1, "rate": 1}
    assert result.finding is not None
    assert "differ by a factor 3" in result.finding.independent


def test_a_negative_control_with_the_right_form_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "_printed_bound", right_bound)
    result = check(BY_ID["is/theorem-6-proof-printed"], 150, 0)
    assert not result.passed
    assert result.witness is None


def without_the_exponential(epsilon: Expression) -> Truth:
    """The condition without the exponential: ε'(1) < ε(1)."""
    at_one = {W: Enclosure.of(1)}
    slope = enclose(derivative(epsilon, W), at_one, precision=96)
    return slope.less(enclose(epsilon, at_one, precision=96))


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        lambda _: Truth.TRUE,
        lambda _: Truth.FALSE,
        lambda _: Truth.UNDECIDED,
        without_the_exponential,
    ],
)
def test_proposition_16_is_told_from_a_wrong_condition(
    wrong: Callable[[Expression], Truth], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "gains_near_one", wrong)
    assert check(BY_ID["is/proposition-16"], 400, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize("answer", [True, False])
def test_proposition_17_is_told_from_a_constant_answer(answer: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "elasticity_at_least_one", lambda _: answer)
    assert check(BY_ID["is/proposition-17"], 400, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize("family", sorted(oracles.FORMULAS))
def test_expressions_and_formulas_of_the_oracle_are_the_same_profiles(family: str) -> None:
    case: dict[str, Any] = {"family": family, "a": Fraction(3, 4), "b": Fraction(5, 2), "p": Fraction(2, 3)}
    found = claims._expression(case)
    for weight in (Fraction(1), Fraction(3, 2), Fraction(7)):
        enclosed = enclose(found, {W: Enclosure.of(weight, precision=200)}, precision=200)
        numbers = (oracles.working.number(case[name]) for name in "abp")
        value = fraction(oracles.FORMULAS[family](oracles.working.number(weight), *numbers))
        assert abs(enclosed.midpoint - value) < value / 2**180


def test_the_numerical_oracle_on_known_profiles() -> None:
    parameters = {"a": Fraction(2), "b": Fraction(1), "p": Fraction(1)}
    linear = oracles.slopes_at_one("power", parameters)  # ε' − 1 + e^−ε at ε = ε' = 2
    assert all(abs(float(side) - 1.1353352832366127) < 1e-15 for side in linear)
    left, right = oracles.slopes_at_one("capped", parameters)
    assert left > 0 > right
    assert oracles.gaining_weight("power", parameters) is None
    assert oracles.gaining_weight("constant", parameters) is not None
    assert oracles.gaining_among("power", parameters, [Fraction(1), Fraction(2)]) is None
    assert oracles.gaining_among("constant", parameters, [Fraction(1), Fraction(2)]) == 2


def test_exact_values_of_expressions() -> None:
    assert exponential(remove_direction(logarithm(Fraction(3)), Constant(Fraction(1, 2)))) == 2
    assert exponential(add_direction(logarithm(Fraction(3)), Constant(Fraction(1, 2)))) == Fraction(3, 2)
    assert exponential(W * logarithm(Fraction(3)), {W: Fraction(2)}) == 9
    assert exponential(minimum(logarithm(Fraction(3)), logarithm(Fraction(2)))) == 2
    assert exponential(log1p(rounding("rate"))) == 1


@pytest.mark.parametrize(
    "inexact",
    [
        ONE,
        W * logarithm(Fraction(3)),
        logarithm(Fraction(3)) * logarithm(Fraction(3)),
        exp(ONE),
        log1p(logarithm(Fraction(3))),
        sqrt(Constant(Fraction(2))),
        log1p(Constant(Fraction(-2))),
        1 / Constant(Fraction(0)),
    ],
)
def test_inexact_values_are_refused(inexact: Expression) -> None:
    with pytest.raises(OutsideDomain):
        exponential(inexact, {W: Fraction(1, 2)})


def test_a_variable_without_a_value_is_refused() -> None:
    with pytest.raises(KeyError):
        exponential(log1p(norm(1)))
