"""Multinomial logistic regression."""

from __future__ import annotations

from typing import final

import numpy as np
from attrs import field, frozen

from ...accounting.bulk.record_rows import cross_entropy
from ...plugins.contract import Coins
from ..sampling import FloatArray, IntArray
from .networks import Factors, Layer, affine, layer_inputs
from .sizes import at_least_one, at_least_two


@final
@frozen(kw_only=True)
class Logistic:
    """The scores are affine in the features; all parameters begin at 0.

    Args:
        features: number of entries of a record, ≥ 1.
        classes: number of classes, ≥ 2.
    """

    features: int = field(validator=at_least_one)
    classes: int = field(validator=at_least_two)

    @property
    def dimension(self) -> int:
        """The number of parameters: classes·(features + 1)."""
        return self.classes * (self.features + 1)

    @property
    def record_by_record(self) -> bool:
        """Whether gradients depend on their record and the parameters alone, bit for bit: they do."""
        return True

    def start(self, coins: Coins) -> FloatArray:
        """Return the parameters at the start of training, all 0."""
        return np.zeros(self.dimension)

    def logits(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """Return the scores of each class, W·x + c."""
        return affine(parameters.reshape(self.classes, -1), layer_inputs(features))

    def factors(self, parameters: FloatArray, features: FloatArray, labels: IntArray) -> Factors:
        """Return the factors of the gradients, those of one layer."""
        inputs = layer_inputs(features)
        losses, deltas = cross_entropy(affine(parameters.reshape(self.classes, -1), inputs), labels)
        return Factors((Layer(inputs, deltas),), losses)
