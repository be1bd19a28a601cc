"""The claims of individual accounting hold or are rejected as expected, and a wrong account is noticed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.individual import log_moments
from certdp.accounting.individual.filter import IndividualFilter
from certdp.plugins.contract import Expectation
from certdp.verification.claims import individual as claims

BY_ID = {claim.id: claim for claim in claims.CLAIMS}
RUN: dict[str, Any] = {"shares": [Fraction(4, 5)] * 15, "order": 3, "budget": Fraction(1, 2)}
LABEL: dict[str, Any] = {"rate": Fraction(1, 50), "shift": Fraction(1), "delta": Fraction(1, 10**5)}


def test_controls() -> None:
    rejected = {claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED}
    assert rejected == {
        "accounting/individual-filter-one-step-late",
        "accounting/individual-order-after-the-run",
        "accounting/individual-truncated-as-gaussian",
    }


def test_one_step_late_is_told_from_in_time() -> None:
    assert BY_ID["accounting/individual-filter"].examine(RUN).holds
    assert not BY_ID["accounting/individual-filter-one-step-late"].examine(RUN).holds


def test_a_filter_that_admits_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IndividualFilter, "admit", lambda self, losses: self.active)
    assert not BY_ID["accounting/individual-filter"].examine(RUN).holds


def test_losses_without_their_margin_on_long_runs_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    case = {"rate": Fraction(1, 4), "shift": Fraction(1), "order": Fraction(4), "times": 3}
    assert BY_ID["accounting/individual-renyi"].examine(case).holds
    monkeypatch.setattr("certdp.accounting.individual.losses.with_margin", lambda steps: 1 - 2.0**-20)
    assert not BY_ID["accounting/individual-renyi"].examine(case).holds
    assert log_moments.with_margin(0) > 1


@pytest.mark.slow
def test_the_label_is_told_from_gaussian_dp() -> None:
    for place in (0, Fraction(1, 3), Fraction(9, 10), 1, 2):
        assert BY_ID["accounting/individual-truncated-gaussian"].examine({**LABEL, "place": place}).holds
    assert not BY_ID["accounting/individual-truncated-as-gaussian"].examine({**LABEL, "place": Fraction(4)}).holds


def test_a_smaller_mu_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    label = claims._label(LABEL)
    monkeypatch.setattr(
        claims, "_label", lambda case: type(label)(label.mu * Fraction("0.9"), label.epsilon, label.delta)
    )
    places = [Fraction(k, 20) for k in range(20)]
    found = [BY_ID["accounting/individual-truncated-gaussian"].examine({**LABEL, "place": place}) for place in places]
    assert not all(finding.holds for finding in found)
