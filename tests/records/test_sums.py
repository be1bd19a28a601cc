"""Exact sums over some of the records: they add up to the same however the data are cut, and are released from once."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from certdp import (
    ADD_REMOVE,
    RECORD,
    Coins,
    Count,
    Delta,
    DiscreteGaussian,
    DiscreteLaplace,
    Enclosure,
    FixedBatches,
    Full,
    GaussianSum,
    Importance,
    InvalidType,
    InvalidValue,
    LaplaceSum,
    Ledger,
    LpSum,
    Norm,
    NormBall,
    Outside,
    Poisson,
    Public,
    QuantileChoice,
    RandomisedResponse,
    ResampleEach,
    SampledRun,
    SampleOnce,
    TruncatedPoisson,
    check,
    stated_release,
)
from certdp.accounting.draws.by_name import NamedCoins
from certdp.accounting.stored import packed, unpacked
from certdp.filters import PureFilter
from certdp.guarantees import PrivateValue
from certdp.ledger import UsedBefore
from certdp.mechanisms.lattice import Additive
from certdp.notions import Pure
from certdp.parts import LossesPart, SumPart, merged
from certdp.plugins.forks import can_fork
from certdp.selection import AboveThreshold, ReportNoisyMax
from tests.support.cases import examples

MECHANISMS: dict[str, Any] = {
    "laplace-sum": LaplaceSum(scale=Public(2)),
    "gaussian-sum": GaussianSum(scale=Public("0.1")),
    "lp-sum": LpSum(scale=Public(3)),
    "count": Count(scale=Public(1)),
    "discrete-laplace": DiscreteLaplace(scale=Public(2), granularity=Public("0.01")),
    "discrete-gaussian": DiscreteGaussian(scale=Public(2), granularity=Public("1/3")),
    "quantile-choice": QuantileChoice(quantile=Public("0.5"), scale=Public(2)),
    "above-threshold": AboveThreshold(threshold=Public(9), threshold_scale=Public(2), scale=Public(4)),
    "report-noisy-max": ReportNoisyMax(scale=Public(2), granularity=Public("1/3")),
}
BALL = NormBall(norm=Norm.L1, radius=Public(5))
IMPORTANCE = Importance(rate=Public("0.3"), norm=Public(1), floor=Public("0.01"))


def data() -> Any:
    records = np.random.default_rng(7).normal(size=(60, 3)) * np.logspace(-6, 1, 60)[:, None]
    records[5] = 0
    return records


NAMES = [str(number).encode() for number in range(60)]


def full(name: str = "laplace-sum", **options: Any) -> SampledRun:
    return SampledRun(mechanism=MECHANISMS[name], sampler=Full(), **options)


def totals(part: SumPart) -> Any:
    return part._state.reveal().totals


@pytest.mark.parametrize("outside", Outside)
@pytest.mark.parametrize("name", MECHANISMS)
@examples(100)
@given(
    st.lists(st.integers(0, 60), max_size=8),
    st.lists(st.integers(0, 50), min_size=8, max_size=8),
    st.lists(st.booleans(), min_size=8, max_size=8),
)
def test_totals_do_not_depend_on_the_parts(
    name: str, outside: Outside, cuts: list[int], order: list[int], sent: list[bool]
) -> None:
    run, seed = full(name, domain=BALL), 11
    parts = [SumPart.of(run, data()[a:b], outside) for a, b in pairwise([0, *sorted(cuts), 60])]
    for place, travels in zip(order, sent, strict=True):
        if len(parts) > 1:
            at = place % (len(parts) - 1)
            both = parts[at] + parts[at + 1]
            parts[at : at + 2] = [pickle.loads(pickle.dumps(both)) if travels else both]
    total = reduce(add, parts)
    assert totals(total) == totals(SumPart.of(run, data(), outside))
    found = total.finish(run, Coins.seeded(seed))
    whole = stated_release(run, data(), outside, coins=Coins.seeded(seed))
    assert found.value.tobytes() == whole.value.tobytes()
    assert found.statement == whole.statement


@pytest.mark.parametrize("sampler", [Poisson(rate=Public("0.4")), IMPORTANCE], ids=["poisson", "importance"])
@pytest.mark.parametrize("releases", [SampleOnce(3), ResampleEach(1)], ids=str)
def test_one_part_with_the_same_coins_is_the_release_itself(sampler: Any, releases: Any) -> None:
    run = SampledRun(mechanism=MECHANISMS["laplace-sum"], sampler=sampler, releases=releases, domain=BALL)
    coins = Coins.seeded(5)
    found = SumPart.of(run, data(), coins=coins).finish(run, coins)
    whole = stated_release(run, data(), coins=Coins.seeded(5))
    assert found.value.tobytes() == whole.value.tobytes()
    assert found.value.shape == (releases.steps, 3)
    assert found.statement == whole.statement


@pytest.mark.slow
@pytest.mark.parametrize("parts", [1, 4])
def test_the_law_of_what_is_drawn_does_not_depend_on_the_parts(parts: int) -> None:
    """χ² of how often each record was drawn in two samples of each of 1,000 runs, against its rate; seeds are fixed."""
    rates = np.tile([0.1, 0.3, 0.5, 0.9], 5)
    records = np.diag(rates)  # of which the norm is the rate, and each has a column of its own
    sampler = Importance(rate=Public(1), norm=Public(1))
    run = SampledRun(mechanism=MECHANISMS["discrete-laplace"], sampler=sampler, releases=ResampleEach(2))
    drawn, rounds = np.zeros((2, 20)), 1_000
    both = 0.0
    for seed in range(rounds):
        made = [
            SumPart.of(run, some, coins=Coins.seeded(9_000 * parts + 10 * seed + number))
            for number, some in enumerate(np.array_split(records, parts))
        ]
        found = np.array(totals(merged(made))) != 0
        drawn += found
        both += float((found[0] & found[1]).sum())
    statistic = float(((drawn - rounds * rates) ** 2 / (rounds * rates * (1 - rates))).sum())
    assert 40 - 2 * np.sqrt(40 * 13.9) < statistic < 40 + 2 * np.sqrt(40 * 13.9) + 2 * 13.9  # Laurent, Massart 2000
    squares = rates**2
    assert abs(both - rounds * squares.sum()) < 5.1 * np.sqrt(rounds * (squares * (1 - squares)).sum())  # drawn apart


@pytest.mark.parametrize("outside", Outside)
@pytest.mark.parametrize("domain", [None, BALL])
def test_records_with_names_add_up_to_what_those_without_do(domain: NormBall | None, outside: Outside) -> None:
    run = full(domain=domain)
    named = SumPart.of_units(run, data(), NAMES, NamedCoins.fresh(), outside)
    assert totals(named) == totals(SumPart.of(run, data(), outside))


def test_who_is_drawn_follows_from_the_names_of_the_records_that_are_kept() -> None:
    run, coins = (
        SampledRun(mechanism=MECHANISMS["laplace-sum"], sampler=Poisson(rate=Public("0.5"))),
        NamedCoins.fresh(),
    )
    kept = np.abs(data()).sum(axis=1) <= 5
    assert 0 < kept.sum() < 60
    dropped = SumPart.of_units(run.on(BALL), data(), NAMES, coins, Outside.DROP)
    names = [NAMES[place] for place in np.flatnonzero(kept)]
    assert totals(dropped) == totals(SumPart.of_units(run, data()[kept], names, coins))


def test_a_run_of_several_samples_is_finished() -> None:
    run = full(releases=ResampleEach(2))
    assert len(SumPart.of(run, data()).finish(run).value) == 2


def test_parts_without_records_are_no_copies_of_each_other() -> None:
    coins = NamedCoins.fresh()
    nothing = [SumPart.of_units(full(), data()[:0], [], coins) for _ in range(2)]
    some = SumPart.of_units(full(), data(), NAMES, coins)
    assert totals(nothing[0] + nothing[1] + some) == totals(some)
    with pytest.raises(InvalidValue, match="without common records"):
        _ = some + SumPart.of_units(full(), data(), NAMES, coins)


class TestOnce:
    def test_a_part_is_finished_once(self) -> None:
        run = full()
        part = SumPart.of(run, data())
        copy = SumPart.from_bytes(part.to_bytes())
        sum_of_both = part + SumPart.of(run, data())
        part.finish(run)
        for other in (part, copy, sum_of_both, SumPart.of(run, data()) + copy):
            with pytest.raises(InvalidValue, match="finished before"):
                other.finish(run)

    def test_parts_of_a_sum_that_was_finished(self) -> None:
        run = full()
        one, other = SumPart.of(run, data()), SumPart.of(run, data())
        (one + other).finish(run)
        for part in (one, other):
            with pytest.raises(InvalidValue, match="finished before"):
                part.finish(run)

    def test_a_refusal_leaves_the_part_as_it_was(self) -> None:
        run, other = full(), full("count")
        part = SumPart.of(run, data())
        with pytest.raises(InvalidValue) as caught:
            part.finish(other)
        assert caught.value.parameter == "run"
        with pytest.raises(InvalidType):
            part.finish(run, 7)  # type: ignore[arg-type]
        part.finish(run)

    def test_no_record_counts_twice(self) -> None:
        run = full()
        part = SumPart.of(run, data())
        for other in (part, pickle.loads(pickle.dumps(part)), SumPart.of(run, data()) + part):
            with pytest.raises(InvalidValue, match="common records"):
                _ = part + other

    def test_a_ledger_refuses_a_draw_that_was_paid_for_before(self, tmp_path: Path) -> None:
        run = full()
        rule = PureFilter(Pure(Enclosure.of(10)), relation=ADD_REMOVE, unit=RECORD, domain=BALL)
        ledger = Ledger.create(tmp_path / "a.ledger", rule, data="records")
        within = full(domain=BALL)
        one, other, third = (SumPart.of(within, data()) for _ in range(3))
        cost = rule.cost_of(within)
        assert SumPart.from_bytes((other + one).to_bytes()).draws == (one + other).draws
        assert set((one + other).draws) == {*one.draws, *other.draws}
        assert len({*one.draws, *other.draws, *third.draws}) == 3
        ledger.pay(cost, request="sum", uses=(one + other).draws)
        for again in (one, other, other + third):
            with pytest.raises(UsedBefore):
                ledger.pay(cost, request="again", uses=again.draws)
        assert ledger.pay(cost, request="again", uses=third.draws).new
        assert ledger.number == 2
        assert SumPart.of(run, data()).draws != SumPart.of(run, data()).draws


def in_a_fork(work: Callable[[], object]) -> str:
    """What becomes of work in a forked process: the type of its error or of its result."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()

    def send_result() -> None:
        try:
            theirs.send(type(work()).__name__)
        except InvalidValue as error:
            theirs.send(type(error).__name__)

    process = context.Process(target=send_result)
    process.start()
    try:
        return str(ours.recv())
    finally:
        process.join()


@pytest.mark.skipif(not can_fork(), reason="this system cannot fork")
class TestForks:
    def test_do_not_finish_what_was_made_before(self) -> None:
        run = full()
        part = SumPart.of(run, data())
        assert in_a_fork(lambda: part.finish(run)) == "SecondAccount"
        assert in_a_fork(lambda: (part + SumPart.of(run, data())).finish(run)) == "SecondAccount"
        assert in_a_fork(lambda: merged([SumPart.of(run, data()), part]).finish(run)) == "SecondAccount"
        assert part.finish(run).value.shape == (1, 3)

    def test_finish_what_they_made_or_were_sent(self) -> None:
        run = full()
        sent = SumPart.of(run, data()).to_bytes()
        assert in_a_fork(lambda: SumPart.of(run, data()).finish(run)) == "StatedRelease"
        assert in_a_fork(lambda: SumPart.from_bytes(sent).finish(run)) == "StatedRelease"


def test_a_part_with_the_facts_of_another_run() -> None:
    """Facts are text that the owner could exchange; the number of sums tells."""
    part, run = SumPart.of(full(), data()), full("count")
    stated, arrays = unpacked(part.form, part.to_bytes())
    facts = unpacked(part.form, SumPart.of(run, data()).to_bytes())[0]["facts"]
    forged = SumPart.from_bytes(packed(part.form, {**stated, "facts": facts}, arrays))
    with pytest.raises(InvalidValue, match="another number of sums"):
        forged.finish(run)


def test_a_release_of_parts_has_the_certificate_of_the_run() -> None:
    run = SampledRun(mechanism=MECHANISMS["laplace-sum"], sampler=IMPORTANCE, domain=BALL)
    released = merged(SumPart.of(run, some) for some in np.array_split(data(), 3)).finish(run)
    assert released.statement.coins == "operating system"
    assert check(released.certificate("sum.npy", run.epsilon(Delta("1e-6")))).outcome.value == "holds"


ORDER = "first", "second"


@pytest.mark.parametrize("seeded", ["first draw", "second draw", "noise"])
def test_one_seed_makes_a_seeded_release(seeded: str) -> None:
    run, seed = full(), Coins.seeded(1)
    first, second = (SumPart.of(run, data(), coins=seed if seeded == f"{one} draw" else None) for one in ORDER)
    part = first + second
    found = pickle.loads(pickle.dumps(part)).finish(run, seed if seeded == "noise" else None)
    assert found.statement.coins == "seeded"
    with pytest.raises(InvalidValue, match="seeded"):
        found.certificate("sum.npy")


def test_no_records_are_an_output_like_any_other() -> None:
    for name in MECHANISMS:
        run = full(name)
        found = SumPart.of(run, np.empty((0, 3))).finish(run)
        assert np.isfinite(found.value).all()
        assert found.value.shape == stated_release(run, data()).value.shape


class TestRefusals:
    def test_a_mechanism_without_sums(self) -> None:
        run = SampledRun(mechanism=RandomisedResponse(epsilon=Public(1), categories=Public(3)), sampler=Full())
        assert not isinstance(run.mechanism, Additive)
        with pytest.raises(InvalidValue, match="exact sums"):
            SumPart.of(run, data())

    @pytest.mark.parametrize("at_most", [False, True])
    def test_records_that_are_drawn_together(self, at_most: bool) -> None:
        """Each part would keep as many as the whole may, and names would draw records one by one."""
        kept = TruncatedPoisson(
            rate=Public("0.5"), batch_size=Public(1), data_size=Public(len(data())), at_most=Public(at_most)
        )
        for sampler in (kept, FixedBatches(rate=Public(1))):
            run = SampledRun(mechanism=full().mechanism, sampler=sampler, domain=full().domain)
            names = [str(number).encode() for number in range(len(data()))]
            with pytest.raises(InvalidValue, match="draws each record by itself"):
                SumPart.of(run, data())
            with pytest.raises(InvalidValue, match="draws each record by itself"):
                SumPart.of_units(run, data(), names, NamedCoins.fresh())

    @pytest.mark.parametrize(
        ("parameter", "make"),
        [
            ("run", lambda: SumPart.of(full("count"), data())),
            ("columns", lambda: SumPart.of(full(), np.ones((2, 2)))),
            ("outside", lambda: SumPart.of(full(), data(), Outside.DROP)),
        ],
    )
    def test_parts_that_differ(self, parameter: str, make: Callable[[], SumPart]) -> None:
        with pytest.raises(InvalidValue) as caught:
            _ = SumPart.of(full(), data()) + make()
        assert caught.value.parameter == parameter

    def test_parts_of_another_number_of_sums(self) -> None:
        part = SumPart.of(full(), data())
        stated, arrays = unpacked(part.form, part.to_bytes())
        numbers = stated["numbers"] | {"totals": [[*stated["numbers"]["totals"][0], "0x0"]]}
        more = SumPart.from_bytes(packed(part.form, {**stated, "numbers": numbers}, arrays))
        with pytest.raises(InvalidValue, match="parts of one run"):
            _ = SumPart.of(full(), data()) + more

    @pytest.mark.parametrize(
        "make",
        [
            lambda run: SumPart.of(run, data()),
            lambda run: SumPart.of_units(run, data(), NAMES, NamedCoins.fresh()),
        ],
    )
    def test_what_is_no_run(self, make: Callable[[Any], SumPart]) -> None:
        with pytest.raises(InvalidType, match=r"^run: got .* Build one: SampledRun"):
            make(full().mechanism)

    def test_what_is_no_option(self) -> None:
        outside: Any = "clip"
        with pytest.raises(InvalidType, match="outside"):
            SumPart.of(full(), data(), outside)
        coins: Any = Coins.seeded(1)
        with pytest.raises(InvalidType, match="coins"):
            SumPart.of_units(full(), data(), NAMES, coins)

    def test_names_that_are_not_one_for_each_record(self) -> None:
        for names in (NAMES[1:], [*NAMES, b"one more"]):
            with pytest.raises(InvalidValue, match="one for each record"):
                SumPart.of_units(full(), data(), names, NamedCoins.fresh())

    def test_another_kind_of_part(self) -> None:
        with pytest.raises(InvalidType):
            _ = SumPart.of(full(), data()) + LossesPart.of(full(), data())  # type: ignore[operator]
        with pytest.raises(InvalidValue, match="the form"):
            SumPart.from_bytes(LossesPart.of(full(), data()).to_bytes())

    @pytest.mark.parametrize("rows", [None, 7])
    def test_sums_beyond_binary64(self, rows: int | None) -> None:
        records = np.ones((60, 1))
        records[50] = 1e308
        with pytest.raises(InvalidValue, match="beyond binary64"):
            SumPart.of(full(), records, rows=rows)
        seldom = SampledRun(mechanism=full().mechanism, sampler=Poisson(rate=Public("1e-12")))
        with pytest.raises(InvalidValue, match="beyond binary64"):
            SumPart.of_units(seldom, records, NAMES, NamedCoins.fresh())

    def test_its_text_shows_nothing(self) -> None:
        part = SumPart.of(full(), data())
        assert str(part) == repr(part) == "SumPart(…)"
        with pytest.raises(PrivateValue):
            pickle.dumps(part._state)
