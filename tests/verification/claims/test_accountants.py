"""The claims of the accountants hold, and each wrong form is refuted."""

from __future__ import annotations

from certdp.plugins.contract import Expectation
from certdp.verification.claims import accountants as claims

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


def test_each_wrong_form_stands_beside_a_right_one() -> None:
    rejected = [claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED]
    assert len(rejected) == 6
    for wrong in rejected:
        assert any(right != wrong and wrong.startswith(right) for right in BY_ID)
