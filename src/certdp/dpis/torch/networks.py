# pyright: reportMissingImports=false
"""The networks that the experiments train."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import torch
from torch import Tensor, nn

from ...accounting.enclosures.arguments import whole
from ...accounting.errors import InvalidValue
from ..models.images import ImageShape
from .recurrent import Lstm

_GREY = ImageShape(1, 28, 28)
_SCATTERED = ImageShape(81, 7, 7)


@final
class TemperedSigmoid(nn.Module):
    """s/(1 + e^{−T·x}) − o (Papernot, Thakurta, Song, Chien, Erlingsson 2021): bounded, so that gradients stay short.

    Args:
        scale: s; by default 2, with which and the other defaults it is the hyperbolic tangent.
        temperature: T, by default 2.
        offset: o, by default 1.
    """

    def __init__(self, *, scale: float = 2.0, temperature: float = 2.0, offset: float = 1.0) -> None:
        super().__init__()
        self.scale, self.temperature, self.offset = scale, temperature, offset

    def forward(self, inputs: Tensor) -> Tensor:
        """Apply the function to each entry."""
        return self.scale * torch.sigmoid(self.temperature * inputs) - self.offset


def small_cnn(
    *, classes: int = 10, shape: ImageShape = _GREY, activation: Callable[[], nn.Module] = nn.Tanh
) -> nn.Sequential:
    """The network that DP-SGD is commonly compared with on MNIST (Papernot et al. 2021, Table 1): 26,010 parameters for
    1 × 28 × 28 and ten classes.

    Args:
        classes: number of classes, ≥ 2.
        shape: of an image, at least 14 × 14.
        activation: makes the activations; `TemperedSigmoid` and `torch.nn.ReLU` are others.

    Raises:
        InvalidValue: for smaller images.
    """
    if min(shape.height, shape.width) < 14:
        raise InvalidValue("image", str(shape), "images of at least 14 × 14 for a cnn", "Take an mlp")
    seen = nn.Sequential(
        nn.Conv2d(shape.channels, 16, 8, stride=2, padding=3),
        activation(),
        nn.MaxPool2d(2, stride=1),
        nn.Conv2d(16, 32, 4, stride=2),
        activation(),
        nn.MaxPool2d(2, stride=1),
        nn.Flatten(),
    )
    return _classifying(seen, shape, classes, activation)


def scattering_cnn(
    *, classes: int = 10, shape: ImageShape = _SCATTERED, activation: Callable[[], nn.Module] = nn.Tanh
) -> nn.Sequential:
    """The network for scattering features of grey images (Tramèr, Boneh 2021): 33,066 parameters for ten classes.

    Args:
        classes: number of classes, ≥ 2.
        shape: of the features, as `certdp.dpis.scattering` gives it.
        activation: makes the activations.
    """
    seen = nn.Sequential(
        nn.Conv2d(shape.channels, 16, 3, stride=2, padding=1),
        activation(),
        nn.Conv2d(16, 32, 3, padding=1),
        activation(),
        nn.Flatten(),
    )
    return _classifying(seen, shape, classes, activation)


def _classifying(
    seen: nn.Sequential, shape: ImageShape, classes: int, activation: Callable[[], nn.Module]
) -> nn.Sequential:
    """Two affine layers behind those that look at the image."""
    with torch.no_grad():
        columns = seen(torch.zeros(1, shape.channels, shape.height, shape.width)).shape[1]
    return seen.extend([nn.Linear(columns, 32), activation(), nn.Linear(32, whole("classes", classes, 2))])


@final
class ReviewClassifier(nn.Module):
    """The recurrent network of DPIS Table 1, for reviews that are rows of word numbers.

    A frozen table of word vectors, an affine layer, an LSTM in both directions whose last outputs are joined, an
    affine layer, scores. The paper takes its vectors from GloVe; without any, fixed normal ones are drawn.

    Args:
        words: number of words, ≥ 1; by default 20,000, one that stands for all others, and one that pads.
        width: entries of a word vector, ≥ 1; the paper's is 100.
        units: of the first affine layer and of each direction of the LSTM, ≥ 1; the paper's are 32.
        last: units of the last hidden layer, ≥ 1; the paper's are 16.
        classes: number of classes, ≥ 2; the paper's are 2.
        vectors: (words, width), fixed before the data; drawn where it is None.
        activation: of the affine layers but the last; the paper takes ReLU, and tanh for one contender.
    """

    def __init__(
        self,
        *,
        words: int = 20_002,
        width: int = 100,
        units: int = 32,
        last: int = 16,
        classes: int = 2,
        vectors: Tensor | None = None,
        activation: Callable[[], nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        table = torch.randn(whole("words", words, 1), whole("width", width, 1)) if vectors is None else vectors
        self.embedding = nn.Embedding.from_pretrained(table, freeze=True)
        self.first = nn.Sequential(nn.Linear(table.shape[1], whole("units", units, 1)), activation())
        self.recurrent = Lstm(units, units, bidirectional=True)
        self.second = nn.Sequential(nn.Linear(2 * units, whole("last", last, 1)), activation())
        self.scores = nn.Linear(last, whole("classes", classes, 2))

    def forward(self, words: Tensor) -> Tensor:
        """A score for each review and class."""
        _, (hidden, _) = self.recurrent(self.first(self.embedding(words.long())))
        return self.scores(self.second(torch.cat(hidden.unbind(0), dim=1)))
