"""The claims of training runs find a witness against a wrong form."""

from __future__ import annotations

from fractions import Fraction

import pytest

from certdp.dpis.budget import AdaptiveClip
from certdp.dpis.claims import CLAIMS
from certdp.dpis.run_account import NormSumRelease
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in CLAIMS}


def unbounded_below(self: NormSumRelease, released: Fraction) -> Fraction:
    return min(released, self.most)


def unbounded_above(self: NormSumRelease, released: Fraction) -> Fraction:
    return max(released, self.least)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [unbounded_below, unbounded_above])
def test_a_norm_sum_that_leaves_its_interval_is_refuted(monkeypatch: pytest.MonkeyPatch, wrong: object) -> None:
    monkeypatch.setattr(NormSumRelease, "bounded", wrong)
    assert check(BY_ID["dpis/equation-12"], 100, 0).outcome is Outcome.FAILS


def undivided(self: AdaptiveClip, released: Fraction, size: Fraction) -> Fraction:
    return min(max(self.quantile.value * released, self.lowest.value), self.highest.value)


def unconfined(self: AdaptiveClip, released: Fraction, size: Fraction) -> Fraction:
    return self.quantile.value * released / size


@pytest.mark.parametrize("wrong", [undivided, unconfined])
def test_a_wrong_clipping_bound_is_refuted(monkeypatch: pytest.MonkeyPatch, wrong: object) -> None:
    monkeypatch.setattr(AdaptiveClip, "following", wrong)
    assert check(BY_ID["dpis/equation-17"], 100, 0).outcome is Outcome.FAILS
