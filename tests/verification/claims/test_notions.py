"""The claims of the notions' laws hold, and each of them finds a witness against a wrong law."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.notions import (
    APPROXIMATE,
    GAUSSIAN_DP,
    RENYI,
    ZERO_CONCENTRATED,
    Approximate,
    GaussianDP,
    Renyi,
    ZeroConcentrated,
)
from certdp.plugins.contract import Expectation
from certdp.verification.claims import notions as claims
from certdp.verification.claims.enclosed import enclosed_log
from certdp.verification.claims.finite import hockey_stick, law, leak, moment, randomised_response
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


def scaled(notion: Any, share: Fraction) -> Callable[[Any], Any]:
    """A composition that is off by a factor."""
    return lambda bounds: spread(notion.compose(bounds), share)


def spread(bound: Any, share: Fraction) -> Any:
    match bound:
        case Approximate():
            return Approximate(bound.epsilon, (bound.delta * share).minimum(1))
        case Renyi():
            return Renyi(bound.order, bound.tau * share)
        case ZeroConcentrated():
            return ZeroConcentrated(bound.rho * share)
        case GaussianDP():
            return GaussianDP(bound.mu * share)
    raise AssertionError(bound)


OFF = [Fraction(9, 10), Fraction(11, 10)]


@pytest.mark.slow
@pytest.mark.parametrize("share", [OFF[0], pytest.param(OFF[1], marks=pytest.mark.soundness)])
@pytest.mark.parametrize(
    ("claim", "kind", "notion"),
    [
        ("approximate/composition", Approximate, APPROXIMATE),
        ("renyi/composition", Renyi, RENYI),
        pytest.param("zero-concentrated/composition", ZeroConcentrated, ZERO_CONCENTRATED, marks=pytest.mark.soundness),
        pytest.param("gaussian/composition", GaussianDP, GAUSSIAN_DP, marks=pytest.mark.soundness),
    ],
)
def test_a_wrong_composition_is_told(
    claim: str, kind: Any, notion: Any, share: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "notion", evolve(notion, compose=scaled(notion, share)))
    assert check(BY_ID[claim], 400, 0).outcome is Outcome.FAILS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "kind", "notion", "wrong"),
    [
        ("approximate/group-privacy", Approximate, APPROXIMATE, lambda b, k: spread(APPROXIMATE.group(b, k), OFF[0])),
        ("approximate/group-privacy", Approximate, APPROXIMATE, lambda b, k: spread(APPROXIMATE.group(b, k), OFF[1])),
        ("renyi/group-privacy", Renyi, RENYI, lambda b, k: Renyi(b.order, b.tau * max(k, 1))),
        ("renyi/group-privacy", Renyi, RENYI, lambda b, k: spread(RENYI.group(b, k), Fraction(1, 10))),
        (
            "zero-concentrated/group-privacy",
            ZeroConcentrated,
            ZERO_CONCENTRATED,
            lambda b, k: ZeroConcentrated(b.rho * k),
        ),
        ("gaussian/group-privacy", GaussianDP, GAUSSIAN_DP, lambda b, k: spread(GAUSSIAN_DP.group(b, k), OFF[1])),
        ("gaussian/group-privacy", GaussianDP, GAUSSIAN_DP, lambda b, k: GaussianDP(b.mu)),
    ],
)
def test_a_wrong_group_law_is_told(
    claim: str, kind: Any, notion: Any, wrong: Callable[[Any, int], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "notion", evolve(notion, group=wrong))
    assert check(BY_ID[claim], 80, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize(
    ("claim", "name", "wrong"),
    [
        ("approximate/monotonicity", "APPROXIMATE", lambda first, second: Truth.TRUE),
        ("approximate/monotonicity", "APPROXIMATE", lambda first, second: Truth.FALSE),
        ("approximate/monotonicity", "APPROXIMATE", lambda first, second: first.delta.less_equal(second.delta)),
        ("renyi/monotonicity", "RENYI", lambda first, second: Truth.TRUE),
        ("renyi/monotonicity", "RENYI", lambda first, second: Truth.FALSE),
        ("renyi/monotonicity", "RENYI", lambda first, second: first.tau.less_equal(second.tau)),
        ("notions/order-and-nothing", "ZERO_CONCENTRATED", lambda first, second: Truth.TRUE),
        ("notions/order-and-nothing", "GAUSSIAN_DP", lambda first, second: second.mu.less_equal(first.mu)),
    ],
)
def test_a_wrong_order_is_told(
    claim: str, name: str, wrong: Callable[[Any, Any], Truth], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, name, evolve(getattr(claims, name), implies=wrong))
    assert check(BY_ID[claim], 80, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize("name", ["APPROXIMATE", "RENYI", "ZERO_CONCENTRATED", "GAUSSIAN_DP"])
def test_a_composition_that_is_not_neutral_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    notion = getattr(claims, name)
    monkeypatch.setattr(claims, name, evolve(notion, compose=scaled(notion, OFF[1])))
    assert check(BY_ID["notions/order-and-nothing"], 80, 0).outcome is Outcome.FAILS


def mixed_at_the_smaller_order(first: Renyi, second: Renyi) -> Renyi:
    return Renyi(min(first.order, second.order), first.tau + second.tau)  # holds: both entail their loss there


CONTROLS: dict[str, tuple[str, Any]] = {
    "approximate/group-linear": ("_linear_group", claims._approximate_group),
    "renyi/composition-of-orders": ("_orders_mixed", mixed_at_the_smaller_order),
    "zero-concentrated/group-linear": ("_rho_linear", claims._rho_group),
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


def test_known_divergences() -> None:
    here, there = randomised_response(Fraction(3))
    assert hockey_stick(here, there, Fraction(1)) == Fraction(1, 2)
    assert leak(here, there, Fraction(3)) == 0
    assert moment(law((1, 1)), law((1, 3)), 2) == Fraction(4, 3)
    assert leak(*claims.leaking_response(Fraction(3), Fraction(1, 5)), Fraction(3)) == Fraction(1, 5)
    assert enclosed_log(Fraction(1)) == Enclosure.of(0)
