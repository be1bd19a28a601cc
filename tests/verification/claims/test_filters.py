"""The claims of filters hold, each finds a witness against a broken filter, and each wrong rule has a right one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import attrs
import pytest

from certdp.accounting.enclosures import Enclosure
from certdp.accounting.filters import (
    ApproximateFilter,
    Filter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    RenyiOdometer,
    ZeroConcentratedFilter,
)
from certdp.accounting.filters.totals import Compared, Comparisons, Total
from certdp.plugins.contract import Expectation
from certdp.verification.claims import filters as claims
from certdp.verification.claims.finite import randomised_response
from certdp.verification.running.results import Outcome
from tests.support.claims import check

BY_ID = {claim.id: claim for claim in claims.CLAIMS}


@pytest.mark.parametrize(
    ("claim", "kind"),
    [
        ("accounting/filter-pure", PureFilter),
        ("accounting/filter-renyi", RenyiFilter),
        ("accounting/filter-zero-concentrated", ZeroConcentratedFilter),
        ("accounting/filter-gaussian", GaussianFilter),
        ("accounting/filter-approximate", ApproximateFilter),
    ],
)
def test_a_filter_that_refuses_nothing_is_told(
    claim: str, kind: type[Filter[Any, Any, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kind, "_compared", lambda self, totals: Comparisons((Compared(Total(), Fraction(1)),)))
    result = check(BY_ID[claim], 150, 0, smallest=True)
    assert not result.passed
    assert result.finding is not None


def test_a_filter_that_refuses_everything_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        PureFilter,
        "_compared",
        lambda self, totals: Comparisons((Compared(Total(Fraction(1), Fraction(1)), Fraction(0)),)),
    )
    assert check(BY_ID["accounting/filter-pure"], 100, 0).outcome is Outcome.FAILS


def test_an_account_that_forgets_all_but_the_last_cost_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        PureFilter,
        "_with",
        lambda self, sums, cost: attrs.evolve(sums, number=sums.number + 1, totals=self._amounts(cost.bound)),
    )
    assert check(BY_ID["accounting/filter-pure"], 200, 0).outcome is Outcome.FAILS


def test_gaussian_costs_that_add_up_without_squares_of_the_budget_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GaussianFilter, "_limit", Fraction(1000))
    assert check(BY_ID["accounting/filter-gaussian"], 150, 0).outcome is Outcome.FAILS


def test_an_odometer_without_room_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    original = RenyiOdometer.__init__

    def roomless(self: Any, *arguments: Any, **others: Any) -> None:
        original(self, *arguments, **others)
        self._room = [Enclosure.of(0) for _ in self._room]

    monkeypatch.setattr(RenyiOdometer, "__init__", roomless)
    assert check(BY_ID["accounting/odometer-renyi"], 150, 0).outcome is Outcome.FAILS


Rule = Callable[[Any, Sequence[Any]], list[Any]]


def one_order_beforehand(target: Any, menu: Sequence[Any]) -> list[Any]:
    return claims._at_order(target, menu, 8)


def one_mechanism_beforehand(target: Any, menu: Sequence[Any]) -> list[Any]:
    return claims._realised(target, menu)[-1:]  # the same after either output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "wrong", "right"),
    [
        ("accounting/filter-order-afterwards", claims._best_of_orders, one_order_beforehand),
        ("accounting/filter-realised-losses", claims._realised, one_mechanism_beforehand),
    ],
)
def test_the_same_adversary_fails_against_what_was_fixed_beforehand(control: str, wrong: Rule, right: Rule) -> None:
    case = check(BY_ID[control], 150, 0).witness
    assert case is not None
    assert not claims._examine_control(case, wrong).holds
    assert claims._examine_control(case, right).holds


def test_every_negative_control_is_known() -> None:
    rejected = {claim.id for claim in claims.CLAIMS if claim.expectation is Expectation.REJECTED}
    assert rejected == {"accounting/filter-order-afterwards", "accounting/filter-realised-losses"}


def test_a_run_by_hand() -> None:
    """Two outputs; after the first one the same mechanism again, after the second nothing."""
    case = {"menu": (((3, 1), (1, 3)),) * 3, "choices": (0,) * 7}
    menu = claims._menu(case)
    assert menu[0] == randomised_response(Fraction(3))[::-1]
    leaves = list(claims._leaves(case, menu, lambda asked: len(asked) <= 1))
    assert sorted((leaf.here, leaf.there) for leaf in leaves) == [
        (Fraction(1, 4), Fraction(3, 4)),
        (Fraction(3, 4), Fraction(1, 4)),
    ]
    everything = claims._transcripts(case, menu, lambda asked: True)
    assert (len(everything[0]), sum(everything[0]), sum(everything[1])) == (8, 1, 1)
