"""The claims of the profiles of mechanisms hold, and each of them finds a witness against a wrong form."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.accounting.sampling.losses import LaplaceLoss, PureLoss
from certdp.mechanisms.exponential import Exponential
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.verification.claims import mechanism_profiles as claims
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


@pytest.mark.parametrize("factor", [Fraction(99, 100), Fraction(101, 100)])
def test_a_laplace_profile_that_is_a_percent_off_is_refuted(monkeypatch: pytest.MonkeyPatch, factor: Fraction) -> None:
    right = vars(LaplaceSum)["loss"]
    monkeypatch.setattr(LaplaceSum, "loss", property(lambda self: LaplaceLoss(right.__get__(self).shift * factor)))
    result = check(BY_ID["is/laplace-sum"], 40, 0)
    assert not result.passed
    assert result.witness is not None


@pytest.mark.parametrize("claim", ["is/equation-11", "is/equation-11-constant-normaliser"])
def test_half_the_exponential_profile_is_refuted(monkeypatch: pytest.MonkeyPatch, claim: str) -> None:
    right = vars(Exponential)["loss"]
    monkeypatch.setattr(Exponential, "loss", property(lambda self: PureLoss(right.__get__(self).epsilon / 2)))
    result = check(BY_ID[claim], 40, 0)
    assert not result.passed
    assert result.witness is not None
