"""What takes a ledger: each draw is paid before it, once under an id, with a digest of what is released."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve, frozen

from certdp import ADD_REMOVE, ELEMENT, RECORD, BudgetExceeded, Coins, Ledger, Public, SampledRun
from certdp import queries as q
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.filters import ApproximateFilter, PureFilter
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Approximate, Pure
from certdp.accounting.sampling.domains import NormBall
from certdp.ledger import LedgerRequest, OutputLost, PaidFrom, ReleasedBefore, RequestState, SameRequest, UsedBefore
from certdp.ledger.entries import Entry, Event
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.runs.adaptive import AdaptiveRun
from certdp.runs.digests import domain_to_json, plan_digest
from certdp.runs.partial import run_digest
from certdp.runs.plan import Plan
from certdp.samplers.full import Full
from certdp.samplers.ppswor import Ppswor
from certdp.weighted_sampling.counts import KeyCounts
from certdp.weighted_sampling.release import PrivateWeightedSampling
from certdp.weighted_sampling.threshold_samples import ThresholdSample, threshold_sample
from tests.support.ledgers import cost, number

POINTS = np.random.default_rng(0).uniform(-0.5, 0.5, (60, 2))
BALL = NormBall(norm=Norm.L2, radius=Public(1), dimension=2)
COUNTS = {f"k{n}": 1 + n % 20 for n in range(300)}


def pure(unit: Any = RECORD, domain: Any = None) -> PureFilter[Any, Any]:
    return PureFilter(Pure(number(2)), relation=ADD_REMOVE, unit=unit, domain=domain)


def of_elements() -> ApproximateFilter[Any, Any]:
    return ApproximateFilter(Approximate(number(2), number("0.01")), relation=ADD_REMOVE, unit=ELEMENT)


def keys() -> PrivateWeightedSampling:
    return PrivateWeightedSampling.within(epsilon=1, delta="0.001", sampler=Ppswor(threshold=Public("0.1")))


def laplace(scale: Any = 1) -> SampledRun[Any]:
    domain = NormBall(norm=Norm.L1, radius=Public(1))
    return SampledRun(mechanism=LaplaceSum(scale=Public(scale)), sampler=Full(), domain=domain)


def centres(ledger: PaidFrom, coins: Coins | None = None) -> Any:
    from certdp.clustering import DPKMeans

    seed = None if coins is None else 1
    return DPKMeans(n_clusters=2, epsilon=1, radius=1, ledger=ledger, random_state=seed).fit(POINTS)


def released_keys(ledger: PaidFrom, coins: Coins | None = None) -> Any:
    return keys().release(COUNTS, coins, ledger=ledger)


def step(ledger: PaidFrom, coins: Coins | None = None) -> Any:
    if isinstance(ledger, LedgerRequest):
        return AdaptiveRun(ledger=ledger.ledger).release(laplace(), POINTS, coins=coins, request=ledger.request)
    return AdaptiveRun(ledger=ledger).release(laplace(), POINTS, coins=coins)


@frozen
class Taking:
    """Something that takes a ledger: the rule of one that covers it twice, and a release."""

    rule: Callable[[], Any]
    release: Callable[..., Any]


TAKING = {
    "DPKMeans": Taking(lambda: pure(domain=BALL), centres),
    "release of keys": Taking(of_elements, released_keys),
    "step of an adaptive run": Taking(lambda: pure(domain=NormBall(norm=Norm.L1, radius=Public(1))), step),
}


@pytest.fixture(params=TAKING)
def taking(request: pytest.FixtureRequest) -> Taking:
    return TAKING[request.param]


@pytest.fixture
def ledger(taking: Taking, tmp_path: Path) -> Ledger:
    return Ledger.create(tmp_path / "a.ledger", taking.rule(), data="people")


def entries(ledger: Ledger) -> list[Entry]:
    return [entry for body, _ in ledger._log() if (entry := Entry.read(body)).event is not Event.OPENED]


@pytest.mark.filterwarnings("ignore::certdp.clustering.NotPrivate")
def test_each_draw_is_paid_until_nothing_is_left(taking: Taking, ledger: Ledger) -> None:
    taking.release(ledger)
    with pytest.raises(InvalidValue, match="private run"):
        taking.release(ledger, Coins.seeded(1))
    assert ledger.number == 1
    taking.release(ledger)
    with pytest.raises(BudgetExceeded):
        taking.release(ledger)
    first, second = entries(ledger)
    assert first.content["plan"] == second.content["plan"]
    assert first.content["plan"].startswith("sha256:")
    assert first.content["unit"]["name"] == ledger.rule.unit.name
    assert first.content["relation"] == "add-remove"
    assert first.content["request"] != second.content["request"]
    assert ledger.verify().sound


def test_under_an_id_nothing_is_drawn_twice(taking: Taking, ledger: Ledger) -> None:
    request = LedgerRequest(ledger, "one", by="ann")
    taking.release(request)
    for again in (request, copy.deepcopy(request), LedgerRequest(ledger, "one")):
        with pytest.raises(OutputLost, match="never drawn again"):
            taking.release(again)
    assert ledger.number == 1


def test_what_was_handed_in_is_found(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", of_elements(), data="people")
    request = LedgerRequest(ledger, "keys")
    with pytest.raises(OutputLost):
        request.hand_in(b"nothing was paid")
    sample = keys().release(COUNTS, ledger=request)
    request.hand_in(repr(sample).encode())
    assert request.handed_in
    with pytest.raises(ReleasedBefore):
        keys().release(COUNTS, ledger=LedgerRequest(ledger, "keys"))
    other = PrivateWeightedSampling.within(epsilon="0.5", delta="0.001")
    with pytest.raises(SameRequest):
        other.release(COUNTS, ledger=LedgerRequest(ledger, "keys"))
    assert ledger.output("keys").content == repr(sample).encode()


def test_the_certificate_of_centres_is_kept(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", pure(domain=BALL), data="people")
    model = centres(ledger)
    (entry,) = entries(ledger)
    with ledger._store.reading() as execute:
        (kept,) = execute("SELECT content FROM ledger_contents WHERE digest = ?", (entry.content["certificate"],))
    assert kept[0] == model.certificate_


def test_queries_name_the_plan_that_they_asked(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", q.Account.of(1, 0, RECORD).filter, data="people")
    table = q.table({"age": [31, 44, 59, 20] * 50}, [q.Column("age", 0, 120)], epsilon=1, ledger=ledger)
    results = [table.release(q.count(), epsilon=e) for e in ("0.25", "0.25", "0.125")]
    stated = [entry.content["plan"] for entry in entries(ledger)]
    assert stated == [plan_digest(one.plan) for one in results]
    assert stated[0] == stated[1] != stated[2]
    with pytest.raises(InvalidValue, match="private run"):
        table.release(q.count(), epsilon="0.1", coins=Coins.seeded(1))
    assert ledger.number == 3


def test_a_digest_tells_every_constant_apart() -> None:
    plans: list[Any] = [
        laplace(),
        laplace(2),
        Plan([laplace(), laplace()]),
        SampledRun(
            mechanism=laplace().mechanism, sampler=Full(), domain=BALL.__class__(norm=Norm.L1, radius=Public(2))
        ),
        keys().accounted,
    ]
    assert len({plan_digest(one) for one in plans}) == len(plans)
    assert plan_digest(laplace()) == plan_digest(Plan([laplace()])) == plan_digest(laplace("1.0"))
    assert plan_digest(keys().accounted, contributions=3) != plan_digest(keys().accounted, contributions=4)


def test_adaptive_runs_of_one_ledger_have_one_account(tmp_path: Path) -> None:
    rule = pure(domain=NormBall(norm=Norm.L1, radius=Public(1)))
    ledger = Ledger.create(tmp_path / "a.ledger", rule, data="people")
    first, second = AdaptiveRun(ledger=ledger), AdaptiveRun(ledger=Ledger(ledger.place))
    assert str(first.pay(laplace(), request="one")).startswith("cost 1: ε ≤ 1.0")
    assert second.would_exceed(laplace("0.9")).name == "TRUE"
    second.release(laplace(), POINTS)
    with pytest.raises(BudgetExceeded):
        first.release(laplace(), POINTS)
    assert first.guarantee == second.guarantee == ledger.guarantee
    assert first.filter.number == 0
    with pytest.raises(InvalidValue, match="without a ledger"):
        AdaptiveRun(pure()).pay(laplace(), request="one")
    with pytest.raises(InvalidValue, match="The ledger has its own"):
        AdaptiveRun(pure(), ledger=ledger)  # type: ignore[call-overload]
    with pytest.raises(InvalidType):
        LedgerRequest(ledger.place, "one")  # type: ignore[arg-type]
    assert cost(Pure(number(1))).bound == first.cost(laplace()).bound


def test_a_draw_of_keys_is_sanitised_once(tmp_path: Path) -> None:
    """Two results from one sample share its coins: a ledger would add up what does not add up."""
    ledger = Ledger.create(tmp_path / "a.ledger", of_elements(), data="people")
    east, west = (threshold_sample([KeyCounts.of({key: 10_000})], keys().sampler) for key in ("east", "west"))
    sampling = PrivateWeightedSampling.within(epsilon="0.5", delta="0.0001", sampler=keys().sampler)
    sampling.sanitise(east, ledger=ledger)
    for again in (east, east + west, pickle.loads(pickle.dumps(east)), written(east, tmp_path / "east.csv")):
        with pytest.raises(UsedBefore, match="Nothing was spent"):
            sampling.sanitise(again, ledger=ledger)
    assert ledger.number == 1
    sampling.sanitise(west + threshold_sample([], keys().sampler), ledger=LedgerRequest(ledger, "west"))
    assert ledger.verify().sound
    anew = threshold_sample([KeyCounts.of({"east": 10_000})], keys().sampler)
    assert anew.draws != east.draws
    sampling.sanitise(anew, ledger=ledger)
    assert ledger.number == 3


def test_a_sample_without_names_takes_no_ledger(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", of_elements(), data="people")
    unnamed = evolve(threshold_sample([KeyCounts.of(COUNTS)], keys().sampler), draws=())
    with pytest.raises(InvalidValue, match="draw it anew"):
        keys().sanitise(unnamed, ledger=ledger)
    more = threshold_sample([KeyCounts.of({"another": 10_000})], keys().sampler)
    for merged in (unnamed + more, more + unnamed):
        with pytest.raises(InvalidValue, match="draw it anew"):
            keys().sanitise(merged, ledger=ledger)
    assert ledger.number == 0
    assert len(keys().sanitise(unnamed)) <= len(COUNTS)


def written(sample: ThresholdSample, path: Path) -> ThresholdSample:
    sample.write(path)
    return ThresholdSample.read(path)


def test_a_pickled_estimator_can_neither_pay_nor_hand_in(tmp_path: Path) -> None:
    """A model is published: with it nobody hands in an output, and nobody fits what was not paid."""
    from sklearn.base import clone

    ledger = Ledger.create(tmp_path / "a.ledger", pure(domain=BALL), data="people")
    request = LedgerRequest(ledger, "centres")
    model = centres(request)
    content = pickle.dumps(model)
    assert str(tmp_path).encode() not in content
    for again in (pickle.loads(content), copy.deepcopy(model), copy.copy(model)):
        assert np.array_equal(again.predict(POINTS), model.predict(POINTS))
        assert not isinstance(again.ledger, Ledger | LedgerRequest)
        with pytest.raises(InvalidValue, match="State it anew"):
            again.fit(POINTS)
        cloned: Any = clone(again)
        with pytest.raises(InvalidValue, match="State it anew"):
            cloned.fit(POINTS)
    assert (ledger.number, ledger.state("centres")) == (1, RequestState.BEGUN)
    again.set_params(ledger=LedgerRequest(ledger, "more")).fit(POINTS)
    request.hand_in(b"centres")
    assert (ledger.number, ledger.output("centres").content) == (2, b"centres")


def test_a_clone_of_an_estimator_pays(tmp_path: Path) -> None:
    from sklearn.base import clone

    ledger = Ledger.create(tmp_path / "a.ledger", pure(domain=BALL), data="people")
    cloned: Any = clone(centres(ledger))
    cloned.fit(POINTS)
    assert ledger.number == 2


def test_copies_of_a_request_hand_nothing_in(tmp_path: Path) -> None:
    ledger = Ledger.create(tmp_path / "a.ledger", of_elements(), data="people")
    request = LedgerRequest(ledger, "keys", by="ann")
    keys().release(COUNTS, ledger=request)
    assert request._payment is not None
    assert request._payment.attempt.encode() not in pickle.dumps(request)
    for again in (pickle.loads(pickle.dumps(request)), copy.deepcopy(request), copy.copy(request)):
        assert (again.ledger.place, again.request, again.by) == (ledger.place, "keys", "ann")
        with pytest.raises(OutputLost):
            again.hand_in(b"something else")
    assert copy.copy(ledger) is copy.deepcopy(ledger) is ledger
    request.hand_in(b"this")
    assert ledger.output("keys").content == b"this"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            NormBall(norm=Norm.L1, radius=Public(f"1.{'1' * 40}")),
            NormBall(norm=Norm.L1, radius=Public(f"1.{'1' * 39}2")),
        ),
        (NormBall(norm=Norm.L1, radius=Public(1)), NormBall(norm=Norm.L1, radius=Public(1), dimension=2)),
        (
            NormBall(norm=Norm("3/2"), radius=Public(1), dimension=2),
            NormBall(norm=Norm(f"1.5{'0' * 40}1"), radius=Public(1), dimension=2),
        ),
        (NormBall(norm=Norm.L1, radius=Public(1)), None),
    ],
    ids=["radius", "dimension", "norm", "no domain"],
)
def test_digests_tell_domains_apart_exactly(one: NormBall, other: NormBall | None) -> None:
    assert domain_to_json(one) != domain_to_json(other)
    first = SampledRun(mechanism=laplace().mechanism, sampler=Full(), domain=one)
    second = SampledRun(mechanism=laplace().mechanism, sampler=Full(), domain=other)
    assert plan_digest(first) != plan_digest(second)
    assert run_digest(first) != run_digest(second)


def test_a_fit_with_another_centre_is_another_request(tmp_path: Path) -> None:
    from certdp.clustering import DPKMeans

    ledger = Ledger.create(tmp_path / "a.ledger", pure(domain=BALL), data="people")
    centres(LedgerRequest(ledger, "one"))
    others: list[dict[str, Any]] = [{"centre": [0, 2.0**-60]}, {"outside": "drop"}]
    for other in others:
        fit = DPKMeans(n_clusters=2, epsilon=1, radius=1, ledger=LedgerRequest(ledger, "one"), **other)
        with pytest.raises(SameRequest):
            fit.fit(POINTS)
    assert ledger.number == 1
