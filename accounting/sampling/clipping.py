"""Records outside a public domain: handled one by one, as declared."""

from __future__ import annotations

from enum import Enum
from typing import final

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ..bulk import arrays as bulk
from ..exact import Floats, float_at_most
from ..guarantees import require
from ..norms import Norm
from .domains import NormBall
from .records import Features

_LEAST_SHRINK = 2.0**-48


class Outside(Enum):
    """What happens to a record outside the public domain; the value is its name in certificates."""

    CLIP = "clip"
    """It is scaled down into the domain, keeping its direction."""
    DROP = "drop"
    """It is left out: never drawn. Where the number of records is not secret, none may be left out."""


def largest_radius(domain: NormBall) -> float:
    """The largest binary64 number that is at most the domain's radius."""
    return float_at_most(domain.radius.value)


@final
@frozen(eq=False)
class Held:
    """Records as a run uses them.

    Attributes:
        features: of the records within the domain, in order.
        outside: how many were clipped or dropped.
        inside: per record given, whether it lay within; None where every one is used.
    """

    features: Features
    outside: int
    inside: NDArray[np.bool_] | None


def hold(records: Floats, domain: NormBall | None, outside: Outside, *, first: int = 0) -> Held:
    """The records, all within the domain.

    A record counts as outside where its norm, rounded up, exceeds the radius. Each is handled by itself: the result
    for one record does not depend on the others.

    Args:
        records: float64 matrix (n, d) of finite numbers; not changed.
        domain: the public domain; None where every record is used as it is.
        outside: clip or drop.
        first: number of the first record in the data set, for messages to its curator.

    Guarantees:
        Each record returned has, exactly, at most the domain's radius as its norm. A clipped one keeps its direction,
        and at least 1 − 2^-40 of the radius, as far as the subnormal range holds it.

    Raises:
        InvalidType: for anything else than an `Outside`.
    """
    require("outside", outside, Outside, "Use Outside.CLIP or Outside.DROP")
    if domain is None:
        return Held(Features(records, first=first), 0, None)
    radius, norms = largest_radius(domain), bulk.norms(records, domain.norm)
    beyond = np.flatnonzero(norms > radius)
    inside = None
    if beyond.size and outside is Outside.DROP:
        inside = norms <= radius
        records, norms = records[inside], norms[inside]
    elif beyond.size:
        records = records.copy()
        records[beyond], norms[beyond] = _scaled(records[beyond], domain.norm, radius)
    return Held(Features(records, first=first, norms={domain.norm: norms}), len(beyond), inside)


def confine(records: Floats, domain: NormBall, outside: Outside) -> tuple[Floats, int]:
    """The records themselves, all within the domain, and how many were outside; see `hold`."""
    held = hold(records, domain, outside)
    return held.features.records, held.outside


def _shrink(norm: Norm) -> float:
    """The share of the radius to scale to, such that the norm of the result, rounded up, stays within the radius."""
    return 1.0 - max(_LEAST_SHRINK, float(2 * bulk.norm_relative_error(norm)))


def _scaled(records: Floats, norm: Norm, radius: float) -> tuple[Floats, Floats]:
    """Records within the radius, and their norms."""
    _, exponents = np.frexp(np.abs(records).max(axis=1, keepdims=True))
    unit: Floats = np.ldexp(records, -exponents)  # the largest entry lies in [1/2, 1): no norm overflows
    result: Floats = unit * (radius * _shrink(norm) / bulk.norms(unit, norm))[:, np.newaxis]
    norms = bulk.norms(result, norm)
    while (still := np.flatnonzero(norms > radius)).size:
        result[still] *= 0.5  # so small that a factor near 1 rounds to nothing; ties go down, so this ends
        norms[still] = bulk.norms(result[still], norm)
    return result, norms
