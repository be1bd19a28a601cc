"""Losses per record of releases on samples, for the data's owner."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from certdp.accounting.accountants import BEST, GAUSSIAN_DP, RENYI, BestAccountant, WorstPairs, renyi_at
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.pairs import GaussianPair
from certdp.accounting.provenance import Private, Public
from certdp.accounting.sampling.clipping import Outside
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.releases import Releases, ResampleEach, SampleOnce
from certdp.accounting.units import Delta, Order
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.records.record_losses import epsilon_per_record, renyi_per_record
from certdp.runs.sampled import SampledMechanism
from certdp.runs.sampled_releases import SampledReleases
from certdp.samplers.importance import Importance
from certdp.samplers.poisson import Poisson

BALL = NormBall(norm=Norm.L2, radius=Public("2"), dimension=3)
RECORDS = np.random.default_rng(4).normal(size=(40, 3))
SAMPLER = Importance(rate=Public("0.4"), norm=Public("2"), floor=Public("0.05"))

IN_BULK = BestAccountant((GAUSSIAN_DP, RENYI))


def runs(plan: Releases) -> SampledReleases:
    return SampledReleases(mechanism=GaussianSum(scale=Public("3")), sampler=SAMPLER, releases=plan, domain=BALL)


@pytest.mark.parametrize("plan", [SampleOnce(1), SampleOnce(3), ResampleEach(1), ResampleEach(3)])
def test_each_record_is_bounded(plan: Releases) -> None:
    releases = runs(plan)
    epsilon = epsilon_per_record(releases, Delta("1e-6"), RECORDS).reveal()
    tau = renyi_per_record(releases, Order(4), RECORDS).reveal()
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
        assert epsilon.psi[index] == pytest.approx(float(known.bounds.enclosure.upper), rel=0.02)
        assert tau.psi[index] == pytest.approx(law.upper_float, rel=1e-9)
    accountant = BEST if plan.steps == 1 or plan == SampleOnce(3) else IN_BULK
    guarantee, worst = releases.epsilon(Delta("1e-6"), accountant=accountant), releases.renyi(Order(4))
    assert epsilon.psi_max <= guarantee.epsilon.upper * 1.02
    assert tau.psi_max <= worst.bound.tau.upper_float * (1 + 1e-9)
    assert tau.records == 40
    assert tau.outside == int(np.sum(np.linalg.norm(RECORDS, axis=1) > 2.0))
    low, high = tau.expected_sample_size
    assert low <= rates.sum() * (1 + 1e-12)
    assert rates.sum() <= high * (1 + 1e-12)


def test_at_delta_zero_the_pure_loss_returns() -> None:
    laplace = LaplaceSum(scale=Public("2"))
    sampler = Importance(rate=Public("0.4"), norm=Public("1"), floor=Public("0.05"))
    ball = NormBall(norm=Norm.L1, radius=Public("2"), dimension=3)
    releases = SampledReleases(mechanism=laplace, sampler=sampler, domain=ball)
    found = epsilon_per_record(releases, Delta(0), RECORDS).reveal()
    known = SampledMechanism(mechanism=laplace, sampler=sampler).measure(RECORDS, ball).reveal()
    assert np.array_equal(found.psi, known.psi)
    assert found.expected_sample_size == known.expected_sample_size
    assert (found.records, found.outside, found.quantiles) == (known.records, known.outside, known.quantiles)
    some = epsilon_per_record(releases, Delta("1e-3"), RECORDS).reveal()
    assert np.all(some.psi < known.psi)


def test_it_is_private_and_does_not_depend_on_threads() -> None:
    releases = runs(ResampleEach(2))
    one = epsilon_per_record(releases, Delta("1e-6"), RECORDS)
    assert isinstance(one, Private)
    assert np.array_equal(
        one.reveal().psi, epsilon_per_record(releases, Delta("1e-6"), RECORDS, threads=2).reveal().psi
    )
    seen: list[int] = []
    dropped = renyi_per_record(releases, Order(2), RECORDS, Outside.DROP, progress=seen.append).reveal()
    assert seen == [40]
    assert len(dropped.psi) == 40 - dropped.outside


def test_a_record_that_is_never_drawn_loses_nothing() -> None:
    releases = SampledReleases(
        mechanism=GaussianSum(scale=Public("3")),
        sampler=Importance(rate=Public("0.4"), norm=Public("2"), floor=Public("0.05")),
        domain=BALL,
    )
    assert renyi_per_record(releases, Order(2), np.zeros((2, 3))).reveal().psi.tolist() == [0.0, 0.0]
    never = SampledReleases(mechanism=GaussianSum(scale=Public("3")), sampler=Poisson(rate=Public("0")), domain=BALL)
    assert epsilon_per_record(never, Delta("1e-6"), RECORDS).reveal().psi_max == 0.0


def test_no_records_are_refused() -> None:
    with pytest.raises(InvalidValue, match="records"):
        renyi_per_record(runs(ResampleEach(1)), Order(2), np.empty((0, 3)))
