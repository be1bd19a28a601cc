"""What a data set's owner may know about a run: certified losses of each record, and figures of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TypeAlias, final

import numpy as np
from attrs import field, frozen

from ..accounting.errors import InvalidValue
from ..accounting.expressions.floats import Floats
from ..accounting.provenance import Private
from ..accounting.sampling.clipping import Outside, hold
from ..accounting.sampling.domains import NormBall
from ..accounting.sampling.drawing import Rate
from ..accounting.sampling.records import NEGLIGIBLE, Features, Realisation

Losses: TypeAlias = Callable[[Realisation, Features], Floats]
"""Proven bounds per record, for the probabilities drawn and the weights applied."""

_CHUNK = 1 << 17
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_SUM_MARGIN = Fraction(1, 2**45)


@final
@frozen(eq=False)
class Measurement:
    """What a data set's owner may know about a run: computed from the records, not for publication.

    Attributes:
        records: number of records, those outside the domain included.
        outside: number of records that were clipped or dropped.
        expected_sample_size: lower and upper end of Σ q(x).
        psi_max: largest certified ψ over the records.
        quantiles: certified ψ of the record at some levels, or of the next above.
        psi: certified ψ per record kept, float64 (n,).
    """

    records: int
    outside: int
    expected_sample_size: tuple[float, float]
    psi_max: float
    quantiles: Mapping[float, float]
    psi: Floats = field(repr=False)


def measured(
    matrix: Floats,
    domain: NormBall | None,
    outside: Outside,
    rate: Rate,
    losses: Losses,
    *,
    spent: Fraction,
    progress: Callable[[int], None] | None,
) -> Private[Measurement]:
    """Certified losses of every record.

    Args:
        matrix: records, one per row.
        domain: the public domain, or None where there is none.
        outside: what happens to records outside it.
        rate: how records are drawn.
        losses: what is lost about them.
        spent: what released parameters cost beside.
        progress: called with the number of records done.

    Raises:
        InvalidValue: for no records.
    """
    if not matrix.size:  # a release on no records is an output like any other, figures of none are not
        raise InvalidValue(
            "records", f"a matrix of shape {matrix.shape}", "at least one record and one column", "Give some records"
        )
    parts: list[Floats] = []
    drawn: list[Floats] = []
    moved = 0
    for start in range(0, len(matrix), _CHUNK):
        held = hold(matrix[start : start + _CHUNK], domain, outside, first=start)
        moved += held.outside
        features = held.features
        realisation = rate.realise(features)
        parts.append(losses(realisation, features))
        drawn.append(realisation.probability)
        if progress is not None:
            progress(min(start + _CHUNK, len(matrix)))
    bounds = plus_cost(np.concatenate(parts), spent)
    return Private(
        Measurement(
            records=len(matrix),
            outside=moved,
            expected_sample_size=expected_size(rate.rounding, math.fsum(np.concatenate(drawn)), len(bounds)),
            psi_max=float(bounds.max(initial=0.0)),
            quantiles={level: float(np.quantile(bounds, level, method="higher")) for level in _QUANTILES}
            if bounds.size
            else {},
            psi=bounds,
        )
    )


def expected_size(rounding: Fraction, total: float, count: int) -> tuple[float, float]:
    """Ends of Σ q(x), from the sum of the probabilities drawn."""
    margin = 1 + rounding + _SUM_MARGIN
    lower, upper = Fraction(total) / margin, Fraction(total) * margin
    # a record with a probability below the negligible one is never drawn, but counts with its q in the sum
    upper += count * Fraction(NEGLIGIBLE)
    return float(np.nextafter(float(lower), 0.0)), float(np.nextafter(float(upper), math.inf))


def plus_cost(bounds: Floats, spent: Fraction) -> Floats:
    """The bounds plus a constant cost, rounded up."""
    if not spent:
        return bounds
    cost = float(spent)
    up = cost if cost >= spent else float(np.nextafter(cost, math.inf))
    return np.nextafter(bounds + up, math.inf)
