"""Networks whose gradient per record is a list of outer products, one for each affine layer.

For one record the gradient of the loss in the matrix (W | c) of a layer W·a + c is δ·(a | 1)ᵀ, where a is what the
layer gets and δ the derivative of the loss in what it gives (Goodfellow 2015). Its Frobenius norm is ‖δ‖·‖(a | 1)‖, so
norms and weighted sums need no gradient of any single record.

Rows (a | 1), δ and W are cut toward zero to their leading bits, 20 or a few more, so that all products and sums of them
are exact (`certdp.accounting.bulk.record_rows`). Hence what a record adds is a function of that record, its weight and
the parameters alone, bit for bit: no batch, block or thread changes it. In units of a public grid it is ⌊v·δ⌋·(a | 1)ᵀ,
cut toward zero for v = w over the unit, so that its norm is at most w·‖δ‖·‖(a | 1)‖.
"""

from __future__ import annotations

from typing import Protocol, final

import numpy as np
from attrs import field, frozen

from ...accounting.bulk.record_rows import Integers, WholeRows, outer_sum, room
from ...plugins.contract import Coins
from ..sampling import BoolArray, FloatArray, IntArray

_LEADING = 20  # bits of what a layer gets; what is left of 53 goes to the parameters, and to v·δ
_MOST = 2.0**60  # more than v where δ is not 0


def _leading_bits(columns: int) -> int:
    return min(_LEADING, room(columns) // 2)


def layer_inputs(inputs: FloatArray) -> WholeRows:
    """(a | 1) of each record, as a layer takes it."""
    return WholeRows.of(inputs, _leading_bits(inputs.shape[1] + 1), with_one=True)


def affine(matrix: FloatArray, inputs: WholeRows) -> FloatArray:
    """W·a + c for the matrix (W | c): each number a function of its record and the parameters alone."""
    weights = matrix.copy()
    weights[:, -1] = 0.0  # c is added in full: beside large entries of a, the 1 is cut to 0
    return inputs.times(WholeRows.of(weights, room(inputs.columns) - inputs.width)) + matrix[:, -1]


def _inputs(given: FloatArray | WholeRows) -> WholeRows:
    return given if isinstance(given, WholeRows) else layer_inputs(given)


def layer_deltas(deltas: FloatArray) -> WholeRows:
    """δ of each record, as norms and sums take it."""
    return WholeRows.of(deltas, _leading_bits(deltas.shape[1]))


def _deltas(given: FloatArray | WholeRows) -> WholeRows:
    return given if isinstance(given, WholeRows) else layer_deltas(given)


@final
@frozen(eq=False)
class Layer:
    """One affine layer, for some records.

    Attributes:
        inputs: (a | 1), from a, (count, columns), or from `layer_inputs`.
        deltas: δ, from numbers, (count, rows), or from `layer_deltas`.
    """

    inputs: WholeRows = field(converter=_inputs)
    deltas: WholeRows = field(converter=_deltas)

    @property
    def norms(self) -> FloatArray:
        """‖δ‖·‖(a | 1)‖ of each record; NaN where an entry was NaN, or 2^900 or beyond."""
        with np.errstate(over="ignore", under="ignore"):
            lengths = self.deltas.lengths * self.inputs.lengths
            return np.asarray(lengths * self.deltas.scales * self.inputs.scales)

    def weighted_sum(self, weights: FloatArray, kept: BoolArray | slice, unit: float) -> Integers:
        """Σ of w·δ·(a | 1)ᵀ over the records kept, each cut toward zero to whole units: a matrix in one row.

        Where a w·δ·(a | 1)ᵀ exceeds 2^53 units it is brought there, and the sum is exact modulo 2^64.
        """
        scales = self.deltas.scales[kept] * self.inputs.scales[kept]
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            factors = np.fmin(weights[kept] * scales / unit, _MOST)  # which is the other of NaN and a number
        counts = np.trunc(factors[:, np.newaxis] * self.deltas.whole[kept])
        inputs = WholeRows(self.inputs.whole[kept], self.inputs.scales[kept], self.inputs.width)
        return outer_sum(counts, inputs).ravel()


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
        """‖g‖ of each record, all layers together; operations that IEEE 754 rounds correctly, in a fixed order."""
        norms = [layer.norms for layer in self.layers]
        largest = norms[0]
        for other in norms[1:]:
            largest = np.maximum(largest, other)
        shared = np.where(largest > 0, largest, 1.0)
        squares = sum((norm / shared) ** 2 for norm in norms)
        return np.asarray(np.sqrt(squares) * largest)

    def weighted_sum(self, weights: FloatArray, unit: float) -> Integers:
        """Σ w·g over the records with w > 0, in whole units, as `Layer.weighted_sum`: int64 (dimension,).

        Args:
            weights: of the records, (count,).
            unit: of the grid, a power of two.
        """
        used = weights > 0
        kept = slice(None) if used.all() else used  # a slice copies nothing
        return np.concatenate([layer.weighted_sum(weights, kept, unit) for layer in self.layers])


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

    @property
    def record_by_record(self) -> bool:
        """Whether `factors` gives for a record what that record and the parameters fix, bit for bit.

        True is a promise: no product of matrices in floats, whose rounding depends on how many rows there are.
        """
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
