"""Networks whose gradient per record is a list of outer products, one for each affine layer.

For one record the gradient of the loss in the matrix (W | c) of a layer W·a + c is δ·(a | 1)ᵀ, where a is what the
layer gets and δ the derivative of the loss in what it gives (Goodfellow 2015). Its Frobenius norm is ‖δ‖·‖(a | 1)‖, so
norms and weighted sums need no gradient of any single record.
"""

from __future__ import annotations

from typing import Protocol, final

import numpy as np
from attrs import frozen

from ...plugins.contract import Coins
from ..sampling import BoolArray, FloatArray, IntArray


@final
@frozen(eq=False)
class Layer:
    """One affine layer, for some records.

    Attributes:
        inputs: a, (count, columns), without the 1.
        deltas: δ, (count, rows).
    """

    inputs: FloatArray
    deltas: FloatArray

    @property
    def norms(self) -> FloatArray:
        """‖δ‖·√(‖a‖² + 1) of each record; infinite where ‖a‖² overflows.

        δ is scaled by a power of 2 first, so that no square of its entries loses digits to underflow. Squares of a
        that do are too small beside the 1 to matter.
        """
        _, exponents = np.frexp(np.max(np.abs(self.deltas), axis=1))
        exponents = np.where(np.isfinite(self.deltas).all(axis=1), exponents, 0)
        scaled = np.ldexp(self.deltas, -exponents[:, np.newaxis])
        with np.errstate(over="ignore"):
            squares = np.einsum("ij,ij->i", self.inputs, self.inputs) + 1
            lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled)) * np.sqrt(squares)
            return np.asarray(np.ldexp(lengths, exponents))

    def weighted_sum(self, weights: FloatArray, kept: BoolArray | slice) -> FloatArray:
        """Σ w·δ·(a | 1)ᵀ over the records kept, a matrix in one row."""
        scaled = weights[kept][:, np.newaxis] * self.deltas[kept]
        return np.hstack([scaled.T @ self.inputs[kept], scaled.sum(axis=0)[:, np.newaxis]]).ravel()


@final
@frozen(eq=False)
class Factors:
    """The gradients of some records, as factors.

    Attributes:
        layers: one for each matrix of parameters, in their order.
        losses: of the records, (count,).
    """

    layers: tuple[Layer, ...]
    losses: FloatArray

    @property
    def norms(self) -> FloatArray:
        """‖g‖ of each record, all layers together."""
        found = self.layers[0].norms
        for layer in self.layers[1:]:
            found = np.hypot(found, layer.norms)
        return found

    def weighted_sum(self, weights: FloatArray) -> FloatArray:
        """Σ w·g over the records with w > 0, (dimension,)."""
        used = weights > 0
        kept = slice(None) if used.all() else used  # a slice copies nothing
        return np.concatenate([layer.weighted_sum(weights, kept) for layer in self.layers])


class Network(Protocol):
    """The shape of a model; public. Its parameters are one vector: the matrices (W | c) of its layers, row by row."""

    @property
    def features(self) -> int:
        """The number of entries of a record."""
        ...

    @property
    def classes(self) -> int:
        """The number of classes."""
        ...

    @property
    def dimension(self) -> int:
        """The number of parameters."""
        ...

    def start(self, coins: Coins) -> FloatArray:
        """Parameters to begin with, drawn without looking at data."""
        ...

    def logits(self, parameters: FloatArray, features: FloatArray) -> FloatArray:
        """A score for each record and class, (count, classes)."""
        ...

    def factors(self, parameters: FloatArray, features: FloatArray, labels: IntArray) -> Factors:
        """The gradients of the cross-entropy of each record."""
        ...


def cross_entropy(logits: FloatArray, labels: IntArray) -> tuple[FloatArray, FloatArray]:
    """The losses −log softmax(z)_y, (count,), and their derivatives softmax(z) − e_y, (count, classes).

    The entry of the true class is the negative sum of the others, which keeps its digits where it is near 0.
    """
    rows = np.arange(len(labels))
    with np.errstate(invalid="ignore"):  # infinite scores give NaN, and the record is dropped
        shifted = logits - logits.max(axis=1, keepdims=True)
    grown = np.exp(shifted)
    totals = grown.sum(axis=1)
    deltas = grown / totals[:, np.newaxis]
    deltas[rows, labels] = 0.0
    deltas[rows, labels] = -deltas.sum(axis=1)
    return np.log(totals) - shifted[rows, labels], deltas
