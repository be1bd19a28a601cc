"""Public strata: what they cost, what is refused, and the law of what they draw."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import evolve, frozen
from numpy.typing import ArrayLike
from scipy.stats import chi2

from certdp import (
    ADD_REMOVE,
    REPLACE,
    Full,
    GaussianSum,
    LaplaceSum,
    NormBall,
    Plan,
    Poisson,
    Public,
    Released,
    ResampleEach,
    SampledRun,
    SampleOnce,
    certificate,
)
from certdp.accounting.errors import InvalidType, InvalidValue
from certdp.accounting.norms import Norm
from certdp.accounting.relations import ZERO_OUT, Change
from certdp.accounting.sampling.clipping import Outside
from certdp.plugins.conformance import check
from certdp.plugins.contract import About, Coins, LabelledStrata, Release, Sampler, StratifyingSampler, WeightedSample
from certdp.sampling import NormStrata, Strata, StratifiedRun

P = Public
GAUSSIAN = GaussianSum(noise_multiplier=P(1))
NOISY = GaussianSum(scale=P(20))
RATES = {"a": "0.01", "b": "0.1", "c": "0.05"}
STRATA = Strata(rates=P(RATES))
BALL = NormBall(norm=Norm.L2, radius=P(10))
STEPS = NormStrata(bounds=P("5,8"), rates=P("0.1,0.25,0.5"), weighted=P(True))


def alone(rate: str, relation: Change, mechanism: Any = GAUSSIAN, radius: float | None = None) -> SampledRun:
    domain = None if radius is None else NormBall(norm=Norm.L2, radius=P(radius))
    sampler = Poisson(rate=P(rate), weighted=P(radius is not None))
    return SampledRun(mechanism=mechanism, sampler=sampler, releases=ResampleEach(50), domain=domain, relation=relation)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE, ZERO_OUT], ids=lambda one: one.name)
def test_each_stratum_costs_what_it_would_alone_and_all_cost_the_worst(relation: Change) -> None:
    run = StratifiedRun(mechanism=GAUSSIAN, sampler=STRATA, releases=ResampleEach(50), relation=relation)
    each = {label: alone(rate, relation).epsilon("1e-5").epsilon for label, rate in RATES.items()}
    assert {label: run.of(label).epsilon("1e-5").epsilon for label in RATES} == each
    found = run.epsilon("1e-5").epsilon
    # one pair alone is asked about both ends at once, which moves their last digits
    assert found.upper == pytest.approx(max(one.upper for one in each.values()), rel=1e-14)
    assert found.lower == pytest.approx(max(one.lower or 0 for one in each.values()), rel=1e-14)


def test_strata_by_a_norm_are_balls_of_their_own() -> None:
    """With weights the stratum of the smallest rate is the worst, and both ends meet."""
    mechanism = GaussianSum(scale=P(20))
    run = StratifiedRun(mechanism=mechanism, sampler=STEPS, releases=ResampleEach(50), domain=BALL)
    parts = [("0.1", 5), ("0.25", 8), ("0.5", 10)]
    each = [alone(rate, ADD_REMOVE, mechanism, radius).epsilon("1e-5").epsilon for rate, radius in parts]
    assert each[0].upper > each[1].upper > each[2].upper
    found = run.epsilon("1e-5").epsilon
    assert found.upper == each[0].upper
    assert found.lower is not None
    assert found.upper - found.lower < 1e-6
    with pytest.raises(InvalidValue, match="radius"):
        StratifiedRun(mechanism=mechanism, sampler=STEPS).epsilon("1e-5")


@pytest.mark.slow
def test_samples_of_several_releases_are_composed_in_both_ways() -> None:
    once, each = (
        StratifiedRun(mechanism=GAUSSIAN, sampler=STRATA, releases=releases)
        for releases in (SampleOnce(4), ResampleEach(4))
    )
    assert once.on_one_sample
    assert once.steps == each.steps == 4
    assert each.epsilon("1e-5").epsilon.upper < once.epsilon("1e-5").epsilon.lower  # type: ignore[operator]
    laplace = StratifiedRun(
        mechanism=LaplaceSum(scale=P(1)), sampler=STRATA, domain=NormBall(norm=Norm.L1, radius=P(1))
    )
    assert abs(float(laplace.pure().bound.epsilon.upper) - np.log1p(0.1 * np.expm1(1))) < 1e-12


def test_a_part_of_a_plan_has_no_lower_end_there() -> None:
    run = StratifiedRun(mechanism=GAUSSIAN, sampler=STRATA, releases=ResampleEach(50))
    plan = Plan([run, alone("0.1", ADD_REMOVE)])
    found = plan.epsilon("1e-5").epsilon
    assert found.upper >= alone("0.1", ADD_REMOVE).epsilon("1e-5").epsilon.upper
    assert (
        abs(
            found.upper
            - SampledRun(mechanism=GAUSSIAN, sampler=Poisson(rate=P("0.1")), releases=ResampleEach(100))
            .epsilon("1e-5")
            .epsilon.upper
        )
        < 1e-4
    )
    assert not found.lower


@pytest.mark.parametrize(
    ("rates", "says"),
    [
        ("", "label:rate"),
        ("a", "label:rate"),
        ("a:0.1,b", "label:rate"),
        ("a:0.1,b:0.1:0.2", "label:rate"),
        ("a:0.1,a:0.2", "once"),
        ("a:1.5", "0 ≤ q ≤ 1"),
        ("a:nan", "a number such as"),
        (":0.1", "labels"),
        ({}, "at least one"),
        ({"a,b": 0.1}, "labels"),
        ({3: 0.1}, "labels"),
        ({" a": 0.1}, "spaces"),
        ({"": 0.1}, "labels"),
        (7, "mapping"),
    ],
)
def test_rates_that_are_none_are_refused(rates: Any, says: str) -> None:
    with pytest.raises((InvalidType, InvalidValue), match=says):
        Strata(rates=P(rates))


def test_rates_read_back_and_are_public() -> None:
    assert Strata(rates=P(str(STRATA.rates.value))) == STRATA == Strata(rates=STRATA.rates)
    assert [float(s.rate.probability.value) for s in STRATA.strata.samplers.values()] == [0.01, 0.1, 0.05]  # type: ignore[attr-defined]
    assert isinstance(STRATA, StratifyingSampler)
    assert not isinstance(STRATA, Sampler)
    run = SampledRun(
        mechanism=LaplaceSum(scale=P(1)), sampler=Poisson(rate=P(1)), domain=NormBall(norm=Norm.L1, radius=P(1))
    )
    with pytest.raises(InvalidValue, match="Public"):
        Strata(rates=Released(RATES, run.pure()))


@pytest.mark.parametrize(
    ("bounds", "rates", "norm"),
    [
        ("1,2", "0.1,0.2", 2),
        ("2,1", "0.1,0.2,0.3", 2),
        ("0,1", "0.1,0.2,0.3", 2),
        ("1", "0.1,1.2", 2),
        ("1", "0.1,0.2", 0.5),
    ],
)
def test_steps_that_are_none_are_refused(bounds: str, rates: str, norm: float) -> None:
    with pytest.raises(InvalidValue):
        NormStrata(bounds=P(bounds), rates=P(rates), norm=P(norm))


@pytest.mark.parametrize(
    ("mechanism", "sampler", "domain", "says"),
    [
        (NOISY, NormStrata(bounds=P("5,10"), rates=P("0.1,0.2,0.3")), BALL, "No record of the domain"),
        (NOISY, NormStrata(bounds=P("5,20"), rates=P("0.1,0.2,0.3")), BALL, "No record of the domain"),
        (NOISY, NormStrata(bounds=P("5"), rates=P("0.1,0.2"), norm=P(1)), BALL, "norm"),
        (GAUSSIAN, Strata(rates=P(RATES), weighted=P(True)), BALL, "one weight"),
    ],
)
def test_strata_that_no_run_takes_are_refused(mechanism: Any, sampler: Any, domain: NormBall, says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        StratifiedRun(mechanism=mechanism, sampler=sampler, domain=domain)


def test_a_bound_beyond_binary64_is_above_every_norm() -> None:
    strata = NormStrata(bounds=P("1,1e400"), rates=P("0.1,0.2,0.3")).strata
    assert strata.places(np.array([[0.5, 0.0], [1e300, 0.0]]), None).tolist() == [0, 1]


def test_a_norm_is_no_public_label() -> None:
    """A record that is replaced may have another norm, and so another rate."""
    with pytest.raises(InvalidValue, match="a plugin that covers replace"):
        StratifiedRun(mechanism=GaussianSum(scale=P(20)), sampler=STEPS, domain=BALL, relation=REPLACE)
    zeroed = StratifiedRun(mechanism=GaussianSum(scale=P(20)), sampler=STEPS, domain=BALL, relation=ZERO_OUT)
    assert zeroed.epsilon("1e-5").epsilon == evolve(zeroed, relation=ADD_REMOVE).epsilon("1e-5").epsilon


def test_one_weight_in_all_strata_goes_with_a_noise_multiplier() -> None:
    same = Strata(rates=P("a:0.5,b:0.5"), weighted=P(True))
    found = StratifiedRun(mechanism=GAUSSIAN, sampler=same).epsilon("1e-5").epsilon
    assert found == SampledRun(mechanism=GAUSSIAN, sampler=Poisson(rate=P("0.5"))).epsilon("1e-5").epsilon


def test_a_noise_multiplier_is_relative_to_what_no_record_of_a_smaller_norm_adds() -> None:
    """Lower ends were of records as large as the domain in a stratum that has none: claims that hold were refuted."""
    steps = NormStrata(bounds=P("0.1"), rates=P("0.9,0.01"))
    with pytest.raises(InvalidValue, match="one largest norm in all strata"):
        StratifiedRun(mechanism=GAUSSIAN, sampler=steps, domain=NormBall(norm=Norm.L2, radius=P(1)))
    with pytest.raises(InvalidValue, match="one largest norm in all strata"):
        StratifiedRun(mechanism=GAUSSIAN, sampler=steps)


def test_each_kind_of_run_names_the_other() -> None:
    with pytest.raises(InvalidType, match="StratifiedRun"):
        SampledRun(mechanism=GAUSSIAN, sampler=STRATA)  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="strata"):
        StratifiedRun(mechanism=GAUSSIAN, sampler=Poisson(rate=P("0.1")))  # type: ignore[arg-type]
    run = StratifiedRun(mechanism=GAUSSIAN, sampler=STRATA)
    assert certificate(run.of("b"), run.of("b").epsilon("1e-5")).epsilon is not None
    with pytest.raises(InvalidValue, match="a, b, c"):
        run.of("d")


def test_samplers_within_strata_state_a_rate() -> None:
    with pytest.raises(InvalidType, match="by itself"):
        LabelledStrata({"a": GAUSSIAN})  # type: ignore[dict-item]
    for label in ("", 3):
        with pytest.raises(InvalidType, match="labels"):
            LabelledStrata({label: Poisson(rate=P(1))})  # type: ignore[dict-item]
    with pytest.raises(InvalidType, match="mapping"):
        LabelledStrata([("a", Poisson(rate=P(1)))])  # type: ignore[arg-type]


def test_released_rates_of_a_plugin_are_refused() -> None:
    @frozen(kw_only=True)
    class Paid:
        about: ClassVar[About] = evolve(Strata.about, name="paid-strata")
        rate: Any

        @property
        def strata(self) -> LabelledStrata:
            return LabelledStrata({"a": Poisson(rate=P(self.rate.value))})

    cost = SampledRun(
        mechanism=LaplaceSum(scale=P(1)), sampler=Full(), domain=NormBall(norm=Norm.L1, radius=P(1))
    ).pure()
    with pytest.raises(InvalidValue, match="public parameters"):
        StratifiedRun(mechanism=GAUSSIAN, sampler=Paid(rate=Released(Fraction(1, 2), cost)))
    assert StratifiedRun(mechanism=GAUSSIAN, sampler=Paid(rate=P(Fraction(1, 2)))).steps == 1


KEEPER = GaussianSum(scale=P(1))


def drawn(
    monkeypatch: pytest.MonkeyPatch,
    sampler: Any,
    records: ArrayLike,
    labels: ArrayLike | None,
    count: int,
    **given: Any,
) -> list[WeightedSample]:
    """The samples that the mechanism is given in `count` releases."""
    seen: list[WeightedSample] = []

    def keep(self: GaussianSum, sample: WeightedSample, coins: Coins) -> Release:
        seen.append(sample)
        return np.zeros(1)

    monkeypatch.setattr(GaussianSum, "release", keep)
    run = StratifiedRun(
        mechanism=KEEPER, sampler=sampler, releases=ResampleEach(count), domain=given.pop("domain", None)
    )
    assert len(run.release(records, labels, coins=Coins.seeded(7), **given)) == count
    return seen


def test_samples_have_the_law_of_their_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """All 16 samples of four records against their exact probabilities; weights are one over the rate."""
    rates = {"1": Fraction(1, 4), "2": Fraction(1, 2), "3": Fraction(7, 8)}
    labels = np.array([2, 1, 3, 1])
    count = 4000
    sampler = Strata(rates=P(rates), weighted=P(True))
    samples = drawn(monkeypatch, sampler, [[1.0], [2.0], [4.0], [8.0]], labels, count)
    counts = np.zeros(16)
    for sample in samples:
        rows = sample.records[:, 0].astype(int)
        counts[rows.sum()] += 1
        expected = {1: 2.0, 2: 4.0, 4: 1 / 0.875, 8: 4.0}
        assert sample.weights.tolist() == [expected[int(row)] for row in rows]
    chances = [
        float(
            np.prod([q if is_in else 1 - q for q, is_in in zip((0.5, 0.25, 0.875, 0.25), reversed(bits), strict=True)])
        )
        for bits in product((False, True), repeat=4)
    ]
    statistic = sum((seen - count * p) ** 2 / (count * p) for seen, p in zip(counts, chances, strict=True))
    assert statistic < chi2.ppf(1 - 1e-6, 15)


def test_records_are_put_into_strata_by_their_norms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those at a bound are within a rounding of it, and those clipped stay in the last stratum."""
    sampler = NormStrata(bounds=P("5,8"), rates=P("1,0,1"), weighted=P(False))
    records = [[3.0, 3.9], [3.0, 4.1], [0.0, 7.9], [0.0, 8.1], [60.0, 80.0], [0.0, 0.0]]
    (sample,) = drawn(monkeypatch, sampler, records, None, 1, domain=BALL)
    assert sample.records[:, 0].tolist() == pytest.approx([3.0, 0.0, 6.0, 0.0])
    assert (np.linalg.norm(sample.records, axis=1) <= 10).all()
    (sample,) = drawn(monkeypatch, sampler, records, None, 1, domain=BALL, outside=Outside.DROP)
    assert sample.records.tolist() == [[3.0, 3.9], [0.0, 8.1], [0.0, 0.0]]


def test_no_record_of_a_stratum_is_longer_than_its_bound() -> None:
    strata = NormStrata(bounds=P("0.1,0.7,3"), rates=P("1,1,1,1")).strata
    directions = np.random.default_rng(3).standard_normal((4000, 3))
    records = directions / np.linalg.norm(directions, axis=1)[:, None] * np.repeat([0.1, 0.7, 3.0, 5.0], 1000)[:, None]
    places = strata.places(records, None)
    squares = [sum(Fraction(x) ** 2 for x in row) for row in records.tolist()]
    bounds = [Fraction(1, 10), Fraction(7, 10), Fraction(3)]
    for place, square in zip(places.tolist(), squares, strict=True):
        assert place == 3 or square <= bounds[place] ** 2
        assert place == 0 or square > (bounds[place - 1] * (1 - Fraction(1, 2**40))) ** 2
    assert len(set(places.tolist())) == 4


@pytest.mark.parametrize(
    ("labels", "says"),
    [
        (None, "labels"),
        (["a", "b"], "one for each"),
        (["a", "b", "d"], "d"),
        (["a", "b", "b"], "no record of c"),
        ([["a"], ["b"], ["c"]], "one for each"),
        ([0.5, 1.0, 2.0], "text or whole numbers"),
        ([True, False, True], "text or whole numbers"),
        (["a", None, "b"], "text or whole numbers"),
    ],
)
def test_labels_that_are_none_are_refused_before_anything_is_drawn(labels: Any, says: str) -> None:
    run = StratifiedRun(mechanism=KEEPER, sampler=STRATA)
    with pytest.raises((InvalidType, InvalidValue), match=says):
        run.prepared(np.ones((3, 1)), labels)


def test_strata_by_a_norm_have_no_labels() -> None:
    run = StratifiedRun(mechanism=KEEPER, sampler=STEPS)
    with pytest.raises(InvalidType, match="norm"):
        run.prepared(np.ones((1, 1)), ["a"])


@pytest.mark.parametrize("sampler", [STRATA, STEPS], ids=lambda one: one.about.name)
def test_it_keeps_the_laws_of_its_kind(sampler: Any) -> None:
    assert check(sampler).passed


def test_a_sampler_whose_strata_are_none_breaks_a_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strata, "strata", property(lambda _: {"a": Poisson(rate=P(1))}))
    assert not check(STRATA).passed


def test_strata_that_depend_on_other_records_break_a_law(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LabelledStrata, "places", lambda _, records, labels: np.minimum(np.arange(len(records)), 1))
    assert not check(STRATA).passed
