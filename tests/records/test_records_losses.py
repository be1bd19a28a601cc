"""Losses per record of releases on samples, for the data's owner."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from certdp.accounting.accountants import BEST, GAUSSIAN_DP, RENYI, BestAccountant, WorstPairs, renyi_at
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.pairs import GaussianPair
from certdp.accounting.provenance import Private, Public
from certdp.accounting.relations import User
from certdp.accounting.sampling.clipping import Outside
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import Releases, ResampleEach, SampleOnce
from certdp.accounting.units import Delta, Order
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.records.losses import record_losses
from certdp.records.weights import record_weights
from certdp.runs.sampled import SampledRun
from certdp.samplers.fixed_batches import FixedBatches
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson
from certdp.samplers.truncated_poisson import TruncatedPoisson

BALL = NormBall(norm=Norm.L2, radius=Public("2"), dimension=3)
RECORDS = np.random.default_rng(4).normal(size=(40, 3))
SAMPLER = Importance(rate=Public("0.4"), norm=Public("2"), floor=Public("0.05"))

IN_BULK = BestAccountant((GAUSSIAN_DP, RENYI))


def runs(plan: Releases) -> SampledRun:
    return SampledRun(mechanism=GaussianSum(scale=Public("3")), sampler=SAMPLER, releases=plan, domain=BALL)


@pytest.mark.slow
@pytest.mark.parametrize("plan", [SampleOnce(1), SampleOnce(3), ResampleEach(1), ResampleEach(3)])
def test_each_record_is_bounded(plan: Releases) -> None:
    releases = runs(plan)
    epsilon = record_losses(releases, RECORDS, at=Delta("1e-6")).reveal()
    tau = record_losses(releases, RECORDS, at=Order(4)).reveal()
    norms = np.minimum(np.linalg.norm(RECORDS, axis=1), 2.0)
    rates = np.clip(0.4 * norms, 0.05, 1.0)
    for index in range(0, 40, 7):
        q, s = float(rates[index]), float(norms[index] / rates[index] / 3)
        pair = plan.pair(GaussianPair(Enclosure.of(s)), Enclosure.of(q))
        alone = pair.releases == ((pair, 1),)  # several releases compose by μ or Rényi losses in bulk
        known = (BEST if alone else IN_BULK).epsilon(WorstPairs((pair,), ()), Enclosure.of("1e-6"))
        law = renyi_at(Fraction(4))(pair)
        assert known is not None
        assert law is not None
        assert epsilon.values[index] == pytest.approx(float(known.bounds.enclosure.upper), rel=0.02)
        assert tau.values[index] == pytest.approx(law.upper_float, rel=1e-9)
    accountant = BEST if plan.steps == 1 or plan == SampleOnce(3) else IN_BULK
    guarantee, worst = releases.epsilon(Delta("1e-6"), accountant=accountant), releases.renyi(Order(4))
    assert epsilon.largest <= guarantee.epsilon.upper * 1.02
    assert tau.largest <= worst.bound.tau.upper_float * (1 + 1e-9)
    assert tau.records == 40
    assert tau.outside == int(np.sum(np.linalg.norm(RECORDS, axis=1) > 2.0))
    low, high = tau.expected_sample_size
    assert low <= rates.sum() * (1 + 1e-12)
    assert rates.sum() <= high * (1 + 1e-12)


def test_at_delta_zero_the_pure_loss_returns() -> None:
    laplace = LaplaceSum(scale=Public("2"))
    sampler = Importance(rate=Public("0.4"), norm=Public("1"), floor=Public("0.05"))
    ball = NormBall(norm=Norm.L1, radius=Public("2"), dimension=3)
    releases = SampledRun(mechanism=laplace, sampler=sampler, domain=ball)
    found = record_losses(releases, RECORDS, at=Delta(0)).reveal()
    known = record_losses(releases, RECORDS).reveal()
    assert np.array_equal(found.values, known.values)
    assert found.expected_sample_size == known.expected_sample_size
    assert (found.records, found.outside, found.quantiles) == (known.records, known.outside, known.quantiles)
    some = record_losses(releases, RECORDS, at=Delta("1e-3")).reveal()
    assert np.all(some.values < known.values)


def test_it_is_private_and_does_not_depend_on_threads() -> None:
    releases = runs(ResampleEach(2))
    one = record_losses(releases, RECORDS, at=Delta("1e-6"))
    assert isinstance(one, Private)
    assert np.array_equal(
        one.reveal().values, record_losses(releases, RECORDS, at=Delta("1e-6"), threads=2).reveal().values
    )
    seen: list[int] = []
    dropped = record_losses(releases, RECORDS, Outside.DROP, at=Order(2), progress=seen.append).reveal()
    assert seen == [40]
    assert len(dropped.values) == 40
    assert np.count_nonzero(dropped.values == 0) == dropped.outside > 0


def test_a_record_that_is_never_drawn_loses_nothing() -> None:
    releases = SampledRun(
        mechanism=GaussianSum(scale=Public("3")),
        sampler=Importance(rate=Public("0.4"), norm=Public("2"), floor=Public("0.05")),
        domain=BALL,
    )
    assert record_losses(releases, np.zeros((2, 3)), at=Order(2)).reveal().values.tolist() == [0.0, 0.0]
    never = SampledRun(mechanism=GaussianSum(scale=Public("3")), sampler=Poisson(rate=Public("0")), domain=BALL)
    assert record_losses(never, RECORDS, at=Delta("1e-6")).reveal().largest == 0.0


def test_no_records_are_refused() -> None:
    with pytest.raises(InvalidValue, match="records"):
        record_losses(runs(ResampleEach(1)), np.empty((0, 3)), at=Order(2))


@pytest.mark.parametrize("other", [LaplaceSum(scale=Public(1)), BALL, None])
def test_what_is_no_run_is_refused_with_what_to_do(other: object) -> None:
    with pytest.raises(InvalidType, match=r"^run: got .* Build one: SampledRun"):
        record_losses(other, RECORDS)  # type: ignore[arg-type]


def test_records_that_are_drawn_together_have_no_losses_of_their_own() -> None:
    """Of three records one is kept: by Theorem 6 at its chance the last one would lose 0.1733."""
    kept = TruncatedPoisson(rate=Public("0.5"), batch_size=Public(1), data_size=Public(3))
    ball = NormBall(norm=Norm.L1, radius=Public(1))
    run = SampledRun(mechanism=LaplaceSum(scale=Public(2)), sampler=kept, domain=ball)
    values = (0.5, 0.2, -1.0)
    near, far = 1 / 8, 1 / 4  # the densities at an output towards -∞, of three records and of the first two
    near += sum(7 / 24 * math.exp(-value / 2) for value in values)
    far += sum(3 / 8 * math.exp(-value / 2) for value in values[:2])
    assert 0.21 < math.log(near / far) < run.pure().bound.epsilon.upper
    for sampler in (kept, FixedBatches(rate=Public("1/3"))):
        for mechanism in (LaplaceSum(scale=Public(2)), GaussianSum(scale=Public(2))):
            run = SampledRun(mechanism=mechanism, sampler=sampler, domain=ball)
            for at in (None, Delta("1e-3"), Order(2)):
                for asked in (record_losses, record_weights):
                    with pytest.raises(InvalidValue, match="draws each record by itself"):
                        asked(run, np.array(values)[:, np.newaxis], at=at)


def test_a_user_of_several_records_has_no_loss_of_one() -> None:
    run = SampledRun(
        mechanism=LaplaceSum(scale=Public(2)), sampler=Poisson(rate=Public("0.5")), domain=BALL, unit=User(2)
    )
    for at in (None, Delta("1e-3"), Order(2)):
        with pytest.raises(InvalidValue, match="added or removed"):
            record_losses(run, RECORDS, at=at)
