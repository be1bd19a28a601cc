"""Variance-optimal sampling for the Laplace sum (IS Section 3.3): an oracle, to be looked at and never to be run.

The probabilities of least total variance depend on all records at once. They are no sampler: nothing here has a
`rate`, and every result is `Private`, which no parameter, guarantee or certificate accepts. They tell how much
variance a sampler leaves on the table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.bulk import arrays as bulk
from ..accounting.errors import InvalidValue
from ..accounting.exact import Floats, Number, exact
from ..accounting.norms import Norm
from ..accounting.private import InvalidData, Private
from ..accounting.sampling.records import Features, realise
from ..plugins.contract import Sampler, as_records


def variance_optimal(records: ArrayLike, *, m: Number) -> Private[Floats]:
    """The sampling probabilities of expected size m that minimise the variance of the weighted sum.

    Args:
        records: matrix (n, d) of finite numbers.
        m: expected size; above 0 and at most the number of records other than 0.

    Returns:
        q per record, float64 (n,): min(1, ‖x‖₂/τ) with Σ q = m. The total variance is Σ (1/q − 1)·‖x‖₂², so its
        minimum under Σ q = m and q ≤ 1 is where ‖x‖²/q² is one number τ² for all q < 1, and at least τ² for q = 1
        (the conditions of Karush, Kuhn and Tucker; the problem is convex). A record 0 has q = 0 and adds nothing.

    Raises:
        InvalidValue: for another size or for records whose norms leave the range of binary64.
    """
    norms = bulk.norms(as_records(records), Norm.L2)
    if not np.isfinite(norms).all():
        raise InvalidValue("records", "a norm beyond binary64", "norms in its range", "Divide the data by a bound")
    size, most = exact(m, parameter="m"), int(np.count_nonzero(norms))
    if not 0 < size <= most:
        raise InvalidValue("m", m, f"above 0 and at most {most}, the number of records other than 0")
    return Private(_water_filling(norms, float(size)))


def _water_filling(sizes: Floats, total: float) -> Floats:
    """min(1, sizes/τ) with the τ for which they sum to `total`."""
    falling = -np.sort(-sizes)
    rest = np.cumsum(falling[::-1])[::-1]  # the sum of the sizes from the j-th largest on
    left = total - np.arange(len(falling))  # what they share once the j largest have q = 1
    fits = left * falling <= rest
    first = int(np.argmax(fits & (rest > 0)))
    if left[first] <= 0 or not fits[first]:
        return np.asarray(np.where(sizes > 0, 1.0, 0.0))
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(1.0, sizes / rest[first] * left[first]))


def probabilities(sampler: Sampler, records: ArrayLike) -> Private[Floats]:
    """The probabilities with which a sampler draws the records of a data set, float64 (n,)."""
    return Private(realise(sampler.rate, Features(as_records(records))).probability)


def weighted_sum_variance(records: ArrayLike, drawn: Private[Floats], *, scale: Number) -> Private[Floats]:
    """The variance of each coordinate of a Laplace sum on a sample: 2·scale² + Σ (1/q − 1)·x² (IS Section 3.3).

    Args:
        records: matrix (n, d) of finite numbers.
        drawn: q per record, as `probabilities` or `variance_optimal` give it.
        scale: scale of the Laplace noise; at least 0.

    Returns:
        An estimate, float64 (d,): it rests on float sums and supports no guarantee.

    Raises:
        InvalidValue: where a record other than 0 has probability 0: its sum is then estimated with a bias.
    """
    matrix, noise = as_records(records), exact(scale, parameter="scale")
    if noise < 0:
        raise InvalidValue("scale", scale, "a number ≥ 0")

    def variance(q: Floats) -> Floats:
        if q.shape != matrix.shape[:1] or not np.all((q >= 0) & (q <= 1)):
            raise InvalidData("drawn", f"shape {q.shape}", f"{len(matrix)} probabilities, one per record")
        if np.any(matrix[q == 0]):
            raise InvalidData("drawn", "0 for a record other than 0", "probabilities above 0", "Set a floor above 0")
        excess = np.divide(1 - q, q, out=np.zeros_like(q), where=q > 0)
        return np.asarray(2 * float(noise) ** 2 + excess @ matrix**2)

    return drawn.map(variance)
