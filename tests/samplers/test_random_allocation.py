"""Random allocation: its options, and the law of its batches as a run draws them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import certdp
from certdp import (
    REPLACE,
    AllocatedRun,
    Full,
    GaussianSum,
    LaplaceSum,
    NormBall,
    Plan,
    Poisson,
    Public,
    RandomAllocation,
    ResampleEach,
    SampledRun,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.provenance import Released
from certdp.accounting.sampling.epochs import Allocation
from certdp.guarantees import ZERO_OUT
from certdp.plugins.conformance import check
from certdp.plugins.contract import AllocatingSampler, Coins, Release, Sampler, WeightedSample
from certdp.runs.certificates import certificate

MECHANISM = GaussianSum(noise_multiplier=Public(1))


def test_it_is_no_sampler_that_states_a_rate() -> None:
    sampler = RandomAllocation(batches=Public("8"))
    assert isinstance(sampler, AllocatingSampler)
    assert not isinstance(sampler, Sampler)
    assert sampler.epoch.number_of_batches == 8


@pytest.mark.parametrize("batches", ["0", "-1", "1.5", "nan", "many"])
def test_batches_are_a_whole_number(batches: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        RandomAllocation(batches=Public(batches))
    assert refused.value.parameter in ("batches", "parameter")


def test_a_sampled_run_says_which_run_takes_it() -> None:
    with pytest.raises((InvalidType, InvalidValue)) as refused:
        SampledRun(mechanism=MECHANISM, sampler=RandomAllocation(batches=Public(8)))  # type: ignore[arg-type]
    assert refused.value.parameter == "sampler"
    with pytest.raises(InvalidType):
        AllocatedRun(mechanism=MECHANISM, sampler=Poisson(rate=Public("0.1")))  # type: ignore[arg-type]


def test_more_batches_than_are_proven_are_refused() -> None:
    with pytest.raises(InvalidValue) as refused:
        AllocatedRun(mechanism=MECHANISM, sampler=RandomAllocation(batches=Public(2**20 + 1)))
    assert refused.value.parameter == "batches"


@pytest.mark.parametrize("participations", ["0", "9", "1.5", "nan", "some"])
def test_participations_are_from_one_to_all_batches(participations: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        RandomAllocation(batches=Public(8), participations=Public(participations))
    assert refused.value.parameter in ("participations", "parameter")


def test_participations_are_public_and_one_unless_given() -> None:
    payment = SampledRun(mechanism=MECHANISM, sampler=Full()).gaussian()
    with pytest.raises(InvalidValue, match="participations"):
        RandomAllocation(batches=Public(8), participations=Released(Fraction(3), payment))
    assert RandomAllocation(batches=Public(8)).epoch == Allocation(8, 1)
    assert RandomAllocation(batches=Public(8), participations=Public(8)).epoch.number_of_participations == 8


@pytest.mark.parametrize("epochs", [0, -3])
def test_there_is_at_least_one_epoch(epochs: int) -> None:
    with pytest.raises(InvalidValue):
        AllocatedRun(mechanism=MECHANISM, sampler=RandomAllocation(batches=Public(2)), epochs=epochs)


def drawn(batches: int, epochs: int, records: int, seed: int, participations: int = 1) -> list[list[list[int]]]:
    """The numbers of the records in each batch of each epoch, as the mechanism is given them."""
    seen: list[list[int]] = []
    mechanism = LaplaceSum(scale=Public(1))

    def keep(self: LaplaceSum, sample: WeightedSample, coins: Coins) -> Release:
        seen.append([int(row[0]) for row in sample.records])
        assert (sample.weights == 1).all()
        return np.asarray(sample.records.sum(axis=0), dtype=np.float64)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LaplaceSum, "release", keep)
        sampler = RandomAllocation(batches=Public(batches), participations=Public(participations))
        run = AllocatedRun(mechanism=mechanism, sampler=sampler, epochs=epochs)
        released = run.release(np.arange(records, dtype=float)[:, None], coins=Coins.seeded(seed))
    assert [len(epoch) for epoch in released] == [batches] * epochs
    return [seen[start : start + batches] for start in range(0, len(seen), batches)]


def test_each_record_enters_one_batch_of_each_epoch() -> None:
    epochs = drawn(7, 3, 50, seed=1)
    assert len(epochs) == 3
    for epoch in epochs:
        assert sorted(number for batch in epoch for number in batch) == list(range(50))
        assert all(batch == sorted(batch) for batch in epoch)
    assert epochs[0] != epochs[1]


def test_each_record_enters_several_batches_of_each_epoch() -> None:
    epochs = drawn(7, 2, 50, seed=1, participations=3)
    for epoch in epochs:
        assert sorted(number for batch in epoch for number in batch) == sorted(3 * [*range(50)])
        assert all(batch == sorted(set(batch)) for batch in epoch)
    assert epochs[0] != epochs[1]


def test_empty_batches_are_released_on() -> None:
    (epoch,) = drawn(40, 1, 3, seed=2)
    assert sum(not batch for batch in epoch) >= 37


def test_no_records_at_all_are_released_on() -> None:
    (epoch,) = drawn(4, 1, 0, seed=3)
    assert epoch == [[], [], [], []]


def test_batches_are_drawn_uniformly_and_apart() -> None:
    """The four places of two records among two batches, each within five standard deviations of a quarter."""
    counts = np.zeros((2, 2))
    for epoch in drawn(2, 4000, 2, seed=4):
        where = [next(place for place, batch in enumerate(epoch) if number in batch) for number in range(2)]
        counts[where[0], where[1]] += 1
    assert (np.abs(counts / 4000 - 0.25) < 5 * np.sqrt(0.25 * 0.75 / 4000)).all()


def test_an_epoch_of_one_batch_is_a_release_on_everything() -> None:
    run = AllocatedRun(mechanism=MECHANISM, sampler=RandomAllocation(batches=Public(1)), epochs=3)
    other = SampledRun(mechanism=MECHANISM, sampler=Full(), releases=ResampleEach(3))
    assert run.epsilon("1e-5").epsilon == other.epsilon("1e-5").epsilon


def test_a_record_in_every_batch_is_in_as_many_releases() -> None:
    sampler = RandomAllocation(batches=Public(4), participations=Public(4))
    run = AllocatedRun(mechanism=MECHANISM, sampler=sampler, epochs=2)
    other = SampledRun(mechanism=MECHANISM, sampler=Full(), releases=ResampleEach(8))
    assert run.epsilon("1e-5").epsilon == other.epsilon("1e-5").epsilon


def test_the_gap_of_several_batches_is_told() -> None:
    ball = NormBall(norm=Norm.L1, radius=Public(1))
    sampler = RandomAllocation(batches=Public(4), participations=Public(3))
    run = AllocatedRun(mechanism=MECHANISM, sampler=sampler)
    whole = AllocatedRun(mechanism=MECHANISM, sampler=RandomAllocation(batches=Public(4), participations=Public(4)))
    answer = run.epsilon("1e-5").epsilon
    assert answer.lower is not None
    assert 0 < answer.lower < answer.upper < whole.epsilon("1e-5").epsilon.upper
    assert "4 releases, each record in 3 of them" in str(run)
    assert run.pair_of_one(Fraction(1)) is None
    assert whole.pair_of_one(Fraction(1)) is not None
    other = AllocatedRun(mechanism=LaplaceSum(scale=Public(1)), sampler=sampler, domain=ball)
    assert other.epsilon("1e-5").epsilon.lower is None
    assert float(other.pure().bound.epsilon.upper) == 3


def test_what_a_domain_bounds_is_accounted_for() -> None:
    ball = NormBall(norm=Norm.L1, radius=Public(2))
    sampler = RandomAllocation(batches=Public(10))
    run = AllocatedRun(mechanism=LaplaceSum(scale=Public(2)), sampler=sampler, domain=ball)
    answer = run.epsilon("1e-3")
    assert answer.epsilon.lower is not None
    assert answer.epsilon.upper < 1
    assert answer.epsilon.upper - answer.epsilon.lower < 1e-3 * answer.epsilon.upper
    assert float(run.pure().bound.epsilon.upper) == 1
    with pytest.raises(InvalidValue):
        _ = AllocatedRun(mechanism=LaplaceSum(scale=Public(2)), sampler=sampler).epsilon("1e-6")
    assert "1 epoch of 10 releases" in str(run)


@pytest.mark.slow
def test_a_record_that_is_zeroed_out_costs_what_a_removed_one_does() -> None:
    run = AllocatedRun(mechanism=MECHANISM, sampler=RandomAllocation(batches=Public(4)))
    zeroed = AllocatedRun(mechanism=MECHANISM, sampler=run.sampler, relation=ZERO_OUT)
    answer = zeroed.epsilon("1e-5")
    assert answer.epsilon == run.epsilon("1e-5").epsilon
    found = certificate(zeroed, answer)
    assert answer.epsilon.upper <= found.epsilon <= answer.epsilon.upper * 1.001
    claim = certdp.check(found.content).claim
    assert claim is not None
    assert claim.relation == "zero-out"
    with pytest.raises(InvalidValue, match="add-remove or zero-out"):
        AllocatedRun(mechanism=MECHANISM, sampler=run.sampler, relation=REPLACE)


@pytest.mark.slow
def test_epochs_are_parts_of_a_plan_and_have_a_certificate() -> None:
    run = AllocatedRun(mechanism=MECHANISM, sampler=RandomAllocation(batches=Public(4)), epochs=2)
    beside = SampledRun(mechanism=MECHANISM, sampler=Poisson(rate=Public("0.1")))
    plan = Plan([run, beside])
    answer = plan.epsilon("1e-5")
    assert answer.epsilon.lower is not None
    assert answer.epsilon.lower > run.epsilon("1e-5").epsilon.upper
    found = certificate(plan, answer)
    assert answer.epsilon.upper <= found.epsilon <= answer.epsilon.upper * 1.001


def test_it_keeps_the_laws_of_its_kind() -> None:
    assert check(RandomAllocation).passed
