# pyright: reportMissingImports=false
"""The networks that the experiments train."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import torch
from torch import Tensor, nn

from ...accounting.arguments import whole
from .recurrent import Lstm


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
        """Of each entry."""
        return self.scale * torch.sigmoid(self.temperature * inputs) - self.offset


def small_cnn(*, classes: int = 10, activation: Callable[[], nn.Module] = nn.Tanh) -> nn.Sequential:
    """The network that DP-SGD is commonly compared with on MNIST (Papernot et al. 2021, Table 1), for images of
    1 × 28 × 28: 26,010 parameters for ten classes.

    Args:
        classes: number of classes, ≥ 2.
        activation: makes the activations; `TemperedSigmoid` and `torch.nn.ReLU` are others.
    """
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=3),
        activation(),
        nn.MaxPool2d(2, stride=1),
        nn.Conv2d(16, 32, 4, stride=2),
        activation(),
        nn.MaxPool2d(2, stride=1),
        nn.Flatten(),
        nn.Linear(512, 32),
        activation(),
        nn.Linear(32, whole("classes", classes, 2)),
    )


@final
class ReviewClassifier(nn.Module):
    """The recurrent network of DPIS Table 1, for reviews that are rows of word numbers.

    A frozen table of word vectors, an affine layer, an LSTM in both directions whose last outputs are joined, an
    affine layer, two scores. The paper takes its vectors from GloVe; without any, fixed normal ones are drawn.

    Args:
        words: number of words, ≥ 1; by default 20,000, one that stands for all others, and one that pads.
        width: entries of a word vector, ≥ 1; the paper's is 100.
        units: of the first affine layer and of each direction of the LSTM, ≥ 1; the paper's are 32.
        last: units of the last hidden layer, ≥ 1; the paper's are 16.
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
        vectors: Tensor | None = None,
        activation: Callable[[], nn.Module] = nn.ReLU,
    ) -> None:
        super().__init__()
        table = torch.randn(whole("words", words, 1), whole("width", width, 1)) if vectors is None else vectors
        self.embedding = nn.Embedding.from_pretrained(table, freeze=True)
        self.first = nn.Sequential(nn.Linear(table.shape[1], whole("units", units, 1)), activation())
        self.recurrent = Lstm(units, units, bidirectional=True)
        self.second = nn.Sequential(nn.Linear(2 * units, whole("last", last, 1)), activation())
        self.scores = nn.Linear(last, 2)

    def forward(self, words: Tensor) -> Tensor:
        """Two scores for each review."""
        _, (hidden, _) = self.recurrent(self.first(self.embedding(words.long())))
        return self.scores(self.second(torch.cat(hidden.unbind(0), dim=1)))
