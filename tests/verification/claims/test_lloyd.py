"""The claims of DP-Lloyd hold, and each of them finds a witness against a wrong form."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.sampling.losses import PureLoss
from certdp.mechanisms.lloyd import Lloyd
from certdp.plugins.contract import Expectation
from certdp.verification.claims import lloyd as claims
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


@pytest.mark.parametrize("factor", [Fraction(99, 100), Fraction(101, 100)])
def test_a_profile_that_is_a_percent_off_is_refuted(monkeypatch: pytest.MonkeyPatch, factor: Fraction) -> None:
    right = vars(Lloyd)["loss"]
    monkeypatch.setattr(Lloyd, "loss", property(lambda self: PureLoss(right.__get__(self).epsilon * factor)))
    result = check(BY_ID["is/proposition-13"], 60, 0)
    assert not result.passed
    assert result.witness is not None


def test_the_witness_of_the_misprint() -> None:
    """IS-noise: in the plane, a shift of 0.1β should cost 0.1; at distance 1e-3β it costs 4.7."""
    case: dict[str, Any] = {
        "order": "2",
        "scale": Fraction(1),
        "shift": (Fraction("0.1"), Fraction(0)),
        "noise": (Fraction("-0.001"), Fraction(0)),
    }
    claim = BY_ID["is/noise-with-exponential-radius"]
    assert claim.expectation is Expectation.REJECTED
    assert claim.erratum == "IS-noise"
    finding = claim.examine(case)
    assert not finding.holds
    assert "differ by 4.7" in finding.independent
    assert BY_ID["is/noise-of-sums"].examine(case).holds
