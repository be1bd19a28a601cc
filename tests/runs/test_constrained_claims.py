"""The claims of constrained runs hold where the run is right, and notice a weight of another run."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from certdp.accounting.feasible_weights.gaussian import ApproximateTarget, RenyiTarget
from certdp.accounting.sampling.releases import Releases, ResampleEach
from certdp.plugins.contract import Case, Expectation
from certdp.runs import constrained_claims as claims

BY_ID = {claim.id: claim for claim in claims.CLAIMS}
RUNS: list[tuple[str, Case]] = [
    (f"constrained/{notion}", {**run, "steps": steps, "fresh": fresh})
    for notion, run in (("delta", claims._DELTA_RUN), ("order", claims._ORDER_RUN))
    for steps, fresh in ((1, True), (2, True), (5, True), (2, False), (3, False))
]


@pytest.mark.parametrize(("name", "case"), RUNS)
def test_a_weight_of_fewer_releases_and_a_smaller_weight_are_noticed(
    name: str, case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = BY_ID[name]
    assert claim.examine(case).holds
    solved = claims._solved_for
    exact = name.endswith("order") or not case["fresh"] or case["steps"] == 1
    if case["steps"] > 1:
        fewer = case["steps"] - 1 if exact else 1
        monkeypatch.setattr(claims, "_solved_for", lambda plan, case: solved(type(plan)(fewer), case))
        assert not claim.examine(case).holds
    share = Fraction(9999, 10_000) if exact else Fraction(1, 2)

    def smaller(plan: Releases, case: Case) -> Any:
        weight = solved(plan, case).weight * share
        return claims._Drawn(weight, 1 / weight)

    monkeypatch.setattr(claims, "_solved_for", smaller)
    assert not claim.examine(case).holds


@pytest.mark.parametrize("target", [ApproximateTarget, RenyiTarget])
def test_a_law_without_the_number_of_releases_is_noticed(target: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "constrained/delta" if target is ApproximateTarget else "constrained/order"
    case = {**dict(RUNS)[name], "fresh": True}
    assert BY_ID[name].examine(case).holds
    law = target.law
    monkeypatch.setattr(target, "law", lambda self, releases, threads: law(self, ResampleEach(1), threads))
    assert not BY_ID[name].examine(case).holds


def test_controls() -> None:
    rejected = {claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED}
    wrong = ("of-each-release", "of-the-other-plan")
    assert rejected == {f"constrained/{notion}-{form}" for notion in ("delta", "order") for form in wrong}
