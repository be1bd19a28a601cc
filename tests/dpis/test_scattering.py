"""Features of a scattering network: fixed, of one record each, and without a trace of the others."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from certdp.accounting.errors import InvalidValue
from certdp.commands.app import app
from certdp.dpis.models import ImageShape, LabelledData
from certdp.dpis.scattering import Scattering

NEEDS_KYMATIO = pytest.mark.skipif(importlib.util.find_spec("kymatio") is None, reason="extra scattering")


def images(count: int, shape: ImageShape, divide_by: float = 1.0) -> LabelledData:
    random = np.random.default_rng(8)
    features = random.integers(0, 256, (count, shape.entries), dtype=np.uint8)
    return LabelledData(features=features, labels=np.arange(count) % 2, divide_by=divide_by)


def features(shape: ImageShape, rows: Any) -> Any:
    rows = np.asarray(rows, dtype=float).reshape(-1, shape.entries)
    data = LabelledData(features=rows, labels=np.zeros(len(rows), dtype=int))
    found = Scattering(shape).of(data).features
    result = Scattering(shape).result
    return found.reshape(-1, result.channels, result.height, result.width)


@pytest.mark.parametrize(
    ("shape", "scales", "result"),
    [
        (ImageShape(1, 28, 28), 2, ImageShape(81, 7, 7)),  # as Tramèr, Boneh 2021 have it
        (ImageShape(3, 32, 32), 2, ImageShape(243, 8, 8)),
        (ImageShape(1, 30, 17), 1, ImageShape(9, 15, 8)),
        (ImageShape(2, 24, 16), 3, ImageShape(2 * 217, 3, 2)),
    ],
)
def test_the_shape_of_features_is_known_beforehand(shape: ImageShape, scales: int, result: ImageShape) -> None:
    assert Scattering(shape, scales).result == result


@NEEDS_KYMATIO
@pytest.mark.parametrize(("shape", "scales"), [(ImageShape(1, 30, 17), 1), (ImageShape(2, 24, 16), 3)])
def test_features_have_that_shape(shape: ImageShape, scales: int) -> None:
    network = Scattering(shape, scales)
    found = network.of(images(3, shape))
    assert found.features.shape == (3, network.result.entries)
    assert np.isfinite(found.features).all()
    assert found.labels.tolist() == [0, 1, 0]


@NEEDS_KYMATIO
def test_features_of_a_record_are_its_own() -> None:
    """More records than are computed at a time; one of them without numbers."""
    shape = ImageShape(1, 12, 8)
    data = images(70, shape, divide_by=255)
    together = Scattering(shape).of(data).features
    for chosen in (0, 63, 64, 69):
        alone = LabelledData(features=data.features[[chosen]], labels=data.labels[[chosen]], divide_by=255)
        np.testing.assert_array_equal(Scattering(shape).of(alone).features[0], together[chosen])
    odd = data.features / 255
    odd[5, 3], odd[6, 1], odd[66, 0] = np.nan, 1e308, np.inf
    found = Scattering(shape).of(LabelledData(features=odd, labels=data.labels)).features
    others = np.setdiff1d(np.arange(70), [5, 6, 66])
    np.testing.assert_array_equal(found[others], together[others])
    assert not np.isfinite(found[[5, 66]]).any()


@NEEDS_KYMATIO
def test_groups_of_channels_have_mean_0_and_variance_1_within_each_image() -> None:
    found = features(ImageShape(1, 16, 16), images(4, ImageShape(1, 16, 16)).features)  # variances far above 10^-5
    for first in range(0, 81, 3):
        group = found[:, first : first + 3].reshape(4, -1).astype(float)
        np.testing.assert_allclose(group.mean(axis=1), 0, atol=1e-5)
        np.testing.assert_allclose(group.var(axis=1), 1, rtol=1e-3)


@NEEDS_KYMATIO
def test_channels_of_an_image_are_treated_alike_and_apart() -> None:
    shape = ImageShape(2, 12, 12)
    rows = images(3, shape).features.reshape(3, 2, 144)
    found = features(shape, rows)
    for channel in range(2):
        expected = features(ImageShape(1, 12, 12), rows[:, channel])
        np.testing.assert_allclose(found[:, 81 * channel : 81 * (channel + 1)], expected, atol=1e-5)


@NEEDS_KYMATIO
def test_a_moved_shape_moves_its_features() -> None:
    """By one cell for four pixels, far from the edges; features of order 0 and 1 tell up from across."""
    still, moved = np.zeros((2, 48, 48))
    still[18:26, 16:30] = moved[18:26, 20:34] = 1.0
    first, second = features(ImageShape(1, 48, 48), [still, moved])
    np.testing.assert_allclose(first[:, 2:-2, 2:-3], second[:, 2:-2, 3:-2], atol=0.05)
    assert np.abs(first - features(ImageShape(1, 48, 48), still.T)[0]).max() > 0.5


def test_what_is_too_small_or_of_another_shape_is_refused() -> None:
    with pytest.raises(InvalidValue, match="at least 4 × 4"):
        Scattering(ImageShape(1, 3, 9))
    with pytest.raises(InvalidValue, match="scales"):
        Scattering(ImageShape(1, 9, 9), 0)
    with pytest.raises(InvalidValue, match="shape of 80 numbers"):
        Scattering(ImageShape(1, 9, 9)).of(images(2, ImageShape(1, 8, 10)))


@NEEDS_KYMATIO
def test_models_train_on_features(tmp_path: Path) -> None:
    """Two textures of one mean, which no affine map of pixels tells apart."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 400)
    rows, columns = np.mgrid[:12, :12]
    phases = random.uniform(0, 2 * np.pi, (400, 1, 1))
    waves = np.where(labels[:, np.newaxis, np.newaxis], np.cos(1.6 * rows + phases), np.cos(1.6 * columns + phases))
    train, test = slice(0, 300), slice(300, None)
    parts = {"X": waves[train], "y_train": labels[train], "X_test": waves[test], "y_test": labels[test]}
    np.savez(tmp_path / "waves.npz", **parts)
    run = ("--records", 300, "--batch", 30, "--epochs", 2, "--epsilon", 8, "--delta", "1e-5", "--order", 4)
    model = ("--model", "logistic", "--classes", 2, "--norm-noise", 6, "--features", "scattering", "--seed", 1)
    source = ("--data", tmp_path / "waves.npz", "--target", "y_train", "--test", "X_test")
    arguments = ["dpis", "train", *map(str, (*source, *run, *model, "--output", tmp_path / "out"))]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.output
    with np.load(tmp_path / "out/model.npz") as stored:
        assert stored["parameters"].shape == (2 * (81 * 9 + 1),)
    figures = (tmp_path / "out/private-figures.json").read_text("utf-8")
    assert '"test_accuracy": 1.0' in figures
