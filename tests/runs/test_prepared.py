"""A release is looked at whole before anything is paid or drawn; what failed after a draw stays paid."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import define, field, frozen

from certdp.accounting.draws.source import PROBE, Bits, OperatingSystem
from certdp.accounting.enclosures import Enclosure
from certdp.accounting.errors import InvalidValue
from certdp.accounting.feasible_weights.rates import ONE_RELEASE
from certdp.accounting.filters import PureFilter
from certdp.accounting.norms import Norm
from certdp.accounting.notions import Pure
from certdp.accounting.provenance import Public
from certdp.accounting.relations import ADD_REMOVE, RECORD
from certdp.accounting.sampling.clipping import Outside
from certdp.accounting.sampling.domains import NormBall
from certdp.accounting.sampling.records import realise
from certdp.accounting.sampling.releases import ResampleEach, SampleOnce
from certdp.accounting.units import Delta, Epsilon
from certdp.clustering import DPKMeans
from certdp.mechanisms.count import Count
from certdp.mechanisms.discrete_gaussian import DiscreteGaussian
from certdp.mechanisms.gaussian_sum import GaussianSum
from certdp.mechanisms.laplace_sum import LaplaceSum
from certdp.mechanisms.lloyd import Lloyd
from certdp.mechanisms.lp_sum import LpSum
from certdp.mechanisms.randomised_response import RandomisedResponse
from certdp.plugins.contract import Coins, KnowsAdmissible, Real, WeightedSample, positive
from certdp.runs.adaptive import AdaptiveRun, DominatedRun
from certdp.runs.plan import Plan
from certdp.runs.prepared import prepared
from certdp.runs.sampled import SampledRun
from certdp.samplers.poisson import Poisson
from certdp.samplers.privacy_constrained import PrivacyConstrained

BALL = NormBall(norm=Norm.L1, radius=Public(1), dimension=2)
DATA = np.full((6, 2), 0.25)


@define
class Counted:
    """The operating system's words, counted."""

    words: int = 0
    private = True

    def bits(self, count: int) -> Bits:
        self.words += count
        return OperatingSystem().bits(count)


def step(mechanism: Any = None, **changes: Any) -> SampledRun:
    stated: dict[str, Any] = {
        "mechanism": mechanism or LaplaceSum(scale=Public(8)),
        "sampler": Poisson(rate=Public("1/2")),
        "releases": ResampleEach(1),
        "domain": BALL,
    }
    return SampledRun(**{**stated, **changes})


def adaptive() -> AdaptiveRun[Pure, Any]:
    return AdaptiveRun(PureFilter(Pure(Enclosure.of(1)), relation=ADD_REMOVE, unit=RECORD, domain=BALL))


def of_adaptive(records: Any, **options: Any) -> None:
    run = adaptive()
    try:
        run.release(step(), records, **options)
    finally:
        assert run.filter.number == 0


def of_dominated(records: Any, **options: Any) -> None:
    run = DominatedRun(Plan([step()]))
    try:
        run.release(step(), records, **options)
    except Exception:
        run.release(step(), DATA)  # the one step that was declared is still there
        raise


def of_kmeans(records: Any, outside: Any = Outside.CLIP, coins: Any = None) -> None:
    model = DPKMeans(2, epsilon=10, radius=1, outside=getattr(outside, "value", outside), random_state=coins)
    try:
        model.fit(records)
    finally:
        assert not [name for name in vars(model) if name in ("cluster_centers_", "private_", "_proof")]


RUNS: dict[str, Callable[..., Any]] = {
    "sampled mechanism": lambda records, outside=Outside.CLIP, coins=None: (
        SampledRun(mechanism=LaplaceSum(scale=Public(8)), sampler=Poisson(rate=Public("1/2")))
        .on(BALL)
        .release(records, outside, coins=coins)
    ),
    "sampled releases": step().release,
    "on one sample": step(releases=SampleOnce(3)).release,
    "constrained": lambda records, outside=Outside.CLIP, coins=None: (
        SampledRun(mechanism=LaplaceSum(scale=Public(8)), sampler=PrivacyConstrained(target=Public(1)))
        .on(BALL)
        .release(records, outside, coins=coins)
    ),
    "plan": Plan([step(), step()]).release,
    "adaptive run": of_adaptive,
    "dominated run": of_dominated,
    "k-means": of_kmeans,
}
INADMISSIBLE: dict[str, Any] = {
    "text": [["a", "b"]],
    "no matrix": [1.0, 2.0],
    "ragged": [[1.0], [1.0, 2.0]],
    "NaN": [[np.nan, 0.0]] * 9,
    "inf": [[np.inf, 0.0]] * 9,
}


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("records", INADMISSIBLE.values(), ids=INADMISSIBLE)
def test_inadmissible_records_cost_nothing(run: Callable[..., Any], records: Any) -> None:
    source = Counted()
    with pytest.raises((ValueError, TypeError)):
        run(records) if run is of_kmeans else run(records, coins=Coins(source))
    assert not source.words


@pytest.mark.parametrize("run", [run for run in RUNS.values() if run is not of_kmeans])
def test_records_of_another_dimension_cost_nothing(run: Callable[..., Any]) -> None:
    source = Counted()
    with pytest.raises(InvalidValue, match="dimension"):
        run(np.ones((4, 3)), coins=Coins(source))
    assert not source.words


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("options", [{"outside": "cut"}, {"outside": None}, {"coins": 5.5}, {"coins": ()}])
@pytest.mark.filterwarnings("ignore::certdp.clustering.NotPrivate")
def test_inadmissible_options_cost_nothing(run: Callable[..., Any], options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, TypeError)):
        run(DATA, **options)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_the_same_with_admissible_ones_releases(run: Callable[..., Any]) -> None:
    if run is of_adaptive:
        adaptive().release(step(), DATA)
    elif run is of_dominated:
        DominatedRun(Plan([step()])).release(step(), DATA)
    elif run is of_kmeans:
        assert DPKMeans(2, epsilon=10, radius=1).fit(DATA).is_private_
    else:
        run(DATA)


REFUSED_BY_MECHANISMS: list[tuple[Any, Any]] = [
    (LaplaceSum(scale=Public(1)), [[1e308], [1e308]]),
    (LpSum(scale=Public(1), norm=Public(2)), [[1e308], [1e308]]),
    (GaussianSum(scale=Public(1)), [[1e308], [-1e308], [1e308]]),
    (GaussianSum(noise_multiplier=Public(1)), [[1.0]]),
    (RandomisedResponse(noise=Public("1/2"), categories=Public(3)), [[0.0], [3.0]]),
    (RandomisedResponse(noise=Public("1/2"), categories=Public(3)), [[0.0, 1.0]]),
    (DiscreteGaussian(scale=Public(1), granularity=Public(1), dimension=Public(2)), [[1.0]]),
    (
        Lloyd(
            clusters=Public(2),
            scale_sum=Public("1e-12"),
            split=Public("derived"),
            radius=Public("1e-12"),
            iterations=Public(2),
            dimension=Public(1),
        ),
        [[1.0]],
    ),
]


@pytest.mark.parametrize(("mechanism", "records"), REFUSED_BY_MECHANISMS)
def test_what_a_mechanism_refuses_of_some_sample_is_refused_of_all(mechanism: Any, records: Any) -> None:
    """Each record enters with probability 10^-6, so that nearly no sample would be refused."""
    source, rate = Counted(), Poisson(rate=Public("1e-6")).rate
    assert issubclass(type(mechanism), KnowsAdmissible)
    with pytest.raises(InvalidValue):
        prepared(mechanism, lambda held: realise(rate, held), ONE_RELEASE, records, None, Outside.CLIP, Coins(source))
    assert not source.words


def test_weights_that_no_sum_holds_are_refused_of_all() -> None:
    sample = WeightedSample(np.ones((2, 1)), np.array([1e308, 1e308]))
    with pytest.raises(InvalidValue, match="beyond binary64"):
        Count(scale=Public(1)).require(sample)


class Failed(Exception):
    """What a mechanism raises."""


@frozen(kw_only=True)
class FailsAfterDrawing:
    """A Laplace sum that draws its noise and fails."""

    scale: Real = field(converter=positive)
    about = LaplaceSum.about

    @property
    def loss(self) -> Any:
        return LaplaceSum(scale=self.scale).loss

    def release(self, sample: WeightedSample, coins: Coins) -> Any:
        LaplaceSum(scale=self.scale).release(sample, coins)
        raise Failed


def test_what_failed_after_a_draw_stays_paid() -> None:
    failing, source = step(FailsAfterDrawing(scale=Public(8))), Counted()
    run = adaptive()
    with pytest.raises(Failed):
        run.release(failing, DATA, coins=Coins(source))
    assert source.words
    assert run.filter.number == 1
    dominated = DominatedRun(Plan([failing]))
    with pytest.raises(Failed):
        dominated.release(failing, DATA)
    with pytest.raises(InvalidValue, match="used up"):
        dominated.release(failing, DATA)


def test_a_plan_releases_nothing_where_a_later_part_refuses() -> None:
    source = Counted()
    plan = Plan([step(), step(GaussianSum(noise_multiplier=Public(3)))])
    with pytest.raises(InvalidValue, match="scale"):
        plan.release(DATA, coins=Coins(source))
    assert source.words == 2 * PROBE  # by which the first part saw that the source works


def test_a_seeded_run_guarantees_nothing() -> None:
    run = adaptive()
    run.release(step(), DATA)
    assert run.guarantee.bound == Pure(Enclosure.of(1))
    run.release(step(), DATA, coins=Coins.seeded(1))
    with pytest.raises(InvalidValue, match="seeded coins"):
        _ = run.guarantee
    dominated = DominatedRun(Plan([step(releases=ResampleEach(2))]))
    dominated.release(step(), DATA, coins=Coins.seeded(1))
    with pytest.raises(InvalidValue, match="seeded coins"):
        dominated.epsilon(Delta("1e-5"))
    with pytest.raises(InvalidValue, match="seeded coins"):
        dominated.delta(Epsilon(1))
