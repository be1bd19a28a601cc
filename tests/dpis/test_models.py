"""Reference models: gradients against finite differences, norms and sums against explicit gradients of every record."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from attrs import fields, frozen
from hypothesis import given
from hypothesis import strategies as st

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
    TrainedNetwork,
    trained_network,
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


CUT = 2.0**-20  # what is lost of an entry, of the largest of its row
UNIT = 2.0**-40


def scores_of(network: Network, parameters: FloatArray, features: FloatArray) -> FloatArray:
    """The scores of one record in binary64, written out."""
    if isinstance(network, Logistic):
        matrix = parameters.reshape(network.classes, -1)
        return np.asarray(matrix[:, :-1] @ features + matrix[:, -1])
    assert isinstance(network, Mlp)
    size = network.hidden * (network.features + 1)
    inner, outer = parameters[:size].reshape(network.hidden, -1), parameters[size:].reshape(network.classes, -1)
    hidden = network.activation.of(inner[:, :-1] @ features + inner[:, -1])
    return np.asarray(outer[:, :-1] @ hidden + outer[:, -1])


def loss(model: RecordModel, parameters: FloatArray, record: int) -> float:
    """Cross-entropy of one record, written out."""
    features, labels = DATA.rows(np.array([record]))
    scores = scores_of(model.network, parameters, features[0])
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
    """But for what is cut from records and parameters: with 6 entries of up to 8 by weights of 2, 100 times 2^-20."""
    explicit = np.stack([gradient(model, record) for record in range(RECORDS)])
    found = model.evaluate(EVERYONE)
    losses = [loss(model, model.parameters, record) for record in range(RECORDS)]
    assert found.norms == pytest.approx(np.linalg.norm(explicit, axis=1), rel=100 * CUT)
    assert found.losses == pytest.approx(losses, abs=100 * CUT)
    chosen, factors = np.array([7, 2, 3]), np.array([0.5, 0.0, 2.0])
    total, of_chosen = model.weighted_sum(chosen, lambda norms: factors, UNIT)
    assert total * UNIT == pytest.approx(factors @ explicit[chosen], abs=1000 * CUT)
    assert np.array_equal(of_chosen.norms, found.norms[chosen])


def test_norms_are_those_of_the_vectors_added_within_the_stated_error(model: RecordModel) -> None:
    """Near-certain predictions too, whose gradients nearly cancel."""
    model.parameters *= 10
    for record in EVERYONE:
        norms: list[float] = []

        def weighting(found: FloatArray, norms: list[float] = norms) -> FloatArray:
            norms.extend(found)
            return np.ones(1)

        unit = 2.0 ** (math.frexp(float(model.evaluate(np.array([record])).norms[0]))[1] - 48)
        vector, _ = model.weighted_sum(np.array([record]), weighting, unit)
        exact = math.isqrt(sum(entry * entry for entry in vector.tolist())) * Fraction(unit)
        stated = Fraction(norms[0])
        assert exact <= stated * (1 + model.error / 4)
        assert exact >= stated * (1 - Fraction(1, 2**20))


def test_tiny_and_huge_entries_keep_their_digits() -> None:
    """Neither squares of 1e-200 nor of 1e200 are formed; from 2^900 on a record has no norm."""
    data = LabelledData(features=np.array([[1e-200], [1e150], [1e200], [1e280]]), labels=np.array([0, 0, 0, 0]))
    model = RecordModel(Logistic(features=1, classes=2), data, Sgd())
    model.parameters = np.array([0.0, 600.0, 0.0, 0.0])
    found = model.evaluate(np.arange(4)).norms
    expected = [math.sqrt(2) * math.exp(-600) * length for length in (1, 1e150, 1e200)]
    assert found[:3] == pytest.approx(expected, rel=4 * CUT)
    assert np.isnan(found[3])


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
@given(data=st.data())
def test_a_record_adds_the_same_bits_in_every_batch(network: Network, data: st.DataObject) -> None:
    """Alone, among random companions, in any order and at any place: norms and sums are those of each by itself."""
    random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    count = data.draw(st.integers(1, 300))
    features = random.standard_normal((count, FEATURES)) * 10.0 ** random.integers(-8, 8, (count, 1))
    records = LabelledData(features=features, labels=random.integers(0, CLASSES, count))
    model = RecordModel(network, records, Sgd())
    model.parameters = random.standard_normal(network.dimension) * 10.0 ** random.integers(-3, 3)
    assert model.assumptions == ()

    def weighting(norms: FloatArray) -> FloatArray:
        return np.minimum(1.0, 1.0 / np.maximum(norms, 1e-9))

    alone = [model.weighted_sum(np.array([record]), weighting, UNIT) for record in range(count)]
    batch = random.permutation(count)[: data.draw(st.integers(1, count))]
    total, found = model.weighted_sum(batch, weighting, UNIT)
    assert np.array_equal(total, sum(alone[record][0] for record in batch))
    assert np.array_equal(found.norms, [alone[record][1].norms[0] for record in batch])
    assert np.array_equal(model.evaluate(batch).norms, found.norms)
    assert np.array_equal(found.losses, [alone[record][1].losses[0] for record in batch])


def test_products_of_matrices_in_floats_do_not() -> None:
    """The witness: what the test above would catch."""
    random = np.random.default_rng(0)
    records, weights = random.standard_normal((64, 300)), random.standard_normal((300, 20))
    assert np.any((records @ weights)[0] != (records[:1] @ weights)[0])


@frozen
class Unpromised:
    """An activation that promises nothing of how it rounds."""

    entry_by_entry = False

    def of(self, inputs: FloatArray) -> FloatArray:
        return np.asarray(np.sin(inputs))

    def slope(self, inputs: FloatArray) -> FloatArray:
        return np.asarray(np.cos(inputs))


def test_a_model_states_what_its_activation_does_not_promise() -> None:
    network = Mlp(features=FEATURES, hidden=4, classes=CLASSES, activation=Unpromised())
    stated = [assumed.name for assumed in RecordModel(network, DATA, Sgd()).assumptions]
    assert stated == ["records apart", "contributions independent of the batch"]


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
    assert np.array_equal(norms[others], clean.evaluate(EVERYONE).norms[others])
    total, _ = spoilt.weighted_sum(EVERYONE, lambda found: np.where(np.isfinite(found), 1.0, 0.0), UNIT)
    expected, _ = clean.weighted_sum(others, np.ones_like, UNIT)
    assert np.array_equal(total, expected)


def test_no_records_have_no_norms_and_add_nothing(model: RecordModel) -> None:
    nobody = np.empty(0, dtype=np.intp)
    assert model.evaluate(nobody).norms.shape == (0,)
    assert not model.weighted_sum(nobody, np.ones_like, UNIT)[0].any()


def test_reading_in_parts_changes_nothing(model: RecordModel, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, found = model.weighted_sum(EVERYONE, np.sqrt, UNIT)
    monkeypatch.setattr("certdp.dpis.models.trained_network._ENTRIES", 2 * FEATURES)
    parts, again = model.weighted_sum(EVERYONE, np.sqrt, UNIT)
    assert np.array_equal(parts, whole)
    assert np.array_equal(again.norms, found.norms)


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


def test_a_trained_network_holds_no_data_and_follows_the_conventions() -> None:
    data = LabelledData(features=np.array([[1], [2], [3]], dtype=np.uint8), labels=np.array([0, 1, 0]))
    model = RecordModel(Logistic(features=1, classes=2), data, Sgd())
    model.parameters = np.array([0.0, 0.0, 1.0, -1.5])
    trained = model.model
    model.parameters[:] = 0.0
    assert {field.name for field in fields(TrainedNetwork)} == {"network", "parameters"}
    assert trained.predict([[1.0], [2.0]]).tolist() == [0, 1]
    scores, shares = trained.scores([[2.0], [5.0]]), trained.predict_proba([[2.0], [5.0]])
    np.testing.assert_allclose(shares, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    assert trained.predict(np.empty((0, 1))).shape == (0,)
    assert trained.predict_proba([[1e5]]).sum() == pytest.approx(1)
    wide = Logistic(features=2**17 + 1, classes=2)
    assert TrainedNetwork(network=wide, parameters=wide.start(Coins())).predict(np.ones((2, 2**17 + 1))).tolist() == [
        0,
        0,
    ]
    with pytest.raises(InvalidValue, match="features"):
        trained.predict([[1.0, 2.0]])


@pytest.mark.parametrize("shape", [(), (FEATURES,), (2, FEATURES + 1), (2, FEATURES, 1), (2, 1, FEATURES)], ids=str)
def test_a_trained_network_takes_a_row_for_each_record(shape: tuple[int, ...]) -> None:
    network = NETWORKS["logistic"]
    trained = TrainedNetwork(network=network, parameters=np.zeros(network.dimension))
    for method in (trained.scores, trained.predict, trained.predict_proba):
        with pytest.raises(InvalidValue, match="features: got shape"):
            method(np.zeros(shape))


@pytest.mark.parametrize("name", NETWORKS)
def test_a_trained_network_reads_records_in_parts(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """At least one at a time, and each by itself."""
    network, source = NETWORKS[name], np.random.default_rng(1)
    trained = TrainedNetwork(network=network, parameters=source.normal(size=network.dimension))
    records = source.normal(size=(RECORDS, FEATURES))
    labels = trained.predict(records)
    data = LabelledData(features=records, labels=labels)
    whole = trained.scores(records)
    for entries in (1, FEATURES - 1, 3 * FEATURES, 4 * FEATURES + 1, 10**6):
        monkeypatch.setattr(trained_network, "_ENTRIES", entries)
        np.testing.assert_allclose(trained.scores(records), whole, rtol=1e-12)
        assert trained.accuracy(data) == 1.0
        sizes = [part.stop - part.start for part in trained_network.blocks(network, RECORDS)]
        assert set(sizes) == {max(1, entries // FEATURES)}
        assert sum(sizes) - sizes[0] < RECORDS <= sum(sizes)


def test_probabilities_of_far_scores_are_numbers() -> None:
    network = Logistic(features=1, classes=2)
    parameters = np.array([0.0, 0.0, 1.0, -1.5])
    shares = TrainedNetwork(network=network, parameters=parameters).predict_proba([[1e4], [-1e4], [0.0]])
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert np.isin(shares[:2], (0.0, 1.0)).all()


def test_a_score_that_is_no_number_predicts_no_class() -> None:
    numbers = np.array([[1e300], [-1e300], [0.0], [1e-300], [np.nan]])
    data = LabelledData(features=numbers, labels=np.zeros(5, dtype=np.intp), divide_by=5e-324)
    assert np.array_equal(data.rows(np.arange(3))[0][:, 0], [np.inf, -np.inf, 0.0])
    model = RecordModel(Logistic(features=1, classes=2), data, Sgd())  # whose parameters 0 times infinity are NaN
    assert model.predict(data.rows(np.arange(5))[0]).tolist() == [-1, -1, 0, 0, -1]
    for wrong in (0, 1):
        parameters = np.array([1.0, 2.0, 3.0, 4.0])
        parameters[2 * wrong] = np.nan  # of one class alone
        trained = TrainedNetwork(network=Logistic(features=1, classes=2), parameters=parameters)
        assert np.isnan(trained.scores([[1.0]])).tolist() == [[wrong == 0, wrong == 1]]
        assert trained.predict([[1.0]]).tolist() == [-1]
    assert model.accuracy(data) == pytest.approx(2 / 5)


@pytest.mark.parametrize(("text", "shape"), [("28x30", (1, 28, 30)), ("3x32x16", (3, 32, 16)), ("1x1", (1, 1, 1))])
def test_the_shape_of_images_is_read(text: str, shape: tuple[int, int, int]) -> None:
    assert ImageShape.read(text) == ImageShape(*shape)


@pytest.mark.parametrize("text", ["", "28", "1x2x3x4", "0x3", "3x-1", "3x", "2.5x4", "3x\u0663", "a x b", "3X4"])
def test_what_is_no_shape_of_images_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue, match="HEIGHTxWIDTH"):
        ImageShape.read(text)
