"""Filters: their accounts, what they refuse, and that no adversary leaks more than the budget."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from statistics import NormalDist
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from certdp.accounting.conversions import delta_of_mu, epsilon_at_order, epsilon_of_rho
from certdp.accounting.derivation import Assumption, Theorem
from certdp.accounting.enclosures import Enclosure, Truth
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.filters import (
    ApproximateFilter,
    BudgetExceeded,
    Filter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZeroConcentratedFilter,
    approximate,
)
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Approximate, GaussianDP, Pure, Renyi, ZeroConcentrated
from certdp.accounting.provenance import Public
from certdp.accounting.relations import ADD_REMOVE, ELEMENT, RECORD, REPLACE
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.units import Delta

Counted = Callable[[Callable[[], Any]], tuple[Any, int]]

WHY = Theorem("test", "a mechanism")


def enclosed(value: Any) -> Enclosure:
    return value if isinstance(value, Enclosure) else Enclosure.of(value, precision=128)


def measured(value: Any) -> Enclosure:
    """An enclosure that does not know which number it holds."""
    return enclosed(value) + 0


def guaranteed(bound: Any, *, relation: Any = ADD_REMOVE, unit: Any = RECORD, assumptions: Any = ()) -> Any:
    return Guarantee(bound=bound, relation=relation, unit=unit, derivation=WHY.conclude(assumptions=assumptions))


def pure(epsilon: Any) -> Any:
    return guaranteed(Pure(enclosed(epsilon)))


def over(kind: Callable[..., Filter[Any, Any, Any]], budget: Any, **more: Any) -> Filter[Any, Any, Any]:
    return kind(budget, relation=ADD_REMOVE, unit=RECORD, **more)


MAKES: dict[str, tuple[Callable[..., Filter[Any, Any, Any]], Callable[[Any], Any]]] = {
    "pure": (PureFilter, lambda x: Pure(enclosed(x))),
    "zcdp": (ZeroConcentratedFilter, lambda x: ZeroConcentrated(enclosed(x))),
    "renyi": (RenyiFilter, lambda x: Renyi(Fraction(5), enclosed(x))),
    "gaussian": (GaussianFilter, lambda x: GaussianDP(enclosed(x).sqrt())),
    "approximate": (ApproximateFilter, lambda x: Approximate(enclosed(x), enclosed(x) / 4)),
}


@pytest.fixture(params=MAKES, ids=str)
def make(request: pytest.FixtureRequest) -> Any:
    return MAKES[request.param]


class TestEveryFilter:
    def test_costs_up_to_the_budget_are_admitted_and_no_more(self, make: Any) -> None:
        kind, bound = make
        account = over(kind, bound(1))
        for number in range(1, 5):
            assert account.would_exceed(guaranteed(bound("1/4"))) is Truth.FALSE
            assert account.spend(guaranteed(bound("1/4"))).number == number
            if number == 1:
                assert account.spent == bound("1/4")
        assert account.would_exceed(guaranteed(bound("1/2"))) is Truth.TRUE
        assert account.spent == bound(1)
        assert account.spend(guaranteed(bound(0))).total == bound(1)

    def test_a_budget_that_is_no_float_is_used_up_and_not_exceeded(self, make: Any) -> None:
        kind, bound = make
        assert over(kind, bound("1/3")).would_exceed(guaranteed(bound("1/3"))) is Truth.FALSE
        budget, more = (1 + Fraction(1, 2**bits) for bits in (60, 59))
        assert over(kind, bound(budget)).would_exceed(guaranteed(bound(more))) is Truth.TRUE

    def test_a_refusal_changes_nothing(self, make: Any) -> None:
        kind, bound = make
        account = over(kind, bound(1))
        for _ in range(3):
            account.spend(guaranteed(bound("1/4")))
        before = account.spent, account.number, account.guarantee
        with pytest.raises(BudgetExceeded, match="nothing was spent") as refused:
            account.spend(guaranteed(bound("1/2"), assumptions=[Assumption("another")]))
        assert (account.spent, account.number, account.guarantee) == before
        assert refused.value.parameter == "cost"
        account.spend(guaranteed(bound("1/4")))

    def test_the_guarantee_is_the_budget_from_the_start(self, make: Any) -> None:
        kind, bound = make
        account = over(kind, bound(1))
        assert account.guarantee.bound == bound(1)
        account.spend(guaranteed(bound("1/4"), assumptions=[Assumption("scale", "3")]))
        account.spend(guaranteed(bound("1/4"), assumptions=[Assumption("scale", "3")]))
        stated = account.guarantee
        assert stated.bound == bound(1)
        assert [a for a in stated.assumptions if a.name == "scale"] == [Assumption("scale", "3")]
        assert "budget fixed beforehand" in {a.name for a in stated.assumptions}
        assert stated.derivation.theorem == kind.theorem

    def test_undecided_is_refused_with_a_remedy(self, make: Any) -> None:
        kind, bound = make
        account = over(kind, bound(1))
        for _ in range(2):
            account.spend(guaranteed(bound(measured("1/3"))))
        last = guaranteed(bound(measured("1/3")))
        assert account.would_exceed(last) is Truth.UNDECIDED
        with pytest.raises(BudgetExceeded, match="room for rounding"):
            account.spend(last)
        assert over(kind, bound(enclosed_above_one())).would_exceed(guaranteed(bound(1))) is Truth.FALSE

    def test_other_relations_units_and_notions_are_refused(self, make: Any) -> None:
        kind, bound = make
        account = over(kind, bound(1))
        with pytest.raises(InvalidValue, match="relation"):
            account.spend(guaranteed(bound(0), relation=REPLACE))
        with pytest.raises(InvalidValue, match="unit"):
            account.spend(guaranteed(bound(0), unit=ELEMENT))
        other = Pure(enclosed(0)) if kind is not PureFilter else ZeroConcentrated(enclosed(0))
        with pytest.raises(InvalidType, match="Convert the guarantee"):
            account.spend(guaranteed(other))
        with pytest.raises(InvalidType, match="Pay with the guarantee"):
            account.spend(bound(0))
        assert account.number == 0

    def test_a_cost_over_another_domain_is_refused(self, make: Any) -> None:
        kind, bound = make
        ball = NormBall(norm=Norm.L2, radius=Public(3))
        wide = NormBall(norm=Norm.L2, radius=Public(5))
        account = over(kind, bound(1), domain=ball)
        account.spend(guaranteed(bound("1/4"), assumptions=ball.assumptions))
        account.spend(guaranteed(bound("1/4")))
        for other in (account, over(kind, bound(1))):
            with pytest.raises(InvalidValue, match=r"domain: got (radius = 5|norm = 2)"):
                other.spend(guaranteed(bound("1/4"), assumptions=wide.assumptions))

    def test_a_budget_of_another_type_is_refused(self, make: Any) -> None:
        kind, bound = make
        for budget in (1, Enclosure.of(1), guaranteed(bound(1))):
            with pytest.raises(InvalidType, match="State the budget"):
                over(kind, budget)
        with pytest.raises(InvalidType, match="ADD_REMOVE"):
            kind(bound(1), relation="add-remove", unit=RECORD)
        with pytest.raises(InvalidType, match="RECORD"):
            kind(bound(1), relation=ADD_REMOVE, unit="record")

    def test_threads_share_one_budget(self, make: Any) -> None:
        kind, bound = make
        account = over(kind, bound(1))
        admitted: list[int] = []

        def pay() -> None:
            for _ in range(40):
                try:
                    admitted.append(account.spend(guaranteed(bound("1/64"))).number)
                except BudgetExceeded:
                    return

        threads = [threading.Thread(target=pay) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(admitted) == list(range(1, 65))
        assert account.spent == bound(1)

    def test_words(self, make: Any) -> None:
        kind, bound = make
        account = over(kind, bound(1))
        assert str(account.spend(guaranteed(bound("1/4")))).startswith("cost 1: ")
        assert "1 costs" in repr(account)


def enclosed_above_one() -> Fraction:
    return 1 + Fraction(1, 2**60)


@given(st.lists(st.fractions(0, 1, max_denominator=50), max_size=30))
def test_the_sum_is_that_of_exact_numbers(costs: list[Fraction]) -> None:
    account = over(PureFilter, Pure(enclosed(5)))
    total = Fraction(0)
    for cost in costs:
        try:
            account.spend(pure(cost))
            total += cost
            assert total <= 5
        except BudgetExceeded:
            assert total + cost >= 5
    assert account.spent.epsilon.contains(total)


@pytest.mark.parametrize("times", [20_000, pytest.param(10**6, marks=pytest.mark.soundness)])
def test_sums_do_not_drift_and_cost_the_same_each_time(times: int, counted: Counted) -> None:
    account = over(PureFilter, Pure(enclosed(2)))
    cost = pure(Fraction(1, 10**6 + 3))

    def spend() -> None:
        account.spend(cost)

    early = max(counted(spend)[1] for _ in range(10))
    for _ in range(times - 20):
        spend()
    assert max(counted(spend)[1] for _ in range(10)) <= 2 * early
    spent = account.spent.epsilon
    assert spent.contains(Fraction(times, 10**6 + 3))
    assert spent.width <= times * (cost.bound.epsilon.width + Fraction(2) ** -250)


def test_a_gaussian_budget_is_squared_without_rounding() -> None:
    mu = 1 + Fraction(1, 2**127)
    account = over(GaussianFilter, GaussianDP(enclosed(mu)))
    above = Enclosure.of(mu + Fraction(1, 2**140), precision=256)
    assert account.would_exceed(guaranteed(GaussianDP(above))) is Truth.TRUE
    assert account.would_exceed(guaranteed(GaussianDP(enclosed(mu)))) is Truth.FALSE


def test_a_renyi_cost_at_another_order_is_refused() -> None:
    account = over(RenyiFilter, Renyi(Fraction(5), enclosed(1)))
    with pytest.raises(InvalidValue, match="5, the order that the budget fixes"):
        account.spend(guaranteed(Renyi(Fraction(4), enclosed("1/2"))))
    account.spend(guaranteed(Renyi(Fraction(2), enclosed(0))))  # equal laws are equal at every order


class TestConversions:
    def test_each_filter_states_its_epsilon_and_delta(self) -> None:
        delta = Delta("1e-6")
        level = Enclosure.of("1e-6")
        assert PureFilter(Pure(enclosed(2)), relation=ADD_REMOVE, unit=RECORD).approximate(delta).bound.delta.upper == 0
        rho = ZeroConcentratedFilter(ZeroConcentrated(enclosed("1/8")), relation=ADD_REMOVE, unit=RECORD)
        assert rho.approximate(delta).bound.epsilon.upper == pytest.approx(
            epsilon_of_rho(Enclosure.of("1/8"), level).epsilon.upper_float, rel=1e-9
        )
        fixed = RenyiFilter(Renyi(Fraction(20), enclosed("1/2")), relation=ADD_REMOVE, unit=RECORD)
        assert fixed.approximate(delta).bound.epsilon.upper == pytest.approx(
            epsilon_at_order(Fraction(20), Enclosure.of("1/2"), level).upper_float, rel=1e-9
        )
        mu = GaussianFilter(GaussianDP(enclosed("1/2")), relation=ADD_REMOVE, unit=RECORD).approximate(delta)
        assert delta_of_mu(Enclosure.of("1/2"), mu.bound.epsilon).contains(1e-6)
        assert mu.derivation.premises[0].theorem == GaussianFilter.theorem


class TestApproximate:
    """Two ways to stay within (ε, δ)."""

    def make(self, epsilon: Any, delta: Any, aside: Any = 0) -> ApproximateFilter[Any, Any]:
        budget = Approximate(enclosed(epsilon), enclosed(delta))
        return ApproximateFilter(budget, relation=ADD_REMOVE, unit=RECORD, set_aside=Delta(aside))

    def count(self, account: ApproximateFilter[Any, Any], epsilon: Any, delta: Any = 0) -> int:
        cost = guaranteed(Approximate(enclosed(epsilon), enclosed(delta)))
        for number in range(10_000):
            if account.would_exceed(cost) is not Truth.FALSE:
                return number
            account.spend(cost)
        raise AssertionError

    def test_sums_alone(self) -> None:
        assert self.count(self.make(1, "1/1024"), "1/16", "1/65536") == 16
        assert self.count(self.make(100, "1/1024"), "1/16", "1/65536") == 64

    def test_squares_admit_more_small_costs_than_sums_and_than_the_printed_formula(self) -> None:
        epsilon, small, aside = 1.0, 0.01, 1e-6
        mine = self.count(self.make(1, "1e-5", "1e-6"), "0.01")
        printed = 0
        while math.sqrt(2 * math.log(1 / aside) * (printed + 1) * small**2) + (printed + 1) * small**2 / 2 <= epsilon:
            printed += 1
        assert mine > printed > 100
        assert mine == pytest.approx(printed, rel=0.5)

    @pytest.mark.parametrize("digits", [330, 323, 310, 200])
    def test_budgets_at_the_end_of_the_floats_add_up(self, digits: int) -> None:
        """Their squares are below it: a search for these would not end."""
        epsilon = Fraction(1, 10**digits)
        account = self.make(epsilon, "1/1024", "1/2048")
        assert self.count(account, epsilon / 3) == 3
        assert account.remaining().bound.epsilon.upper < epsilon

    def test_what_is_set_aside_is_not_for_the_costs(self) -> None:
        account = self.make(1, "1/4", "1/8")
        assert self.count(account, 0, "1/32") == 4

    def test_one_large_cost_is_covered_by_sums_although_a_part_is_set_aside(self) -> None:
        assert self.count(self.make(1, "1/4", "1/100"), 1) == 1

    @pytest.mark.parametrize(
        ("epsilon", "aside"), [(1, "1e-6"), ("1/100", "1e-9"), (10, "1/10"), ("1e-6", "1e-9"), ("1/100", "0.99")]
    )
    def test_the_rho_of_the_second_way_is_used_up(self, epsilon: Any, aside: str) -> None:
        rho = self.make(epsilon, 1, aside).most_rho
        level = Enclosure.of(aside)
        assert epsilon_of_rho(rho, level).epsilon.upper <= Fraction(epsilon)
        assert epsilon_of_rho(rho * Fraction(1001, 1000), level).epsilon.upper > Fraction(epsilon)

    def test_the_upper_end_of_what_rho_entails_must_fit(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def roughly(rho: Enclosure, delta: Enclosure) -> Any:
            found = epsilon_of_rho(rho, delta)
            return evolve(found, epsilon=found.epsilon * Enclosure.between("0.9", "1.1"))

        monkeypatch.setattr(approximate, "epsilon_of_rho", roughly)
        rho = approximate._most_rho.__wrapped__(Fraction(1), Fraction(1, 10**6))
        assert roughly(rho, Enclosure.of("1e-6")).epsilon.upper <= 1

    def test_the_upper_end_of_the_budget_counts(self) -> None:
        wide = Approximate(Enclosure.between(1, 2), Enclosure.between("1/8", "1/4"))

        def make(aside: Any) -> ApproximateFilter[Any, Any]:
            return ApproximateFilter(wide, relation=ADD_REMOVE, unit=RECORD, set_aside=Delta(aside))

        assert make("3/16").most_rho == self.make(2, "1/4", "3/16").most_rho
        assert self.count(make("3/16"), 0, "1/64") == 4
        assert self.count(make(0), 1, "1/64") == 2

    def test_more_than_delta_cannot_be_set_aside(self) -> None:
        with pytest.raises(InvalidValue, match="set_aside"):
            self.make(1, "1/4", "1/3")
        with pytest.raises(InvalidValue, match="set_aside"):
            self.make(1, 1, 1)
        assert self.make(0, "1/4", "1/8").most_rho.upper == 0


# The worst adversary of all: it sees the realised loss and asks for randomised response with one or four units of ε, or
# stops. Its best leak at a target is a dynamic programme over the loss so far and how many of each it has had.

UNIT = 0.1
SIZES = (1, 4)
LIKELY = {size: 1 / (1 + math.exp(-size * UNIT)) for size in SIZES}
EPSILON = 2.0


def worst_leak(epsilon: float, admits: Callable[[int, int], bool]) -> float:
    """δ at ε of the worst adaptive run while admits(ones, fours)."""

    @cache
    def leak(loss: int, ones: int, fours: int) -> float:
        best = max(0.0, -math.expm1(epsilon - loss * UNIT))
        for size, after in zip(SIZES, ((ones + 1, fours), (ones, fours + 1)), strict=True):
            if admits(*after):
                likely = LIKELY[size]
                on = likely * leak(loss + size, *after) + (1 - likely) * leak(loss - size, *after)
                best = max(best, on)
        return best

    return leak(0, 0, 0)


def within(budget: float, costs: dict[int, float]) -> Callable[[int, int], bool]:
    return lambda ones, fours: ones * costs[1] + fours * costs[4] <= budget


def tau(order: float, size: int) -> float:
    e, p = size * UNIT, LIKELY[size]
    return math.log(p * math.exp((order - 1) * e) + (1 - p) * math.exp(-(order - 1) * e)) / (order - 1)


class TestAdversaries:
    @pytest.mark.parametrize("aside", ["3e-2", "1e-3"])
    def test_none_beats_the_approximate_filter(self, aside: str) -> None:
        budget = Approximate(enclosed(2), enclosed(aside))
        account = ApproximateFilter(budget, relation=ADD_REMOVE, unit=RECORD, set_aside=Delta(aside))
        rho = {size: size * UNIT * math.tanh(size * UNIT / 2) for size in SIZES}
        squares, sums = within(account.most_rho.upper_float, rho), within(EPSILON, {1: UNIT, 4: 4 * UNIT})
        ones = next(n for n in range(1000) if not squares(n + 1, 0))
        assert ones > 20  # more than the sums allow
        cost = guaranteed(Approximate(enclosed("1/10"), enclosed(0)))
        for _ in range(ones):
            account.spend(cost)
        assert account.would_exceed(cost) is Truth.TRUE
        leaked = worst_leak(EPSILON, lambda a, b: squares(a, b) or sums(a, b))
        assert float(aside) / 100 < leaked <= float(aside)

    def test_none_beats_the_zero_concentrated_filter(self) -> None:
        costs = {size: size * UNIT * math.tanh(size * UNIT / 2) for size in SIZES}
        for rho, delta in ((0.5, "1e-2"), (0.1, "1e-4")):
            epsilon = epsilon_of_rho(Enclosure.of(rho), Enclosure.of(delta)).epsilon.upper_float
            assert 0 < worst_leak(epsilon, within(rho, costs)) <= float(delta)

    def test_none_beats_the_gaussian_filter(self) -> None:
        costs = {size: (2 * NormalDist().inv_cdf(LIKELY[size])) ** 2 for size in SIZES}
        allowed = delta_of_mu(Enclosure.of(1), Enclosure.of(2)).upper_float
        assert allowed / 10 < worst_leak(EPSILON, within(1.0, costs)) <= allowed

    @pytest.mark.parametrize("order", [2, 4, 12])
    def test_none_beats_the_renyi_filter(self, order: int) -> None:
        epsilon = epsilon_at_order(Fraction(order), Enclosure.of("0.9"), Enclosure.of("1e-2")).upper_float
        costs = {size: tau(order, size) for size in SIZES}
        assert 0 < worst_leak(epsilon, within(0.9, costs)) <= 1e-2

    def test_one_beats_the_loss_distributions_of_what_came(self) -> None:
        """Fixed beforehand, every admitted pair of numbers is (2, δ)-DP exactly; chosen on the way, they are not."""
        delta = 1e-3

        @cache
        def fixed(ones: int, fours: int) -> float:
            losses = {0: 1.0}
            for size in (1,) * ones + (4,) * fours:
                after: dict[int, float] = {}
                for loss, share in losses.items():
                    for step, chance in ((size, LIKELY[size]), (-size, 1 - LIKELY[size])):
                        after[loss + step] = after.get(loss + step, 0.0) + share * chance
                losses = after
            return sum(share * max(0.0, -math.expm1(EPSILON - loss * UNIT)) for loss, share in losses.items())

        leaked = worst_leak(EPSILON, lambda ones, fours: fixed(ones, fours) <= delta)
        assert leaked > 1.8 * delta
