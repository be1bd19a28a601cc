# pyright: reportMissingImports=false
"""Classifiers made of the options of the NumPy models do what those do; records of files are what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from certdp.accounting.errors import InvalidValue
from certdp.accounting.private import InvalidData
from certdp.dpis.models import ImageShape, LabelledData, Logistic, RecordModel, Relu, Tanh, TemperedSigmoid
from certdp.dpis.optimisers import Adam, OptimiserOptions, Sgd
from certdp.dpis.torch import (
    ImageRecords,
    ReviewClassifier,
    WordRecords,
    activation_modules,
    classifier,
    scattering_cnn,
    small_cnn,
)
from certdp.plugins.contract import Coins


def images(divide_by: float = 1.0) -> LabelledData:
    random = np.random.default_rng(3)
    return LabelledData(
        features=random.integers(0, 255, (30, 12)), labels=random.integers(0, 3, 30), divide_by=divide_by
    )


def zeros(columns: int) -> nn.Module:
    network = nn.Sequential(nn.Flatten(), nn.Linear(columns, 3))
    for value in network.parameters():
        nn.init.zeros_(value)
    return network


@pytest.mark.parametrize("optimiser", [Sgd(rate=0.3, momentum=0.8), Adam(rate=0.1)], ids=["sgd", "adam"])
def test_optimisers_are_those_of_the_numpy_models(optimiser: OptimiserOptions) -> None:
    """But for what the NumPy models cut from their factors: 2^-20 of the largest of a row."""
    unit = 2.0**-44
    data = images(255)
    theirs = RecordModel(Logistic(features=12, classes=3), data, optimiser)
    ours = classifier(lambda: zeros(12), ImageRecords(data, ImageShape(3, 2, 2)), optimiser, coins=Coins.seeded(1))
    everyone = np.arange(len(data))
    for _ in range(5):
        for model in (ours, theirs):
            total, _ = model.weighted_sum(everyone, lambda norms: np.full(len(norms), 1 / len(norms)), unit)
            model.step(np.asarray(total * unit, dtype=np.float64))
    found = ours.released()
    expected = theirs.parameters.reshape(3, 13)
    np.testing.assert_allclose(found["1.weight"], expected[:, :-1], rtol=0, atol=2.0**-14 * np.abs(expected).max())
    np.testing.assert_allclose(found["1.bias"], expected[:, -1], rtol=0, atol=2.0**-14 * np.abs(expected).max())


@pytest.mark.parametrize(
    "activation", [Relu(), Tanh(), TemperedSigmoid(scale=1.58, temperature=3.0, offset=0.71)], ids=repr
)
def test_activations_are_those_of_the_numpy_models(activation: Any) -> None:
    inputs = np.linspace(-4, 4, 41)
    found = activation_modules(activation)()(torch.from_numpy(inputs)).numpy()
    np.testing.assert_allclose(found, activation.of(inputs), rtol=1e-12, atol=1e-15)


def test_images_are_read_channel_after_channel_and_row_after_row() -> None:
    data = images(2)
    inputs, targets = ImageRecords(data, ImageShape(3, 2, 2)).rows(torch.tensor([4, 0]))
    assert inputs.shape == (2, 3, 2, 2)
    assert inputs[1, 2, 0, 1] == data.features[0, 2 * 4 + 1] / 2
    assert targets.tolist() == [data.labels[4], data.labels[0]]
    with pytest.raises(InvalidValue, match="shape of 12 numbers"):
        ImageRecords(data, ImageShape(1, 2, 2))


def test_words_are_whole_numbers_up_to_the_stated_one() -> None:
    words = np.array([[1, 0], [5, 2]], dtype=np.uint16)
    records = WordRecords(LabelledData(features=words, labels=np.array([0, 1])), 5)
    inputs, _ = records.rows(torch.tensor([1, 0]))
    assert inputs.tolist() == [[5, 2], [1, 0]]
    assert inputs.dtype == torch.int64
    for odd, row in (
        (words + 1, 1),
        (-words.astype(int), 0),
        (words + 0.25, 1),
        (words * 0.5, 0),
        (np.where(words == 2, np.nan, words), 1),
    ):
        with pytest.raises(InvalidData, match=rf"got another number in row {row}, column \d, counted from 0"):
            WordRecords(LabelledData(features=odd, labels=np.array([0, 1])), 5)


def test_parameters_are_drawn_with_the_coins_given_and_leave_those_of_pytorch_alone() -> None:
    records = WordRecords(LabelledData(features=np.ones((4, 3), dtype=int), labels=np.arange(4)), 1)

    def drawn(seed: int) -> Any:
        network = classifier(
            lambda: ReviewClassifier(words=2, width=3, units=2, classes=4), records, Sgd(), coins=Coins.seeded(seed)
        )
        return network.released()["scores.weight"]

    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, again, other = drawn(1), drawn(1), drawn(2)
    assert torch.rand(1) == expected
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_networks_have_the_sizes_of_their_papers() -> None:
    def size(network: nn.Module) -> int:
        return sum(value.numel() for value in network.parameters())

    assert size(small_cnn()) == 16 * 65 + 32 * (16 * 16 + 1) + 32 * 513 + 10 * 33
    assert size(scattering_cnn()) == 16 * (81 * 9 + 1) + 32 * (16 * 9 + 1) + 32 * 513 + 10 * 33
    assert small_cnn(shape=ImageShape(3, 32, 32), classes=4)(torch.zeros(2, 3, 32, 32)).shape == (2, 4)
    with pytest.raises(InvalidValue, match="14 × 14"):
        small_cnn(shape=ImageShape(1, 13, 40))
