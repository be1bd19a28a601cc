"""The claims on the budget allocation of DPIS hold, and tell wrong rules."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

from certdp.accounting.dpis.allocation import Allocation, RemainingSteps
from certdp.plugins.contract import Expectation
from certdp.verification.claims import dpis_allocation as claims

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


CASE: dict[str, Any] = {
    "batch": Fraction(50),
    "size": Fraction(1000),
    "shares": [Fraction(1, 2), Fraction(1, 5), Fraction(1, 4), Fraction(3, 4)],
    "steps": 10,
    "divider": Fraction(1, 2),
    "decay": Fraction(1),
    "order": 6,
    "budget": Fraction(1),
}
"""K̃ falls in the first phase and grows in the second."""


def refuted(claim: str, **changes: Any) -> bool:
    return not BY_ID[claim].examine({**CASE, **changes}).holds


@pytest.mark.parametrize("claim", BY_ID)
@pytest.mark.parametrize("decay", [Fraction(1), Fraction(9, 10)])
def test_the_case_of_the_mutants_is_as_expected(claim: str, decay: Fraction) -> None:
    assert refuted(claim, decay=decay) is (BY_ID[claim].expectation is Expectation.REJECTED)


def test_the_control_holds_where_norm_sums_do_not_grow() -> None:
    assert not refuted("dpis/allocation-never-rising", shares=[Fraction(1, 2), Fraction(2, 5), Fraction(2, 5)])


RIGHT = Allocation.remaining_steps
Foresee = Callable[[Allocation, int, Fraction, Fraction], RemainingSteps]

WRONG_RULES: dict[str, Foresee] = {
    "later epochs forgotten": lambda rule, epoch, *at: RIGHT(evolve(rule, epochs=epoch + 1), epoch, *at),
    "one epoch too many": lambda rule, *at: RIGHT(evolve(rule, epochs=rule.epochs + 1), *at),
    "one step too few": lambda rule, *at: RIGHT(evolve(rule, steps_per_epoch=rule.steps_per_epoch - 1), *at),
    "always the first phase": lambda rule, *at: RIGHT(evolve(rule, divider=Fraction(1)), *at),
    "always the second phase": lambda rule, *at: RIGHT(evolve(rule, divider=Fraction(0)), *at),
    "phases swapped": lambda rule, *at: RIGHT(evolve(rule, divider=1 - rule.divider), *at),
    "no norm sum": lambda rule, epoch, _, size: RIGHT(rule, epoch, size, size),
}


@pytest.mark.parametrize("wrong", WRONG_RULES)
def test_a_wrong_rule_is_told(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Allocation, "remaining_steps", WRONG_RULES[wrong])
    assert refuted("dpis/allocation", divider=Fraction(1, 4))  # so that swapped phases are others


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ("dpis/allocation-first-phase", "always the second phase"),
        ("dpis/allocation-first-phase", "later epochs forgotten"),
        ("dpis/allocation-second-phase", "always the first phase"),
        ("dpis/allocation-second-phase", "one epoch too many"),
    ],
)
def test_a_wrong_phase_is_told(claim: str, wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Allocation, "remaining_steps", WRONG_RULES[wrong])
    assert refuted(claim)


@pytest.mark.parametrize("factor", [Fraction(999, 1000), Fraction(1001, 1000)])
def test_noise_that_is_not_the_least_is_told(factor: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    right = RemainingSteps.least_noise
    monkeypatch.setattr(RemainingSteps, "least_noise", lambda *at: right(*at) * factor)
    assert refuted("dpis/allocation")


def test_a_schedule_that_is_ignored_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def level(rule: Allocation, *at: Any) -> RemainingSteps:
        return RIGHT(evolve(rule, factor=lambda _: Fraction(1)), *at)

    monkeypatch.setattr(Allocation, "remaining_steps", level)
    assert refuted("dpis/allocation", decay=Fraction(9, 10))
