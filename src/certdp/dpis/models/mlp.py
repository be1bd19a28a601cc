"""A network with one hidden layer."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import final

import numpy as np
from attrs import field, frozen

from ...accounting.bulk.record_rows import WholeRows, cross_entropy, room
from ...plugins.contract import Coins
from ..sampling import FloatArray, IntArray
from .activations import Activation, Tanh
from .networks import Factors, Layer, affine, layer_deltas, layer_inputs
from .sizes import at_least_one, at_least_two


@final
@frozen(kw_only=True)
class Mlp:
    """Scores V·φ(W·x + c) + e, with weights that begin as normal numbers of variance 1/columns and offsets at 0.

    Args:
        features: number of entries of a record, ≥ 1.
        hidden: number of hidden units, ≥ 1.
        classes: number of classes, ≥ 2.
        activation: φ; by default the hyperbolic tangent, which under privacy does better than an unbounded one.
    """

    features: int = field(validator=at_least_one)
    hidden: int = field(validator=at_least_one)
    classes: int = field(validator=at_least_two)
    activation: Activation = field(factory=Tanh)

    @property
    def dimension(self) -> int:
        """hidden·(features + 1) + classes·(hidden + 1)."""
        return self.hidden * (self.features + 1) + self.classes * (self.hidden + 1)

    @property
    def record_by_record(self) -> bool:
        """Whether gradients depend on their record and the parameters alone, bit for bit: if activations do."""
        return self.activation.entry_by_entry

    def start(self, coins: Coins) -> FloatArray:
        """Normal weights of variance 1/columns, offsets 0."""
        return np.concatenate([_weights(self.hidden, self.features, coins), _weights(self.classes, self.hidden, coins)])

    def logits(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """Return the scores of each class, V·φ(W·x + c) + e."""
        inner, outer = self._matrices(parameters)
        return affine(outer, layer_inputs(self.activation.of(affine(inner, layer_inputs(features)))))

    def factors(self, parameters: FloatArray, features: FloatArray, labels: IntArray) -> Factors:
        """Return the factors of the gradients, those of two layers, by backpropagation."""
        inner, outer = self._matrices(parameters)
        inputs = layer_inputs(features)
        given = affine(inner, inputs)
        hidden = layer_inputs(self.activation.of(given))
        losses, found = cross_entropy(affine(outer, hidden), labels)
        deltas = layer_deltas(found)
        weights = WholeRows.of(outer[:, :-1].T, room(deltas.columns) - deltas.width)
        back = deltas.times(weights) * self.activation.slope(given)
        return Factors((Layer(inputs, back), Layer(hidden, deltas)), losses)

    def _matrices(self, parameters: FloatArray) -> tuple[FloatArray, FloatArray]:
        size = self.hidden * (self.features + 1)
        return parameters[:size].reshape(self.hidden, -1), parameters[size:].reshape(self.classes, -1)


def _weights(rows: int, columns: int, coins: Coins) -> FloatArray:
    drawn = coins.gaussian(Fraction(1 / math.sqrt(columns)), rows * columns).reshape(rows, columns)
    return np.hstack([drawn, np.zeros((rows, 1))]).ravel()
