"""The claims of the accountants hold, and each wrong form is refuted."""

from __future__ import annotations

import pytest

from certdp.plugins.contract import Expectation
from certdp.verification.claims import accountants as claims
from certdp.verification.runner import run

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


@pytest.mark.parametrize("claim", BY_ID)
def test_every_claim_is_as_expected(claim: str) -> None:
    (result,) = run([BY_ID[claim]], examples=60 if BY_ID[claim].expectation is Expectation.REJECTED else 12).results
    assert result.error is None, result.error
    assert result.passed, result.finding


@pytest.mark.soundness
@pytest.mark.parametrize("claim", BY_ID)
def test_every_claim_is_as_expected_on_many_cases(claim: str) -> None:
    (result,) = run([BY_ID[claim]], examples=400, seed=1).results
    assert result.passed, result


def test_each_wrong_form_stands_beside_a_right_one() -> None:
    rejected = [claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED]
    assert len(rejected) == 4
    for wrong in rejected:
        assert any(right != wrong and wrong.startswith(right) for right in BY_ID)
