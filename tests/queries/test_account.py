"""The account of a table: what is left is all that was not spent, and costs are shown rounded up."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import certdp
from certdp import Norm, User
from certdp import queries as q
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.notions import GaussianDP, Pure
from certdp.queries.account import Account, rounded
from certdp.queries.noise import PureShare
from tests.support.cases import examples

NEARLY_ALL = 1 - Fraction(1, 2**30)


def table(**options: Any) -> q.Table:
    given: dict[str, Any] = {"epsilon": "0.3"} | options
    return q.table({"age": [10.0, 20.0, 30.0], "who": [1, 1, 2]}, [q.Column("age", 0, 120)], **given)


def share_spent(account: Account) -> Fraction:
    """The part of the budget that is spent: of ε, or of μ²."""
    spent, budget = account.filter.spent, account.filter.budget
    if isinstance(spent, Pure):
        assert isinstance(budget, Pure)
        return spent.epsilon.upper / budget.epsilon.upper
    assert isinstance(budget, GaussianDP)
    return (spent.mu.upper / budget.mu.upper) ** 2


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("options", [{}, {"user": "who", "rows_per_user": 2}], ids=["record", "user"])
def test_all_that_is_left_is_nearly_all_that_was_not_spent(delta: Any, options: dict[str, Any]) -> None:
    people = table(delta=delta, **options)
    people.release(q.count(), epsilon="0.2")
    spent = share_spent(people.account)
    assert 0 < spent < Fraction(3, 4)
    assert str(people.account).endswith(f"{math.ceil(spent * 10_000) / 100:g} % spent in 1 payments")
    people.release(q.count(), q.sum("age"))
    assert NEARLY_ALL < share_spent(people.account) <= 1
    assert str(people.account).endswith("100 % spent in 2 payments")


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_a_share_of_the_whole_epsilon_is_nearly_the_whole_budget(delta: Any) -> None:
    people = table(delta=delta)
    people.release(q.count(), epsilon="0.3")
    assert NEARLY_ALL < share_spent(people.account) <= 1
    with pytest.raises(certdp.BudgetExceeded):
        people.release(q.count(), epsilon="1e-6")


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_the_guarantee_is_the_budget(delta: Any) -> None:
    people = table(delta=delta)
    stated = people.guarantee.bound
    share = stated.epsilon.upper / Fraction("0.3")
    assert 1 - Fraction(1, 10**5) < share <= 1 + Fraction(1, 2**60)
    assert Fraction(delta) <= stated.delta.upper <= Fraction(delta) * (1 + Fraction(1, 2**60))
    people.release(q.count())
    assert people.guarantee.bound == stated


@pytest.mark.parametrize("delta", [0, "1e-6"])
@pytest.mark.parametrize("asked", [0, -1])
def test_no_query_costs_nothing(delta: Any, asked: int) -> None:
    people = table(delta=delta)
    with pytest.raises(InvalidValue, match="a number > 0"):
        people.release(q.count(), epsilon=asked)
    assert share_spent(people.account) == 0


def test_an_account_says_how_much_is_spent() -> None:
    people = table(epsilon=1)
    people.account.filter.spend(people.account.for_unit(_paid(people.account, Fraction("0.12341"))))
    assert str(people.account).endswith("12.35 % spent in 1 payments")


def _paid(account: Account, epsilon: Fraction) -> certdp.Guarantee[Any, Any, Any]:
    run = certdp.SampledRun(
        mechanism=certdp.LaplaceSum(scale=certdp.Public(1 / epsilon)), sampler=certdp.Full(), domain=account.domain
    )
    return run.pure()


def test_an_account_of_users_is_about_the_rows_of_one() -> None:
    account = Account.of(1, 0, User(contributions=3))
    assert (account.contributions, account.unit) == (3, User(contributions=3))
    assert (account.domain.norm, account.domain.radius.value) == (Norm.L1, Fraction(3))
    assert account.share("0.5") == PureShare(Fraction(1, 2)).split(1)
    assert Account.of(1, 0, certdp.RECORD).contributions == 1


@examples(100)
@given(
    upper=st.fractions(Fraction(1, 10**9), 10**9)
    | st.builds(lambda k: Fraction(k, 10) + Fraction(1, 2**200), st.integers(1, 30))
)
def test_costs_are_shown_rounded_up_to_six_digits(upper: Fraction) -> None:
    value = Enclosure.of(upper, precision=300)
    for bound, symbol in ((Pure(value), "ε ≤ "), (GaussianDP(value), "μ ≤ ")):
        shown = rounded(bound)
        assert shown.startswith(symbol)
        number = Decimal(shown.removeprefix(symbol))
        assert value.upper <= Fraction(number) <= value.upper * (1 + Fraction(1, 10**5))
        assert len(number.normalize().as_tuple().digits) <= 6
