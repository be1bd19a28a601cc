"""States of filters: what is restored admits exactly what the original would have, and nothing else is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.derivation import Assumption, Theorem
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidValue
from certdp.accounting.filters import (
    ApproximateFilter,
    BudgetExceeded,
    Filter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZeroConcentratedFilter,
)
from certdp.accounting.filters.totals import FULL
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.accounting.provenance import Public, Released
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE, User
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.stored import canonical

WHY = Theorem("test", "a mechanism")
BALL = NormBall(norm=Norm("3/2"), radius=Public("7/3"), dimension=4)

Make = tuple[Callable[..., Filter[Any, Any, Any]], Callable[[Enclosure], Any]]
MAKES: dict[str, Make] = {
    "pure": (PureFilter, Pure),
    "zero-concentrated": (ZeroConcentratedFilter, ZeroConcentrated),
    "renyi": (RenyiFilter, lambda x: Renyi(Fraction(5, 2), x)),
    "gaussian": (GaussianFilter, GaussianDP),
    "approximate": (ApproximateFilter, lambda x: Approximate(x, x * Fraction(1, 1000))),
    "approximate, a part set aside": (
        lambda *a, **k: ApproximateFilter(*a, **k, set_aside="1/2000", at="1/10000"),
        lambda x: Approximate(x, x * Fraction(1, 1000)),
    ),
}

numbers = st.fractions(0, 1, max_denominator=1000)
enclosures = st.one_of(
    numbers.map(Enclosure.of),
    numbers.map(lambda x: Enclosure.of(x) + 0),  # ends alone are known
    st.tuples(numbers, numbers).map(lambda ends: Enclosure.between(min(ends), max(ends))),
)


def cost_of(bound: Any, scale: str = "1", relation: Any = ADD_REMOVE, unit: Any = RECORD) -> Any:
    premise = Theorem("test", "a premise").conclude(assumptions=[Assumption("norm", "3/2")])
    derivation = WHY.conclude([premise], [Assumption("scale", scale)])
    return Guarantee(bound=bound, relation=relation, unit=unit, derivation=derivation)


def outcome(account: Filter[Any, Any, Any], cost: Any) -> tuple[str, Any]:
    try:
        return "admitted", account.spend(cost)
    except BudgetExceeded as refused:
        return "refused", str(refused)


@pytest.mark.parametrize("make", MAKES.values(), ids=list(MAKES))
class TestEveryFilter:
    @given(costs=st.lists(enclosures, max_size=12), split=st.integers(0, 12))
    def test_it_goes_on_from_its_state_as_if_nothing_had_happened(
        self, make: Make, costs: list[Enclosure], split: int
    ) -> None:
        kind, bound = make
        original = kind(bound(Enclosure.of(2)), relation=ADD_REMOVE, unit=RECORD, domain=BALL)
        guarantees = [cost_of(bound(one), str(number % 3)) for number, one in enumerate(costs)]
        for cost in guarantees[:split]:
            outcome(original, cost)
        restored = Filter.from_state(original.state())
        assert restored.guarantee == original.guarantee
        for cost in guarantees[split:]:
            assert original.would_exceed(cost) is restored.would_exceed(cost)
            assert outcome(original, cost) == outcome(restored, cost)
        assert restored.state() == original.state()
        assert restored.remaining() == original.remaining()

    @given(costs=st.lists(enclosures, max_size=8))
    def test_what_remains_is_admitted_and_twice_as_much_is_not(self, make: Make, costs: list[Enclosure]) -> None:
        kind, bound = make
        account = kind(bound(Enclosure.of(2)), relation=ADD_REMOVE, unit=RECORD)
        for one in costs:
            outcome(account, cost_of_any(bound(one)))
        left = account.remaining().bound
        if account.spent == account.budget:
            return
        assert account.would_exceed(cost_of_any(left)) is Truth.FALSE
        assert account.share(account.after(account._sums, cost_of_any(left))) <= FULL
        doubled = left.notion.compose([left, left, bound(Enclosure.of("1/1000"))])
        assert account.would_exceed(cost_of_any(doubled)) is not Truth.FALSE
        read = account.remaining().rounded_down
        assert str(account.remaining()) == str(read)
        assert account.would_exceed(cost_of_any(read)) is Truth.FALSE

    @given(costs=st.lists(enclosures, min_size=1, max_size=10))
    def test_the_share_grows_with_each_cost_and_is_all_of_it_at_most(self, make: Make, costs: list[Enclosure]) -> None:
        kind, bound = make
        account = kind(bound(Enclosure.of(2)), relation=ADD_REMOVE, unit=RECORD)
        shares = [account.share(account.start)]
        for one in costs:
            outcome(account, cost_of_any(bound(one)))
            shares.append(account.share(account._sums))
        assert shares[0] == 0
        assert all(before <= after <= FULL for before, after in pairwise(shares))

    def test_every_change_of_a_state_is_refused_or_another_state(self, make: Make) -> None:
        """No letter is read over: what is accepted is written again as it was read."""
        kind, bound = make
        account = kind(bound(Enclosure.of(2)), relation=REPLACE, unit=User(contributions=3))
        account.spend(cost_of_any(bound(Enclosure.of("1/3")), REPLACE, User(contributions=3)))
        state = account.state()
        for place in range(0, len(state), 7):
            for letter in "0}\x00":
                changed = state[:place] + letter + state[place + 1 :]
                try:
                    again = Filter.from_state(changed)
                except InvalidValue:
                    continue
                assert again.state() == changed

    def test_sums_beyond_the_budget_are_refused(self, make: Make) -> None:
        kind, bound = make
        account = kind(bound(Enclosure.of(2)), relation=ADD_REMOVE, unit=ELEMENT)
        stored = json.loads(account.state())
        stored["sums"]["totals"] = [["5", "5"]] * len(stored["sums"]["totals"])
        with pytest.raises(InvalidValue, match="sums within"):
            Filter.from_state(canonical(stored))

    def test_other_formats_are_refused(self, make: Make) -> None:
        kind, bound = make
        stored = json.loads(kind(bound(Enclosure.of(2)), relation=ADD_REMOVE, unit=RECORD).state())
        with pytest.raises(InvalidValue, match="certdp-filter/1"):
            Filter.from_state(canonical({**stored, "format": "certdp-filter/2"}))
        for text in ("", "[]", "{}", json.dumps(stored, indent=1), canonical({**stored, "more": 1})):
            with pytest.raises(InvalidValue):
                Filter.from_state(text)


def cost_of_any(bound: Any, relation: Any = ADD_REMOVE, unit: Any = RECORD) -> Any:
    return Guarantee(bound=bound, relation=relation, unit=unit, derivation=WHY.conclude())


@given(st.integers(1, 300))
@pytest.mark.parametrize("name", ["pure", "zero-concentrated", "renyi"])
def test_n_costs_of_one_nth_fit_a_budget_of_one_and_no_more(name: str, number: int) -> None:
    kind, bound = MAKES[name]
    account = kind(bound(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD)
    cost = cost_of_any(bound(Enclosure.of(Fraction(1, number))))
    for _ in range(number):
        account.spend(cost)
    assert account.spent == account.budget
    assert account.share(account._sums) == FULL
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        account.spend(cost)


@given(st.integers(1, 17))
def test_squares_of_one_nth_fit_too(number: int) -> None:
    account = GaussianFilter(GaussianDP(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD)
    for _ in range(number**2):
        account.spend(cost_of_any(GaussianDP(Enclosure.of(Fraction(1, number)))))
    assert account.would_exceed(cost_of_any(GaussianDP(Enclosure.of("1e-30")))) is Truth.TRUE


@given(st.integers(1, 60))
def test_parts_of_an_approximate_budget_fit(number: int) -> None:
    budget = Approximate(Enclosure.of(1), Enclosure.of("1/1000"))
    account = ApproximateFilter(budget, relation=ADD_REMOVE, unit=RECORD)
    part = Approximate(Enclosure.of(Fraction(1, number)), Enclosure.of(Fraction(1, 1000 * number)))
    for _ in range(number):
        account.spend(cost_of_any(part))
    with pytest.raises(BudgetExceeded):
        account.spend(cost_of_any(part))


def test_a_filter_of_many_small_costs_is_restored_with_what_it_compares() -> None:
    """Its sums of ε and δ alone would not tell that squares were compared: 283 costs in place of 567."""
    budget = Approximate(Enclosure.of(1), Enclosure.of("1e-5"))

    def admitted(account: Any, times: int) -> int:
        cost = cost_of_any(Approximate(Enclosure.of("1/150"), Enclosure.of(0)))
        count = 0
        while count < times and account.would_exceed(cost) is Truth.FALSE:
            account.spend(cost)
            count += 1
        return count

    def made() -> Any:
        return ApproximateFilter(budget, relation=ADD_REMOVE, unit=RECORD, set_aside="1e-5")

    whole = admitted(made(), 10**4)
    assert whole > 150
    first = made()
    admitted(first, whole // 2)
    assert admitted(Filter.from_state(first.state()), 10**4) == whole - whole // 2


def test_a_released_radius_is_not_stored() -> None:
    cost = cost_of_any(Pure(Enclosure.of(1)))
    ball = NormBall(norm=Norm.L2, radius=Released(3, cost))
    account = PureFilter(Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, domain=ball)
    with pytest.raises(InvalidValue, match="declared before the data"):
        account.state()


@pytest.mark.parametrize("name", MAKES)
def test_a_state_has_exactly_the_sums_that_its_filter_compares(name: str) -> None:
    kind, bound = MAKES[name]
    stored = json.loads(kind(bound(Enclosure.of(2)), relation=ADD_REMOVE, unit=RECORD, domain=BALL).state())
    totals = stored["sums"]["totals"]
    for other in (totals[1:], [*totals, ["0/1", "0/1"]], {str(place): one for place, one in enumerate(totals)}, "0/1"):
        with pytest.raises(InvalidValue, match=f"a list of {len(totals)}"):
            Filter.from_state(canonical({**stored, "sums": {**stored["sums"], "totals": other}}))


def test_a_domain_is_stored_exactly_or_not_at_all() -> None:
    for radius in (Fraction(7, 3), Fraction(1, 10**3000), Fraction(1, 10**5000)):
        ball = NormBall(norm=Norm("3/2"), radius=Public(radius), dimension=4)
        account = PureFilter(Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, domain=ball)
        if radius.denominator > 10**3900:
            with pytest.raises(InvalidValue, match="3,900 digits"):
                account.state()
        else:
            assert Filter.from_state(account.state()).domain == ball
