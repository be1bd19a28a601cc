"""A pure ε that is a rational number is known as that number: costs of 1/n fit a budget n times."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import (
    ADD_REMOVE,
    RECORD,
    Enclosure,
    Full,
    LaplaceSum,
    Ledger,
    Norm,
    NormBall,
    Poisson,
    Public,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
)
from certdp.accounting.filters import BudgetExceeded, PureFilter
from certdp.accounting.relations import Change, Record
from certdp.accounting.sampling.releases import Releases
from certdp.notions import Pure
from certdp.plugins.contract import AnySampler
from tests.support.cases import examples

NUMBERS = st.fractions(Fraction(1, 50), 50, max_denominator=97)
ONE = ResampleEach(1)


def run_of(
    scale: Fraction | int, radius: Fraction | int, releases: Releases = ONE, sampler: AnySampler | None = None
) -> SampledRun:
    return SampledRun(
        mechanism=LaplaceSum(scale=Public(scale)),
        sampler=sampler or Full(),
        releases=releases,
        domain=NormBall(norm=Norm.L1, radius=Public(radius)),
    )


def one(run: SampledRun) -> PureFilter[Change, Record]:
    return PureFilter(Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, domain=run.domain)


@examples(30)
@given(scale=NUMBERS, radius=NUMBERS, steps=st.integers(1, 9), once=st.booleans())
def test_the_number_of_a_sum(scale: Fraction, radius: Fraction, steps: int, once: bool) -> None:
    run = run_of(scale, radius, SampleOnce(steps) if once else ResampleEach(steps))
    assert run.pure().bound.epsilon.number == radius / scale * steps


@pytest.mark.parametrize("times", [3, 7, 49])
def test_costs_fit_a_budget_as_often_as_they_should(times: int) -> None:
    run = run_of(times, 1)
    account = one(run)
    for _ in range(times):
        account.spend(run.pure())
    with pytest.raises(BudgetExceeded):
        account.spend(run.pure())


def test_a_ledger_counts_exactly(tmp_path: Path) -> None:
    run = run_of(3, 1)
    ledger = Ledger.create(tmp_path / "a.ledger", one(run), data="people")
    for number in range(3):
        ledger.pay(run.pure(), request=f"release {number}")
    with pytest.raises(BudgetExceeded):
        ledger.pay(run.pure(), request="one more")


def test_where_it_is_no_rational_number_or_costs_more() -> None:
    sampled = run_of(3, 1, sampler=Poisson(rate=Public("1/2"))).pure().bound.epsilon
    assert sampled.number is None
    radius = Released(1, run_of(10, 1).pure(), within=("1/2", 1))
    paid = run_of(3, 1).on(NormBall(norm=Norm.L1, radius=radius)).pure().bound.epsilon
    assert paid.number is None
    assert 0 <= paid.upper - Fraction(13, 30) < Fraction(1, 2**80)
