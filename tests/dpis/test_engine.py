"""Training runs: what they release and pay, odd data, and that DPIS and DP-SGD differ in how sums are drawn alone."""

from __future__ import annotations

import math
import pickle
from collections.abc import Mapping
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from attrs import evolve

from certdp import Delta, Epsilon, Public
from certdp.accounting.bulk.record_rows import Integers
from certdp.accounting.derivation import Assumption
from certdp.accounting.errors import InvalidValue
from certdp.accounting.provenance import Private
from certdp.dpis.budget import (
    DominatedAccounting,
    ExponentialDecay,
    FixedClip,
    NoisySize,
    NormSums,
    PublicSize,
    RunPlan,
)
from certdp.dpis.engine import Proposals, Report, train
from certdp.dpis.forecast import dp_sgd
from certdp.dpis.gradients import FLOAT_GRADIENTS, Evaluation, Identity, Weighting
from certdp.dpis.models import LabelledData, Logistic, RecordModel
from certdp.dpis.optimisers import Sgd
from certdp.dpis.pictures import plot_history, plot_steps
from certdp.dpis.run_account import EpochNoise, open_account
from certdp.dpis.sampling import FloatArray, IntArray, TwoStage, norm_error
from certdp.dpis.step_sums import ImportanceSampling, _stale_bias
from certdp.plugins.contract import Coins
from certdp.runs.calibration import Budget
from tests.support.training_plans import adaptive_clip, training_plan

plan_of = partial(training_plan, epochs=3, steps_per_epoch=10)
LARGE = Budget(epsilon=Epsilon(60), delta=Delta("1e-5"))
PLAN = plan_of()
ADAPTIVE = adaptive_clip(start=1, external=2, quantile="0.8", noise_multiplier=20, lowest="0.2", highest=2)
NOISY = NoisySize(noise=Public(10), guess=Public(400))


def blobs(records: int = 400, seed: int = 0) -> LabelledData:
    """Two classes that a line tells apart."""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 2, records)
    features = random.standard_normal((records, 4)) * 0.5 + np.where(labels, 1.0, -1.0)[:, np.newaxis]
    return LabelledData(features=features, labels=labels)


def model_of(data: LabelledData) -> RecordModel:
    return RecordModel(Logistic(features=data.columns, classes=2), data, Sgd(rate=1.0))


class Fixed:
    """Records with gradients that never change, one per row; `steps` is all that was handed to the optimiser."""

    def __init__(self, gradients: Any) -> None:
        self.gradients = np.asarray(gradients, dtype=np.float64)
        self.steps: list[FloatArray] = []
        self.evaluated = 0

    @property
    def size(self) -> int:
        return len(self.gradients)

    @property
    def dimension(self) -> int:
        return int(self.gradients.shape[1])

    @property
    def error(self) -> Fraction:
        return norm_error(self.dimension)

    assumptions: tuple[Assumption, ...] = ()

    def released(self) -> dict[str, FloatArray]:
        return {}

    def identity(self) -> Identity:
        return Identity(model="fixed", optimiser="none", data=Private(str(self.gradients)))

    def evaluate(self, indices: IntArray) -> Evaluation:
        self.evaluated += len(indices)
        return Evaluation(np.linalg.norm(self.gradients[indices], axis=1), np.full(len(indices), np.nan))

    def weighted_sum(self, indices: IntArray, weighting: Weighting, unit: float) -> tuple[Integers, Evaluation]:
        found = self.evaluate(indices)
        weights = weighting(found.norms)
        kept = weights > 0
        counts = np.trunc(weights[kept, np.newaxis] * self.gradients[indices[kept]] / unit)
        return counts.astype(np.int64).sum(axis=0), found

    def step(self, gradient: FloatArray) -> None:
        self.steps.append(gradient)

    def state(self) -> dict[str, FloatArray]:
        return {}

    def restore(self, state: Mapping[str, FloatArray]) -> None: ...


VARIANTS = {
    "public size": PLAN,
    "dp-sgd": dp_sgd(PLAN),
    "noisy size, adaptive": plan_of(size=NOISY, clip=ADAPTIVE),
    "dp-sgd, adaptive, decay": plan_of(
        size=NOISY, clip=ADAPTIVE, norm_sums=None, schedule=ExponentialDecay(base=Public("0.8"))
    ),
    "dominated": plan_of(accounting=DominatedAccounting(rate=Public("0.25"))),
    "sampled norms": plan_of(norm_sums=NormSums(noise_multiplier=Public(80), rate=Public("0.25"))),
}


@pytest.mark.parametrize("plan", VARIANTS.values(), ids=VARIANTS)
def test_a_run_learns_and_pays_for_what_it_did(plan: RunPlan) -> None:
    model = model_of(blobs())
    reports: list[Report] = []
    result = train(model, plan, progress=reports.append, coins=Coins.seeded(1))
    assert model.accuracy(blobs(seed=1)) == pickle.loads(pickle.dumps(result.model)).accuracy(blobs(seed=1)) > 0.8
    assert 0 < result.epsilon <= 8
    rows = result.history.epochs
    assert [(row.epoch, row.steps) for row in rows] == [(0, 10), (1, 10), (2, 10)]
    assert rows[-1].epsilon == result.epsilon
    assert len(reports) == 30
    for row in rows:
        assert row.rate == pytest.approx(20 * row.clip / row.norm_sum)
        assert 0 < row.share < 1 + 1e-12
        assert row.share == pytest.approx(1) or plan.norm_sums is not None
    figures = result.history.private_columns().reveal()
    assert np.mean(figures["loss"][-5:]) < np.mean(figures["loss"][:5])
    assert np.sum(figures["accepted"]) == pytest.approx(np.sum(figures["expected_accepted"]), rel=0.2)
    assert np.sum(figures["proposed"]) == pytest.approx(np.sum(figures["expected_proposed"]), rel=0.2)


def test_clipping_bounds_stay_in_the_public_interval_and_move() -> None:
    rows = train(model_of(blobs()), plan_of(clip=ADAPTIVE)).history.epochs
    assert rows[0].clip == 1
    assert all(0.2 <= row.clip <= 2 for row in rows)
    assert rows[1].clip != 1


def test_noise_decays_as_scheduled_and_the_account_still_holds() -> None:
    plan = VARIANTS["dp-sgd, adaptive, decay"]
    noise = [row.noise_multiplier for row in train(model_of(blobs()), plan).history.epochs]
    assert [later / earlier for earlier, later in pairwise(noise)] == pytest.approx([0.8] * 2, 1e-3)


def test_a_run_with_coins_of_the_operating_system_states_its_guarantee() -> None:
    result = train(model_of(blobs()), PLAN)
    assert result.is_private
    guarantee = result.guarantee
    assert guarantee is not None
    assert guarantee.bound.epsilon.upper <= 8
    stated = {assumed.name for assumed in guarantee.assumptions}
    assert {"gradient norms", "options fixed beforehand"} <= stated
    assert not {"records apart", "contributions independent of the batch", "real-valued noise"} & stated


def test_a_model_of_floats_states_what_it_cannot_promise() -> None:
    class Floats(Fixed):
        assumptions = FLOAT_GRADIENTS

    guarantee = train(Floats(np.ones((400, 2))), PLAN).guarantee
    assert guarantee is not None
    stated = [assumed.name for assumed in guarantee.assumptions]
    for name in ("records apart", "contributions independent of the batch", "real-valued noise"):
        assert stated.count(name) == 1


def test_a_guarantee_tells_constants_from_what_was_released_in_which_epoch() -> None:
    result = train(model_of(blobs()), VARIANTS["noisy size, adaptive"])
    assert result.guarantee is not None
    stated = {assumed.name: assumed.value for assumed in result.guarantee.assumptions}
    assert len(stated) == len(result.guarantee.assumptions)  # no name twice
    assert (stated["b"], stated["C"], stated["σ_N"]) == ("20", "1", "10")
    assert not {"K̃", "Ñ", "σ_G"} & stated.keys()
    for row in result.history.epochs:
        released = dict(part.split(" = ") for part in stated[f"released for epoch {row.epoch + 1}"].split(", "))
        expected = {"K̃": row.norm_sum, "Ñ": row.size} | ({"C": row.clip} if row.epoch else {})
        assert {name: float(Fraction(value)) for name, value in released.items()} == expected
        assert float(Fraction(stated[f"σ_G of epoch {row.epoch + 1}"])) == row.noise_multiplier
    uniform = train(model_of(blobs()), dp_sgd(PLAN)).guarantee
    assert uniform is not None
    assert not [assumed for assumed in uniform.assumptions if "released" in assumed.name]


def test_a_seeded_run_is_repeated_and_states_no_guarantee() -> None:
    first, second = model_of(blobs()), model_of(blobs())
    result = train(first, PLAN, coins=Coins.seeded(4))
    train(second, PLAN, coins=Coins.seeded(4))
    assert np.array_equal(first.parameters, second.parameters)
    assert not result.is_private
    assert result.guarantee is None
    for ask in (
        result.certificate,
        lambda: result.account.guarantee,
        lambda: result.account.certificate(parameters=""),
    ):
        with pytest.raises(InvalidValue, match="seeded coins"):
            ask()


def mean_of_steps(plan: RunPlan, gradients: Any) -> FloatArray:
    records = Fixed(gradients)
    train(records, plan, coins=Coins.seeded(7))
    return np.asarray(np.mean(records.steps, axis=0))


@pytest.mark.slow
@pytest.mark.parametrize("plan", [PLAN, dp_sgd(PLAN)], ids=["dpis", "dp-sgd"])
def test_steps_are_unbiased_for_the_mean_clipped_gradient(plan: RunPlan) -> None:
    """With the factor b of erratum DPIS-line26: 1/N·Σ g·min(1, C/‖g‖), within 6 standard errors."""
    random = np.random.default_rng(3)
    gradients = random.standard_normal((400, 2)) * random.uniform(0, 1, (400, 1)) + [0.8, 0.1]
    norms = np.linalg.norm(gradients, axis=1, keepdims=True)
    expected = np.mean(gradients * np.minimum(1, 1 / norms), axis=0)
    many = evolve(plan, epochs=2, steps_per_epoch=1000, budget=Budget(epsilon=Epsilon(500), delta=Delta("1e-5")))
    noise = max(float(row) for row in _multipliers(many)) / 20 + 2 / math.sqrt(20)
    assert mean_of_steps(many, gradients) == pytest.approx(expected, abs=6 * noise / math.sqrt(2000))


def _multipliers(plan: RunPlan) -> list[Fraction]:
    account = open_account(plan)
    if plan.norm_sums is not None:
        account.pay_norm_sum(0, plan.clip.first)
    return [account.begin_epoch(account.size * plan.clip.first, plan.clip.first).noise_multiplier]


def test_the_noise_is_that_of_the_account_and_added_once() -> None:
    """Without gradients a step is noise alone, of standard deviation σ_G·C/b."""
    records = Fixed(np.zeros((400, 3000)))
    result = train(records, plan_of(clip=FixedClip(bound=Public(3))), coins=Coins.seeded(5))
    for row, drawn in zip(result.history.epochs, np.split(np.array(records.steps), 3), strict=True):
        assert np.std(drawn) == pytest.approx(row.noise_multiplier * 3 / 20, rel=0.02)
    figures = result.history.private_columns().reveal()
    assert set(figures["accepted"]) == {0}
    assert all(row.norm_sum == pytest.approx(20 * 3 * 1.01, rel=0.8) for row in result.history.epochs)


def test_records_without_a_number_are_dropped_and_the_budget_is_the_same() -> None:
    gradients = np.random.default_rng(1).standard_normal((400, 2))
    spoilt = gradients.copy()
    spoilt[:40], spoilt[40:60] = math.nan, math.inf
    for plan in (PLAN, dp_sgd(PLAN)):
        records = Fixed(spoilt)
        result = train(records, plan, coins=Coins.seeded(2))
        assert np.isfinite(records.steps).all()
        assert sum(result.history.private_columns().reveal()["dropped"]) > 0
        assert result.epsilon <= 8
    assert train(Fixed(gradients), dp_sgd(PLAN), coins=Coins.seeded(2)).epsilon == result.epsilon


@pytest.mark.parametrize("plan", [PLAN, dp_sgd(PLAN)], ids=["dpis", "dp-sgd"])
def test_finite_gradients_that_are_too_long_are_dropped_and_counted(plan: RunPlan) -> None:
    data = blobs()
    data.features[:100] *= 1e290
    model = model_of(data)
    result = train(model, plan, coins=Coins.seeded(2))
    assert np.isfinite(model.parameters).all()
    assert sum(result.history.private_columns().reveal()["dropped"]) > 0


@pytest.mark.parametrize("size", [10**7, 1e-3])
def test_norm_sums_at_both_ends_are_kept_within_them(size: float) -> None:
    """Gradients far above C and far below: K̃ = ÑC and (1 + margin)·b·C, or near them."""
    plan = evolve(PLAN, norm_sums=NormSums(noise_multiplier=Public("0.5")), budget=LARGE)
    result = train(Fixed(np.full((500, 1), size)), plan)
    shares = [row.share for row in result.history.epochs]
    assert shares == pytest.approx([1.0] * 3 if size > 1 else [20 * 1.01 / 400] * 3)
    assert result.epsilon <= 60


def test_more_records_than_the_public_size_are_admitted() -> None:
    assert train(Fixed(np.ones((900, 1))), PLAN).epsilon <= 8
    assert train(Fixed(np.ones((0, 1))), PLAN).epsilon <= 8


def test_a_noisy_size_below_the_batch_is_raised_to_where_sums_have_room() -> None:
    result = train(Fixed(np.ones((2, 1))), plan_of(size=evolve(NOISY, noise=Public(2))))
    assert {row.size for row in result.history.epochs} == {20.2}
    assert result.epsilon <= 8


@pytest.mark.parametrize("plan", [PLAN, dp_sgd(PLAN)], ids=["dpis", "dp-sgd"])
def test_a_number_of_records_that_changes_stops_the_run(plan: RunPlan) -> None:
    records = Fixed(np.ones((400, 1)))

    def lose_one(report: Report) -> None:
        if report.epoch.epoch == 1:
            records.gradients = np.ones((399, 1))

    with pytest.raises(InvalidValue, match="399 records; admissible: 400"):
        train(records, plan, progress=lose_one)
    assert len(records.steps) == 11


def test_a_step_of_dpis_evaluates_few_records() -> None:
    """Not more than k·b on average, each once, beside the pass over all norms."""
    random = np.random.default_rng(6)
    records = Fixed(random.uniform(0, 1, (400, 1)) ** 4)
    result = train(records, PLAN, proposals=Proposals(multiplier=Fraction(3)))
    proposed = np.sum(result.history.private_columns().reveal()["proposed"])
    assert records.evaluated - 3 * 400 == proposed
    assert proposed / 30 <= 3 * 20 + 10


def a_step(records: int = 300) -> tuple[EpochNoise, ImportanceSampling, Fixed]:
    """An epoch's noise, bounds that are stale by up to a factor of 4, and records of which some are longer than C."""
    random = np.random.default_rng(records)
    model = Fixed(random.standard_normal((records, 3)) * random.uniform(0, 0.8, (records, 1)))
    account = open_account(plan_of(size=PublicSize(size=Public(records))))
    account.pay_norm_sum(0, 1)
    noise = account.begin_epoch(Fraction(records, 2), 1)
    sampling = ImportanceSampling(TwoStage(multiplier=2, floor="0.01", error=model.error))
    stale = model.evaluate(np.arange(records)).norms * random.uniform(0.25, 4, records)
    sampling.begin(stale, noise.clip)
    return noise, sampling, model


class InParts:
    """A model that asks for weights in parts, as it pleases."""

    def __init__(self, model: Fixed, parts: Any) -> None:
        self.model, self.parts = model, parts

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def weighted_sum(self, indices: IntArray, weighting: Weighting, unit: float) -> tuple[Integers, Evaluation]:
        added = [self.model.weighted_sum(part, weighting, unit) for part in self.parts(indices)]
        return np.sum([total for total, _ in added], axis=0), Evaluation.joined([found for _, found in added])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_one_pass_adds_what_two_passes_would(seed: int, size: int) -> None:
    """Propose, evaluate, accept, and only then a second pass over those accepted: the same sum, bit for bit."""
    noise, sampling, model = a_step()
    two, bounds, coins = sampling.two_stage, sampling.bounds.copy(), Coins.seeded(seed)
    first = two.propose(bounds, norm_sum=noise.norm_sum, batch=noise.batch, coins=coins)
    norms = model.evaluate(first.indices).norms
    second = two.accept(norms, bounds[first.indices], coins=coins)
    accepted = first.indices[second.indices]
    expected, _ = model.weighted_sum(accepted, lambda found: two.weights(found, noise.length), float(noise.unit))
    parts: Any = InParts(model, lambda indices: np.split(indices, np.arange(size, len(indices), size)))
    found = sampling.sum(parts, noise, Coins.seeded(seed))
    assert np.array_equal(found.total, expected)
    assert 0 < found.figures.accepted == len(accepted) < found.figures.proposed == len(first.indices)
    assert found.figures.expected_accepted == pytest.approx(second.expected.reveal())
    assert np.array_equal(sampling.bounds[first.indices], two.bounds(norms, noise.clip))


@pytest.mark.parametrize(
    "parts",
    [lambda indices: [indices, indices], lambda indices: [indices, indices[:1]], lambda indices: [indices[:-1]]],
    ids=["all twice", "one twice", "one left out"],
)
def test_a_record_has_one_coin(parts: Any) -> None:
    """Two coins would let a record in at twice its rate, and one that was left out may have been added unasked."""
    noise, sampling, model = a_step()
    asking: Any = InParts(model, parts)
    with pytest.raises(InvalidValue, match="one weight for each record"):
        sampling.sum(asking, noise, Coins.seeded(1))


def test_stale_bounds_bias_and_the_history_says_how_much() -> None:
    """A norm that grows from 0.01 to 1 within an epoch is clipped to k·0.01 when next proposed, then renewed."""
    account = open_account(plan_of(size=PublicSize(size=Public(100))))
    account.pay_norm_sum(0, 1)
    noise = account.begin_epoch(Fraction(40), 1)
    sampling = ImportanceSampling(TwoStage(multiplier=5, floor="0.01", error=0))
    sampling.begin(np.full(100, 0.01), noise.clip)
    assert sampling.bounds == pytest.approx(np.full(100, 0.05))
    coins = Coins.seeded(3)
    found = sampling.sum(Fixed(np.ones((100, 1))), noise, coins)
    assert found.figures.stale_bias == pytest.approx(0.95)
    renewed = sampling.bounds == 1
    assert np.count_nonzero(renewed) == found.figures.proposed > 0
    sampling.begin(np.ones(100), noise.clip)
    again = sampling.sum(Fixed(np.ones((100, 1))), noise, coins)
    assert again.figures.stale_bias == 0
    assert again.figures.proposed == again.figures.accepted


@pytest.mark.slow
def test_history_as_a_table_and_a_picture() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    result = train(model_of(blobs()), PLAN)
    table = result.history.table()
    assert isinstance(table, pyarrow.Table)
    assert table.column("steps").to_pylist() == [10, 10, 10]
    private = result.history.private_table()
    assert str(private) == "Private(…)"
    assert private.reveal().num_rows == 30
    assert "0." not in repr(result.history.steps)
    pytest.importorskip("matplotlib")
    assert plot_history(result.history).startswith(b"\x89PNG")
    assert plot_steps(result.history).reveal().startswith(b"\x89PNG")
    with pytest.raises(InvalidValue, match="history"):
        plot_history(type(result.history)())
    without_numbers = train(Fixed(np.full((400, 1), math.nan)), PLAN)
    assert plot_steps(without_numbers.history).reveal().startswith(b"\x89PNG")


def test_the_bias_of_stale_bounds_is_a_share_whatever_the_scale() -> None:
    norms, bounds, rates = np.array([0.5, 2.0, np.nan]), np.array([0.5, 0.5, 1.0]), np.array([0.5, 0.25, 1.0])
    for scale in (1.0, 1e-6, 1e6):
        # min(n, C) is 1/2 and 1, of which nothing and 1/2 are lost, each by its rate
        found = _stale_bias(norms * scale, bounds * scale, rates, scale)
        assert found == pytest.approx((0 + 0.5 / 0.25) / (0.5 / 0.5 + 1 / 0.25))
    assert np.isnan(_stale_bias(np.zeros(2), np.ones(2), np.ones(2), 1.0))
