"""Reference models: gradients against finite differences, norms and sums against explicit gradients of every record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from certdp.accounting.errors import InvalidValue
from certdp.dpis.models import (
    Activation,
    ImageShape,
    LabelledData,
    Logistic,
    Mlp,
    Network,
    RecordModel,
    Relu,
    Tanh,
    TemperedSigmoid,
)
from certdp.dpis.optimisers import Adam, Sgd
from certdp.dpis.sampling import FloatArray
from certdp.plugins.contract import Coins

RECORDS, FEATURES, CLASSES = 12, 5, 3
NETWORKS: dict[str, Network] = {
    "logistic": Logistic(features=FEATURES, classes=CLASSES),
    "relu": Mlp(features=FEATURES, hidden=4, classes=CLASSES, activation=Relu()),
    "tanh": Mlp(features=FEATURES, hidden=4, classes=CLASSES),
    "tempered": Mlp(
        features=FEATURES,
        hidden=4,
        classes=CLASSES,
        activation=TemperedSigmoid(scale=1.6, temperature=2.2, offset=0.7),
    ),
}
random = np.random.default_rng(5)
DATA = LabelledData(
    features=random.standard_normal((RECORDS, FEATURES)) * 3,
    labels=random.integers(0, CLASSES, RECORDS),
    divide_by=1.5,
)
EVERYONE = np.arange(RECORDS)


@pytest.fixture(params=NETWORKS)
def model(request: pytest.FixtureRequest) -> RecordModel:
    network = NETWORKS[request.param]
    made = RecordModel(network, DATA, Sgd(rate=1.0), coins=Coins.seeded(1))
    made.parameters = np.random.default_rng(2).standard_normal(network.dimension)
    return made


def loss(model: RecordModel, parameters: FloatArray, record: int) -> float:
    """Cross-entropy of one record, written out."""
    features, labels = DATA.rows(np.array([record]))
    scores = model.network.logits(parameters, features)[0]
    return math.log(math.fsum(math.exp(score) for score in scores)) - float(scores[labels[0]])


def gradient(model: RecordModel, record: int) -> FloatArray:
    """The gradient of one record by central differences."""
    width, entries = 1e-5, []
    for entry in range(model.dimension):
        moved = np.zeros(model.dimension)
        moved[entry] = width
        ahead, behind = (loss(model, model.parameters + sign * moved, record) for sign in (1, -1))
        entries.append((ahead - behind) / (2 * width))
    return np.array(entries)


def test_gradients_norms_and_losses_are_those_of_finite_differences(model: RecordModel) -> None:
    explicit = np.stack([gradient(model, record) for record in range(RECORDS)])
    found = model.evaluate(EVERYONE)
    assert found.norms == pytest.approx(np.linalg.norm(explicit, axis=1), rel=1e-7)
    assert found.losses == pytest.approx(
        [loss(model, model.parameters, record) for record in range(RECORDS)], rel=1e-12
    )
    chosen, factors = np.array([7, 2, 3]), np.array([0.5, 0.0, 2.0])
    total, of_chosen = model.weighted_sum(chosen, lambda norms: factors)
    assert total == pytest.approx(factors @ explicit[chosen], rel=1e-6, abs=1e-8)
    assert of_chosen.norms == pytest.approx(found.norms[chosen], rel=1e-13)


def test_norms_are_those_of_the_vectors_added_within_the_stated_error(model: RecordModel) -> None:
    """Near-certain predictions too, whose gradients nearly cancel."""
    model.parameters *= 10
    for record in EVERYONE:
        norms: list[float] = []

        def weighting(given: FloatArray, norms: list[float] = norms) -> FloatArray:
            norms.extend(given)
            return np.ones(1)

        vector, _ = model.weighted_sum(np.array([record]), weighting)
        assert norms[0] == pytest.approx(math.hypot(*vector), rel=float(model.error) / 4, abs=1e-300)


def test_tiny_and_huge_entries_keep_their_digits() -> None:
    """Squares of 1e-200 underflow, of 1e200 overflow: the first norms are right, the second infinite, never smaller."""
    data = LabelledData(features=np.array([[1e-200], [1e150], [1e200]]), labels=np.array([0, 0, 0]))
    model = RecordModel(Logistic(features=1, classes=2), data, Sgd())
    model.parameters = np.array([0.0, 600.0, 0.0, 0.0])
    found = model.evaluate(np.arange(3)).norms
    assert found[0] == pytest.approx(math.sqrt(2) * math.exp(-600), rel=1e-12)
    assert found[1] == pytest.approx(math.sqrt(2) * math.exp(-600) * 1e150, rel=1e-12)
    assert found[2] == math.inf


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_a_record_that_is_no_number_harms_no_other(network: Network, bad: float) -> None:
    features = np.array(DATA.features)
    features[4, 2] = bad
    spoilt = RecordModel(network, LabelledData(features=features, labels=DATA.labels), Sgd(), coins=Coins.seeded(1))
    clean = RecordModel(network, LabelledData(features=DATA.features, labels=DATA.labels), Sgd(), coins=Coins.seeded(1))
    norms = spoilt.evaluate(EVERYONE).norms
    assert not np.isfinite(norms[4])
    others = np.delete(EVERYONE, 4)
    assert norms[others] == pytest.approx(clean.evaluate(EVERYONE).norms[others], rel=1e-13)
    total, _ = spoilt.weighted_sum(EVERYONE, lambda given: np.where(np.isfinite(given), 1.0, 0.0))
    expected, _ = clean.weighted_sum(others, np.ones_like)
    assert total == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_no_records_have_no_norms_and_add_nothing(model: RecordModel) -> None:
    nobody = np.empty(0, dtype=np.intp)
    assert model.evaluate(nobody).norms.shape == (0,)
    assert not model.weighted_sum(nobody, np.ones_like)[0].any()


def test_reading_in_parts_changes_nothing_but_rounding(model: RecordModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, found = model.weighted_sum(EVERYONE, np.sqrt)
    monkeypatch.setattr("certdp.dpis.models.record_model._ENTRIES", 2 * FEATURES)
    parts, again = model.weighted_sum(EVERYONE, np.sqrt)
    assert parts == pytest.approx(whole, rel=1e-12, abs=1e-13)
    assert again.norms == pytest.approx(found.norms, rel=1e-13)


@pytest.mark.parametrize("activation", [Relu(), Tanh(), TemperedSigmoid(scale=1.6, temperature=2.2, offset=0.7)])
def test_slopes_are_derivatives(activation: Activation) -> None:
    places = np.linspace(-3, 3, 40)
    differences = (activation.of(places + 1e-6) - activation.of(places - 1e-6)) / 2e-6
    assert activation.slope(places) == pytest.approx(differences, abs=1e-8)


def test_the_usual_tempered_sigmoid_is_the_hyperbolic_tangent() -> None:
    places = np.linspace(-800, 800, 31)
    assert TemperedSigmoid().of(places) == pytest.approx(np.tanh(places))


def test_momentum_and_adam_by_hand() -> None:
    gradients = [np.array([1.0, -2.0]), np.array([3.0, 0.5])]
    descent = Sgd(rate=0.1, momentum=0.9).optimiser()
    assert descent.change(gradients[0]) == pytest.approx([-0.1, 0.2])
    assert descent.change(gradients[1]) == pytest.approx([-0.1 * 3.9, -0.1 * (-1.8 + 0.5)])
    adam = Adam(rate=0.01, first=0.5, second=0.75, offset=1e-8).optimiser()
    assert adam.change(gradients[0]) == pytest.approx([-0.01, 0.01])  # the first step has the size of the rate
    mean, square = (0.25 * 1 + 0.5 * 3) / 0.75, (0.75 * 0.25 * 1 + 0.25 * 9) / (1 - 0.75**2)
    assert adam.change(gradients[1])[0] == pytest.approx(-0.01 * mean / math.sqrt(square))


@pytest.mark.parametrize("options", [Sgd(momentum=0.5), Adam()])
def test_a_restored_model_goes_on_as_if_nothing_had_been(options: Any) -> None:
    def fresh() -> RecordModel:
        return RecordModel(NETWORKS["tanh"], DATA, options, coins=Coins.seeded(8))

    gradients = np.random.default_rng(3).standard_normal((4, fresh().dimension))
    straight, first, second = fresh(), fresh(), RecordModel(NETWORKS["tanh"], DATA, options)
    for gradient in gradients:
        straight.step(gradient)
    for gradient in gradients[:2]:
        first.step(gradient)
    second.restore(first.state())
    for gradient in gradients[2:]:
        second.step(gradient)
    assert np.array_equal(second.parameters, straight.parameters)
    with pytest.raises(InvalidValue, match="parameters"):
        straight.restore({"parameters": np.zeros(3)})


def test_data_and_networks_that_do_not_fit_are_refused() -> None:
    features, labels = np.zeros((3, 2)), np.array([0, 1, 2])
    cases: list[dict[str, Any]] = [
        {"features": np.zeros(3)},
        {"features": np.zeros((0, 2)), "labels": labels[:0]},
        {"labels": labels[:2]},
        {"labels": np.array([0.0, 1.0, 2.0])},
        {"labels": labels - 1},
        {"divide_by": 0.0},
    ]
    for bad in cases:
        with pytest.raises(InvalidValue):
            LabelledData(**{"features": features, "labels": labels, **bad})
    data = LabelledData(features=features, labels=labels)
    with pytest.raises(InvalidValue, match="columns"):
        RecordModel(Logistic(features=3, classes=3), data, Sgd())
    with pytest.raises(InvalidValue, match="label"):
        RecordModel(Logistic(features=2, classes=2), data, Sgd())
    for name, value in (("features", 0), ("classes", 1), ("hidden", 0)):
        sizes: dict[str, Any] = {"features": 2, "hidden": 2, "classes": 2, name: value}
        with pytest.raises(InvalidValue, match=name):
            Mlp(**sizes)
    for options in (lambda: Sgd(rate=0.0), lambda: Sgd(momentum=1.0), lambda: Adam(offset=-1.0)):
        with pytest.raises(InvalidValue):
            options()


def test_predictions_and_accuracy() -> None:
    data = LabelledData(features=np.array([[1], [2], [3]], dtype=np.uint8), labels=np.array([0, 1, 0]))
    model = RecordModel(Logistic(features=1, classes=2), data, Sgd())
    model.parameters = np.array([0.0, 0.0, 1.0, -1.5])
    assert model.predict(np.array([[1.0], [2.0], [3.0]])).tolist() == [0, 1, 1]
    assert model.accuracy(data) == pytest.approx(2 / 3)


def test_a_score_that_is_no_number_predicts_no_class() -> None:
    numbers = np.array([[1e300], [-1e300], [0.0], [1e-300], [np.nan]])
    data = LabelledData(features=numbers, labels=np.zeros(5, dtype=np.intp), divide_by=5e-324)
    assert np.array_equal(data.rows(np.arange(3))[0][:, 0], [np.inf, -np.inf, 0.0])
    model = RecordModel(Logistic(features=1, classes=2), data, Sgd())  # whose parameters 0 times infinity are NaN
    assert model.predict(data.rows(np.arange(5))[0]).tolist() == [-1, -1, 0, 0, -1]
    assert model.accuracy(data) == pytest.approx(2 / 5)


@pytest.mark.parametrize(("text", "shape"), [("28x30", (1, 28, 30)), ("3x32x16", (3, 32, 16)), ("1x1", (1, 1, 1))])
def test_the_shape_of_images_is_read(text: str, shape: tuple[int, int, int]) -> None:
    assert ImageShape.read(text) == ImageShape(*shape)


@pytest.mark.parametrize("text", ["", "28", "1x2x3x4", "0x3", "3x-1", "3x", "2.5x4", "3x\u0663", "a x b", "3X4"])
def test_what_is_no_shape_of_images_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="HEIGHTxWIDTH"):
        ImageShape.read(text)
