"""Records outside a public domain: handled one by one, as declared."""

from __future__ import annotations

from enum import Enum

import numpy as np

from . import bulk
from .domains import NormBall
from .expressions.floats import Floats

_SHRINK = 1.0 - 2.0**-48
_RESCUE = 2.0**-64


class Outside(Enum):
    """What happens to a record outside the public domain; the value is its name in certificates."""

    CLIP = "clip"
    """It is scaled down into the domain, keeping its direction."""
    DROP = "drop"
    """It is left out: never drawn, and it loses nothing."""


def largest_radius(domain: NormBall) -> float:
    """The largest binary64 number that is at most the domain's radius."""
    radius = float(domain.radius.value)
    return radius if domain.radius.value >= radius else float(np.nextafter(radius, 0.0))


def confine(records: Floats, domain: NormBall, outside: Outside) -> tuple[Floats, int]:
    """The records, all within the domain.

    A record counts as outside where its norm, rounded up, exceeds the radius. Each is handled by itself: the result
    for one record does not depend on the others.

    Args:
        records: float64 matrix (n, d) of finite numbers; not changed.
        domain: the public domain.
        outside: clip or drop.

    Returns:
        the records within the domain, in order, and how many were clipped or dropped.
    """
    radius = largest_radius(domain)
    norms = bulk.norms(records, domain.norm)
    beyond = norms > radius
    count = int(beyond.sum())
    if not count:
        return records, 0
    if outside is Outside.DROP:
        return records[~beyond], count
    result = records.copy()
    remaining = np.flatnonzero(beyond)
    while remaining.size:
        sizes = bulk.norms(result[remaining], domain.norm)
        # an infinite norm overflowed: bring the record into range first, direction kept
        factors = np.where(np.isinf(sizes), _RESCUE, radius / sizes * _SHRINK)
        result[remaining] *= factors[:, np.newaxis]
        remaining = remaining[bulk.norms(result[remaining], domain.norm) > radius]
    return result, count
