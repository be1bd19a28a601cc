"""The claims of replaced records and groups hold, and find a witness against wrong pairs."""

from __future__ import annotations

from typing import Any

import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.pairs import FinitePair, GaussianGroup, Pair
from certdp.plugins.contract import Expectation
from certdp.verification.claims import replaced_records as claims
from certdp.verification.running.results import Outcome
from certdp.verification.running.runner import run
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


@pytest.mark.slow
@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_each_is_as_expected(claim: Any) -> None:
    assert check(claim, 12, 0).outcome.as_expected


def _unreplaced(pair: Pair, rate: Enclosure, size: int = 1, *, replaced: bool = False) -> Pair:
    return pair.sampled(rate)


@pytest.mark.parametrize("name", ["batches/replace-one-reached", "batches/replace-one-adaptive"])
def test_a_pair_of_one_presence_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claims, "changed", _unreplaced)
    found = run([BY_ID[name]], examples=60)
    assert [result.outcome for result in found.results] != [Outcome.HOLDS]


@pytest.mark.slow
def test_a_group_of_fewer_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def fewer(shift: Enclosure, rate: Enclosure, size: int, mirrored: bool) -> GaussianGroup:
        return GaussianGroup(shift, rate, max(size - 1, 1), mirrored)

    monkeypatch.setattr(claims, "GaussianGroup", fewer)
    found = run([BY_ID["batches/group-gaussian"]], examples=10)
    assert [result.outcome for result in found.results] != [Outcome.HOLDS]


def test_what_must_be_rejected_is() -> None:
    wrong = [claim for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED]
    assert len(wrong) == 3
    for claim in wrong:
        assert claim.witness is not None
        assert not claim.examine(claim.witness).holds
    assert isinstance(claims._opposite({"present": (1, 3), "rate": claims._ONE})[0], FinitePair)
