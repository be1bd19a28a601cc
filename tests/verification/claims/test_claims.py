"""Every claim of the library is as expected: no case contradicts it, or, for a negative control, one does."""

from __future__ import annotations

import pytest

from certdp.dpis import claims as training
from certdp.plugins.contract import Claim, Expectation
from certdp.runs import constrained_claims as constrained
from certdp.verification.claims import (
    accountants,
    amplification,
    conversions,
    coreset,
    dpis,
    dpis_allocation,
    dpis_sampling,
    feasible_weights,
    filters,
    frequency_reporting,
    importance_sampling,
    individual,
    lloyd,
    mechanism_profiles,
    mechanisms,
    noise,
    notions,
    pairs,
    private_weighted_sampling,
    pure,
    stability_histograms,
    weighted_samples,
)
from tests.support.claims import check

MANY = {
    accountants: 400,
    amplification: 3000,
    conversions: 1500,
    coreset: 1000,
    constrained: 300,
    dpis: 300,
    dpis_allocation: 300,
    dpis_sampling: 300,
    training: 300,
    feasible_weights: 1000,
    filters: 1500,
    frequency_reporting: 150,
    importance_sampling: 5000,
    individual: 300,
    lloyd: 3000,
    mechanism_profiles: 3000,
    mechanisms: 1000,
    noise: 500,
    notions: 2000,
    pairs: 3000,
    private_weighted_sampling: 1500,
    pure: 5000,
    stability_histograms: 1000,
    weighted_samples: 400,
}
"""Cases of each claim of a module in the soundness runs: fewer where one takes long."""

BY_ID: dict[str, tuple[Claim, int]] = {claim.id: (claim, n) for module, n in MANY.items() for claim in module.CLAIMS}


@pytest.mark.slow
@pytest.mark.parametrize("name", BY_ID)
def test_every_claim_is_as_expected(name: str) -> None:
    claim, _ = BY_ID[name]
    control = claim.expectation is Expectation.REJECTED
    result = check(claim, 100 if control else 5, 0)
    assert result.passed, (result.error, result.finding)
    assert (result.witness is not None) is control


@pytest.mark.soundness
@pytest.mark.parametrize("name", BY_ID)
def test_every_claim_is_as_expected_on_many_cases(name: str) -> None:
    claim, many = BY_ID[name]
    result = check(claim, many, 1)
    assert result.passed, (result.error, result.finding)
