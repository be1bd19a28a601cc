"""The claims of the laws of pure DP hold, and each of them finds a witness against a wrong law."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from attrs import evolve

from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.notions import PURE, Notion, Pure
from certdp.accounting.provenance import Released
from certdp.accounting.sampling.profiles import PureProfile, compose_profiles
from certdp.plugins.contract import Expectation
from certdp.verification.claims import pure as claims
from certdp.verification.claims.finite import (
    geometric_steps,
    greatest_ratio,
    indistinguishability,
    joint,
    law,
    loss,
    poisson_sampled,
    processed,
    randomised_response,
    subsets,
    tabled,
)
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}
Profile = PureProfile[Any, Any]


def largest(bounds: Sequence[Pure]) -> Pure:
    total = Enclosure.of(0)
    for bound in bounds:
        total = total.maximum(bound.epsilon)
    return Pure(total)


def twice(bounds: Sequence[Pure]) -> Pure:
    return Pure(sum((bound.epsilon * 2 for bound in bounds), Enclosure.of(0)))


def follow(notion: Notion[Pure], monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets the bounds of pure DP obey other laws."""
    monkeypatch.setattr(Pure, "notion", notion)
    monkeypatch.setattr(claims, "PURE", notion)


@pytest.mark.parametrize(
    ("claim", "wrong"), [("pure/composition", largest), ("pure/composition", twice), ("pure/nothing", twice)]
)
def test_a_wrong_composition_is_told(
    claim: str, wrong: Callable[[Sequence[Pure]], Pure], monkeypatch: pytest.MonkeyPatch
) -> None:
    follow(evolve(PURE, compose=wrong), monkeypatch)
    assert check(BY_ID[claim], 400, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize("steps", [lambda k: 1, lambda k: max(k - 1, 0), lambda k: k + 1, lambda k: k * k])
def test_a_wrong_group_law_is_told(steps: Callable[[int], int], monkeypatch: pytest.MonkeyPatch) -> None:
    follow(evolve(PURE, group=lambda bound, size: Pure(bound.epsilon * steps(size))), monkeypatch)
    assert check(BY_ID["pure/group-privacy"], 400, 0).outcome is Outcome.FAILS


@pytest.mark.parametrize(
    "wrong",
    [
        lambda first, second: PURE.implies(second, first),
        lambda first, second: Truth.TRUE,
        lambda first, second: Truth.UNDECIDED,
    ],
)
def test_a_wrong_order_is_told(wrong: Callable[[Pure, Pure], Truth], monkeypatch: pytest.MonkeyPatch) -> None:
    follow(evolve(PURE, implies=wrong), monkeypatch)
    assert check(BY_ID["pure/monotonicity"], 400, 0).outcome is Outcome.FAILS


def test_a_cheaper_release_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def cheaper(released: Released[int], function: Callable[[int], int]) -> Released[int]:
        return Released(function(released.value), evolve(released.cost, bound=PURE.nothing))

    monkeypatch.setattr(Released, "map", cheaper)
    assert check(BY_ID["pure/post-processing"], 400, 0).outcome is Outcome.FAILS


def swapped(*profiles: Profile) -> Profile:
    right = compose_profiles(*profiles)
    return evolve(right, remove=right.add, add=right.remove)


def first_alone(*profiles: Profile) -> Profile:
    return profiles[0]


def remove_for_both(*profiles: Profile) -> Profile:
    right = compose_profiles(*profiles)
    return evolve(right, add=right.remove)


@pytest.mark.parametrize("wrong", [swapped, first_alone, remove_for_both])
def test_a_wrong_composition_of_profiles_is_told(
    wrong: Callable[..., Profile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "compose_profiles", wrong)
    assert check(BY_ID["pure/pdp-composition"], 400, 0).outcome is Outcome.FAILS


CONTROLS = {
    "pure/composition-by-maximum": ("_larger", claims._composed),
    "pure/group-as-one-unit": ("_unscaled", claims._for_group),
}


def test_every_negative_control_is_known() -> None:
    assert {claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED} == set(CONTROLS)


@pytest.mark.parametrize("control", CONTROLS)
def test_a_negative_control_with_the_right_law_fails(control: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, right = CONTROLS[control]
    monkeypatch.setattr(claims, name, right)
    result = check(BY_ID[control], 150, 0)
    assert not result.passed
    assert result.witness is None


@pytest.mark.slow
def test_the_witness_against_the_maximum_is_small() -> None:
    witness = check(BY_ID["pure/composition-by-maximum"], 150, 0, smallest=True).witness
    assert witness is not None
    rows = [*witness["first"], *(row for pair in witness["second"] for row in pair)]
    assert len(rows) <= 6  # two outputs each: with one output nothing is told
    assert max(max(row) for row in rows) == 2


def test_the_largest_ratio_over_outputs_is_the_one_over_events() -> None:
    first, second = law((1, 5, 2, 7)), law((3, 1, 2, 2))
    events = [event for event in subsets(range(4)) if event]
    ratios = [Fraction(sum(first[o] for o in event), sum(second[o] for o in event)) for event in events]
    assert greatest_ratio(first, second) == max(ratios)


def test_known_mechanisms() -> None:
    three = Fraction(3)
    assert indistinguishability(*randomised_response(three)) == 3
    chain = geometric_steps(three, 4)
    assert all(sum(each) == 1 for each in chain)
    assert [indistinguishability(chain[0], each) for each in chain] == [1, 3, 9, 27, 81]
    assert set(geometric_steps(Fraction(1), 2)) == {law((1, 1, 1))}
    assert joint(law((1, 1)), [law((1, 3)), law((1, 1))]) == law((1, 3, 2, 2))
    assert processed(law((1, 3)), [law((1, 1)), law((0, 1))]) == (Fraction(1, 8), Fraction(7, 8))


def test_a_sampled_mechanism_by_hand() -> None:
    """One record with q = 1/2: the output law is half of each, with the weight 2."""
    mechanism = tabled(((1, 1), (1, 1)), ((0, 1),))
    assert mechanism({}) == (Fraction(1, 2), Fraction(1, 2))
    assert mechanism({0: Fraction(2)}) == (Fraction(1, 4), Fraction(3, 4))
    half = {0: Fraction(1, 2)}
    assert poisson_sampled(mechanism, half, weighted=True) == (Fraction(3, 8), Fraction(5, 8))
    assert poisson_sampled(mechanism, half, weighted=False) == (Fraction(5, 12), Fraction(7, 12))
    assert loss(mechanism, 0, Fraction(2), {}) == 2
    assert loss(mechanism, 0, Fraction(1), {}) == Fraction(3, 2)
