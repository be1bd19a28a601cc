# pyright: reportMissingImports=false
"""Gradients of many records in one parameter: their norms and their weighted sums, from the same numbers.

A layer leaves factors: numbers of the model's own precision, computed once in a forward and a backward pass. They
define the gradient of a record exactly, as a sum of products over the positions t that the parameter was used at.
Norms and weighted sums are computed from these factors, in binary64, whose unit roundoff is u = 2^-53.

Guarantees:
    `squares` are at least ‖g‖²·(1 − (d + 10)·u) for a gradient of d entries, and `weighted_sum` rounds the products
    w·(entry of g) and their sums to binary64, as all sums are; a record of weight 0 adds nothing.

Proof. Sums of d squares in any order, a root, and its square err relatively by at most (d + 4)·u, and by what underflow
takes from each square, less than 2^-1022, which is added back. A product of sums of m and of n squares, m·n = d, errs
by at most (m + n + 9)·u ≤ (d + 10)·u.
For the Gram form Σ_{s,t} (a_s·a_t)(δ_s·δ_t) with factors of at most 24 bits, products of two entries are exact and do
not underflow; the inner products, of m and of n terms, and the sum of T² terms err together by at most
1.01·(m + n + T² + 4)·u·P², where P = Σ_t ‖a_t‖·‖δ_t‖ (Higham 2002, Section 3.1, and Cauchy–Schwarz), as long as
(m + n + T² + 4)·u < 1/100. Twice that is added, which covers the rounding of P and of the addition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, final

import torch
from attrs import frozen
from torch import Tensor

_UNIT = 2.0**-53
_WORTH = 4  # by how much products may outnumber factors, whose arithmetic is in binary64
_LOST = 2.0**-1022  # more than what underflow takes from a product


class Gradients(Protocol):
    """The gradients of some records in one parameter. Private."""

    def squares(self) -> Tensor:
        """‖g‖² of each record, (count,), from above."""
        ...

    def weighted_sum(self, weights: Tensor) -> Tensor:
        """Σ w·g over the records with w > 0, of the parameter's shape, in binary64."""
        ...

    def dense(self) -> Tensor:
        """Return the gradients as one tensor of shape (count, *shape)."""
        ...

    def merged(self, uses: Sequence[Any]) -> Gradients:
        """The sum of several uses of the parameter, all of this class."""
        ...

    def cheaper(self) -> Gradients:
        """Return the same gradients in the form that takes less work."""
        ...


def _squares(vectors: Tensor) -> Tensor:
    """‖v‖² along the last dimension, in binary64, from above but for relative errors."""
    return torch.linalg.vector_norm(vectors, dim=-1, dtype=torch.float64).square() + vectors.shape[-1] * _LOST


def _kept(weights: Tensor, *factors: Tensor) -> tuple[Tensor, ...]:
    """The weights and factors of the records with w > 0; those of others may be NaN, which times 0 is not 0."""
    kept = weights > 0
    return (weights, *factors) if bool(kept.all()) else tuple(values[kept] for values in (weights, *factors))


@final
@frozen(eq=False)
class Dense:
    """Gradients that are held as one dense tensor.

    Attributes:
        values: (count, *shape).
    """

    values: Tensor

    def squares(self) -> Tensor:
        """Return each record's sum of squares of the entries."""
        return _squares(self.values.flatten(1))

    def weighted_sum(self, weights: Tensor) -> Tensor:
        """Return the weighted sum of the gradients, by a matrix product."""
        given, values = _kept(weights, self.values)
        return (given @ values.flatten(1).double()).reshape(self.values.shape[1:])

    def dense(self) -> Tensor:
        """Return the tensor of the gradients, which is held already."""
        return self.values

    def merged(self, uses: Sequence[Dense]) -> Dense:
        """Return the gradients of several uses of a parameter, added up."""
        return Dense(torch.stack([use.values for use in uses]).sum(0))

    def cheaper(self) -> Dense:
        """Return the cheaper form of the gradients: this one."""
        return self


@final
@frozen(eq=False)
class Outer:
    """Σ_t δ_t·a_tᵀ, in each of some groups of channels: what affine layers and convolutions leave for their weights.

    Attributes:
        inputs: a, (count, groups, positions, columns).
        deltas: δ, (count, groups, positions, rows).
        shape: the parameter's; groups·rows·columns numbers.
    """

    inputs: Tensor
    deltas: Tensor
    shape: torch.Size

    def squares(self) -> Tensor:
        """‖δ‖²·‖a‖² of a single position; otherwise the Gram form."""
        if self.inputs.shape[2] == 1:
            return (_squares(self.inputs) * _squares(self.deltas)).sum((1, 2)) + _LOST
        inputs, deltas = self.inputs.double(), self.deltas.double()
        grams = (inputs @ inputs.mT) * (deltas @ deltas.mT)
        lengths = (_squares(inputs).sqrt() * _squares(deltas).sqrt()).sum(2)
        terms = inputs.shape[3] + deltas.shape[3] + inputs.shape[2] ** 2 + 4
        return grams.sum((1, 2, 3)).clamp_min(0.0) + 2.02 * terms * _UNIT * lengths.square().sum(1)

    def weighted_sum(self, weights: Tensor) -> Tensor:
        """A matrix product over records and positions, in each group."""
        given, inputs, deltas = _kept(weights, self.inputs, self.deltas)
        scaled = deltas.double() * given.reshape(-1, 1, 1, 1)
        return (_rows(scaled).mT @ _rows(inputs.double())).reshape(self.shape)

    def dense(self) -> Tensor:
        """Gradients as they come in the model's precision, which define what a record adds where they are used."""
        return (self.deltas.mT @ self.inputs).reshape(-1, *self.shape)

    def merged(self, uses: Sequence[Outer]) -> Outer:
        """All positions of all uses, so that products between uses count."""
        inputs, deltas = [use.inputs for use in uses], [use.deltas for use in uses]
        return Outer(torch.cat(inputs, dim=2), torch.cat(deltas, dim=2), self.shape)

    def cheaper(self) -> Gradients:
        """The gradients where they are small beside the factors; the Gram form has no proof for factors of 53 bits."""
        positions, columns, rows = self.inputs.shape[2], self.inputs.shape[3], self.deltas.shape[3]
        small = columns * rows <= _WORTH * positions * (columns + rows)
        wide = torch.float64 in (self.inputs.dtype, self.deltas.dtype)
        return Dense(self.dense()) if positions > 1 and (small or wide) else self


def _rows(factors: Tensor) -> Tensor:
    """(count, groups, positions, size) as (groups, count·positions, size)."""
    return factors.transpose(0, 1).flatten(1, 2)


@final
@frozen(eq=False)
class TableRows:
    """What a look-up in a table leaves: a δ for each position, in the row that was looked up there.

    Attributes:
        rows: (count, positions), whole numbers.
        deltas: (count, positions, columns).
        shape: the table's.
    """

    rows: Tensor
    deltas: Tensor
    shape: torch.Size

    def _sums(self) -> tuple[Tensor, Tensor, Tensor]:
        """Of each record and each row that it looked up: the record, the row, the sum of its δ."""
        count, positions = self.rows.shape
        records = torch.arange(count, device=self.rows.device).repeat_interleave(positions)
        keys, places = torch.unique(records * self.shape[0] + self.rows.flatten(), return_inverse=True)
        sums = self.deltas.new_zeros((len(keys), self.shape[1]), dtype=torch.float64)
        sums.index_add_(0, places, self.deltas.flatten(0, 1).double())
        return keys // self.shape[0], keys % self.shape[0], sums

    def squares(self) -> Tensor:
        """Return each record's sum of squares, over the rows looked up."""
        records, _, sums = self._sums()
        return sums.new_zeros(len(self.rows)).index_add_(0, records, _squares(sums))

    def weighted_sum(self, weights: Tensor) -> Tensor:
        """Sums over the records that looked a row up."""
        records, rows, sums = self._sums()
        kept = weights[records] > 0
        scaled = weights[records[kept]].unsqueeze(1) * sums[kept]
        return sums.new_zeros(self.shape).index_add_(0, rows[kept], scaled)

    def dense(self) -> Tensor:
        """Tables that are 0 but in the rows looked up."""
        records, rows, sums = self._sums()
        tables = sums.new_zeros((len(self.rows), *self.shape))
        tables[records, rows] = sums
        return tables

    def merged(self, uses: Sequence[TableRows]) -> TableRows:
        """Return the gradients of several uses of a table: the positions of all."""
        rows, deltas = [use.rows for use in uses], [use.deltas for use in uses]
        return TableRows(torch.cat(rows, dim=1), torch.cat(deltas, dim=1), self.shape)

    def cheaper(self) -> TableRows:
        """Return the cheaper form of the gradients: this one."""
        return self


def joined(uses: Sequence[Gradients]) -> Gradients:
    """The gradients in a parameter that was used at least once, all uses together."""
    first, *others = uses
    if not others:
        return first.cheaper()
    if {type(use) for use in uses} == {type(first)}:
        return first.merged(uses).cheaper()
    return Dense(torch.stack([use.dense() for use in uses]).sum(0))
