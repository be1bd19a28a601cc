"""The claims of the conversions hold, and each of them finds a witness against a wrong conversion."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import pytest
from attrs import evolve

from certdp.accounting.conversions import (
    delta_at_order,
    epsilon_at_order,
    gaussian_to_approximate_at,
    lemma_2_5,
    pure_to_gaussian,
    pure_to_renyi,
)
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.notions import Approximate, GaussianDP, Renyi
from certdp.plugins.contract import Expectation
from certdp.verification.claims import conversions as claims
from certdp.verification.oracles import divergences as oracle
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}
SLIGHTLY = Fraction(10**6 - 1, 10**6), Fraction(10**6 + 1, 10**6)


@pytest.mark.parametrize("share", SLIGHTLY)
def test_a_slightly_wrong_epsilon_from_one_order_is_told(share: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "epsilon_at_order", lambda *arguments: epsilon_at_order(*arguments) * share)
    assert check(BY_ID["conversions/renyi-to-approximate-attained"], 50, 0).outcome is Outcome.FAILS
    assert check(BY_ID["conversions/renyi-to-approximate-large-delta"], 50, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize("share", SLIGHTLY)
def test_a_slightly_wrong_delta_from_one_order_is_told(share: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "delta_at_order", lambda *arguments: delta_at_order(*arguments) * share)
    assert check(BY_ID["conversions/renyi-to-approximate-attained"], 50, 0).outcome is Outcome.FAILS


@pytest.mark.slow
@pytest.mark.parametrize("share", SLIGHTLY)
def test_a_slightly_wrong_lemma_is_told(share: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "lemma_2_5", lambda *arguments: lemma_2_5(*arguments) * share)
    assert check(BY_ID["dpis/equation-2"], 50, 0).outcome is Outcome.FAILS
    if share < 1:
        assert check(BY_ID["dpis/lemma-2.5"], 50, 0).outcome is Outcome.FAILS


def test_the_lemma_in_place_of_the_best_bound_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "epsilon_at_order", lemma_2_5)
    assert check(BY_ID["conversions/renyi-to-approximate-attained"], 50, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize("share", SLIGHTLY)
def test_a_slightly_wrong_conversion_of_pure_dp_is_told(share: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    def renyi(*arguments: Any) -> Any:
        right = pure_to_renyi(*arguments)
        return evolve(right, bound=Renyi(right.bound.order, right.bound.tau * share))

    def gaussian(*arguments: Any) -> Any:
        right = pure_to_gaussian(*arguments)
        return evolve(right, bound=GaussianDP(right.bound.mu * share))

    monkeypatch.setattr(claims, "pure_to_renyi", renyi)
    monkeypatch.setattr(claims, "pure_to_gaussian", gaussian)
    assert check(BY_ID["conversions/pure-to-others"], 50, 0).outcome is Outcome.FAILS
    assert check(BY_ID["conversions/pure-to-gaussian"], 50, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize("share", SLIGHTLY)
def test_a_slightly_wrong_conversion_of_gaussian_dp_is_told(share: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    def leaking(*arguments: Any) -> Any:
        right = gaussian_to_approximate_at(*arguments)
        return evolve(right, bound=Approximate(right.bound.epsilon, (right.bound.delta * share).minimum(1)))

    monkeypatch.setattr(claims, "gaussian_to_approximate_at", leaking)
    assert check(BY_ID["conversions/gaussian-to-others"], 50, 0).outcome is Outcome.FAILS


CONTROLS: dict[str, tuple[str, Any]] = {
    "dpis/lemma-2.5-log-undivided": ("_undivided", claims._printed),
    "dpis/lemma-2.5-factor-misplaced": ("_misplaced", claims._printed),
    "conversions/pure-to-zero-concentrated-quarter": ("_quarter", claims._hyperbolic),
}


def test_every_negative_control_is_known() -> None:
    assert {claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED} == set(CONTROLS)


@pytest.mark.parametrize("control", CONTROLS)
def test_a_negative_control_with_the_right_law_fails(control: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, right = CONTROLS[control]
    monkeypatch.setattr(claims, name, right)
    result = check(BY_ID[control], 15, 0)
    assert not result.passed
    assert result.witness is None


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "order"), [(Fraction(1), Fraction(2)), (Fraction(3, 10), Fraction(35, 2))])
def test_the_divergence_of_normal_laws_by_quadrature(mu: Fraction, order: Fraction) -> None:
    assert abs(oracle.gaussian_renyi(mu, order) - order * mu**2 / 2) < Fraction(1, 10**20)


def test_the_oracles_on_known_values() -> None:
    half = Fraction(1, 2)
    assert abs(oracle.normal_cdf(Fraction(0)) - half) <= oracle.NEGLIGIBLE
    assert abs(
        oracle.renyi((half, half), (Fraction(1, 4), Fraction(3, 4)), Fraction(2)) - oracle.logarithm(Fraction(4, 3))
    ) < (oracle.NEGLIGIBLE)
    # δ(0) is the total variation: Φ(μ/2) − Φ(−μ/2)
    assert abs(oracle.gaussian_delta(Fraction(1), Fraction(0)) - (2 * oracle.normal_cdf(half) - 1)) <= oracle.NEGLIGIBLE
    assert abs(oracle.exponential(Fraction(1)) - Fraction(str(mpmath.e))) < Fraction(1, 10**14)
    assert Enclosure.of(1).exp().contains(oracle.exponential(Fraction(1)))
