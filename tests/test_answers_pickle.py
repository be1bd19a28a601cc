"""Answers without private parts are serialised like any value; what holds private parts refuses."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import certdp
from certdp.accounting.accountants import BEST, RENYI
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.filters import PureFilter, PureOdometer
from certdp.accounting.filters.spending import SecondAccount
from certdp.accounting.guarantees import Guarantee
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure
from certdp.accounting.private import HoldsRecords, PrivateValue
from certdp.accounting.provenance import Public
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import ResampleEach
from certdp.accounting.units import Delta, Epsilon, Order
from certdp.data import Records
from certdp.dpis.history import History
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.pws_keys import PwsKeys
from certdp.queries.rows import Rows
from certdp.runs.allocated import AllocatedRun
from certdp.runs.certificates import pure_claim
from certdp.runs.plan import Plan
from certdp.runs.sampled import SampledRun
from certdp.samplers.every_key import EveryKey
from certdp.samplers.poisson import Poisson
from certdp.samplers.random_allocation import RandomAllocation
from certdp.weighted_sampling.release import PrivateWeightedSampling
from tests.support.modules import import_all

BALL = NormBall(norm=Norm.L1, radius=Public(1))
LAPLACE = SampledRun(
    mechanism=LaplaceSum(scale=Public(8)),
    sampler=Poisson(rate=Public("1/2")),
    releases=ResampleEach(3),
    domain=BALL,
)
GAUSSIAN = SampledRun(mechanism=GaussianSum(noise_multiplier=Public(3)), sampler=Poisson(rate=Public("1/8")))
SAMPLED = SampledRun(mechanism=LaplaceSum(scale=Public(8)), sampler=Poisson(rate=Public("1/2")))
EPOCHS = AllocatedRun(mechanism=LaplaceSum(scale=Public(8)), sampler=RandomAllocation(batches=Public(2)), domain=BALL)
KEYS = PrivateWeightedSampling(mechanism=PwsKeys(epsilon=Public(1), delta=Public("0.1")), sampler=EveryKey())
DELTA = Delta("1e-5")


def pure() -> Guarantee[Pure, Any, Any]:
    return SAMPLED.on(BALL).pure()


ANSWERS: dict[str, Callable[[], Any]] = {
    "run": lambda: LAPLACE,
    "plan": lambda: Plan([LAPLACE, GAUSSIAN]),
    "ε by the best accountant": lambda: LAPLACE.epsilon(DELTA, accountant=BEST),
    "δ by the best accountant": lambda: GAUSSIAN.delta(Epsilon(1)),
    "ε by one": lambda: GAUSSIAN.epsilon(DELTA, accountant=RENYI),
    "ε of a plan": lambda: Plan([LAPLACE, GAUSSIAN]).epsilon(DELTA),
    "Rényi": lambda: GAUSSIAN.renyi(Order(4)),
    "trade-off": lambda: GAUSSIAN.trade_off(),
    "certified": lambda: certdp.certificate(GAUSSIAN, GAUSSIAN.epsilon(DELTA)),
    "profile": lambda: SAMPLED.profile,
    "claim": lambda: pure_claim(SAMPLED.on(BALL)),
    "supremum": pure,
    "spent": lambda: PureFilter(Pure(Enclosure.of(9)), relation=ADD_REMOVE, unit=RECORD, domain=BALL).spend(pure()),
    "reading": lambda: PureOdometer(relation=ADD_REMOVE, unit=RECORD, domain=BALL).charge(pure()),
    "keyed": lambda: KEYS,
    "private sample's table": lambda: KEYS.table(5),
    "release": lambda: KEYS.release({"a": 100, "b": 2}),
}
HOLDING: dict[str, Callable[[], Any]] = {
    "losses": lambda: certdp.record_losses(LAPLACE, np.eye(3), at=DELTA),
    "measured": lambda: certdp.record_losses(SAMPLED.on(BALL), np.eye(3)),
    "summary": lambda: certdp.record_losses(LAPLACE, Records.of(np.eye(3)), at=DELTA, into=lambda _: None),
    "history": History,
    "report": lambda: KEYS.report({"a": 100}, KEYS.release({"a": 100})),
    "prepared": lambda: LAPLACE.prepared(np.eye(3)),
    "prepared epochs": lambda: EPOCHS.prepared(np.eye(3)),
    "rows": lambda: Rows(length=1, numbers={"age": np.ones(1)}, codes={}),
}


@pytest.mark.parametrize("make", ANSWERS.values(), ids=ANSWERS)
def test_answers_come_back_as_they_were(make: Callable[[], Any]) -> None:
    made = make()
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made)
    assert repr(again) == repr(made)
    assert again == made


@pytest.mark.parametrize("make", ANSWERS.values(), ids=ANSWERS)
def test_answers_print_within_three_lines(make: Callable[[], Any]) -> None:
    assert len(repr(make())) <= 3 * 80


@pytest.mark.parametrize("name", ["ε of a plan", "Rényi", "supremum", "profile"])
def test_answers_are_tables_in_notebooks(name: str) -> None:
    table = ANSWERS[name]()._repr_html_()
    assert table.startswith("<table><tr><th")
    assert table.count("<tr>") == table.count("</td></tr>") >= 6
    assert "assuming" in table


def test_a_comparison_can_be_asked_for_after_the_journey() -> None:
    made = GAUSSIAN.epsilon(DELTA)
    again = pickle.loads(pickle.dumps(made))
    assert str(again.compared) == str(made.compared)
    assert again.epsilon.upper == made.epsilon.upper < Fraction(10)


@pytest.mark.parametrize("make", HOLDING.values(), ids=HOLDING)
def test_what_holds_private_parts_refuses(make: Callable[[], Any]) -> None:
    with pytest.raises((PrivateValue, SecondAccount), match=r"owner's files|checkpoints"):
        pickle.dumps(make())


def test_what_holds_records_is_not_copied_either() -> None:
    holding = [made for make in HOLDING.values() if isinstance(made := make(), HoldsRecords)]
    for made, leave in product(holding, (copy.copy, copy.deepcopy)):
        with pytest.raises(PrivateValue, match="a copy or pickle of records"):
            leave(made)
    import_all()
    kinds = {kind.__name__ for kind in HoldsRecords.__subclasses__() if kind.__module__.startswith("certdp.")}
    assert kinds == {type(made).__name__ for made in holding}
