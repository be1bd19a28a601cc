"""What is computed of each record by itself, bit for bit, for many records at once.

The entries of a matrix product depend on how many rows there are and on where a row stands, as floats do not add up in
every order. Whole numbers do: `WholeRows` are whole numbers times a power of two for each row, so small that every
product and every sum of products is a whole number below 2^53, which binary64 holds. Whatever order a product of
matrices adds them in, and whatever threads share it, each entry is exact, hence a function of its row and its column.
"""

from __future__ import annotations

from typing import TypeAlias, final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from .._kernels import record_rows
from ..errors import InvalidValue
from ..exact import Floats

Integers: TypeAlias = NDArray[np.int64]

EXACT = 53
"""Bits of the whole numbers that binary64 holds."""


@final
@frozen(eq=False)
class WholeRows:
    """Rows of whole numbers, each with a power of two: what stands for rows of binary64 numbers, cut toward zero.

    Attributes:
        whole: float64 (n, k), whole numbers below 2^width in magnitude.
        scales: float64 (n,): powers of two, and NaN for rows that held NaN, or numbers of 2^900 or beyond.
        width: in bits, above 0.
    """

    whole: Floats
    scales: Floats
    width: int

    @classmethod
    def of(cls, rows: Floats, width: int, *, with_one: bool = False) -> WholeRows:
        """Cut rows toward zero to their leading bits; no norm grows, and each depends on its row alone.

        Args:
            rows: float64 (n, k); any numbers.
            width: bits of the entry that is largest in magnitude, in [1, 52].
            with_one: whether a 1 is put behind each row first.
        """
        if not 1 <= width < EXACT:
            raise InvalidValue("width", width, f"from 1 to {EXACT - 1} bits")
        count, columns = rows.shape
        whole, scales = np.empty((count, columns + with_one)), np.empty(count)
        record_rows.whole_rows(np.ascontiguousarray(rows), width, whole, scales)
        return cls(whole, scales, width)

    def __len__(self) -> int:
        return len(self.scales)

    @property
    def columns(self) -> int:
        """The number of entries of a row, k."""
        return int(self.whole.shape[1])

    @property
    def lengths(self) -> Floats:
        """√Σ m² of the whole numbers m of each row, from the exact sum, rounded to binary64: float64 (n,).

        Raises:
            InvalidValue: where a sum of squares could be inexact.
        """
        self._require(self.width)
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", self.whole, self.whole)))

    def times(self, other: WholeRows) -> Floats:
        """Inner products of these rows with those of another matrix: float64 (n, rows of the other).

        Guarantees:
            Each is exact, unless it leaves the range of binary64: a function of its two rows alone.

        Raises:
            InvalidValue: where a sum of products could be inexact.
        """
        self._require(other.width)
        exact = self.whole @ other.whole.T
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            exact *= self.scales[:, np.newaxis]
            exact *= other.scales
        return exact

    def _require(self, width: int) -> None:
        if self.width + width > room(self.columns):
            raise InvalidValue("width", self.width + width, f"at most {room(self.columns)} bits of both")


def room(terms: int) -> int:
    """Bits that the factors of so many products may have together, so that sums of these products are exact."""
    return EXACT - max(0, terms - 1).bit_length()


def outer_sum(left: Floats, right: WholeRows) -> Integers:
    """Σ l·rᵀ over rows of whole numbers, exact modulo 2^64: int64 (columns of left, columns of right).

    Args:
        left: float64 (n, j): whole numbers. Where a product could leave 53 bits they are brought nearer to zero.
        right: n rows; their scales are not read.

    Guarantees:
        The sum of what each row gives by itself, whatever the others.
    """
    total = np.zeros((left.shape[1], right.columns), dtype=np.int64)
    if not left.size:
        return total
    most = 2.0 ** (EXACT - right.width)
    largest = max(1.0, float(left.max()), -float(left.min()))
    if largest > most:
        left, largest = np.clip(left, -most, most), most
    step = int(most / largest)  # so many rows add up to 2^53 at most
    for start in range(0, len(left), step):
        part = slice(start, start + step)
        total += (left[part].T @ right.whole[part]).astype(np.int64)
    return total


def tanh(values: Floats) -> Floats:
    """The hyperbolic tangent, NaN at NaN: float64 of the same shape, each entry a function of its own alone."""
    given = np.ascontiguousarray(values)
    out = np.empty(given.size)
    record_rows.tanh_each(given.reshape(-1), out)
    return out.reshape(given.shape)


def cross_entropy(scores: Floats, labels: Integers) -> tuple[Floats, Floats]:
    """The losses −log softmax(z)_y, (n,), and their derivatives softmax(z) − e_y, (n, classes).

    The entry of the true class is the negative sum of the others, which keeps its digits where it is near 0. What is
    given for a record depends on its scores alone; NaN where one of them is NaN or infinite.
    """
    derivatives, losses = np.array(scores, order="C"), np.empty(len(scores))
    record_rows.cross_entropy(derivatives, np.ascontiguousarray(labels, dtype=np.int64), losses)
    return losses, derivatives
