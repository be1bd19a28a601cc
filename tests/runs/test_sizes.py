"""Releases that state different numbers of records: no data are as all of them say, so nothing is guaranteed of all."""

from __future__ import annotations

import json
from datetime import timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, fields

import certdp
from certdp import (
    Delta,
    LaplaceSum,
    Ledger,
    Norm,
    NormBall,
    Plan,
    Public,
    ResampleEach,
    SampledRun,
)
from certdp.accounting.derivation import RecordCount
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.filters.odometers import PureOdometer
from certdp.accounting.filters.sums import PureFilter
from certdp.accounting.notions import Pure
from certdp.accounting.relations import RECORD, REPLACE
from certdp.interoperation import (
    Composed,
    Event,
    Gaussian,
    SampledWithoutReplacement,
    TruncatedSubsampledGaussian,
)
from certdp.interoperation.proven_claims import proven
from certdp.samplers.truncated_poisson import TruncatedPoisson
from certdp.verification.checker import check
from tests.support.forgeries import body_of, seal


def run(size: int, *, at_most: bool = False) -> SampledRun[Any]:
    sampler = TruncatedPoisson(
        rate=Public("0.1"), batch_size=Public(50), data_size=Public(size), at_most=Public(at_most)
    )
    domain = NormBall(norm=Norm.L1, radius=Public(1))
    return SampledRun(mechanism=LaplaceSum(scale=Public(10)), sampler=sampler, releases=ResampleEach(1), domain=domain)


def test_no_plan_is_of_data_of_two_sizes() -> None:
    with pytest.raises(InvalidValue, match="at least 101 by one release, and at most 100 by another"):
        Plan([run(100), run(101)])
    Plan([run(100), run(101, at_most=True)])
    with pytest.raises(InvalidValue, match="number of records"):
        Plan([run(100), run(99, at_most=True)])


def test_no_account_pays_for_data_of_two_sizes() -> None:
    first, second = (run(size).pure() for size in (100, 101))
    domain = run(100).domain
    account = PureFilter(Pure(Enclosure.of(5)), relation=first.relation, unit=RECORD, domain=domain)
    odometer = PureOdometer(relation=first.relation, unit=RECORD, domain=domain)
    account.spend(first)
    odometer.charge(first)
    for charge in (account.spend, account.would_exceed, odometer.charge):
        with pytest.raises(InvalidValue, match="number of records"):
            charge(second)
    restored = PureFilter.from_state(account.state())
    with pytest.raises(InvalidValue, match="number of records"):
        restored.spend(second)
    assert account.number == restored.number == odometer.reading.number == 1


def test_no_ledger_pays_for_data_of_two_sizes(tmp_path: Path) -> None:
    first, second = (run(size).pure() for size in (100, 101))
    rule = PureFilter(Pure(Enclosure.of(5)), relation=first.relation, unit=RECORD, domain=run(100).domain)
    ledger = Ledger.create(tmp_path / "ledger", rule, data="records")
    ledger.pay(first, request="first")
    for ask in (
        ledger.would_exceed,
        partial(ledger.pay, request="second"),
        partial(ledger.reserve, request="third", expires=timedelta(hours=1)),
    ):
        with pytest.raises(InvalidValue, match="number of records"):
            ask(second)
    ledger.pay(first, request="fourth")
    assert ledger.number == 2
    assert ledger.verify().problems == ()
    assert ledger.guarantee.derivation.records == first.derivation.records


@pytest.mark.parametrize(
    "event", [SampledWithoutReplacement(100, 5, Gaussian(2)), TruncatedSubsampledGaussian(100, Fraction(1, 8), 20, 2)]
)
def test_events_of_counted_records_say_how_many_there_are(event: Event) -> None:
    assert event.is_of_counted_records
    assert event.run(REPLACE).derivation.records == RecordCount(100, 100)
    other = evolve(event, **{fields(type(event))[0].name: 200})
    with pytest.raises(InvalidValue, match="number of records"):
        proven(Composed([event, other]), 20, "1e-5", relation=REPLACE)


def test_no_certificate_is_of_data_of_two_sizes() -> None:
    plan = Plan([run(100), run(100)])
    body = body_of(certdp.certificate(plan, plan.epsilon(Delta("1e-5"))).content)
    assert check(seal(body)).accepted
    text = json.dumps(body)
    part = json.loads(json.dumps(body["parts"][1]).replace("100", "101"))
    assert part != body["parts"][1]
    body["parts"][1] = part
    for item in body["assumptions"]:
        if item["name"].startswith("part 2: "):
            item["value"] = item["value"].replace("100", "101")
    refused = check(seal(body))
    assert not refused.accepted
    assert "at least 101 records and at most 100" in refused.reason
    both = json.loads(text.replace('"100"', '"101"').replace(": 100,", ": 101,").replace(": 100}", ": 101}"))
    assert check(seal(both)).accepted
